"""Deterministic automata with a class for every state, their minimal forms and their differences."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wfalens.errors import InputError


@dataclass(frozen=True)
class Machine:
    """A complete deterministic automaton (a Moore machine); state 0 starts."""

    letters: tuple[str, ...]
    transitions: tuple[tuple[int, ...], ...]  # state -> the state after each letter
    outputs: tuple[int, ...]  # state -> its class

    def __post_init__(self) -> None:
        states = len(self.outputs)
        rows = self.transitions
        if states == 0 or len(rows) != states or any(len(row) != len(self.letters) for row in rows):
            raise InputError("a machine has one class and one transition per letter for every state")
        if any(not 0 <= target < states for row in rows for target in row):
            raise InputError(f"transitions lead to states 0 to {states - 1}")

    def __len__(self) -> int:
        return len(self.outputs)

    def read(self, text: Iterable[str]) -> int:
        """The class of a text, given letter by letter."""
        state, index = 0, {letter: at for at, letter in enumerate(self.letters)}
        for letter in text:
            if letter not in index:
                raise InputError(f"the machine does not read {letter!r}")
            state = self.transitions[state][index[letter]]
        return self.outputs[state]

    def starting_with(self, output: int) -> Machine:
        """The same, but for the class of the empty text, in a start of its own: the old one may be entered again."""
        rows = [tuple(target + 1 for target in row) for row in (self.transitions[0], *self.transitions)]
        return Machine(self.letters, tuple(rows), (output, *self.outputs))


def minimal(machine: Machine) -> Machine:
    """Minimisation by Moore's partition refinement; states are numbered in the order in which they are first reached.

    States are split by their classes, then by the blocks that their letters lead to,
    until no block is split.
    """
    reached = _reachable(machine)
    block = {state: machine.outputs[state] for state in reached}
    while True:
        signature = {state: (block[state], *(block[to] for to in machine.transitions[state])) for state in reached}
        numbers = {each: number for number, each in enumerate(dict.fromkeys(signature.values()))}
        finer = {state: numbers[signature[state]] for state in reached}
        if len(numbers) == len(set(block.values())):
            break
        block = finer
    first = {number: state for state, number in reversed(finer.items())}
    return Machine(
        machine.letters,
        tuple(tuple(finer[to] for to in machine.transitions[first[number]]) for number in range(len(first))),
        tuple(machine.outputs[first[number]] for number in range(len(first))),
    )


def minimal_but_for_the_empty_text(machine: Machine) -> Machine:
    """The smallest machine with the same classes on all texts but the empty one, which networks never read."""
    choices = sorted(set(machine.outputs))
    return min((minimal(machine.starting_with(output)) for output in choices), key=len)


def shortest_difference(first: Machine, second: Machine, empty: bool = True) -> tuple[str, ...] | None:
    """Breadth-first search of the product: a shortest text with different classes or None. `empty`: may it be empty?"""
    if set(first.letters) != set(second.letters):
        raise InputError(f"the machines read {', '.join(first.letters)} and {', '.join(second.letters)}")
    place = [second.letters.index(letter) for letter in first.letters]
    seen: set[tuple[int, int]] = set() if not empty else {(0, 0)}
    queue: deque[tuple[int, int, tuple[str, ...]]] = deque([(0, 0, ())])
    while queue:
        left, right, text = queue.popleft()
        if (text or empty) and first.outputs[left] != second.outputs[right]:
            return text
        for at, letter in enumerate(first.letters):
            pair = first.transitions[left][at], second.transitions[right][place[at]]
            if pair not in seen:
                seen.add(pair)
                queue.append((*pair, (*text, letter)))
    return None


def machine_of(letters: Sequence[str], transitions: Sequence[Sequence[int]], accepting: Iterable[int]) -> Machine:
    """From a classical automaton: class 1 where it accepts, class 0 elsewhere."""
    final = set(accepting)
    outputs = tuple(int(state in final) for state in range(len(transitions)))
    return Machine(tuple(letters), tuple(tuple(row) for row in transitions), outputs)


def _reachable(machine: Machine) -> list[int]:
    """States in the order in which they are first reached."""
    order, seen = [0], {0}
    for state in order:
        for target in machine.transitions[state]:
            if target not in seen:
                seen.add(target)
                order.append(target)
    return order
