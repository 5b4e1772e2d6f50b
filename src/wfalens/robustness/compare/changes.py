"""What changed between two automata: states, words and texts, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.validation import check_choice

if TYPE_CHECKING:
    import pandas as pd

BOTH, BEFORE, AFTER = "both", "before", "after"
_SIDES = np.array([BOTH, BEFORE, AFTER])


@dataclass(frozen=True)
class StateMatch:
    """A state and its counterpart; None where the larger automaton has one that is left over."""

    before: int | None
    after: int | None
    label_before: str | None
    label_after: str | None
    share_before: float | None  # how often the state was visited in extraction
    share_after: float | None
    distance: float | None  # Euclidean, between the two centres


@dataclass(frozen=True, eq=False)
class WordChanges:
    """Influence of words in both automata, the largest change first.

    A word that one of them has never seen reads there as `<unk>`, as it would in a text.
    """

    words: tuple[str, ...]
    side: NDArray[np.int8]  # (words,): 0 seen by both, 1 only before, 2 only after
    counts: NDArray[np.int64]  # (words, 2)
    before: NDArray[np.float64]  # (words, classes)
    after: NDArray[np.float64]  # (words, classes)
    class_names: tuple[str, ...]
    unit: str

    @property
    def change(self) -> NDArray[np.float64]:
        """‖IS_after(σ) − IS_before(σ)‖₂; (words,)"""
        return np.asarray(np.linalg.norm(self.after - self.before, axis=1))

    @property
    def where(self) -> list[str]:
        """Which of the two has seen each word: both, before, after."""
        return [str(name) for name in _SIDES[self.side]]

    def top(self, k: int) -> WordChanges:
        return self._subset(np.arange(min(k, len(self.words))))

    def seen_by(self, where: str) -> WordChanges:
        """Only the words seen by both, or by one alone."""
        check_choice("side", where, (BOTH, BEFORE, AFTER))
        return self._subset(np.flatnonzero(_SIDES[self.side] == where))

    def to_dataframe(self) -> pd.DataFrame:
        import pandas as pd

        columns = {"word": self.words, "seen_by": self.where, "change": self.change}
        columns |= {f"count_{name}": self.counts[:, at] for at, name in enumerate((BEFORE, AFTER))}
        for side, scores in ((BEFORE, self.before), (AFTER, self.after)):
            columns |= {f"{name}_{side}": scores[:, at] for at, name in enumerate(self.class_names)}
        return pd.DataFrame(columns)

    def rows(self) -> list[dict[str, Any]]:
        return [
            {
                "word": word,
                "seen_by": where,
                "count_before": int(count[0]),
                "count_after": int(count[1]),
                "change": float(change),
                "influence_before": by_class(self.class_names, before),
                "influence_after": by_class(self.class_names, after),
            }
            for word, where, count, change, before, after in zip(
                self.words, self.where, self.counts, self.change, self.before, self.after, strict=True
            )
        ]

    def _subset(self, rows: NDArray[np.int64]) -> WordChanges:
        return WordChanges(
            tuple(self.words[row] for row in rows),
            self.side[rows],
            self.counts[rows],
            self.before[rows],
            self.after[rows],
            self.class_names,
            self.unit,
        )


@dataclass(frozen=True, eq=False)
class TextChanges:
    """Outputs of both automata on texts, the largest divergence first; those of their models where they are known."""

    texts: tuple[str, ...]
    divergence: NDArray[np.float64]  # (texts,): Jensen-Shannon, between the automata
    before: NDArray[np.float64]  # (texts, classes)
    after: NDArray[np.float64]  # (texts, classes)
    model_before: NDArray[np.float64] | None  # (texts, classes)
    model_after: NDArray[np.float64] | None  # (texts, classes)
    truth: NDArray[np.int64] | None  # (texts,)
    class_names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)

    def top(self, k: int) -> TextChanges:
        def cut(rows: NDArray[Any] | None) -> Any:
            return None if rows is None else rows[:k]

        return TextChanges(
            self.texts[:k],
            self.divergence[:k],
            self.before[:k],
            self.after[:k],
            cut(self.model_before),
            cut(self.model_after),
            cut(self.truth),
            self.class_names,
        )

    def labels(self, outputs: NDArray[np.float64]) -> list[str | None]:
        return [label_of(self.class_names, row) for row in outputs]

    def to_dataframe(self) -> pd.DataFrame:
        import pandas as pd

        columns: dict[str, Any] = {"text": self.texts, "divergence": self.divergence}
        if self.truth is not None:
            columns["truth"] = [self.class_names[at] for at in self.truth]
        for side, outputs in self.sides():
            columns[f"label_{side}"] = self.labels(outputs)
            columns |= {f"{name}_{side}": outputs[:, at] for at, name in enumerate(self.class_names)}
        return pd.DataFrame(columns)

    def rows(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        sides = self.sides()
        for at, text in enumerate(self.texts):
            item: dict[str, Any] = {"text": text, "divergence": float(self.divergence[at])}
            item["truth"] = None if self.truth is None else self.class_names[self.truth[at]]
            for side, outputs in sides:
                item[f"label_{side}"] = label_of(self.class_names, outputs[at])
                item[f"output_{side}"] = by_class(self.class_names, outputs[at])
            found.append(item)
        return found

    def sides(self) -> list[tuple[str, NDArray[np.float64]]]:
        """The outputs of both automata and of their models where they are known, by name."""
        sides = [(BEFORE, self.before), (AFTER, self.after)]
        models = [("model_before", self.model_before), ("model_after", self.model_after)]
        return sides + [(name, outputs) for name, outputs in models if outputs is not None]


def by_class(names: Sequence[str], row: NDArray[np.float64]) -> dict[str, float]:
    return dict(zip(names, map(float, row), strict=True))


def label_of(names: Sequence[str], output: NDArray[np.float64]) -> str | None:
    """The likeliest class; None where all are equally likely: the automaton was undecided."""
    return None if output.max() == output.min() else names[int(output.argmax())]
