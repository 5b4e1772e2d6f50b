"""DRN, the explicit format of the model checker Storm.

The automaton becomes a Markov decision process. Words are its actions, named by `symbols.escape`. Each class has a
reward model (`class_sport`) that gives every state its weight for the class, and a label (`says_class_sport`) on the
states that speak most for it; `lost` marks the lost state. Reading k words and then asking for the reward of the state,
`R{"class_sport"}max=? [I=k]`, is the greatest weight that any k words can give the class.

    part = subset(wfa, words=["good", "bad", "don't"])  # chosen words; states and a threshold as well
    text = to_drn(part)  # starts in state 0
    text = to_drn(part, start=distribution)  # (n,): starts from a distribution over the subset's states

With `start` there is one more state, the last and initial one, with the single action `start`: the first step leads
from there to the distribution, so a question about k words is one about k + 1 steps. It has the label `start`, no
reward, and speaks for no class. Places of states and words in the subset are those in Storm: state i is
`part.states[i]`, and every state has the actions of all W words in the order of `part.words`, so that the choice
`i·W + σ` reads word σ in state i. `read_words` gives the words of a file's actions.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.export.subset import Subset
from wfalens.export.symbols import CLASS, escape, unescape
from wfalens.export.text_columns import chosen, lines, numbers, where

START = "start"
SAYS = "says"
_SUM_TOLERANCE = 1e-6


def to_drn(part: Subset, start: NDArray[np.float64] | None = None) -> str:
    """The subset as an MDP in DRN, starting in state 0 or from a distribution over its states."""
    part.require_stochastic("DRN")
    n, extra = len(part.states), int(start is not None)
    rewards = [escape(name, CLASS) for name in part.class_names]
    choice = (part.source != np.roll(part.source, 1)) | (part.word != np.roll(part.word, 1))
    choice[0] = True
    first = np.diff(part.source, prepend=-1) != 0
    body = lines(
        where(first, chosen(_headers(part, initial=not extra), np.arange(n))),
        where(choice, chosen([f"\taction {escape(word)}\n" for word in part.words], part.word[choice])),
        "\t\t",
        chosen([str(state) for state in range(n)], part.target),
        " : ",
        numbers(part.weight),
        "\n",
    )
    head = (
        f"@type: MDP\n@parameters\n\n@reward_models\n{' '.join(rewards)}\n"
        f"@nr_states\n{n + extra}\n@nr_choices\n{int(choice.sum()) + extra}\n@model\n"
    )
    return head + body + ("" if start is None else _start(part, start))


def labels(part: Subset) -> list[list[str]]:
    """What each state is called besides `init`: the class it speaks for most, or lost."""
    says = [f"{SAYS}_{escape(name, CLASS)}" for name in part.class_names]
    return [["lost"] if label < 0 else [says[label]] for label in part.decided]


def read_words(text: str) -> list[str]:
    """The words of the actions, in the order of their first appearance."""
    names = dict.fromkeys(re.findall(r"^\taction (\S+)", text, re.MULTILINE))
    return [unescape(name) for name in names if name != START]


def _headers(part: Subset, initial: bool) -> list[str]:
    headers = []
    for place, (weights, names) in enumerate(zip(part.final, labels(part), strict=True)):
        if initial and part.initial[place] == 1:
            names = ["init", *names]
        headers.append(f"state {place} {_rewards(weights)} {' '.join(names)}\n")
    return headers


def _rewards(weights: NDArray[np.float64]) -> str:
    return f"[{', '.join(map(repr, weights.tolist()))}]"


def _start(part: Subset, start: NDArray[np.float64]) -> str:
    n = len(part.states)
    if start.shape != (n,) or np.any(start < 0) or abs(start.sum() - 1) > _SUM_TOLERANCE:
        raise InputError(f"the start must be a distribution over the {n} states of the subset")
    reached = np.flatnonzero(start)
    share = start[reached] / start.sum()
    share[share.argmax()] += 1 - share.sum()
    header = f"state {n} {_rewards(np.zeros(len(part.class_names)))} init {START}\n\taction {START}\n"
    return header + lines("\t\t", numbers(reached), " : ", numbers(share), "\n")
