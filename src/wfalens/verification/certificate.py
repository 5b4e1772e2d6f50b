"""Certified robustness: whether any substitution of words changes the class that the automaton gives a text.

Backward induction bounds the advantage of every other class over the predicted one. If all bounds are below zero, no
variant of the text has another class: the text is certified. The cost grows with the sum of the numbers of options
over the positions; the number of variants is their product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import UNDECIDED, WFA
from wfalens.errors import InputError
from wfalens.verification.induction import TextSteps, backward_induction, stochastic_only
from wfalens.verification.path_search import Path, PathSearch
from wfalens.verification.substitutes import Choices, Substitutes, as_texts, count_variants

CERTIFIED, BROKEN, OPEN = "certified", "broken", "open"
ROUNDING = 1e-9  # a bound so close to zero certifies nothing


@dataclass(frozen=True)
class Certificate:
    """What is known of one text under substitution. Advantages are of the best other class over the predicted one."""

    words: tuple[str, ...]
    label: str
    status: str  # certified: no variant changes the class; broken: the witness does; open: neither is known
    bound: float  # no variant gives another class more advantage
    reached: float  # the advantage that the witness reaches
    lowest: float  # no variant gives the predicted class less weight
    witness: tuple[str, ...]  # the worst variant found
    witness_label: str | None
    variants: int  # how many texts the certificate speaks of, this one included
    choices: tuple[tuple[str, ...], ...]  # what may stand at every position, the word itself first

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


def certify(
    wfa: WFA, text: str, substitutes: Substitutes, *, changes: int | None = None, effort: int = 0
) -> Certificate:
    """Whether any substitution changes the class that the automaton gives to a text.

    changes  words that may be replaced at most (None: all)
    effort   prefixes that best-first search may expand where the bound alone does not decide
    """
    words = wfa.encoder.tokens(text)
    if not words:
        raise InputError("the text has no words")
    choices = substitutes.choices(wfa.encoder.vocabulary.encode([words]).values)
    return certify_choices(wfa, words, choices, changes=changes, effort=effort)


def certify_choices(
    wfa: WFA, words: list[str], choices: Choices, *, changes: int | None = None, effort: int = 0
) -> Certificate:
    """The same for given choices; `words` are the words of the text."""
    automaton = stochastic_only(wfa, "certified")
    if changes is not None and changes < 0:
        raise InputError(f"the number of changes must be at least 0, not {changes}")
    own = np.array([options[0] for options in choices], np.int32)
    weights = automaton.weights(as_texts(own[None]))
    label = int(automaton.decide(weights)[0])
    if label == UNDECIDED:
        raise InputError("the automaton is undecided on this text: there is no class to certify")
    others = [at for at in range(len(automaton.class_names)) if at != label]
    advantage = automaton.centres[:, others] - automaton.centres[:, [label]]
    steps = TextSteps(automaton, choices)
    values = backward_induction(steps, np.hstack([advantage, -automaton.centres[:, [label]]]), changes)
    bounds = automaton.initial @ values[0][-1]
    search = PathSearch(steps, values, automaton.initial, changes=changes)
    rival = int(bounds[:-1].argmax())
    bound, (reached, path) = float(bounds[rival]), search.greedy(rival)
    if bound >= -ROUNDING and effort:
        bound, reached, path = _refined(search, bounds[:-1], reached, path, effort)
    variant = np.array([options[option] for options, option in zip(choices, path, strict=True)], np.int32)
    decision = int(automaton.decide(automaton.weights(as_texts(variant[None])))[0])
    status = CERTIFIED if bound < -ROUNDING else BROKEN if decision != label else OPEN
    vocabulary = automaton.encoder.vocabulary.words
    return Certificate(
        tuple(words),
        automaton.class_names[label],
        status,
        bound,
        reached,
        float(-bounds[-1]),
        tuple(vocabulary[new] if option else word for word, new, option in zip(words, variant, path, strict=True)),
        None if decision == UNDECIDED else automaton.class_names[decision],
        count_variants(choices, changes),
        tuple(
            (word, *(vocabulary[other] for other in options[1:])) for word, options in zip(words, choices, strict=True)
        ),
    )


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
