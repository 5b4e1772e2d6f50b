"""PRISM's explicit files: the Markov decision process of `drn` as lists of states, transitions, labels and rewards.

`name.sta` (states), `name.tra` (state, choice, target, weight, word), `name.lab` (labels as in DRN) and one
`name1.srew`, `name2.srew` … per class, in the order of the classes, each with its name in the first line.
PRISM reads them together with `-importmodel name.all -mdp`.
"""

from __future__ import annotations

from wfalens.export.drn import labels
from wfalens.export.subset import Subset
from wfalens.export.symbols import CLASS, escape
from wfalens.export.text_columns import chosen, lines, numbers


def to_prism_explicit(part: Subset) -> dict[str, str]:
    """The files by the ending that follows the common name."""
    part.require_stochastic("PRISM")
    rewards = {f"{number}.srew": _rewards(part, number - 1) for number in range(1, len(part.class_names) + 1)}
    return {".tra": _transitions(part), ".sta": _states(part), ".lab": _labels(part), **rewards}


def _transitions(part: Subset) -> str:
    n, words = len(part.states), len(part.words)
    states = [str(state) for state in range(n)]
    # every state has a choice for every word
    return f"{n} {n * words} {len(part.weight)}\n" + lines(
        chosen(states, part.source),
        " ",
        numbers(part.word),
        " ",
        chosen(states, part.target),
        " ",
        numbers(part.weight),
        " ",
        chosen([escape(word) for word in part.words], part.word),
        "\n",
    )


def _states(part: Subset) -> str:
    return "(s)\n" + "".join(f"{state}:({state})\n" for state in range(len(part.states)))


def _labels(part: Subset) -> str:
    of_states = [["init", *names] if state == 0 else names for state, names in enumerate(labels(part))]
    known = list(dict.fromkeys(["init", "deadlock", *(name for names in of_states for name in names)]))
    head = " ".join(f'{number}="{name}"' for number, name in enumerate(known))
    body = "".join(
        f"{state}: {' '.join(str(known.index(name)) for name in names)}\n" for state, names in enumerate(of_states)
    )
    return f"{head}\n{body}"


def _rewards(part: Subset, label: int) -> str:
    weights = part.final[:, label].tolist()
    held = [(state, weight) for state, weight in enumerate(weights) if weight]
    head = (
        f'# Reward structure "{escape(part.class_names[label], CLASS)}"\n# State rewards\n{len(weights)} {len(held)}\n'
    )
    return head + "".join(f"{state} {weight!r}\n" for state, weight in held)
