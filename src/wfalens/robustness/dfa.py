"""Deterministic automata with a class for every state (Moore machines): minimal forms, differences, files.

Minimisation is Moore's partition refinement (AALpy's takes seconds for some hundred states). Files are JSON, which is
read again, or DOT for Graphviz and AALpy.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wfalens.errors import FormatError, InputError
from wfalens.messages import listed, printable, reason_of
from wfalens.storage import file_text, write_atomically

FORMAT, VERSION = "wfalens-machine", 1
_MOST_SHOWN = 8  # letters on an edge


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
            raise InputError("a machine has one class and one transition per letter for every state", code="machine")
        if any(not 0 <= target < states for row in rows for target in row):
            raise InputError(f"transitions lead to states 0 to {states - 1}", code="machine")

    @classmethod
    def accepting(cls, letters: Sequence[str], transitions: Sequence[Sequence[int]], final: Iterable[int]) -> Machine:
        """From a classical automaton: class 1 where it accepts, class 0 elsewhere."""
        accepted = set(final)
        outputs = tuple(int(state in accepted) for state in range(len(transitions)))
        return cls(tuple(letters), tuple(tuple(row) for row in transitions), outputs)

    def __len__(self) -> int:
        return len(self.outputs)

    def read(self, text: Iterable[str]) -> int:
        """The class of a text, given letter by letter."""
        index = {letter: at for at, letter in enumerate(self.letters)}
        numbers = []
        for letter in text:
            if letter not in index:
                raise InputError(f"the machine does not read {letter!r}", code="unknown-letter")
            numbers.append(index[letter])
        return self.output_of(numbers)

    def output_of(self, word: Iterable[int]) -> int:
        """The class of a word of letter numbers."""
        state = 0
        for letter in word:
            state = self.transitions[state][letter]
        return self.outputs[state]

    def letters_to(self, state: int) -> dict[int, list[str]]:
        """The states that follow a state, each with the letters that lead there."""
        groups: dict[int, list[str]] = defaultdict(list)
        for letter, target in zip(self.letters, self.transitions[state], strict=True):
            groups[target].append(letter)
        return groups

    def starting_with(self, output: int) -> Machine:
        """The same, but for the class of the empty text, in a start of its own: the old one may be entered again."""
        rows = [tuple(target + 1 for target in row) for row in (self.transitions[0], *self.transitions)]
        return Machine(self.letters, tuple(rows), (output, *self.outputs))

    def save(self, path: str | Path, class_names: Sequence[str], about: dict[str, Any] | None = None) -> None:
        """By the ending: .json holds all, .dot is for drawing."""
        ending = Path(path).suffix.lower()
        if ending not in (".json", ".dot"):
            raise InputError(f"{path}: a machine is written as .dot or .json", code="file-ending")
        text = to_dot(self, class_names) if ending == ".dot" else _to_json(self, class_names, about or {})
        write_atomically(Path(path), text.encode("utf-8", "backslashreplace"))


def minimal(machine: Machine) -> Machine:
    """The minimal machine; states are numbered in the order in which they are first reached."""
    block, blocks = list(machine.outputs), 0  # equal for states that nothing has distinguished yet
    while len(set(block)) > blocks:
        blocks = len(set(block))
        number: dict[tuple[int, ...], int] = {}
        rows = [(block[state], *(block[target] for target in row)) for state, row in enumerate(machine.transitions)]
        block = [number.setdefault(row, len(number)) for row in rows]
    new = {block[0]: 0}
    for state in (reached := [0]):
        for target in machine.transitions[state]:
            if block[target] not in new:
                new[block[target]] = len(reached)
                reached.append(target)
    transitions = tuple(tuple(new[block[target]] for target in machine.transitions[state]) for state in reached)
    return Machine(machine.letters, transitions, tuple(machine.outputs[state] for state in reached))


def minimal_but_for_the_empty_text(machine: Machine) -> Machine:
    """The smallest machine with the same classes on all texts but the empty one, which networks never read."""
    choices = sorted(set(machine.outputs))
    return min((minimal(machine.starting_with(output)) for output in choices), key=len)


def shortest_difference(first: Machine, second: Machine, empty: bool = True) -> tuple[str, ...] | None:
    """A shortest text with different classes, by breadth-first search, or None. `empty`: may it be empty?"""
    if set(first.letters) != set(second.letters):
        raise InputError(
            f"the machines read {listed(first.letters)} and {listed(second.letters)}", code="other-letters"
        )
    if not empty:
        first, second = first.starting_with(0), second.starting_with(0)
    columns = [second.letters.index(letter) for letter in first.letters]
    words: dict[tuple[int, int], tuple[str, ...]] = {(0, 0): ()}  # pairs of states, each with the word that reaches it
    for one, other in (pairs := [(0, 0)]):
        word = words[one, other]
        if first.outputs[one] != second.outputs[other]:
            return word
        for at, letter in enumerate(first.letters):
            pair = first.transitions[one][at], second.transitions[other][columns[at]]
            if pair not in words:
                words[pair] = (*word, letter)
                pairs.append(pair)
    return None


def read_machine(path: str | Path) -> tuple[Machine, tuple[str, ...]]:
    """A machine and the names of its classes; everything in the file is checked."""
    try:
        stored = json.loads(file_text(Path(path)))
        if stored["format"] != FORMAT or stored["version"] != VERSION:
            raise ValueError("another format or version")
        letters, classes, outputs = (tuple(stored[name]) for name in ("letters", "classes", "outputs"))
        rows = tuple(tuple(row) for row in stored["transitions"])
        numbers = [*outputs, *(target for row in rows for target in row)]
        if not all(isinstance(name, str) for name in (*letters, *classes)) or len(set(letters)) != len(letters):
            raise ValueError("its letters or classes are no names")
        if not all(type(number) is int for number in numbers):
            raise ValueError("its states are no numbers")
        if not all(0 <= output < len(classes) for output in outputs):
            raise ValueError("a state has a class that is not there")
        return Machine(letters, rows, outputs), classes
    except Exception as error:  # files are of anybody
        raise FormatError(f"{path}: not a machine of wfalens ({reason_of(error)})", code="machine-file") from None


def _to_json(machine: Machine, class_names: Sequence[str], about: dict[str, Any]) -> str:
    content = {
        "format": FORMAT,
        "version": VERSION,
        "letters": list(machine.letters),
        "classes": list(class_names),
        "outputs": list(machine.outputs),
        "transitions": [list(row) for row in machine.transitions],
        "about": about,
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def to_dot(machine: Machine, class_names: Sequence[str]) -> str:
    """States with their classes, one edge for all letters between two states; the first state has an arrow."""
    lines = ["digraph machine {", "rankdir=LR;", '__start0 [label="", shape=none];', "__start0 -> s0;"]
    for state, output in enumerate(machine.outputs):
        lines.append(f"s{state} [label={_quoted(f's{state}: {class_names[output]}')}];")
    for state in range(len(machine)):
        groups = machine.letters_to(state)
        lines += [f"s{state} -> s{target} [label={_quoted(_shown(letters))}];" for target, letters in groups.items()]
    return "\n".join([*lines, "}", ""])


def _shown(letters: list[str]) -> str:
    more = len(letters) - _MOST_SHOWN
    return ", ".join(letters[:_MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _quoted(text: str) -> str:
    return json.dumps(printable(text), ensure_ascii=False)
