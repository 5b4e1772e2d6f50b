"""What would change the output: other words in the place of single words, or edits of a text of characters."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.sweeps import forward_backward, replacement_outputs
from wfalens.automaton.wfa import UNDECIDED, WFA
from wfalens.errors import InputError
from wfalens.explanation.attribution import AUTOMATON, NETWORK, class_column
from wfalens.explanation.influence import words_seen
from wfalens.explanation.shapley.shapley_values import read_text
from wfalens.messages import percent, visible
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.ragged import concatenate
from wfalens.results import Result
from wfalens.text.character_edits import KINDS, Edit, edited_texts, reads_characters

_UNDECIDED = "the automaton is undecided on this text: all mass was lost; name a class, or use another completion"


@dataclass(frozen=True, eq=False)
class Replacement:
    """A word at a position, and the output with it."""

    position: int
    old: str
    new: str
    output: NDArray[np.float64]  # (classes,): the automaton's
    probability: NDArray[np.float64]  # (classes,): the network's where it was asked, else the automaton's


@dataclass(frozen=True, eq=False, repr=False)
class Replacements(Result):
    """At every position of a text the word that lowers a class most."""

    class_name: str
    class_names: tuple[str, ...]
    items: tuple[Replacement, ...]
    source: str  # whose probabilities are given: "network" or "automaton"

    @property
    def title(self) -> str:
        return (
            f"Replacements that lower {self.class_name} most in the automaton, with the {self.source}'s probability of "
            "it"
        )

    def rows(self) -> list[dict[str, Any]]:
        column = self.class_names.index(self.class_name)
        return [
            {
                "position": each.position,
                "word": each.old,
                "lowest with": each.new,
                "probability": float(each.probability[column]),
            }
            for each in self.items
        ]

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        return {self.title: [{**row, "probability": percent(row["probability"])} for row in self.rows()]}


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """An edit of a text that gives it another class."""

    edit: Edit
    label: str  # the automaton's new class
    automaton: NDArray[np.float64]  # (classes,)
    network: NDArray[np.float64] | None = None  # (classes,); None: no network was given
    holds: bool | None = None  # whether the network changes its class, too


@dataclass(frozen=True, repr=False)
class Counterfactuals(Result):
    """The edits of one text that change its class, the largest margin first, out of `tried`."""

    text: str
    label: str
    tried: int
    items: tuple[Counterfactual, ...]

    def __len__(self) -> int:
        return len(self.items)

    @property
    def title(self) -> str:
        return f"{len(self)} of {self.tried:,} texts at one edit are not {self.label}"

    def rows(self) -> list[dict[str, Any]]:
        return [
            {
                "text": visible(each.edit.text),
                "edit": each.edit.kind,
                "class": each.label,
                "probability": float(each.automaton.max()),
                "network changes, too": each.holds,
            }
            for each in self.items
        ]


def alternatives(
    wfa: WFA, text: str, model: PrefixClassifier | None = None, *, min_count: int = 5, most: int = 10
) -> Replacements | Counterfactuals:
    """What would change the output of a text: edits where tokens are characters, replacements of words elsewhere."""
    if reads_characters(wfa.encoder):
        return counterfactuals(wfa, text, model=model, most=most)
    return best_replacements(wfa, text, min_count=min_count, model=model)


def best_replacements(
    wfa: WFA, text: str, class_name: str | None = None, min_count: int = 5, model: PrefixClassifier | None = None
) -> Replacements:
    """At every position the word that lowers a class (default: the predicted one) most, by the automaton.

    With the model, its own probabilities of the changed texts are given beside.
    """
    words, ids = read_text(wfa.encoder, text)
    forward, backward = forward_backward(wfa, ids.values)
    decision = int(wfa.decide(wfa.read_out(forward[-1:]))[0])
    if class_name is None and decision == UNDECIDED:
        raise InputError(_UNDECIDED, code="undecided")
    name = class_name or wfa.class_names[decision]
    column, candidates = class_column(wfa.class_names, name), words_seen(wfa, min_count)
    every = [replacement_outputs(wfa, forward, backward, position, candidates) for position in range(len(words))]
    best = [int(outputs[:, column].argmin()) for outputs in every]
    outputs = np.array([row[at] for row, at in zip(every, best, strict=True)])
    chosen = wfa.encoder.vocabulary.decode(candidates[best])
    if model is None:
        probabilities = wfa.probabilities(outputs)
    else:
        changed = [[*words[:at], new, *words[at + 1 :]] for at, new in enumerate(chosen)]
        probabilities = final_outputs(model, model.encoder.encode_tokens(changed))
    items = tuple(map(Replacement, range(len(words)), words, chosen, outputs, probabilities))
    return Replacements(name, wfa.class_names, items, AUTOMATON if model is None else NETWORK)


def counterfactuals(
    wfa: WFA,
    text: str,
    *,
    model: PrefixClassifier | None = None,
    kinds: Collection[str] = KINDS,
    most: int = 20,
) -> Counterfactuals:
    """The single-character edits that change the automaton's class, the largest margin first; checked on the network.

    For automata whose tokens are characters, or n-grams of them.
    """
    own = wfa.ids([text])
    if len(own.values) == 0:
        raise InputError("the text has no characters that the automaton reads", code="no-words")
    edited = edited_texts(wfa.encoder, text, kinds)
    label = int(wfa.decide(wfa.weights(own))[0])
    if label == UNDECIDED:
        raise InputError(_UNDECIDED, code="undecided")
    weights = wfa.weights(edited.ids)
    decided, outputs, margins = wfa.decide(weights), wfa.probabilities(weights), wfa.margins(weights)
    flipped = np.flatnonzero((decided != label) & (decided != UNDECIDED))
    best = flipped[np.argsort(-margins[flipped], kind="stable")][:most]
    network = None if model is None else final_outputs(model, concatenate([own, edited.ids.take(best)]))
    items = [Counterfactual(edited.edits[at], wfa.class_names[decided[at]], outputs[at]) for at in best]
    if network is not None:
        holds = network[1:].argmax(1) != network[0].argmax()
        items = [replace(item, network=network[at], holds=bool(holds[at - 1])) for at, item in enumerate(items, 1)]
    return Counterfactuals(text, wfa.class_names[label], len(edited), tuple(items))
