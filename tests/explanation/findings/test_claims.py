"""Every claim is true of the model, every planted fact is claimed, and nothing is claimed of a model that lacks it."""

import json
from dataclasses import replace

import numpy as np
import pytest

import wfalens as wl
from tests.intents import intents, last_classes
from tests.planted import (
    ALLOWED,
    ARTEFACT,
    NAMES,
    NEGATIVE,
    POSITIVE,
    RULES,
    TRUE,
    claimed,
    corpus,
    findings_of,
    polarity,
    rule_model,
)
from wfalens.errors import InputError
from wfalens.explanation.findings.claims import estimate
from wfalens.text import Corpus

QUERIES = 20_000


@pytest.fixture(scope="module")
def asked():
    """asked(sort): a model that follows a rule, its automaton, new texts, and what is found."""
    known = {}

    def made(sort):
        if sort not in known:
            train, new = corpus(sort, 400, 0), corpus(sort, 600, 0, taught=False)
            model = rule_model(sort, train)
            wfa = wl.extract(model, train, wl.Paper(states=2 if sort == "position" else 3))  # as many as outputs
            known[sort] = model, wfa, new, wl.findings(wfa, model, new, train=train, queries=QUERIES)
        return known[sort]

    return made


@pytest.mark.parametrize("sort", RULES)
def test_what_is_planted_is_found_and_nothing_else(asked, sort):
    found = claimed(asked(sort)[3])
    assert found >= TRUE[sort]
    assert found <= TRUE[sort] | ALLOWED.get(sort, set())


@pytest.mark.slow
@pytest.mark.parametrize("sort", RULES)
def test_what_a_network_was_taught_is_found_and_nothing_else(sort):
    accuracy, found = findings_of(sort, seed=0)
    assert accuracy > 0.9 or sort == "artefact"
    assert claimed(found) >= TRUE[sort]
    assert claimed(found) <= TRUE[sort] | ALLOWED.get(sort, set())


@pytest.mark.parametrize("sort", RULES)
def test_examples_have_the_models_own_probabilities(asked, sort):
    model, _, _, found = asked(sort)
    for each in found:
        for example in each.examples:
            (output,) = model.predict_proba([example.text])
            assert example.output == pytest.approx(output, abs=1e-3)
            assert example.class_name == NAMES[int(np.argmax(output))]


def test_the_planted_artefact_is_named_and_its_figure_is_that_of_the_labels(asked):
    model, _, new, found = asked("artefact")
    (word,) = [each for each in found if each.code.startswith("misleading")]
    assert word.link == ARTEFACT
    texts = [(text, label) for text, label in zip(new.texts, new.labels, strict=True) if ARTEFACT in text.split()]
    given = model.predict([text for text, _ in texts]) == "positive"
    excess = np.mean(given.astype(float) - [label == 1 for _, label in texts])
    assert word.low <= excess <= word.high


def test_the_accuracy_is_the_models_on_the_new_texts(asked):
    model, _, new, found = asked("plain")
    (accuracy,) = [each for each in found if each.code == "accuracy"]
    assert accuracy.figure == np.mean(model.predict(new.texts) == np.array(NAMES)[new.labels])
    assert accuracy.n == len(new)


def test_findings_are_plain_data_in_a_stable_form(asked):
    found = asked("plain")[3].to_dict()
    assert json.loads(json.dumps(found)) == found
    assert set(found) == {"findings", "calls", "skipped"}
    keys = {"code", "kind", "claim", "figure", "low", "high", "n", "unit", "examples", "link"}
    for each in found["findings"]:
        assert set(each) == keys
        assert each["low"] <= each["figure"] <= each["high"]
        assert all(set(example) == {"text", "output", "class"} for example in each["examples"])


def test_equal_seeds_give_equal_findings(asked):
    model, wfa, new, found = asked("plain")
    train = corpus("plain", 400, 0)
    assert wl.findings(wfa, model, new, train=train, queries=QUERIES).to_dict() == found.to_dict()


@pytest.mark.parametrize("queries", [300, 2_000])
def test_the_model_is_not_asked_more_often_than_allowed(queries):
    train, new = corpus("plain", 400, 0), corpus("plain", 600, 0, taught=False)
    model = rule_model("plain", train)
    wfa = wl.extract(model, train, wl.Paper(states=3))
    before = model.queries
    found = wl.findings(wfa, model, new, train=train, queries=queries)
    assert model.queries - before <= found.calls <= queries


def test_without_labels_nothing_is_said_of_mistakes(asked):
    model, wfa, new, _ = asked("plain")
    codes = {each.code.partition(":")[0] for each in wl.findings(wfa, model, new.texts, queries=QUERIES)}
    assert not codes & {"accuracy", "confusion", "calibration", "misleading", "labels"}
    assert "negation" in codes


def test_texts_that_were_trained_on_are_no_new_texts(asked):
    model, wfa, new, _ = asked("plain")
    with pytest.raises(InputError) as error:
        wl.findings(wfa, model, new, train=new)
    assert error.value.code == "no-texts"


@pytest.mark.parametrize(("words", "end"), [(12, slice(-2, None)), (12, slice(2)), (3, slice(1))])
def test_words_at_an_end_that_decide_alone_are_named(words, end):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice([*POSITIVE, *NEGATIVE], words)) for _ in range(300)]

    def predict(given: list[str]):
        positive = [sum(map(polarity, text.split()[end])) > 0 for text in given]
        return np.stack([1 - 0.9 * np.array(positive), 0.9 * np.array(positive)], 1)

    model = wl.wrap(predict, texts, classes=NAMES)
    wfa = wl.extract(model, texts, wl.Linear(layers=1, width=4, factors=4, hidden=8, epochs=1), queries=1000)
    (found,) = [each for each in wl.findings(wfa, model, texts, queries=20_000) if each.code == "ends"]
    assert found.figure == 1
    assert ("first" if end.stop else "last") in found.claim


def test_a_model_of_characters_is_asked_what_makes_sense():
    train, new = corpus("plain", 300, 0), corpus("plain", 200, 0, taught=False)
    short = Corpus(tuple(text[:40] for text in train.texts), train.labels, NAMES, "short")
    shape = wl.RNNConfig(embedding=8, hidden=8)
    model = wl.train(short, config=shape, tokenizer="characters", epochs=1).model
    found = wl.findings(wl.extract(model, short, wl.Paper(states=5)), model, new, train=short)
    assert not {each.code.partition(":")[0] for each in found} & {"negation", "inflection", "words", "position"}
    assert "accuracy" in {each.code for each in found}


def test_a_model_of_many_classes_that_reads_short_texts_is_asked_what_makes_sense():
    model, train, new = intents(30, 400)
    labels = [f"class{int(next(word for word in text.split() if word.startswith('own'))[3:]) // 2}" for text in new]
    wfa = wl.extract(model, train, wl.Paper(states=5))
    found = wl.findings(wfa, model, Corpus.of(new, labels, model.class_names), train=Corpus.of(train), queries=4000)
    assert found.calls <= 4000
    (accuracy,) = [each for each in found if each.code == "accuracy"]
    assert accuracy.figure == np.mean(last_classes(model, new) == [int(label[5:]) for label in labels])
    assert not {each.code for each in found} & {"negation", "intensity", "contrast"}  # classes are no opposites


def test_texts_that_fill_what_the_model_reads_leave_no_room_for_more_words(asked):
    train, new = corpus("plain", 400, 0), corpus("plain", 600, 0, taught=False)
    long = Corpus(tuple(" ".join((text.split() * 9)[:30]) for text in new.texts), new.labels, NAMES, "long")
    model = rule_model("plain", train)
    model.encoder = replace(model.encoder, max_length=30)
    wfa = wl.extract(model, train, wl.Paper(states=3))
    assert "length" not in {each.code for each in wl.findings(wfa, model, long, queries=3000)}


def test_words_of_a_class_that_is_the_absence_of_another_are_not_negated():
    """ "not long" is no more toxic than "long": only words of the class that is an opinion tell."""
    train, new = corpus("plain", 400, 0), corpus("plain", 600, 0, taught=False)
    model = rule_model("plain", train, ("nontoxic", "toxic"))
    wfa = wl.extract(model, train, wl.Paper(states=3))
    (found,) = [each for each in wl.findings(wfa, model, new.texts, queries=QUERIES) if each.code == "negation"]
    assert found.kind == "not_learned"
    assert "before a toxic word" in found.claim


def test_an_interval_covers_a_mean_as_often_as_it_says():
    rng = np.random.default_rng(0)
    means = [estimate(rng.normal(0.02, 0.1, 12), 0.9) for _ in range(2000)]
    assert np.mean([each.low < 0.02 < each.high for each in means]) == pytest.approx(0.9, abs=0.025)
    assert estimate(np.array([0.9, -0.9]), 0.99).high == 1  # no probability changes by more
    shares = [estimate(rng.random(80) < 0.3, 0.9) for _ in range(2000)]
    assert np.mean([each.low < 0.3 < each.high for each in shares]) == pytest.approx(0.9, abs=0.03)
