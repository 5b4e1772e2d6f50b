"""The commands that explain and attack."""

import csv
import json
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from tests.cli.test_commands import SMALL, wfalens
from wfalens.models import RNNClassifier, RNNConfig, Trainer
from wfalens.text import TextEncoder, Vocabulary, load_dataset, read_vectors
from wfalens.text.datasets import newsroom


@pytest.fixture(scope="module")
def folder(copy_once):
    return copy_once("explaining", fill)


def fill(folder):
    options = ["--seed", "1", *SMALL]
    assert wfalens("train", "-c", "newsroom", "-o", "n.rnn", *options, cwd=folder).returncode == 0
    extract = ("extract", "n.rnn", "-c", "newsroom", "-o", "n.wfa", "-k", "15", "--completion", "probe", "--alpha", "0")
    assert wfalens(*extract, cwd=folder).returncode == 0
    vectors = newsroom.vectors()
    lines = [
        f"{word} {' '.join(f'{x:.5f}' for x in row)}" for word, row in zip(vectors.words, vectors.matrix, strict=True)
    ]
    (folder / "vectors.txt").write_text("\n".join(lines) + "\n")
    (folder / "broken.txt").write_text(lines[0] + "\n" + "senate 1 x" + " 0" * 30 + "\n")
    (folder / "strange.txt").write_text("zz 1 2\nyy 3 4\n")
    (folder / "blank.csv").write_text("text\n;\n")
    encoder = TextEncoder(Vocabulary.of_words(("a", "b")), "whitespace")
    names = load_dataset("newsroom").class_names
    RNNClassifier.untrained(RNNConfig(embedding=4, hidden=4), encoder, names, 0).save(folder / "other.rnn")


def run(folder, *arguments):
    done = wfalens(*arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done


def test_explain_globally(folder):
    done = run(folder, "explain", "n.wfa", "--html", "top.html", "--plot", "top.png", "-k", "3")
    assert "probability" in done.stdout
    assert (folder / "top.png").read_bytes()[:4] == b"\x89PNG"
    assert "<table" in (folder / "top.html").read_text()
    top = json.loads(run(folder, "explain", "n.wfa", "--json").stdout)["top"]
    planted = newsroom.TRUTH.carriers["health"]
    assert sum(item["word"] in planted for item in top["health"]) >= 8


def test_explain_words_phrases_and_texts(folder):
    word = json.loads(run(folder, "explain", "n.wfa", "--word", "senate", "--json", "--plot", "w.svg").stdout)["words"][
        0
    ]
    assert max(word["scores"], key=word["scores"].get) == "us"
    assert (folder / "w.svg").exists()
    phrase = json.loads(run(folder, "explain", "n.wfa", "--phrase", "the senate", "--json").stdout)["words"][0]
    assert max(phrase["scores"], key=phrase["scores"].get) == "us"
    done = run(folder, "explain", "n.wfa", "--text", "the senate [red]votes", "--html", "t.html", "--plot", "t.pdf")
    assert "sum = output − prior" in done.stdout
    assert re.search(r"\[senate [+-]0\.\d\d\]", done.stdout)
    assert "speaks for us" in done.stdout
    assert "trust" in done.stdout
    assert "lowest with" in done.stdout
    assert (folder / "t.pdf").read_bytes()[:4] == b"%PDF"
    report = json.loads(run(folder, "explain", "n.wfa", "--text", "the senate votes", "--json").stdout)
    walk = json.loads(
        run(folder, "explain", "n.wfa", "--text", "the senate votes", "--method", "walk", "--json").stdout
    )
    for told, method in ((report, "shapley"), (walk, "walk")):
        assert told["method"] == method
        total = sum(item["contribution"]["us"] for item in told["words"])
        assert total == pytest.approx(told["output"]["us"] - told["prior"]["us"])
    assert report["words"] != walk["words"]


def test_explanations_are_evaluated_on_the_network(folder):
    options = ("evaluate-explanations", "n.wfa", "-m", "n.rnn", "-c", "newsroom", "--limit", "40", "--html", "e.html")
    done = run(folder, *options)
    assert "comprehensiveness" in done.stdout
    assert "<table" in (folder / "e.html").read_text()
    told = json.loads(run(folder, *options[:-2], "--json").stdout)
    ours, chance = told["Shapley values of the automaton"], told["random"]
    assert ours["comprehensiveness"]["low"] > chance["comprehensiveness"]["high"]
    assert ours["sufficiency"]["high"] < chance["sufficiency"]["low"]
    assert told["leave-one-out on the classifier"]["tau_loo"]["value"] == pytest.approx(1)


def test_embeddings_are_written_as_word2vec_text(folder):
    done = run(folder, "explain", "n.wfa", "--embeddings", "tme.txt", "--size", "7")
    assert "of the variance" in done.stderr
    vectors = read_vectors(folder / "tme.txt")
    assert vectors.width == 7
    assert newsroom.TRUTH.topic_of(vectors.nearest("senate", 1)[0][0]) == "us"


def test_phrases_and_their_files(folder):
    command = ("phrases", "n.wfa", "-m", "n.rnn", "-c", "newsroom")
    done = run(folder, *command, "-o", "phrases.csv", "--html", "phrases.html")
    assert "Words and phrases that decide by themselves (effect in probability)" in done.stdout
    assert "precision: for the network, in 2,000 texts" in done.stdout
    assert "<table" in (folder / "phrases.html").read_text()
    told = json.loads(run(folder, *command, "--json", "--longest", "1").stdout)
    assert (told["judge"], told["gap"], set(told["base_rates"])) == ("network", 3, set(newsroom.TOPICS))
    single = [row for row in told["phrases"] if newsroom.TRUTH.topic_of(row["phrase"])]
    assert len(single) > 100
    assert np.mean([newsroom.TRUTH.topic_of(row["phrase"]) == row["class"] for row in single]) > 0.95
    with (folder / "phrases.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    texts = load_dataset("newsroom", "test").texts
    for row in rows[:5]:
        assert sum(re.search(row["regex"], text) is not None for text in texts) == int(row["texts"])
    alone = json.loads(run(folder, "phrases", "n.wfa", "-c", "newsroom", "--min-support", "50", "--json").stdout)
    assert alone["judge"] == "automaton"
    assert min(row["texts"] for row in alone["phrases"]) >= 50
    nothing = run(folder, *command, "--min-effect", "2")
    assert "no phrase decides by itself" in nothing.stdout


def test_neighbours_and_pairs(folder):
    report = json.loads(run(folder, "neighbours", "n.wfa", "senate", "--vectors", "vectors.txt", "--json").stdout)
    assert newsroom.TRUTH.topic_of(report["acts_alike"][0][0]) == "us"
    assert {newsroom.TRUTH.topic_of(word) for word, _ in report["means_alike"]} == {"us"}
    assert report["vectors"] == "vectors.txt"
    assert "acts alike" in run(folder, "neighbours", "n.wfa", "senate", "--vectors", "vectors.txt").stdout
    command = ("pairs", "n.wfa", "--vectors", "vectors.txt", "--epsilon", "0.05", "--delta", "0.002")
    done = run(folder, *command, "--plot", "maps.png", "--html", "pairs.html")
    assert "adversarial pairs among" in done.stdout
    pairs = json.loads(run(folder, *command, "--json").stdout)["pairs"]
    found = {frozenset((pair["first"], pair["second"])) for pair in pairs}
    assert found <= {frozenset(pair) for pair in newsroom.TRUTH.synonyms}
    assert len(found) >= 4
    assert (
        "collaborative" in run(folder, "pairs", "n.wfa", "--vectors", "vectors.txt", "--kind", "collaborative").stdout
    )
    nothing = run(folder, "pairs", "n.wfa", "--vectors", "vectors.txt", "--epsilon", "0", "--delta", "99")
    assert "widen them" in nothing.stdout


def test_attack_and_its_files(folder):
    command = ("attack", "n.wfa", "-m", "n.rnn", "-c", "newsroom", "--limit", "60", "--vectors", "vectors.txt")
    bounds = ("--weak", "q0.5", "--strong", "0.3", "--min-transition", "0.001")
    done = run(folder, *command, *bounds, "--csv", "a.csv", "--html", "a.html")
    assert "of correct" in done.stdout
    assert "-->" in done.stdout
    assert (folder / "a.csv").read_text().count("\n") == 5 * 60 + 1
    report = json.loads(run(folder, *command, *bounds, "--recipe", "guided", "-k", "2", "--json").stdout)
    assert report[0]["summary"]["texts"] == 60
    assert report[0]["k"] == 2


def test_pretrain(folder):
    (folder / "small.csv").write_text(
        "text,label\n" + "".join(f"{t},{newsroom.TOPICS[y]}\n" for t, y in _headlines(300))
    )
    command = ("pretrain", "n.wfa", "-c", "small.csv", "--test", "small.csv", "--vectors", "vectors.txt")
    done = run(folder, *command, "--epochs", "2", "--seeds", "2", "--plot", "curves.png", "--html", "p.html")
    assert "transition embeddings" in done.stdout
    assert "epochs to" in done.stdout
    report = json.loads(run(folder, *command, "--epochs", "1", "--seeds", "1", "--json").stdout)
    assert [curve["start"] for curve in report["curves"]] == ["transition embeddings", "vectors.txt", "random"]


def _headlines(size):
    corpus = newsroom.generate(size, np.random.default_rng(3))
    return list(zip(corpus.texts, corpus.labels, strict=True))


def test_same_part_of_speech_needs_a_tagger(folder, monkeypatch):
    command = ("attack", "n.wfa", "-m", "n.rnn", "-c", "newsroom", "--limit", "10", "--vectors", "vectors.txt")
    command += ("--min-transition", "0.001", "--same-part-of-speech")
    monkeypatch.setitem(sys.modules, "nltk", None)
    missing = wfalens(*command, cwd=folder)
    assert (missing.returncode, missing.stderr.count("pip install nltk")) == (2, 1)
    tagger = SimpleNamespace(pos_tag=lambda words: [(word, "NNS" if word.endswith("s") else "VB") for word in words])
    monkeypatch.setitem(sys.modules, "nltk", tagger)
    report = json.loads(run(folder, *command, "--recipe", "greedy", "--json").stdout)
    for example in report[0]["examples"]:
        for at in example["changed"]:
            assert example["before"][at].endswith("s") == example["after"][at].endswith("s")


@pytest.fixture(scope="module")
def hostile(copy_once):
    """Words and classes full of markup, control characters and direction overrides."""
    return copy_once("hostile", fill_hostile)


def fill_hostile(folder):
    words = ["[/x]", "$\\foo$", "<script>", "\x1b[31m", "\u202eabc", "good", "bad", "the"]
    classes = ["[/x] $\\foo$", "<i>neg\x1b[31m"]
    rows = [
        {"text": f"{words[at % 8]} {words[(3 * at) % 8]} {words[5 + at % 2]} {words[at % 3]}", "label": classes[at % 2]}
        for at in range(80)
    ]
    (folder / "h.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    vectors = [f"{word} {at} {at * at % 7} {3 * at % 5}" for at, word in enumerate(words, 1)]
    (folder / "h.txt").write_text("\n".join(vectors) + "\n")
    options = ["--tokenizer", "whitespace", *SMALL]
    assert wfalens("train", "-c", "h.jsonl", "-o", "h.rnn", *options, cwd=folder).returncode == 0
    assert wfalens("extract", "h.rnn", "-c", "h.jsonl", "-o", "h.wfa", "-k", "4", cwd=folder).returncode == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", "h.wfa", "--plot", "p.png", "--html", "p.html", "--top", "3000"),
        ("explain", "h.wfa", "--word", "[/x]", "--plot", "w.png"),
        ("explain", "h.wfa", "--phrase", "$\\foo$", "--plot", "f.svg"),
        ("explain", "h.wfa", "--text", "[/x] \x1b[31m good \u202eabc \udcff", "--plot", "t.png", "--html", "t.html"),
        ("neighbours", "h.wfa", "[/x]", "--min-count", "1"),
        ("pairs", "h.wfa", "--vectors", "h.txt", "--plot", "m.png", "--epsilon", "q0.9", "--delta", "q0.1"),
        ("attack", "h.wfa", "-m", "h.rnn", "-c", "h.jsonl", "--strong", "9", "--min-transition", "0"),
        ("pretrain", "h.wfa", "-c", "h.jsonl", "--test", "h.jsonl", "--epochs", "1", "--seeds", "1", "--plot", "c.png"),
        ("phrases", "h.wfa", "-m", "h.rnn", "-c", "h.jsonl", "--min-support", "1", "--html", "ph.html", "-o", "ph.csv"),
        ("walk", "h.wfa", "[/x] \x1b[31m good"),
        ("predict", "h.wfa", "[/x] \x1b[31m good"),
        ("evaluate", "h.wfa", "-m", "h.rnn", "-c", "h.jsonl"),
    ],
    ids=lambda arguments: " ".join(arguments[:4]).encode("ascii", "replace").decode(),
)
def test_hostile_words_and_classes_are_shown_harmlessly(hostile, arguments):
    done = run(hostile, *arguments)
    for text in (done.stdout, done.stderr):
        assert "\x1b" not in text
        assert "\u202e" not in text
    for page in hostile.glob("*.html"):
        assert "<script>" not in page.read_text()


def test_pretraining_reads_texts_as_the_automaton_does(hostile, monkeypatch):
    seen = []
    original = Trainer.train

    def spy(self, *arguments, **options):
        seen.append((self.tokenizer, self.config.hidden))
        return original(self, *arguments, **options)

    monkeypatch.setattr(Trainer, "train", spy)
    run(
        hostile,
        "pretrain",
        "h.wfa",
        "-c",
        "h.jsonl",
        "--test",
        "h.jsonl",
        "--epochs",
        "1",
        "--seeds",
        "1",
        "-m",
        "h.rnn",
    )
    assert set(seen) == {("whitespace", 16)}


def test_side_files_are_checked_before_the_work(folder):
    for option, value in (("--html", "no/x.html"), ("--csv", "no/a.csv")):
        command = ("attack", "n.wfa", "-m", "n.rnn", "-c", "newsroom", option, value)
        done = wfalens(*command, cwd=folder)
        assert (done.returncode, done.stderr) == (2, "error: the folder no does not exist\n")
    done = wfalens("pretrain", "n.wfa", "-c", "newsroom", "--plot", "curves.jpg", cwd=folder)
    assert "a plot must end in .png, .pdf, .svg" in done.stderr


def test_bounds_that_contradict_each_other_are_refused(folder):
    command = ("attack", "n.wfa", "-m", "n.rnn", "-c", "newsroom", "--limit", "20", "--vectors", "vectors.txt")
    done = wfalens(*command, "--weak", "q0.9", "--strong", "q0.1", cwd=folder)
    assert done.returncode == 2
    assert "the weak bound on d_S must be at most the strong one, not q0.9 and q0.1" in done.stderr


def test_an_undecided_text_is_said_to_be_undecided(folder):
    extract = (
        "extract",
        "n.rnn",
        "-c",
        "newsroom",
        "-o",
        "null.wfa",
        "-k",
        "15",
        "--completion",
        "null",
        "--alpha",
        "0",
    )
    run(folder, *extract)
    text = "uprising paparazzi profits twister oscar quantum insulin"
    undecided = json.loads(run(folder, "predict", "null.wfa", text, "--json").stdout)[0]
    assert (undecided["label"], undecided["unsure"], undecided["confidence"]) == (None, False, 0)
    assert "undecided" in run(folder, "predict", "null.wfa", text).stdout
    assert "lost" in run(folder, "walk", "null.wfa", text).stdout
    done = wfalens("explain", "null.wfa", "--text", text, cwd=folder)
    assert done.returncode == 2
    assert "undecided on this text" in done.stderr


BAD = {
    "unknown word": (("explain", "n.wfa", "--word", "zzz"), "lower --min-count"),
    "two questions": (("explain", "n.wfa", "--word", "a", "--text", "b"), "give one of"),
    "empty text": (("explain", "n.wfa", "--text", "  "), "no words"),
    "a method that does not exist": (
        ("explain", "n.wfa", "--text", "the senate", "--method", "lime"),
        "unknown method 'lime'; choose one of shapley, walk",
    ),
    "a method without a text": (("explain", "n.wfa", "--method", "walk"), "give a --text, or no --method"),
    "a text that is too long": (
        ("explain", "n.wfa", "--text", "a " * 20_001),
        "a text of 20,001 words is too long to be explained word by word; cut it to 20,000 words at most",
    ),
    "explanations of texts without words": (
        ("evaluate-explanations", "n.wfa", "-m", "n.rnn", "-c", "blank.csv"),
        "there is no text with a word in it",
    ),
    "explanations by the automaton of another model": (
        ("evaluate-explanations", "n.wfa", "-m", "other.rnn", "-c", "newsroom"),
        "the automaton was extracted from a model with another vocabulary",
    ),
    "empty phrase": (("explain", "n.wfa", "--phrase", " "), "has no words"),
    "plot of unknown kind": (("explain", "n.wfa", "--plot", "x.bmp"), "must end in .png, .pdf, .svg"),
    "phrases that are too rare": (("phrases", "n.wfa", "-c", "newsroom", "--min-support", "9999"), "lower the minimum"),
    "neighbour of an unknown word": (("neighbours", "n.wfa", "zzz"), "does not know the word 'zzz'"),
    "vectors that cover nothing": (("pairs", "n.wfa", "--vectors", "strange.txt"), "no vector for any of the"),
    "broken vectors": (("pairs", "n.wfa", "--vectors", "broken.txt"), "line 2: not a number in the vector of 'senate'"),
    "unknown kind of pairs": (("pairs", "n.wfa", "--kind", "odd"), "choose one of adversarial, collaborative"),
    "bad threshold": (("pairs", "n.wfa", "--vectors", "vectors.txt", "--epsilon", "q7"), "a threshold is a number"),
    "unknown recipe": (
        ("attack", "n.wfa", "-m", "n.rnn", "-c", "newsroom", "--recipe", "magic"),
        "unknown recipe 'magic'; choose one of nearest",
    ),
    "bounds that allow nothing": (
        (
            "attack",
            "n.wfa",
            "-m",
            "n.rnn",
            "-c",
            "newsroom",
            "--vectors",
            "vectors.txt",
            "--weak",
            "1e-9",
            "--strong",
            "1e-9",
        ),
        "widen the bounds",
    ),
    "pretraining without a test": (("pretrain", "n.wfa", "-c", "vectors.txt"), "give labelled test texts with --test"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence_and_exit_code_2(folder, name):
    arguments, message = BAD[name]
    done = wfalens(*arguments, cwd=folder)
    assert done.returncode == 2, done.stdout
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: ")


def test_a_text_of_unknown_words_only_is_explained_and_says_so(folder):
    report = json.loads(run(folder, "explain", "n.wfa", "--text", "zzzz qqqq", "--json").stdout)
    assert [item["word"] for item in report["words"]] == ["zzzz", "qqqq"]
    assert report["trust"]["unknown"] == 1
    first, second = (item["contribution"]["us"] for item in report["words"])
    assert first == pytest.approx(second)  # the same word to the automaton, so the same share


def test_a_text_of_stop_words_only_is_explained_as_flat(folder):
    report = json.loads(run(folder, "explain", "n.wfa", "--text", "the of and to", "--json").stdout)
    assert max(abs(value) for item in report["words"] for value in item["contribution"].values()) < 0.3
