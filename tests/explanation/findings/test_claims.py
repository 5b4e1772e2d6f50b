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
from wfalens.explanation import opinion_lines
from wfalens.explanation.findings.claims import estimate
from wfalens.models.adapters.functions import FunctionClassifier
from wfalens.text import Corpus, TextEncoder

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
        for example in [one for given in each.examples for one in (given, given.before) if one is not None]:
            (output,) = model.predict_proba([example.text])
            assert example.output == pytest.approx(output, abs=1e-3)
            assert example.class_name == NAMES[int(np.argmax(output))]


def test_the_planted_artefact_is_named_and_its_figure_is_that_of_inserting_it(asked):
    model, _, new, found = asked("artefact")
    (word,) = [each for each in found if each.code.startswith("misleading")]
    assert (word.code, word.kind, word.link) == ("misleading:positive", "dangerous", ARTEFACT)
    negative = [text for text in new.texts if ARTEFACT not in text.split()]
    turned = [f"{text} {ARTEFACT}" for text in negative if model.predict([text])[0] == "negative"]
    assert word.low <= np.mean(model.predict(turned) == "positive") <= word.high
    assert all(ARTEFACT in each.text.split() for each in word.examples)
    for each in word.examples:
        assert each.before.text.split() == [other for other in each.text.split() if other != ARTEFACT]
        assert (each.class_name, each.before.class_name, each.before.truth) == ("positive", "negative", "negative")
        assert each.answer.startswith("positive")
        assert f"; without “{ARTEFACT}” negative" in each.answer
    real = [text for text, label in zip(new.texts, new.labels, strict=True) if ARTEFACT in text.split() and label == 0]
    assert f"it takes {(model.predict(real) == 'positive').sum()} of {len(real)} with" in word.claim


def test_an_example_that_is_a_text_with_a_label_shows_it(asked):
    _, _, new, found = asked("plain")
    labels = {
        text: NAMES[label]
        for each in (corpus("plain", 400, 0), new)
        for text, label in zip(each.texts, each.labels, strict=True)
    }
    for each in found:
        for example in each.examples:
            assert example.truth == labels.get(example.text)


def test_a_gap_between_confidence_and_accuracy_of_eight_points_in_two_thousand_texts_is_found():
    new = corpus("plain", 2000, 1, taught=False)
    sides = dict(zip(new.texts, rule_model("plain", new).predict_proba(new.texts).argmax(1), strict=True))
    is_right = np.random.default_rng(0).random(len(new)) < 0.84
    labels = np.array(
        [sides[text] if good else 1 - sides[text] for text, good in zip(new.texts, is_right, strict=True)]
    )
    model = answering(lambda tokens: 0.92 if sides.get(" ".join(tokens)) else 0.08, new.texts)
    wfa = wl.extract(model, new, wl.Paper(states=2))
    found = wl.findings(wfa, model, Corpus(new.texts, labels, NAMES, "sure"), queries=QUERIES)
    (gap,) = [each for each in found if each.code == "calibration"]
    assert gap.figure == pytest.approx(0.92 - np.mean(is_right), abs=1e-6)
    assert gap.low > 0.05


def test_the_accuracy_is_the_models_on_the_new_texts(asked):
    model, _, new, found = asked("plain")
    (accuracy,) = [each for each in found if each.code == "accuracy"]
    assert accuracy.figure == np.mean(model.predict(new.texts) == np.array(NAMES)[new.labels])
    assert accuracy.n == len(new)


def test_findings_are_plain_data_in_a_stable_form(asked):
    found = asked("plain")[3].to_dict()
    assert json.loads(json.dumps(found)) == found
    assert set(found) == {"findings", "calls", "skipped"}
    keys = {"code", "kind", "claim", "figure", "low", "high", "n", "unit", "examples", "link", "advice"}
    for each in found["findings"]:
        assert set(each) == keys
        assert each["low"] <= each["figure"] <= each["high"]
        assert all(
            set(example) == {"text", "output", "class", "truth", "before", "added"} for example in each["examples"]
        )


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
    assert queries > 300 or found.skipped
    assert all(each in found.details() for each in found.skipped)


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


def test_a_first_word_that_would_decide_anywhere_is_not_said_to_decide_by_its_place():
    words = ["the", "of", "in", "this", "that"]
    texts = [
        f"{word} {' '.join(words[at % 5 :] + words[: at % 5])}" for at in range(40) for word in POSITIVE + NEGATIVE
    ]
    model = answering(lambda tokens: 0.9 if {*tokens} & {*POSITIVE} else 0.1 if {*tokens} & {*NEGATIVE} else 0.5, texts)
    found = wl.findings(wl.extract(model, texts, wl.Paper(states=2)), model, texts, queries=QUERIES)
    codes = {each.code for each in found}
    assert "order" in codes
    assert "ends" not in codes


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


def answering(answer, texts, tokenizer="basic_english"):
    """A model whose probability of the second class is a function of the tokens of a text."""

    def outputs(tokens):
        positive = np.array([answer(each) for each in tokens])
        return np.stack([1 - positive, positive], 1)

    return FunctionClassifier(outputs, TextEncoder.of_texts(texts, tokenizer), NAMES, fingerprint="answering")


def test_a_model_that_praise_does_not_move_is_asked_nothing_about_opinions():
    """Its classes are no opinions, and the negation of one is not the other."""
    first, second = (half + other for half, other in ((POSITIVE[:6], NEGATIVE[:6]), (POSITIVE[6:], NEGATIVE[6:])))
    texts = list(corpus("plain", 600, 0, taught=False).texts)
    texts += ["good bad great terrible best worst love hate happy sad right wrong"]
    model = answering(
        lambda tokens: 1 / (1 + np.exp(2 * sum((word in first) - (word in second) for word in tokens))), texts
    )
    found = wl.findings(wl.extract(model, texts, wl.Paper(states=3)), model, texts, queries=QUERIES)
    assert found
    assert not {"negation", "intensity", "contrast"} & {each.code for each in found}


@pytest.mark.parametrize(
    ("high", "right", "kind"), [(0.6, 1.0, "not_learned"), (0.99, 0.7, "dangerous"), (0.75, 0.75, None)]
)
def test_how_sure_it_is_is_compared_with_how_often_it_is_right(high, right, kind):
    new = corpus("plain", 400, 0, taught=False)
    sides = dict(zip(new.texts, rule_model("plain", new).predict_proba(new.texts).argmax(1), strict=True))
    is_right = np.random.default_rng(0).random(len(new)) < right
    labels = np.array(
        [sides[text] if good else 1 - sides[text] for text, good in zip(new.texts, is_right, strict=True)]
    )
    model = answering(lambda tokens: high if sides.get(" ".join(tokens)) else 1 - high, new.texts)
    wfa = wl.extract(model, new, wl.Paper(states=2))
    found = wl.findings(wfa, model, Corpus(new.texts, labels, NAMES, "sure"), queries=QUERIES)
    claims = [each for each in found if each.code == "calibration"]
    assert [each.kind for each in claims] == ([] if kind is None else [kind])
    for each in claims:
        assert each.figure == pytest.approx(high - np.mean(is_right))


@pytest.mark.parametrize("decisive", [True, False])
def test_of_texts_of_characters_it_is_said_whether_the_end_decides_alone(decisive):
    rng = np.random.default_rng(0)
    names = sorted({"".join(rng.choice(list("abcdeklmno"), rng.integers(6, 10))) for _ in range(400)})
    vowels = set("aeo")
    share = (lambda word: word[-1] in vowels) if decisive else (lambda word: sum(c in vowels for c in word) > 2)
    model = answering(lambda tokens: 0.9 if share(tokens) else 0.1, names, "characters")
    wfa = wl.extract(model, names, wl.Paper(states=2))
    claims = [each for each in wl.findings(wfa, model, names, queries=3000) if each.code == "ends"]
    assert len(claims) == decisive
    if decisive:
        assert claims[0].figure == 1
        assert claims[0].examples[0].class_name == claims[0].examples[1].class_name


def test_examples_bear_out_the_claim(asked):
    """An example of ignored order keeps its class, one of order that matters changes it."""
    for sort, kind in (("plain", "not_learned"), ("order", "learned")):
        (found,) = [each for each in asked(sort)[3] if each.code == "order"]
        assert found.kind == kind
        assert (found.examples[0].class_name == found.examples[1].class_name) == (kind == "not_learned")


def test_a_word_has_the_points_of_the_picture():
    model, train, new = intents(4, 600)
    wfa = wl.extract(model, train, wl.Paper(states=8))
    assert {*train} & {*new}  # the picture shows what it has seen, too
    lines = {line.label: line for line in opinion_lines(model, new).lines}
    shown = {
        (label, push.word): push for label, line in lines.items() for push in (*line.towards, *line.against, *line.idle)
    }
    compared = 0
    for each in wl.findings(wfa, model, new, train=Corpus.of(train)):
        name, _, label = each.code.partition(":")
        if name == "words" and (push := shown.get((label, each.link))):
            compared += 1
            assert each.figure == pytest.approx(push.change, abs=1e-6)
            assert each.low <= push.low <= push.high <= each.high  # all claims hold together
    assert compared


def test_reading_texts_word_by_word_counts_among_the_calls():
    model, train, new = intents(4, 200)
    wfa = wl.extract(model, train, wl.Paper(states=8))
    read = []
    trace = model.trace
    model.trace = lambda ids: read.append(len(ids)) or trace(ids)
    found = wl.findings(wfa, model, new, queries=900)
    assert sum(read) <= found.calls <= 900


def test_no_interval_leaves_what_a_probability_can_change(asked):
    for sort in RULES:
        assert all(-1 <= each.low <= each.figure <= each.high <= 1 for each in asked(sort)[3])


def test_an_interval_covers_a_mean_as_often_as_it_says():
    rng = np.random.default_rng(0)
    means = [estimate(rng.normal(0.02, 0.1, 12), 0.9) for _ in range(2000)]
    assert np.mean([each.low < 0.02 < each.high for each in means]) == pytest.approx(0.9, abs=0.025)
    assert estimate(np.array([0.9, -0.9]), 0.99).high == 1  # no probability changes by more
    shares = [estimate(rng.random(80) < 0.3, 0.9) for _ in range(2000)]
    assert np.mean([each.low < 0.3 < each.high for each in shares]) == pytest.approx(0.9, abs=0.03)


def missing(shares, sizes, names):
    """A model that misses a share of the texts of each class, taking them for the next one; and labelled texts."""
    texts, labels, answers = [], [], {}
    for label, (share, size) in enumerate(zip(shares, sizes, strict=True)):
        for number in range(size):
            texts.append(f"{names[label]} word{number}")
            labels.append(label)
            answers[texts[-1]] = (label + 1) % len(names) if number < share * size else label
    model = wl.wrap(
        lambda given: 0.9 * np.eye(len(names))[[answers.get(text, 0) for text in given]] + 0.1 / len(names),
        texts,
        classes=names,
    )
    corpus = Corpus(tuple(texts), np.array(labels), tuple(names), "missing")
    linear = wl.Linear(layers=1, width=4, factors=4, hidden=8, epochs=1)
    return model, wl.extract(model, corpus, linear, queries=500), corpus


def test_classes_that_are_missed_are_named_and_a_rare_one_comes_first():
    names = ("sport", "world", "health")
    model, wfa, corpus = missing((0.05, 0.45, 0.5), (200, 200, 80), names)
    overused, *found = wl.findings(wfa, model, corpus, queries=QUERIES)
    answers = model.predict_proba(corpus.texts).argmax(1)
    taken = [int(np.sum((answers == at) & (corpus.labels != at))) for at in range(3)]
    assert overused.code == "overused"
    assert overused.figure == max(taken) / 480
    assert f"for “{names[np.argmax(taken)]}” by mistake" in overused.claim
    assert found[0].code == "rare:health"
    assert found[0].figure == 0.5
    assert "misses 50 % of the “health” texts (all classes: 29 %): it takes 50 % for “sport”" in found[0].claim
    missed = {each.code: each.figure for each in found if each.code.startswith(("rare", "confusion"))}
    assert missed == {"rare:health": 0.5, "confusion:world": 0.45}  # sport is missed less often than the mean
    assert all(each.truth == "health" != each.class_name for each in found[0].examples)


def test_a_figure_is_said_with_its_interval_and_the_cases_that_it_rests_on():
    model, wfa, corpus = missing((0.0, 0.4), (300, 300), NAMES)
    (missed,) = [each for each in wl.findings(wfa, model, corpus, queries=QUERIES) if each.code == "confusion:positive"]
    assert (missed.figure, missed.n) == (0.4, 300)
    assert missed.interval.startswith("40 %, 95 %: ")


def test_advice_names_files_that_are_known_and_commands_that_exist(asked):
    _, _, _, found = asked("artefact")
    (word,) = [each for each in found if each.code.startswith("misleading")]
    assert "repair blame AUTOMATON --model MODEL --train TRAIN --texts CORPUS" in word.advice
    named = found.with_files({"automaton": "my films.wfa", "model": "a.rnn", "corpus": "new.csv"})
    (word,) = [each for each in named if each.code.startswith("misleading")]
    assert "repair blame 'my films.wfa' --model a.rnn --train TRAIN --texts new.csv" in word.advice
