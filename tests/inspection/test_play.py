"""The sentence player: the same as walk, attribution and the model's own trace; flips that hold when tried."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.automata import linear_samples, samples
from tests.studies import HALF, SCRIPT, counting_model, extracted, headlines, letter_texts, trained
from wfalens.corpus import Corpus
from wfalens.divergence import jensen_shannon
from wfalens.errors import InputError
from wfalens.explanation import attribute, attribution
from wfalens.extraction import Extractor
from wfalens.inspection import Study, flips, play, state_map, swaps
from wfalens.inspection.page import to_json

TEXTS = st.lists(st.sampled_from(["w0", "w1", "w2", "w3", "unknown", "<pad>", "<unk>"]), max_size=8).map(" ".join)


@given(st.one_of(samples(), linear_samples()), TEXTS)
def test_a_played_text_is_the_walk_and_the_attribution(drawn, text):
    data = play(Study("a.wfa", drawn.wfa), None, text)
    to_json(data)
    walk = drawn.wfa.walk(text)
    assert data["words"] == list(walk.words)
    assert data["rows"] == walk.row_kinds
    assert data["label"] == walk.label
    assert np.allclose(data["automaton"], drawn.wfa.probabilities(drawn.wfa.read_out(walk.states)), atol=6e-5)
    assert len(data["automaton"]) == len(walk.words) + 1
    assert "model" not in data
    assert "path" not in data
    if walk.words:
        explained = attribute(drawn.wfa, text)
        assert np.allclose(data["contributions"], explained.contributions, atol=7e-5)
        assert np.allclose(data["changes"], attribute(drawn.wfa, text, "walk").contributions, atol=6e-5)
        total = np.sum(data["contributions"], axis=0)
        assert np.allclose(total, explained.output - explained.prior, atol=6e-5 * (len(walk.words) + 1))
        assert data["label"] == explained.label or data["label"] is None


def test_a_played_text_stands_beside_the_model(study):
    found = state_map(study)
    for text in (*study.corpus.texts[:5], f"{SCRIPT} {HALF} the match"):
        data = play(study, found, text)
        assert to_json(data).isascii()
        ids = study.wfa.encoder.encode([text])
        said = study.model.trace(ids).values
        assert np.allclose(data["model"], [study.model.initial_output, *said], atol=6e-5)
        assert data["model_label"] == study.wfa.class_names[said[-1].argmax()]
        assert data["agrees"] == (data["model_label"] == data["label"])
        gap = jensen_shannon(study.wfa.predict_proba([text]), said[-1:].astype(float))
        assert data["jsd"] == pytest.approx(gap[0], abs=6e-5)
        assert data["confidence"] == pytest.approx(study.wfa.confidence([text])[0], abs=6e-5)
        assert np.allclose(data["path"], np.array(data["automaton"]) @ found.corners, atol=1e-3)
        assert np.allclose(data["model_path"], np.array(data["model"]) @ found.corners, atol=1e-3)
        for row, likely in zip(study.wfa.walk(text).states, data["states"], strict=True):
            assert likely[0][0] == row.argmax()
            assert all(share == pytest.approx(row[at], abs=6e-4) for at, share in likely)


def test_a_text_that_is_cut_says_so():
    corpus = letter_texts(80, 2)
    model = counting_model(2)
    model.encoder = replace(model.encoder, max_length=4)
    wfa = Extractor.paper(states=6, completion="empirical").extract(model, corpus)
    study = Study("a.wfa", wfa, model)
    assert play(study, None, "a b c d e")["cut"] is True
    assert play(study, None, "a b c d e")["words"] == ["a", "b", "c", "d"]
    assert play(study, None, "a b c d")["cut"] is False


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_a_black_box_has_no_output_before_the_first_word(classes):
    model, corpus = counting_model(classes), letter_texts(120, classes)
    wfa = Extractor.paper(states=8, completion="empirical").extract(model, corpus)
    study = Study("a.wfa", wfa, model, corpus)
    found = state_map(study)
    data = play(study, found, "a b c")
    assert len(data["automaton"]) == len(data["path"]) == 4
    assert len(data["model"]) == len(data["model_path"]) == 3
    empty = play(study, found, "")
    assert empty["words"] == []
    assert "model" not in empty
    assert len(empty["automaton"]) == 1
    to_json([data, empty, flips(study, "a b c")])


@pytest.mark.parametrize("cell", ["gru", "elman"])
def test_other_networks_stand_beside_it(cell):
    corpus = headlines(200, 0)
    model = trained(corpus, 1, cell)
    study = Study("a.wfa", extracted(model, corpus, 6), model, corpus)
    data = play(study, state_map(study), corpus.texts[0])
    assert len(data["model"]) == len(data["automaton"])


def check_flips(study, text):
    """Each flip is tried anew, by the automaton and by the model."""
    data = flips(study, text)
    to_json(data)
    words = study.wfa.encoder.tokens(text)
    before = study.wfa.predict([" ".join(words)])[0]
    for flip in data["flips"]:
        changed = list(words)
        assert changed[flip["position"]] == flip["old"]
        changed[flip["position"]] = flip["new"]
        ids = study.wfa.encoder.vocabulary.encode([changed])
        output = study.wfa.predict_proba(ids)[0]
        assert flip["automaton"] == pytest.approx(output, abs=6e-5)
        assert study.wfa.class_names[output.argmax()] == flip["to"]
        assert output.argmax() != before
        if study.model is not None:
            said = study.model.trace(ids).last()[0]
            own = study.model.trace(study.wfa.encoder.vocabulary.encode([words])).last()[0]
            assert flip["model"] == pytest.approx(said, abs=6e-5)
            assert flip["holds"] == (said.argmax() != own.argmax())
            assert flip["model_to"] == study.wfa.class_names[said.argmax()]
        else:
            assert "holds" not in flip
    return data


def test_flips_hold_when_tried(study):
    found = [check_flips(study, text) for text in study.corpus.texts[:8]]
    assert sum(len(data["flips"]) for data in found) > 8
    check_flips(replace(study, model=None), study.corpus.texts[0])


@given(st.one_of(samples(), linear_samples()), TEXTS.filter(bool))
def test_flips_of_any_automaton_change_its_mind(drawn, text):
    if not (drawn.wfa.word_counts[2:] > 0).any():
        return
    data = check_flips(Study("a.wfa", drawn.wfa), text)
    margins = [np.diff(np.sort(flip["automaton"])[-2:])[0] for flip in data["flips"]]
    assert margins == sorted(margins, reverse=True) or np.allclose(margins, sorted(margins, reverse=True), atol=3e-4)


def test_no_flip_is_missed_where_all_are_tried(study):
    """A flip by one word exists exactly when the list is not empty."""
    short = replace(study, model=None)
    words = [word for word, count in zip(study.influence.words, study.influence.counts, strict=True) if count >= 5]
    for text in study.corpus.texts[:4]:
        tokens = study.wfa.encoder.tokens(text)
        label = study.wfa.predict([text])[0]
        texts = [[*tokens[:at], word, *tokens[at + 1 :]] for at in range(len(tokens)) for word in words]
        changed = study.wfa.predict(study.wfa.encoder.vocabulary.encode(texts)) != label
        assert bool(flips(short, text)["flips"]) == changed.any()


def test_flips_need_words(study):
    with pytest.raises(InputError, match="no words"):
        flips(study, "  ")


def test_long_texts_are_explained_in_parts(study, monkeypatch):
    """Their matrices are never held all at once, and the result is the same."""
    alone, text = replace(study, model=None), " ".join(study.corpus.texts[:3])
    whole = flips(alone, text)
    monkeypatch.setattr(attribution, "_MATRIX_FLOATS", 4 * study.wfa.states**2)
    held = []
    matrices = type(study.wfa).matrices
    monkeypatch.setattr(type(study.wfa), "matrices", lambda wfa, ids: held.append(len(ids)) or matrices(wfa, ids))
    assert flips(alone, text) == whole
    assert max(held) == 4
    assert sum(held) == len(text.split())


def test_swaps_count_the_texts_whose_class_changes(study):
    first, second = "vaccine", "match"
    data = swaps(study, first, second)
    holding = [text.split() for text in study.corpus.texts if first in text.split()]
    assert data["texts"] == len(holding)
    encode = study.wfa.encoder.vocabulary.encode
    was = study.model.trace(encode(holding)).last().argmax(1)
    changed = [[second if word == first else word for word in text] for text in holding]
    became = study.model.trace(encode(changed)).last().argmax(1)
    assert data["changed"] == (was != became).sum() > 0
    for example in data["examples"]:
        assert all(example["words"][at] == first for at in example["at"])
        assert example["before"] != example["after"]
    assert to_json(data).isascii()


def test_swaps_of_a_word_that_stands_nowhere(study):
    assert swaps(replace(study, corpus=Corpus(("the match",))), "vaccine", "match")["texts"] == 0
    for pair in (("neverseen", "match"), ("match", "neverseen"), ("<pad>", "match")):
        with pytest.raises(InputError, match="does not know the word"):
            swaps(study, *pair)
