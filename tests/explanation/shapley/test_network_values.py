"""The network's own values: unbiased with any automaton, within their intervals, within the budget."""

import numpy as np
import pytest

from tests.automata import linear_sample, sample
from tests.errors import raises
from tests.explanation.shapley.brute import shapley_by_definition
from tests.studies import counting_model
from wfalens.explanation import shapley
from wfalens.explanation.shapley import network_shapley
from wfalens.extraction import Linear, Paper, extract
from wfalens.models import BlackBoxClassifier
from wfalens.text.datasets import newsroom

TEXT = "the new senate after week with coach"


@pytest.fixture(scope="module")
def linear_wfa(newsroom_model):
    from wfalens.text import load_dataset

    rule = Linear(layers=2, width=16, factors=16, epochs=6)
    return extract(newsroom_model, load_dataset("newsroom"), rule)


class Copy:
    """An automaton that answers as a network, and counts what it is asked."""

    def __init__(self, wfa):
        self.wfa, self.class_names, self.encoder, self.fingerprint = wfa, wfa.class_names, wfa.encoder, "copy"
        self.asked = []

    @property
    def initial_output(self):
        return self.wfa.probabilities(self.wfa.read_out(self.wfa.initial[None]))[0]

    def trace(self, ids):
        self.asked += [tuple(text) for text in ids]
        return self.wfa.trace(ids)


def truth(model, text, absence="delete"):
    """By its definition from every coalition, each asked as a text of its own."""
    words = model.encoder.tokens(text)
    prior = model.initial_output
    outputs = []
    for coalition in range(1 << len(words)):
        kept = [w if coalition >> t & 1 else "zzz-unknown" for t, w in enumerate(words)]
        if absence == "delete":
            kept = [w for t, w in enumerate(words) if coalition >> t & 1]
        outputs.append(model.predict_proba([" ".join(kept)])[0] if kept else prior)
    return shapley_by_definition(np.array(outputs, float))


@pytest.mark.parametrize("absence", ["delete", "unknown"])
def test_a_budget_for_all_coalitions_gives_exact_values(newsroom_model, newsroom_wfa, absence):
    found = network_shapley(newsroom_model, newsroom_wfa, "the new senate after week", queries=32, absence=absence)
    np.testing.assert_allclose(found.values, truth(newsroom_model, "the new senate after week", absence), atol=1e-6)
    assert (found.queries, found.samples) == (31 if absence == "delete" else 32, 0)
    assert found.standard_error is None
    np.testing.assert_array_equal(found.interval()[0], found.interval()[1])


@pytest.mark.parametrize("kind", ["none", "stochastic", "linear", "of another network"])
def test_the_mean_over_seeds_is_the_truth_with_any_automaton(newsroom_model, newsroom_wfa, linear_wfa, kind):
    poor = extract(
        newsroom_model,
        newsroom.generate(50, np.random.default_rng(0)),
        Paper(states=3, completion="uniform", abstraction="auto", alpha="auto"),
    )
    wfa = {"none": None, "stochastic": newsroom_wfa, "linear": linear_wfa, "of another network": poor}[kind]
    runs = [network_shapley(newsroom_model, wfa, TEXT, queries=40, seed=seed) for seed in range(60)]
    values = np.array([run.values for run in runs])
    spread = values.std(0, ddof=1) / np.sqrt(len(runs))
    off = np.abs(values.mean(0) - truth(newsroom_model, TEXT)) / np.maximum(spread, 1e-6)
    assert off.max() < 4.5
    assert all(run.queries <= 40 for run in runs)
    np.testing.assert_allclose(runs[0].gap, 0, atol=1e-6)


def test_a_good_copy_saves_queries_and_says_how_much(newsroom_model, linear_wfa):
    with_copy = [network_shapley(newsroom_model, linear_wfa, TEXT, queries=40, seed=seed) for seed in range(40)]
    plain = [network_shapley(newsroom_model, None, TEXT, queries=40, seed=seed) for seed in range(40)]
    exact = truth(newsroom_model, TEXT)
    ours, theirs = (np.mean([(run.values - exact) ** 2 for run in runs]) for runs in (with_copy, plain))
    told = np.median([run.variance_ratio for run in with_copy])
    assert theirs > 1.5 * ours
    assert told == pytest.approx(theirs / ours, rel=0.6)
    assert all(run.variance_ratio is None for run in plain)


def test_a_perfect_copy_needs_no_sample(newsroom_wfa):
    network = Copy(newsroom_wfa)
    found = network_shapley(network, newsroom_wfa, TEXT, queries=30)
    np.testing.assert_allclose(found.values, shapley(newsroom_wfa, TEXT).values, atol=1e-7)  # models answer in float32
    assert found.variance_ratio > 1e4


def test_the_intervals_hold_the_truth_as_often_as_they_say(newsroom_model, newsroom_wfa):
    exact = truth(newsroom_model, TEXT)
    held = []
    for seed in range(150):
        low, high = network_shapley(newsroom_model, newsroom_wfa, TEXT, queries=90, seed=seed).interval()
        held.append((low - 1e-7 <= exact) & (exact <= high + 1e-7))
    assert 0.9 < np.mean(held) < 0.99


def test_each_distinct_text_is_read_once_and_none_that_begins_another(newsroom_wfa):
    network = Copy(newsroom_wfa)
    found = network_shapley(network, None, "the senate the senate the", queries=31)
    asked = set(network.asked)
    assert len(asked) == len(network.asked) < found.queries == 31
    assert not any(one != other and other[: len(one)] == one for one in asked for other in asked)


def test_a_black_box_is_asked_for_the_texts_and_not_for_their_prefixes():
    model = counting_model(3)
    found = network_shapley(model, None, "a b c d", queries=15)
    assert model.queries == found.queries == 15
    assert isinstance(model, BlackBoxClassifier)


def test_a_tolerance_stops_early_or_at_the_budget(newsroom_model, newsroom_wfa):
    loose = network_shapley(newsroom_model, newsroom_wfa, TEXT + " in the town", tolerance=0.1)
    low, high = loose.interval()
    assert (high - low).max() <= 0.2
    tight = network_shapley(newsroom_model, newsroom_wfa, TEXT + " in the town", tolerance=0.02)
    assert tight.queries > loose.queries
    stopped = network_shapley(newsroom_model, newsroom_wfa, TEXT, tolerance=1e-9, queries=50)
    assert stopped.samples > 0
    assert stopped.queries <= 50
    exact = network_shapley(newsroom_model, newsroom_wfa, TEXT, tolerance=1e-9)
    assert (exact.samples, exact.queries) == (0, 127)


def test_long_texts_of_linear_automata_carry_the_error_of_the_automatons_own_values(linear_wfa):
    network = Copy(linear_wfa)
    found = network_shapley(network, linear_wfa, TEXT + " " + TEXT, queries=60)
    assert found.standard_error.max() > 1e-5  # marginals cancel exactly, so this is the automaton's own
    np.testing.assert_allclose(found.gap, 0, atol=1e-6)


def test_the_result_is_data(newsroom_model, newsroom_wfa):
    found = network_shapley(newsroom_model, newsroom_wfa, TEXT, queries=40)
    data = found.to_dict()
    assert (data["method"], data["source"]) == ("shapley", "network")
    assert data["queries"] <= 40
    assert data["samples"] >= 2
    assert data["variance_ratio"] > 0
    assert np.shape(data["standard_error"]) == found.values.shape


def test_bad_input(newsroom_model, newsroom_wfa):
    with raises("few-queries"):
        network_shapley(newsroom_model, newsroom_wfa, TEXT, queries=5)
    with raises("no-words"):
        network_shapley(newsroom_model, newsroom_wfa, " ")
    with raises("absence"):
        network_shapley(newsroom_model, newsroom_wfa, TEXT, absence="background")
    with raises("absence"):
        network_shapley(newsroom_model, newsroom_wfa, TEXT, absence="x")
    with raises("tolerance"):
        network_shapley(newsroom_model, newsroom_wfa, TEXT, tolerance=0)
    with raises("other-model"):
        network_shapley(newsroom_model, sample("fit", 1).wfa, TEXT)
    with raises("text-too-long"):
        network_shapley(newsroom_model, newsroom_wfa, "the " * 100_000)
    model = counting_model(linear_sample(1).wfa.factors.bias.size)
    with raises("other-model"):
        network_shapley(model, linear_sample(1).wfa, "a b")
    one = network_shapley(newsroom_model, newsroom_wfa, "zzz qqq")
    assert one.words == ("zzz", "qqq")
    single = network_shapley(newsroom_model, newsroom_wfa, TEXT, queries=13)
    assert single.samples == 1
    assert single.variance_ratio is None
    assert np.isnan(single.interval()[0]).all()
