"""The network's own values: nearer to the truth than the automaton's, within their intervals, within the budget."""

import warnings
from itertools import pairwise

import numpy as np
import pytest

from tests.automata import linear_sample, sample
from tests.errors import raises
from tests.explanation.shapley.brute import shapley_by_definition
from tests.studies import counting_model
from wfalens.errors import WfalensWarning
from wfalens.explanation import shapley
from wfalens.explanation.shapley import coalitions, network_shapley, network_values
from wfalens.extraction import Linear, Paper, extract
from wfalens.models import BlackBoxClassifier
from wfalens.models.adapters.functions import TextClassifier
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
def test_queries_bring_the_values_nearer_to_the_truth_with_any_automaton(
    newsroom_model, newsroom_wfa, linear_wfa, kind
):
    poor = extract(
        newsroom_model,
        newsroom.generate(50, np.random.default_rng(0)),
        Paper(states=3, completion="uniform", abstraction="auto", alpha="auto"),
    )
    wfa = {"none": None, "stochastic": newsroom_wfa, "linear": linear_wfa, "of another network": poor}[kind]
    exact = truth(newsroom_model, TEXT)
    alone = np.zeros_like(exact) if wfa is None else shapley(wfa, TEXT, unit="probability").values
    errors = [np.mean((alone - exact) ** 2)]
    for queries in (20, 40, 80):
        runs = [network_shapley(newsroom_model, wfa, TEXT, queries=queries, seed=seed) for seed in range(10)]
        errors.append(np.mean([(run.values - exact) ** 2 for run in runs]))
        assert all(run.queries == queries for run in runs)
        np.testing.assert_allclose(runs[0].gap, 0, atol=1e-6)
    assert all(more < fewer for fewer, more in pairwise(errors))


def test_a_good_copy_saves_queries(newsroom_model, linear_wfa):
    exact = truth(newsroom_model, TEXT)
    ours, plain = (
        np.mean(
            [(network_shapley(newsroom_model, wfa, TEXT, queries=12, seed=at).values - exact) ** 2 for at in range(10)]
        )
        for wfa in (linear_wfa, None)
    )
    assert plain > 2 * ours, (plain, ours)


def test_a_perfect_copy_needs_no_query_but_the_text(newsroom_wfa):
    found = network_shapley(Copy(newsroom_wfa), newsroom_wfa, TEXT, queries=1)
    np.testing.assert_allclose(found.values, shapley(newsroom_wfa, TEXT).values, atol=1e-6)  # models answer in float32
    assert found.standard_error.max() < 1e-6


def test_the_intervals_hold_the_truth_as_often_as_they_say(newsroom_model, newsroom_wfa):
    held = []
    for text in (TEXT, "the coach said the team won after the week", "senate votes on a new health bill today"):
        exact = truth(newsroom_model, text)
        for seed in range(10):
            low, high = network_shapley(newsroom_model, newsroom_wfa, text, queries=60, seed=seed).interval()
            held.append(((low - 1e-7 <= exact) & (exact <= high + 1e-7)).mean())
    assert np.mean(held) > 0.88


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


def test_no_function_of_strings_is_asked_more_than_its_budget_the_empty_text_included(newsroom_wfa):
    asked = []

    def predict_proba(texts):
        asked.extend(texts)
        return newsroom_wfa.predict_proba(texts)

    model = TextClassifier(predict_proba, newsroom_wfa.encoder, newsroom_wfa.class_names, fingerprint="counted")
    for queries in (12, 31, 32):
        asked.clear()
        vars(model).pop("initial_output", None)  # as if it were asked for the first time
        assert network_shapley(model, newsroom_wfa, "the new senate after week", queries=queries).queries == queries
        assert len(asked) == len(set(asked)) == queries
    assert "" in asked


def test_a_tolerance_stops_early_or_at_the_budget(newsroom_model, newsroom_wfa):
    loose = network_shapley(newsroom_model, newsroom_wfa, TEXT + " in the town", tolerance=0.1)
    low, high = loose.interval()
    assert (high - low).max() <= 0.2
    tight = network_shapley(newsroom_model, newsroom_wfa, TEXT + " in the town", tolerance=0.02)
    assert tight.queries > loose.queries
    with pytest.warns(WfalensWarning, match="with 50 queries"):
        stopped = network_shapley(newsroom_model, newsroom_wfa, TEXT, tolerance=1e-9, queries=50)
    assert (stopped.samples, stopped.queries) == (51, 50)
    with warnings.catch_warnings():
        warnings.simplefilter("error", WfalensWarning)
        exact = network_shapley(newsroom_model, newsroom_wfa, TEXT, tolerance=1e-9)
    assert (exact.samples, exact.queries) == (0, 127)


def test_a_tolerance_beyond_the_most_queries_says_so(newsroom_model, newsroom_wfa, monkeypatch):
    monkeypatch.setattr(coalitions, "MOST_COALITIONS", 64)
    monkeypatch.setattr(network_values, "MOST_COALITIONS", 64)
    with pytest.warns(WfalensWarning, match="the limit"):
        found = network_shapley(newsroom_model, newsroom_wfa, TEXT, tolerance=1e-9)
    assert found.samples == 64


def test_long_texts_of_linear_automata_carry_the_error_of_the_automatons_own_values(linear_wfa):
    network = Copy(linear_wfa)
    found = network_shapley(network, linear_wfa, TEXT + " " + TEXT, queries=60)
    assert found.standard_error.max() > 1e-5  # nothing is left of the residual, so this is the automaton's own
    np.testing.assert_allclose(found.gap, 0, atol=1e-6)


def test_sentences_and_phrases_are_present_or_absent_as_a_whole(newsroom_model, newsroom_wfa):
    text = "the new senate. After week, with coach! it was the coach of the senate in the town"
    names = {by: network_shapley(newsroom_model, newsroom_wfa, text, by=by).words for by in ("sentence", "phrase")}
    assert names["sentence"] == ("the new senate.", "After week, with coach!", text.split("! ")[1])
    assert names["phrase"][:3] == ("the new senate.", "After week,", "with coach!")
    assert names["phrase"][3:] == ("it was the coach of", "the senate in the town")
    found = network_shapley(newsroom_model, newsroom_wfa, text, by="sentence")
    words = [newsroom_model.encoder.tokens(name) for name in names["sentence"]]
    kept = [
        " ".join(word for at, part in enumerate(words) if coalition >> at & 1 for word in part)
        for coalition in range(8)
    ]
    outputs = np.vstack([newsroom_model.initial_output, newsroom_model.predict_proba(kept[1:])]).astype(float)
    np.testing.assert_allclose(found.values, shapley_by_definition(outputs), atol=1e-6)
    assert found.queries == 7
    with raises("option-value"):
        network_shapley(newsroom_model, newsroom_wfa, text, by="line")


def test_a_long_text_is_explained_within_its_budget(newsroom_model, newsroom_wfa):
    text = "the new senate after week with coach. " * 57
    found = network_shapley(newsroom_model, newsroom_wfa, text, queries=100, by="sentence")
    assert (len(found.words), found.queries) == (57, 100)
    np.testing.assert_allclose(found.gap, 0, atol=1e-5)


def test_the_result_is_data(newsroom_model, newsroom_wfa):
    found = network_shapley(newsroom_model, newsroom_wfa, TEXT, queries=40)
    data = found.to_dict()
    assert (data["method"], data["source"]) == ("shapley", "network")
    assert data["queries"] <= 40
    assert data["samples"] == 41
    assert np.shape(data["standard_error"]) == found.values.shape


def test_bad_input(newsroom_model, newsroom_wfa):
    with raises("few-queries"):
        network_shapley(newsroom_model, newsroom_wfa, TEXT, queries=0)
    with raises("no-words"):
        network_shapley(newsroom_model, newsroom_wfa, " ")
    with raises("absence"):
        network_shapley(newsroom_model, newsroom_wfa, TEXT, absence="background")
    with raises("absence"):
        network_shapley(newsroom_model, newsroom_wfa, TEXT, absence="x")
    with raises("tolerance"):
        network_shapley(newsroom_model, newsroom_wfa, TEXT, tolerance=0)
    with raises("classes"):
        network_shapley(newsroom_model, sample("fit", 1).wfa, TEXT)
    with raises("text-too-long"):
        network_shapley(newsroom_model, newsroom_wfa, "the " * 100_000)
    model = counting_model(linear_sample(1).wfa.factors.bias.size)
    with raises("vocabulary"):
        network_shapley(model, linear_sample(1).wfa, "a b")
    one = network_shapley(newsroom_model, newsroom_wfa, "zzz qqq")
    assert one.words == ("zzz", "qqq")
