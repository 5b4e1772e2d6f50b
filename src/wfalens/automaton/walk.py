"""The way of one text through the automaton."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.results import Result

ROW_KINDS = ("observed", "completed", "unknown")
_CLASSES_SHOWN = 3  # in a printed table


def row_kinds(shares: NDArray[np.float64]) -> list[str]:
    # (words, 3) -> (words,)
    return [ROW_KINDS[row.argmax()] if row.any() else "lost" for row in shares]


@dataclass(frozen=True, eq=False, repr=False)
class Walk(Result):
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
        network: (words, C) outputs of the network after every word, where it has read along.

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
    network: NDArray[np.floating] | None = None  # (words, classes): where the network has read along

    def summary(self) -> str:
        """The likeliest class after every word, a line each."""
        likely = self.outputs.argmax(1).tolist()
        lines = (
            f"{word:<16} {self.class_names[at]} {row[at]:.3f}"
            for word, at, row in zip(("(start)", *self.words), likely, self.outputs, strict=True)
        )
        return "\n".join(lines)

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

    @property
    def diverged_at(self) -> int | None:
        """The position of the word after which the two never predict the same class again; None: they end alike."""
        if self.network is None:
            return None
        agree = self.outputs[1:].argmax(1) == self.network.argmax(1)
        if agree[-1]:
            return None
        return int(agree.nonzero()[0][-1]) + 1 if agree.any() else 0

    @property
    def title(self) -> str:
        parts = [f"{self.label or 'undecided'}: word by word"]
        if self.network is not None:
            parts.append(f"the network predicts {self.class_names[int(self.network[-1].argmax())]}")
        if self.diverged_at is not None:
            parts.append(f"the two differ from word {self.diverged_at + 1} on")
        if self.readable is not None:
            label = self.readable.label or "undecided"
            parts.append(f"word clusters and states are those of the readable automaton, which predicts {label}")
        return "; ".join(parts)

    def rows(self) -> list[dict[str, Any]]:
        """One row for the start and one per word: the word, its rows, the likeliest state and all classes."""
        return [step | step.pop("output") for step in self._steps()]

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """The rows with the likeliest classes only; states and clusters of the readable automaton, if there is one."""
        rows = []
        for at, (own, step) in enumerate(zip(self._steps(), (self.readable or self)._steps(), strict=True)):
            row = {"word": own["word"] or "(start)", "row": own["rows"]}
            if "word_class" in step:
                row["word cluster"] = step["word_class"]
            if "state" in step:
                row["state"] = f"{step['state']} ({step['state_probability']:.2f})"
            row["output"] = self._likeliest(self.outputs[at])
            if self.network is not None:
                row["network"] = self._likeliest(self.network[at - 1]) if at else ""
            rows.append(row)
        return {self.title: rows}

    def to_dict(self) -> dict[str, Any]:
        prior, *steps = self._steps()
        for at, step in enumerate(steps):
            step["shares"] = dict(zip(ROW_KINDS, self.shares[at].tolist(), strict=True))
            if self.network is not None:
                step["network"] = self._by_class(self.network[at])
        compared = {} if self.network is None else {"diverged_at": self.diverged_at}
        attached = {} if self.readable is None else {"readable": self.readable.to_dict()}
        return {"label": self.label, "prior": prior["output"], "steps": steps, **attached, **compared}

    def _steps(self) -> Iterator[dict[str, Any]]:
        """The start and every word: its rows, the likeliest state, its cluster, and the output."""
        kinds, likely = ("", *self.row_kinds), self.likely_states.tolist()
        for at, word in enumerate(("", *self.words)):
            step: dict[str, Any] = {"word": word, "rows": kinds[at]}
            if self.names_states:
                step |= {"state": self.state_name(likely[at]), "state_probability": float(self.states[at].max())}
            if self.word_classes is not None:
                step["word_class"] = self.word_classes[at - 1] if at else ""
            yield step | {"output": self._by_class(self.outputs[at])}

    def _by_class(self, output: NDArray[np.floating]) -> dict[str, float]:
        return dict(zip(self.class_names, output.tolist(), strict=True))

    def _likeliest(self, output: NDArray[np.floating]) -> str:
        best = output.argsort()[::-1][:_CLASSES_SHOWN]
        return ", ".join(f"{self.class_names[label]} {output[label]:.2f}" for label in best)
