"""The sentence player: the same as walk, attribution and the model's own trace; flips that hold when tried."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.automata import linear_sample, linear_samples, samples
from tests.errors import raises
from tests.studies import HALF, SCRIPT, counting_model, extracted, headlines, letter_texts, trained
from wfalens.automaton import sweeps
from wfalens.explanation import explain
from wfalens.extraction import Paper, extract
from wfalens.models.inference import final_outputs, initial_output, jensen_shannon
from wfalens.report import Study
from wfalens.report.page import to_json
from wfalens.report.views import attribution, counterfactuals, trace

TEXTS = st.lists(st.sampled_from(["w0", "w1", "w2", "w3", "unknown", "<pad>", "<unk>"]), max_size=8).map(" ".join)


@given(st.one_of(samples(), linear_samples()), TEXTS)
def test_a_played_text_is_the_walk_and_the_attribution(drawn, text):
    data = trace(Study("a.wfa", drawn.wfa), text)
    to_json(data)
    walk = drawn.wfa.walk(text)
    assert data["words"] == list(walk.words)
    assert data["rows"] == walk.row_kinds
    assert data["label"] == walk.label
    assert np.allclose(data["automaton"], drawn.wfa.probabilities(drawn.wfa.read_out(walk.states)), atol=6e-5)
    assert len(data["automaton"]) == len(walk.words) + 1
    assert "model" not in data
    assert data["truth"] is None
    if walk.words:
        explained = explain(drawn.wfa, text, unit=drawn.wfa.unit)
        assert np.allclose(data["contributions"], explained.values, atol=7e-5)
        total = np.sum(data["contributions"], axis=0)
        assert np.allclose(total, explained.output - explained.base, atol=6e-5 * (len(walk.words) + 1))
        assert data["label"] == explained.label or data["label"] is None


def test_a_played_text_stands_beside_the_model(study):
    truths = [study.wfa.class_names[label] for label in study.corpus.labels]
    for text in (*study.corpus.texts[:5], f"{SCRIPT} {HALF} the match"):
        data = trace(study, text)
        assert to_json(data).isascii()
        ids = study.wfa.encoder.encode([text])
        said = study.model.trace(ids).values
        assert np.allclose(data["model"], [study.model.initial_output, *said], atol=6e-5)
        assert data["model_label"] == study.wfa.class_names[said[-1].argmax()]
        assert data["agrees"] == (data["model_label"] == data["label"])
        gap = jensen_shannon(study.wfa.predict_proba([text]), said[-1:].astype(float))
        assert data["jsd"] == pytest.approx(gap[0], abs=6e-5)
        assert data["confidence"] == pytest.approx(study.wfa.confidence([text])[0], abs=6e-5)
        assert data["truth"] == dict(zip(study.corpus.texts, truths, strict=True)).get(text)


def test_a_text_that_is_cut_says_so():
    corpus = letter_texts(80, 2)
    model = counting_model(2)
    model.encoder = replace(model.encoder, max_length=4)
    wfa = extract(model, corpus, Paper(states=6))
    study = Study("a.wfa", wfa, model)
    assert trace(study, "a b c d e")["cut"] is True
    assert trace(study, "a b c d e")["words"] == ["a", "b", "c", "d"]
    assert trace(study, "a b c d")["cut"] is False


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_a_black_box_has_no_output_before_the_first_word(classes):
    model, corpus = counting_model(classes), letter_texts(120, classes)
    wfa = extract(model, corpus, Paper(states=8))
    study = Study("a.wfa", wfa, model, corpus)
    data = trace(study, "a b c")
    assert len(data["automaton"]) == 4
    assert len(data["model"]) == 3
    empty = trace(study, "")
    assert empty["words"] == []
    assert "model" not in empty
    assert len(empty["automaton"]) == 1
    to_json([data, empty, counterfactuals(study, "a b c")])


@pytest.mark.parametrize("cell", ["gru", "elman"])
def test_other_networks_stand_beside_it(cell):
    corpus = headlines(200, 0)
    model = trained(corpus, 1, cell)
    study = Study("a.wfa", extracted(model, corpus, 6), model, corpus)
    data = trace(study, corpus.texts[0])
    assert len(data["model"]) == len(data["automaton"])


def test_both_readers_tell_why_in_probabilities(study):
    for wfa in (study.wfa, None):
        text = "coach says players win the match today"
        if wfa is None:
            model = counting_model(3)
            linear = linear_sample(1, classes=3).wfa
            words = linear.encoder.vocabulary.words
            model.encoder, model.class_names = linear.encoder, linear.class_names
            text, tested = " ".join(words[2:5]), Study("a.wfa", linear, model)
        else:
            tested = study
        found = attribution(tested, text)
        to_json(found)
        ids = tested.wfa.encoder.encode([text])
        said = final_outputs(tested.model, ids)[0] - initial_output(tested.model)
        assert np.allclose(np.sum(found["network"], 0), said, atol=2e-3)
        own = tested.wfa.predict_proba([text])[0]
        start = tested.wfa.probabilities(tested.wfa.read_out(tested.wfa.initial[None]))[0]
        assert np.allclose(np.sum(found["automaton"], 0), own - start, atol=2e-3)
        assert found["standard_error"] == 0  # short enough for all parts
        assert found["queries"] <= 256


def test_why_needs_the_network(study):
    with raises("no-model"):
        attribution(replace(study, model=None), "the match")


def changed_words(words, change):
    middle = [] if change["new"] is None else [change["new"]]
    return [*words[: change["position"]], *middle, *words[change["position"] + 1 :]]


def check_said(told, output):
    """The likeliest class, or one that is as likely but for rounding."""
    label, share = told
    assert share == pytest.approx(output.max(), abs=6e-4)
    assert output[label] == pytest.approx(output.max(), abs=1e-5)


def check_counterfactuals(study, text):
    """Each change is tried anew, by the automaton and by the model; it turns one of them from its own class."""
    data = counterfactuals(study, text)
    to_json(data)
    words = study.wfa.encoder.tokens(text)
    encode = study.wfa.encoder.vocabulary.encode
    own = study.wfa.predict_proba(encode([words]))[0]
    assert own[data["before"]["automaton"]] == pytest.approx(own.max(), abs=1e-5)
    if study.model is not None:
        assert data["before"]["network"] == final_outputs(study.model, encode([words]))[0].argmax()
    for change in data["changes"]:
        ids = encode([changed_words(words, change)])
        turned = [change["automaton"][0] != data["before"]["automaton"]]
        check_said(change["automaton"], study.wfa.predict_proba(ids)[0])
        if study.model is not None:
            check_said(change["network"], final_outputs(study.model, ids)[0])
            turned.append(change["network"][0] != data["before"]["network"])
        assert any(turned)
    positions = [change["position"] for change in data["changes"]]
    assert positions == sorted(positions)
    return data


def test_counterfactuals_hold_when_tried(study):
    found = [check_counterfactuals(study, text) for text in study.corpus.texts[:8]]
    assert sum(len(data["changes"]) for data in found) > 8
    assert any(change["new"] is None for data in found for change in data["changes"])
    check_counterfactuals(replace(study, model=None), study.corpus.texts[0])


def test_counterfactuals_are_told_of_each_reader_where_they_disagree(study):
    """A reader that said a class all along is not flipped by a change after which it still says it."""
    weak = replace(study, wfa=study.other)
    texts = [text for text in study.corpus.texts if not trace(weak, text)["agrees"]][:4]
    assert texts
    for text in texts:
        data = check_counterfactuals(weak, text)
        assert data["before"]["automaton"] != data["before"]["network"]


def test_plausible_changes_come_first_at_a_position(study):
    for text in study.corpus.texts[:6]:
        changes = counterfactuals(study, text)["changes"]
        for position in {change["position"] for change in changes}:
            plausible = [change["plausible"] for change in changes if change["position"] == position]
            assert plausible == sorted(plausible, reverse=True)
    alone = counterfactuals(replace(study, vectors=None), study.corpus.texts[0])
    assert alone["vectors"] is None
    assert all(change["plausible"] == (change["new"] is None) for change in alone["changes"])


@given(st.one_of(samples(), linear_samples()), TEXTS.filter(bool))
def test_counterfactuals_of_any_automaton_change_its_mind(drawn, text):
    if (drawn.wfa.word_counts[2:] > 0).any():
        check_counterfactuals(Study("a.wfa", drawn.wfa), text)


def test_no_flip_is_missed_where_all_are_tried(study):
    """To every class that one word can lead to, a change leads; and so does every word that can be left out."""
    alone = replace(study, model=None)
    words = [word for word, count in zip(study.influence.words, study.influence.counts, strict=True) if count >= 5]
    encode = study.wfa.encoder.vocabulary.encode
    for text in study.corpus.texts[:4]:
        tokens = study.wfa.encoder.tokens(text)
        label = study.wfa.predict_indices([text])[0]
        texts = [[*tokens[:at], word, *tokens[at + 1 :]] for at in range(len(tokens)) for word in words]
        reached = set(study.wfa.predict_indices(encode(texts)).tolist()) - {label}
        changes = counterfactuals(alone, text)["changes"]
        assert {each["automaton"][0] for each in changes if each["new"] is not None} == reached
        without = study.wfa.predict_indices(encode([[*tokens[:at], *tokens[at + 1 :]] for at in range(len(tokens))]))
        assert {each["position"] for each in changes if each["new"] is None} == set(np.flatnonzero(without != label))


def test_counterfactuals_need_words(study):
    with raises("no-words"):
        counterfactuals(study, "  ")


def test_long_texts_are_explained_in_parts(study, monkeypatch):
    """Their matrices are never held all at once, and the result is the same."""
    alone, text = replace(study, model=None), " ".join(study.corpus.texts[:3])
    whole = counterfactuals(alone, text)
    monkeypatch.setattr(sweeps, "_MATRIX_FLOATS", 4 * study.wfa.states**2)
    held = []
    matrices = type(study.wfa).matrices
    monkeypatch.setattr(type(study.wfa), "matrices", lambda wfa, ids: held.append(len(ids)) or matrices(wfa, ids))
    assert counterfactuals(alone, text) == whole
    assert max(held) == 4
    assert sum(held) == len(text.split())


def test_the_network_is_asked_about_long_texts_only_within_bounds(study):
    found = attribution(study, "the match " * 61)
    assert set(found) == {"error"}
    assert "120 words" in found["error"]
