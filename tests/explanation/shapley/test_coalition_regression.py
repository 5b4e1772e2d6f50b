"""Regression on coalitions: exact in the end, within its intervals before, and what symmetry and additivity demand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.automata import linear_sample, sample
from tests.explanation.shapley.brute import ABSENCES, Case, cases, close, dense_matrices, shapley_by_definition
from tests.explanation.shapley.test_quadrature import text_of
from wfalens.explanation.attribution import half_widths
from wfalens.explanation.shapley import shapley, shapley_each
from wfalens.explanation.shapley.coalition_regression import _fit, estimate_shapley
from wfalens.explanation.shapley.coalitions import GamePrior, all_coalitions, draw_coalitions, enumerated_shapley
from wfalens.explanation.shapley.shapley_values import probability_values


def outputs_of(values, present):
    return values[present @ (1 << np.arange(present.shape[1]))]


def game_of(rng, players, additive, roughness):
    """A game drawn from the prior; -> (2^L, 2)"""
    apart = (all_coalitions(players)[:, None] != all_coalitions(players)).mean(-1)
    kernel = additive * (1 - 2 * apart) + np.exp(-roughness * apart)
    return np.linalg.cholesky(kernel + 1e-9 * np.eye(len(kernel))) @ rng.normal(size=(1 << players, 2))


@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 4))
def test_enumeration_is_the_definition(seed, length, classes):
    values = np.random.default_rng(seed).normal(size=(1 << length, classes))
    np.testing.assert_allclose(enumerated_shapley(values), shapley_by_definition(values), atol=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 8))
def test_all_coalitions_in_any_order_give_exact_values(seed, players):
    rng = np.random.default_rng(seed)
    values, present = rng.normal(size=(1 << players, 3)), draw_coalitions(players, 1 << players, rng)
    found = estimate_shapley(present, outputs_of(values, present))
    np.testing.assert_allclose(found.values, shapley_by_definition(values), atol=1e-9)
    assert found.samples == 0
    assert not found.standard_error.any()


@pytest.mark.parametrize("players", [2, 5, 16, 17, 60])
def test_coalitions_are_distinct_complements_that_a_larger_count_only_adds_to(players):
    count = min(1 << players, 90)
    drawn = draw_coalitions(players, count, np.random.default_rng(3))
    assert len(np.unique(drawn, axis=0)) == count
    assert drawn[:2].sum(1).tolist() == [0, players]
    np.testing.assert_array_equal(drawn[: count // 2 * 2 : 2], ~drawn[1::2])
    np.testing.assert_array_equal(draw_coalitions(players, count // 2, np.random.default_rng(3)), drawn[: count // 2])


def test_beyond_the_chosen_ones_sizes_are_drawn_as_kernelshap_weighs_them():
    sizes = np.concatenate([draw_coalitions(30, 400, np.random.default_rng(seed))[256:].sum(1) for seed in range(30)])
    shares = kernelshap_shares(30)[1:-1] / kernelshap_shares(30)[1:-1].sum()  # single words are among the chosen
    np.testing.assert_allclose(np.bincount(sizes, minlength=30)[2:-1] / len(sizes), shares, atol=0.04)


def kernelshap_shares(players):
    weights = 1 / (np.arange(1, players) * np.arange(players - 1, 0, -1))
    return weights / weights.sum()


def random_coalitions(players, count, rng):
    """None, all, and random pairs of complements, as KernelSHAP draws them."""
    drawn = {row.tobytes(): row for row in (np.zeros(players, bool), np.ones(players, bool))}
    while len(drawn) < count:
        row = rng.permutation(players) < rng.choice(players - 1, p=kernelshap_shares(players)) + 1
        drawn |= {row.tobytes(): row, (~row).tobytes(): ~row}
    return np.array(list(drawn.values()))


@pytest.mark.parametrize(("players", "count"), [(8, 24), (10, 32), (12, 64), (20, 128)])
@pytest.mark.parametrize("roughness", [3.2, 12.8])
def test_chosen_coalitions_leave_less_variance_than_random_ones(players, count, roughness):
    def left(draw):
        parts = [draw(players, count, np.random.default_rng(seed)) for seed in range(5)]
        fits = [_fit(GamePrior(1.0, roughness), part, np.ones((count, 1)), None) for part in parts]
        return np.mean([fit.left for fit in fits])

    assert left(draw_coalitions) < 0.85 * left(random_coalitions)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 7), st.floats(0.05, 0.99))
def test_values_add_up_and_equal_players_get_equal_values(seed, players, share):
    rng = np.random.default_rng(seed)
    values, present = rng.normal(size=(1 << players, 2)), draw_coalitions(players, 1 << players, rng)
    count = max(2, int(share * len(present)))
    found = estimate_shapley(present[:count], outputs_of(values, present[:count]))
    np.testing.assert_allclose(found.values.sum(0), values[-1] - values[0], atol=1e-6)
    swapped = present[:count, [1, 0, *range(2, players)]]
    again = estimate_shapley(swapped, outputs_of(values, present[:count]))
    np.testing.assert_allclose(again.values[[1, 0]], found.values[[0, 1]], atol=1e-6)


def test_covariances_are_the_shapley_values_of_the_kernel():
    present, prior = all_coalitions(5), GamePrior(0.7, 3.0)
    apart = (present[:, None] != present).mean(-1)
    kernel = 0.7 * (1 - 2 * apart) + np.exp(-3.0 * apart)
    of_players = shapley_by_definition(kernel)
    np.testing.assert_allclose(prior.value_covariance(present), of_players.T, atol=1e-9)
    variances = shapley_by_definition(of_players.T).diagonal()
    np.testing.assert_allclose(np.full(5, prior.value_variance(5)), variances, atol=1e-9)


def test_without_evidence_players_share_evenly_and_with_it_additive_games_are_found():
    """The two ends of shrinkage."""
    players, present = 6, draw_coalitions(6, 14, np.random.default_rng(1))
    additive = present @ np.arange(players)[:, None] + 1.0
    even = np.full((players, 1), np.arange(players).mean())
    np.testing.assert_allclose(estimate_shapley(present[:2], additive[:2]).values, even, atol=1e-6)
    certain = _fit(GamePrior(1e4, 6.4), present, additive, None)
    np.testing.assert_allclose(certain.mean, np.arange(players)[:, None], atol=1e-2)


@pytest.mark.parametrize("count", [16, 48, 96])
def test_the_intervals_hold_games_of_the_prior_as_often_as_they_say(count):
    rng, held = np.random.default_rng(count), []
    for _ in range(40):
        values, present = game_of(rng, 7, 1.0, 6.0), draw_coalitions(7, count, rng)
        found = estimate_shapley(present, outputs_of(values, present))
        off = np.abs(found.values - enumerated_shapley(values))
        held.append(off <= half_widths(found.standard_error, found.samples, 0.95))
    assert 0.9 < np.mean(held) < 0.99


@given(cases(most_words=7, kinds=("linear",)), st.sampled_from(ABSENCES))
def test_probabilities_of_short_texts_are_exact(case, absence):
    found = shapley(case.wfa, text_of(case.wfa, case.ids), absence=absence, unit="probability")
    values = case.wfa.probabilities(case.weights(absence))
    close(found.values, shapley_by_definition(values), values)
    np.testing.assert_allclose(found.gap, 0, atol=1e-9)
    np.testing.assert_allclose([found.base, found.output], values[[0, -1]], atol=1e-9)
    assert found.unit == "probability"
    assert found.standard_error is None


def test_probabilities_of_longer_texts_add_up_and_lie_within_their_errors():
    item = linear_sample(4)
    ids = np.random.default_rng(1).integers(1, 9, 13).astype(np.int32)
    found = shapley(item.wfa, text_of(item.wfa, ids), unit="probability")
    assert np.shape(found.to_dict()["standard_error"]) == found.values.shape
    np.testing.assert_allclose(found.gap, 0, atol=1e-6)
    truth = enumerated_shapley(item.wfa.probabilities(Case(item.wfa, dense_matrices(item), ids).weights("delete")))
    errors = np.abs(found.values - truth) / np.maximum(found.standard_error, 1e-12)
    assert errors.max() < 5
    assert np.quantile(errors, 0.5) < 1.5
    again = shapley(item.wfa, text_of(item.wfa, ids), unit="probability")
    np.testing.assert_array_equal(found.values, again.values)


def test_stochastic_automata_are_exact_in_probabilities_at_any_length():
    item = sample("fit", 3)
    ids = np.random.default_rng(1).integers(1, 9, 40).astype(np.int32)
    found = probability_values(item.wfa, ids, "delete", 0)
    np.testing.assert_array_equal(found.values, shapley(item.wfa, text_of(item.wfa, ids)).values)
    assert not found.standard_error.any()


@pytest.mark.parametrize("absence", ABSENCES)
def test_long_texts_are_estimated_for_every_absence(absence):
    wfa = linear_sample(2).wfa
    long, short = shapley_each(wfa, ["w1 w2 w3 w4 w5 w6 " * 3, "w1 w2"], absence=absence, unit="probability")
    assert long.standard_error is not None
    assert short.standard_error is None
    np.testing.assert_allclose(long.gap, 0, atol=1e-6)
