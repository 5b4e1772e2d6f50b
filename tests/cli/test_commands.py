"""The command line as a user meets it: a whole session, machine output, exit codes, bad input."""

import io
import json
import re
import shutil
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass

import pytest

from wfalens.automaton import WFA
from wfalens.cli.main import main
from wfalens.cli.output import OUT

SMALL = ["--embedding", "16", "--hidden", "16", "--epochs", "4", "--learning-rate", "0.01"]


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


def wfalens(*arguments, cwd=".", stdin=""):
    """Run a command in this process, as its entry point would; exit code and output as a shell sees them."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, chdir(cwd), redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "stdin", io.StringIO(stdin))
        patch.delenv("WFALENS_DATA", raising=False)
        patch.setattr(OUT, "width", 160)
        code = main([str(argument) for argument in arguments])
    return Done(code, out.getvalue(), err.getvalue())


def in_a_process(*arguments):
    command = [sys.executable, "-m", "wfalens", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def session(copy_once, small_network):
    """A folder with a trained model and an automaton, made by the commands."""

    def extract(folder):
        shutil.copy(small_network / "news.rnn", folder)
        done = wfalens("extract", "news.rnn", "--corpus", "newsroom", "-o", "news.wfa", "-k", "15", cwd=folder)
        assert done.returncode == 0, done.stderr
        (folder / "extracted.txt").write_text(done.stdout)

    folder = copy_once("session", extract)
    return folder, json.loads((small_network / "trained.json").read_text()), (folder / "extracted.txt").read_text()


def test_training_reports_and_learns(session):
    _, report, _ = session
    assert report["test_accuracy"] > 0.8
    assert report["best_epoch"] in range(1, 5)


def test_extraction_says_what_it_made(session):
    folder, _, text = session
    assert "observed rows" in text
    assert "wrote news.wfa" in text
    assert "seconds by the clock" in text
    assert re.search(r"cr of a bag of words .*\n.*cr on the same texts .* 0\.\d+ \(the automaton, which has seen", text)
    assert WFA.load(folder / "news.wfa").states == 16


def test_every_option_of_extraction_reaches_the_file(session):
    folder, _, _ = session
    where = ("extract", "news.rnn", "-c", "newsroom", "-o", "all.wfa")
    options = "--states 6 --completion empirical --alpha 0.2 --beta 0.25 --distance squared --initial uniform --seed 9"
    augment = "--augment 2 --vectors model --replace 0.3 --drop 0.1 --neighbours 3 --augment-weight 0.5 --sample 0"
    done = wfalens(*where, *options.split(), *augment.split(), "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    wfa = WFA.load(folder / "all.wfa")
    assert (wfa.states, wfa.alpha, wfa.completion.beta, wfa.completion.distance) == (7, 0.2, 0.25, "squared")
    assert wfa.provenance["parameters"]["seed"] == 9
    assert wfa.provenance["parameters"]["sample"] is None
    assert wfa.provenance["parameters"]["augmentation"] == {
        "vectors": "model embedding",
        "epochs": 2,
        "replace": 0.3,
        "drop": 0.1,
        "neighbours": 3,
        "weight": 0.5,
    }
    assert told["bytes"] == (folder / "all.wfa").stat().st_size


def test_a_query_budget_is_kept_and_told(session):
    folder, _, _ = session
    command = ("extract", "news.rnn", "-c", "newsroom", "-k", "5", "--abstraction", "outputs", "--queries", "30000")
    done = wfalens(*command, "-o", "few.wfa", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    asked = json.loads(done.stdout)["queries"]
    assert 0 < asked["probing"] < asked["total"] <= asked["limit"] == 30000
    shown = wfalens("evaluate", "few.wfa", "-m", "news.rnn", "-c", "newsroom", cwd=folder).stdout
    assert f"asked the model {asked['total']:,} times beyond its texts of 30,000 allowed" in " ".join(shown.split())
    assert "linear one" in wfalens(*command, "-o", "no.wfa", "--kind", "linear", cwd=folder).stderr


def test_evaluation_for_people_and_machines(session):
    folder, _, _ = session
    command = ("evaluate", "news.wfa", "--model", "news.rnn", "--corpus", "newsroom", "--reference", "newsroom")
    people, machine = wfalens(*command, cwd=folder), wfalens(*command, "--json", cwd=folder)
    assert "CR [95 %]" in people.stdout
    assert "bag of words" in people.stdout
    report = json.loads(machine.stdout)
    assert 0.5 < report["overall"]["cr"]["value"] < 1
    assert set(report["by_class"]) <= {"sport", "world", "us", "business", "health", "entertainment", "sci_tech"}


def test_a_missed_threshold_is_exit_code_1(session):
    folder, _, _ = session
    command = ("evaluate", "news.wfa", "--model", "news.rnn", "--corpus", "newsroom", "--min-cr")
    assert wfalens(*command, "0.1", cwd=folder).returncode == 0
    missed = wfalens(*command, "1.0", cwd=folder)
    assert missed.returncode == 1
    assert "is below 1.000" in missed.stdout


def test_a_chosen_coverage_gives_the_confidence_to_ask_for(session):
    folder, _, _ = session
    command = ("evaluate", "news.wfa", "--model", "news.rnn", "--corpus", "newsroom")
    people = wfalens(*command, "--coverage", "0.7", "--at-cr", "0.9", "--min-confidence", "0.5", cwd=folder).stdout
    assert "By confidence" in people
    assert "surest tenth" in people
    assert re.search(r"allowed to be unsure, it answers 8\d\.\d% of the texts at CR [01]\.\d+ \[", people)
    printed = re.findall(r"with --min-confidence (\S+) it answers (\S+)% of the texts", people)
    assert len(printed) == 3
    assert 70 <= float(printed[0][1]) < 72
    options = ("--coverage", "0.7", "--at-cr", "1", "--min-confidence", printed[0][0], "--json")
    report = json.loads(wfalens(*command, *options, cwd=folder).stdout)
    assert report["selected"]["at_cr"] is None
    chosen = report["selected"]["coverage"]
    assert report["selected"]["min_confidence"] == chosen
    assert len(report["trust"]["curve"]) == 6
    predict = ("predict", "news.wfa", "--corpus", "newsroom", "--min-confidence", printed[0][0])
    answers = json.loads(wfalens(*predict, "--json", cwd=folder).stdout)
    assert sum(not item["unsure"] for item in answers) == chosen["texts"]
    for item in answers:
        assert (item["label"] is None) == item["unsure"] == (item["confidence"] < float(printed[0][0]))
    assert " unsure " in wfalens(*predict, cwd=folder).stdout


def test_without_a_confidence_every_text_is_answered(session):
    folder, _, _ = session
    (item,) = json.loads(wfalens("predict", "news.wfa", "the of", "--json", cwd=folder).stdout)
    assert item["label"] is not None
    assert not item["unsure"]
    highest = sorted(item["output"].values())[-2:]
    assert item["confidence"] == pytest.approx(highest[1] - highest[0])


def test_prediction_from_arguments_stdin_and_files(session):
    folder, _, _ = session
    texts = ["senate votes to veto", "coach and players"]
    by_argument = json.loads(wfalens("predict", "news.wfa", *texts, "--json", cwd=folder).stdout)
    by_stdin = json.loads(wfalens("predict", "news.wfa", "-", "--json", cwd=folder, stdin="\n".join(texts)).stdout)
    (folder / "texts.csv").write_text("text\n" + "\n".join(texts) + "\n")
    by_file = json.loads(wfalens("predict", "news.wfa", "-c", "texts.csv", "--json", cwd=folder).stdout)
    assert by_argument == by_stdin == by_file
    assert [item["label"] for item in by_argument] == ["us", "sport"]
    assert "sport" in wfalens("predict", "news.wfa", texts[1], cwd=folder).stdout


def test_walk_shows_the_kinds_of_rows(session):
    folder, _, _ = session
    text = wfalens("walk", "news.wfa", "the [bold]senate zzzz", cwd=folder).stdout
    assert "observed" in text
    assert "unknown" in text
    assert "[bold]senate" in text
    steps = json.loads(wfalens("walk", "news.wfa", "the senate", "--json", cwd=folder).stdout)["steps"]
    assert [step["word"] for step in steps] == ["the", "senate"]


def test_data_list():
    listed = json.loads(wfalens("data", "list", "--json").stdout)
    here = {item["name"]: item["available"] for item in listed}
    assert here["rotten_tomatoes"]
    assert not here["tagmynews"]
    people = wfalens("data", "list").stdout
    assert "tomita7" in people
    assert "data folder" in people  # what the file of a missing set is relative to


def test_output_files_are_not_overwritten_unless_told(session):
    folder, _, _ = session
    before = (folder / "news.wfa").read_bytes()
    command = ("extract", "news.rnn", "-c", "newsroom", "-o", "news.wfa", "-k", "15")
    refused = wfalens(*command, cwd=folder)
    assert (refused.returncode, refused.stderr) == (2, "error: news.wfa exists; give --force to overwrite it\n")
    assert wfalens(*command, "--force", cwd=folder).returncode == 0
    assert (folder / "news.wfa").read_bytes() == before  # same seed, same bytes


def test_a_model_from_elsewhere_is_noticed(session):
    folder, _, _ = session
    assert wfalens("train", "-c", "newsroom", "-o", "other.rnn", *SMALL, "--seed", "5", cwd=folder).returncode == 0
    done = wfalens("evaluate", "news.wfa", "-m", "other.rnn", "-c", "newsroom", cwd=folder)
    assert "was extracted from another model" in done.stderr or "another vocabulary" in done.stderr


def test_help_teaches():
    for command in ("train", "extract", "evaluate", "predict", "walk", "demo"):
        text = wfalens(command, "--help").stdout
        assert "Example" in text or command == "demo"
        assert "--" in text


BAD = {
    "empty file": (("train", "-c", "empty.csv", "-o", "x.rnn"), "empty.csv: the file is empty"),
    "one class only": (("train", "-c", "one.csv", "-o", "x.rnn"), "one class only (a)"),
    "missing column": (("train", "-c", "other.csv", "-o", "x.rnn"), "no column 'text'; the columns are body, label"),
    "missing label": (("train", "-c", "gap.csv", "-o", "x.rnn"), "line 3: the label is missing"),
    "no such corpus": (("train", "-c", "nope", "-o", "x.rnn"), "no data set of that name"),
    "data set without its folder": (("train", "-c", "tagmynews", "-o", "x.rnn"), "--data or WFALENS_DATA"),
    "unknown split": (("train", "-c", "newsroom:dev", "-o", "x.rnn"), "no split 'dev'"),
    "folder that does not exist": (("train", "-c", "newsroom", "-o", "no/x.rnn"), "folder no does not exist"),
    "output is a folder": (("train", "-c", "newsroom", "-o", "."), "is a folder"),
    "unknown cell": (("train", "-c", "newsroom", "-o", "x.rnn", "--cell", "bert"), "choose one of lstm, gru, elman"),
    "no such model": (("extract", "no.rnn", "-c", "newsroom", "-o", "x.wfa"), "no.rnn: no such file"),
    "model is text": (("extract", "empty.csv", "-c", "newsroom", "-o", "x.wfa"), "damaged or not made by wfalens"),
    "automaton as model": (("extract", "news.wfa", "-c", "newsroom", "-o", "x.wfa"), "not a .rnn file"),
    "model as automaton": (("predict", "news.rnn", "x"), "not a .wfa file"),
    "bad beta": (
        ("extract", "news.rnn", "-c", "newsroom", "-o", "x.wfa", "--beta", "hi"),
        "must be a number or 'auto'",
    ),
    "bad alpha": (
        ("extract", "news.rnn", "-c", "newsroom", "-o", "x.wfa", "--alpha", "2"),
        "alpha must lie between 0 and 1",
    ),
    "too many states": (
        (
            "extract",
            "news.rnn",
            "-c",
            "tiny.csv",
            "-o",
            "x.wfa",
            "-k",
            "50",
            "--abstraction",
            "outputs",
        ),
        "ask for at most",
    ),
    "unknown vectors": (
        ("extract", "news.rnn", "-c", "tiny.csv", "-o", "x.wfa", "-k", "2", "--augment", "1", "--vectors", "no.txt"),
        "no.txt: no such file",
    ),
    "test label that is not trained": (
        ("train", "-c", "newsroom", "--test", "one.csv", "-o", "x.rnn"),
        "label 'a' of one.csv is not one of the classes",
    ),
    "test texts without labels": (
        ("train", "-c", "newsroom", "--test", "tiny.csv", "-o", "x.rnn"),
        "no labels to test",
    ),
    "threshold out of range": (
        ("evaluate", "news.wfa", "-m", "news.rnn", "-c", "newsroom", "--min-cr", "95"),
        "--min-cr must lie between 0 and 1",
    ),
    "threshold that is no number": (
        ("evaluate", "news.wfa", "-m", "news.rnn", "-c", "newsroom", "--min-cr", "nan"),
        "--min-cr must lie between 0 and 1",
    ),
    "confidence out of range": (("predict", "news.wfa", "x", "--min-confidence", "2"), "must lie between 0 and 1"),
    "confidence that is no number": (
        ("evaluate", "news.wfa", "-m", "news.rnn", "-c", "newsroom", "--min-confidence", "nan"),
        "--min-confidence must lie between 0 and 1",
    ),
    "coverage of nothing": (
        ("evaluate", "news.wfa", "-m", "news.rnn", "-c", "newsroom", "--coverage", "0"),
        "--coverage must be a share above 0 and at most 1",
    ),
    "rate out of range": (
        ("evaluate", "news.wfa", "-m", "news.rnn", "-c", "newsroom", "--at-cr", "98"),
        "--at-cr must lie between 0 and 1",
    ),
    "texts and a corpus": (("predict", "news.wfa", "x", "-c", "newsroom"), "not both"),
    "truncated automaton": (("walk", "cut.wfa", "hello"), "cut.wfa: damaged"),
    "walk without words": (("walk", "news.wfa", "  "), "the text has no words"),
    "predict without text": (("predict", "news.wfa"), "no text to classify"),
    "labels that the model does not know": (
        ("evaluate", "news.wfa", "-m", "news.rnn", "-c", "one.csv"),
        "one.csv: text 1: label 'a' is not one of the classes",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence_exit_code_2_and_no_file(session, name):
    folder, _, _ = session
    files = {
        "empty.csv": "",
        "one.csv": "text,label\nx,a\ny,a\n",
        "other.csv": "body,label\nx,a\n",
        "gap.csv": "text,label\nx,a\ny,\n",
        "tiny.csv": "text\nthe senate votes\n",
    }
    for file, content in files.items():
        (folder / file).write_text(content)
    (folder / "cut.wfa").write_bytes((folder / "news.wfa").read_bytes()[:300])
    before = sorted(file.name for file in folder.iterdir())
    arguments, message = BAD[name]
    done = wfalens(*arguments, cwd=folder)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert sorted(file.name for file in folder.iterdir()) == before


def test_usage_errors_are_exit_code_2():
    assert wfalens("train").returncode == 2
    assert wfalens("fly").returncode == 2


def test_a_real_process_leaves_with_the_code_and_shows_a_traceback_only_for_debug(tmp_path):
    plain = in_a_process("walk", tmp_path / "no.wfa", "x")
    assert (plain.returncode, plain.stderr) == (2, f"error: {tmp_path / 'no.wfa'}: no such file\n")
    assert "Traceback" in in_a_process("--debug", "walk", tmp_path / "no.wfa", "x").stderr
    assert in_a_process("--version").stdout.startswith("wfalens 0.")


def test_strange_texts_go_through_the_whole_way(tmp_path):
    odd = ["👩‍👩‍👧 e\u0301te\u0301 ‏مرحبا‎", "word " * 100_000, "<script>alert(1)</script>", '"quoted"', "\x00\x07 bell"]
    rows = [{"text": f"{text} {label}", "label": label} for text in odd for label in ("good", "bad")] * 6
    (tmp_path / "odd.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = wfalens("train", "-c", "odd.jsonl", "-o", "odd.rnn", "--max-length", "30", *SMALL, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = wfalens("extract", "odd.rnn", "-c", "odd.jsonl", "-o", "odd.wfa", "-k", "3", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "12 of 60 texts were cut after 30 tokens" in done.stderr
    done = wfalens("predict", "odd.wfa", "-c", "odd.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "\x07" not in done.stdout


def test_skipped_rows_are_told(tmp_path):
    lines = ["text,label", *[f"word{i} {'good' if i % 2 else 'bad'},{i % 2}" for i in range(40)], ",1", "  ,0"]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    done = wfalens("train", "-c", "a.csv", "-o", "a.rnn", *SMALL, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "left out 2 rows (a.csv: line 42: empty text; a.csv: line 43: empty text)" in done.stderr
