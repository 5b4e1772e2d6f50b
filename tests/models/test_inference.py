"""Whole texts: each distinct one is read once, and none that only begins another."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.studies import counting_model
from wfalens.models.inference import final_outputs, initial_output, last_outputs
from wfalens.ragged import Ragged


class Traced:
    """A prefix classifier that keeps what it is asked."""

    def __init__(self):
        self.inner = counting_model(3)
        self.class_names, self.encoder, self.fingerprint = self.inner.class_names, self.inner.encoder, "traced"
        self.asked = []

    def trace(self, ids):
        self.asked += [tuple(text.tolist()) for text in ids]
        return self.inner.trace(ids)


@given(st.lists(st.lists(st.integers(2, 5), max_size=5), max_size=12))
def test_outputs_are_those_of_the_texts_and_nothing_is_read_twice(texts):
    ids = Ragged.from_lists(texts, np.int32)
    model = Traced()
    found = final_outputs(model, ids)
    assert found.shape == (len(texts), 3)
    for text, output in zip(texts, found, strict=True):
        alone = Ragged.from_lists([text], np.int32)
        expected = model.inner.trace(alone).last()[0] if text else np.full(3, 1 / 3)
        np.testing.assert_allclose(output, expected, atol=1e-6)
    assert len(set(model.asked)) == len(model.asked)
    assert not any(one != other and other[: len(one)] == one for one in model.asked for other in model.asked)


def test_a_black_box_is_asked_for_whole_texts_only_in_batches():
    model = counting_model(3)
    model.batch_size = 2
    ids = Ragged.from_lists([[2, 3, 4], [2, 3, 4], [2], [5, 5], []], np.int32)
    found = final_outputs(model, ids)
    assert model.queries == 3
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_allclose(found[4], 1 / 3)


def test_the_prior_is_the_models_own_where_it_has_one(newsroom_model):
    np.testing.assert_allclose(initial_output(newsroom_model), newsroom_model.initial_output)
    np.testing.assert_allclose(initial_output(Traced()), [1 / 3] * 3)


def test_answers_that_are_no_probabilities_are_refused():
    from wfalens.errors import ModelError

    model = Traced()
    model.trace = lambda ids: Ragged(np.full((len(ids.values), 3), 7.0), ids.offsets)
    with pytest.raises(ModelError, match="not probabilities"):
        final_outputs(model, Ragged.from_lists([[2]], np.int32))


def test_a_thousand_classes_are_read_in_little_memory():
    """The outputs of all words would take 160 MB."""
    classes, ids = 1000, Ragged.from_lists([[2] * 40] * 1000, np.int32)
    model = Traced()
    model.class_names = tuple(map(str, range(classes)))
    model.trace = lambda part: Ragged(np.full((len(part.values), classes), 1 / classes, np.float32), part.offsets)
    tracemalloc.start()
    try:
        assert last_outputs(model, ids).shape == (1000, classes)
        assert tracemalloc.get_traced_memory()[1] < 80e6
    finally:
        tracemalloc.stop()
