"""Deterministic machines on disk: JSON, which is read again, and DOT for Graphviz and AALpy."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from wfalens.errors import FormatError, InputError
from wfalens.messages import printable
from wfalens.robustness.dfa.machines import Machine
from wfalens.storage import write_atomically

FORMAT, VERSION = "wfalens-machine", 1
_MOST_SHOWN = 8  # letters on an edge


def write_machine(path: str | Path, machine: Machine, class_names: tuple[str, ...], about: dict[str, Any]) -> None:
    """By the ending: .json holds all, .dot is for drawing."""
    ending = Path(path).suffix.lower()
    if ending == ".json":
        text = json.dumps(to_json(machine, class_names, about), ensure_ascii=False, indent=1) + "\n"
    elif ending == ".dot":
        text = to_dot(machine, class_names)
    else:
        raise InputError(f"{path}: a machine is written as .dot or .json")
    write_atomically(Path(path), text.encode("utf-8", "backslashreplace"))


def to_json(machine: Machine, class_names: tuple[str, ...], about: dict[str, Any]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "letters": list(machine.letters),
        "classes": list(class_names),
        "outputs": list(machine.outputs),
        "transitions": [list(row) for row in machine.transitions],
        "about": about,
    }


def read_machine(path: str | Path) -> tuple[Machine, tuple[str, ...]]:
    """A machine and the names of its classes; everything in the file is checked."""
    try:
        stored = json.loads(Path(path).read_text("utf-8"))
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
    except (OSError, ValueError, KeyError, TypeError, InputError) as error:
        raise FormatError(f"{path}: not a machine of wfalens ({printable(str(error))})") from None


def to_dot(machine: Machine, class_names: tuple[str, ...]) -> str:
    """States with their classes, one edge for all letters between two states; the first state has an arrow."""
    lines = ["digraph machine {", "rankdir=LR;", '__start0 [label="", shape=none];', "__start0 -> s0;"]
    for state, output in enumerate(machine.outputs):
        lines.append(f"s{state} [label={_quoted(f's{state}: {class_names[output]}')}];")
    for state, row in enumerate(machine.transitions):
        letters: dict[int, list[str]] = defaultdict(list)
        for letter, target in zip(machine.letters, row, strict=True):
            letters[target].append(letter)
        lines += [f"s{state} -> s{target} [label={_quoted(_shown(some))}];" for target, some in letters.items()]
    return "\n".join([*lines, "}", ""])


def _shown(letters: list[str]) -> str:
    more = len(letters) - _MOST_SHOWN
    return ", ".join(letters[:_MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _quoted(text: str) -> str:
    return json.dumps(printable(text), ensure_ascii=False)
