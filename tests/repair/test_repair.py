"""A planted flaw is found, blamed on the texts that taught it, and repaired without harm elsewhere."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.errors import raises
from tests.flaws import PLANTED
from wfalens.evaluation import find_label_errors
from wfalens.models import wrap
from wfalens.models.inference import final_outputs
from wfalens.ragged import Ragged
from wfalens.repair import (
    Plan,
    PlanStep,
    RepairOptions,
    compare_errors,
    errors_of,
    plan_for,
    relabelled,
    repair,
    retrain,
)
from wfalens.repair.blame import blame, turning_weights
from wfalens.repair.repair_model import turning_phrases
from wfalens.text import Corpus, TextEncoder


@pytest.fixture(scope="module")
def found(flaw):
    return blame(flaw.wfa, flaw.model, flaw.train, errors_of(flaw.model, flaw.slice))


def test_errors_turn_on_the_planted_word_and_its_texts_are_blamed(flaw, found):
    assert len(found.errors) >= 20
    assert (found.words[0].word, found.words[0].predicted) == (PLANTED, "health")
    assert found.words[0].taught == len(flaw.rows)
    assert found.words[0].others == 0
    blamed = found.ranked()[: len(flaw.rows)]
    assert np.isin(blamed, flaw.rows).mean() > 0.9
    assert any(PLANTED in reason for each in found.errors for reason in each.reasons)
    turns = [each.turn for each in found.errors if each.predicted == "health" and each.turn is not None]
    assert np.mean([turn.word == PLANTED and turn.at == 0 for turn in turns]) > 0.5


def test_only_texts_of_the_wrong_class_are_blamed(flaw, found):
    for each in found.errors:
        assert {found.label_of(row) for row in each.blamed} <= {each.predicted}
        assert len(each.blamed) == len(each.reasons) <= 5


def test_blame_is_data_first(found):
    data = json.loads(json.dumps(found.to_dict()))
    assert len(data["training_texts"]) == len(found.to_dataframe())
    assert found.scores.sum() == pytest.approx(1, abs=0.05)
    assert "<table" in found._repr_html_()


def test_turning_weights_are_what_the_network_says_without_each_word(flaw):
    ids = flaw.model.encoder.encode(flaw.slice.texts[:3])
    said, truth = np.array([0, 1, 2]), np.array([3, 4, 5])
    weights = turning_weights(flaw.model, ids, said, truth)
    for text in range(3):
        words = ids[text]
        own = final_outputs(flaw.model, Ragged(words, np.array([0, len(words)])))[0]
        for at in range(len(words)):
            left = np.delete(words, at)
            less = final_outputs(flaw.model, Ragged(left, np.array([0, len(left)])))[0]
            lead = (own[said[text]] - own[truth[text]]) - (less[said[text]] - less[truth[text]])
            assert weights[ids.offsets[text] + at] == pytest.approx(max(lead, 0), abs=1e-5)


def test_flipped_labels_are_suspected(flaw):
    rng = np.random.default_rng(0)
    rows = rng.choice(len(flaw.train), 40, replace=False)
    labels = flaw.train.labels.copy()
    labels[rows] = (labels[rows] + 1 + rng.integers(0, 5, len(rows))) % len(flaw.train.class_names)
    suspects = find_label_errors(
        flaw.wfa, flaw.model, Corpus(flaw.train.texts, labels, flaw.train.class_names, flaw.train.name)
    )
    assert np.isin([each.row for each in suspects.errors[:30]], rows).mean() > 0.8
    assert all(each.doubt > 0 and each.label != each.likelier for each in suspects)
    steps = relabelled(suspects, 3.0)
    assert 0 < len(steps) < len(suspects)
    truth = {each.row: flaw.train.class_names[flaw.train.labels[each.row]] for each in suspects}
    assert np.mean([step.label == truth[step.row] for step in steps]) > 0.6


def test_a_repair_halves_the_errors_and_harms_nothing_else(flaw, found):
    plan = plan_for(found, flaw.model, RepairOptions())
    assert plan.count("drop") > 10
    assert plan.count("add") > 10
    before = flaw.model.fingerprint
    repaired = retrain(flaw.model, flaw.train, plan, epochs=3, learning_rate=5e-3)
    assert flaw.model.fingerprint == before
    assert repaired.encoder == flaw.model.encoder
    affected = compare_errors(flaw.model, repaired, flaw.slice, "slice")
    assert affected.errors_after <= affected.errors_before / 2
    assert affected.better
    elsewhere = compare_errors(flaw.model, repaired, flaw.test, "test")
    assert elsewhere.accuracy_after >= elsewhere.accuracy_before - 0.02
    assert json.dumps(affected.to_dict())


def test_a_word_that_is_as_frequent_elsewhere_is_not_swapped(flaw, found):
    common = replace(found.words[0], word="the", errors=len(found.errors), taught=10, others=10 * len(flaw.train))
    assert turning_phrases(replace(found, words=(common, *found.words)))[0] == (PLANTED, "health")
    assert turning_phrases(replace(found, words=(common,))) == []


def test_a_phrase_is_put_into_other_texts_in_its_own_order(flaw, found):
    """Errors may turn on the last word of a phrase more often than on the first."""
    texts = [f"amber {text}" if PLANTED in text else text for text in flaw.train.texts]
    words = (found.words[0], replace(found.words[0], word="amber", errors=found.words[0].errors - 1))
    phrased = replace(found, train=replace(found.train, texts=tuple(texts)), words=words)
    added = [
        step.text.split() for step in plan_for(phrased, flaw.model, RepairOptions()).steps if "in a text of" in step.why
    ]
    together = [tokens for tokens in added if "amber" in tokens]
    assert len(together) == len(added) > 10
    assert all(tokens.index("amber") < tokens.index(PLANTED) for tokens in together)


def test_a_repaired_set_is_what_the_plan_says():
    train = Corpus.of(["a b", "c", "d e"], ["x", "y", "x"])
    steps = (
        PlanStep("drop", 0, "a b", "x", "why"),
        PlanStep("relabel", 2, "d e", "y", "why"),
        PlanStep("add", None, "new", "x", "why"),
    )
    repaired = Plan(steps).apply(train)
    assert repaired.texts == ("c", "d e", "new")
    assert [repaired.class_names[label] for label in repaired.labels] == ["y", "y", "x"]
    assert train.texts == ("a b", "c", "d e")


def test_texts_of_a_pool_that_contradict_the_word_are_added(flaw, found):
    pool = Corpus.of([f"{PLANTED} goal", "goal", f"{PLANTED} vaccine"], ["sport", "sport", "health"])
    pool = pool.relabelled(flaw.train.class_names)
    plan = plan_for(found, flaw.model, RepairOptions(how=("pool",)), pool=pool)
    assert [(step.text, step.label) for step in plan.steps] == [(f"{PLANTED} goal", "sport")]


def test_a_repair_writes_every_step_into_a_new_folder(flaw, tmp_path):
    options = RepairOptions(epochs=1, learning_rate=5e-3)
    planned = repair(flaw.wfa, flaw.model, flaw.train, flaw.slice, None, options)
    assert planned.slices == ()
    assert planned.plan.count("drop") > 10
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with raises("folder"):
        repair(flaw.wfa, flaw.model, flaw.train, flaw.slice, tmp_path / "full", options)


def test_what_cannot_be_blamed_or_repaired_is_refused(flaw, found):
    bare = Corpus(("a text",), None, (), "bare")
    with raises("no-labels"):
        blame(flaw.wfa, flaw.model, bare, flaw.slice)
    with raises("no-labels"):
        errors_of(flaw.model, bare)
    predicted = [flaw.model.class_names[row] for row in flaw.model.predict_proba(list(flaw.test.texts[:5])).argmax(1)]
    right = Corpus.of(flaw.test.texts[:5], predicted, flaw.model.class_names, "right")
    with raises("no-errors"):
        errors_of(flaw.model, right)
    with raises("empty-plan"):
        retrain(flaw.model, flaw.train, Plan(()))
    with raises("option-value"):
        RepairOptions(how=("pray",))
    with raises("no-pool"):
        plan_for(found, flaw.model, RepairOptions(how=("pool",)))


def test_errors_of_a_model_of_strings_are_those_on_the_texts_as_they_stand():
    def shouting(texts: list[str]):
        loud = np.array([0.9 if text.isupper() else 0.1 for text in texts])
        return np.stack([1 - loud, loud], 1)

    encoder = TextEncoder.of_texts(["a film"], "basic_english")
    model = wrap(shouting, vocab=encoder, classes=("calm", "loud"), reads="text", name="shouting")
    corpus = Corpus.of(["A FILM", "a film", "UNHEARD"], ["calm", "calm", "calm"], ("calm", "loud"))
    assert list(errors_of(model, corpus).texts) == ["A FILM", "UNHEARD"]
