"""Weights as whole numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.automata import linear_sample, sample, samples
from wfalens.export.runtime.fixed_point import make_tables, outputs, whole_rows


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.floats(0.05, 5), st.sampled_from([255, 65535, 1 << 26]))
def test_whole_rows_keep_their_sums_and_lie_near(seed, n, evenness, one):
    rows = np.random.default_rng(seed).dirichlet(np.full(n, evenness), (3, n))
    rows[0, 0] = 0  # a row that null completion leaves empty
    whole = whole_rows(rows, one)
    assert whole.min() >= 0
    np.testing.assert_array_equal(whole.sum(2), np.rint(one * rows.sum(2)))
    assert np.abs(whole / one - rows).max() <= 1 / one + 1e-7


@given(samples(), st.sampled_from([8, 16, 32]))
def test_rounded_tables_stay_within_the_bound_of_the_automaton(drawn, bits):
    wfa = drawn.wfa
    ids = np.arange(1, len(wfa.encoder.vocabulary), dtype=np.int32)
    tables = make_tables(wfa, ids, bits)
    texts = [" ".join(wfa.encoder.vocabulary.words[at] for at in some) for some in ([], ids, ids[::-1], ids[:1])]
    read = wfa.encoder.encode(texts)
    found, expected = outputs(tables, wfa, read), wfa.weights(read)
    for length, one, two in zip(read.lengths, found, expected, strict=True):
        assert np.abs(one - two).max() <= length * tables.row_error + 2 * tables.final_error


def test_more_bits_cost_less():
    wfa = linear_sample(3).wfa
    ids = np.arange(1, len(wfa.encoder.vocabulary), dtype=np.int32)
    read = wfa.encoder.encode([" ".join(wfa.encoder.vocabulary.words[2:])])
    errors = [np.abs(outputs(make_tables(wfa, ids, bits), wfa, read) - wfa.weights(read)).max() for bits in (8, 16, 32)]
    assert errors[0] > errors[1] > errors[2]


@pytest.mark.parametrize("share", [2, 5])
def test_tables_shrink_to_a_budget_and_keep_the_first_words(share):
    wfa = sample("fit", 2, n=6, words=12).wfa
    ids = np.arange(2, 12, dtype=np.int32)[::-1]
    whole = make_tables(wfa, ids, 8)
    least = make_tables(wfa, ids[:0], 8).bytes
    small = make_tables(wfa, ids, 8, least + (whole.bytes - least) // share)
    assert small.ids.tolist() == ids[: len(small.ids)].tolist()
    assert small.bytes <= least + (whole.bytes - least) // share
    assert len(small.ids) < len(whole.ids)
    assert make_tables(wfa, ids, 8, least - 1) is None
