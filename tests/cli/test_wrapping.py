"""From a Keras file to a report on the command line, with its card written by `wrap` and a tokenizer of one's own."""

import json
import sys

import h5py
import numpy as np
import pytest

from tests.cli.test_commands import wfalens
from tests.cli.test_models import write_csv
from tests.models.graphs import summing_graph
from tests.models.keras.test_keras_files import network, saved
from tests.models.toy import CLASSES, ENCODER, texts
from wfalens.errors import FormatError, InputError
from wfalens.extraction import Paper, extract
from wfalens.models import Preprocessing, wrap
from wfalens.models.keras.keras_file import read_keras
from wfalens.text import Corpus, TextEncoder, tokenizers
from wfalens.text.vocabulary import read_word_list

WORDS = ENCODER.vocabulary.words
OPTIONS = ("--kind", "stochastic", "-k", "8", "--completion", "probe", "--alpha", "0", "--abstraction", "outputs")


@pytest.fixture
def folder(tmp_path):
    """A network of fixed width that reads its padding on the left, its words, and texts labelled as it says."""
    path = saved(tmp_path / "toy.h5", network("lstm", len(WORDS), width=12, units=2))
    (tmp_path / "words.txt").write_text("\n".join(WORDS) + "\n")
    model = wrap(path, preprocessing=Preprocessing.of(ENCODER, CLASSES, padding_side="left", reading="exact"))
    drawn = texts(400, seed=0)
    said = model.trace(model.encoder.encode(drawn.texts)).last().argmax(1)
    write_csv(tmp_path / "toy.csv", Corpus(drawn.texts, said, CLASSES))
    return tmp_path


WRAP = ("wrap", "toy.h5", "--words", "words.txt", "--classes", "bad,good", "--tokenizer", "whitespace")


def test_from_a_keras_file_to_a_report_in_four_commands(folder):
    wrapped = wfalens(*WRAP, "--padding", "left", "--cutting", "left", "--check", "toy.csv", "--json", cwd=folder)
    assert wrapped.returncode == 0, wrapped.stderr
    told = json.loads(wrapped.stdout)
    assert (told["steppable"], told["misreading"], told["words"]) == (True, None, len(WORDS))
    assert told["accuracy"] > 0.9
    extracted = wfalens("extract", "toy.h5", "-c", "toy.csv", "-o", "toy.wfa", *OPTIONS, cwd=folder)
    assert extracted.returncode == 0, extracted.stderr
    evaluated = wfalens("evaluate", "toy.wfa", "-m", "toy.h5", "-c", "toy.csv", "--json", cwd=folder)
    assert evaluated.returncode == 0, evaluated.stderr
    assert "another model" not in evaluated.stderr
    reported = wfalens("report", "toy.wfa", "-m", "toy.h5", "-c", "toy.csv", "-o", "toy.html", cwd=folder)
    assert reported.returncode == 0, reported.stderr


def test_a_wrong_side_is_named_by_every_command_that_sees_labels(folder):
    wrapped = wfalens(*WRAP, "--padding", "right", "--check", "toy.csv", cwd=folder)
    assert wrapped.returncode == 0, wrapped.stderr
    extracted = wfalens("extract", "toy.h5", "-c", "toy.csv", "-o", "toy.wfa", *OPTIONS, cwd=folder)
    evaluated = wfalens("evaluate", "toy.wfa", "-m", "toy.h5", "-c", "toy.csv", cwd=folder)
    for done in (wrapped, extracted, evaluated):
        assert "but with 100% if texts are padded on the left" in done.stderr
    assert wrap(folder / "toy.h5").form.padding == "right"  # it is the user who decides


def test_a_side_that_is_not_told_is_chosen_by_labels(folder):
    wrapped = wfalens(*WRAP, "--check", "toy.csv", cwd=folder)
    assert wrapped.returncode == 0, wrapped.stderr
    assert "note: padding on the left: agrees with labels on " in wrapped.stderr
    assert Preprocessing.read(folder / "toy.json").padding_side == "left"
    again = wfalens(*WRAP, cwd=folder)
    assert again.returncode == 2
    assert "toy.json exists; give --force" in again.stderr
    without = wfalens(*WRAP, "--force", cwd=folder)
    assert without.returncode == 2
    assert "say in its preprocessing on which side they are padded" in without.stderr


def test_a_tokenizer_of_ones_own_is_run_where_it_is_given(folder, monkeypatch):
    monkeypatch.setattr("sys.path", list(sys.path))
    (folder / "house.py").write_text("def split(text):\n    return text.split()\n")
    own = ("--tokenizer", "house:split")
    wrapped = wfalens(*WRAP[:-2], *own, "--padding", "left", cwd=folder)
    assert wrapped.returncode == 0, wrapped.stderr
    assert "note: --tokenizer house:split runs the code of house" in wrapped.stderr
    monkeypatch.setattr(tokenizers, "_ALLOWED", {})  # as in a process of its own
    refused = wfalens("extract", "toy.h5", "-c", "toy.csv", "-o", "toy.wfa", *OPTIONS, cwd=folder)
    assert refused.returncode == 2
    assert "runs only if you say so: give --tokenizer house:split" in refused.stderr
    extracted = wfalens("extract", "toy.h5", "-c", "toy.csv", "-o", "toy.wfa", *OPTIONS, *own, cwd=folder)
    assert extracted.returncode == 0, extracted.stderr
    monkeypatch.setattr(tokenizers, "_ALLOWED", {})
    walked = wfalens("walk", "toy.wfa", "fine0 poor1", *own, cwd=folder)
    assert walked.returncode == 0, walked.stderr
    named = wfalens("walk", "toy.wfa", "fine0 poor1", "--tokenizer", "whitespace", cwd=folder)
    assert named.returncode == 2
    assert "--tokenizer takes package.module:function here" in named.stderr


def test_a_tokenizer_that_a_file_could_not_store_may_be_given_again(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.path", list(sys.path))
    monkeypatch.setattr(tokenizers, "_ALLOWED", {})
    (tmp_path / "dashes.py").write_text("def split(text):\n    return text.split('-')\n")
    own = TextEncoder(ENCODER.vocabulary, lambda text: text.split("-"))
    model = wrap(
        lambda texts: [[1 / len(text), 1 - 1 / len(text)] for text in texts], vocab=own, classes=CLASSES, reads="tokens"
    )
    extract(model, ["fine0-poor1", "poor1"], Paper(states=2)).save(tmp_path / "own.wfa")
    refused = wfalens("walk", "own.wfa", "fine0-poor1", cwd=tmp_path)
    assert refused.returncode == 2
    assert "give it again (--tokenizer package.module:function" in refused.stderr
    walked = wfalens("walk", "own.wfa", "fine0-poor1", "--tokenizer", "dashes:split", cwd=tmp_path)
    assert walked.returncode == 0, walked.stderr
    assert "poor1" in walked.stdout
    again = wfalens("walk", "own.wfa", "fine0-poor1", cwd=tmp_path)
    assert again.returncode == 2  # it was given for one command


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("w.txt", "a\n b\nc d\n", ("a", " b", "c d")),
        ("w.csv", 'vocab,count\nUNK,3\n"n ",2\n"a,b",1\n', ("UNK", "n ", "a,b")),
        ("w.tsv", "vocab\tcount\nNA\t3\n", ("NA",)),
        ("w.json", '["x", "y"]', ("x", "y")),
        ("w.json", '{"the": 1, "film": 2}', ("<pad>", "the", "film")),
    ],
)
def test_lists_of_words_are_read_as_other_tools_write_them(tmp_path, name, content, words):
    (tmp_path / name).write_text(content)
    assert read_word_list(tmp_path / name) == words


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[1, 2]", "neither a list of words nor an object"),
        ("{", "not JSON"),
        ('{"a": 1, "b": 1}', "'a' and 'b' have the same id, 1"),
        ('{"a": 1, "b": 5}', "no word has the id 2"),
    ],
)
def test_lists_that_are_none_are_refused(tmp_path, content, message):
    (tmp_path / "w.json").write_text(content)
    with pytest.raises(FormatError, match=message):
        read_word_list(tmp_path / "w.json")
    with pytest.raises(InputError, match="no such file"):
        read_word_list(tmp_path / "other.txt")


def test_only_models_with_cards_are_wrapped(folder):
    done = wfalens("wrap", "toy.csv", "--words", "words.txt", "--classes", "a,b", cwd=folder)
    assert done.returncode == 2
    assert "only Keras files and ONNX graphs have cards" in done.stderr


def test_a_graph_of_fixed_width_whose_padding_nobody_told_is_noted(tmp_path):
    summing_graph(tmp_path / "toy.onnx", np.ones((len(WORDS), 2), np.float32), width=6)
    (tmp_path / "words.txt").write_text("\n".join(WORDS) + "\n")
    command = ("wrap", "toy.onnx", *WRAP[2:])
    done = wfalens(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "reads tables of 6 words, and nothing tells on which side texts are padded" in done.stderr
    told = wfalens(*command, "--padding", "right", "--force", cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "which side" not in told.stderr


def test_a_file_of_weights_alone_is_refused_in_one_sentence(tmp_path):
    with h5py.File(tmp_path / "weights.h5", "w") as file:
        file["kernel"] = 1.0
    with pytest.raises(FormatError, match=r"^[^(]*weights\.h5: no model in it, at most its weights; save the whole"):
        read_keras(tmp_path / "weights.h5")
