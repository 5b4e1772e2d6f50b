"""Ragged arrays."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wfalens.ragged import Ragged, concatenate

ragged_lists = st.lists(st.lists(st.integers(0, 9), max_size=6), max_size=8)


@given(ragged_lists, st.randoms())
def test_ragged_take_cut_padded_chunks(items, random):
    ragged = Ragged.from_lists(items, np.int32)
    assert [list(item) for item in ragged] == items
    order = list(range(len(items)))
    random.shuffle(order)
    assert [list(item) for item in ragged.take(np.array(order, np.int64))] == [items[i] for i in order]
    assert [list(item) for item in ragged.cut(2)] == [item[:2] for item in items]
    table = ragged.padded(-1)
    assert [[v for v in row if v >= 0] for row in table.tolist()] == items
    if items:
        parts = list(ragged.chunks(4))
        assert [list(item) for item in concatenate(parts)] == items
