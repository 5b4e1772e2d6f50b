"""Certificates about networks: never contradicted by reading every variant; breaks are real, and found early."""

import json
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.automata import linear_sample
from tests.errors import raises
from wfalens.explanation import nearness_of
from wfalens.models import RNNClassifier, RNNConfig
from wfalens.models.inference import final_outputs
from wfalens.ragged import Ragged
from wfalens.robustness import Edits, Substitutes, certify_network, read_lists
from wfalens.robustness.certify.edits import every_pick, spelled
from wfalens.robustness.certify.enumerated_certificates import BROKEN, COPY_ONLY, OPEN, PROVEN
from wfalens.robustness.certify.induction import ChangeEffects
from wfalens.text import load_dataset
from wfalens.text.datasets import newsroom


def small_network(wfa, seed: int, cell: str = "gru") -> RNNClassifier:
    """Random weights, large enough that words matter."""
    model = RNNClassifier.untrained(
        RNNConfig(cell=cell, embedding=4, hidden=5, dropout=0.0), wfa.encoder, wfa.class_names, seed
    )
    for weight in model.network.parameters():
        weight.data *= 3
    return model


@st.composite
def questions(draw):
    wfa = linear_sample(draw(st.integers(0, 10**6))).wfa
    words = st.integers(2, len(wfa.encoder.vocabulary) - 1)
    others = st.dictionaries(words, st.lists(words, max_size=3, unique=True), max_size=6)
    edits = Edits(
        Substitutes({word: np.array(each, np.int32) for word, each in draw(others).items()}),
        delete=draw(st.booleans()),
        duplicate=draw(st.booleans()),
        swap=draw(st.booleans()),
        insert=tuple(draw(st.lists(words, max_size=1))),
    )
    text = draw(st.lists(words, min_size=1, max_size=4))
    model = small_network(wfa, draw(st.integers(0, 10**6)), draw(st.sampled_from(["lstm", "gru", "elman"])))
    return wfa, model, edits, text, draw(st.sampled_from([None, 0, 1, 2, 3]))


def class_of(model, text) -> int:
    """Read by itself, from the first word to the last."""
    if not len(text):
        return int(model.initial_output.argmax())
    return int(model.trace(Ragged(np.asarray(text, np.int32), np.array([0, len(text)]))).last()[0].argmax())


@settings(max_examples=30)
@given(questions(), st.sampled_from([2, 20, 10**6]), st.booleans())
def test_no_certificate_is_wrong(question, budget, guided):
    wfa, model, edits, ids, changes = question
    words = wfa.encoder.vocabulary.decode(np.array(ids, np.int32))
    found = certify_network(
        wfa, model, [" ".join(words)], edits, changes=changes, budget=budget, guided=guided
    ).certificates[0]
    choices = edits.choices(np.array(ids, np.int32))
    texts = [text.tolist() for text in spelled(choices, every_pick(choices, changes))]
    own = class_of(model, ids)
    broken = [list(text) for text in set(map(tuple, texts)) if class_of(model, text) != own]
    assert found.label == model.class_names[own]
    assert found.variants == len(texts)
    assert found.tried <= max(2, budget)
    if found.status == PROVEN:
        assert not broken
        assert found.margin > 0
    if found.status == BROKEN:
        witness = wfa.encoder.vocabulary.encode([list(found.witness)]).values.tolist()
        assert witness in broken
        assert found.witness_label == model.class_names[class_of(model, witness)]
    if budget >= len(texts):
        assert found.status == (BROKEN if broken else PROVEN)
    else:
        assert found.status in (BROKEN, OPEN, COPY_ONLY)


@given(questions())
def test_single_gains_are_what_single_changes_do_on_the_automaton(question):
    wfa, _, edits, ids, _ = question
    choices = edits.choices(np.array(ids, np.int32))
    picks = every_pick(choices, 1)
    weights = wfa.weights(spelled(choices, picks))
    effects = ChangeEffects.of(wfa, choices, 0)
    advantage = weights - weights[:, [0]]
    np.testing.assert_allclose(effects(picks), advantage[:, 1:].max(1), atol=1e-9)
    for row, found in zip(picks[1:], advantage[1:] - advantage[0], strict=True):
        at = int(np.flatnonzero(row)[0])
        np.testing.assert_allclose(effects.gains[at][row[at]], found, atol=1e-9)


def test_what_the_network_says_of_single_changes_is_expected_of_them_from_then_on(news):
    wfa, model, texts, edits = news
    choices = edits.choices(wfa.encoder.encode([texts[0]]).values)
    picks = every_pick(choices, 1)[1:]
    outputs = final_outputs(model, spelled(choices, picks))
    found = ChangeEffects.of(wfa, choices, 0).updated(picks, outputs).expected(picks)
    logs = np.log(np.maximum(outputs, 1e-3))
    np.testing.assert_allclose(found, logs - logs[:, [0]], atol=1e-9)


@pytest.fixture(scope="module")
def news(newsroom_wfa, newsroom_model):
    substitutes = Substitutes.near(newsroom_wfa, nearness_of(newsroom_wfa, newsroom.vectors()), 6, within=2)
    return newsroom_wfa, newsroom_model, load_dataset("newsroom", "test").texts[:24], Edits(substitutes)


def test_the_automatons_order_finds_breaks_with_fewer_queries(news):
    guided = certify_network(*news, changes=2)
    plain = certify_network(*news, changes=2, guided=False)
    assert [each.status == BROKEN for each in guided.certificates] == [
        each.status == BROKEN for each in plain.certificates
    ]
    assert len(guided.with_status(BROKEN)) >= 3
    assert guided.queries_broken < plain.queries_broken / 2


def test_what_is_too_much_to_read_may_be_proven_on_the_automaton(news):
    wfa, model, texts, edits = news
    found = certify_network(wfa, model, texts, edits, changes=None, budget=200)
    assert {each.status for each in found.certificates} <= {BROKEN, COPY_ONLY, OPEN, PROVEN}
    assert len(found.with_status(BROKEN)) >= 5
    assert all(each.tried <= 200 for each in found.certificates)
    data = json.loads(json.dumps(found.to_dict()))
    assert len(data["texts"]) == len(found.to_dataframe()) == 24
    assert "<table" in found._repr_html_()


ODD = ("<pad>", "<unk>", "nonsense", "", "Two Words")


@settings(max_examples=25)
@given(st.data(), st.integers(0, 10**6), st.sampled_from([None, 1, 2, 9]))
def test_odd_lists_make_no_certificate_wrong(data, seed, changes):
    """Unknown and reserved words, empty lists, repetitions, the word itself, more changes than words."""
    wfa = linear_sample(seed).wfa
    model, vocabulary = small_network(wfa, seed), wfa.encoder.vocabulary
    any_word = st.sampled_from([*vocabulary.words[2:], *ODD])
    lists = data.draw(st.dictionaries(any_word, st.lists(any_word, max_size=4), max_size=8))
    words = data.draw(st.lists(st.sampled_from([*vocabulary.words[2:], "nonsense"]), min_size=1, max_size=3))
    found = certify_network(
        wfa, model, [" ".join(words)], Edits(Substitutes.listed(wfa, lists)), changes=changes
    ).certificates[0]
    read_as = {word: word if word in vocabulary else "<unk>" for word in words}
    known = {word: set(filter(vocabulary.__contains__, lists.get(read_as[word], ()))) for word in words}
    texts = [
        text
        for text in product(*({word, *known[word] - {read_as[word]}} for word in words))
        if changes is None or sum(one != other for one, other in zip(text, words, strict=True)) <= changes
    ]
    classes = {class_of(model, vocabulary.encode([list(text)]).values) for text in set(texts)}
    assert found.variants == len(set(texts))
    assert found.status == (PROVEN if len(classes) == 1 else BROKEN)
    if found.witness is not None:
        assert found.witness in texts
        assert class_of(model, vocabulary.encode([list(found.witness)]).values) == wfa.class_names.index(
            found.witness_label
        )


def test_lists_of_substitutes_are_read_from_json_and_from_lines(tmp_path, newsroom_wfa):
    (tmp_path / "lists.json").write_text('{"match": ["contest", "nonsense", "match"], "nothing": ["match"]}')
    (tmp_path / "lists.txt").write_text("match: contest game\n\nthe a\n")
    vocabulary = newsroom_wfa.encoder.vocabulary
    found = Substitutes.listed(newsroom_wfa, read_lists(tmp_path / "lists.json"))
    assert {vocabulary.words[word]: vocabulary.decode(others) for word, others in found.of_word.items()} == {
        "match": ["contest"]
    }
    assert read_lists(tmp_path / "lists.txt") == {"match": ["contest", "game"], "the": ["a"]}
    for content in ("[1]", '{"a": "b"}', "{", '{"a": [1]}'):
        (tmp_path / "bad.json").write_text(content)
        with raises("word-lists"):
            read_lists(tmp_path / "bad.json")


def test_what_cannot_be_asked_is_refused_in_one_sentence(news):
    wfa, model, _, edits = news
    with raises("option-value"):
        certify_network(wfa, model, ["match"], edits, budget=1)
    with raises("option-value"):
        certify_network(wfa, model, ["match"], edits, changes=-1)
    with raises("no-words"):
        certify_network(wfa, model, [" "], edits)
