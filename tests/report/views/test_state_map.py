"""The map of an automaton: what it shows adds up to the counts behind it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from tests import oracle
from tests.automata import linear_sample, sample, samples
from tests.errors import raises
from tests.studies import letter_texts
from wfalens.automaton.rows import dense
from wfalens.report import Study
from wfalens.report.page import to_json
from wfalens.report.views import state_map
from wfalens.text import Corpus


def texts_for(wfa, size=40, seed=0):
    """Texts of the words of a random automaton, some of them unknown."""
    words = [*wfa.encoder.vocabulary.words[2:], "unknown"]
    rng = np.random.default_rng(seed)
    return Corpus(tuple(" ".join(rng.choice(words, rng.integers(1, 9))) for _ in range(size)))


def steps(drawn):
    """How often each word made each step: counted, or of its class's steps the word's share; (V, n, n)"""
    shared = drawn.wfa.completion
    if shared.name != "shared":
        return drawn.counts
    counts = np.zeros((len(drawn.probed), *drawn.probed.shape[1:]))
    for word, number in enumerate(shared.word_class):
        if word == 0:
            continue
        rows = drawn.matrix(word)
        whole = sum(drawn.wfa.word_counts[other] for other in np.flatnonzero(shared.word_class == number))
        counts[word] = shared.visits[number][:, None] * rows * drawn.wfa.word_counts[word] / max(1, whole)
    return counts


def all_steps(drawn):
    """The same of all words together, also of classes none of whose words was counted; (n, n)"""
    shared = drawn.wfa.completion
    if shared.name != "shared":
        return drawn.counts.sum(0)
    total = np.zeros(drawn.probed.shape[1:])
    for number, visits in enumerate(shared.visits):
        rows = dense(shared.rows, number, drawn.wfa.states)
        total += visits[:, None] * oracle.context_enhanced(rows / rows.sum(1, keepdims=True), drawn.wfa.alpha)
    return total


@given(samples())
def test_flows_are_the_counts_between_different_states(drawn):
    data = state_map(Study("a.wfa", drawn.wfa)).to_dict()["levels"][-1]
    total = all_steps(drawn)
    np.fill_diagonal(total, 0)
    flows = {(flow["from"], flow["to"]): flow["count"] for flow in data["flows"]}
    strongest = np.sort(total[total > 0])[::-1][:80]
    assert len(flows) == len(strongest)
    assert sorted(flows.values(), reverse=True) == pytest.approx(strongest, abs=0.51)
    for (source, target), count in flows.items():
        assert count == pytest.approx(total[source, target], abs=0.51)


@given(samples())
def test_words_of_a_flow_are_its_heaviest(drawn):
    words = drawn.wfa.encoder.vocabulary.words
    for flow in state_map(Study("a.wfa", drawn.wfa)).to_dict()["levels"][-1]["flows"]:
        column = steps(drawn)[:, flow["from"], flow["to"]]
        shown = [column[words.index(word)] for word in flow["words"]]
        assert shown == pytest.approx(sorted(column[column > 0], reverse=True)[:5])


@given(samples())
def test_states_tell_their_centres_visits_and_stays(drawn):
    found = state_map(Study("a.wfa", drawn.wfa))
    data = found.to_dict()
    to_json(data)  # finite
    data = data["levels"][-1]
    assert len(data["states"]) == drawn.wfa.states
    totals, counts = all_steps(drawn), steps(drawn)
    for state in data["states"]:
        at = state["id"]
        assert state["mix"] == pytest.approx(drawn.centres[at], abs=1e-4)
        assert state["visits"] == drawn.wfa.state_visits[at]
        assert state["label"] == drawn.wfa.class_names[drawn.centres[at].argmax()]
        assert state["initial"] == (at == 0)
        assert state["name"] == (None if drawn.wfa.names is None else drawn.wfa.names.states[at])
        left = totals[at].sum()
        assert state["stays"] == pytest.approx(totals[at, at] / left if left else 0, abs=1e-4)
        inward = np.delete(counts[:, :, at], at, axis=1).sum(1)
        for word, count in state["words_in"]:
            assert count == pytest.approx(inward[drawn.wfa.encoder.vocabulary.words.index(word)], abs=0.51)
    assert sum(state["frequency"] for state in data["states"]) == pytest.approx(1, abs=1e-3)


@given(samples())
def test_groups_add_up_to_the_states(drawn):
    levels = state_map(Study("a.wfa", drawn.wfa)).to_dict()["levels"]
    states = levels[-1]["states"]
    assert [state["members"] for state in states] == [[at] for at in range(drawn.wfa.states)]
    for level in levels:
        members = [id for group in level["states"] for id in group["members"]]
        assert sorted(members) == list(range(drawn.wfa.states))
        assert level["states"][0]["members"] == [0]  # the start stays alone
        for group in level["states"]:
            visits = [states[id]["visits"] for id in group["members"]]
            assert group["visits"] == sum(visits)
            if sum(visits):
                mixed = np.average([states[id]["mix"] for id in group["members"]], axis=0, weights=visits)
                assert group["mix"] == pytest.approx(mixed, abs=2e-3)
    assert [len(level["states"]) for level in levels] == sorted({len(level["states"]) for level in levels})


def test_a_state_that_is_a_group_by_itself_keeps_its_name():
    wfa = sample("empirical", 3, n=40).wfa
    named = replace(state_map(Study("a.wfa", wfa)), names=tuple(f"state of number {at}" for at in range(40)))
    groups = named.to_dict()["levels"][0]["states"]
    assert any(len(group["members"]) > 1 for group in groups)
    for group in groups:
        alone = len(group["members"]) == 1
        assert group["name"] == (f"state of number {group['members'][0]}" if alone else None)


def test_there_are_few_groups_at_first():
    wfa = sample("empirical", 3, n=40).wfa
    sizes = [len(level["states"]) for level in state_map(Study("a.wfa", wfa)).to_dict()["levels"]]
    assert sizes[0] == len(wfa.class_names) + 2  # and the start
    assert sizes[-1] == wfa.states
    assert len(sizes) >= 3


@given(samples())
def test_a_word_moves_each_state_by_its_row(drawn):
    found = state_map(Study("a.wfa", drawn.wfa))
    for word in ("w0", "never"):
        data = found.word_moves(word)
        number = drawn.wfa.encoder.vocabulary.id_of(word)
        matrix = drawn.matrix(number)
        mass = matrix.sum(1, keepdims=True)
        after = matrix @ drawn.centres
        outputs = np.where(mass > 0, after / np.maximum(mass, 1e-300), 1 / drawn.centres.shape[1])
        assert [label for label, _ in data["to"]] == pytest.approx(outputs.argmax(1).tolist())
        assert [share for _, share in data["to"]] == pytest.approx(outputs.max(1), abs=2e-3)
        assert np.allclose(data["change"], np.abs(outputs - drawn.centres).sum(1) / 2, atol=2e-3)
        assert data["known"] == (word in drawn.wfa.encoder.vocabulary)
        to_json(data)


def test_typical_sentences_bring_the_automaton_there(study):
    found = state_map(study)
    shown = 0
    for state in found.to_dict()["levels"][-1]["states"]:
        for text in state["sentences"]:
            walk = study.wfa.walk(" ".join(text["words"]))
            assert (text["after"] == 0) == state["initial"]
            assert walk.states[text["after"], state["id"]] == pytest.approx(text["share"], abs=2e-3)
            shown += 1
    assert shown > len(found.vectors)


def test_an_automaton_that_was_never_visited_still_has_a_map():
    wfa = sample("empirical", 3).wfa
    silent = replace_visits(wfa)
    data = state_map(Study("a.wfa", silent)).to_dict()
    to_json(data)
    assert all(state["frequency"] == 0 for state in data["levels"][-1]["states"])


def replace_visits(wfa):
    from wfalens.automaton import StochasticWFA

    return StochasticWFA(
        encoder=wfa.encoder,
        class_names=wfa.class_names,
        centres=wfa.centres,
        rows=wfa.rows,
        completion=wfa.completion,
        alpha=wfa.alpha,
        state_visits=np.zeros(wfa.states, int),
        word_counts=wfa.word_counts,
        provenance={},
    )


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_regions_of_a_linear_automaton_add_up(classes):
    wfa = linear_sample(5, classes=classes).wfa
    study = Study("a.wfa", wfa, corpus=texts_for(wfa))
    data = state_map(study).to_dict()
    to_json(data)
    assert data["kind"] == "regions"
    data = data["levels"][-1]
    assert sum(state["visits"] for state in data["states"]) == len(study.encoded.take(study.sample).values)
    assert not any(state["initial"] for state in data["states"])
    moved = len(study.encoded.values) - len(study.corpus)
    stays = sum(flow["count"] for flow in data["flows"])
    assert stays <= moved
    assert {flow["from"] for flow in data["flows"]} <= set(range(len(data["states"])))
    assert any(state["sentences"] for state in data["states"])


def test_regions_of_texts_that_are_all_alike():
    wfa = linear_sample(5).wfa
    data = state_map(Study("a.wfa", wfa, corpus=Corpus(("w0", "w0", "w0")))).to_dict()
    assert len(data["levels"][-1]["states"]) == 1
    to_json(data)


def test_a_linear_automaton_needs_texts_for_its_map():
    wfa = linear_sample(5).wfa
    with raises("no-texts"):
        state_map(Study("a.wfa", wfa))
    with raises("no-words"):
        state_map(Study("a.wfa", wfa, corpus=Corpus(("", " "))))


def test_empty_texts_are_passed_over():
    wfa = sample("empirical", 3).wfa
    data = state_map(Study("a.wfa", wfa, corpus=Corpus(("", "w0 w1", " ")))).to_dict()
    assert data["texts"] == 1
    data = state_map(Study("a.wfa", wfa, corpus=Corpus(("",)))).to_dict()
    assert all(state["sentences"] == [] for state in data["levels"][-1]["states"])


def test_long_corpora_are_sampled(study):
    many = replace(study, corpus=letter_texts(3000, 7, words="abc"))
    assert len(many.sample) == 1500
    assert len(np.unique(many.sample)) == 1500
    assert (np.diff(many.sample) > 0).all()
    long = replace(study, corpus=Corpus(("the match " * 20_000, "a", "b")))
    assert len(long.encoded.take(long.sample).values) >= 1
