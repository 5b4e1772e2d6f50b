"""Formal languages: known minimal automata come back from what was extracted of them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import tomita_languages as tomita
from tests.automata import linear_sample, sample
from tests.errors import raises
from wfalens.extraction import Stochastic, extract
from wfalens.models.inference import trace_by_steps
from wfalens.robustness import learn_machine
from wfalens.robustness.dfa import (
    Machine,
    minimal,
    minimal_but_for_the_empty_text,
    shortest_difference,
)
from wfalens.text import TextEncoder, Vocabulary


def known(number):
    dfa = tomita.TOMITA[number]
    return Machine.accepting("01", dfa.transitions, dfa.accepting)


def strings(letters, length):
    return [text for number in range(length + 1) for text in product(letters, repeat=number)]


@st.composite
def machines(draw):
    states, letters = draw(st.integers(1, 6)), "ab"[: draw(st.integers(1, 2))]
    target = st.integers(0, states - 1)
    rows = draw(st.lists(st.tuples(*[target] * len(letters)), min_size=states, max_size=states))
    outputs = draw(st.lists(st.integers(0, 2), min_size=states, max_size=states))
    return Machine(tuple(letters), tuple(rows), tuple(outputs))


@given(machines())
def test_a_minimal_machine_reads_alike_and_has_no_two_states_alike(machine):
    small = minimal(machine)
    assert len(small) <= len(machine)
    assert all(small.read(text) == machine.read(text) for text in strings(machine.letters, 6))
    assert shortest_difference(small, machine) is None
    for first in range(len(small)):
        for second in range(first):
            start = [Machine(small.letters, *moved(small, state)) for state in (first, second)]
            assert shortest_difference(*start) is not None


def moved(machine, state):
    """The same machine, started elsewhere."""
    order = [state, *(other for other in range(len(machine)) if other != state)]
    number = {old: new for new, old in enumerate(order)}
    rows = tuple(tuple(number[to] for to in machine.transitions[old]) for old in order)
    return rows, tuple(machine.outputs[old] for old in order)


@given(machines())
def test_letters_may_stand_in_another_order(machine):
    rows = tuple(tuple(reversed(row)) for row in machine.transitions)
    turned = Machine(tuple(reversed(machine.letters)), rows, machine.outputs)
    assert shortest_difference(machine, turned) is None


@given(machines(), machines())
def test_a_difference_is_shortest_and_true(first, second):
    if set(first.letters) != set(second.letters):
        with raises("other-letters"):
            shortest_difference(first, second)
        return
    for empty in (True, False):
        found = shortest_difference(first, second, empty)
        differing = [
            text for text in strings(first.letters, 5) if first.read(text) != second.read(text) and (text or empty)
        ]
        if found is None:
            assert not differing
        else:
            assert first.read(found) != second.read(found)
            assert not differing or len(found) == len(differing[0])


@given(machines(), st.integers(0, 2))
def test_the_empty_text_may_be_left_out_of_account(machine, output):
    small = minimal_but_for_the_empty_text(machine.starting_with(output))
    assert len(small) <= len(minimal(machine)) + 1
    assert shortest_difference(small, machine, empty=False) is None


@pytest.mark.parametrize("number", tomita.TOMITA)
def test_the_known_automata_are_minimal(number):
    assert len(minimal(known(number))) == len(known(number))


class Acceptor:
    """A network that has learned a language perfectly, and knows too whether it has read an even number of letters."""

    class_names, fingerprint = tomita.CLASSES, "acceptor"

    def __init__(self, number):
        self.encoder = TextEncoder(Vocabulary.of_words("01"), "whitespace")
        dfa = tomita.TOMITA[number]
        pairs = [(state, even) for state in range(len(dfa.transitions)) for even in (0, 1)]
        self.steps = np.array(
            [[at, at, *(2 * to + 1 - even for to in dfa.transitions[state])] for at, (state, even) in enumerate(pairs)]
        )  # padding and <unk> change nothing
        accepted = np.array([0.98 if state in dfa.accepting else 0.02 for state, _ in pairs])
        accepted += [0.01 * even for _, even in pairs]
        self.outputs = np.stack([1 - accepted, accepted], axis=1).astype(np.float32)

    @property
    def reached(self):
        """How many hidden states some string leads to."""
        found, more = set(), set(self.steps[0, 2:])
        while more - found:
            found |= more
            more = set(self.steps[list(found), 2:].ravel())
        return len(found)

    @property
    def initial_output(self):
        return np.array([0.5, 0.5], np.float32)

    def initial_state(self, batch):
        return np.zeros((batch, 1), np.float32)

    def step(self, state, ids):
        after = self.steps[state[:, 0].astype(int), ids]
        return after[:, None].astype(np.float32), self.outputs[after]

    def trace(self, ids):
        return trace_by_steps(self, ids)


def extracted(number):
    model, corpus = Acceptor(number), tomita.generate(number, 300, np.random.default_rng(0), max_length=12)
    extractor = Stochastic(states=model.reached, abstraction="lookahead", completion="probe", alpha=0.0)
    return extract(model, corpus, extractor)


@pytest.mark.parametrize("number", tomita.TOMITA)
@pytest.mark.parametrize("algorithm", ["lstar", "likely"])
def test_the_language_of_a_perfect_model_comes_back(number, algorithm):
    wfa = extracted(number)
    learned = learn_machine(wfa, "01", algorithm=algorithm, samples=200)
    found = minimal_but_for_the_empty_text(learned.machine)
    assert shortest_difference(found, known(number), empty=False) is None
    assert len(found) == len(known(number)) < wfa.states


def test_what_cannot_be_determinised_is_refused():
    with raises("not-stochastic"):
        learn_machine(linear_sample(0).wfa, algorithm="likely")
    with raises("unknown-letter"):
        learn_machine(sample("fit", 0, n=8, words=40).wfa, ["zz"])
    with raises("letters"):
        learn_machine(sample("fit", 0, n=8, words=110).wfa)
    with raises("states"):
        learn_machine(extracted(3), "01", states=3)
    with raises("unknown-letter"):
        known(1).read("x")
    with raises("machine"):
        Machine(("a",), ((1,),), (0,))
    with raises("machine"):
        Machine(("a",), ((0, 0),), (0,))
