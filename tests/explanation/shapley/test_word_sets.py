"""n-Shapley values: Shapley values at one end, the game itself at the other, and always adding up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.errors import raises
from tests.explanation.shapley.brute import interactions_by_definition, shapley_by_definition
from wfalens.explanation import n_shapley, network_shapley, shapley
from wfalens.explanation.shapley.word_sets import enumerated_n_shapley

games = st.tuples(st.integers(0, 10**6), st.integers(2, 6))


def game(seed, players):
    return np.random.default_rng(seed).normal(size=(1 << players, 2))


@given(games, st.integers(1, 6))
def test_values_add_up_and_order_one_is_shapley(case, order):
    outputs = game(*case)
    order = min(order, case[1])
    _, values = enumerated_n_shapley(outputs, order)
    np.testing.assert_allclose(values.sum(0), outputs[-1] - outputs[0], atol=1e-9)
    if order == 1:
        np.testing.assert_allclose(values, shapley_by_definition(outputs), atol=1e-9)


@given(games)
def test_the_highest_order_is_the_interaction_index_and_all_orders_are_the_game(case):
    outputs = game(*case)
    subsets, values = enumerated_n_shapley(outputs, 2)
    table = interactions_by_definition(outputs)
    for subset, value in zip(subsets, values, strict=True):
        if len(subset) == 2:
            np.testing.assert_allclose(value, table[subset], atol=1e-9)
    subsets, values = enumerated_n_shapley(outputs, case[1])
    for coalition in range(len(outputs)):
        inside = [all(coalition >> at & 1 for at in subset) for subset in subsets]
        np.testing.assert_allclose(values[inside].sum(0), outputs[coalition] - outputs[0], atol=1e-9)


@pytest.mark.parametrize("order", [1, 3])
def test_values_of_automaton_and_network_have_names_and_go_to_shapiq(newsroom_model, newsroom_wfa, order):
    text = "the new senate after week"
    ours, theirs = (n_shapley(newsroom_wfa, text, model, order=order) for model in (None, newsroom_model))
    assert ours.rows()[0]["words"] == "the"
    assert len(ours.subsets) == {1: 5, 3: 25}[order]
    if order == 1:
        np.testing.assert_allclose(ours.values, shapley(newsroom_wfa, text).values, atol=1e-9)
        exact = network_shapley(newsroom_model, newsroom_wfa, text, queries=31)
        np.testing.assert_allclose(theirs.values, exact.values, atol=1e-6)
    pytest.importorskip("shapiq")
    name = newsroom_wfa.class_names[0]
    assert theirs.to_shapiq(name)[(1,)] == pytest.approx(theirs.values[1, 0])
    assert shapley(newsroom_wfa, text).to_shapiq(name)[(1,)] == pytest.approx(shapley(newsroom_wfa, text).values[1, 0])


def test_bad_input(newsroom_wfa):
    with raises("option-value"):
        n_shapley(newsroom_wfa, "the new senate", order=4)
    with raises("text-too-long"):
        n_shapley(newsroom_wfa, "the " * 13)
