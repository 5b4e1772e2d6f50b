"""Looking ahead in a model that cannot be stepped: it is asked what it would say after continuations."""

import numpy as np
import pytest

from tests.methods import extracted
from wfalens.extraction import Stochastic, extract
from wfalens.extraction.query_budget import QueryBudget, TooFewQueriesError
from wfalens.extraction.states import (
    Continuations,
    LookAhead,
    Outputs,
    affordable_continuations,
    trace_prefixes,
)
from wfalens.models import wrap
from wfalens.ragged import Ragged
from wfalens.text import TextEncoder, Vocabulary

ENCODER = TextEncoder(Vocabulary.of_words("01"), "whitespace")


def even(token_lists):
    """Whether there is an even number of zeros and of ones (Tomita 5): three of four states give the same output."""
    yes = np.array([words.count("0") % 2 == words.count("1") % 2 == 0 for words in token_lists])
    return np.where(yes[:, None], [0.1, 0.9], [0.9, 0.1])


class Tracing:
    """The same as a model that gives all prefixes of a text in one pass."""

    def __init__(self, model):
        self.model, self.encoder, self.class_names = model, model.encoder, model.class_names
        self.fingerprint, self.scored = "tracing", 0

    def trace(self, ids):
        self.scored += len(ids.values)
        return self.model.trace(ids)


@pytest.fixture
def parity():
    return wrap(even, vocab=ENCODER, classes=("no", "yes"), reads="tokens")


def strings(number, longest, seed):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(["0", "1"], rng.integers(1, longest))) for _ in range(number)]


@pytest.mark.parametrize("kind", [lambda model: model, Tracing])
def test_asking_tells_states_of_equal_output_apart(parity, kind):
    model, longer = kind(parity), strings(300, 30, seed=1)

    def agreement(abstraction):
        options = {"states": 4, "completion": "probe", "alpha": 0.0, "abstraction": abstraction}
        wfa = extracted(model, strings(300, 12, seed=0), **options)
        return np.mean(wfa.predict_indices(longer) == even([text.split() for text in longer]).argmax(1))

    assert agreement("lookahead") == 1
    with pytest.raises(ValueError, match="only 2 different outputs"):
        agreement("outputs")


def test_it_is_tried_where_the_abstraction_is_open_and_chosen_where_it_is_better(parity):
    options = {"states": "auto", "completion": "probe", "alpha": 0.0, "abstraction": "auto"}
    wfa = extracted(parity, strings(300, 12, seed=0), **options)
    assert wfa.provenance["tuning"]["chosen"]["abstraction"] == "lookahead"
    assert {trial["abstraction"] for trial in wfa.provenance["tuning"]["trials"]} == {"outputs", "lookahead"}
    assert wfa.provenance["tuning"]["chosen"]["cr"] == 1


def test_answers_are_those_of_the_prefix_with_the_continuation_behind_it(parity):
    ids = ENCODER.encode(["0 1 1", "1", "0 1"])
    asked = Continuations(ENCODER.encode(["0", "1 1 0"]))
    answers = asked.after_every_word(parity, ids)
    expected = [
        np.concatenate([even([words[:length] + more.split()])[0] for more in ("0", "1 1 0")])
        for words in (["0", "1", "1"], ["1"], ["0", "1"])
        for length in range(1, len(words) + 1)
    ]
    np.testing.assert_allclose(answers, expected, atol=1e-6)


def test_points_are_the_outputs_and_the_answers(parity):
    """Squared distances of the answers are means over the continuations."""
    ids = ENCODER.encode(strings(100, 9, seed=2))
    view = LookAhead.learned(parity, ids, 3, np.random.default_rng(0), QueryBudget(100_000))
    seen = trace_prefixes(parity, ids, view)
    np.testing.assert_allclose(seen.points[:, :2], trace_prefixes(parity, ids, Outputs()).points)
    answers = view.continuations.after_every_word(parity, ids)
    np.testing.assert_allclose(seen.points[:, 2:], answers / np.sqrt(len(view.continuations)), atol=1e-6)


@pytest.mark.parametrize("kind", [lambda model: model, Tracing])
def test_what_is_asked_is_what_was_counted(parity, kind):
    model, texts = kind(parity), strings(60, 9, seed=3)
    ids, budget = ENCODER.encode(texts), QueryBudget(10**6)
    view = LookAhead.learned(model, ids, 3, np.random.default_rng(0), budget)
    trace_prefixes(model, ids, view)
    asked = getattr(model, "scored", None) or parity.queries
    assert asked <= budget.total + len(ids.values)
    whole = extract(model, texts, Stochastic(states=4, abstraction="lookahead", completion="probe", alpha=0.0))
    record, before = whole.provenance["queries"], asked
    asked = (getattr(model, "scored", None) or parity.queries) - before
    assert record["look_ahead"] > 0
    checks_and_pace = 1000
    assert asked <= record["total"] + record["texts"] + checks_and_pace


def test_few_queries_ask_for_fewer_continuations_or_none(parity):
    ids = ENCODER.encode(strings(60, 9, seed=3))
    tokens = len(ids.values)
    allowed = [affordable_continuations(parity, ids, times * tokens) for times in (0, 1, 2, 4, 9)]
    assert allowed == [0, 1, 2, 4, 4]
    with pytest.raises(TooFewQueriesError, match="look ahead needs"):
        LookAhead.learned(parity, ids, 3, np.random.default_rng(0), QueryBudget(100))


def test_continuations_are_drawn_from_the_texts():
    ids = Ragged.from_lists([[2, 3], [2], [3, 3, 2]], np.int32)
    runs = {tuple(ids.values[a:b]) for a in range(6) for b in range(a + 1, 7)}
    asked = Continuations.drawn(ids, 50, 4, np.random.default_rng(0))
    assert {tuple(each) for each in asked.texts} <= runs
    assert set(asked.texts.lengths) == {1, 2, 3, 4}
