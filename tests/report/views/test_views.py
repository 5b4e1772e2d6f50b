"""The other views: overview, fidelity, sentences, opinion, attacks, comparison; and JSON for all."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.automata import linear_sample, sample
from tests.errors import raises
from tests.language.grammar import Grammar
from tests.studies import HALF, counting_model, letter_texts
from wfalens.evaluation import measure_fidelity
from wfalens.evaluation.language_models import measure_language_model
from wfalens.explanation import explain
from wfalens.extraction import Paper, Stochastic, extract
from wfalens.report import Study, views
from wfalens.report.page import embedded, live_html, report_html, to_json
from wfalens.report.views.attacks_view import _gain
from wfalens.robustness.attack.attack_result import Example, RecipeResult
from wfalens.text import Corpus

NEEDS = {
    "fidelity": ("corpus", "model"),
    "sentences": ("corpus",),
    "opinion": ("corpus", "model"),
    "findings": ("corpus", "model"),
    "attacks": ("corpus", "model", "vectors"),
    "texts": ("corpus",),
    "comparison": ("other",),
}


def test_no_view_is_missing_here():
    assert set(NEEDS) == set(views.JOBS) - {"states"}  # which needs a readable automaton


def test_the_overview_tells_what_there_is(study):
    data = views.overview(study)
    assert data["summary"]["states"] == study.wfa.states
    assert data["words_seen"] == (study.wfa.word_counts[2:] > 0).sum()
    assert data["tokens_seen"] == study.wfa.word_counts[2:].sum()
    assert data["has"] == {
        "model": True,
        "texts": [study.corpus.name, len(study.corpus)],
        "vectors": study.vectors.source,
        "other": study.other_name,
    }
    bare = views.overview(Study("a.wfa", study.wfa))
    assert bare["has"] == {"model": False, "texts": None, "vectors": None, "other": None}


def test_the_overview_tells_a_language_model_from_a_classifier(study):
    speaker = Grammar(7)
    copy = extract(speaker, ["abc", "ab", "cab"], Paper(states=3, abstraction="outputs"))
    assert views.overview(Study("a.wfa", copy))["next_symbol"]
    assert not views.overview(study)["next_symbol"]


def test_fidelity_is_the_measured_one(study):
    data = views.fidelity(study)
    assert data["overall"] == measure_fidelity(study.wfa, study.model, study.corpus).to_dict()["overall"]
    assert (data["texts"], data["of"]) == (300, 300)
    part = views.fidelity(study, 100)
    assert (part["texts"], part["of"]) == (100, 300)


def test_the_fidelity_to_a_language_model_is_measured_on_all_beginnings():
    speaker = Grammar(7)
    texts = Corpus.of(["abc", "ab", "cab", "b", "ca"])
    copy = extract(speaker, texts, Stochastic(states=3))
    heard = Corpus.of(["abc", "caab", "axb"])  # x has no probability
    study = Study("a.wfa", copy, speaker, heard, reference=texts)
    found = views.fidelity(study)["strings"]
    assert found == measure_language_model(copy, speaker, ["abc", "caab"], reference=texts).to_dict()
    assert found["prefixes"] == 4 + 5
    assert views.fidelity(replace(study, reference=None))["strings"]["baselines"] == {}
    assert views.fidelity(replace(study, corpus=Corpus.of(["x"])))["strings"] is None


def test_the_bag_of_words_learns_from_the_extraction_texts_or_is_called_weak(study):
    weak = views.fidelity(study)
    assert "were not given" in weak["baseline_note"]
    missing = views.fidelity(replace(study, reference_missing="old.csv is not there"))
    assert missing["baseline_note"] == "old.csv is not there"
    fair = views.fidelity(replace(study, reference=study.corpus))
    assert fair["baseline_note"] is None
    expected = measure_fidelity(study.wfa, study.model, study.corpus, reference=study.corpus).to_dict()["baselines"]
    assert fair["baselines"] == expected != weak["baselines"]


def test_sentences_are_of_the_sort_that_they_are_offered_as(study):
    data = views.sentences(study, 20)
    assert (data["sampled"], data["of"]) == (len(study.sample), len(study.corpus))
    assert len(data["any"]) == 20
    for item in (*data["any"], *data["disagree"], *data["unsure"]):
        assert item["text"] in study.corpus.texts
        assert item["label"] == study.wfa.class_names[study.wfa.predict_indices([item["text"]])[0]]
        said = study.model.trace(study.wfa.encoder.encode([item["text"]])).last()[0].argmax()
        assert item["model_label"] == study.wfa.class_names[said]
        assert item["truth"] == study.corpus.class_names[study.corpus.labels[study.corpus.texts.index(item["text"])]]
    assert data["disagree"]
    assert all(item["label"] != item["model_label"] for item in data["disagree"])
    least = np.sort(study.wfa.confidence(study.encoded))[:20]
    assert sorted(item["confidence"] for item in data["unsure"]) == pytest.approx(least, abs=6e-4)
    alone = views.sentences(replace(study, model=None), 5)
    assert alone["disagree"] == []
    assert all(item["model_label"] is None for item in alone["any"])


def test_attacks_turn_the_model_over(study):
    data = views.attacks(study, texts=150, examples=10)
    assert data["texts"] == 150
    assert [each["recipe"] for each in data["recipes"]] == ["guided", "random-tries"]
    assert data["examples"]
    encode, names = study.wfa.encoder.vocabulary.encode, study.wfa.class_names
    for example in data["examples"]:
        assert [
            at for at, pair in enumerate(zip(example["before"], example["after"], strict=True)) if len(set(pair)) > 1
        ] == (example["changed"])
        was, became = (study.model.trace(encode([example[side]])).last()[0] for side in ("before", "after"))
        assert names[was.argmax()] == example["label_before"] == example["truth"]
        assert names[became.argmax()] == example["label_after"] != example["truth"]
        assert example["probability_after"] == pytest.approx(became.max(), abs=6e-4)
        for text, side in zip(example["texts"], ("label_before", "label_after"), strict=True):
            assert study.model.predict([text])[0] == example[side]  # what the links open
    per_recipe = [sum(each["recipe"] == recipe["recipe"] for each in data["examples"]) for recipe in data["recipes"]]
    assert max(per_recipe) <= data["shown_per_recipe"] == 10


def test_a_gain_over_random_tries_is_the_paired_difference_with_its_interval():
    def outcome(statuses):
        made = [Example(each, ("a",), ("a",), (), "x", "x", 1.0, "x", 1.0, 1) for each in statuses]
        return RecipeResult("any", 1, tuple(made))

    rng = np.random.default_rng(0)
    guided, control = (np.where(rng.random(160) < rate, "succeeded", "failed") for rate in (47 / 160, 43 / 160))
    found = _gain(outcome([*guided, "skipped"]), outcome([*control, "skipped"]))
    paired = (guided == "succeeded").astype(float) - (control == "succeeded")
    low, high = stats.t.interval(0.95, 159, paired.mean(), paired.std(ddof=1) / 160**0.5)
    assert (found["value"], found["low"], found["high"]) == pytest.approx((paired.mean(), low, high))
    assert not found["shown"]
    clear = _gain(outcome(["succeeded"] * 9 + ["failed"]), outcome(["failed"] * 10))
    assert clear["shown"]
    assert not _gain(outcome(["succeeded"] * 5 + ["failed"]), outcome(["failed"] * 6))["shown"]  # p = 1/16


def test_a_comparison_tells_words_and_the_texts_that_prove_it(study):
    data = views.comparison(study, words=15, texts=6)
    assert (data["before"], data["after"]) == (study.other_name, study.name)
    assert data["texts_read"] == len(study.corpus)
    assert len(data["words"]) == 15
    assert len(data["texts"]) == 6
    for text in data["texts"]:
        assert text["before"] == pytest.approx(study.other.predict_proba([text["text"]])[0], abs=6e-5)
        assert text["after"] == pytest.approx(study.wfa.predict_proba([text["text"]])[0], abs=6e-5)
        assert len(text["model_before"]) == len(text["model_after"]) == 7
    gaps = [text["divergence"] for text in data["texts"]]
    assert gaps == sorted(gaps, reverse=True)
    bare = views.comparison(replace(study, corpus=None))
    assert bare["texts"] == []
    assert bare["words"]


@pytest.mark.parametrize(("view", "missing"), [(view, part) for view, parts in NEEDS.items() for part in parts])
def test_what_a_view_needs_is_said(study, view, missing):
    codes = {"corpus": "no-texts", "model": "no-model", "vectors": "no-vectors", "other": "nothing-to-compare"}
    with raises(codes[missing]):
        getattr(views, view)(replace(study, **{missing: None}))


def test_a_model_of_another_vocabulary_is_refused(study):
    with raises("other-model"):
        Study("a.wfa", study.wfa, counting_model(7))


@pytest.mark.parametrize("view", NEEDS)
def test_every_view_is_ascii_json(study, view):
    text = to_json(getattr(views, view)(study))
    assert text.isascii()
    assert "NaN" not in text
    assert "Infinity" not in text


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("kind", ["stochastic", "linear", "black box"])
def test_every_view_of_every_kind(kind, classes):
    corpus = letter_texts(150, classes)
    model = None
    if kind == "linear":
        wfa = linear_sample(3, classes=classes).wfa
        words = wfa.encoder.vocabulary.words
        corpus = Corpus(tuple(" ".join(words[2 + ord(letter) % 7] for letter in text.split()) for text in corpus.texts))
    elif kind == "black box":
        model = counting_model(classes)
        wfa = extract(model, corpus, Paper(states=9))
    else:
        wfa = next(
            drawn.wfa for seed in range(99) if len((drawn := sample("probe", seed)).wfa.class_names) == min(classes, 4)
        )
        corpus = Corpus(("w0 w1", "w2", "w1 w1 w3"))
    study = Study("a.wfa", wfa, model, corpus)
    text = corpus.texts[0]
    played = views.trace(study, text)
    assert np.allclose(
        np.sum(played["contributions"], 0), np.sum(explain(wfa, text, unit=wfa.unit).values, 0), atol=1e-3
    )
    to_json([played, views.sentences(study), views.counterfactuals(study, text)])
    if model is not None:
        to_json([views.fidelity(study), views.opinion(study)])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(), max_size=20) | st.just("</script><!--" + HALF),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(), max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON)
def test_data_in_a_page_is_inert_and_survives(data):
    element = embedded({"data": data})
    inner = element.removeprefix('<script type="application/json" id="data">').removesuffix("</script>")
    assert element.isascii()
    assert not set("<>&") & set(inner)
    assert json.loads(inner) == {"data": data}


def test_a_name_cannot_leave_the_title():
    for page in (live_html("</title><script>alert(1)</script>\udcff"), report_html("</title><b>\udcff", {})):
        assert page.count("</title>") == 1
        assert "<script>alert" not in page
        page.encode()  # a file name that is no UTF-8 has halves of surrogate pairs in it


def test_numbers_that_are_none_are_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json({"value": float("nan")})
