"""The automaton that travels in a page."""

import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.automata import sample
from tests.errors import raises
from wfalens.report.embedded_runtime import embedded_runtime, rounded
from wfalens.text import TextEncoder, Vocabulary


def read(text: str, kind: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), kind)


def unpacked(data) -> np.ndarray:
    """(words, n, n), as the page's code reads it."""
    n = data["states"]
    sizes, targets, weights = (read(data[name], "u1") for name in ("sizes", "targets", "weights"))
    matrices = np.zeros((len(data["words"]) * n, n))
    row = np.repeat(np.arange(len(sizes)), sizes)
    matrices[row, targets] = weights / 255
    return matrices.reshape(-1, n, n)


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.floats(0.05, 5))
def test_rounded_rows_keep_their_sums_and_lie_near(seed, n, evenness):
    matrices = np.random.default_rng(seed).dirichlet(np.full(n, evenness), (3, n))
    matrices[0, 0] = 0  # a row that null completion leaves empty
    whole = rounded(matrices)
    assert whole.min() >= 0
    np.testing.assert_array_equal(whole.sum(2), np.rint(255 * matrices.sum(2)))
    assert np.abs(whole / 255 - matrices).max() <= 1 / 255 + 1e-9


@pytest.mark.parametrize("completion", ["null", "uniform", "empirical", "probe", "fit", "shared"])
def test_carried_rows_are_those_of_the_automaton_rounded(completion):
    wfa = sample(completion, 3).wfa
    data = embedded_runtime(wfa)
    ids = np.array([wfa.encoder.vocabulary.id_of(word) for word in data["words"]], np.int32)
    assert data["words"][0] == "<unk>"
    np.testing.assert_allclose(unpacked(data), wfa.matrices(ids), atol=1 / 255 + 1e-9)


def test_the_commonest_words_are_carried_within_the_limit(newsroom_wfa):
    whole, small = embedded_runtime(newsroom_wfa), embedded_runtime(newsroom_wfa, most_bytes=20_000)
    carried = len(small["words"])
    assert 1 < carried < len(whole["words"])
    assert small["words"] == whole["words"][:carried]
    assert whole["counts"][1:] == sorted(whole["counts"][1:], reverse=True)
    assert sum(len(read(small[name], "u1")) for name in ("sizes", "targets", "weights")) <= 20_000
    assert whole["share"] == 1
    assert 0 < small["share"] < 1


def test_a_tokenizer_of_ones_own_cannot_be_carried():
    wfa = sample("probe", 1).wfa
    wfa.encoder = TextEncoder(Vocabulary(wfa.encoder.vocabulary.words), str.split)
    with raises("not-embeddable"):
        embedded_runtime(wfa)
