"""What the words of one text contribute to every class: the one result of all methods that explain a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.walk import row_kinds
from wfalens.errors import InputError, naming_extras
from wfalens.explanation.opinion_line import points
from wfalens.html import heat_html, table_html
from wfalens.messages import percent
from wfalens.results import Result
from wfalens.validation import check_choice

PROBABILITY, LOG_ODDS = "probability", "log-odds"
SHAPLEY, BANZHAF, ADDITIVE = METHODS = ("shapley", "banzhaf", "additive")
AUTOMATON, NETWORK = "automaton", "network"
_NAMES = {SHAPLEY: "Shapley values", BANZHAF: "Banzhaf values", ADDITIVE: "contributions in reading order"}
_CLASSES_SHOWN = 4  # in a table for people


def class_column(class_names: Sequence[str], name: str) -> int:
    """The column of a class by its name."""
    check_choice("class", name, class_names)
    return list(class_names).index(name)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Attribution(Result):
    """A value for every word and class. Shapley values and additive contributions sum to output − base.

    Args:
        words: of the text.
        class_names: of the columns.
        base: the output with all words absent; (classes,).
        output: of the whole text; (classes,).
        values: what every word contributes to every class; (words, classes).
        unit: "probability" or "log-odds".
        method: "shapley", "banzhaf" or "additive".
        absence: what an absent word is: "delete", "unknown", "background" or "bigram".
        source: whose values they are: "automaton" or "network".
        class_name: the class that was asked for; None: the predicted one.
        error: bound of the quadrature error in every value; 0: exact up to rounding.
        standard_error: where values were estimated; (words, classes).
        samples: coalitions that they were estimated from; 0: the values are exact.
        queries: coalitions that the network was asked for.
        without: the automaton's output if the word were deleted; (words, classes).
        row_shares: probability mass through observed, completed and unknown rows; (words, 3).

    Examples:
        >>> attribution = wfa.explain("not a good film")
        >>> attribution.label, attribution.words
        ('neg', ('not', 'a', 'good', 'film'))
        >>> bool(abs(attribution.gap).max() < 1e-9)  # the values sum to output − base
        True
    """

    computed = ("label",)

    words: tuple[str, ...]
    class_names: tuple[str, ...]
    base: NDArray[np.float64]  # (classes,): the output with all words absent
    output: NDArray[np.float64]  # (classes,)
    values: NDArray[np.float64]  # (words, classes)
    unit: str  # "probability" or "log-odds"
    method: str  # one of METHODS
    absence: str  # what an absent word is: "delete", "unknown", "background" or "bigram"
    source: str = AUTOMATON  # whose values they are; or "network"
    class_name: str | None = None  # the class asked for; None: the predicted one
    error: float = 0.0  # bound of the quadrature error in every value; 0: exact up to rounding
    standard_error: NDArray[np.float64] | None = None  # (words, classes), where values were estimated
    samples: int = 0  # coalitions that they were estimated from; 0: the values are exact
    queries: int = 0  # coalitions that the network was asked for
    without: NDArray[np.float64] | None = None  # (words, classes): the automaton's output if the word were deleted
    row_shares: NDArray[np.float64] | None = None  # (words, 3): mass through observed, completed and unknown rows

    @property
    def label(self) -> str | None:
        """The class with the highest output; None where all mass was lost (null completion)."""
        lost = self.unit == PROBABILITY and not self.output.any()
        return None if lost else self.class_names[int(self.output.argmax())]

    @property
    def ranking(self) -> tuple[str, ...]:
        """The class asked for, then the others by their outputs: the predicted class and its runners-up."""
        order = [self.class_names[at] for at in np.argsort(-self.output, kind="stable")]
        first = [] if self.class_name is None else [self.class_name]
        return tuple(dict.fromkeys([*first, *order]))

    @property
    def name(self) -> str:
        """What the values are called in tables and figures."""
        return f"{_NAMES[self.method]}{' of the network' if self.source == NETWORK else ''}"

    @property
    def title(self) -> str:
        asked = f" for {self.class_name or self.label}" if self.class_name or self.label else ""
        return f"{self.name}{asked} ({self.unit})"

    def summary(self) -> str:
        shown = [(name, float(self.output[self.column(name)])) for name in self.ranking[:_CLASSES_SHOWN]]
        in_points = self.unit == PROBABILITY
        outputs = ", ".join(f"{name} {percent(value) if in_points else f'{value:.3f}'}" for name, value in shown)
        absent = "" if self.method == ADDITIVE else f", absent words: {self.absence}"
        label = "" if self.label else "\nundecided: all mass was lost"
        return f"{self.title} of a text of {len(self.words)} words{absent}\noutput: {outputs}{label}"

    @property
    def gap(self) -> NDArray[np.float64]:
        """How far the values are from adding up to output − base; (classes,)"""
        return np.asarray(self.values.sum(0) - (self.output - self.base))

    def column(self, class_name: str | None = None) -> int:
        """The column of a class; by default of the one asked for, else of the predicted one."""
        name = class_name or self.class_name or self.label
        if name is None:
            raise InputError(
                "the automaton is undecided on this text: null completion lost all mass in rows that were never "
                "observed; extract with another completion, or name a class",
                code="undecided",
            )
        return class_column(self.class_names, name)

    def of_class(self, class_name: str | None = None) -> NDArray[np.float64]:
        """Values for one class (default: the one asked for, else the predicted one); (words,)"""
        values: NDArray[np.float64] = self.values[:, self.column(class_name)]
        return values

    def interval(self, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The ends of the interval of every value; -> (words, classes) each"""
        if self.standard_error is None:
            return self.values, self.values
        half = half_widths(self.standard_error, self.samples, level)
        return self.values - half, self.values + half

    def rows(self) -> list[dict[str, Any]]:
        """A row for every word: its values for the class asked for or predicted, and for the runners-up."""
        columns = {name: self.values[:, self.column(name)].tolist() for name in self.ranking}
        rows: list[dict[str, Any]] = [{"word": word} for word in self.words]
        if self.row_shares is not None:
            rows = [{**row, "row": kind} for row, kind in zip(rows, row_kinds(self.row_shares), strict=True)]
        return [{**row, **{name: columns[name][at] for name in columns}} for at, row in enumerate(rows)]

    def shown(self, value: float) -> str:
        """A contribution for people: points of probability, or log-odds."""
        return points(value) if self.unit == PROBABILITY else f"{value:+.2f}"

    def tables(self) -> dict[str, list[dict[str, str]]]:
        """The contributions to the first classes, for people."""
        names = self.ranking[:_CLASSES_SHOWN]
        kinds = (
            [{}] * len(self.words)
            if self.row_shares is None
            else [{"row": each} for each in row_kinds(self.row_shares)]
        )
        columns = {name: self.values[:, self.column(name)] for name in names}
        rows = [
            {"word": word, **kinds[at], **{name: self.shown(float(column[at])) for name, column in columns.items()}}
            for at, word in enumerate(self.words)
        ]
        return {self.title.replace(f"({PROBABILITY})", "(points of probability)"): rows}

    def to_html(self) -> str:
        names = self.ranking[:_CLASSES_SHOWN]
        columns = [self.column(name) for name in names]
        sums = {"sum": self.values.sum(0), "output − base": self.output - self.base}
        rows = [*zip(self.words, self.values, strict=True), *sums.items()]
        cells = [[name, *(self.shown(float(row[at])) for at in columns)] for name, row in rows]
        unit = "points of probability" if self.unit == PROBABILITY else self.unit
        table = table_html(f"By class: {self.name} ({unit})", ["word", *names], cells)
        if not (self.class_name or self.label):
            return table
        return heat_html(self.title, self.words, self.of_class().tolist(), self.unit) + table

    def to_shap(self) -> Any:
        """This text as a `shap.Explanation`, which the plots of shap draw; needs the package shap."""
        return to_shap([self])[0]

    def to_shapiq(self, class_name: str | None = None) -> Any:
        """The values for one class as `shapiq.InteractionValues`, which the plots of shapiq draw; needs shapiq."""
        return interaction_values(
            {(at,): float(value) for at, value in enumerate(self.of_class(class_name))},
            "SV" if self.method == SHAPLEY else "BV",
            len(self.words),
            estimated=self.samples > 0,
            estimation_budget=self.queries or None,
            baseline_value=float(self.base[self.column(class_name)]),
        )


def half_widths(errors: NDArray[np.float64], samples: int, level: float) -> NDArray[np.float64]:
    """Of the intervals around values estimated from so many samples, by Student's t."""
    from scipy.stats import t

    return np.asarray(t.ppf((1 + level) / 2, max(1, samples)) * errors)


def to_shap(attributions: Sequence[Attribution]) -> Any:
    """Texts as one `shap.Explanation`, for `shap.plots.text`; one of them, or one class, for `waterfall` and `bar`."""
    check_some(attributions)
    words = [[f"{word} " for word in each.words] for each in attributions]  # shap writes tokens without a gap
    return import_shap().Explanation(
        values=_objects([each.values for each in attributions]),
        base_values=np.array([each.base for each in attributions]),
        data=_objects([np.array(each) for each in words]),
        feature_names=words,
        output_names=list(attributions[0].class_names),
    )


def check_some(attributions: Sequence[Attribution]) -> None:
    if not attributions:
        raise InputError("there is nothing to show: give at least one attribution", code="no-attribution")


def import_shap() -> Any:
    with naming_extras():
        import shap
    return shap


def interaction_values(values: dict[tuple[int, ...], float], index: str, words: int, **about: Any) -> Any:
    """Values of sets of words, by their positions, as `shapiq.InteractionValues`; needs shapiq."""
    with naming_extras():
        from shapiq import InteractionValues
    sizes = [len(subset) for subset in values]
    about = {"min_order": min(sizes, default=1), "max_order": max(sizes, default=1), "estimated": False} | about
    return InteractionValues(values, index=index, n_players=words, **about)


def _objects(arrays: Sequence[NDArray[Any]]) -> NDArray[np.object_]:
    """Arrays of different lengths in one, as shap has texts."""
    result = np.empty(len(arrays), object)
    for at, array in enumerate(arrays):
        result[at] = array
    return result
