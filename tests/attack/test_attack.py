"""Attacks: constraints hold, every status is true, and the guided search beats the controls."""

import numpy as np
import pytest

from wfalens.attack import RECIPES, Arsenal, allowed_candidates, nearest_candidates, run_attack
from wfalens.attack.outcome import FAILED, SKIPPED, SUCCEEDED, Example, Outcome, summary_rows
from wfalens.automaton import WFA
from wfalens.corpus import Corpus, WordVectors, load_dataset, newsroom
from wfalens.errors import InputError
from wfalens.extraction import Extractor
from wfalens.models import RNNClassifier, RNNConfig, Trainer
from wfalens.passes.engines.local import ThreadEngine


@pytest.fixture(scope="module")
def setting(once):
    train = load_dataset("newsroom")
    trainer = Trainer(config=RNNConfig(embedding=24, hidden=24, dropout=0.3), epochs=5, learning_rate=5e-3)
    model = RNNClassifier.load(once("attacked.rnn", lambda path: trainer.train(train).model.save(path)))
    extractor = Extractor.paper(states=25, completion="probe", alpha=0.0)
    wfa = WFA.load(once("attacked.wfa", lambda path: extractor.extract(model, train).save(path)))
    vectors = newsroom.vectors()
    return model, wfa, vectors, load_dataset("newsroom", "test").subset(np.arange(300))


@pytest.fixture(scope="module")
def arsenal(setting):
    _, wfa, vectors, _ = setting
    return Arsenal.prepare(wfa, vectors, 0.6, 1.2, 0.001)


def msq(first, second):
    return float(np.mean(np.square(first - second)))


def test_candidates_keep_both_bounds_and_none_is_missing(setting):
    _, wfa, vectors, _ = setting
    found = allowed_candidates(wfa, vectors, max_semantic=0.7, min_transition=0.003)
    vocabulary = wfa.encoder.vocabulary
    words = [word for word in vocabulary.words[2:] if word in vectors]
    rng = np.random.default_rng(0)
    for first in rng.choice(words, 15, replace=False):
        run = found.of(vocabulary.id_of(first))
        got = {vocabulary.words[word] for word in found.word[run]}
        expected = {
            second
            for second in words
            if second != first
            and msq(vectors[first], vectors[second]) <= 0.7
            and msq(wfa.embedding(first), wfa.embedding(second)) >= 0.003
        }
        assert got == expected
        for at in range(run.start, run.stop):
            other = vocabulary.words[found.word[at]]
            assert found.semantic[at] == pytest.approx(msq(vectors[first], vectors[other]), rel=1e-3, abs=1e-5)
            assert found.transition[at] == pytest.approx(msq(wfa.embedding(first), wfa.embedding(other)), rel=1e-3)


def test_candidates_of_some_words_only_are_those_that_they_have_among_all(setting):
    _, wfa, vectors, _ = setting
    bounds = {"max_semantic": 0.7, "min_transition": 0.003}
    every = allowed_candidates(wfa, vectors, **bounds)
    wanted = np.flatnonzero(every.has_any)[::3].astype(np.int32)
    some = allowed_candidates(wfa, vectors, only=wanted, **bounds)
    np.testing.assert_array_equal(np.flatnonzero(some.has_any), wanted)
    for word in wanted:
        np.testing.assert_array_equal(some.word[some.of(word)], every.word[every.of(word)])
    assert not allowed_candidates(wfa, vectors, only=np.zeros(0, np.int32), **bounds).has_any.any()


def test_stop_words_and_tags_are_respected(setting):
    _, wfa, vectors, _ = setting
    vocabulary = wfa.encoder.vocabulary
    spared = allowed_candidates(wfa, vectors, max_semantic=3.0, spare_stop_words=True)
    assert not spared.has_any[vocabulary.id_of("the")]
    assert vocabulary.id_of("the") not in spared.word
    tagged = allowed_candidates(wfa, vectors, max_semantic=3.0, tag=lambda word: word[0])
    run = tagged.of(vocabulary.id_of("senate"))
    assert run.stop > run.start
    assert {vocabulary.words[word][0] for word in tagged.word[run]} == {"s"}


def test_nearest_candidates_keep_the_same_constraints(setting):
    _, wfa, vectors, _ = setting
    vocabulary = wfa.encoder.vocabulary
    found = nearest_candidates(wfa, vectors, spare_stop_words=True, tag=lambda word: word[0])
    assert not found.has_any[vocabulary.id_of("the")]
    assert vocabulary.id_of("the") not in found.word
    for word in ("senate", "coach", "cancer"):
        run = found.of(vocabulary.id_of(word))
        assert [vocabulary.words[at][0] for at in found.word[run]] == [word[0]]


def test_nearest_candidates_are_the_nearest(setting):
    _, wfa, vectors, _ = setting
    found, vocabulary = nearest_candidates(wfa, vectors), wfa.encoder.vocabulary
    known = vectors.restricted(vocabulary.words[2:])
    for word in ("senate", "coach", "the"):
        run = found.of(vocabulary.id_of(word))
        assert [vocabulary.words[at] for at in found.word[run]] == [known.nearest(word, 1)[0][0]]


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipe_tells_the_truth(setting, arsenal, recipe, k):
    model, wfa, vectors, corpus = setting
    corpus = corpus.subset(np.arange(60))
    outcome = run_attack(recipe, k, arsenal.recipe(recipe, k), model, corpus)
    assert len(outcome.examples) == len(corpus)
    for example, text, label in zip(outcome.examples, corpus.texts, corpus.labels, strict=True):
        truth = corpus.class_names[label]
        before = model.predict_proba([text])[0]
        after = model.predict_proba([" ".join(example.after)])[0]
        assert example.truth == truth
        assert example.label_before == corpus.class_names[before.argmax()]
        assert example.label_after == corpus.class_names[after.argmax()]
        assert example.probability_after == pytest.approx(after.max(), abs=1e-4)
        wrong = {SKIPPED: (True, None), FAILED: (False, False), SUCCEEDED: (False, True)}[example.status]
        assert (example.label_before != truth) == wrong[0]
        if wrong[1] is not None:
            assert (example.label_after != truth) == wrong[1]
        differing = [
            at for at, pair in enumerate(zip(example.before, example.after, strict=True)) if pair[0] != pair[1]
        ]
        assert differing == list(example.changed)
        assert len(differing) <= k
        if recipe != "glove":
            bound = 0.6 if recipe == "weak" else 1.2
            for at in differing:
                old, new = example.before[at], example.after[at]
                assert msq(vectors[old], vectors[new]) <= bound + 1e-5
                assert msq(wfa.embedding(old), wfa.embedding(new)) >= 0.001 - 1e-6


def test_guided_search_beats_controls_and_asks_less_than_greedy(setting, arsenal):
    model, _, _, corpus = setting
    rates = {
        recipe: run_attack(recipe, 1, arsenal.recipe(recipe, 1), model, corpus).summary
        for recipe in ("random-order", "random-word", "strong", "guided-once", "guided", "greedy")
    }
    assert rates["guided-once"].asr_correct > rates["strong"].asr_correct
    assert rates["guided"].asr_correct > max(rates[name].asr_correct for name in ("random-order", "random-word"))
    assert rates["guided"].queries < rates["greedy"].queries
    assert rates["greedy"].asr_correct >= rates["guided"].asr_correct


def test_the_budget_bounds_the_queries(setting, arsenal):
    model, _, _, corpus = setting
    outcome = run_attack("greedy", 2, arsenal.recipe("greedy", 2), model, corpus.subset(np.arange(40)), budget=3)
    assert max(example.queries for example in outcome.examples) <= 3


def test_same_seed_same_attack(setting, arsenal):
    model, _, _, corpus = setting
    part = corpus.subset(np.arange(40))
    runs = [run_attack("random-word", 1, arsenal.recipe("random-word", 1), model, part, seed=3) for _ in range(2)]
    assert runs[0].examples == runs[1].examples


def test_the_outcome_does_not_depend_on_the_engine(setting, arsenal, monkeypatch):
    model, _, _, corpus = setting
    monkeypatch.setattr("wfalens.attack.attacking._TEXTS_AT_ONCE", 16)
    part, search = corpus.subset(np.arange(60)), arsenal.recipe("random-word", 2)
    outcomes = [run_attack("random-word", 2, search, model, part, engine=engine) for engine in (None, ThreadEngine(3))]
    assert outcomes[0].examples == outcomes[1].examples
    assert len(outcomes[0].examples) == 60


def test_summary_by_hand():
    def example(status, changed=(), queries=0):
        return Example(status, ("a", "b"), ("a", "b"), changed, "x", "x", 0.9, "y", 0.8, queries)

    outcome = Outcome(
        "r", 1, (example(SUCCEEDED, (1,), 3), example(FAILED, (), 5), example(SKIPPED), example(SUCCEEDED, (0, 1), 1))
    )
    total = outcome.summary
    assert (total.succeeded, total.failed, total.skipped, total.texts) == (2, 1, 1, 4)
    assert total.asr_all == 0.5
    assert total.asr_correct == pytest.approx(2 / 3)
    assert (total.accuracy_before, total.accuracy_after) == (0.75, 0.25)
    assert total.words_changed == 0.75
    assert total.queries == 3
    assert summary_rows([outcome])[0][2] == "0.500"
    assert str(outcome.examples[0]).splitlines() == ["[[x (90%)]] --> [[y (80%)]]", "a [[b]]", "a [[b]]"]
    assert "[[b]]" in outcome.to_html()
    assert len(outcome.to_dataframe()) == 4
    assert outcome.to_json()["summary"]["succeeded"] == 2


def test_bad_input_is_refused(setting, arsenal):
    model, wfa, vectors, corpus = setting
    with pytest.raises(InputError, match="unknown recipe 'magic'; choose one of glove"):
        arsenal.recipe("magic", 1)
    with pytest.raises(InputError, match="k must lie between 1 and"):
        arsenal.recipe("weak", 0)
    with pytest.raises(InputError, match="at most the strong one"):
        Arsenal.prepare(wfa, vectors, 0.9, 0.5)
    strange = WordVectors(["zz", "yy"], np.eye(2, dtype=np.float32), "strange.txt")
    with pytest.raises(InputError, match=r"strange\.txt has vectors for 0 words"):
        Arsenal.prepare(wfa, strange)
    search = arsenal.recipe("weak", 1)
    with pytest.raises(InputError, match="has no labels"):
        run_attack("weak", 1, search, model, Corpus.of(corpus.texts))
    with pytest.raises(InputError, match="no text with a word"):
        run_attack("weak", 1, search, model, Corpus.of([" "], ["us"], corpus.class_names))


def test_words_without_candidates_leave_the_text_standing(setting, arsenal):
    model, _, _, _ = setting
    corpus = Corpus.of(["zzzz senate zzzz"], ["us"], model.class_names)
    tight = Arsenal.prepare(setting[1], setting[2], 1e-9, 1e-9)
    outcome = run_attack("guided", 2, tight.recipe("guided", 2), model, corpus)
    assert outcome.examples[0].status == FAILED
    assert outcome.examples[0].queries == 0
