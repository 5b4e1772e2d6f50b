"""Sampling texts: any division of the work adds up to the same."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wfalens.ragged import Ragged
from wfalens.scale.sample import NO_LIMIT, TextSample, draws


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
    samples = [sample_of(rows[owner == part], lengths) for part in set(owner.tolist())]
    parts = [TextSample.merged([each], tokens, behind=1) for each in samples]
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
    limit = TextSample.merged([sample_of(half, lengths)], tokens, behind=1).limit(tokens)
    rest = rows[len(half) :]
    if limit != NO_LIMIT:
        rest = rest[draws(0, 0, 0, len(rows))[rest] < limit]
    merged = TextSample.merged([sample_of(half, lengths), sample_of(rest, lengths)], tokens)
    np.testing.assert_array_equal(merged.address, TextSample.merged([sample_of(rows, lengths)], tokens).address)
