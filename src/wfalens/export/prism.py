"""The PRISM language: the Markov decision process of `drn`, as a program for people and model checkers.

One module with one variable `s`, the state; a command per state and word; `rewards "class_…"` per class, and labels
as in DRN. PRISM and Storm both read it. Numbers are written in full; Storm keeps sixteen digits of them.
"""

from __future__ import annotations

import numpy as np

from wfalens.export.drn import labels
from wfalens.export.subset import Subset
from wfalens.export.symbols import CLASS, escape
from wfalens.export.text_columns import chosen, lines, numbers, where


def to_prism(part: Subset) -> str:
    """The subset as a program; state 0 is the initial one."""
    part.require_stochastic("PRISM")
    n = len(part.states)
    first = np.append(True, (np.diff(part.source) != 0) | (np.diff(part.word) != 0))  # of a command
    last = np.append(first[1:], True)
    names = [escape(word) for word in part.words]  # every state has a command for every word, in their order
    heads = [f"  [{name}] s={state} -> " for state in range(n) for name in names]
    commands = lines(
        where(first, chosen(heads, np.arange(len(heads)))),
        numbers(part.weight),
        ":(s'=",
        chosen([str(state) for state in range(n)], part.target),
        chosen([") + ", ");\n"], last.astype(np.int8)),
    )
    head = f"mdp\n\nmodule automaton\n  s : [0..{n - 1}] init 0;\n"
    return "".join([head, commands, "endmodule\n", *_labels(part), *_rewards(part)])


def _labels(part: Subset) -> list[str]:
    states_of: dict[str, list[int]] = {}
    for state, names in enumerate(labels(part)):
        for name in names:
            states_of.setdefault(name, []).append(state)
    return [
        f'\nlabel "{name}" = {" | ".join(f"s={state}" for state in states)};\n' for name, states in states_of.items()
    ]


def _rewards(part: Subset) -> list[str]:
    return [
        f'\nrewards "{escape(name, CLASS)}"\n'
        + "".join(f"  s={state} : {weight!r};\n" for state, weight in enumerate(weights.tolist()))
        + "endrewards\n"
        for name, weights in zip(part.class_names, part.final.T, strict=True)
    ]
