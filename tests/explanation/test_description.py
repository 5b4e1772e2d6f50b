"""Every sentence is true: its figures are computed again from the texts, read word by word in Python."""

import json

import numpy as np
import pytest

from tests.automata import sample
from tests.errors import raises
from tests.readable import NEGATION_CENTRES, at_random, negation, readable
from wfalens.explanation import describe
from wfalens.messages import percent

SURE = 0.8


def only(description, about):
    (found,) = description.of(about)
    return found


def standing(made, outputs):
    """Undecided, leaning, sure: shares of outputs."""
    tops = np.max(outputs, 1)
    undecided, sure = (tops < (0.6 if made.centres.shape[1] == 2 else 0.5)).mean(), (tops >= SURE).mean()
    return {"undecided": undecided, "leaning": 1 - undecided - sure, "sure": sure}


@pytest.fixture(params=[*range(5), "negation"])
def made(request):
    return negation() if request.param == "negation" else at_random(request.param)


def test_the_first_word_and_the_end(made):
    """By what it says, not by where in its states the probability lies."""
    description = describe(made.wfa)
    after_first = [after @ made.centres for _, position, _, _, after in made.steps() if position == 0]
    assert only(description, "first word").figures == pytest.approx(standing(made, after_first), abs=1e-6)
    end = dict(only(description, "end").figures)
    unsure = sum((before @ made.centres).max() < SURE for _, _, _, before, _ in made.steps())
    assert end.pop("before_sure") == pytest.approx(unsure / sum(map(len, made.texts)), abs=1e-6)
    assert end == pytest.approx(standing(made, [last @ made.centres for last in made.ends()]), abs=1e-6)


def test_how_long_it_stays_sure(made):
    found = describe(made.wfa).of("sure")
    read, kept, turned = np.zeros(3), np.zeros(3), 0
    for _, _, _, before, after in made.steps():
        old, new = before @ made.centres, after @ made.centres
        if old.max() >= SURE:
            read[old.argmax()] += 1
            kept[old.argmax()] += new.max() >= SURE and new.argmax() == old.argmax()
            turned += new.argmax() != old.argmax()
    labels = [label for label in range(made.centres.shape[1]) if read[label] >= 10]
    if not labels:
        assert not found
        return
    (sentence,) = found
    expected = {made.wfa.class_names[label]: kept[label] / read[label] for label in labels}
    assert sentence.figures["keeps"] == pytest.approx(expected, abs=1e-6)
    assert sentence.figures["overturned"] == pytest.approx(turned / read.sum(), abs=1e-6)
    for share in expected.values():
        assert percent(share) in sentence.text


def test_a_mixture_of_sure_states_is_not_sure():
    """After "the" half of the probability is in a state that is sure of one class, half in one sure of the other."""
    half = np.array([[0, 0.5, 0.5]] * 3)
    made = readable([half], [[0.5, 0.5], [1, 0], [0, 1]], [["the"]], [["the"]] * 20)
    description = describe(made.wfa)
    assert only(description, "first word").figures == {"undecided": 1, "leaning": 0, "sure": 0}
    assert not description.of("sure")


def test_a_file_that_does_not_record_its_course_says_so():
    made = negation()
    for stored in (None, [], {"first": "x"}, {**made.wfa.provenance["course"], "keeps": {"7": 1.0}}):
        made.wfa.provenance["course"] = stored
        description = describe(made.wfa)
        assert "was not recorded" in only(description, "course").text
        assert not any(description.of(about) for about in ("first word", "end", "sure", "flips"))


def difference(made, kind, state):
    """Of the output, by a word of the kind in the state."""
    return made.matrices[kind][state] @ made.centres - made.centres[state]


def is_open(made):
    """Whether words move 5 % of the probability or more in a state on average; (n,)"""
    states = range(len(made.centres))
    moves = [
        [np.abs(difference(made, kind, state)).sum() / 2 for state in states] for kind in range(len(made.matrices))
    ]
    moved, mass = np.zeros(len(made.centres)), np.zeros(len(made.centres))
    for _, _, kind, before, _ in made.steps():
        for state in states:
            moved[state] += before[state] * moves[kind][state]
            mass[state] += before[state]
    return moved >= 0.05 * mass


def effects(made):
    """Of each kind of word the mean change of the output and what it moves, where it is read in open states."""
    kinds, classes, still_open = len(made.matrices), made.centres.shape[1], np.flatnonzero(is_open(made))
    change, moved, mass = np.zeros((kinds, classes)), np.zeros(kinds), np.zeros(kinds)
    for _, _, kind, before, _ in made.steps():
        for state in still_open:
            change[kind] += before[state] * difference(made, kind, state)
            moved[kind] += before[state] * np.abs(difference(made, kind, state)).sum() / 2
            mass[kind] += before[state]
    return change / mass[:, None], moved / mass


def test_which_words_turn_towards_which_class(made):
    description = describe(made.wfa)
    change, moved = effects(made)
    names = {each.name: number for number, each in enumerate(made.wfa.names.classes)}
    words = sum(map(len, made.texts))
    named = 0
    for label, sentence in enumerate(description.of("towards")):
        assert sentence.figures["class"] == made.wfa.class_names[label]
        found = [names[kind["cluster"]] for kind in sentence.figures["clusters"]]
        mainly = [k for k in range(len(moved)) if moved[k] >= 0.1 and change[k].argmax() == label]
        assert set(found) == {k for k in mainly if change[k, label] >= moved[k] / 2 - 1e-9}
        for kind, number in zip(sentence.figures["clusters"], found, strict=True):
            share = sum(word in made.words[number] for text in made.texts for word in text) / words
            assert kind["share"] == pytest.approx(share, abs=1e-6)
            assert kind["change"] == pytest.approx(change[number, label], abs=1e-6)
            assert f"{percent(share, 1)} of words, by {100 * change[number, label]:.0f} points)" in sentence.text
            named += 1
    little = only(description, "hardly matters")
    assert little.figures["clusters"] == int((moved < 0.1).sum())
    still_open = is_open(made)
    read = sum(before[still_open].sum() for _, _, _, before, _ in made.steps())
    assert little.figures["in_open"] == pytest.approx(read / words, abs=1e-6)
    assert named + little.figures["clusters"] + len(description.of("others")) == len(moved)


def test_what_turns_a_sure_opinion(made):
    (sentence,) = describe(made.wfa).of("flips")
    names = {each.name: number for number, each in enumerate(made.wfa.names.classes)}
    for turn in sentence.figures["flips"]:
        kind, before_label = names[turn["cluster"]], made.wfa.class_names.index(turn["from"])
        read = turned = 0
        for _, _, number, before, after in made.steps():
            old = before @ made.centres
            if number == kind and old.max() >= SURE and old.argmax() == before_label:
                read += 1
                turned += (after @ made.centres).argmax() == made.wfa.class_names.index(turn["to"])
        assert turn["read"] == read
        assert turn["rate"] == pytest.approx(turned / read, abs=1e-6)
        assert turn["from"] != turn["to"]
        assert f"from ‘{turn['from']}’ to ‘{turn['to']}’ in {percent(turned / read)} of {read:,} cases" in sentence.text


def test_negation_is_found_as_what_is_remembered_and_not_said():
    description = describe(negation().wfa)
    memory = only(description, "memory")
    assert memory.figures["cluster"] in ("good · fine", "bad · dull")
    label = ("bad", "good").index(memory.figures["class"])
    assert sorted(memory.figures["after"]) == pytest.approx(sorted(row[label] for row in NEGATION_CENTRES[3:]))
    assert all(0.4 < share < 0.6 for share in memory.figures["before"])
    assert len(memory.figures["states"]) == 2
    for share in (*memory.figures["before"], *memory.figures["after"]):
        assert percent(share) in memory.text
    turns = only(description, "flips").figures["flips"]
    assert [(turn["from"], turn["to"], turn["rate"]) for turn in turns] == [("good", "bad", 1.0)]


def test_a_negation_turns_round_what_follows():
    made = negation()
    (sentence,) = describe(made.wfa).of("reverses")
    assert sentence.figures["cluster"].startswith("not")
    names = {each.name: number for number, each in enumerate(made.wfa.names.classes)}
    still_open = is_open(made)
    turning, read = names[sentence.figures["cluster"]], np.zeros(len(made.centres))
    for _, _, kind, before, _ in made.steps():
        read += before * still_open * (kind == turning)
    read /= read.sum()
    labels = set()
    for follower in sentence.figures["followers"]:
        kind = names[follower["cluster"]]
        for found, states in (("alone", read), ("after", read @ made.matrices[turning])):
            ((label, share),) = follower[found].items()
            assert (states @ made.matrices[kind] @ made.centres)[made.wfa.class_names.index(label)] == pytest.approx(
                share, abs=1e-5
            )
            assert percent(share) in sentence.text
        assert follower["alone"].keys() != follower["after"].keys()
        labels |= follower["alone"].keys()
    assert labels == {"good", "bad"}


def test_states_that_differ_in_how_sure_they_are_do_not_count_as_memory():
    """Evidence that adds up: each good word adds to the log-odds, each bad one takes the same away."""
    odds = np.array([0.0, -4, -3, -2, -1, 0, 1, 2, 3, 4])
    centres = np.column_stack([1 / (1 + np.exp(odds)), 1 / (1 + np.exp(-odds))])
    up, down = np.zeros((10, 10)), np.zeros((10, 10))
    for state in range(1, 10):
        up[state, min(9, state + 1)] = down[state, max(1, state - 1)] = 1
    up[0, 6] = down[0, 4] = 1
    rng = np.random.default_rng(0)
    texts = [[str(word) for word in rng.choice(["good", "bad"], 6)] for _ in range(300)]
    description = describe(readable([up, down], centres, [["good"], ["bad"]], texts).wfa)
    assert "depends only on the output so far" in only(description, "memory").text
    assert not description.of("reverses")


def test_a_word_that_settles_the_class_does_not_turn_round_what_follows():
    """After a clear word of one topic, words of the others change nothing any more."""
    leads = [[label + 1, 1, 2, 3] for label in range(3)]  # from the start to its own topic; a topic stays
    rng = np.random.default_rng(0)
    texts = [[str(word) for word in rng.choice(["a", "b", "c"], 4)] for _ in range(200)]
    centres = [[1 / 3] * 3, [0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]]
    made = readable([np.eye(4)[each] for each in leads], centres, [["a"], ["b"], ["c"]], texts, ("A", "B", "C"))
    assert not describe(made.wfa).of("reverses")


def test_it_begins_with_how_faithful_it_is():
    rungs = [
        {"states": 4, "classes": 2, "cr": 0.5, "jsd": 0.2},
        {"states": 4, "classes": 4, "cr": 0.875, "jsd": 0.0312},
    ]
    frontier = {"texts": 1234, "chosen": 1, "loss": 0.0, "tried": rungs}
    first = describe(negation(provenance={"frontier": frontier}).wfa).sentences[0]
    assert first.figures == {"cr": 0.875, "jsd": 0.0312, "texts": 1234}
    assert "1,234 held-out texts" in first.text
    assert "87.5 %" in first.text
    assert "among 2" in first.text


@pytest.mark.parametrize(
    "frontier", [None, [], "x", {}, {"tried": [], "chosen": 0, "texts": 1}, {"tried": [{}], "chosen": 5, "texts": None}]
)
def test_what_was_not_recorded_is_not_told(frontier):
    first = describe(negation(provenance={"frontier": frontier}).wfa).sentences[0]
    assert "was not recorded" in first.text
    assert first.figures == {}


def test_sizes_and_the_start(made):
    description = describe(made.wfa)
    words = sum(map(len, made.texts))
    assert only(description, "size").figures == {
        "states": len(made.centres),
        "clusters": len(made.matrices),
        "words": sum(map(len, made.words)),
        "read": pytest.approx(words),
    }
    assert list(only(description, "start").figures.values()) == pytest.approx(made.centres[0])
    json.dumps(description.to_dict(), allow_nan=False)
    assert description.text.count("\n") == len(description.sentences) - 1
    assert all(each.text.endswith(".") for each in description.sentences)


def test_automata_that_are_not_readable_are_refused():
    with raises("not-readable"):
        describe(sample("fit", 0).wfa)
    silent = readable([np.eye(5)], NEGATION_CENTRES, [["a"]], [["a"]]).wfa
    object.__setattr__(silent.completion, "visits", np.zeros((1, 5)))
    with raises("no-visits"):
        describe(silent)
