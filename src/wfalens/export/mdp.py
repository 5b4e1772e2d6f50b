"""Markov decision processes: DRN, the explicit format of Storm; the PRISM language; and DOT as AALpy reads it.

Words are the actions, named by `symbols.escape`. Each class has a reward model (`class_sport`) that gives every state
its weight for the class, and a label (`says_class_sport`) on the states where that weight is the largest; `lost` marks
the lost state. Reading k words and then asking for the reward of the state, `R{"class_sport"}max=? [I=k]`, is the
greatest weight that any k words can give the class.

    part = subset(wfa, words=["good", "bad", "don't"])  # chosen words; states and a threshold as well
    text = to_drn(part)  # starts in state 0
    text = to_drn(part, start=distribution)  # (n,): starts from a distribution over the subset's states

With `start` there is one more state, the last and initial one, with the single action `start`: the first step leads
from there to the distribution, so a question about k words is one about k + 1 steps. It has the label `start` and no
reward. Places of states and words in the subset are those in Storm: state i is `part.states[i]`, and every state has
the actions of all W words in the order of `part.words`, so that the choice `i·W + σ` reads word σ in state i.

A PRISM program has one module with one variable `s`, the state, and a command per state and word. PRISM and Storm both
read it. Numbers are written in full; Storm keeps sixteen digits of them.

AALpy (`load_automaton_from_file(path, "mdp")`) has inputs and outputs. Words are inputs. A state's output names the
state and the class with the largest weight (`s3__class_sport`), so that outputs tell states apart, which AALpy's
algorithms ask for; class weights have no place in this format.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.export.exporters import exporter
from wfalens.export.subset import Subset
from wfalens.export.symbols import CLASS, chosen, escape, lines, numbers, where

START = "start"
SAYS = "says"
_SUM_TOLERANCE = 1e-6


@exporter("drn", suffixes=(".drn",), stochastic=True, symbols=True)
def to_drn(part: Subset, start: NDArray[np.float64] | None = None) -> str:
    """The subset as an MDP in DRN, starting in state 0 or from a distribution over its states."""
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


def labels(part: Subset) -> list[str]:
    """The label of each state besides `init`: the class with the largest weight, or lost."""
    says = [f"{SAYS}_{escape(name, CLASS)}" for name in part.class_names]
    return ["lost" if label < 0 else says[label] for label in part.decided]


def _headers(part: Subset, initial: bool) -> list[str]:
    marks = ["init " if initial and share == 1 else "" for share in part.initial]
    columns = enumerate(zip(part.final, marks, labels(part), strict=True))
    return [f"state {place} {_rewards(weights)} {mark}{label}\n" for place, (weights, mark, label) in columns]


def _rewards(weights: NDArray[np.float64]) -> str:
    return f"[{', '.join(map(repr, weights.tolist()))}]"


def _start(part: Subset, start: NDArray[np.float64]) -> str:
    n = len(part.states)
    if start.shape != (n,) or np.any(start < 0) or abs(start.sum() - 1) > _SUM_TOLERANCE:
        raise InputError(f"the start must be a distribution over the {n} states of the subset", code="start")
    reached = np.flatnonzero(start)
    share = start[reached] / start.sum()
    share[share.argmax()] += 1 - share.sum()
    header = f"state {n} {_rewards(np.zeros(len(part.class_names)))} init {START}\n\taction {START}\n"
    return header + lines("\t\t", numbers(reached), " : ", numbers(share), "\n")


@exporter("prism", suffixes=(".prism",), stochastic=True, symbols=True)
def to_prism(part: Subset) -> str:
    """The subset as a program; state 0 is the initial one."""
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
    return "".join([head, commands, "endmodule\n", *_label_lines(part), *_reward_blocks(part)])


def _label_lines(part: Subset) -> list[str]:
    states_of: dict[str, list[str]] = {}
    for state, name in enumerate(labels(part)):
        states_of.setdefault(name, []).append(f"s={state}")
    return [f'\nlabel "{name}" = {" | ".join(states)};\n' for name, states in states_of.items()]


def _reward_blocks(part: Subset) -> list[str]:
    return [
        f'\nrewards "{escape(name, CLASS)}"\n'
        + "".join(f"  s={state} : {weight!r};\n" for state, weight in enumerate(weights.tolist()))
        + "endrewards\n"
        for name, weights in zip(part.class_names, part.final.T, strict=True)
    ]


@exporter("aalpy", stochastic=True, symbols=True)
def to_aalpy(part: Subset) -> str:
    """The subset as AALpy's DOT of an MDP; state 0 is the initial one."""
    names = [f"s{state}" for state in range(len(part.states))]
    outputs = ["lost" if label < 0 else escape(part.class_names[label], CLASS) for label in part.decided]
    nodes = "".join(f'{name} [label="{name}__{output}"];\n' for name, output in zip(names, outputs, strict=True))
    edges = lines(
        chosen([f"{name} -> " for name in names], part.source),
        chosen(names, part.target),
        ' [label="',
        chosen([escape(word) for word in part.words], part.word),
        ":",
        numbers(part.weight),
        '"];\n',
    )
    return f'digraph automaton {{\n{nodes}{edges}__start0 [label="", shape=none];\n__start0 -> s0 [label=""];\n}}\n'
