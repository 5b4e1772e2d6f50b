"""Extraction that asks back: texts of its own, rounds that never lose, and a proof that holds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from tests import tomita_languages as tomita
from tests.automata import sample
from tests.errors import raises
from tests.robustness.test_dfa import Acceptor
from wfalens.errors import InputError
from wfalens.extraction import Paper, Refinement, Stochastic, extract, refine
from wfalens.extraction.refinement.query_sampler import QuerySampler, boundary_texts
from wfalens.extraction.refinement.refine import (
    Guarantee,
    Refiner,
    Splitting,
    contradictions,
    lower_bound,
    refinement_summary,
)
from wfalens.extraction.states import trace_prefixes
from wfalens.models.inference import last_outputs
from wfalens.ragged import Ragged

SMALL = Refinement(rounds=3, texts=200, samples=300, most_states=16)


def corpus(number=3, texts=60):
    return tomita.generate(number, texts, np.random.default_rng(0), max_length=8)


def base_of(model, texts):
    return model.encoder.encode(texts).nonempty()[1]


def splitting_of(model, method, base, most):
    return Splitting(model, method, lambda method, known: extract(model, known, method), base, most)


def coarse():
    """Too few states for the language, so that there is something to refine."""
    return Stochastic(states=2, abstraction="outputs", completion="probe", alpha=0.0)


@given(st.integers(0, 10**6))
def test_edited_texts_differ_by_one_to_three_edits(seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 7, 12)
    base = Ragged.from_lengths(rng.integers(2, 6, lengths.sum()).astype(np.int32), lengths)
    edited = QuerySampler.of(np.array([0, 0, 1, 1, 1, 1]), base).edited(base, rng)
    for before, after in zip(base, edited, strict=True):
        assert len(after) >= 1
        assert distance(before, after) <= 3
    assert any(distance(before, after) > 0 for before, after in zip(base, edited, strict=True))


def distance(first, second):
    """Levenshtein's, in full."""
    row = list(range(len(second) + 1))
    for at, one in enumerate(first, 1):
        above, row[0] = row[0], at
        for place, other in enumerate(second, 1):
            above, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, above + (one != other))
    return row[-1]


def test_random_texts_follow_the_corpus_in_words_and_lengths():
    base = Ragged.from_lists([[2, 2, 2, 3], [2, 2]], np.int32)
    source = QuerySampler.of(np.bincount(base.values, minlength=6), base)
    drawn = source.drawn(4000, np.random.default_rng(0))
    assert set(np.unique(drawn.values)) == {2, 3}  # words that the corpus does not have are not drawn
    assert drawn.lengths.min() >= 1
    assert abs(np.mean(drawn.lengths) - 3) < 0.3
    alone = QuerySampler.of(np.array([0, 0, 3, 1])).drawn(500, np.random.default_rng(0))
    assert 1 <= alone.lengths.min() < alone.lengths.max() <= 30
    with pytest.raises(InputError, match="no word to make texts from"):
        QuerySampler.of(np.array([4, 4, 0]))


@given(st.integers(1, 400), st.floats(0, 1))
def test_the_bound_is_that_of_clopper_and_pearson(total, share):
    hits = round(share * total)
    bound = lower_bound(hits, total)
    assert 0 <= bound <= hits / total
    if hits:  # at the bound, so many hits or more have a probability of 5 %
        assert binom.sf(hits - 1, total, bound) == pytest.approx(0.05, abs=1e-6)


def test_the_bound_holds_in_nineteen_of_twenty_samples():
    rng, rate, total = np.random.default_rng(0), 0.97, 300
    held = [lower_bound(hits, total) <= rate for hits in rng.binomial(total, rate, 4000)]
    assert 0.945 <= np.mean(held) <= 1
    loose = [lower_bound(hits, total, 0.5) <= rate for hits in rng.binomial(total, rate, 4000)]
    assert np.mean(loose) < 0.8


def test_the_statement_never_rounds_up():
    assert (
        "≥ 98.1 % of texts like these, with 95% confidence (2,000 fresh samples"
        in Guarantee(1973, 2000, "some").sentence()
    )
    assert 0.9814 < lower_bound(1973, 2000) < 0.982


def test_refinement_improves_a_coarse_automaton_and_never_loses():
    model, texts = Acceptor(3), corpus()
    base = base_of(model, texts.texts)
    splitting = splitting_of(model, coarse_open(), base, SMALL.most_states)
    refiner = Refiner(model, base, splitting.extract, SMALL, 0, True, split=splitting.split)
    plain = extract(model, texts, coarse_open())
    course = [plain, *refiner.rounds(plain)]
    rates = [refiner.proof(each).rate for each in course]
    assert rates[0] < 0.9 < rates[-1]
    assert refiner.history[-1].asked == SMALL.texts * len(refiner.history)
    same = refine(coarse_open(), model, texts, SMALL)  # three states cannot do better
    assert refiner.proof(same).rate >= rates[0]
    assert "with 95% confidence (300 fresh samples" in refinement_summary(same.provenance)


def coarse_open():
    return Stochastic(abstraction="lookahead", completion="probe", alpha=0.0, states=3)


def test_a_worse_automaton_is_not_taken():
    model, texts = Acceptor(3), corpus()
    base = base_of(model, texts.texts)
    good = Stochastic(states=8, abstraction="lookahead", completion="probe", alpha=0.0)
    wfa, poor = extract(model, base, good), extract(model, base, coarse())
    refiner = Refiner(model, base, lambda known, states: poor, SMALL, 0, False)
    seen = refiner.ask(refiner.source.drawn(500, np.random.default_rng(3)))
    assert refiner.refined(wfa) is wfa
    assert seen.agrees(wfa).mean() > seen.agrees(poor).mean()


@settings(max_examples=6)
@given(st.integers(0, 30))
def test_what_was_seen_is_never_lost(seed):
    """Whatever new automata are like, agreement on the texts seen does not fall."""
    model = Acceptor(4)
    base = base_of(model, corpus(4, 30).texts)
    candidates = [
        Paper(states=2 + (seed + k) % 3, abstraction="outputs", completion="uniform", alpha=0.0) for k in range(2)
    ]
    automata = [extract(model, base, each) for each in candidates]
    refiner = Refiner(model, base, lambda known, states: automata[1], SMALL, seed, False)
    seen = refiner.ask(concat(base, refiner.source.drawn(100, np.random.default_rng(seed))))
    better = refiner._better(automata[0], base, seen, base.between(0, 0))
    after = better or automata[0]
    assert seen.agrees(after).mean() >= seen.agrees(automata[0]).mean()


def concat(first, second):
    return Ragged.from_lengths(
        np.concatenate([first.values, second.values]), np.concatenate([first.lengths, second.lengths])
    )


def test_states_are_doubled_where_that_pays():
    model, texts = Acceptor(5), corpus(5, 120)
    extractor = Stochastic(abstraction="lookahead", completion="probe", alpha=0.0)
    refiner = Refiner(
        model,
        base_of(model, texts.texts),
        lambda known, states: extract(
            model, known, Stochastic(states=states, abstraction="lookahead", completion="probe", alpha=0.0)
        ),
        Refinement(rounds=3, texts=200, samples=100, most_states=8),
        0,
        True,
    )
    first = extract(
        model, base_of(model, texts.texts), Stochastic(states=2, abstraction="lookahead", completion="probe", alpha=0.0)
    )
    refined = refiner.refined(first)
    assert extractor.name == refined.kind
    assert 3 < refined.states <= 9


@pytest.mark.parametrize("number", [3, 4, 5])
def test_states_are_split_where_the_model_contradicts_them(number):
    """Two prefixes of one state that some rest tells apart become two states."""
    model, texts = Acceptor(number), corpus(number, 120)
    base = base_of(model, texts.texts)
    settled = Stochastic(states=2, abstraction="lookahead", completion="probe", alpha=0.0)
    splitting = splitting_of(model, settled, base, 6)
    wfa = splitting.extract(base, None)
    formed = splitting.formed[wfa]
    labels = last_outputs(model, base).argmax(1)
    differing = base.take(np.flatnonzero(wfa.predict_indices(base) != labels))
    more = contradictions(model, formed, differing)
    assert 1 <= len(more) <= 2  # at most one for each state
    for point in more:
        assert is_contradicted(model, formed, point, base)
    better = splitting.split(base, wfa, differing)
    assert wfa.states < better.states <= 7
    assert np.mean(better.predict_indices(base) == labels) > np.mean(wfa.predict_indices(base) == labels)


def is_contradicted(model, formed, point, texts):
    """Brute force: after some prefix at that point a text ends in another class than after the state's own prefix."""
    state = int(formed.states.assign(point[None])[0])
    for text in texts:
        points = trace_prefixes(model, Ragged.from_lists([text], np.int32), formed.view).points
        for at in np.flatnonzero((points == point).all(1)):
            other = [*formed.prefixes[state], *text[at + 1 :]]
            said = [last_outputs(model, Ragged.from_lists([each], np.int32)).argmax() for each in (text, other)]
            if said[0] != said[1]:
                return True
    return False


def test_nothing_is_split_where_states_are_right():
    model, texts = Acceptor(3), corpus(3, 120)
    base = base_of(model, texts.texts)
    settled = Stochastic(states=8, abstraction="lookahead", completion="probe", alpha=0.0)
    splitting = splitting_of(model, settled, base, 100)
    wfa = splitting.extract(base, None)
    assert len(contradictions(model, splitting.formed[wfa], base)) == 0
    assert splitting.split(base, wfa, base) is None


@pytest.mark.parametrize("seed", range(3))
def test_texts_near_a_decision_are_those_where_the_automaton_is_less_sure(seed):
    wfa = sample("fit", seed, n=4, words=6).wfa
    words = np.arange(2, len(wfa.encoder.vocabulary), dtype=np.int32)
    rng = np.random.default_rng(seed)
    texts = Ragged.from_lengths(rng.choice(words, 60).astype(np.int32), np.full(12, 5))
    source = QuerySampler.of(np.ones(len(wfa.encoder.vocabulary), np.int64), texts)
    near = boundary_texts(wfa, texts, source, 40, rng)
    usual = source.edited(texts.take(rng.integers(0, 12, 400)), rng)
    assert len(near) == 40
    assert wfa.confidence(near).mean() < np.quantile(wfa.confidence(usual), 0.4)


def test_bad_settings_are_refused():
    with pytest.raises(InputError, match="rounds"):
        Refinement(rounds=0)
    with pytest.raises(InputError, match="target"):
        Refinement(target=1.2)
    with pytest.raises(InputError, match="no text with a word in it"):
        refine(coarse(), Acceptor(1), [" "])


def test_labels_cannot_balance_counterexamples():
    with raises("option-conflict", match="counterexamples"):
        refine(coarse(), Acceptor(1), tomita.generate(1, 20, np.random.default_rng(0)), balance="label")
