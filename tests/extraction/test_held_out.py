"""Texts drawn evenly over classes: small classes are copied as faithfully as large ones."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.errors import raises
from tests.extraction.test_selection import CHEAP, QUICK
from tests.intents import Evidence
from tests.methods import best_of
from wfalens.extraction import Linear, Stochastic, extract
from wfalens.extraction.held_out import balanced, divided
from wfalens.ragged import Ragged
from wfalens.text import Corpus
from wfalens.text.files import TextFiles, with_labels

CLASSES = 4
SHORT = Linear(layers=2, width=8, factors=16, hidden=32, epochs=2, tokens=6000)


def texts_of(rng, shares, texts):
    """Texts of which each is told by one word, and their classes, in the given shares."""
    classes = rng.choice(len(shares), texts, p=shares)
    common = rng.integers(0, 20, (texts, 3))
    return [f"common{a} own{2 * c} common{b} common{d}" for c, (a, b, d) in zip(classes, common, strict=True)], classes


@pytest.fixture(scope="module")
def rare():
    """A model, and texts of which the last class has one in a hundred."""
    rng = np.random.default_rng(0)
    model = Evidence(CLASSES, rng)
    texts, labels = texts_of(rng, [0.33, 0.33, 0.33, 0.01], 1200)
    return model, Corpus(texts, labels, model.class_names, "rare")


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60))
def test_every_text_stays_and_small_classes_are_repeated(groups):
    ids = Ragged.from_lists([[text + 1] for text in range(len(groups))], np.int32)
    groups = np.array(groups)
    even = balanced(ids, groups)
    assert set(even.values.tolist()) == set(ids.values.tolist())
    sizes = np.bincount(groups[even.values - 1])
    sizes = sizes[sizes > 0]
    largest = np.bincount(groups).max()
    assert sizes.max() <= 1.5 * largest
    assert sizes.min() >= min(largest / 1.5, 50)


def test_what_is_learned_from_is_even_and_what_is_held_out_is_not():
    ids = Ragged.from_lists([[text + 1] for text in range(1000)], np.int32)
    groups = (np.arange(1000) % 50 == 0).astype(np.int64)  # one in fifty
    (held, known), (even_held, even_known) = divided(ids, 0), divided(ids, 0, groups)
    np.testing.assert_array_equal(even_held.values, held.values)
    assert set(even_known.values) == set(known.values)
    assert 0.4 < groups[even_known.values - 1].mean() < 0.6


@pytest.mark.parametrize("balance", ["predicted", "label"])
@pytest.mark.parametrize("kind", ["readable", "stochastic", "linear"])
def test_all_kinds_are_fitted_to_other_texts(rare, kind, balance):
    model, corpus = rare
    method = {
        "readable": replace(QUICK, states=4, clusters=6),
        "stochastic": Stochastic(states=6, abstraction="outputs", rounds=2, representatives=2),
        "linear": SHORT,
    }[kind]
    plain, even = (extract(model, corpus, method, balance=by) for by in (None, balance))
    assert even.provenance["parameters"]["balance"] == balance
    assert "balance" not in plain.provenance["parameters"]
    assert not np.array_equal(plain.weights(corpus.texts[:50]), even.weights(corpus.texts[:50]))


def test_the_choice_tells_and_minds_the_classes(rare):
    model, corpus = rare
    wfa = best_of(model, corpus, CHEAP, balance="predicted")
    choice = wfa.provenance["choice"]
    assert choice["balance"] == "predicted"
    for tried in choice["tried"]:
        found = tried["by_class"].values()
        assert sum(rate["texts"] for rate in found) == choice["texts"]
        agreeing = sum(rate["texts"] * rate["cr"] for rate in found)
        assert agreeing / choice["texts"] == pytest.approx(tried["cr"])


def test_files_are_balanced_as_texts_in_memory_are(rare, tmp_path):
    model, corpus = rare
    path = tmp_path / "rare.csv"
    rows = [f"{text},{model.class_names[label]}" for text, label in zip(corpus.texts, corpus.labels, strict=True)]
    path.write_text("\n".join(["text,label", *rows]))
    files, _ = with_labels(TextFiles.find(str(path)))
    one, other = (extract(model, source, SHORT, balance="label") for source in (corpus, files))
    assert one.fingerprint == other.fingerprint


def test_texts_without_labels_are_refused_in_one_sentence(rare):
    model, corpus = rare
    with raises("no-labels"):
        extract(model, list(corpus.texts), balance="label")
