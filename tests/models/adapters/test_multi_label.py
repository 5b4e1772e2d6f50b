"""One automaton for all labels of a model that gives a text several, each with a probability of its own."""

import json
from inspect import getsource

import numpy as np
import pytest

import wfalens as wl
from tests.commands import ok, wfalens
from tests.errors import raises
from tests.models.conformance import WholeTextConformance
from wfalens.models import wrap

LABELS = ("insult", "threat", "praise")
WEIGHTS = {"fool": (3, 0, 0), "kill": (0, 3, 0), "nice": (-1, -1, 3), "not": (-2, 0, -2)}
WORDS = (*WEIGHTS, "you", "the", "day")
TEXTS = [" ".join(np.random.default_rng(seed).choice(WORDS, 2 + seed % 5)) for seed in range(240)]
TEST = [" ".join(np.random.default_rng(seed).choice(WORDS, 2 + seed % 5)) for seed in range(1000, 1100)]


def logits(text):
    return np.sum([(-1, -1, -1), *(WEIGHTS.get(word, (0, 0, 0)) for word in text.split())], 0)


def shares(texts):
    return 1 / (1 + np.exp(-np.array([logits(text) for text in texts])))


class TestSeveralLabels(WholeTextConformance):
    @pytest.fixture
    def make(self):
        def make(seed, encoder):
            factors = np.random.default_rng(seed).normal(size=(128, 2))
            return wrap(
                lambda texts: [1 / (1 + np.exp(factors[list(text.encode())].sum(0))) for text in texts],
                vocab=encoder,
                labels=("x", "y"),
                reads="text",
            )

        return make

    def test_texts_are_classified_by_name(self, model):
        rows = model.label_probabilities(["a b c", "d"])
        expected = [tuple(label for label, p in zip("xy", row, strict=True) if p > 0.5) for row in rows]
        assert model.predict(["a b c", "d"]).tolist() == expected


@pytest.fixture(scope="module")
def studied():
    model = wrap(shares, TEXTS, labels=LABELS, reads="text", name="shares")
    method = wl.Linear(layers=2, width=8, factors=8, hidden=32, epochs=10, batch=64)
    return model, wl.extract(model, TEXTS, method, queries=1200)


def test_every_label_has_its_own_probability(studied):
    model, wfa = studied
    np.testing.assert_allclose(model.label_probabilities(TEST), shares(TEST), atol=1e-6)
    np.testing.assert_allclose(model.label("threat").predict_proba(TEST)[:, 1], shares(TEST)[:, 1], atol=1e-6)
    assert wfa.labels == model.labels == LABELS
    assert np.abs(wfa.label_probabilities(TEST) - shares(TEST)).mean() < 0.05
    assert wfa.label_probabilities(TEST).sum(1).std() > 0.1  # they are independent: they do not sum to 1
    rows = zip(wfa.predict(TEST), wfa.label_probabilities(TEST) > 0.5, strict=True)
    assert all(found == tuple(np.array(LABELS)[row]) for found, row in rows)


def test_fidelity_and_explanations_are_by_label(studied):
    model, wfa = studied
    fidelity = wfa.fidelity(model, TEST)
    for at, label in enumerate(LABELS):
        agree = (shares(TEST)[:, at] > 0.5) == (wfa.label_probabilities(TEST)[:, at] > 0.5)
        assert fidelity[label].cr.value == pytest.approx(agree.mean())
    assert len(fidelity.to_dataframe().label.unique()) == 3
    explained = wfa.explain("you fool nice", model)
    assert explained["praise"].class_names == ("not praise", "praise")
    full, empty = shares(["you fool nice"])[0, 2], shares([""])[0, 2]
    assert explained["praise"].of_class("praise").sum() == pytest.approx(full - empty, abs=1e-5)


def test_a_label_is_an_automaton_of_its_own_and_survives_the_file(studied, tmp_path):
    _, wfa = studied
    wfa.save(tmp_path / "labels.wfa")
    one = wl.WFA.load(tmp_path / "labels.wfa").label("insult")
    assert one.class_names == ("not insult", "insult")
    np.testing.assert_allclose(one.predict_proba(TEST)[:, 1], wfa.label_probabilities(TEST)[:, 0], atol=1e-6)
    with raises("label"):
        wfa.label("joy")


def test_one_call_answers_for_all_labels(studied, tmp_path):
    model = wrap(shares, TEXTS, labels=LABELS, reads="text", name="shares", cache=tmp_path / "answers")
    before = model.queries
    for label in LABELS:
        model.label(label).predict_proba(TEST)
    assert model.queries - before == len(set(TEST))


@pytest.mark.parametrize("answer", [lambda n: np.full((n, 2), 0.5), lambda n: np.full((n, 3), 2.0)])
def test_what_are_no_probabilities_of_the_labels_is_refused(answer):
    with raises("not-probabilities"):
        wrap(lambda texts: answer(len(texts)), TEXTS, labels=LABELS, reads="text").predict_proba(["a"])


@pytest.mark.parametrize("labels", ["abc", 5, ("x", "x")])
def test_labels_are_a_list_of_different_names(labels):
    with raises("labels" if isinstance(labels, str | int) else "classes"):
        wrap(shares, TEXTS, labels=labels, reads="text")


def test_commands_tell_every_label_or_ask_for_one(studied, tmp_path):
    _, wfa = studied
    wfa.save(tmp_path / "labels.wfa")
    (found,) = json.loads(ok(tmp_path, "predict", "labels.wfa", "you fool", "--json"))
    assert found["insult"] == pytest.approx(wfa.label_probabilities(["you fool"])[0, 0], abs=1e-6)
    explained = json.loads(ok(tmp_path, "explain", "text", "labels.wfa", "you fool", "--json"))
    assert explained["results"].keys() == set(LABELS)
    assert wfalens("explain", "words", "labels.wfa", cwd=tmp_path).returncode == 2
    assert "fool" in ok(tmp_path, "explain", "words", "labels.wfa", "-C", "label=insult")


def test_evaluate_tells_the_fidelity_to_a_function_of_every_label(studied, tmp_path):
    _, wfa = studied
    wfa.save(tmp_path / "labels.wfa")
    code = f"import numpy as np\nWEIGHTS = {WEIGHTS!r}\n{getsource(logits)}\n{getsource(shares)}"
    (tmp_path / "several_labels.py").write_text(code)
    (tmp_path / "test.csv").write_text("\n".join(["text", *TEST]))
    asked = ("evaluate", "labels.wfa", "-m", "several_labels:shares", "-c", "test.csv", "--json")
    found = json.loads(ok(tmp_path, *asked))["results"]
    agree = (shares(TEST) > 0.5) == (wfa.label_probabilities(TEST) > 0.5)
    assert [found[label]["overall"]["cr"]["value"] for label in LABELS] == pytest.approx(agree.mean(0).tolist())
    one = json.loads(ok(tmp_path, *asked, "-C", "label=threat"))
    assert one["overall"]["cr"] == found["threat"]["overall"]["cr"]
