"""Certified robustness: whether any change that is allowed changes the class that the automaton gives a text.

Backward induction (interval arithmetic where rows are not distributions) bounds the advantage of every other class over
the predicted one. If all bounds are below zero, no variant of the text has another class: the text is certified. The
cost grows with the sum of the numbers of options over the positions; the number of variants is their product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import UNDECIDED, WFA
from wfalens.errors import InputError
from wfalens.robustness.certify.edits import Choices, Edits, count_variants, in_words, spelled
from wfalens.robustness.certify.induction import TextSteps, Values, backward_induction
from wfalens.robustness.certify.interval_bounds import interval_values
from wfalens.robustness.certify.path_search import Path, PathSearch

CERTIFIED, BROKEN, OPEN = "certified", "broken", "open"
ROUNDING = 1e-9  # a bound so close to zero certifies nothing


@dataclass(frozen=True)
class Certificate:
    """What is known of one text under change. Advantages are of the best other class over the predicted one, in the
    unit of the automaton's class weights."""

    words: tuple[str, ...]
    label: str
    status: str  # certified: no variant changes the class; broken: the witness does; open: neither is known
    bound: float  # no variant gives another class more advantage
    reached: float  # the advantage that the witness reaches
    lowest: float  # no variant gives the predicted class less probability
    witness: tuple[str, ...]  # the worst variant found
    witness_label: str | None
    variants: int  # how many texts the certificate speaks of, this one included
    picks: Path  # the options that make the worst variant

    def to_json(self) -> dict[str, Any]:
        return {
            "text": " ".join(self.words),
            "label": self.label,
            "status": self.status,
            "bound": self.bound,
            "reached": self.reached,
            "lowest": self.lowest,
            "witness": " ".join(self.witness),
            "witness_label": self.witness_label,
            "variants": self.variants,
        }


def certify(wfa: WFA, text: str, edits: Edits, *, changes: int | None = None, effort: int = 0) -> Certificate:
    """Whether any change changes the class that the automaton gives to a text.

    Args:
        wfa: the automaton.
        text: whose class is to be proven.
        edits: what may be changed.
        changes: how many at most (None: any number).
        effort: prefixes that best-first search may expand where the bound alone does not decide.

    Examples:
        >>> from wfalens.robustness import Edits, Substitutes, certify
        >>> edits = Edits(Substitutes.of(wfa, {"good": ["bad"]}))
        >>> certify(wfa, "a good film", edits).status
        'broken'
    """
    words = wfa.encoder.tokens(text)
    if not words:
        raise InputError("the text has no words")
    choices = edits.choices(wfa.encoder.vocabulary.encode([words]).values)
    return certify_choices(wfa, words, choices, changes=changes, effort=effort)


def certify_choices(
    wfa: WFA, words: list[str], choices: Choices, *, changes: int | None = None, effort: int = 0
) -> Certificate:
    """The same for given choices; `words` are the words of the text."""
    if changes is not None and changes < 0:
        raise InputError(f"the number of changes must be at least 0, not {changes}")
    label = _decision(wfa, choices, (0,) * len(choices))
    if label == UNDECIDED:
        raise InputError("the automaton is undecided on this text: there is no class to certify")
    steps = TextSteps(wfa, choices)
    values = _values(steps, label, changes)
    bounds = wfa.initial @ values[0][-1]
    search = PathSearch(steps, values, wfa.initial, changes=changes)
    rival = int(bounds[:-1].argmax())
    bound, (reached, path) = float(bounds[rival]), search.greedy(rival)
    if bound >= -ROUNDING and effort:
        bound, reached, path = _refined(search, bounds[:-1], reached, path, effort)
    decision = _decision(wfa, choices, path)
    status = CERTIFIED if bound < -ROUNDING else BROKEN if decision != label else OPEN
    return Certificate(
        tuple(words),
        wfa.class_names[label],
        status,
        bound,
        reached,
        float(-bounds[-1]) if isinstance(wfa, StochasticWFA) else float(1 / (1 + np.exp(bounds[:-1]).sum())),
        in_words(words, choices, path, wfa.encoder.vocabulary.words),
        None if decision == UNDECIDED else wfa.class_names[decision],
        count_variants(choices, changes),
        path,
    )


def _decision(wfa: WFA, choices: Choices, path: Path) -> int:
    return int(wfa.decide(wfa.weights(spelled(choices, np.array([path], np.int16))))[0])


def _values(steps: TextSteps, label: int, changes: int | None) -> Values:
    """Of the advantages of all other classes, and last of the loss of the predicted one; L + 1 × (levels, n, C)"""
    wfa = steps.wfa
    scores = wfa.read_out(np.eye(wfa.states))
    final = np.hstack([np.delete(scores, label, 1) - scores[:, [label]], -scores[:, [label]]])
    if isinstance(wfa, StochasticWFA):
        return backward_induction(steps, final, changes)
    return interval_values(steps, wfa.initial, final, changes)


def _refined(
    search: PathSearch, bounds: NDArray[np.float64], reached: float, path: Path, effort: int
) -> tuple[float, float, Path]:
    """The bound over all rivals, made tighter by following variants, and the worst of these."""
    bound = -np.inf
    for rival in np.argsort(-bounds, kind="stable"):
        found, worse = float(bounds[rival]), None
        if found >= -ROUNDING:
            found, worse, effort = search.best_first(int(rival), effort, -ROUNDING)
        bound = max(bound, found)
        if worse is not None and found > reached:
            reached, path = found, worse
    return bound, reached, path
