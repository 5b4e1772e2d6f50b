"""Names that a person would give: by how sure a state is, and by what words do where they still matter."""

import numpy as np
import pytest

from tests.readable import at_random, negation, readable


def test_states_that_are_sure_of_the_same_class_are_told_apart_by_how_sure_they_are():
    positive = np.array([0.5, 0.7, 0.85, 0.92, 0.98, 0.999])
    centres = np.column_stack([1 - positive, positive])
    matrix = np.eye(6)[[1, 2, 3, 4, 5, 5]]
    made = readable([matrix], centres, [["good"]], [["good"] * 6])
    assert made.wfa.names.states == (
        "start",
        "leaning good",
        "fairly sure good",
        "sure good",
        "certain good",
        "wholly certain good",
    )


def test_one_sure_state_of_a_class_is_just_sure():
    assert negation().wfa.names.states[3:] == ("sure bad", "sure good")


def test_a_word_that_matters_only_while_undecided_is_told_by_what_it_does_then():
    """Nine of ten words are read when all is settled, where no word does anything."""
    centres = [[0.5, 0.5], [0.01, 0.99], [0.99, 0.01]]
    good, bad = np.eye(3)[[1, 1, 2]], np.eye(3)[[2, 1, 2]]
    texts = [["good", *["bad", "good"] * 5], ["bad", *["good", "bad"] * 5]]
    wfa = readable([good, bad], centres, [["good"], ["bad"]], texts).wfa
    assert wfa.anatomy.open.tolist() == [True, False, False]
    assert [int(kind.change.argmax()) for kind in wfa.names.classes] == [1, 0]
    assert [kind.moved for kind in wfa.names.classes] == pytest.approx([0.49, 0.49])


@pytest.mark.parametrize("seed", range(5))
def test_names_are_all_different(seed):
    names = at_random(seed, n=12, classes=2).wfa.names
    assert len(set(names.states)) == 12
    assert len({kind.name for kind in names.classes}) == len(names.classes)
