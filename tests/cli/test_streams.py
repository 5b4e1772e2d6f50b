"""Streaming from the command line: when it is used, what it says, and that it agrees with itself."""

import json
import sys

import pytest

from tests.cli.test_commands import wfalens
from tests.streams import corpus_files, small_model, some_labels, some_texts, write_texts
from wfalens.automaton import WFA
from wfalens.errors import InputError
from wfalens.memory import parse_size, shown_size

SETTINGS = ["-k", "2", "--completion", "empirical", "--abstraction", "outputs", "--alpha", "0.4", "--beta", "0.3"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    corpus_files(folder, texts=200)  # more words than the sample that two states need
    small_model().save(folder / "model.rnn")
    rows = [f"{text},{'abc'[at % 3]}" for at, text in enumerate(some_texts(90, 9))]
    (folder / "labelled.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    return folder


def extract(folder, out, *options):
    return wfalens("extract", "model.rnn", "-c", "texts*.jsonl", "-o", out, *SETTINGS, *options, cwd=folder)


def test_a_pattern_is_streamed_and_leaves_only_the_automaton(folder):
    done = extract(folder, "one.wfa", "--workers", "1", "--log", "one.log", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["states"] == 3
    corpus = WFA.load(folder / "one.wfa").provenance["corpus"]
    assert (corpus["name"], corpus["files"], corpus["texts"]) == ("texts*.jsonl", 3, 600)
    assert not (folder / "one.wfa.parts").exists()
    events = [json.loads(line)["event"] for line in (folder / "one.log").read_text().splitlines()]
    assert events[0] == "start"
    assert events[-1] == "finish"
    assert "shard" in events


def test_memory_and_engine_stream_a_single_file_too(folder):
    for option in (("--memory", "64GB"), ("--engine", "local")):
        out = f"{option[0][2:]}.wfa"
        done = wfalens(
            "extract", "model.rnn", "-c", "texts0.jsonl", "-o", out, *SETTINGS, *option, "--workers", "1", cwd=folder
        )
        assert done.returncode == 0, done.stderr
        assert "sample" in WFA.load(folder / out).provenance["corpus"]
    assert (folder / "memory.wfa").read_bytes() == (folder / "engine.wfa").read_bytes()


def test_evaluation_of_a_pattern(folder):
    extract(folder, "eval.wfa", "--workers", "1")
    command = ("evaluate", "eval.wfa", "-m", "model.rnn", "-c", "texts*.jsonl", "--workers", "1")
    machine = json.loads(wfalens(*command, "--json", cwd=folder).stdout)
    assert machine["overall"]["texts"] == 600
    assert machine["corpus"] == "texts*.jsonl"
    people = wfalens(*command, "--min-cr", "1.0", cwd=folder)
    assert "CR [95 %]" in people.stdout


def test_evaluation_in_shards_says_what_one_in_memory_says(folder):
    extract(folder, "label.wfa", "--workers", "1")
    command = ("evaluate", "label.wfa", "-m", "model.rnn", "-c", "labelled.csv")
    held = json.loads(wfalens(*command, "--json", cwd=folder).stdout)
    found = json.loads(wfalens(*command, "--json", "--memory", "64GB", "--workers", "1", cwd=folder).stdout)
    for figure in ("model_accuracy", "automaton_accuracy", "undecided"):
        assert found[figure] == held[figure]
    assert found["overall"]["cr"] == held["overall"]["cr"]
    people = wfalens(*command, "--engine", "local", "--workers", "1", cwd=folder)
    assert f"accuracy: model {held['model_accuracy']['value']:.3f}" in people.stdout
    assert not list(folder.glob("label.wfa.*"))


def test_a_stopped_evaluation_goes_on_beside_the_automaton_and_leaves_nothing(folder, monkeypatch):
    from wfalens.evaluation.compare_files import ComparisonTask

    extract(folder, "stop.wfa", "--workers", "1")
    command = ("evaluate", "stop.wfa", "-m", "model.rnn", "-c", "texts*.jsonl", "--workers", "1", "--json")
    whole = wfalens(*command, cwd=folder)
    real = ComparisonTask._judged

    def stops(self, model, shard):
        if shard.number == 2:
            raise KeyboardInterrupt
        return real(self, model, shard)

    with monkeypatch.context() as patch:
        patch.setattr(ComparisonTask, "_judged", stops)
        assert wfalens(*command, cwd=folder).returncode != 0
    (parts,) = folder.glob("stop.wfa.evaluation-*")
    assert len(list(parts.glob("judged-*.part"))) == 2
    elsewhere = wfalens(*(each.replace("texts*", "texts[01]") for each in command), cwd=folder)
    assert elsewhere.returncode == 0  # other texts are another evaluation
    resumed = wfalens(*command, "--min-cr", "1.0", cwd=folder)
    assert "going on: 2 of 3 shards are judged already" in resumed.stderr
    assert resumed.stdout == whole.stdout
    assert resumed.returncode == 1
    assert not list(folder.glob("stop.wfa.*"))


def test_what_an_evaluation_has_done_may_be_kept_elsewhere(folder, make_read_only):
    extract(folder, "kept.wfa", "--workers", "1")
    command = ("evaluate", "kept.wfa", "-m", "model.rnn", "-c", "texts*.jsonl", "--workers", "1")
    assert wfalens(*command, "--parts", "kept.parts", cwd=folder).returncode == 0
    assert not (folder / "kept.parts").exists()
    refused = wfalens(*command, "--parts", ".", cwd=folder)
    assert (refused.returncode, "is not a folder of parts" in refused.stderr) == (2, True)
    assert (folder / "model.rnn").exists()
    assert not (folder / "lock").exists()
    make_read_only(folder)
    closed = wfalens(*command, cwd=folder)
    assert closed.returncode == 2
    assert closed.stderr == "error: cannot write into .; name a folder for what is done with --parts\n"


ATTACK = ["attack", "attack.wfa", "-m", "model.rnn", "--vectors", "vectors.txt", "--json"]
ATTACK += ["--min-transition", "0", "--recipe", "random-word"]


@pytest.fixture
def numbered_words(monkeypatch):
    """The words of these texts are numbers, which are near to nothing otherwise."""
    monkeypatch.setattr("wfalens.text.similar_words.is_word", lambda _: True)


@pytest.mark.usefixtures("numbered_words")
def test_an_attack_draws_its_texts_from_many_files(folder):
    extract(folder, "attack.wfa", "--workers", "1")
    vectors = "\n".join(f"w{at} {at / 9:.3f} {at % 7 / 9:.3f}" for at in range(60))
    (folder / "vectors.txt").write_text(vectors + "\n")
    for at, ending in enumerate(("csv", "jsonl", "parquet")):
        write_texts(folder / f"known{at}.{ending}", some_texts(50, at), some_labels(50, at))
    few = wfalens(*ATTACK, "-c", "known*", "--limit", "20", cwd=folder)
    assert few.returncode == 0, few.stderr
    assert len(json.loads(few.stdout)[0]["examples"]) == 20
    all_of_them = wfalens(*ATTACK, "-c", "known*", "--limit", "999", cwd=folder)
    assert len(json.loads(all_of_them.stdout)[0]["examples"]) == 150
    # as many as there are: what the attack on the file in memory says
    drawn = wfalens(*ATTACK, "-c", "known1.jsonl", "--limit", "50", cwd=folder)
    assert drawn.stdout == wfalens(*ATTACK, "-c", "known1.jsonl", cwd=folder).stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-c", "texts*.jsonl"), "texts*.jsonl stands for many files; tell with --limit how many of their texts"),
        (
            ("-c", "texts*.jsonl", "--limit", "5"),
            "texts*.jsonl has no labels; an attack needs to know the true classes",
        ),
        (("-c", "no*.jsonl", "--limit", "5"), "no file matches no*.jsonl"),
    ],
)
def test_what_an_attack_cannot_read_is_one_sentence(folder, options, message):
    extract(folder, "attack.wfa", "--force", "--workers", "1")
    done = wfalens(*ATTACK, *options, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.usefixtures("numbered_words")
def test_an_attack_with_two_workers_equals_one_with_one(folder):
    extract(folder, "attack.wfa", "--force", "--workers", "1")
    vectors = "\n".join(f"w{at} {at / 9:.3f} {at % 7 / 9:.3f}" for at in range(60))
    (folder / "vectors.txt").write_text(vectors + "\n")
    command = [*ATTACK, "-c", "labelled.csv", "--recipe", "guided"]
    found = [wfalens(*command, "--workers", number, cwd=folder) for number in (1, 2)]
    assert found[0].returncode == 0, found[0].stderr
    assert found[0].stdout == found[1].stdout


BAD = {
    "no such engine": (("--engine", "spark"), "unknown engine 'spark'; choose one of local, ray"),
    "no size": (("--memory", "much"), "'much' is not a size; write for example 2GB"),
    "too little": (("--memory", "1MB"), "more than --memory 1 MB"),
    "no such way": (("--on-bad", "cry"), "--on-bad must be stop or skip, not 'cry'"),
    "an address without Ray": (("--address", "auto", "--engine", "local"), "an address needs the engine ray"),
    "log that cannot be written": (("--log", "no/such/log"), "cannot write the log no/such/log"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_options_are_one_sentence_and_leave_nothing(folder, name):
    options, message = BAD[name]
    done = extract(folder, "bad.wfa", *options)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert not list(folder.glob("bad.wfa*"))


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        (".", "expected one subfolder per class with text files in it"),
        ("no*.jsonl", "no file matches no*.jsonl"),
        ("model.rnn", "unknown format '.rnn'; use one of .csv, .tsv, .jsonl, .parquet, .txt, or a folder"),
    ],
)
def test_what_cannot_be_streamed_is_refused(folder, corpus, message):
    done = wfalens("extract", "model.rnn", "-c", corpus, "-o", "bad.wfa", "--memory", "64GB", cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_bad_row_is_named_and_may_be_skipped(folder):
    write_texts(folder / "broken.jsonl", some_texts(100))
    with (folder / "broken.jsonl").open("a") as stream:
        stream.write("{\n")
    command = ("extract", "model.rnn", "-c", "broke*.jsonl", "-o", "broken.wfa", *SETTINGS, "--workers", "1")
    stopped = wfalens(*command, cwd=folder)
    assert stopped.returncode == 2
    assert "broken.jsonl: line 101: not JSON" in stopped.stderr
    skipped = wfalens(*command, "--on-bad", "skip", cwd=folder)
    assert skipped.returncode == 0, skipped.stderr
    assert "left out 1 rows, shards or files (broken.jsonl: line 101: not JSON" in skipped.stderr


def test_without_the_extra_the_command_says_what_to_install(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    done = extract(folder, "bad.wfa", "--engine", "ray")
    assert done.returncode == 2
    assert done.stderr == "error: ray is not installed; install it with: pip install 'wfalens[ray]'\n"


def test_sizes_are_read_and_shown_as_people_write_them():
    assert [parse_size(text) for text in ("2GB", "512 MiB", "1000000", "1.5k")] == [2 * 10**9, 1 << 29, 10**6, 1500]
    assert [shown_size(size) for size in (512, 1500, 2 * 10**9, 3.2e12)] == ["512 bytes", "1.5 kB", "2 GB", "3,200 GB"]
    for wrong in ("", "0", "-1", "2XB", "GB", "1e9"):
        with pytest.raises(InputError, match="is not a size"):
            parse_size(wrong)
