"""The way of one text through the automaton."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.html import table_html
from wfalens.messages import printable

if TYPE_CHECKING:
    import pandas as pd

ROW_KINDS = ("observed", "completed", "unknown")


def row_kinds(shares: NDArray[np.float64]) -> list[str]:
    # (words, 3) -> (words,)
    return [ROW_KINDS[row.argmax()] if row.any() else "lost" for row in shares]


@dataclass(frozen=True, eq=False)
class Walk:
    """A text read by an automaton: state vectors and outputs before any word (row 0) and after every word.

    Args:
        words: of the text.
        ids: (words,) their ids.
        class_names: C names.
        states: (words + 1, n) state vectors.
        weights: (words + 1, C) class weights as the automaton computes with them.
        outputs: (words + 1, C) class probabilities.
        shares: (words, 3) mass that went through observed, completed and unknown rows.
        unit: what weights are measured in: probability or log-odds.
        state_names: names of the states, where they have some.
        word_classes: (words,) the class of each word, where words have one.
        readable: the way of the same text through the readable automaton, where there is one.

    Examples:
        >>> way = wfa.walk("a good film")
        >>> way.words, way.outputs.shape, way.label  # one row before any word, and one after each
        (('a', 'good', 'film'), (4, 2), 'pos')
    """

    words: tuple[str, ...]
    ids: NDArray[np.int32]  # (words,)
    class_names: tuple[str, ...]
    states: NDArray[np.float64]  # (words + 1, n)
    weights: NDArray[np.float64]  # (words + 1, classes): class weights, as the automaton computes with them
    outputs: NDArray[np.float64]  # (words + 1, classes)
    shares: NDArray[np.float64]  # (words, 3): mass that went through each kind of row, in the order of ROW_KINDS
    unit: str  # of the automaton
    state_names: tuple[str, ...] | None = None  # where states have names
    word_classes: tuple[str, ...] | None = None  # (words,): the class of each word, where words have one
    readable: Walk | None = None  # the way of the same text through the readable automaton, where there is one

    def __str__(self) -> str:
        """The likeliest class after every word, a line each."""
        likely = self.outputs.argmax(1).tolist()
        lines = (
            f"{word:<16} {self.class_names[at]} {row[at]:.3f}"
            for word, at, row in zip(("(start)", *self.words), likely, self.outputs, strict=True)
        )
        return "\n".join(map(printable, lines))

    @property
    def names_states(self) -> bool:
        """Whether state vectors are distributions, so that one state is the likely one; else they are directions."""
        return self.unit == "probability"

    @property
    def likely_states(self) -> NDArray[np.int64]:
        """The likeliest state before the first word and after every word; (words + 1,)

        Examples:
            >>> len(wfa.walk("a good film").likely_states)
            4
        """
        return np.asarray(self.states.argmax(1))

    def state_name(self, state: int) -> int | str:
        """Its name, else its number."""
        return state if self.state_names is None else self.state_names[state]

    @property
    def row_kinds(self) -> list[str]:
        """The kind of row that most of the mass went through, word by word; "lost" where none was left."""
        return row_kinds(self.shares)

    @property
    def label(self) -> str | None:
        """The predicted class; None where all mass was lost (null completion).

        Examples:
            >>> wfa.walk("a good film").label
            'pos'
        """
        return self.class_names[int(self.outputs[-1].argmax())] if self.outputs[-1].any() else None

    def to_dataframe(self) -> pd.DataFrame:
        """One row for the start and one per word: the word, its rows, the likeliest state and all classes.

        Examples:
            >>> list(wfa.walk("a good film").to_dataframe()["word"])
            ['', 'a', 'good', 'film']
        """
        import pandas as pd

        table = pd.DataFrame({"word": ["", *self.words], "rows": ["", *self.row_kinds]})
        if self.names_states:
            table["state"] = [self.state_name(state) for state in self.likely_states.tolist()]
            table["state_probability"] = self.states.max(1)
        if self.word_classes is not None:
            table["word_class"] = ["", *self.word_classes]
        for column, name in enumerate(self.class_names):
            table[name] = self.outputs[:, column]
        return table

    def to_json(self) -> dict[str, Any]:
        steps = [
            {
                "word": word,
                **({} if self.word_classes is None else {"word_class": self.word_classes[at]}),
                **self._state(row),
                "rows": kind,
                "shares": dict(zip(ROW_KINDS, map(float, share), strict=True)),
                "output": dict(zip(self.class_names, map(float, output), strict=True)),
            }
            for at, (word, row, kind, share, output) in enumerate(
                zip(self.words, self.states[1:], self.row_kinds, self.shares, self.outputs[1:], strict=True)
            )
        ]
        prior = dict(zip(self.class_names, map(float, self.outputs[0]), strict=True))
        attached = {} if self.readable is None else {"readable": self.readable.to_json()}
        return {"label": self.label, "prior": prior, "steps": steps, **attached}

    def to_html(self) -> str:
        table = self.to_dataframe()
        numbers = [name for name in table.columns if table[name].dtype.kind == "f"]
        cells = table.assign(**{name: table[name].map("{:.3f}".format) for name in numbers}).astype(str)
        title = f"{self.label or 'undecided'}: word by word"
        return table_html(title, [str(name) for name in cells.columns], cells.to_numpy().tolist())

    def _repr_html_(self) -> str:
        return self.to_html()

    def _state(self, row: NDArray[np.float64]) -> dict[str, Any]:
        if not self.names_states:
            return {}
        return {"state": self.state_name(int(row.argmax())), "state_probability": float(row.max())}
