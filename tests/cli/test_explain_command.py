"""Explanations of texts, words, phrases and pairs."""

import json

from tests.commands import ok, wfalens
from wfalens.text import read_vectors


def test_a_text_with_its_runner_up_classes(workshop):
    found = json.loads(ok(workshop, "explain", "text", "news.wfa", "the senate votes", "--json"))
    assert found["label"] == "us"
    assert len(found["values"]) == 3
    assert "senate" in ok(workshop, "explain", "text", "news.wfa", "the senate votes", "-m", "news.rnn")


def test_words_phrases_and_files(workshop, tmp_path):
    assert "senate" in ok(workshop, "explain", "words", "news.wfa")
    page = tmp_path / "words.html"
    found = json.loads(ok(workshop, "explain", "words", "news.wfa", "senate", "-o", page, "--json"))
    assert found["words"] == ["senate"]
    assert "<table" in page.read_text()
    found = ok(workshop, "explain", "phrases", "news.wfa", "-c", "test.csv", "-C", "longest=1", "--json")
    assert json.loads(found)
    assert wfalens("explain", "words", "news.wfa", "nosuchword", cwd=workshop).returncode == 2


def test_embeddings_of_words_are_written_as_word2vec(workshop, tmp_path):
    ok(
        workshop,
        "explain",
        "words",
        "news.wfa",
        "-C",
        f"explain.embeddings={tmp_path / 'words.txt'}",
        "-C",
        "explain.width=3",
    )
    vectors = read_vectors(tmp_path / "words.txt")
    assert vectors.width == 3
    assert "senate" in vectors.words


def test_neighbours_and_pairs(workshop):
    assert "congress" in ok(workshop, "explain", "neighbours", "news.wfa", "senate")
    assert json.loads(ok(workshop, "explain", "pairs", "news.wfa", "--json"))["kind"] == "adversarial"
