"""Tomita 1 to 7: the automaton made deterministic and minimal beside the known automaton, and L* on the same LSTM.

The weighted automaton (12 states told apart by looking ahead, probed rows) is made deterministic in two ways, by its
likeliest states and by L*, then minimised, and compared with the known minimal automaton on all strings but the empty
one, which no network is asked. AALpy's L* asks the same LSTM, with random words or walks from every state as its
equivalence oracle.
"""

from __future__ import annotations

import random
import sys
import time

import numpy as np
from aalpy.base import SUL
from aalpy.learning_algs import run_Lstar
from aalpy.oracles import RandomWordEqOracle, StatePrefixEqOracle

from common import CACHE, arguments, finish, show, tomita_languages
from tomita import learned
from wfalens.extraction import Stochastic, extract
from wfalens.models import RNNClassifier
from wfalens.robustness.dfa import Machine, minimal_but_for_the_empty_text, shortest_difference
from wfalens.robustness.dfa_learning import LIKELY, LSTAR, learn_machine

LETTERS = ("0", "1")
ROUNDS = 20  # of L* at most: a network that is not quite regular would keep it busy for ever
OURS = {"likely": LIKELY, "L*, automaton": LSTAR}
ORACLES = {
    "L*, random words": lambda sul: RandomWordEqOracle(list(LETTERS), sul, 200, 5, 20),
    "L*, state prefixes": lambda sul: StatePrefixEqOracle(list(LETTERS), sul, 10, 12),
}


class Network(SUL):
    """The LSTM as AALpy asks it, letter by letter."""

    def __init__(self, model: RNNClassifier) -> None:
        super().__init__()
        self.model = model
        self.letters = 0  # read so far, by the learner and by its oracle
        self.ids = {letter: np.array([model.encoder.vocabulary.id_of(letter)], np.int32) for letter in LETTERS}

    def pre(self) -> None:
        self.state = self.model.initial_state(1)

    def post(self) -> None:
        pass

    def step(self, letter: str | None) -> bool:
        if letter is None:
            return bool(np.argmax(self.model.initial_output))
        self.letters += 1
        self.state, output = self.model.step(self.state, self.ids[letter])
        return bool(output[0].argmax())


def cached_model(number: int, quick: bool) -> RNNClassifier:
    CACHE.mkdir(exist_ok=True)
    path = CACHE / f"tomita{number}{'-quick' if quick else ''}.rnn"
    if not path.exists():
        print(f"training {path.name} …", file=sys.stderr)
        learned(number, quick)[0].save(path)
    return RNNClassifier.load(path)


def by_lstar(model: RNNClassifier, oracle: str) -> tuple[Machine, int]:
    """The minimal automaton that L* learns, and the letters that it read to the network."""
    network = Network(model)
    random.seed(0)  # AALpy draws from it
    found = run_Lstar(
        list(LETTERS), network, ORACLES[oracle](network), "dfa", max_learning_rounds=ROUNDS, print_level=0
    )
    order = [found.initial_state, *(state for state in found.states if state is not found.initial_state)]
    number = {state.state_id: place for place, state in enumerate(order)}
    rows = [[number[state.transitions[letter].state_id] for letter in LETTERS] for state in order]
    return Machine.accepting(
        LETTERS, rows, [number[state.state_id] for state in order if state.is_accepting]
    ), network.letters


def judged(machine: Machine, known: Machine, model: RNNClassifier, strings: list[str]) -> dict[str, object]:
    small = minimal_but_for_the_empty_text(machine)
    difference = shortest_difference(small, known, empty=False)
    said = model.trace(model.encoder.encode(strings)).last().argmax(1)
    return {
        "states": len(small),
        "equal": difference is None,
        "difference": None if difference is None else "".join(difference),
        "cr": float(np.mean([small.read(text.split()) == label for text, label in zip(strings, said, strict=True)])),
    }


def _verdict(found: dict[str, object]) -> str:
    return "equal" if found["equal"] else f"differs on {found['difference']}"


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    rows, result = [], {}
    for number in range(1, 3 if options.quick else 8):
        dfa, model = tomita_languages.TOMITA[number], cached_model(number, options.quick)
        known = Machine.accepting(LETTERS, dfa.transitions, dfa.accepting)
        longer = list(tomita_languages.load(number, "test").texts)
        began = time.perf_counter()
        settings = {"states": 12, "abstraction": "lookahead", "completion": "probe", "alpha": 0.0}
        wfa = extract(model, tomita_languages.load(number), Stochastic(**settings))
        extraction = time.perf_counter() - began
        found: dict[str, dict[str, object]] = {}
        for name, algorithm in OURS.items():
            began = time.perf_counter()
            machine = learn_machine(wfa, LETTERS, algorithm=algorithm, partial=True).machine
            seconds = extraction + time.perf_counter() - began
            found[name] = {**judged(machine, known, model, longer), "seconds": seconds}
        for oracle in ORACLES:
            began = time.perf_counter()
            machine, letters = by_lstar(model, oracle)
            seconds = time.perf_counter() - began
            found[oracle] = {**judged(machine, known, model, longer), "seconds": seconds, "letters": letters}
        result[str(number)] = {"known_states": len(known), **found}
        print(f"tomita{number}: {found}", file=sys.stderr, flush=True)
        cells = [f"{each['states']} {_verdict(each)} {each['seconds']:.1f} s" for each in found.values()]
        rows.append([number, len(known), *cells])
    show("States, equality with the language, time", ["", "known states", *OURS, *ORACLES], rows)
    finish(options, result)


if __name__ == "__main__":
    main()
