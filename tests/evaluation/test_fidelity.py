"""Agreement, its intervals, and the stand-ins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from wfalens.errors import InputError
from wfalens.evaluation import jensen_shannon, measure_fidelity
from wfalens.evaluation.baselines import bag_of_words, majority
from wfalens.evaluation.comparison import MANY, agreement, bootstrap_mean, wilson
from wfalens.extraction import Linear, Paper, Stochastic, extract
from wfalens.models import RNNClassifier, RNNConfig, wrap
from wfalens.text import Corpus


def test_divergence_by_hand():
    same, opposite = np.array([[0.3, 0.7]]), np.array([[1.0, 0.0], [0.0, 1.0]])
    assert jensen_shannon(same, same)[0] == 0
    assert jensen_shannon(opposite[:1], opposite[1:])[0] == pytest.approx(np.log(2))
    half = jensen_shannon(np.array([[1.0, 0.0]]), np.array([[0.5, 0.5]]))[0]
    assert half == pytest.approx(0.5 * (np.log(4 / 3) + 0.5 * np.log(2 / 3) + 0.5 * np.log(2)))


weights = arrays(float, (4, 3), elements=st.floats(0, 1)).map(lambda a: (a + 1e-9) / (a + 1e-9).sum(1, keepdims=True))


@given(weights, weights)
def test_divergence_is_symmetric_and_bounded(a, b):
    forth, back = jensen_shannon(a, b), jensen_shannon(b, a)
    np.testing.assert_allclose(forth, back, atol=1e-12)
    assert np.all(forth >= -1e-12)
    assert np.all(forth <= np.log(2) + 1e-12)


def test_wilson_against_known_values():
    estimate = wilson(81, 263)  # Newcombe 1998, table I: 0.2553 to 0.3662
    assert (round(estimate.low, 4), round(estimate.high, 4)) == (0.2553, 0.3662)
    assert wilson(0, 20).low == 0
    assert wilson(20, 20).high == 1


def test_intervals_of_many_texts_are_those_of_the_bootstrap_without_its_noise():
    rng = np.random.default_rng(0)
    values = rng.beta(0.3, 3, MANY) * np.log(2)  # skewed, as divergences are
    plain, resampled = agreement(values > 1, values, rng).jsd, bootstrap_mean(values, rng)
    width = resampled.high - resampled.low
    assert plain.value == resampled.value
    assert plain.low == pytest.approx(resampled.low, abs=0.05 * width)
    assert plain.high == pytest.approx(resampled.high, abs=0.05 * width)
    assert agreement(values > 1, values, np.random.default_rng(5)).jsd == plain  # nothing is drawn


def test_bootstrap_covers_the_mean_of_most_samples():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(200):
        estimate = bootstrap_mean(rng.exponential(size=100), rng)
        hits += estimate.low <= 1 <= estimate.high
    assert 0.88 <= hits / 200 <= 0.99


@pytest.fixture(scope="module")
def measured(news_model, headlines, test_headlines):
    wfa = extract(news_model, headlines, Stochastic(states=20, completion="probe", alpha=0.0, abstraction="outputs"))
    return wfa, measure_fidelity(wfa, news_model, test_headlines, reference=headlines)


def test_groups_cover_all_texts(measured, test_headlines):
    _, fidelity = measured
    for groups in (fidelity.by_class, fidelity.by_length, fidelity.by_rare_words):
        assert sum(item.texts for item in groups.values()) == len(test_headlines)
        mean = sum(item.texts * item.cr.value for item in groups.values()) / len(test_headlines)
        assert mean == pytest.approx(fidelity.overall.cr.value)


def test_overall_values_are_the_definitions(measured, news_model, test_headlines):
    wfa, fidelity = measured
    ids = news_model.encoder.encode(test_headlines.texts)
    outputs = news_model.trace(ids).last()
    assert fidelity.overall.cr.value == np.mean(wfa.predict_indices(ids) == outputs.argmax(1))
    expected = jensen_shannon(wfa.predict_proba(ids), outputs).mean()
    assert fidelity.overall.jsd.value == pytest.approx(expected)
    assert fidelity.overall.cr.low < fidelity.overall.cr.value < fidelity.overall.cr.high
    assert fidelity.model_accuracy.value == np.mean(outputs.argmax(1) == test_headlines.labels)


def test_stand_ins_are_ordered_as_they_should_be(measured):
    _, fidelity = measured
    assert fidelity.baselines["majority class"].cr.value < fidelity.baselines["bag of words"].cr.value
    assert fidelity.overall.cr.value > fidelity.baselines["majority class"].cr.value


def test_without_reference_the_stand_in_is_cross_fitted(measured, news_model, test_headlines):
    wfa, _ = measured
    fidelity = measure_fidelity(wfa, news_model, test_headlines)
    assert 0.3 < fidelity.baselines["bag of words (5-fold)"].cr.value < 1


def test_a_handful_of_texts_is_enough(measured, news_model):
    wfa, _ = measured
    fidelity = measure_fidelity(wfa, news_model, Corpus.of(["senate votes", "the coach"]))
    assert fidelity.overall.texts == 2
    assert fidelity.model_accuracy is None


@given(arrays(float, (5, 3), elements=st.floats(0.01, 1)).map(lambda a: a / a.sum(1, keepdims=True)))
def test_majority_is_the_most_frequent_class(outputs):
    counts = np.bincount(outputs.argmax(1), minlength=3)
    assert counts[majority(outputs, 1)[0].argmax()] == counts.max()


def test_a_stand_in_that_cannot_be_fitted_is_left_out(measured, news_model, headlines):
    wfa, _ = measured
    fidelity = measure_fidelity(wfa, news_model, headlines.subset(np.arange(5)))
    assert list(fidelity.baselines) == ["majority class"]
    with pytest.raises(InputError, match="no text with a word"):
        measure_fidelity(wfa, news_model, headlines, reference=Corpus.of([" "]))


def test_majority_puts_the_most_frequent_class_on_top():
    outputs = np.array([[0.4, 0.6], [0.4, 0.6], [1.0, 0.0]])
    assert majority(outputs, 2).argmax(1).tolist() == [1, 1]
    np.testing.assert_allclose(majority(outputs, 1).sum(1), 1)


def test_tables_and_json_hold_every_group(measured):
    _, fidelity = measured
    frame = fidelity.to_dataframe()
    assert set(frame["by"]) == {"overall", "class", "length", "rare words", "baseline"}
    assert fidelity.to_dict()["overall"]["cr"]["value"] == fidelity.overall.cr.value


def test_automaton_and_model_must_belong_together(measured, letters, headlines):
    wfa, _ = measured
    config = RNNConfig(embedding=4, hidden=4)
    other = RNNClassifier.untrained(config, letters, ("x", "y"))
    with pytest.raises(InputError, match="are not the model's"):
        measure_fidelity(wfa, other, headlines)
    other = RNNClassifier.untrained(config, letters, wfa.class_names)
    with pytest.raises(InputError, match="another vocabulary"):
        measure_fidelity(wfa, other, headlines)
    with pytest.raises(InputError, match="no text with a word"):
        measure_fidelity(wfa, RNNClassifier.untrained(config, wfa.encoder, wfa.class_names), Corpus.of(["  "]))


def test_a_bag_of_words_leaves_the_order_of_the_texts_alone(news_model, headlines):
    ids = news_model.encoder.encode(headlines.texts[:50])
    words, outputs = ids.values.copy(), news_model.trace(ids).last().astype(np.float64)
    bag_of_words(ids, outputs, ids, len(news_model.encoder.vocabulary))
    np.testing.assert_array_equal(ids.values, words)


def test_a_black_box_is_asked_once_for_each_text(news_model, headlines, test_headlines):
    def score(token_lists):
        return news_model.trace(news_model.encoder.vocabulary.encode(token_lists)).last()

    wfa = extract(news_model, headlines, Paper(states=4))
    known, new = set(headlines.texts[:300]), set(test_headlines.texts)
    reference = Corpus.of(list(headlines.texts[:300]))
    box = wrap(score, vocab=news_model.encoder, classes=news_model.class_names, reads="tokens")
    fidelity = measure_fidelity(wfa, box, test_headlines, reference=reference)
    assert 0 < box.queries <= len(new) + len(known)
    white = measure_fidelity(wfa, news_model, test_headlines, reference=reference)
    assert fidelity.overall.cr == white.overall.cr
    assert {name: item.cr for name, item in fidelity.baselines.items()} == {
        name: item.cr for name, item in white.baselines.items()
    }


def test_cr_and_jsd_print_well_and_compare_as_numbers(measured):
    _, fidelity = measured
    assert fidelity.cr is fidelity.overall.cr
    assert fidelity.jsd.low <= float(fidelity.jsd) == fidelity.jsd.value
    assert 0 < fidelity.jsd < fidelity.cr <= 1
    assert len(repr(fidelity)) < 2000
    assert str(fidelity.cr) in str(fidelity)


def test_a_model_of_texts_is_compared_on_texts_as_they_stand():
    texts = ["a good film", "a bad film", "good plot", "bad plot"] * 10

    def shouting(given: list[str]):
        positive = np.array([0.9 if "!" in text or "good" in text else 0.2 for text in given])
        return np.stack([1 - positive, positive], 1)

    model = wrap(
        shouting, texts=texts, classes=("neg", "pos"), reads="text", tokenizer="basic_english", name="shouting"
    )
    wfa = extract(model, texts, Linear(layers=2, width=4, factors=8, hidden=16, epochs=6), queries=600)
    raw = ["a bad film", "a bad film !", "good plot", "unheard-of bad plot !!"]
    found = measure_fidelity(wfa, model, raw)
    predicted = wfa.predict_proba(raw).argmax(1)
    assert found.cr.value == np.mean(predicted == shouting(raw).argmax(1))
    with_unknown, without = found.by_unknown_words.values()
    assert (with_unknown.texts, without.texts) == (2, 2)
    assert with_unknown.cr.value == np.mean(predicted[[1, 3]] == 1)
