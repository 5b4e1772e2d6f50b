"""The paper's automaton: rows are distributions, states are label distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton import naming
from wfalens.automaton.completion import Completion, Null, Shared
from wfalens.automaton.kernels import steps as kernels
from wfalens.automaton.kernels.steps import Matrices, Rows, Rule
from wfalens.automaton.naming import Anatomy, Names
from wfalens.automaton.rows import MAX_STATES, dense, has_rows, states_with_rows
from wfalens.automaton.wfa import UNDECIDED, WFA, frozen
from wfalens.errors import InputError
from wfalens.ragged import Ragged
from wfalens.text.encoder import TextEncoder
from wfalens.text.vocabulary import PADDING, UNKNOWN
from wfalens.validation import Bounds, real

_KEPT_BYTES = 1 << 22  # of matrices kept for predictions: what a core's share of all caches holds
_MOST_STATES_OF_MATRICES = 128


def bytes_in_use(states: int) -> int:
    """About what an automaton with so many states takes in use: a few tables over their pairs, as any Êσ is."""
    return 32 * states**2


class StochasticWFA(WFA):
    """Observed rows as sparse counts, a rule for the missing ones, and the static probability α.

    State 0 is the initial one; `centres` is F. A word without any row behaves like `<unk>`, and like the
    identity if `<unk>` has none either.

    Args:
        encoder: how a text becomes words.
        class_names: C names.
        centres: F, (n, C), what each state says of the classes; rows sum to 1.
        rows: observed transitions, sparse.
        completion: the rule for rows that were not observed.
        alpha: static probability α, 0 to 1.
        state_visits: (n,) visits in the extraction texts.
        word_counts: (V,) occurrences in the extraction texts.
        provenance: how it was made.

    Examples:
        >>> wfa.kind, wfa.states, wfa.matrix("good").shape
        ('stochastic', 5, (5, 5))
        >>> bool(np.allclose(wfa.matrix("good").sum(axis=1), 1))  # each row is a distribution
        True
    """

    kind: ClassVar[str] = "stochastic"
    unit: ClassVar[str] = "probability"

    def __init__(
        self,
        *,
        encoder: TextEncoder,
        class_names: Sequence[str],
        centres: NDArray[np.float64],
        rows: Rows,
        completion: Completion,
        alpha: float,
        state_visits: NDArray[np.int64],
        word_counts: NDArray[np.int64],
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(encoder, class_names, word_counts, provenance)
        n, words = len(centres), len(encoder.vocabulary)
        if not 2 <= n <= MAX_STATES:
            raise InputError(f"an automaton has between 2 and {MAX_STATES} states, not {n}")
        if centres.shape != (n, len(self.class_names)):
            raise InputError(f"centres of shape {centres.shape} do not fit {len(self.class_names)} classes")
        if len(rows.row_start) != words + 1 or len(state_visits) != n:
            raise InputError("the rows and state visits do not fit the alphabet and the states")
        completion.check(rows, words, n)
        self.centres = frozen(np.array(centres, np.float64))
        self.rows = Rows(*(frozen(part) for part in rows))
        self.completion = completion
        self.alpha: float = Bounds(real, 0, 1).checked("alpha", alpha)
        self.state_visits = frozen(np.array(state_visits, np.int64))

    @property
    def states(self) -> int:
        return len(self.centres)

    @property
    def readable(self) -> StochasticWFA | None:
        return (
            self if self.attached_readable is None and isinstance(self.completion, Shared) else self.attached_readable
        )

    @cached_property
    def names(self) -> Names | None:
        """Of states and classes of words, where words share rows; else states have numbers only.

        Examples:
            >>> len(readable.names.states) == readable.states
            True
            >>> wfa.names is None
            True
        """
        return None if self.anatomy is None else naming.name(self.anatomy, self.encoder.vocabulary)

    @cached_property
    def anatomy(self) -> Anatomy | None:
        """The classes of words and what they do in each state, where words share rows."""
        shared = self.completion
        if not isinstance(shared, Shared):
            return None
        matrices = np.array([dense(shared.rows, number, self.states) for number in range(shared.classes)])
        matrices /= matrices.sum(2, keepdims=True)
        matrices = self.alpha * np.eye(self.states) + (1 - self.alpha) * matrices
        return Anatomy(
            self.class_names,
            self.centres,
            matrices,
            shared.visits,
            shared.word_class,
            shared.typicality,
            self.word_counts,
        )

    @cached_property
    def initial(self) -> NDArray[np.float64]:
        return frozen(np.eye(1, self.states)[0])

    @property
    def state_frequencies(self) -> NDArray[np.float64]:
        return np.asarray(self.state_visits / max(1, self.state_visits.sum()))

    def state_vectors(self, ids: Ragged[np.int32], every: bool) -> NDArray[np.float64]:
        return self._distributions(self.row_set[ids.values], ids.offsets, self.initial[None], every)

    def single_vectors(self, ids: Ragged[np.int32]) -> NDArray[np.floating]:
        """In double precision where mass may be lost, of which too little could be left for single precision."""
        if isinstance(self.completion, Null):
            return self.state_vectors(ids, every=False)
        words, initial = self.row_set[ids.values], self.initial[None]
        return kernels.distributions(words, ids.offsets, initial, self.rows, *self._single, every=False)

    @property
    def final(self) -> NDArray[np.float64]:
        return self.centres

    def probabilities(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weights scaled to sum 1; uniform where all mass was lost."""
        total = weights.sum(1, keepdims=True)
        return np.where(total > 0, weights / np.where(total > 0, total, 1), 1 / weights.shape[1])

    def decide(self, weights: NDArray[np.float64]) -> NDArray[np.int64]:
        return np.where(weights.any(1), weights.argmax(1), UNDECIDED)

    def shown(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return weights

    def advance(self, vectors: NDArray[np.float64], ids: NDArray[np.int32]) -> NDArray[np.float64]:
        # texts of one word, each with its own beginning
        return self._distributions(self.row_set[ids], np.arange(len(ids) + 1), vectors, every=False)

    def row_shares(self, ids: NDArray[np.int32], vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        if isinstance(self.completion, Shared):
            return super().row_shares(ids, vectors)
        shares = np.zeros((len(ids), 3))
        mass = np.maximum(vectors.sum(1), np.finfo(float).tiny)
        for position, word in enumerate(ids):
            if not vectors[position].any():
                continue  # all mass was lost before: the word has no row to go through
            if word == UNKNOWN or self.row_set[word] != word:
                shares[position, 2] = 1
            else:
                observed = vectors[position, states_with_rows(self.rows, word)].sum() / mass[position]
                shares[position, :2] = observed, 1 - observed
        return shares

    def _names_along(self, ids: NDArray[np.int32]) -> dict[str, tuple[str, ...]]:
        if self.names is None or self.anatomy is None:
            return {}
        classes = tuple(self.names.classes[number].name for number in self.anatomy.word_class[ids])
        return {"state_names": self.names.states, "word_classes": classes}

    def summary(self) -> dict[str, Any]:
        shared = self.completion if isinstance(self.completion, Shared) else None
        return {
            "kind": self.kind,
            "states": self.states,
            "words": len(self.encoder.vocabulary),
            "observed_rows": None if shared else len(self.rows.state),
            "possible_rows": None if shared else self.states * int((self.word_counts > 0).sum()),
            "transitions": len((shared or self).rows.weight),
            "completion": self.completion.name,
            "beta": getattr(self.completion, "beta", None),
            "alpha": self.alpha,
            "drift": getattr(self.completion, "drift", None),
            "word_classes": getattr(self.completion, "classes", None),
        }

    def with_rule(
        self, alpha: float, completion: Completion, centres: NDArray[np.float64] | None = None
    ) -> StochasticWFA:
        """The same observations under another static probability and completion, and perhaps other centres (n, C)."""
        same = ("encoder", "class_names", "rows", "state_visits", "word_counts", "provenance")
        kept: dict[str, Any] = {name: getattr(self, name) for name in same}
        centres = self.centres if centres is None else centres
        return StochasticWFA(centres=centres, completion=completion, alpha=alpha, **kept)

    def _read_out_by(self, columns: NDArray[np.int64], names: Sequence[str]) -> StochasticWFA:
        centres = self.centres[:, columns]
        same = ("encoder", "rows", "completion", "alpha", "state_visits", "word_counts", "provenance")
        kept: dict[str, Any] = {name: getattr(self, name) for name in same}
        return StochasticWFA(class_names=names, centres=centres / centres.sum(1, keepdims=True), **kept)

    def _distributions(
        self, words: NDArray[np.int64], offsets: NDArray[np.int64], initial: NDArray[np.float64], every: bool
    ) -> NDArray[np.float64]:
        return kernels.distributions(words, offsets, initial, self.rows, self.rule, every=every)

    @cached_property
    def rule(self) -> Rule:
        return kernels.with_kept_scales(self.completion.rule(self.alpha, self.centres), self.rows, self.states)

    @cached_property
    def _single(self) -> tuple[Rule, Matrices]:
        """What distributions in single precision are made from."""
        return kernels.in_single(self.rule), self._kept_matrices()

    def _kept_matrices(self) -> Matrices:
        """Of the most frequent words that have rows, as many as fit; of all classes where words share rows."""
        n, known = self.states, self.row_set[self.row_set >= 0]
        seen = np.bincount(known, self.word_counts[self.row_set >= 0], len(self.row_set))
        most = _KEPT_BYTES // (4 * n**2) if n <= _MOST_STATES_OF_MATRICES else 0
        words = np.unique(known)
        words = np.sort(words[np.argsort(-seen[words], kind="stable")[:most]])
        steps = np.repeat(words, n), np.arange(len(words) * n + 1), np.tile(np.eye(n), (len(words), 1))
        matrices = self._distributions(*steps, every=False).reshape(-1, n, n)
        at = np.full(len(self.row_set), -1, np.int32)
        at[words] = np.arange(len(words))
        return Matrices(kernels.padded(matrices.astype(np.float32)), at)

    @cached_property
    def row_set(self) -> NDArray[np.int64]:
        """For every word the one whose rows it uses: itself, `<unk>`, or -1 for the identity; (V,)

        Where rows are shared, the class of words whose rows it uses.
        """
        if isinstance(self.completion, Shared):
            return np.where(np.arange(len(self.word_counts)) == PADDING, -1, self.completion.word_class)
        known = has_rows(self.rows)
        completed = self.completion.has_rows()
        known = known if completed is None else known | completed
        known[PADDING] = False
        fallback = UNKNOWN if known[UNKNOWN] else -1
        row_set = np.where(known, np.arange(len(known)), fallback)
        row_set[PADDING] = -1
        return row_set
