"""n-Shapley values: what sets of up to n words of a short text do together (Bordt and von Luxburg 2023).

With the Möbius transform `m(T) = Σ_{S⊆T} (−1)^(|T|−|S|)·v(S)`, the Shapley interaction index of a set A is
`Σ_{T⊇A} m(T) / (|T| − |A| + 1)`. The n-Shapley values are the sums `Φ(A) = Σ_{T⊇A, |T|≤n} B_{|T|−|A|}·SII(T)`, with
Bernoulli numbers B. They add up to v(all) − v(none). For n = 1 they are the Shapley values, for n = L the game itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.attribution import PROBABILITY, class_column, interaction_values
from wfalens.explanation.shapley.coalitions import all_coalitions
from wfalens.explanation.shapley.game import checked_absence, coalition_texts, coalition_weights
from wfalens.explanation.shapley.network_values import check_network_game, shown_ids
from wfalens.explanation.shapley.shapley_values import ENUMERATED, checked_unit, read_text
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.results import Result


@dataclass(frozen=True, eq=False, repr=False)
class NShapleyValues(Result):
    """A value for every set of up to n words and every class; they add up to output − base."""

    words: tuple[str, ...]
    class_names: tuple[str, ...]
    subsets: tuple[tuple[int, ...], ...]  # positions of the words, the smaller sets first
    values: NDArray[np.float64]  # (subsets, classes)
    base: NDArray[np.float64]  # (classes,): the output with all words absent
    unit: str

    @property
    def order(self) -> int:
        return len(self.subsets[-1])

    @property
    def title(self) -> str:
        return f"{self.order}-Shapley values of {len(self.words)} words ({self.unit})"

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"words": " × ".join(self.words[at] for at in subset), **dict(zip(self.class_names, values, strict=True))}
            for subset, values in zip(self.subsets, self.values.tolist(), strict=True)
        ]

    def to_shapiq(self, class_name: str) -> Any:
        """The values for one class as `shapiq.InteractionValues`; needs shapiq."""
        column = class_column(self.class_names, class_name)
        values = dict(zip(self.subsets, self.values[:, column].tolist(), strict=True))
        index = "k-SII" if self.order > 1 else "SV"
        return interaction_values(values, index, len(self.words), baseline_value=float(self.base[column]))


def n_shapley(
    wfa: WFA,
    text: str,
    model: PrefixClassifier | None = None,
    *,
    order: int = 3,
    absence: str = "delete",
    unit: str | None = None,
) -> NShapleyValues:
    """n-Shapley values of a text of up to 12 words, exactly, from all coalitions of its words.

    Args:
        wfa: the automaton.
        text: to explain.
        model: the network, whose values they then are; it is asked for all coalitions. None: the automaton's.
        order: n, the most words in a set.
        absence: what an absent word is: "delete", "unknown" or, without a model, "background" or "bigram".
        unit: without a model: "probability" or "log-odds"; by default the automaton's own.

    Examples:
        >>> from wfalens.explanation import n_shapley
        >>> found = n_shapley(wfa, "not a bad film", order=2)
        >>> found.values.shape  # four words, six pairs
        (10, 2)
    """
    words, encoded = read_text(wfa.encoder, text, ENUMERATED, "explained by sets of words")
    if not 1 <= order <= len(words):
        raise InputError(f"the order must be from 1 to {len(words)} for this text, not {order}", code="option-value")
    if model is None:
        unit = checked_unit(wfa, unit)
        outputs = coalition_weights(wfa, encoded.values, all_coalitions(len(words)), checked_absence(absence))
        outputs = outputs if unit == wfa.unit else wfa.probabilities(outputs)
    else:
        check_network_game(model, wfa, absence)
        ids = shown_ids(model, text, encoded.values)
        unit, outputs = PROBABILITY, final_outputs(model, coalition_texts(ids, all_coalitions(len(words)), absence))
    subsets, values = enumerated_n_shapley(outputs, order)
    return NShapleyValues(words, wfa.class_names, subsets, values, outputs[0], unit)


def enumerated_n_shapley(
    outputs: NDArray[np.float64], order: int
) -> tuple[tuple[tuple[int, ...], ...], NDArray[np.float64]]:
    """The sets of up to n players and their values; outputs of all coalitions by their numbers (2^L, C) -> (sets, C)"""
    from scipy.special import bernoulli

    players = len(outputs).bit_length() - 1
    moebius = outputs.astype(np.float64)
    for player in range(players):  # every coalition minus itself without the player
        halves = moebius.reshape(-1, 2, 1 << player, outputs.shape[1])
        halves[:, 1] -= halves[:, 0]
    present, factors = all_coalitions(players), bernoulli(order)
    subsets = tuple(subset for size in range(1, order + 1) for subset in combinations(range(players), size))
    within = np.array([present[:, list(subset)].all(1) for subset in subsets])  # (sets, 2^L): the set is part of it
    sizes, extra = np.array([len(subset) for subset in subsets]), present.sum(1)
    index = np.where(within, 1 / np.maximum(extra - sizes[:, None] + 1, 1), 0) @ moebius  # SII
    numbers = np.array([sum(1 << at for at in subset) for subset in subsets])
    larger = within[:, numbers]  # (sets, sets)
    return subsets, np.where(larger, factors[np.maximum(sizes - sizes[:, None], 0)], 0) @ index
