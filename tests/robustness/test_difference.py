"""The difference of two automata: by the definitions on random ones, and against planted changes."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.automata import linear_sample, sample, samples
from tests.errors import raises
from wfalens.automaton import StochasticWFA
from wfalens.errors import InputError
from wfalens.explanation import influence
from wfalens.extraction import Stochastic, extract
from wfalens.models import RNNConfig, Trainer
from wfalens.robustness import compare
from wfalens.text import Corpus, TextEncoder, Vocabulary, load_dataset

EXTRACTOR = Stochastic(states=30, completion="probe", alpha=0.0, abstraction="outputs")


def planted(corpus: Corpus, word: str, topic: str) -> Corpus:
    """The same headlines, with a word somewhere in some of one topic's that says nothing about them."""
    wanted, rng = corpus.class_names.index(topic), np.random.default_rng(3)
    texts = []
    for text, label in zip(corpus.texts, corpus.labels, strict=True):
        words = text.split()
        if label == wanted and rng.random() < 0.4:
            words.insert(rng.integers(len(words) + 1), word)
        texts.append(" ".join(words))
    return replace(corpus, texts=tuple(texts))


@pytest.mark.slow
@pytest.mark.parametrize(("word", "where"), [("week", "both"), ("zeugma", "after")])
def test_a_planted_spurious_word_is_on_top(newsroom_wfa, newsroom_model, test_headlines, word, where):
    spoilt = planted(load_dataset("newsroom"), word, "health")
    config = RNNConfig(embedding=32, hidden=32, dropout=0.3)
    model = Trainer(config=config, epochs=8, learning_rate=5e-3).train(spoilt).model
    found = compare(
        newsroom_wfa, extract(model, spoilt, EXTRACTOR), test_headlines, models=(newsroom_model, model), min_count=20
    )
    assert found.words.words[0] == word
    assert found.words.where[0] == where
    moved = found.words.after[0] - found.words.before[0]
    assert found.class_names[moved.argmax()] == "health"
    assert found.fidelity_before.cr.value > 0.9
    assert found.fidelity_after.cr.value > 0.9


def test_an_early_epoch_differs_where_it_has_not_learned_yet(headlines, test_headlines):
    config = RNNConfig(embedding=16, hidden=16, dropout=0.2)
    early, late = (Trainer(config=config, epochs=epochs, learning_rate=1e-2).train(headlines) for epochs in (1, 12))
    assert early.epochs[0] == late.epochs[0]  # the same run, stopped earlier
    automata = [extract(each.model, headlines, EXTRACTOR) for each in (early, late)]
    found = compare(*automata, test_headlines, models=(early.model, late.model))
    assert found.accuracy_after.low > found.accuracy_before.high
    assert found.agreement.cr.value < 0.9
    strength = [np.linalg.norm(scores[:20], axis=1).mean() for scores in (found.words.before, found.words.after)]
    assert strength[1] > 2 * strength[0]
    top = found.texts.top(5)
    assert (top.before.argmax(1) != top.after.argmax(1)).all()
    assert top.model_before is not None
    assert np.all(np.diff(found.texts.divergence) <= 0)


@given(samples(), st.integers(0, 10))
def test_nothing_changes_between_an_automaton_and_itself(item, seed):
    if not (item.wfa.word_counts[2:] > 0).any():
        return
    words = item.wfa.encoder.vocabulary.words[2:]
    texts = [" ".join(np.random.default_rng(seed).choice(words, 4)), words[0], ""]
    found = compare(item.wfa, item.wfa, texts, min_count=1)
    assert found.words.change.max() == 0
    assert found.tables()["Words whose influence changed most (points of probability)"] == []
    assert all(state.distance == 0 and state.before is not None for state in found.states)
    assert found.texts.divergence.max() == 0
    assert len(found.texts) == len({text for text in texts if text})


@pytest.mark.parametrize("seed", range(5))
def test_states_are_matched_at_the_least_total_distance(seed):
    first = sample("uniform", seed, n=4).wfa
    second = with_centres(sample("uniform", seed + 100, n=6).wfa, first, seed)
    found = compare(first, second, min_count=1).states
    pairs = [state for state in found if state.distance is not None]
    assert [(state.before, state.after) for state in pairs if 0 in (state.before, state.after)] == [(0, 0)]
    gap = np.linalg.norm(first.centres[:, None] - second.centres[None], axis=2)
    least = min(
        gap[0, 0] + sum(gap[at + 1, other] for at, other in enumerate(way)) for way in permutations(range(1, 6), 3)
    )
    assert sum(state.distance for state in pairs) == pytest.approx(least)
    assert sorted(state.after for state in found if state.before is None) == sorted(
        set(range(6)) - {state.after for state in pairs}
    )


def test_words_are_compared_by_influence_and_a_word_of_one_reads_as_unknown_in_the_other():
    first = sample("probe", 1, n=5, words=8)
    second = replaced_words(with_centres(sample("probe", 2, n=5, words=8).wfa, first.wfa, 2), {"w0": "new"})
    found = compare(first.wfa, second, min_count=1)
    scores = influence(first.wfa, min_count=1), influence(second, min_count=1)
    at = {word: row for row, word in enumerate(found.words.words)}
    shared = set(scores[0].words) & set(scores[1].words)
    assert shared
    for word in shared:
        np.testing.assert_allclose(found.words.before[at[word]], scores[0].of(word))
        np.testing.assert_allclose(found.words.after[at[word]], scores[1].of(word))
    u = first.wfa.state_frequencies
    unknown = (u @ first.matrix(1) - u) @ first.centres
    np.testing.assert_allclose(found.words.before[at["new"]], unknown, atol=1e-9)
    assert found.words.where[at["new"]] == "after"
    assert np.all(np.diff(found.words.change) <= 0)


def test_classes_may_stand_in_another_order():
    first, second = sample("probe", 4, n=5).wfa, with_centres(sample("probe", 5, n=5).wfa, sample("probe", 4).wfa, 5)
    order = np.random.default_rng(0).permutation(len(second.class_names))
    turned = rebuilt(second, centres=second.centres[:, order], class_names=[second.class_names[at] for at in order])
    texts = Corpus(("w1 w2", "w3 w1 w0"), np.array([0, 1]), second.class_names)
    straight, other = (compare(first, each, texts, min_count=1) for each in (second, turned))
    np.testing.assert_allclose(straight.words.after, other.words.after)
    np.testing.assert_allclose(straight.texts.after, other.texts.after)
    assert [state.distance for state in straight.states] == pytest.approx([state.distance for state in other.states])
    assert straight.agreement.cr == other.agreement.cr
    assert straight.accuracy_after == other.accuracy_after


def test_kinds_may_be_mixed_and_then_probabilities_are_compared():
    linear = linear_sample(0, classes=3).wfa
    stochastic = next(item.wfa for item in (sample("fit", seed) for seed in range(9)) if len(item.wfa.class_names) == 3)
    found = compare(linear, stochastic, ["w0 w1", "w3"], min_count=1)
    assert found.states is None
    assert "directions" in found.states_note
    assert found.to_dict()["unit"] == "probability"
    assert np.abs(found.words.before).max() < 1
    assert np.abs(found.words.before.sum(1)).max() < 1e-9
    assert np.abs(compare(linear, linear, min_count=1).words.before).max() < 1
    assert "directions" in found.to_html()


def test_results_are_data_first(newsroom_wfa, test_headlines):
    found = compare(newsroom_wfa, newsroom_wfa, test_headlines)
    report = found.to_dict(top=3)
    assert [len(report[part]) for part in ("words", "texts", "states")] == [3, 3, 3]
    assert set(report["words"][0]["influence_before"]) == set(newsroom_wfa.class_names)
    assert len(found.to_dict()["words"]) == len(found.to_dataframe()) == len(found.words.words)
    assert len(found.texts.to_dataframe()) == len(found.texts)
    assert f"influence_after.{newsroom_wfa.class_names[0]}" in found.to_dataframe()
    assert "<table" in found._repr_html_()


def test_what_cannot_be_compared_is_refused(newsroom_wfa, newsroom_model):
    before, news_model = newsroom_wfa, newsroom_model
    other = sample("uniform", 0).wfa
    with raises("other-classes"):
        compare(before, other)
    with raises("no-texts"):
        compare(before, before, models=(news_model, None))
    with raises("no-words"):
        compare(before, before, ["", " "])
    linear = linear_sample(0, classes=7).wfa
    with pytest.raises(InputError):
        compare(linear, linear, ["w0"], models=(news_model, None))


def rebuilt(wfa: StochasticWFA, **changes) -> StochasticWFA:
    names = ("encoder", "class_names", "centres", "rows", "completion", "alpha", "state_visits", "word_counts")
    return StochasticWFA(**{**{name: getattr(wfa, name) for name in names}, **changes})


def with_centres(wfa: StochasticWFA, like: StochasticWFA, seed: int) -> StochasticWFA:
    """The same rows with the classes of another automaton."""
    centres = np.random.default_rng(seed).dirichlet(np.ones(len(like.class_names)), wfa.states)
    return rebuilt(wfa, centres=centres, class_names=like.class_names)


def replaced_words(wfa: StochasticWFA, names: dict[str, str]) -> StochasticWFA:
    words = [names.get(word, word) for word in wfa.encoder.vocabulary.words[2:]]
    counts = np.maximum(wfa.word_counts, [0, 1, *[1] * len(words)])
    return rebuilt(wfa, encoder=TextEncoder(Vocabulary.of_words(words), "whitespace"), word_counts=counts)
