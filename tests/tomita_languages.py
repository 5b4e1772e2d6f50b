"""The seven Tomita languages over {0, 1}, each with its known minimal automaton."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.text.corpus import Corpus

CLASSES = ("reject", "accept")


@dataclass(frozen=True)
class DFA:
    """A complete deterministic automaton over {0, 1}; state 0 starts."""

    transitions: tuple[tuple[int, int], ...]  # state -> (after 0, after 1)
    accepting: frozenset[int]

    def accepts(self, string: str) -> bool:
        state = 0
        for symbol in string:
            state = self.transitions[state][int(symbol)]
        return state in self.accepting


TOMITA: dict[int, DFA] = {
    # 1*
    1: DFA(((1, 0), (1, 1)), frozenset({0})),
    # (10)*
    2: DFA(((2, 1), (0, 2), (2, 2)), frozenset({0})),
    # an odd run of 1s is never followed, however much later, by an odd run of 0s
    3: DFA(((0, 1), (2, 0), (3, 4), (2, 3), (4, 4)), frozenset({0, 1, 3})),
    # no 000
    4: DFA(((1, 0), (2, 0), (3, 0), (3, 3)), frozenset({0, 1, 2})),
    # an even number of 0s and an even number of 1s
    5: DFA(((1, 2), (0, 3), (3, 0), (2, 1)), frozenset({0})),
    # as many 0s as 1s, modulo 3
    6: DFA(((1, 2), (2, 0), (0, 1)), frozenset({0})),
    # 0*1*0*1*
    7: DFA(((0, 1), (2, 1), (2, 3), (4, 3), (4, 4)), frozenset({0, 1, 2, 3})),
}


def load(number: int, split: str = "train") -> Corpus:
    """4,000 strings of up to 16 symbols, or 1,000 longer ones to test on."""
    if split == "train":
        return generate(number, 4000, np.random.default_rng(number))
    return generate(number, 1000, np.random.default_rng(100 + number), min_length=17, max_length=32)


def generate(number: int, size: int, rng: np.random.Generator, *, min_length: int = 1, max_length: int = 16) -> Corpus:
    """`size` strings, as symbols between spaces, half accepted, lengths spread over the given range.

    An accepted string is a uniform walk through the states from which acceptance can still be reached in
    the symbols that are left; a rejected one likewise.
    """
    dfa = TOMITA[number]
    # ways[accepted, left, state]: is there a continuation of this length that ends so?
    ways = np.zeros((2, max_length + 1, len(dfa.transitions)), bool)
    final = np.isin(np.arange(len(dfa.transitions)), list(dfa.accepting))
    ways[1, 0], ways[0, 0] = final, ~final
    step = np.array(dfa.transitions)
    for left in range(1, max_length + 1):
        ways[:, left] = ways[:, left - 1][:, step].any(2)
    possible = [
        [length for length in range(min_length, max_length + 1) if ways[accepted, length, 0]] for accepted in (0, 1)
    ]
    labels = rng.permutation(np.arange(size) % 2)
    texts = [_string(step, ways[label], rng.choice(possible[label]), rng) for label in labels]
    return Corpus(tuple(texts), labels.astype(np.int64), CLASSES, f"tomita{number}")


def _string(step: NDArray[np.int64], ways: NDArray[np.bool_], length: int, rng: np.random.Generator) -> str:
    state, symbols = 0, []
    for left in range(length - 1, -1, -1):
        open_symbols = np.flatnonzero(ways[left, step[state]])
        symbol = int(open_symbols[rng.integers(len(open_symbols))])
        symbols.append(str(symbol))
        state = step[state, symbol]
    return " ".join(symbols)
