"""Probabilities of linear automata: enumerated, or sampled with standard errors that can be trusted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.automata import linear_sample, sample
from tests.explanation.shapley.brute import Case, cases, close, dense_matrices, shapley_by_definition
from tests.explanation.shapley.test_quadrature import text_of
from wfalens.explanation.shapley import ABSENCES, shapley, shapley_each
from wfalens.explanation.shapley.permutation_sampling import (
    all_coalitions,
    antithetic_ranks,
    coalitions_along,
    controlled,
    enumerated_shapley,
    sampled_shapley,
)
from wfalens.explanation.shapley.shapley_values import probability_values


@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 4))
def test_enumeration_is_the_definition(seed, length, classes):
    values = np.random.default_rng(seed).normal(size=(1 << length, classes))
    np.testing.assert_allclose(enumerated_shapley(values), shapley_by_definition(values), atol=1e-12)


@given(cases(most_words=7, kinds=("linear",)), st.sampled_from(ABSENCES))
def test_probabilities_of_short_texts_are_exact(case, absence):
    found = shapley(case.wfa, text_of(case.wfa, case.ids), absence=absence, unit="probability")
    values = case.wfa.probabilities(case.weights(absence))
    close(found.values, shapley_by_definition(values), values)
    np.testing.assert_allclose(found.gap, 0, atol=1e-9)
    np.testing.assert_allclose([found.base, found.output], values[[0, -1]], atol=1e-9)
    assert found.unit == "probability"
    assert found.standard_error is None


def test_orders_pass_from_nothing_to_everything_and_come_with_their_reverse():
    ranks = antithetic_ranks(5, 7, np.random.default_rng(0))
    assert ranks.shape == (7, 2, 5)
    np.testing.assert_array_equal(np.sort(ranks, -1), np.broadcast_to(np.arange(5), ranks.shape))
    coalitions = coalitions_along(ranks)
    np.testing.assert_array_equal(coalitions.sum(-1), np.broadcast_to(np.arange(6), (7, 2, 6)))
    np.testing.assert_array_equal(coalitions[:, 1, 2], ~coalitions[:, 0, 3])


def test_sampled_values_add_up_and_lie_within_their_errors():
    item = linear_sample(4)
    ids = np.random.default_rng(1).integers(1, 9, 13).astype(np.int32)
    found = shapley(item.wfa, text_of(item.wfa, ids), unit="probability", pairs=200)
    assert found.standard_error is not None
    assert np.shape(found.to_dict()["standard_error"]) == found.values.shape
    np.testing.assert_allclose(found.gap, 0, atol=1e-9)  # along every order the marginals add up
    truth = enumerated_shapley(item.wfa.probabilities(Case(item.wfa, dense_matrices(item), ids).weights("delete")))
    errors = np.abs(found.values - truth) / np.maximum(found.standard_error, 1e-12)
    assert errors.max() < 5
    assert np.quantile(errors, 0.5) < 1.5
    again = shapley(item.wfa, text_of(item.wfa, ids), unit="probability", pairs=200)
    np.testing.assert_array_equal(found.values, again.values)


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_standard_errors_tell_the_spread_of_the_means(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(1 << 6, 2))

    def game(present):
        return values[present @ (1 << np.arange(6))]

    runs = [sampled_shapley(game, 6, 20, rng) for _ in range(200)]
    spread = np.std([run.mean for run in runs], axis=0)
    told = np.sqrt(np.mean([run.standard_error**2 for run in runs], axis=0))
    np.testing.assert_allclose(told, spread, rtol=0.4)
    np.testing.assert_allclose(np.mean([run.mean for run in runs], axis=0), shapley_by_definition(values), atol=0.3)


def test_coalitions_are_counted_by_their_bits():
    assert all_coalitions(2).tolist() == [[False, False], [True, False], [False, True], [True, True]]


def test_stochastic_automata_are_exact_in_probabilities_at_any_length():
    item = sample("fit", 3)
    ids = np.random.default_rng(1).integers(1, 9, 40).astype(np.int32)
    found = probability_values(item.wfa, ids, "delete", 2, np.random.default_rng(0))
    np.testing.assert_array_equal(found.mean, shapley(item.wfa, text_of(item.wfa, ids)).values)
    assert not found.standard_error.any()


@pytest.mark.parametrize("absence", ABSENCES)
def test_long_texts_are_sampled_for_every_absence(absence):
    wfa = linear_sample(2).wfa
    long, short = shapley_each(wfa, ["w1 w2 w3 w4 w5 w6 " * 3, "w1 w2"], absence=absence, unit="probability", pairs=4)
    assert long.standard_error is not None
    assert short.standard_error is None
    np.testing.assert_allclose(long.gap, 0, atol=1e-9)


@pytest.mark.parametrize("pairs", [1, 2, 5, 12])
def test_controls_change_the_variance_and_not_the_mean(pairs):
    """On samples whose expected value is 0, with controls of known mean that hold most of their noise, turned round."""
    rng = np.random.default_rng(pairs)
    known, turn = rng.normal(size=(4, 3)), np.array([[0.8, 0.3, 0], [-0.3, 0.8, 0], [0, 0, 1.2]])
    means, plain, spread = [], [], []
    for _ in range(400):
        noise = rng.normal(size=(pairs, 4, 3))
        samples = noise @ turn + 0.1 * rng.normal(size=noise.shape)
        found = controlled(samples, noise + known, known)
        means.append(found.mean(0))
        spread.append(np.square(found.mean(0)).mean())
        plain.append(np.square(samples.mean(0)).mean())
    assert np.abs(np.mean(means, axis=0)).max() < 5 * np.std(means, axis=0).max() / np.sqrt(400)
    assert np.mean(spread) < (0.35 if pairs < 5 else 0.1) * np.mean(plain)


def test_more_controls_than_classes_tell_more_and_nothing_where_the_copy_is_perfect():
    rng = np.random.default_rng(3)
    plain, more, means = [], [], []
    for _ in range(300):
        copy, extra = rng.normal(size=(2, 12, 4, 2))
        samples = copy + 0.4 * extra + 0.05 * rng.normal(size=copy.shape)
        both = np.concatenate([copy, extra], 2)
        plain.append(np.square(controlled(samples, copy, np.zeros((4, 2))).mean(0)).mean())
        found = controlled(samples, both, np.zeros((4, 4))).mean(0)
        means.append(found)
        more.append(np.square(found).mean())
    assert np.mean(more) < 0.3 * np.mean(plain)
    assert np.abs(np.mean(means, axis=0)).max() < 5 * np.std(means, axis=0).max() / np.sqrt(300)
    np.testing.assert_array_equal(controlled(copy, both, np.zeros((4, 4))), 0)


def test_a_useless_control_is_let_go():
    rng = np.random.default_rng(0)
    samples, controls = rng.normal(size=(2, 200, 3, 2))
    found = controlled(samples, controls, np.zeros((3, 2)))
    assert found.var() < 1.1 * samples.var() < (samples - controls).var()
