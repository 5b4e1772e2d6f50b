"""Machines learned by asking: known languages come back, and what is too large is refused or partial."""

import json
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import tomita_languages as tomita
from tests.errors import raises
from tests.robustness.test_dfa import Acceptor, known, machines, strings
from wfalens.errors import MissingDependencyError
from wfalens.extraction import Stochastic, extract
from wfalens.models.wrapping import wrap
from wfalens.robustness import learn_machine, minimal, read_machine, shortest_difference
from wfalens.robustness.dfa import to_dot
from wfalens.text import TextEncoder, Vocabulary


def asked_of(machine, calls=None):
    """A black box that reads as a machine does; `calls` takes the size of each batch."""
    classes = max(2, max(machine.outputs) + 1)

    def answer(words):
        if calls is not None:
            calls.append(len(words))
        return np.eye(classes)[[machine.read(word) for word in words]]

    encoder = TextEncoder(Vocabulary.of_words(machine.letters), "whitespace")
    prior = np.eye(classes)[machine.read(())]
    return wrap(
        answer, vocab=encoder, classes=[f"c{number}" for number in range(classes)], initial_output=prior, reads="tokens"
    )


@settings(max_examples=10)
@given(machines())
def test_a_small_machine_comes_back_minimal(machine):
    learned = learn_machine(asked_of(machine), machine.letters, samples=200)
    assert shortest_difference(learned.machine, machine) is None
    assert len(learned.machine) == len(minimal(machine))
    assert not learned.is_partial
    assert learned.guarantee.agreed == learned.guarantee.texts == 200


@pytest.mark.parametrize("number", tomita.TOMITA)
def test_a_language_of_tomita_is_learned_from_a_network(number):
    model = Acceptor(number)
    learned = learn_machine(model, "01", samples=200)
    assert shortest_difference(learned.machine, known(number), empty=False) is None
    texts = model.encoder.encode(tomita.generate(number, 50, np.random.default_rng(0)).texts).nonempty()[1]
    by_corpus = learn_machine(model, "01", texts=texts, samples=200)
    assert shortest_difference(by_corpus.machine, known(number), empty=False) is None


def test_kv_learns_the_same_machine_by_the_same_queries():
    machine = known(5)
    learned = learn_machine(asked_of(machine), machine.letters, algorithm="kv", samples=200)
    assert shortest_difference(learned.machine, machine) is None
    assert learned.queries > 10
    with raises("states"):
        learn_machine(asked_of(machine), machine.letters, algorithm="kv", states=3)


def test_queries_of_lstar_come_in_batches():
    calls = []
    machine = known(5)
    model = asked_of(machine, calls)
    learned = learn_machine(model, machine.letters, samples=50)
    assert learned.queries > 5 * len(calls)


def test_likely_states_need_an_automaton():
    with raises("model"):
        learn_machine(asked_of(known(5)), "01", algorithm="likely")
    with raises("option-value"):
        learn_machine(asked_of(known(5)), "01", algorithm="magic")


def test_without_aalpy_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "aalpy", None)
    for algorithm in ("lstar", "kv"):
        with pytest.raises(MissingDependencyError, match=r"wfalens\[dfa\]"):
            learn_machine(asked_of(known(5)), "01", algorithm=algorithm)


def test_a_machine_that_needs_more_states_is_refused_or_partial():
    machine = known(5)
    assert len(machine) == 4
    with raises("states"):
        learn_machine(asked_of(machine), machine.letters, states=3)
    partial = learn_machine(asked_of(machine), machine.letters, states=3, partial=True, samples=300)
    assert partial.is_partial
    assert len(partial.machine) <= 3
    assert 0 < partial.guarantee.agreed < 300


def test_an_automaton_is_asked_like_a_model():

    model, corpus = Acceptor(3), tomita.generate(3, 300, np.random.default_rng(0), max_length=12)
    settings = {"states": model.reached, "abstraction": "lookahead", "completion": "probe", "alpha": 0.0}
    wfa = extract(model, corpus, Stochastic(**settings))
    learned = learn_machine(wfa, "01", samples=200)
    assert shortest_difference(learned.machine, known(3), empty=False) is None


def test_unknown_letters_are_refused():
    with raises("unknown-letter"):
        learn_machine(Acceptor(1), "01x")
    with raises("no-letters"):
        learn_machine(Acceptor(1), "")


@settings(max_examples=10)
@given(machines(), st.sampled_from(["plain", 'quo"ted\\', "<b>"]))
def test_a_file_gives_the_machine_back(tmp_path_factory, machine, name):
    path = tmp_path_factory.mktemp("machine") / "it.json"
    classes = (name, "b", "c")
    machine.save(path, classes, {"way": "ask"})
    again, names = read_machine(path)
    assert again == machine
    assert names == classes
    assert all(again.read(text) == machine.read(text) for text in strings(machine.letters, 3))


def test_dot_has_every_state_and_quotes_names():
    text = to_dot(known(5), ('say "no"', "yes"))
    assert text.count("[label=") >= 4 + 8
    assert 'say \\"no\\"' in text
    assert "__start0 -> s0;" in text


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"outputs": [0, 1, 7, 0]},
        {"outputs": [True, 0, 0, 0]},
        {"transitions": [[0, 9]] * 4},
        {"letters": ["0", "0"]},
        {"letters": None},
    ],
)
def test_damaged_files_are_refused_in_one_sentence(tmp_path, change):
    path = tmp_path / "it.json"
    known(5).save(path, ("no", "yes"), {})
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with raises("machine-file"):
        read_machine(path)


def test_other_endings_are_refused(tmp_path):
    with raises("file-ending"):
        known(1).save(tmp_path / "it.png", ("no", "yes"), {})
