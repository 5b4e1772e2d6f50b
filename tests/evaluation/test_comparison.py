"""Confidence orders agreement; thresholds answer what they promise."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.automata import linear_sample, linear_samples, sample, samples
from wfalens.automaton import UNDECIDED
from wfalens.errors import InputError
from wfalens.evaluation import SelectiveFidelity, measure_fidelity
from wfalens.evaluation.comparison import COVERAGES, wilson
from wfalens.extraction import Stochastic, extract
from wfalens.text import Corpus
from wfalens.text.datasets import newsroom

# few different confidences, so that ties are common
texts = st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]) | st.floats(0, 1), st.booleans()), min_size=1)


def selective_of(pairs) -> SelectiveFidelity:
    confidence, agrees = zip(*pairs, strict=True)
    return SelectiveFidelity.of(np.array(confidence, float), np.array(agrees, bool))


@given(texts)
def test_deciles_partition_the_texts_and_rise(pairs):
    selective = selective_of(pairs)
    deciles = selective.deciles
    assert sum(each.texts for each in deciles) == len(pairs)
    agreed = sum(each.texts * each.cr.value for each in deciles)
    assert agreed == pytest.approx(sum(agrees for _, agrees in pairs))
    total = sum(each.texts * each.confidence for each in deciles)
    assert total == pytest.approx(sum(confidence for confidence, _ in pairs))
    numbers, means = [each.number for each in deciles], [each.confidence for each in deciles]
    assert numbers == sorted(set(numbers))
    assert set(numbers) <= set(range(1, 11))
    assert means == sorted(means)


@given(texts)
def test_equal_confidences_share_a_decile(pairs):
    selective = selective_of([(round(confidence, 1), agrees) for confidence, agrees in pairs])
    assert len(selective.deciles) <= len(np.unique(selective.confidence))


def test_deciles_without_ties_are_tenths():
    rng = np.random.default_rng(0)
    selective = SelectiveFidelity.of(rng.permutation(400) / 400, rng.random(400) < 0.5)
    assert [each.texts for each in selective.deciles] == [40] * 10
    lowest = selective.deciles[0]
    assert lowest.confidence == pytest.approx(np.arange(40).mean() / 400)
    assert lowest.cr == wilson(int(selective.agrees[-40:].sum()), 40)


@given(texts, st.floats(0.001, 1))
def test_a_threshold_answers_the_coverage_and_no_more_than_ties_need(pairs, coverage):
    selective = selective_of(pairs)
    found = selective.select(coverage=coverage)
    confidence, agrees = (np.array(column) for column in zip(*pairs, strict=True))
    answered = confidence >= found.min_confidence
    assert found.texts == answered.sum()
    assert found.coverage == answered.mean() >= coverage - 1e-9
    assert found.cr == wilson(int(agrees[answered].sum()), int(answered.sum()))
    surer = confidence > found.min_confidence + 1e-9
    assert surer.sum() < max(1, coverage * len(pairs) + 1e-6)  # without the last ties it would not be enough


@given(texts)
def test_thresholds_survive_printing(pairs):
    selective = selective_of(pairs)
    for found in selective.curve:
        again = selective.select(min_confidence=float(f"{found.min_confidence:.9f}"))
        assert (again.texts, again.cr) == (found.texts, found.cr)


@given(texts, st.floats(0, 1))
def test_the_rate_is_reached_at_the_largest_coverage(pairs, rate):
    selective = selective_of(pairs)
    found = selective.select(min_cr=rate)
    confidence, agrees = (np.array(column) for column in zip(*pairs, strict=True))
    for threshold in np.unique(np.floor(confidence * 1e9) / 1e9):
        answered = confidence >= threshold
        if wilson(int(agrees[answered].sum()), int(answered.sum())).low >= rate:
            assert found is not None
            assert found.texts == answered.sum()
            return
    assert found is None


def test_one_text():
    selective = SelectiveFidelity.of(np.array([0.3]), np.array([True]))
    (only,) = selective.deciles
    assert (only.texts, only.confidence, only.cr.value) == (1, 0.3, 1)
    assert [(each.texts, each.coverage) for each in selective.curve] == [(1, 1.0)] * len(COVERAGES)
    assert selective.select(min_confidence=0.31) is None


def test_when_all_agree_every_coverage_is_perfect():
    selective = SelectiveFidelity.of(np.linspace(0, 1, 1000), np.ones(1000, bool))
    assert all(each.cr.value == each.cr.high == 1 for each in (*selective.deciles, *selective.curve))
    assert selective.select(min_cr=0.99).coverage == 1
    assert selective.select(min_cr=1.0) is None  # no number of texts proves that


def test_when_all_are_equally_sure_there_is_one_group_and_one_threshold():
    selective = SelectiveFidelity.of(np.full(50, 0.4), np.arange(50) < 25)
    assert [each.texts for each in selective.deciles] == [50]
    assert {each.texts for each in selective.curve} == {50}


def test_the_full_coverage_is_the_overall_rate_and_order_does_not_matter():
    rng = np.random.default_rng(1)
    confidence, agrees = rng.random(300).round(2), rng.random(300) < 0.7
    selective = SelectiveFidelity.of(confidence, agrees)
    assert selective.select(coverage=1.0).cr == wilson(int(agrees.sum()), 300)
    order = rng.permutation(300)
    assert SelectiveFidelity.of(confidence[order], agrees[order]).to_dict() == selective.to_dict()


def test_senseless_wishes_are_refused():
    selective = SelectiveFidelity.of(np.array([0.3]), np.array([True]))
    for coverage in (0.0, -0.1, 1.1, float("nan")):
        with pytest.raises(InputError, match="coverage must be a share"):
            selective.select(coverage=coverage)
    with pytest.raises(InputError, match="at least one text"):
        SelectiveFidelity.of(np.zeros(0), np.zeros(0, bool))


@given(samples() | linear_samples())
def test_confidence_is_the_largest_probability_and_margin_its_lead_over_the_second(item):
    texts = ["w0 w0", "", "zzz w0"]
    outputs = np.sort(item.wfa.predict_proba(texts), axis=1)
    np.testing.assert_allclose(item.wfa.confidence(texts), outputs[:, -1], atol=1e-15)
    np.testing.assert_allclose(item.wfa.margin(texts), outputs[:, -1] - outputs[:, -2], atol=1e-15)


def test_undecided_texts_have_no_margin_and_no_class():
    undecided = 0
    for seed in range(30):
        wfa = sample("null", seed, alpha=0.0).wfa
        texts = [" ".join(pair) for pair in pairwise(wfa.encoder.vocabulary.words[2:])]
        lost = wfa.predict_indices(texts) == UNDECIDED
        undecided += lost.sum()
        assert np.all(wfa.margin(texts)[lost] == 0)
        assert [name is None for name in wfa.predict(texts)] == lost.tolist()
    assert undecided > 10


def test_prediction_is_none_below_the_required_confidence():
    wfa = linear_sample(3, classes=4).wfa
    texts = [f"w{first} w{second}" for first in range(7) for second in range(7)]
    plain, confidence = wfa.predict_indices(texts), wfa.confidence(texts)
    threshold = float(np.median(confidence))
    np.testing.assert_array_equal(
        wfa.predict_indices(texts, threshold), np.where(confidence >= threshold, plain, UNDECIDED)
    )
    assert 0 < np.sum(wfa.predict_indices(texts, threshold) == UNDECIDED) < len(texts)


@pytest.fixture(scope="module")
def measured(news_model, headlines, test_headlines):
    wfa = extract(news_model, headlines, Stochastic(states=20, completion="probe", alpha=0.0, abstraction="outputs"))
    return wfa, measure_fidelity(wfa, news_model, test_headlines, reference=headlines)


def test_agreement_rises_with_confidence(measured):
    _, fidelity = measured
    rates = [each.cr.value for each in fidelity.selective.deciles]
    assert len(rates) == 10
    assert np.mean(rates[5:]) > np.mean(rates[:5])
    assert rates[0] == min(rates)
    assert fidelity.selective.deciles[0].cr.high < fidelity.selective.select(coverage=0.8).cr.low
    values = [each.cr.value for each in fidelity.selective.curve]
    assert values[0] == fidelity.overall.cr.value
    assert values[0] < values[2] <= values[-1]


def test_a_threshold_chosen_on_some_texts_holds_on_others(measured, news_model):
    wfa, fidelity = measured
    chosen, fresh = fidelity.selective.select(coverage=0.8), newsroom.generate(800, np.random.default_rng(2))
    others = measure_fidelity(wfa, news_model, fresh).selective.select(min_confidence=chosen.min_confidence)
    assert others.coverage == pytest.approx(0.8, abs=0.05)
    assert others.cr.value > fidelity.overall.cr.value


def test_thresholds_from_evaluation_are_those_of_prediction(measured, test_headlines):
    wfa, fidelity = measured
    for found in fidelity.selective.curve:
        answered = wfa.predict_indices(test_headlines.texts, found.min_confidence) != UNDECIDED
        assert answered.sum() == found.texts


def test_tables_and_json_hold_deciles_and_curve(measured, news_model):
    wfa, fidelity = measured
    stored = fidelity.to_dict()["selective"]
    assert [each["coverage"] for each in stored["curve"]] == [each.coverage for each in fidelity.selective.curve]
    assert stored["deciles"][9]["cr"]["low"] == fidelity.selective.deciles[9].cr.low
    frame = fidelity.selective.to_dataframe()
    assert frame.groupby("by").size().to_dict() == {"decile": 10, "coverage": 6}
    assert frame[frame["group"] == "80%"]["cr"].item() == fidelity.selective.select(coverage=0.8).cr.value
    alone = measure_fidelity(wfa, news_model, Corpus.of(["the senate votes"]))
    assert alone.selective.deciles[0].texts == 1
