"""What sets of words do together: interactions of pairs, and n-Shapley values (Bordt and von Luxburg 2023).

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
from wfalens.explanation.shapley.quadrature import exact_interactions
from wfalens.explanation.shapley.shapley_values import ENUMERATED, MOST_PAIRED, checked_unit, read_text
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.results import Result

PAIRS = "SII"  # the Shapley interaction index


@dataclass(frozen=True, eq=False, repr=False)
class Interactions(Result):
    """A value for sets of words and every class: what they do together.

    The Shapley interaction index of pairs (`SII`) is what neither word does alone. n-Shapley values (`k-SII`) of all
    sets of up to n words add up to output − base.
    """

    words: tuple[str, ...]
    class_names: tuple[str, ...]
    subsets: tuple[tuple[int, ...], ...]  # positions of the words, the smaller sets first
    values: NDArray[np.float64]  # (subsets, classes)
    unit: str
    index: str  # as shapiq names it
    base: NDArray[np.float64] | None = None  # (classes,): the output with all words absent

    @property
    def title(self) -> str:
        kind = "Shapley interactions" if self.index == PAIRS else f"{len(self.subsets[-1])}-Shapley values"
        return f"{kind} of {len(self.words)} words ({self.unit})"

    def top(self, class_name: str, k: int = 10) -> list[tuple[str | float, ...]]:
        """The `k` sets that matter most, in either direction: their words in the order of the text, and the value."""
        column = self.values[:, class_column(self.class_names, class_name)]
        order = np.argsort(-np.abs(column), kind="stable")[:k]
        return [(*(self.words[place] for place in self.subsets[at]), float(column[at])) for at in order]

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"words": " × ".join(self.words[at] for at in subset), **dict(zip(self.class_names, values, strict=True))}
            for subset, values in zip(self.subsets, self.values.tolist(), strict=True)
        ]

    def to_shapiq(self, class_name: str) -> Any:
        """The values for one class as `shapiq.InteractionValues`, which the plots of shapiq draw; needs shapiq."""
        column = class_column(self.class_names, class_name)
        values = dict(zip(self.subsets, self.values[:, column].tolist(), strict=True))
        base = {} if self.base is None else {"baseline_value": float(self.base[column])}
        return interaction_values(values, self.index, len(self.words), **base)


def interactions(wfa: WFA, text: str, *, absence: str = "delete") -> Interactions:
    """Interactions of all pairs of words of a text, exact, in the automaton's unit."""
    words, ids = read_text(wfa.encoder, text, MOST_PAIRED, "explained by pairs of words")
    (table,) = exact_interactions(wfa, ids, checked_absence(absence))
    pairs = tuple(combinations(range(len(words)), 2))
    values = table[np.triu_indices(len(words), 1)]
    return Interactions(words, wfa.class_names, pairs, values, wfa.unit, PAIRS)


def n_shapley(
    wfa: WFA,
    text: str,
    model: PrefixClassifier | None = None,
    *,
    order: int = 3,
    absence: str = "delete",
    unit: str | None = None,
) -> Interactions:
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
    return Interactions(words, wfa.class_names, subsets, values, unit, "k-SII" if order > 1 else "SV", outputs[0])


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
