"""Commands on models that are no classifier of words: language models, characters, a Hugging Face folder."""

import json
import shutil

import pytest

from tests.commands import ok, wfalens
from tests.models.adapters.test_transformer import LETTERS, bert

TINY = ("-C", "embedding=6", "-C", "hidden=6", "-C", "epochs=2", "--tokenizer", "characters")
NAMES = [first + last for first in ("an", "ot", "hanna", "bo", "li", "mar") for last in ("na", "to", "h", "b", "sa")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    rows = [f"{name},{'a' if name.endswith('a') else 'b'}" for name in NAMES * 4]
    (folder / "names.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    return folder


@pytest.fixture(scope="module")
def speaker(folder):
    ok(folder, "train", "--task", "next", "-c", "names.csv", "-o", "names.rnn", *TINY)
    ok(folder, "extract", "names.rnn", "-c", "names.csv", "-o", "names.wfa", "-C", "paper.states=3")
    return folder


@pytest.mark.parametrize("source", ["names.rnn", "names.wfa"])
def test_strings_are_drawn_and_searched(speaker, source):
    drawn = json.loads(ok(speaker, "sample", source, "-n", "3", "--json"))
    assert len(drawn) == 3
    assert all(set(each["text"]) <= set("".join(NAMES)) for each in drawn)
    best = json.loads(ok(speaker, "sample", source, "-n", "2", "--most-likely", "-C", "longest=12", "--json"))
    assert best[0]["log_probability"] >= best[1]["log_probability"]


def test_an_automaton_of_a_language_model_is_measured_on_prefixes(speaker):
    found = json.loads(ok(speaker, "evaluate", "names.wfa", "-m", "names.rnn", "-c", "names.csv", "--json"))
    assert found["automaton"]["perplexity"] >= 1
    assert found["prefixes"] > found["texts"] == 120
    refused = wfalens("evaluate", "names.wfa", "-m", "names.rnn", "-c", "names.csv", "--by", "label", cwd=speaker)
    assert refused.returncode == 2


def test_characters_are_attacked_and_certified_by_edits(folder):
    ok(folder, "train", "-c", "names.csv", "-o", "ends.rnn", *TINY)
    ok(folder, "extract", "ends.rnn", "-c", "names.csv", "-o", "ends.wfa", "-C", "paper.states=3")
    files = ("ends.wfa", "-m", "ends.rnn")
    attacked = json.loads(ok(folder, "attack", *files, "-c", "names.csv", "--limit", "5", "-k", "1", "--json"))
    assert {each["recipe"] for each in attacked["recipes"]} >= {"guided", "random-tries"}
    proven = json.loads(ok(folder, "verify", "certify", *files, "--of", "network", "--text", "anna", "--json"))
    assert proven["texts"][0]["status"] in ("proven", "broken")
    assert proven["texts"][0]["read"] > 10  # one edit of four letters
    assert "a" in ok(folder, "explain", "text", "ends.wfa", "anna")


def test_a_hugging_face_folder_is_copied_and_measured(folder):
    bert(0, LETTERS).save_pretrained(folder / "bert")
    LETTERS.save_pretrained(folder / "bert")
    (folder / "letters.txt").write_text("a b c\nd e\nf g h a\nb b\n" * 5)
    made = ("letters.wfa", "-m", "hf:bert", "-c", "letters.txt", "--cache", "answers.sqlite")
    where = ("-c", "letters.txt", "--cache", "answers.sqlite", "-o", "letters.wfa", "-C", "paper.states=2")
    ok(folder, "extract", "hf:bert", *where)
    found = json.loads(ok(folder, "evaluate", *made, "--json"))
    assert 0 <= found["overall"]["cr"]["value"] <= 1
    shutil.rmtree(folder / "bert")
    assert wfalens("evaluate", *made, cwd=folder).returncode == 2
