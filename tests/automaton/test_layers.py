"""The compiled core of the linear automaton does what its formulas say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wfalens.automaton.kernels.layers import Layers, in_blocks, layered_states, packed_links
from wfalens.ragged import Ragged


def random_parts(rng, layers, width, words):
    """d, s and b (words, n), P (n, n) and the start (n,); s turns the pairs of the first layer."""
    n = layers * width
    layer = np.arange(n) // width
    decay = rng.uniform(0, 0.6, (words, n)).astype(np.float32)
    gate = rng.uniform(-0.4, 0.4, (words, n)).astype(np.float32)
    entry = rng.normal(size=(words, n)).astype(np.float32)
    links = np.where(layer[:, None] < layer, rng.normal(size=(n, n)), 0) / np.sqrt(n)
    return decay, gate, entry, links, rng.normal(size=n)


def as_layers(parts, width, precision=np.float64) -> Layers:
    decay, gate, entry, links, start = parts
    table = np.stack([in_blocks(part, width) for part in (decay, gate, entry)], 2)
    links, start = packed_links(links, width).astype(precision), in_blocks(start, width).astype(precision)
    return Layers(table, links, start, width)


def plain_states(parts, width, text):
    """The state after every word, number by number; the start first."""
    decay, gate, entry, links, start = parts
    half, states = width // 2, [start]
    for word in text:
        x, after = states[-1], np.zeros_like(start)
        for j in range(len(x)):
            if j >= width:
                found = x @ links[:, j]
            elif j < 2 * half:
                found = x[j + half if j < half else j - half]
            else:
                found = 0  # of an odd width the last number has no partner
            after[j] = decay[word, j] * x[j] + gate[word, j] * found + entry[word, j]
        states.append(after)
    return np.array(states)


@given(
    st.integers(0, 10**6),
    st.integers(1, 3),
    st.sampled_from([1, 2, 3, 6, 31, 32, 33, 40, 64, 70]),
    st.lists(st.integers(0, 200), min_size=1, max_size=5),
    st.sampled_from([(np.float64, 1e-9), (np.float32, 1e-4)]),
)
def test_pairs_of_the_first_layer_turn_and_later_layers_read_earlier_ones(seed, layers, width, lengths, precision):
    rng = np.random.default_rng(seed)
    parts = random_parts(rng, layers, width, words=4)
    ids = Ragged.from_lengths(rng.integers(0, 4, sum(lengths)).astype(np.int32), np.array(lengths))
    kind, error = precision
    made = as_layers(parts, width, kind)
    every, last = (layered_states(ids.values, ids.offsets, made, every) for every in (True, False))
    assert every.dtype == last.dtype == kind
    for text, words in enumerate(ids):
        expected = plain_states(parts, width, words)
        np.testing.assert_allclose(last[text, :-1], expected[-1], rtol=error, atol=error)
        found = every[ids.offsets[text] : ids.offsets[text + 1], :-1]
        np.testing.assert_allclose(found, expected[1:], rtol=error, atol=error)
    assert np.all(every[:, -1] == 1)
    assert np.all(last[:, -1] == 1)


@pytest.mark.parametrize("width", [2, 32])
def test_a_full_turn_of_a_pair_comes_back(width):
    """A quarter turn per word: after four words every pair is where it began."""
    n, half = width, width // 2
    turn = np.where(np.arange(n) < half, -1, 1).astype(np.float32)[None]
    zero = np.zeros((1, n), np.float32)
    parts = (zero, turn, zero, np.zeros((n, n)), np.arange(1.0, n + 1))
    layers = as_layers(parts, width)
    states = layered_states(np.zeros(4, np.int32), np.array([0, 4]), layers, every=True)[:, :-1]
    np.testing.assert_array_equal(states[3], parts[-1])
    np.testing.assert_array_equal(states[1], -parts[-1])
    np.testing.assert_array_equal(states[0, :half], -parts[-1][half:])
