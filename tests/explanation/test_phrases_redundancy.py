"""Longer phrases that add nothing are left out."""

from wfalens.explanation.phrase_candidates import GAP
from wfalens.explanation.phrases import Score, contained, without_redundant

NOT, GOOD, IS, FUNNY = 2, 3, 4, 5
MARGIN = [0.05, 0.05]


def kept(effects, precision, low=None):
    """Effects on class 0; a phrase decides if its precision is given."""
    deciding = {key: Score(0, effects[key], rate, (low or {}).get(key, 0.5)) for key, rate in precision.items()}
    both = {key: [effect, -effect] for key, effect in effects.items()}
    return without_redundant(deciding, both, 3, MARGIN)


def test_what_a_phrase_contains():
    assert contained((2,), 3) == set()
    assert contained((2, GAP, 3), 3) == {(2,), (3,)}
    assert contained((2, 3, 4), 3) == {(2,), (3,), (4,), (2, 3), (3, 4), (2, GAP, 4)}
    assert contained((2, 3, 4), 0) == {(2,), (3,), (4,), (2, 3), (3, 4)}
    four = contained((2, 3, 4, 5), 1)
    assert {(2, GAP, 4, 5), (2, 3, GAP, 5), (3, GAP, 5)} <= four
    assert (2, GAP, 5) not in four  # the gap is too short for two words
    assert contained((2, GAP, 3, 4), 3) == {(2,), (3,), (4,), (2, GAP, 3), (3, 4)}


def test_a_phrase_with_the_same_effect_as_a_shorter_one_is_left_out():
    effects = {(IS,): 0.0, (NOT,): 0.1, (GOOD,): -0.3, (NOT, GOOD): 0.4, (IS, NOT): 0.1, (IS, NOT, GOOD): 0.42}
    precision = {(NOT, GOOD): 0.9, (IS, NOT, GOOD): 0.9}
    assert kept(effects, precision) == [(NOT, GOOD)]


def test_a_phrase_that_adds_effect_is_kept_unless_its_precision_is_lower():
    effects = {(NOT,): 0.1, (GOOD,): -0.3, (NOT, GOOD): 0.4}
    assert kept(effects, {(NOT,): 0.8, (NOT, GOOD): 0.8}) == [(NOT,), (NOT, GOOD)]
    assert kept(effects, {(NOT,): 0.8, (NOT, GOOD): 0.79}) == [(NOT,)]


def test_the_sum_of_two_words_adds_no_effect():
    effects = {(GOOD,): 0.3, (FUNNY,): 0.3, (GOOD, GAP, FUNNY): 0.6}
    precision = dict.fromkeys(effects, 0.9)
    assert kept(effects, precision) == [(GOOD,), (FUNNY,)]
    assert kept(effects | {(GOOD, GAP, FUNNY): 0.66}, precision) == list(effects)


def test_a_phrase_that_is_more_precise_beyond_doubt_is_kept():
    effects = {(GOOD,): 0.3, (FUNNY,): 0.3, (GOOD, FUNNY): 0.5}
    precision = {(GOOD,): 0.7, (FUNNY,): 0.7, (GOOD, FUNNY): 0.95}
    assert (GOOD, FUNNY) in kept(effects, precision, {(GOOD, FUNNY): 0.71})
    assert (GOOD, FUNNY) not in kept(effects, precision, {(GOOD, FUNNY): 0.69})


def test_shorter_phrases_of_other_classes_make_nothing_redundant():
    effects = {(NOT,): [0.0, 0.0], (GOOD,): [0.5, -0.5], (NOT, GOOD): [-0.5, 0.5]}
    deciding = {(GOOD,): Score(0, 0.5, 0.99, 0.9), (NOT, GOOD): Score(1, 0.5, 0.8, 0.6)}
    assert without_redundant(deciding, effects, 3, MARGIN) == [(GOOD,), (NOT, GOOD)]
