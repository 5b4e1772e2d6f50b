"""What one word does where: its Shapley values at all its occurrences in a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA, Texts
from wfalens.errors import InputError
from wfalens.explanation.explanation import class_column
from wfalens.explanation.shapley.game import checked_absence
from wfalens.explanation.shapley.quadrature import exact_shapley
from wfalens.explanation.shapley.shapley_values import MOST_WORDS, check_length


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Every occurrence of a word in some texts, with its values: what does the word do where?"""

    word: str
    contexts: tuple[str, ...]  # (N,): the words around it
    texts: NDArray[np.int64]  # (N,): number of the text
    positions: NDArray[np.int64]  # (N,)
    values: NDArray[np.float64]  # (N, classes)
    class_names: tuple[str, ...]
    unit: str

    def __add__(self, other: Occurrences) -> Occurrences:
        """These texts followed by others, whose numbers are their own."""
        return replace(
            self,
            contexts=self.contexts + other.contexts,
            texts=np.concatenate([self.texts, other.texts]),
            positions=np.concatenate([self.positions, other.positions]),
            values=np.concatenate([self.values, other.values]),
        )

    def quantiles(self, class_name: str, shares: Sequence[float] = (0.05, 0.25, 0.5, 0.75, 0.95)) -> list[float]:
        column = self.values[:, class_column(self.class_names, class_name)]
        return [float(value) for value in np.quantile(column, shares)]

    def extremes(self, class_name: str, k: int = 5) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
        """Where the word speaks most against a class, and most for it: contexts with values."""
        column = self.values[:, class_column(self.class_names, class_name)]
        order = np.argsort(column, kind="stable")
        against, speaking_for = order[:k], order[::-1][:k]
        told = [[(self.contexts[at], float(column[at])) for at in places] for places in (against, speaking_for)]
        return told[0], told[1]


def word_occurrences(
    wfa: WFA, texts: Texts, word: str, *, absence: str = "delete", around: int = 4, first_text: int = 0
) -> Occurrences:
    """All occurrences of one word, with `around` words to each side; texts are numbered from `first_text` on."""
    if word not in wfa.encoder.vocabulary:
        raise InputError(f"the automaton does not know the word {word!r}")
    ids, code = wfa.ids(texts), wfa.encoder.vocabulary.id_of(word)
    holding = np.unique(ids.item_of_value()[ids.values == code])
    if len(holding) == 0:
        raise InputError(f"the word {word!r} does not occur in these texts")
    chosen = ids.take(holding)
    check_length(chosen, MOST_WORDS, "explained word by word")
    values, _ = exact_shapley(wfa, chosen, checked_absence(absence))
    places = np.flatnonzero(chosen.values == code)
    item = chosen.item_of_value()[places]
    positions = places - chosen.offsets[item]
    contexts = [
        " ".join(wfa.encoder.vocabulary.decode(chosen[text][max(0, at - around) : at + around + 1]))
        for text, at in zip(item, positions, strict=True)
    ]
    return Occurrences(
        word, tuple(contexts), first_text + holding[item], positions, values.values[places], wfa.class_names, wfa.unit
    )
