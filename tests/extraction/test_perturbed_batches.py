"""Training batches: all prefixes where they cost nothing, whole texts of a model that pays for every call."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.errors import raises
from tests.methods import best_of
from wfalens.extraction import Linear, Readable, Request, extract
from wfalens.extraction.deadline import Deadline
from wfalens.extraction.extract import texts_in_memory
from wfalens.extraction.perturbed_batches import PerturbedBatches, beginnings, lengths_asked
from wfalens.extraction.query_budget import QueryBudget, TooFewQueriesError
from wfalens.extraction.selection import CandidateMethods
from wfalens.models import AnswerCache, wrap
from wfalens.ragged import Ragged

WORDS = ["good", "bad", "dull", "fine", "plain", "great", "poor"]
TEXTS = [" ".join(np.random.default_rng(seed).choice(WORDS, 2 + seed % 7)) for seed in range(120)]
SMALL = Linear(layers=2, width=4, factors=8, hidden=16, epochs=4, clean=0.1, following=0.2, random=0.0)
QUICK = Readable(states=3, clusters=3, spread=2, start_epochs=1, epochs=2, final_epochs=1, prefixes=1)


class Opinion:
    """A function of texts that counts what it is asked; capitals and unknown words matter to it."""

    def __init__(self):
        self.asked = []

    def __call__(self, texts: list[str]):
        self.asked += texts
        worth = [
            sum(word.lower() in ("good", "fine", "great") for word in text.split())
            - sum(word.lower() in ("bad", "dull", "poor") for word in text.split())
            + 3 * ("!" in text)
            for text in texts
        ]
        positive = 1 / (1 + np.exp(-np.array(worth, float)))
        return np.stack([1 - positive, positive], 1)


def opinion(texts=TEXTS):
    function = Opinion()
    model = wrap(function, texts=texts, classes=("neg", "pos"), reads="text", name="opinion")
    function.asked.clear()
    return function, model


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=20), st.integers(0, 100))
def test_a_text_is_asked_whole_or_cut_and_long_ones_at_some_beginnings(lengths, seed):
    sizes = np.array(lengths)
    asked = lengths_asked(sizes, np.random.default_rng(seed))
    assert len(asked) == len(sizes)
    for length, places in zip(sizes, asked, strict=True):
        assert 1 <= len(places) <= 1 + beginnings(np.array([length]))[0]
        assert np.all(np.diff(places) > 0)
        assert places[0] >= 1
        assert places[-1] <= length


def test_most_texts_are_asked_whole():
    sizes = np.full(2000, 10)
    asked = lengths_asked(sizes, np.random.default_rng(0))
    assert len(asked.values) == len(sizes)
    assert 0.85 < np.mean(asked.values == 10) < 0.97


def test_outputs_are_those_of_the_places_asked():
    _, model = opinion()
    ids = model.encoder.encode(TEXTS)
    batch = PerturbedBatches(model, ids, SMALL, 0, QueryBudget(5000, model))
    some = batch.numbered(0).take(np.arange(10))
    for item, (text, places) in enumerate(zip(some.texts, some.asked, strict=True)):
        for row, place in enumerate(places):
            expected = model.final(Ragged.from_lists([text[:place].tolist()], np.int32))[0]
            np.testing.assert_allclose(some.outputs[item][row], expected, atol=1e-6)


@pytest.mark.usefixtures("quick_teacher")
@pytest.mark.parametrize("queries", [12, 25, 400])
@pytest.mark.parametrize("method", [SMALL, QUICK, None], ids=["linear", "readable", "chosen"])
def test_the_number_of_queries_is_a_promise(method, queries):
    function, model = opinion()
    candidates = CandidateMethods(linear=SMALL, readable=QUICK)
    limit = {"queries": queries}
    wfa = extract(model, TEXTS, method, **limit) if method else best_of(model, TEXTS, candidates, **limit)
    assert len(function.asked) <= queries
    assert wfa.provenance["queries"]["total"] == len(function.asked)


@pytest.mark.parametrize("limit", range(20, 400, 23))
def test_any_number_of_queries_pays_for_a_first_batch(limit):
    """Also where short texts stand beside long ones, so that words say little about the number of texts."""
    _, model = opinion()
    texts = ["good"] * 300 + ["good plain bad dull poor " * 4] * 30
    ids = model.encoder.encode([texts[at] for at in np.random.default_rng(limit).permutation(len(texts))])
    budget = QueryBudget(limit, model)
    batch = PerturbedBatches(model, ids, SMALL, 0, budget).numbered(0)
    assert 0 < len(batch.asked.values) <= limit
    assert budget.total <= limit


def test_balancing_by_the_predicted_class_is_paid_for_too():
    function, model = opinion()
    extract(model, TEXTS, SMALL, queries=300, balance="predicted")
    assert len(TEXTS) < len(function.asked) <= 300
    with pytest.raises(TooFewQueriesError):
        extract(model, TEXTS, SMALL, queries=100, balance="predicted")


def test_calls_that_fail_are_counted_and_training_goes_on_with_the_answers_there_are():
    function, model = opinion()
    answered = function.__class__.__call__

    class Unreliable(Opinion):
        calls = 0

        def __call__(self, texts: list[str]):
            self.calls += 1
            answers = answered(self, texts)
            return np.full_like(answers, np.nan) if self.calls % 3 == 0 and len(texts) > 1 else answers

    model.predict_texts = unreliable = Unreliable()
    wfa = extract(model, TEXTS, SMALL, queries=400)
    assert wfa.provenance["queries"]["total"] == len(unreliable.asked)


class Slow(Opinion):
    """Takes seconds for a text, on a clock of its own; more from the hundredth on."""

    def __init__(self, seconds, later=None):
        super().__init__()
        self.seconds, self.later, self.now = seconds, later or seconds, 0.0

    def __call__(self, texts: list[str]):
        answers = super().__call__(texts)
        self.now += len(texts) * (self.seconds if len(self.asked) <= 100 else self.later)
        return answers


def slow_model(function):
    return wrap(function, texts=TEXTS, classes=("neg", "pos"), reads="text", name="slow")


def request_within(model, function, seconds):
    deadline = Deadline(seconds, lambda: function.now)
    return Request(model=model, texts=texts_in_memory(model, TEXTS), deadline=deadline)


@pytest.mark.parametrize("later", [None, 4.0], ids=["steady", "slower and slower"])
def test_the_time_holds_for_a_slow_model(later):
    function = Slow(0.2, later)
    model = slow_model(function)
    wfa = SMALL.extract(request_within(model, function, 60.0))
    assert function.now <= 60
    assert len(function.asked) > 60
    assert wfa.provenance["queries"]["total"] <= wfa.provenance["queries"]["limit"] < 10 * len(TEXTS)


def test_the_time_holds_where_the_first_answers_come_from_a_cache(tmp_path):
    function = Slow(0.2)
    model = slow_model(function)
    model.cache = AnswerCache(tmp_path / "answers")
    model.predict_proba(TEXTS)
    function.now = 0.0
    SMALL.extract(request_within(model, function, 60.0))
    assert function.now <= 60


def test_a_model_that_is_too_slow_for_the_time_is_refused_early():
    function = Slow(10.0)
    with raises("too-slow"):
        SMALL.extract(request_within(slow_model(function), function, 60.0))
    assert function.now < 60


def test_by_default_a_text_costs_a_few_calls_and_a_word_one():
    function, model = opinion()
    extract(model, TEXTS, SMALL)
    assert len(function.asked) <= 10 * len(TEXTS) + len(model.encoder.vocabulary)


def test_unchanged_words_are_shown_as_they_are_written():
    texts = [f"{text.capitalize()}!" for text in TEXTS]
    function, model = opinion(TEXTS)
    extract(model, texts, SMALL, queries=600)
    assert any(text.endswith("!") and text[0].isupper() for text in function.asked)


def test_a_readable_automaton_is_fitted_to_the_linear_one_and_asks_the_model_nothing_more():
    function, model = opinion()
    linear = extract(model, TEXTS, SMALL, queries=600)
    before = len(function.asked)
    wfa = QUICK.extract(Request(model=model, texts=texts_in_memory(model, TEXTS), teacher=linear))
    assert len(function.asked) == before
    assert wfa.provenance["teacher"] == "linear"
    assert wfa.provenance["model"]["fingerprint"] == "opinion"


@pytest.mark.parametrize("queries", [1, 8])
def test_too_few_queries_are_refused_before_the_model_is_asked(queries):
    function, model = opinion()
    with pytest.raises(TooFewQueriesError):
        extract(model, TEXTS, SMALL, queries=queries)
    assert not function.asked
