"""Merging runs and sampling texts: any division of the work adds up to the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wfalens.extraction.merging import Runs, merge_by_sorting, merge_runs
from wfalens.ragged import Ragged
from wfalens.scale.sample import NO_LIMIT, TextSample, draws

# near keys are added up in windows, far ones are sorted
keys = st.one_of(st.integers(0, 300), st.integers(0, 10**6), st.integers(0, 2**62))
runs = st.lists(st.dictionaries(keys, st.integers(1, 2**40), max_size=60), max_size=8)


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
def test_both_ways_of_merging_agree_on_large_runs(spread):
    rng = np.random.default_rng(spread)
    parts = []
    for _ in range(20):
        chosen = np.unique(rng.integers(0, 30_000 * spread, 20_000))
        parts.append((chosen, rng.integers(1, 100, len(chosen))))
    for found, expected in zip(merge_runs(parts), merge_by_sorting(Runs.of(parts)), strict=True):
        np.testing.assert_array_equal(found, expected)


def sample_of(rows, lengths, seed=0):
    draw = draws(seed, 0, 0, max(rows, default=0) + 1)[rows]
    place = np.column_stack([np.zeros_like(rows), np.zeros_like(rows), rows])
    words = np.repeat(rows, lengths[rows]).astype(np.int32)
    return TextSample(draw, place, np.full(len(rows), -1), Ragged.from_lengths(words, lengths[rows]))


@given(st.lists(st.integers(1, 9), min_size=1, max_size=60), st.integers(1, 80), st.randoms())
def test_samples_of_parts_merge_to_the_sample_of_the_whole(lengths, tokens, random):
    lengths = np.array(lengths)
    rows = np.arange(len(lengths))
    whole = TextSample.merged([sample_of(rows, lengths)], tokens)
    owner = np.array([random.randrange(3) for _ in rows])
    parts = [TextSample.pruned([sample_of(rows[owner == part], lengths)], tokens) for part in set(owner.tolist())]
    random.shuffle(parts)
    merged = TextSample.merged(parts, tokens)
    np.testing.assert_array_equal(merged.address, whole.address)
    np.testing.assert_array_equal(merged.ids.values, whole.ids.values)
    assert len(whole.ids.values) <= tokens or len(whole.draw) == 1


def test_every_text_has_the_same_chance_to_be_drawn():
    drawn = np.concatenate([draws(seed, 3, 7, 1000) for seed in range(200)]).reshape(200, 1000)
    low = (drawn < np.uint64(1 << 62)).mean(0)  # a quarter of the numbers
    assert abs(low.mean() - 0.25) < 0.005
    assert low.std() < 2 * np.sqrt(0.25 * 0.75 / 200)
    assert len(np.unique(drawn)) == drawn.size


def test_places_draw_independently():
    draw = [draws(*place, 500) for place in ((0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0))]
    for one in range(4):
        for two in range(one):
            assert abs(np.corrcoef(draw[one].astype(float), draw[two].astype(float))[0, 1]) < 0.15


@given(st.lists(st.integers(1, 9), min_size=1, max_size=60), st.integers(1, 80))
def test_texts_at_or_above_the_limit_cannot_change_a_sample(lengths, tokens):
    lengths = np.array(lengths)
    rows = np.arange(len(lengths))
    half = rows[: len(rows) // 2 + 1]
    limit = TextSample.pruned([sample_of(half, lengths)], tokens).limit(tokens)
    rest = rows[len(half) :]
    if limit != NO_LIMIT:
        rest = rest[draws(0, 0, 0, len(rows))[rest] < limit]
    merged = TextSample.merged([sample_of(half, lengths), sample_of(rest, lengths)], tokens)
    np.testing.assert_array_equal(merged.address, TextSample.merged([sample_of(rows, lengths)], tokens).address)
