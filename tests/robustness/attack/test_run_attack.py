"""Attacks: constraints hold, every status is true, and the guided search beats the controls."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from tests.errors import raises
from wfalens.errors import InputError
from wfalens.explanation import nearness_of
from wfalens.extraction import Paper, extract
from wfalens.models import wrap
from wfalens.robustness.attack import RECIPES, AttackContext, AttackOptions, attack, near_candidates
from wfalens.robustness.attack.attack_result import (
    FAILED,
    SKIPPED,
    SUCCEEDED,
    AttackResult,
    Example,
    RecipeResult,
)
from wfalens.robustness.attack.recipes import Search
from wfalens.robustness.attack.run_attack import Originals, run_attack
from wfalens.text import Corpus, TextEncoder, WordVectors, load_dataset
from wfalens.text.datasets import newsroom

BOUNDS = AttackOptions(weak=0.2, strong=0.3, min_transition=0.001)


@pytest.fixture(scope="module")
def setting(newsroom_model, newsroom_wfa):
    return newsroom_model, newsroom_wfa, newsroom.vectors(), load_dataset("newsroom", "test").subset(np.arange(300))


@pytest.fixture(scope="module")
def near(setting):
    _, wfa, vectors, _ = setting
    return replace(nearness_of(wfa, vectors), reach=20)


@pytest.fixture(scope="module")
def context(setting, near):
    return AttackContext.prepare(setting[1], near, BOUNDS)


def msq(first, second):
    return float(np.mean(np.square(first - second)))


def cosine_distance(first, second):
    return 1 - float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))


def test_candidates_are_the_near_words_with_both_distances(setting, near):
    _, wfa, vectors, _ = setting
    found, vocabulary = near_candidates(wfa, near), wfa.encoder.vocabulary
    assert found.has_any.sum() > 20
    for word in np.flatnonzero(found.has_any)[::7]:
        first, run = vocabulary.words[word], found.of(word)
        assert [vocabulary.words[other] for other in found.word[run]] == [other for other, _ in near.nearest(first, 50)]
        for at in range(run.start, run.stop):
            second = vocabulary.words[found.word[at]]
            assert found.semantic[at] == pytest.approx(cosine_distance(vectors[first], vectors[second]), abs=1e-5)
            assert found.transition[at] == pytest.approx(msq(wfa.embedding(first), wfa.embedding(second)), rel=1e-3)


def test_candidates_of_some_words_only_are_those_that_they_have_among_all(setting, near):
    _, wfa, _, _ = setting
    every = near_candidates(wfa, near)
    wanted = np.flatnonzero(every.has_any)[::3].astype(np.int32)
    some = near_candidates(wfa, near, only=wanted)
    np.testing.assert_array_equal(np.flatnonzero(some.has_any), wanted)
    for word in wanted:
        np.testing.assert_array_equal(some.word[some.of(word)], every.word[every.of(word)])
    assert not near_candidates(wfa, near, only=np.zeros(0, np.int32)).has_any.any()


def test_bounds_are_respected(setting, near):
    _, wfa, _, _ = setting
    every = near_candidates(wfa, near)
    some = every.within(0.1, 0.002)
    kept = (every.semantic <= 0.1) & (every.transition >= 0.002)
    assert 0 < kept.sum() < len(kept)
    np.testing.assert_array_equal(some.word, every.word[kept])
    assert some.start[-1] == kept.sum()


def test_pairs_are_compared_in_small_blocks(setting, near, monkeypatch):
    _, wfa, _, _ = setting
    whole = near_candidates(wfa, near)
    made = []
    matrices = type(wfa).matrices
    monkeypatch.setattr("wfalens.robustness.attack.recipes._FLOATS", 8 * wfa.states**2)
    monkeypatch.setattr(type(wfa), "matrices", lambda self, ids: made.append(len(ids)) or matrices(self, ids))
    np.testing.assert_array_equal(near_candidates(wfa, near).transition, whole.transition)
    assert max(made) <= 8


@pytest.mark.parametrize("states", [3, 60])
def test_quantiles_leave_candidates_whatever_the_size_of_the_automaton(setting, near, states):
    model, _, _, corpus = setting
    wfa = extract(model, load_dataset("newsroom"), Paper(states=states))
    context = AttackContext.prepare(wfa, near)
    for recipe in RECIPES:
        outcome = run_attack(recipe, 1, context.recipe(recipe, 1), Originals.of(model, corpus.subset(np.arange(40))))
        assert outcome.rates.tried > 0


def test_controls_get_as_many_tries_as_what_they_control(setting, context):
    model, _, _, corpus = setting
    for recipe, controls in {"strong": ["random-order", "random-word"], "guided": ["random-tries"]}.items():
        found = {
            name: run_attack(name, 1, context.recipe(name, 1), Originals.of(model, corpus.subset(np.arange(80))))
            for name in [recipe, *controls]
        }
        for control in controls:
            both = zip(found[recipe].examples, found[control].examples, strict=True)
            tries = [(one.queries, other.queries) for one, other in both if one.status == other.status == FAILED]
            assert len(tries) > 5
            assert all(one == other for one, other in tries)


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipe_tells_the_truth(setting, context, recipe, k):
    model, wfa, vectors, corpus = setting
    corpus = corpus.subset(np.arange(60))
    outcome = run_attack(recipe, k, context.recipe(recipe, k), Originals.of(model, corpus))
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
        for at in differing:
            old, new = example.before[at], example.after[at]
            assert cosine_distance(vectors[old], vectors[new]) <= (0.2 if recipe == "weak" else 0.3) + 1e-5
            if recipe != "nearest":
                assert msq(wfa.embedding(old), wfa.embedding(new)) >= 0.001 - 1e-6


def test_guided_search_beats_controls_and_asks_less_than_greedy(setting, context):
    model, _, _, corpus = setting
    rates = {
        recipe: run_attack(recipe, 1, context.recipe(recipe, 1), Originals.of(model, corpus)).rates
        for recipe in ("random-order", "random-word", "strong", "guided-once", "guided", "greedy")
    }
    assert rates["guided-once"].asr_correct > rates["strong"].asr_correct
    assert rates["guided"].asr_correct > max(rates[name].asr_correct for name in ("random-order", "random-word"))
    assert rates["guided"].queries < rates["greedy"].queries
    assert rates["greedy"].asr_correct >= rates["guided"].asr_correct


def test_the_budget_bounds_the_queries(setting, context):
    model, _, _, corpus = setting
    outcome = run_attack(
        "greedy", 2, context.recipe("greedy", 2), Originals.of(model, corpus.subset(np.arange(40))), budget=3
    )
    assert max(example.queries for example in outcome.examples) <= 3


def test_same_seed_same_attack(setting, context):
    model, _, _, corpus = setting
    part = corpus.subset(np.arange(40))
    runs = [
        run_attack("random-word", 1, context.recipe("random-word", 1), Originals.of(model, part), seed=3)
        for _ in range(2)
    ]
    assert runs[0].examples == runs[1].examples


def test_texts_are_attacked_in_batches(setting, context, monkeypatch):
    model, _, _, corpus = setting
    originals, search = Originals.of(model, corpus.subset(np.arange(60))), context.recipe("guided", 2)
    whole = run_attack("guided", 2, search, originals)
    monkeypatch.setattr(sys.modules["wfalens.robustness.attack.run_attack"], "_TEXTS_AT_ONCE", 16)
    assert run_attack("guided", 2, search, originals).examples == whole.examples
    assert len(whole.examples) == 60


@pytest.mark.parametrize("labels", [["yes"] * 4, None])
def test_a_model_is_asked_for_the_texts_as_they_are_once_for_all_recipes(labels):
    asked = []

    def scored(texts: list[str]):
        asked.extend(texts)
        good = np.array([0.1 if "bad" in text else 0.9 if "good" in text else 0.8 for text in texts])
        return np.stack([1 - good, good], 1)

    texts = ["a good film", "the good plot", "good", "a film"]
    encoder = TextEncoder.of_texts([*texts, "bad fine"], "basic_english")
    model = wrap(scored, vocab=encoder, classes=("no", "yes"), reads="text", name="scored")
    wfa = extract(model, texts, Paper(states=2))
    vectors = WordVectors(encoder.vocabulary.words[2:], np.ones((len(encoder.vocabulary) - 2, 2), np.float32))
    asked.clear()
    corpus = Corpus.of(texts) if labels is None else Corpus.of(texts, labels, ("no", "yes"))
    recipes = ("strong", "random-word", "guided")
    found = attack(model, corpus, wfa, recipes, AttackOptions(min_transition=0), vectors=vectors)
    assert [asked.count(text) for text in texts] == [1] * 4
    assert all(each.rates.texts == 4 and each.rates.skipped == 0 for each in found.recipes)


def test_summary_by_hand():
    def example(status, changed=(), queries=0):
        return Example(status, ("a", "b"), ("a", "b"), changed, "x", "x", 0.9, "y", 0.8, queries)

    outcome = RecipeResult(
        "r", 1, (example(SUCCEEDED, (1,), 3), example(FAILED, (), 5), example(SKIPPED), example(SUCCEEDED, (0, 1), 1))
    )
    total = outcome.rates
    assert (total.succeeded, total.failed, total.skipped, total.texts) == (2, 1, 1, 4)
    assert total.asr_all == 0.5
    assert total.asr_correct == pytest.approx(2 / 3)
    assert (total.accuracy_before, total.accuracy_after) == (0.75, 0.25)
    assert total.words_changed == 0.75
    assert total.queries == 3
    assert next(AttackResult("news", 4, "near words", "words", (outcome,)).rows())["success (all)"] == 0.5
    assert str(outcome.examples[0]).splitlines() == ["[[x (90%)]] --> [[y (80%)]]", "a [[b]]", "a [[b]]"]
    assert "66.7%" in repr(outcome)
    assert "<td>a b</td>" in outcome.to_html()
    assert len(outcome.to_dataframe()) == 4
    assert outcome.to_dict()["rates"]["succeeded"] == 2


def test_bad_input_is_refused(setting, context):
    model, wfa, vectors, corpus = setting
    with raises("option-value"):
        context.recipe("magic", 1)
    with raises("option-value"):
        context.recipe("weak", 0)
    with raises("attack-bounds"):
        AttackContext.prepare(wfa, nearness_of(wfa, vectors), AttackOptions(weak=0.9, strong=0.5))
    with pytest.raises(InputError):
        AttackContext.prepare(wfa, nearness_of(wfa, vectors), AttackOptions(weak="weak"))
    search = context.recipe("weak", 1)
    with raises("no-labels"):
        run_attack("weak", 1, search, Originals.of(model, Corpus.of(corpus.texts)))
    with raises("no-words"):
        run_attack("weak", 1, search, Originals.of(model, Corpus.of([" "], ["us"], corpus.class_names)))


def test_the_door_runs_recipes_and_uses_the_models_classes_where_there_are_no_labels(setting):
    model, wfa, vectors, corpus = setting
    part = corpus.subset(np.arange(40))
    options = AttackOptions(weak=0.2, strong=0.3, min_transition=0.001, budget=4)
    result = attack(model, part, wfa, ("guided", "random-tries"), options, vectors=vectors, limit=30)
    assert [each.recipe for each in result.recipes] == ["guided", "random-tries"]
    assert result.texts == len(result["guided"].examples) == 30
    assert result.best is result["guided"]
    assert all(text not in repr(result) for text in part.texts)
    bare = attack(model, list(part.texts), wfa, "guided", options, vectors=vectors)
    assert bare["guided"].rates.skipped == 0
    with raises("no-candidates"):
        attack(model, part, wfa, "guided", AttackOptions(strong=0.0, weak=0.0), vectors=vectors)


def test_a_recipe_without_a_candidate_says_that_nothing_was_tried(setting, near):
    model, wfa, _, _ = setting
    corpus = Corpus.of(["zzzz senate zzzz"], ["us"], model.class_names)
    outcome = run_attack(
        "guided",
        2,
        AttackContext.prepare(wfa, near, AttackOptions(weak=0, strong=0)).recipe("guided", 2),
        Originals.of(model, corpus),
    )
    assert (outcome.examples[0].status, outcome.examples[0].queries) == (FAILED, 0)
    total = outcome.rates
    assert (total.tried, total.asr_all, total.asr_correct, total.accuracy_after) == (0, None, None, None)
    assert "no text has an allowed change" in repr(outcome)


def test_a_model_of_strings_reads_unchanged_words_as_they_were_written():
    class First(Search):
        """Puts "bad" in the first place."""

        rounds = 1

        def proposals(self, target, rng):
            return [[(0, encoder.vocabulary.encode([["bad"]]).values[0])]]

    asked = []

    def scored(texts: list[str]):
        asked.extend(texts)
        good = np.array([0.1 if text.startswith("bad") else 0.9 for text in texts])
        return np.stack([1 - good, good], 1)

    encoder = TextEncoder.of_texts(["a good film", "bad"], "basic_english")
    model = wrap(scored, vocab=encoder, classes=("no", "yes"), reads="text", name="scored")
    result = run_attack(
        "first", 1, First(), Originals.of(model, Corpus.of(["A  GOOD, unheard film!"], ["yes"], ("no", "yes")))
    )
    assert asked == ["A  GOOD, unheard film!", "bad  GOOD, unheard film!"]
    assert [each.status for each in result.examples] == [SUCCEEDED]
