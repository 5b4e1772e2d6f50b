"""What the automaton promises beyond its steps."""

import numpy as np
import pytest

from tests.automata import sample
from wfalens.automaton import UNDECIDED
from wfalens.automaton.completion import Completion
from wfalens.errors import InputError
from wfalens.ragged import Ragged


def test_empty_text_gives_the_centre_of_the_initial_state():
    item = sample("empirical", 1)
    np.testing.assert_allclose(item.wfa.predict_proba([""])[0], item.centres[0])


def test_unseen_word_reads_as_unknown_and_as_identity_without_unknown():
    for seed in range(30):
        item = sample("empirical", seed)
        seen = item.counts.any((1, 2))
        unseen = [word for word in range(2, len(seen)) if not seen[word]]
        if not unseen:
            continue
        name = item.wfa.encoder.vocabulary.words[unseen[0]]
        expected = item.wfa.matrix("<unk>") if seen[1] else np.eye(item.wfa.states)
        np.testing.assert_array_equal(item.wfa.matrix(name), expected)
        np.testing.assert_array_equal(item.wfa.matrix("never heard of"), expected)


def test_padding_in_a_text_is_not_the_padding_id():
    item = sample("probe", 3)
    assert item.wfa.encoder.encode(["<pad>"]).values.tolist() == [1]


def test_lost_mass_is_undecided_and_uniform():
    for seed in range(50):
        item = sample("null", seed, alpha=0.0)
        for word in range(2, len(item.counts)):
            if item.counts[word].any() and not item.counts[word, 0].any():
                text = [item.wfa.encoder.vocabulary.words[word]]
                assert item.wfa.predict_indices(text).tolist() == [UNDECIDED]
                assert np.ptp(item.wfa.predict_proba(text)) == 0
                assert item.wfa.walk(text[0]).label is None
                return
    pytest.fail("no sample had a word without a row in state 0")


def test_walk_tells_states_outputs_and_kinds_of_rows():
    item = sample("empirical", 12, words=6)
    wfa = item.wfa
    names = wfa.encoder.vocabulary.words
    text = f"{names[2]} nonsense {names[3]}"
    way = wfa.walk(text)
    np.testing.assert_allclose(way.states.sum(1), 1)
    np.testing.assert_allclose(way.outputs[-1], wfa.predict_proba([text])[0], rtol=1e-5)
    np.testing.assert_allclose(way.shares.sum(1), 1)
    assert way.row_kinds[1] == "unknown"
    in_state_0 = item.counts[2, 0].any()
    assert way.row_kinds[0] == ("observed" if in_state_0 else "completed")
    assert way.to_dataframe().shape[0] == 4
    assert len(way.to_dict()["steps"]) == 3


def test_arrays_cannot_be_written_to():
    wfa = sample("empirical", 0).wfa
    for array in (wfa.centres, wfa.rows.weight, wfa.initial, wfa.word_counts):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_ids_out_of_range_are_refused():
    wfa = sample("uniform", 0).wfa
    for bad in (-1, len(wfa.encoder.vocabulary)):
        with pytest.raises(InputError, match="word ids must lie between"):
            wfa.predict_indices(Ragged.from_lists([[bad]], np.int32))


def test_a_completion_of_a_code_that_the_kernels_do_not_know_is_refused():
    with pytest.raises(TypeError, match="code 5"):
        type("Unheard", (Completion,), {"name": "unheard", "code": 5})


def test_an_automaton_of_many_classes_prints_in_a_line():
    wfa = sample("empirical", 1).wfa
    wfa.class_names = tuple(f"a class with a long name, {number}" for number in range(1000))
    assert "a class with a long name, 1" in repr(wfa)
    assert len(repr(wfa)) < 2000
