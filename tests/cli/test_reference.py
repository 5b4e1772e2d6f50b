"""The rival of an automaton learns from the extraction texts, which are found again by their name and size."""

import csv

import pytest

from tests.studies import counting_model, letter_texts
from wfalens.cli.legacy.inputs import Reader
from wfalens.cli.legacy.reference import extraction_texts
from wfalens.evaluation import measure_fidelity
from wfalens.extraction import Paper, extract
from wfalens.text import load_dataset, read_corpus


def written(path, corpus):
    with path.open("w", newline="") as handle:
        rows = csv.writer(handle)
        rows.writerow(["text"])
        rows.writerows([text] for text in corpus.texts)
    return read_corpus(path, labels=False)


@pytest.fixture(scope="module")
def setting(tmp_path_factory):
    folder = tmp_path_factory.mktemp("extraction")
    model = counting_model(3)
    corpus = written(folder / "train.csv", letter_texts(400, 3))
    return folder, model, extract(model, corpus, Paper(states=4))


def test_the_file_of_the_extraction_is_found_beside_the_automaton(setting):
    folder, _, wfa = setting
    found = extraction_texts(wfa, Reader(), (folder,))
    assert (found.corpus.name, len(found.corpus), found.missing) == ("train.csv", 400, "")


def test_without_the_texts_the_reason_is_said(setting, tmp_path):
    _, _, wfa = setting
    assert "train.csv, the texts of the extraction, is not here" in extraction_texts(wfa, Reader(), (tmp_path,)).missing
    written(tmp_path / "train.csv", letter_texts(400, 3, seed=5))
    found = extraction_texts(wfa, Reader(), (tmp_path,))
    assert found.corpus is None
    assert found.missing.startswith("train.csv has changed since the extraction (400 texts with ")
    (tmp_path / "train.csv").write_text("words\na b\n")
    assert "cannot be read" in extraction_texts(wfa, Reader(), (tmp_path,)).missing


def test_a_data_set_is_found_by_its_name(setting, monkeypatch):
    _, _, wfa = setting
    corpus = load_dataset("newsroom")
    _, ids = wfa.encoder.encode(corpus.texts).nonempty()
    about = {"name": "newsroom:train", "texts": len(ids), "tokens": len(ids.values)}
    monkeypatch.setitem(wfa.provenance, "corpus", about)
    assert extraction_texts(wfa, Reader()).corpus.name == "newsroom:train"
    monkeypatch.delitem(wfa.provenance, "corpus")
    assert "does not say" in extraction_texts(wfa, Reader()).missing


def test_the_verdict_says_what_the_rival_learned_from(setting):
    folder, model, wfa = setting
    texts = letter_texts(200, 3, seed=9)
    found = extraction_texts(wfa, Reader(), (folder,))
    strong = measure_fidelity(wfa, model, texts, reference=found.corpus)
    weak = measure_fidelity(wfa, model, texts)
    assert strong.fitted_on == "train.csv"
    assert strong.bag_of_words.cr.value > weak.bag_of_words.cr.value
    assert strong.verdict.startswith(f"agrees with the network on {strong.overall.cr.value:.1%} [")
    assert strong.verdict.endswith(f"a bag of words on {strong.bag_of_words.cr.value:.1%}")
    assert "a weak one" in weak.verdict
