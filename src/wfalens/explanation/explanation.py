"""What an explanation of one text is: a number for every word and class, and where it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.explanation.intervals import half_widths
from wfalens.html import heat_html, table_html
from wfalens.messages import printable

if TYPE_CHECKING:
    import pandas as pd

PROBABILITY, LOG_ODDS = "probability", "log-odds"


def class_column(class_names: Sequence[str], name: str) -> int:
    """The column of a class by its name."""
    if name not in class_names:
        raise InputError(f"unknown class {name!r}; choose one of {', '.join(class_names)}")
    return list(class_names).index(name)


@dataclass(frozen=True, eq=False, kw_only=True)
class Explanation:
    """Values of a text's words for every class. Shapley values sum to output − base; Banzhaf values need not."""

    words: tuple[str, ...]
    class_names: tuple[str, ...]
    base: NDArray[np.float64]  # (classes,): with all words absent
    output: NDArray[np.float64]  # (classes,)
    values: NDArray[np.float64]  # (words, classes)
    unit: str  # "probability" or "log-odds"
    method: str
    absence: str
    error: float = 0.0  # bound of the error of quadrature in every value; 0: exact up to rounding
    standard_error: NDArray[np.float64] | None = None  # (words, classes), where values were sampled
    pairs: int = 0  # of orders that were sampled; 0: none, the values are exact

    def __str__(self) -> str:
        """The values for the class with the highest output, a line for every word."""
        if self.label is None:
            return "undecided: all mass was lost"
        lines = (f"{word:<16} {value:+.3f}" for word, value in zip(self.words, self.of_class(), strict=True))
        return "\n".join(map(printable, [f"{self.method} for {self.label} ({self.unit})", *lines]))

    @property
    def label(self) -> str | None:
        """The class with the highest output; None where all mass was lost (null completion)."""
        lost = self.unit == PROBABILITY and not self.output.any()
        return None if lost else self.class_names[int(self.output.argmax())]

    @property
    def gap(self) -> NDArray[np.float64]:
        """How far the values are from adding up to output − base; (classes,)"""
        return np.asarray(self.values.sum(0) - (self.output - self.base))

    def column(self, class_name: str | None = None) -> int:
        """The column of a class; by default of the one with the highest output."""
        name = self.label if class_name is None else class_name
        if name is None:
            raise InputError("the automaton is undecided on this text: all mass was lost; name a class")
        return class_column(self.class_names, name)

    def of_class(self, class_name: str | None = None) -> NDArray[np.float64]:
        """Values for one class (default: the one with the highest output); (words,)"""
        values: NDArray[np.float64] = self.values[:, self.column(class_name)]
        return values

    def interval(self, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The ends of the interval of every value; NaN from a single pair of orders. -> (words, classes) each"""
        if self.standard_error is None:
            return self.values, self.values
        half = half_widths(self.standard_error, self.pairs, level)
        return self.values - half, self.values + half

    def to_dataframe(self) -> pd.DataFrame:
        import pandas as pd

        columns = {name: self.values[:, at] for at, name in enumerate(self.class_names)}
        return pd.DataFrame({"word": self.words, **columns})

    def to_json(self) -> dict[str, Any]:
        def by_class(row: NDArray[np.float64]) -> dict[str, float]:
            return dict(zip(self.class_names, map(float, row), strict=True))

        words: list[dict[str, Any]] = [
            {"word": word, "value": by_class(row)} for word, row in zip(self.words, self.values, strict=True)
        ]
        if self.standard_error is not None:
            for item, row in zip(words, self.standard_error, strict=True):
                item["standard_error"] = by_class(row)
        return {
            "method": self.method,
            "absence": self.absence,
            "unit": self.unit,
            "label": self.label,
            "base": by_class(self.base),
            "output": by_class(self.output),
            "error": self.error,
            "pairs": self.pairs,
            "words": words,
        }

    def to_html(self) -> str:
        title = f"{self.method}, {self.absence}"
        heat = heat_html(f"{self.label}: {title}", self.words, list(self.of_class()), self.unit) if self.label else ""
        rows = [[word, *(f"{value:+.3f}" for value in row)] for word, row in zip(self.words, self.values, strict=True)]
        rows.append(["sum", *(f"{value:+.3f}" for value in self.values.sum(0))])
        rows.append(["output − base", *(f"{value:+.3f}" for value in self.output - self.base)])
        return heat + table_html(f"{title} ({self.unit})", ["word", *self.class_names], rows)

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_shap(self) -> Any:
        """This text as a `shap.Explanation`, which the plots of shap draw; needs the package shap."""
        from wfalens.explanation.interop import to_shap

        return to_shap([self])[0]
