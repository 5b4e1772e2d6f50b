"""From a Keras file or an ONNX graph to an automaton, with its preprocessing written by `wrap`."""

import json
import sys

import numpy as np
import pytest

from tests.commands import wfalens
from tests.models.graphs import summing_graph
from tests.models.toy import CLASSES, ENCODER, texts, word_scores
from wfalens.models import Preprocessing, wrap
from wfalens.text import tokenizers

WORDS = ENCODER.vocabulary.words
READING = ("--words", "words.txt", "--classes", "bad,good", "--tokenizer", "whitespace")
EXTRACT = ("-C", "stochastic.states=6", "-C", "stochastic.completion=probe", "-C", "stochastic.abstraction=outputs")


def write_csv(path, corpus, labels):
    rows = [f"{text},{CLASSES[label]}" for text, label in zip(corpus.texts, labels, strict=True)]
    path.write_text("\n".join(["text,label", *rows]) + "\n")


@pytest.fixture
def graph(tmp_path):
    """A folder with a graph from elsewhere, its words, and texts labelled by it."""
    summing_graph(tmp_path / "toy.onnx", word_scores(ENCODER.vocabulary))
    (tmp_path / "words.txt").write_text("\n".join(WORDS) + "\n")
    drawn = texts(200, seed=0)
    write_csv(tmp_path / "toy.csv", drawn, drawn.labels)
    return tmp_path


def test_a_graph_needs_its_preprocessing_and_then_goes_the_usual_way(graph):
    extract = ("extract", "toy.onnx", "-c", "toy.csv", "-o", "toy.wfa", *EXTRACT)
    refused = wfalens(*extract, cwd=graph)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    sides = ("--padding", "right", "--truncation", "left", "-C", "preprocessing.max_length=12")
    wrapped = wfalens("wrap", "toy.onnx", *READING, *sides, "--check", "toy.csv", "--json", cwd=graph)
    assert wrapped.returncode == 0, wrapped.stderr
    assert json.loads(wrapped.stdout)["words"] == len(WORDS)
    assert Preprocessing.read(graph / "toy.json").truncation_side == "left"
    done = wfalens(*extract, cwd=graph)
    assert done.returncode == 0, done.stderr
    command = ("evaluate", "toy.wfa", "-m", "toy.onnx", "-c", "toy.csv", "--min-cr", "0.8")
    evaluated = wfalens(*command, cwd=graph)
    assert evaluated.returncode == 0, evaluated.stdout + evaluated.stderr
    assert "another model" not in evaluated.stderr


@pytest.mark.parametrize(
    "options",
    [("--padding", "middle"), ("--truncation", "middle"), ("--classes", "one"), ("--words", "none.txt")],
)
def test_a_wrong_description_is_refused_and_nothing_is_written(graph, options):
    done = wfalens("wrap", "toy.onnx", *READING, *options, cwd=graph)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert not (graph / "toy.json").exists()


def test_only_models_from_elsewhere_are_wrapped_and_never_twice_unasked(graph):
    assert wfalens("wrap", "toy.csv", *READING, cwd=graph).returncode == 2
    assert wfalens("wrap", "toy.onnx", *READING, cwd=graph).returncode == 0
    assert wfalens("wrap", "toy.onnx", *READING, cwd=graph).returncode == 2
    assert wfalens("wrap", "toy.onnx", *READING, "--force", cwd=graph).returncode == 0


def test_a_tokenizer_of_ones_own_runs_only_where_it_is_given(graph, monkeypatch):
    monkeypatch.setattr("sys.path", list(sys.path))
    (graph / "house.py").write_text("def split(text):\n    return text.split()\n")
    wrapped = wfalens("wrap", "toy.onnx", *READING[:-1], "house:split", cwd=graph)
    assert wrapped.returncode == 0, wrapped.stderr
    assert "runs the code of house" in wrapped.stderr
    monkeypatch.setattr(tokenizers, "_ALLOWED", {})  # as in a process of its own
    extract = ("extract", "toy.onnx", "-c", "toy.csv", "-o", "toy.wfa", *EXTRACT)
    refused = wfalens(*extract, cwd=graph)
    assert refused.returncode == 2
    assert "house:split" in refused.stderr
    done = wfalens(*extract, "-C", "words.tokenizer=house:split", cwd=graph)
    assert done.returncode == 0, done.stderr
    monkeypatch.setattr(tokenizers, "_ALLOWED", {})
    assert wfalens("predict", "toy.wfa", "fine0 poor1", cwd=graph).returncode == 2
    again = wfalens("predict", "toy.wfa", "fine0 poor1", "-C", "texts.tokenizer=house:split", cwd=graph)
    assert again.returncode == 0, again.stderr


@pytest.mark.slow
def test_labels_choose_the_side_of_padding_of_a_keras_file(tmp_path):
    from tests.models.keras.test_keras_files import network, saved

    path = saved(tmp_path / "toy.h5", network("lstm", len(WORDS), width=12, units=2))
    (tmp_path / "words.txt").write_text("\n".join(WORDS) + "\n")
    reading = Preprocessing.of(ENCODER, CLASSES, padding_side="left", reading="exact")
    drawn, model = texts(400, seed=0), wrap(path, preprocessing=reading)
    write_csv(tmp_path / "toy.csv", drawn, np.argmax(model.predict_proba(drawn.texts), 1))
    command = ("wrap", "toy.h5", *READING)
    chosen = wfalens(*command, "--check", "toy.csv", cwd=tmp_path)
    assert chosen.returncode == 0, chosen.stderr
    assert Preprocessing.read(tmp_path / "toy.json").padding_side == "left"
    wrong = wfalens(*command, "--check", "toy.csv", "--padding", "right", "--force", cwd=tmp_path)
    assert wrong.returncode == 0, wrong.stderr
    assert "left" in wrong.stderr
    assert wfalens(*command, "--force", cwd=tmp_path).returncode == 2  # nobody says on which side


def test_suggested_commands_quote_the_names_of_files(graph):
    (graph / "toy.onnx").rename(graph / "my toy.onnx")
    done = wfalens("wrap", "my toy.onnx", *READING, "--padding", "right", cwd=graph)
    assert "wfalens extract 'my toy.onnx' --corpus … --out 'my toy.wfa'" in done.stdout, done.stderr
