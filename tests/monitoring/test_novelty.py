"""Alarms of texts and windows: at the rate that is asked for on usual texts, and nearly always on foreign ones."""

from collections import Counter

import numpy as np
import pytest

from tests.intents import intents
from wfalens.extraction import Stochastic, extract
from wfalens.models import wrap
from wfalens.models.inference import last_outputs
from wfalens.monitoring import Alarms, UsualTexts, Watcher
from wfalens.monitoring.novelty import SIGNALS, Answers, BigramModel, text_signals
from wfalens.monitoring.watcher import (
    CLASS_SHARES,
    STRANGE_TEXTS,
    StreamTest,
    class_p_value,
    likelihood_ratios,
)
from wfalens.ragged import Ragged
from wfalens.text.vocabulary import UNKNOWN


@pytest.fixture(scope="module")
def twenty():
    """A model of 20 intents, its automaton, usual texts, fresh usual texts, and texts of 130 other intents."""
    model, texts, _ = intents(20, 6000)
    wfa = extract(model, texts[:500], Stochastic(states=30, completion="probe", alpha=0.0, abstraction="outputs"))
    foreign = [text for text in intents(150, 3000)[1] if not _own(text) < 40]
    return model, wfa, UsualTexts.of(wfa, model, texts[500:3000]), texts[3000:], foreign[:600]


def _own(text):
    return next(int(word[3:]) for word in text.split() if word.startswith("own"))


def watched(twenty, texts, **options):
    model, wfa, usual, *_ = twenty
    results = Watcher(wfa, model, usual, Alarms(**options)).read(texts)
    lines = [each for each in results if "line" in each]
    return lines, [each["window"] for each in results if "window" in each]


@pytest.mark.parametrize("asked", [0.01, 0.05])
def test_usual_texts_raise_alarms_at_the_rate_that_is_asked_for(twenty, asked):
    lines, windows = watched(twenty, twenty[3], false_alarms=asked, window=100)
    assert asked / 2 <= np.mean([bool(each["alarm"]) for each in lines]) <= asked * 1.5
    assert np.mean([bool(each["alarm"]) for each in windows]) <= 1.5 * asked + 1 / len(windows)


def test_texts_of_other_intents_raise_alarms_and_the_window_names_what_drifted(twenty):
    lines, (window,) = watched(twenty, twenty[4], window=600)
    assert np.mean([bool(each["alarm"]) for each in lines]) > 0.8
    assert STRANGE_TEXTS in window["alarm"]
    assert window["drift"]["line"] < 50  # the sequential test does not wait for the end
    named = [each["name"] for each in window["drift"]["words"]]
    assert named
    assert all(name.startswith("own") for name in named)


def test_a_tenth_of_foreign_texts_is_noticed(twenty):
    mixed = [twenty[4][at] if at % 10 == 0 else twenty[3][at] for at in range(500)]
    _, (window,) = watched(twenty, mixed, window=500)
    assert STRANGE_TEXTS in window["alarm"]


def test_classes_that_became_frequent_are_named(twenty):
    some = [text for text in twenty[3] if _own(text) < 4]  # of two classes
    _, (window, *_) = watched(twenty, some[:200], window=200)
    assert CLASS_SHARES in window["alarm"]
    assert {each["name"] for each in window["drift"]["classes"][:2]} == {"class0", "class1"}


def test_unknown_words_are_rarer_than_any_known_one():
    ids = Ragged.from_lists([[2, UNKNOWN, UNKNOWN, 3], [2, 3, UNKNOWN, UNKNOWN]] * 10, np.int32)
    model = BigramModel(ids, 10)
    alone, after = model.surprise(Ragged.from_lists([[2, 3, UNKNOWN, UNKNOWN]], np.int32))
    assert alone[2] == alone[3] > alone[:2].max()
    assert after[3] == alone[3] > after[:2].max()  # although they often stood side by side


@pytest.mark.parametrize("seed", range(3))
def test_the_bigram_model_is_that_of_counting_by_hand(seed):
    rng = np.random.default_rng(seed)
    texts = [rng.integers(2, 8, rng.integers(1, 6)).tolist() for _ in range(30)]
    words = Counter(word for text in texts for word in text)
    pairs = Counter(pair for text in texts for pair in zip([0, *text], text, strict=False))
    contexts = Counter(first for text in texts for first in [0, *text[:-1]])
    total, types = sum(words.values()), len(words)
    asked = rng.integers(2, 10, 6).tolist()
    alone, after = BigramModel(Ragged.from_lists(texts, np.int32), 10).surprise(Ragged.from_lists([asked], np.int32))
    for at, (first, second) in enumerate(zip([0, *asked], asked, strict=False)):
        expected = (words[second] + types / 10) / (total + types)
        assert np.exp(-alone[at]) == pytest.approx(expected)
        assert np.exp(-after[at]) == pytest.approx((pairs[first, second] + 2 * expected) / (contexts[first] + 2))


def test_a_word_of_one_usual_text_is_unseen_there(twenty):
    """Else every fresh text with a new word would be stranger than all usual ones."""
    model, wfa, *_ = twenty
    texts = ["common1 common2"] * 100 + ["common1 own7"]
    usual = UsualTexts.of(wfa, model, texts)
    assert usual.signals[:, list(SIGNALS).index("unknown words")].tolist() == [0] * 100 + [np.sqrt(0.5)]


def test_a_network_does_not_count_on_its_training_set(twenty):
    model, wfa, _, fresh, foreign = twenty
    usual = UsualTexts.of(wfa, model, fresh, is_training_set=True)
    ids = wfa.ids(foreign)
    answers = Answers.of(wfa, ids, last_outputs(model, ids))
    signals = text_signals(usual.bigrams, answers, ids)
    changed = np.array(signals)
    changed[:, list(SIGNALS).index("unsure network")] += 100
    assert (usual.scores(changed) == usual.scores(signals)).all()
    assert (UsualTexts.of(wfa, model, fresh).scores(changed) > usual.scores(signals)).all()


def test_a_model_of_strings_reads_texts_as_they_are_written():
    def loud(texts):
        return np.array([[0.9, 0.1] if "unheard" in text.split() else [0.2, 0.8] for text in texts])

    texts = ["a good film", "the film", "a film", "good"] * 30
    model = wrap(loud, texts=texts, classes=("loud", "calm"))
    wfa = extract(model, texts, Stochastic(states=2))
    usual = UsualTexts.of(wfa, model, texts)
    loud_one, calm_one = Watcher(wfa, model, usual).read(["a unheard film", "a good film"])
    assert (loud_one["class"], calm_one["class"]) == ("loud", "calm")


def test_shuffled_words_are_told_by_their_order(twenty):
    """Texts that always say one word after another."""
    model, wfa, *_ = twenty
    rng = np.random.default_rng(0)
    starts = rng.integers(0, 17, 400)
    texts = [" ".join(f"common{at + step}" for step in range(4)) for at in starts]
    usual = UsualTexts.of(wfa, model, texts)
    (plain,), (mixed,) = (
        text_signals(usual.bigrams, Answers.of(wfa, ids, last_outputs(model, ids)), ids)
        for ids in (wfa.ids([text]) for text in ("common3 common4 common5 common6", "common6 common4 common3 common5"))
    )
    order = list(SIGNALS).index("word order")
    assert usual.deviations(mixed)[order] > 3 > usual.deviations(plain)[order]


def texts_until_an_alarm(rng, usual, window, false_alarms, most, share=0.0, shift=0.0, lead=0):
    """Normal scores, some of them shifted after the first `lead`; the number of texts that were read."""
    known, test = np.sort(rng.normal(size=usual)), StreamTest(usual, window)
    scores = rng.normal(size=most)
    scores[lead:] += shift * (rng.random(most - lead) < share)
    at_least = usual - np.searchsorted(known, scores)
    return next((at for at, each in enumerate(at_least, 1) if test.add(int(each)) >= 2 / false_alarms), most)


def test_usual_texts_raise_an_alarm_no_more_often_than_is_asked_for():
    """Two windows per false-alarm rate pass on average at least, however few the usual texts are."""
    rng = np.random.default_rng(0)
    for usual, false_alarms in ((100, 0.5), (1000, 0.2)):
        windows = 2 / false_alarms
        waits = [texts_until_an_alarm(rng, usual, 20, false_alarms, round(100 * windows)) for _ in range(150)]
        assert np.mean(waits) >= 20 * windows


@pytest.mark.parametrize(("share", "shift", "most"), [(0.05, 3, 600), (0.1, 2, 400), (0.1, 3, 200), (0.2, 2, 150)])
def test_a_tenth_of_foreign_texts_is_noticed_after_some_hundred(share, shift, most):
    """Windows of 1,000 texts at 1 %: the test need not wait for the end of one, nor begin with one."""
    rng = np.random.default_rng(0)
    for lead in (0, 500):
        waits = [texts_until_an_alarm(rng, 2000, 1000, 0.01, 3000, share, shift, lead) - lead for _ in range(20)]
        assert 0 < np.median(waits) <= most


def test_evidence_is_carried_from_window_to_window():
    """One text in ten a standard deviation stranger: no window of 100 tells it, but many do together."""
    rng = np.random.default_rng(0)
    waits = [texts_until_an_alarm(rng, 4000, 100, 0.05, 5000, 0.1, 1.0) for _ in range(20)]
    assert 200 < np.median(waits) < 2000


def test_changes_of_shares_are_chance_or_not():
    assert class_p_value(np.array([50, 50, 0]), np.array([500, 480, 20])) > 0.05
    assert class_p_value(np.array([90, 10, 0]), np.array([500, 480, 20])) < 1e-6
    assert class_p_value(np.array([3, 0]), np.array([0, 0])) == 1
    same, other = (
        likelihood_ratios(np.array([10.0, 90.0]), np.array([100.0, 900.0])),
        likelihood_ratios(np.array([40.0, 60.0]), np.array([100.0, 900.0])),
    )
    assert same == pytest.approx(0, abs=1e-9)
    assert (other > 30).all()
