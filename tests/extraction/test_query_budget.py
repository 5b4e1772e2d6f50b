"""The query budget: kept by the whole extraction, spent as documented, recorded as it was."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.methods import extracted
from wfalens.errors import InputError
from wfalens.extraction import Augmentation, Paper, Stochastic, extract
from wfalens.extraction.completion.probing import affordable, ask, choose_representatives, probing_queries
from wfalens.extraction.query_budget import (
    FITTING_SHARE,
    SEARCH_SHARE,
    QueryBudget,
    TooFewQueriesError,
)
from wfalens.models import wrap
from wfalens.models.checks import check_causal
from wfalens.models.inference import states_after
from wfalens.progress import Progress, shown_on
from wfalens.ragged import Ragged
from wfalens.text.datasets import newsroom


class Counting:
    """A steppable model that counts the prefixes it scores."""

    def __init__(self, model):
        self.model, self.queries = model, 0
        for name in ("class_names", "encoder", "fingerprint", "initial_output", "initial_state"):
            setattr(self, name, getattr(model, name))

    def trace(self, ids):
        self.queries += len(ids.values)
        return self.model.trace(ids)

    def step(self, state, ids):
        self.queries += len(ids)
        return self.model.step(state, ids)

    has_grid = True

    def step_grid(self, state, ids):
        self.queries += len(state) * len(ids)
        return self.model.step_grid(state, ids)

    def state_grid(self, state, ids):
        self.queries += len(state) * len(ids)
        return self.model.state_grid(state, ids)


def closed(model):
    """The same model as a black box, which counts by itself."""

    def score(token_lists):
        return model.trace(model.encoder.vocabulary.encode(token_lists)).last()

    return wrap(score, vocab=model.encoder, classes=model.class_names, reads="tokens")


OPEN = {"states": "auto", "alpha": "auto", "beta": "auto", "abstraction": "auto"}
FIXED = {"states": 4, "alpha": 0.0}


@pytest.mark.parametrize("queries", [None, 2_000, 300_000])
@pytest.mark.parametrize("completion", ["probe", "fit"])
@pytest.mark.parametrize("choice", [FIXED, OPEN], ids=["fixed", "auto"])
def test_what_is_recorded_is_what_was_asked_and_within_the_budget(news_model, headlines, choice, completion, queries):
    ids = news_model.encoder.encode(headlines.texts[:150])
    model, checked = Counting(news_model), Counting(news_model)
    check_causal(checked, ids)
    fitting = {"rounds": 3} if completion == "fit" else {}
    options = {**choice, "completion": completion, "queries": queries, "representatives": 3, **fitting}
    record = extracted(model, ids, **options).provenance["queries"]
    assert model.queries - checked.queries - record["texts"] == record["total"]
    parts = {name: record.get(name, 0) for name in ("look_ahead", "search", "probing", "fitting")}
    assert sum(parts.values()) == record["total"]
    assert parts["probing"] > 0
    assert (parts["search"] > 0) == (choice is OPEN)
    assert (parts["fitting"] > 0) == (completion == "fit")
    if queries is not None:
        assert record["limit"] == queries
        assert record["total"] <= queries
        assert parts["search"] <= SEARCH_SHARE * queries
        if completion == "fit":
            assert parts["probing"] <= (1 - FITTING_SHARE) * queries


@pytest.mark.parametrize("queries", [1_500, 20_000])
@pytest.mark.parametrize("completion", ["probe", "fit"])
@pytest.mark.parametrize("choice", [FIXED, OPEN], ids=["fixed", "auto"])
def test_a_black_box_is_asked_within_its_budget(news_model, headlines, choice, completion, queries):
    def asked(**options):
        model = closed(news_model)
        wfa = extracted(model, headlines.texts[:60], **options)
        return model.queries, wfa.provenance["queries"]

    texts, _ = asked(**FIXED, completion="null")
    fitting = {"rounds": 2} if completion == "fit" else {}
    count, record = asked(**choice, completion=completion, queries=queries, **fitting)
    assert count - texts <= record["total"] <= queries  # recorded from above: texts share beginnings
    assert count - texts > 0.3 * queries  # and it was made use of


def test_probing_asks_a_black_box_for_no_prefix_beside_the_answers(news_model, headlines):
    model = closed(news_model)
    ids = news_model.encoder.encode(headlines.texts[:60])
    path = np.random.default_rng(0).integers(1, 5, len(ids.values)).astype(np.int32)
    chosen = choose_representatives(ids, path, 3, np.random.default_rng(0))
    words = np.arange(1, 50, dtype=np.int32)
    said = ask(model, chosen, None, words)
    assert 0 < model.queries <= probing_queries(model, chosen, len(words)) <= len(chosen.state) * len(words)
    np.testing.assert_allclose(
        said, ask(news_model, chosen, states_after(news_model, chosen.prefixes), words), atol=1e-5
    )


@given(st.integers(1, 10**5), st.integers(2, 8), st.integers(1, 6), st.booleans())
def test_representatives_are_given_up_first_then_the_rarest_words(news_model, queries, states, per_state, steps):
    rng = np.random.default_rng(states)
    ids = Ragged.from_lengths(rng.integers(1, 200, 400).astype(np.int32), np.full(40, 10))
    path = rng.integers(1, states, 400).astype(np.int32) if states > 2 else np.ones(400, np.int32)
    chosen = choose_representatives(ids, path, per_state, rng)
    words, counts = np.arange(1, 200, dtype=np.int32), np.arange(200)[::-1].copy()
    model = news_model if steps else closed(news_model)
    try:
        kept, fewer = affordable(model, words, counts, chosen, queries)
    except TooFewQueriesError:
        assert probing_queries(model, chosen.first(1), 1) > queries
        return
    assert probing_queries(model, fewer, len(kept)) <= queries
    assert 1 in kept
    assert np.all(np.diff(kept) > 0)
    assert 1 <= fewer.per_state <= per_state
    if fewer.per_state < per_state:
        assert probing_queries(model, chosen.first(fewer.per_state + 1), len(words)) > queries
    if len(kept) < len(words):
        assert fewer.per_state == 1
        assert probing_queries(model, fewer, len(kept) + 1) > queries
        assert counts[np.setdiff1d(words, kept)].max() <= counts[kept[kept != 1]].min(initial=10**9)


def test_too_small_a_budget_is_refused_in_a_sentence(news_model, headlines):
    for completion in ("probe", "fit"):
        with pytest.raises(InputError, match="queries do not pay for"):
            extracted(news_model, headlines.texts[:50], states=6, completion=completion, alpha=0.0, queries=7)
    with pytest.raises(InputError, match="look ahead needs"):
        extract(news_model, headlines.texts[:50], Paper(states=3, abstraction="lookahead"), queries=100)


def test_augmented_texts_are_paid_for(news_model, headlines):
    rule = Augmentation(vectors=newsroom.vectors(), epochs=1)
    options = {"states": 4, "completion": "probe", "alpha": 0.0, "augmentation": rule}
    texts = headlines.texts[:200]
    record = extracted(news_model, texts, **options, queries=5000).provenance["queries"]
    assert record["augmentation"] == record["texts"]
    assert record["total"] <= 5000
    with pytest.raises(InputError, match="augmentation needs"):
        extracted(news_model, texts, **options, queries=500)


def test_a_search_is_not_richer_than_the_build(news_model, headlines):
    """The search reads few words, but may not spend on them what the whole alphabet must share."""
    heard = []

    class Ear(Progress):
        def say(self, message):
            heard.append(message)

    with shown_on(Ear()):
        extract(
            news_model,
            headlines.texts[:300],
            Stochastic(states=6, completion="probe", alpha="auto", abstraction="outputs"),
            queries=900,
        )
    assert any("act as <unk>" in message for message in heard)


def test_a_budget_refuses_what_it_cannot_pay():
    budget = QueryBudget(10)
    budget.enter("probing", 6)
    with pytest.raises(TooFewQueriesError, match="only 4 of 10 are left"):
        budget.enter("fitting", 5)
    assert budget.total == 6
    assert budget.to_dict() == {"limit": 10, "total": 6, "texts": 0, "probing": 6}
