"""Pairs of words that two spaces see differently, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.html import table_html
from wfalens.validation import check_choice

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Pair:
    """Two words, their distances in both spaces, and what each does."""

    first: str
    second: str
    transition_distance: float  # d_T
    semantic_distance: float  # d_S
    first_influence: NDArray[np.float64]  # (classes,)
    second_influence: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs that rank highest for each class of their first word, and how many there are in all."""

    kind: str
    pairs: tuple[Pair, ...]
    total: int
    words: int
    epsilon: float
    delta: float
    convention: str
    vectors: str  # where the meanings come from
    quantiles: Mapping[str, Mapping[float, float]]  # of d_T and d_S over random pairs
    class_names: tuple[str, ...]
    unit: str

    def of_class(self, class_name: str) -> tuple[Pair, ...]:
        check_choice("class", class_name, self.class_names)
        column = self.class_names.index(class_name)
        return tuple(pair for pair in self.pairs if pair.first_influence.argmax() == column)

    def to_dataframe(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "first": pair.first,
                    "second": pair.second,
                    "d_T": pair.transition_distance,
                    "d_S": pair.semantic_distance,
                    "first class": self._top(pair.first_influence)[0],
                    "first influence": self._top(pair.first_influence)[1],
                    "second class": self._top(pair.second_influence)[0],
                    "second influence": self._top(pair.second_influence)[1],
                }
                for pair in self.pairs
            ]
        )

    def to_json(self) -> dict[str, Any]:
        def scores(row: NDArray[np.float64]) -> dict[str, float]:
            return dict(zip(self.class_names, map(float, row), strict=True))

        return {
            "kind": self.kind,
            "total": self.total,
            "words": self.words,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "convention": self.convention,
            "vectors": self.vectors,
            "quantiles": {name: {str(at): value for at, value in row.items()} for name, row in self.quantiles.items()},
            "unit": self.unit,
            "pairs": [
                {
                    "first": pair.first,
                    "second": pair.second,
                    "d_T": pair.transition_distance,
                    "d_S": pair.semantic_distance,
                    "first_influence": scores(pair.first_influence),
                    "second_influence": scores(pair.second_influence),
                }
                for pair in self.pairs
            ],
        }

    def to_html(self) -> str:
        rows = []
        for pair in self.pairs:
            first, second = self._top(pair.first_influence), self._top(pair.second_influence)
            rows.append(
                [
                    pair.first,
                    pair.second,
                    f"{pair.transition_distance:.4f}",
                    f"{pair.semantic_distance:.4f}",
                    f"{first[0]} {first[1]:+.2f}",
                    f"{second[0]} {second[1]:+.2f}",
                ]
            )
        title = (
            f"{self.kind.capitalize()} pairs by {self.vectors}: {self.total:,} among {self.words:,} words; "
            f"influence in {self.unit}"
        )
        return table_html(title, ["first", "second", "d_T", "d_S", "first moves to", "second moves to"], rows)

    def _repr_html_(self) -> str:
        return self.to_html()

    def _top(self, scores: NDArray[np.float64]) -> tuple[str, float]:
        return self.class_names[int(scores.argmax())], float(scores.max())
