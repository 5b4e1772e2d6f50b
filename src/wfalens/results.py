"""What all results share: plain data, a table, and a short form for people. Words are escaped in `html` alone."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from wfalens.html import table_html
from wfalens.messages import printable, sentence

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

_MOST_PRINTED = 1_500  # characters of a printed result: notebooks store what they show
_MOST_ROWS, _LONGEST_CELL = 200, 200  # of a table in a notebook; characters


class Result:
    """Mixin of dataclasses that a user gets back.

    A subclass gives `rows()`, the table that says most about it, and may give `title` and `summary()`; what is computed
    (properties) and should stand in `to_dict` is named in `computed`.
    """

    computed: tuple[str, ...] = ()

    def rows(self) -> Iterable[Mapping[str, Any]]:
        """The result as a table, one mapping per row with the same keys."""
        return [self.to_dict()]

    def tables(self) -> Mapping[str, Iterable[Mapping[str, Any]]]:
        """All tables of the result by their titles, to be printed; most results have one."""
        return {self.title: self.rows()}

    @property
    def title(self) -> str:
        """What the table is headed by."""
        return type(self).__name__

    def summary(self) -> str:
        """The result in a line or a few, without the user's texts."""
        return self.title

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain dictionaries, lists, numbers and strings, ready for JSON.

        Examples:
            >>> wfa.fidelity(model, corpus).to_dict()["overall"]["texts"]
            40
        """
        names = [each.name for each in fields(self) if each.repr]  # type: ignore[arg-type]
        return {name: plain(getattr(self, name)) for name in (*names, *self.computed)}

    def to_dataframe(self) -> pd.DataFrame:
        """The rows as a pandas table; numbers by class become a column each, such as `influence_after.pos`.

        Examples:
            >>> table = wfa.fidelity(model, corpus).to_dataframe()
            >>> table.loc[table.by == "class", "group"].tolist()
            ['neg', 'pos']
        """
        import pandas as pd

        return pd.json_normalize([dict(row) for row in self.rows()])

    def to_html(self) -> str:
        """The tables as HTML, every word escaped."""
        return "".join(_html(title, list(rows)) for title, rows in self.tables().items())

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        return shortened(self.summary())

    __str__ = __repr__


@dataclass(frozen=True, repr=False)
class ByLabel(Result):
    """A result for every label of a model that gives a text several, such as its fidelity.

    Args:
        results: by the name of the label.

    Examples:
        >>> from wfalens.results import ByLabel
        >>> ByLabel({"insult": fidelity})["insult"].overall.texts
        40
    """

    results: Mapping[str, Any]

    def __getitem__(self, label: str) -> Any:
        return self.results[label]

    def rows(self) -> Iterable[Mapping[str, Any]]:
        return [{"label": name, **row} for name, result in self.results.items() for row in result.rows()]

    def tables(self) -> Mapping[str, Iterable[Mapping[str, Any]]]:
        every = [(name, *table) for name, result in self.results.items() for table in result.tables().items()]
        return {f"{name}: {title}": rows for name, title, rows in every}

    def summary(self) -> str:
        return "\n".join(f"{name}: {result.summary()}" for name, result in self.results.items())


class RowResult(Result):
    """Mixin of results with one entry per row in some of their fields, arrays or tuples: `per_row` names these."""

    per_row: ClassVar[tuple[str, ...]]

    def __len__(self) -> int:
        return len(getattr(self, self.per_row[0]))

    def subset(self, rows: NDArray[np.int64]) -> Self:
        """Some of the rows, in the given order."""
        columns = {name: getattr(self, name) for name in self.per_row}
        taken = {
            name: tuple(column[row] for row in rows) if isinstance(column, tuple) else column[rows]
            for name, column in columns.items()
            if column is not None
        }
        return replace(self, **taken)  # type: ignore[type-var]

    def largest(self, column: NDArray[np.floating], k: int | None) -> Self:
        """The `k` rows with the largest values of a column, the largest first; None: all rows."""
        return self.subset((-column).argsort(kind="stable")[:k])


def plain(value: Any) -> Any:
    """A value as JSON has it; dataclasses become dictionaries, arrays lists, paths and enums strings."""
    if isinstance(value, Result):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if hasattr(value, "tolist"):  # arrays and numbers of numpy
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, Path | enum.Enum):
        return str(value.value if isinstance(value, enum.Enum) else value)
    return value


def shortened(text: str) -> str:
    """A text for a terminal or a notebook, cut where it would be long."""
    text = "\n".join(map(printable, text.split("\n")))
    return text if len(text) <= _MOST_PRINTED else f"{text[:_MOST_PRINTED]}…"


def _html(title: str, rows: list[Mapping[str, Any]]) -> str:
    columns = list(rows[0]) if rows else []
    cells = [[cell(row[name]) for name in columns] for row in rows[:_MOST_ROWS]]
    return table_html(title, columns, cells)


def cell(value: Any) -> str:
    """A value as tables show it."""
    if value is None:
        return ""
    if isinstance(value, Real) and not isinstance(value, Integral):
        return f"{value:.3f}"
    if isinstance(value, Integral) and not isinstance(value, bool):
        return f"{value:,}"
    return sentence(str(value), _LONGEST_CELL)
