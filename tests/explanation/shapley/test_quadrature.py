"""Exact values equal the definitions, on automata of every kind and for every absence."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binom

from tests.automata import linear_sample, sample
from tests.explanation.shapley.brute import (
    ABSENCES,
    Case,
    banzhaf_by_definition,
    cases,
    close,
    dense_matrices,
    interactions_by_definition,
    shapley_by_definition,
)
from wfalens.explanation.shapley import banzhaf, interactions, shapley, shapley_each
from wfalens.explanation.shapley.background import mean_matrix
from wfalens.explanation.shapley.coalitions import all_coalitions
from wfalens.explanation.shapley.game import (
    coalition_weights,
)
from wfalens.explanation.shapley.quadrature import (
    exact_interactions,
    exact_marginals,
    exact_shapley,
    gauss_legendre,
    largest_marginal,
    node_count,
    quadrature_error,
)
from wfalens.ragged import Ragged

absences = st.sampled_from(ABSENCES)


def has_background(case: Case) -> bool:
    return bool(case.wfa.word_counts.sum())


def text_of(wfa, ids) -> str:
    return " ".join(wfa.encoder.vocabulary.decode(ids))


@given(cases(), absences)
def test_values_equal_their_definition(case, absence):
    assume(absence != "background" or has_background(case))
    values = case.weights(absence)
    found, errors = exact_shapley(case.wfa, case.ragged, absence)
    close(found.values, shapley_by_definition(values), values)
    assert errors[0] == 0
    close(exact_marginals(case.wfa, case.ragged, absence, 0.5).values, banzhaf_by_definition(values), values)


@given(cases(most_words=5), absences)
def test_interactions_equal_their_definition(case, absence):
    assume(absence != "background" or has_background(case))
    values = case.weights(absence)
    (found,) = exact_interactions(case.wfa, case.ragged, absence)
    close(found, interactions_by_definition(values), values)


@given(cases(), absences)
def test_coalitions_are_read_as_their_matrices_say(case, absence):
    assume(absence != "background" or has_background(case))
    values = case.weights(absence)
    close(coalition_weights(case.wfa, case.ids, all_coalitions(len(case.ids)), absence), values, values)


@given(cases(most_words=30), absences)
def test_values_add_up_to_the_output_minus_that_of_nothing(case, absence):
    assume(absence != "background" or has_background(case))
    found = shapley(case.wfa, text_of(case.wfa, case.ids), absence=absence)
    np.testing.assert_allclose(found.output, case.wfa.weights(case.ragged)[0])
    close(found.values.sum(0), found.output - found.base, np.stack([found.output, found.base]))


@given(cases(most_words=6), st.data())
def test_words_that_do_the_same_anywhere_share_alike_and_a_word_without_effect_gets_nothing(case, data):
    """The dummy axiom on `<unk>` where absent words are unknown, symmetry on a word that is said three times."""
    at = data.draw(st.integers(0, len(case.ids)))
    ids = np.insert(case.ids, at, 1)
    found, _ = exact_shapley(case.wfa, Ragged(ids, np.array([0, len(ids)])), "unknown")
    np.testing.assert_allclose(found.values[at], 0, atol=1e-12)
    word = data.draw(st.integers(1, len(case.matrices) - 1))
    twins, _ = exact_shapley(case.wfa, Ragged(np.full(3, word, np.int32), np.array([0, 3])), "delete")
    close(twins.values, np.tile(twins.values[0], (3, 1)), twins.values)


@given(st.integers(0, 10**6), st.sampled_from(["empirical", "fit", "shared", "linear"]), absences)
def test_many_texts_at_once_are_as_one_by_one_to_the_bit(seed, kind, absence):
    item = linear_sample(seed) if kind == "linear" else sample(kind, seed)
    assume(absence != "background" or item.wfa.word_counts.sum())
    rng = np.random.default_rng(seed)
    texts = [rng.integers(1, 9, size).astype(np.int32) for size in (1, 2, 5, 0, 40, 5)]
    ids = Ragged.from_lists(texts, np.int32)
    together, errors = exact_shapley(item.wfa, ids, absence, 1e-6)
    for at, text in enumerate(texts):
        alone, error = exact_shapley(item.wfa, Ragged(text, np.array([0, len(text)])), absence, 1e-6)
        np.testing.assert_array_equal(together[at], alone.values)
        assert errors[at] == error[0]


def test_the_number_of_threads_does_not_change_a_bit(monkeypatch):
    wfa = sample("fit", 3).wfa
    ids = Ragged.from_lists([[1, 2, 3, 4]] * 400, np.int32)
    monkeypatch.setenv("WFALENS_THREADS", "1")
    one = exact_shapley(wfa, ids, "delete")[0].values
    monkeypatch.setenv("WFALENS_THREADS", "3")
    np.testing.assert_array_equal(exact_shapley(wfa, ids, "delete")[0].values, one)


@pytest.mark.parametrize("kind", ["fit", "linear"])
@pytest.mark.parametrize("length", [150, 10_000])
def test_fewer_nodes_than_exact_ones_keep_to_the_bound_that_is_given(kind, length):
    item = linear_sample(5, decay=0.9) if kind == "linear" else sample(kind, 5, n=6)
    ids = np.random.default_rng(0).integers(1, 9, length).astype(np.int32)
    text = Ragged(ids, np.array([0, length]))
    loose, told = exact_shapley(item.wfa, text, "delete", 1e-4)
    assert 0 < told[0] <= 1e-4
    finer, error = exact_shapley(item.wfa, text, "delete", 1e-9)
    assert error[0] <= 1e-9
    assert np.abs(loose.values - finer.values).max() <= 1e-4
    if length == 150:
        exact, none = exact_shapley(item.wfa, text, "delete", 0)
        assert none[0] == 0
        scale = np.abs(exact.values).max() + 1
        assert np.abs(finer.values - exact.values).max() <= 1e-9 + 1e-12 * scale
    found = shapley(item.wfa, text_of(item.wfa, ids))
    assert np.abs(found.gap).max() <= 1e-9 * length * max(1.0, float(np.abs(found.output).max()))
    assert found.error == error[0]


@given(st.integers(2, 400), st.data())
def test_no_game_breaks_the_bound_of_quadrature(length, data):
    """The integrand of a game whose mean marginals f_k are anything in [−1, 1], in Bernstein form."""
    nodes = data.draw(st.integers(1, (length + 1) // 2))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    degree = length - 1
    k = np.arange(length)
    marginals = data.draw(
        st.sampled_from([np.sign(np.sin(k * rng.uniform(0, 3))), rng.uniform(-1, 1, length), 0.0 + (k == 0)])
    )
    z, weight = gauss_legendre(nodes)
    found = weight @ binom.pmf(k[None], degree, z[:, None]) @ marginals
    bound = quadrature_error(length, nodes, 1.0)
    assert abs(found - marginals.mean()) <= bound + 1e-12
    assert node_count(length, bound, 1.0) <= nodes


def test_the_number_of_nodes_is_half_the_words_and_less_where_a_tolerance_allows():
    assert [node_count(length, 0, 1.0) for length in (0, 1, 2, 3, 10, 25)] == [0, 1, 1, 2, 5, 13]
    assert node_count(150, 1e-9, 1.0) < 45 < node_count(150, 0, 1.0) == 75
    assert node_count(10_000, 1e-9, 1.0) < 350
    assert quadrature_error(150, 75, 1.0) == 0


def test_the_largest_marginal_of_a_linear_automaton_is_never_passed():
    for seed in range(20):
        item = linear_sample(seed)
        case = Case(item.wfa, dense_matrices(item), np.arange(1, 7, dtype=np.int32))
        values = case.weights("delete")
        assert np.ptp(values, axis=0).max() <= largest_marginal(item.wfa)


def test_the_mean_matrix_is_computed_once_per_automaton():
    wfa = sample("fit", 2).wfa
    assert mean_matrix(wfa) is mean_matrix(wfa)
    np.testing.assert_allclose(mean_matrix(wfa).sum(1), 1)


def test_attributions_know_their_words_classes_and_settings():
    wfa = sample("fit", 2).wfa
    one, two = shapley_each(wfa, ["w1 w2 zzz", "w3"], absence="unknown")
    assert (one.words, two.words) == (("w1", "w2", "zzz"), ("w3",))
    assert (one.method, one.absence, one.unit) == ("shapley", "unknown", "probability")
    assert one.label in wfa.class_names
    np.testing.assert_array_equal(one.of_class("c1"), one.values[:, 1])
    assert list(one.to_dataframe().columns) == ["word", *one.ranking]
    assert one.to_dict()["words"][2] == "zzz"
    assert one.to_dict()["values"][0][0] == one.values[0, 0]
    other = banzhaf(wfa, "w1 w2 zzz", absence="unknown")
    assert other.method == "banzhaf"
    np.testing.assert_allclose(other.base, one.base)


def test_interactions_name_the_pairs():
    wfa = sample("fit", 2).wfa
    found = interactions(wfa, "w1 w2 w3")
    assert found.subsets == ((0, 1), (0, 2), (1, 2))
    (table,) = exact_interactions(wfa, wfa.encoder.encode(["w1 w2 w3"]), "delete")
    np.testing.assert_array_equal(table, table.transpose(1, 0, 2))
    np.testing.assert_array_equal(found.values, [table[pair] for pair in found.subsets])
    first, second, value = found.top("c0", 1)[0]
    assert value == table[found.words.index(first), found.words.index(second), wfa.class_names.index("c0")]
    assert abs(value) == np.abs(table[..., wfa.class_names.index("c0")]).max()
    assert len(found.to_dataframe()) == 3
    assert found.to_dict()["values"][2] == found.values[2].tolist()
    assert interactions(wfa, "w1").values.shape == (0, len(wfa.class_names))


def test_words_and_classes_are_escaped_in_html():
    wfa = sample("fit", 2).wfa
    html = shapley(wfa, "w1 <img>").to_html() + interactions(wfa, "w1 <img>").to_html()
    assert "<img>" not in html
    assert "&lt;img&gt;" in html
