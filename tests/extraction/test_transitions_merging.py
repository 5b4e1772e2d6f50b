"""Merging runs of counts: any division of the work adds up to the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wfalens.extraction.transitions import merge_runs, summed

keys = st.one_of(st.integers(0, 300), st.integers(0, 10**6), st.integers(0, 2**62))
runs = st.lists(st.dictionaries(keys, st.integers(1, 2**40), max_size=60), min_size=1, max_size=8)


def run_of(counts):
    ordered = sorted(counts)
    return np.array(ordered, np.int64), np.array([counts[key] for key in ordered], np.int64)


@given(runs)
def test_merged_runs_are_the_sums_of_a_plain_loop(parts):
    total = {}
    for part in parts:
        for key, count in part.items():
            total[key] = total.get(key, 0) + count
    merged = merge_runs([run_of(part) for part in parts])
    for found, expected in zip(merged, run_of(total), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("spread", [1, 50, 10_000])
def test_merging_large_runs_equals_sorting_them(spread):
    rng = np.random.default_rng(spread)
    parts = []
    for _ in range(20):
        chosen = np.unique(rng.integers(0, 30_000 * spread, 20_000))
        parts.append((chosen, rng.integers(1, 100, len(chosen))))
    whole, counts = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.argsort(whole, kind="stable")
    for found, expected in zip(merge_runs(parts), summed(whole[order], counts[order]), strict=True):
        np.testing.assert_array_equal(found, expected)
