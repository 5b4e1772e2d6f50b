"""Plain stand-ins for a language model: what follows the last few symbols. They keep to the contract of models."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.language.probability import Language
from wfalens.models.contract import State, StatefulClassifier
from wfalens.models.inference import state_traces
from wfalens.ragged import Ragged
from wfalens.text.encoder import TextEncoder
from wfalens.validation import Bounds, real, whole

ORDERS = Bounds(whole, 1, 12)
_STRENGTHS = Bounds(real, 0, 1e9, excluded=(0,))


class Stepped:
    """The trace of a model that has steps only."""

    is_concurrent = True
    encoder: TextEncoder
    class_names: tuple[str, ...]

    def trace(self: StatefulClassifier, ids: Ragged[np.int32]) -> Ragged[np.float32]:
        values = np.empty((len(ids.values), len(self.class_names)), np.float32)
        for tokens, _, outputs in state_traces(self, ids):
            values[tokens] = outputs
        return Ragged(values, ids.offsets)


class NGram(Stepped):
    """The mean of what comes next after the last `order − 1` symbols, shrunk towards that after fewer of them.

    `strength` is the number of observations that the shorter context is worth. A state is the last symbols.
    """

    def __init__(
        self, language: Language, ids: Ragged[np.int32], rows: NDArray[np.floating], order: int, strength: float = 1.0
    ) -> None:
        """rows: (tokens + texts, classes), what came next before every symbol and every end of the texts"""
        self.order: int = ORDERS.checked("order", order)
        self.strength: float = _STRENGTHS.checked("strength", strength)
        self.encoder, self.class_names = language.model.encoder, language.model.class_names
        self.fingerprint = f"{order}-gram"
        words = len(self.encoder.vocabulary)
        if words ** (order - 1) >= 2**62:
            raise InputError(f"{order}-grams of {words:,} symbols are too many to number; lower the order")
        contexts = _contexts(ids, order - 1)
        below = np.full((1, len(self.class_names)), 1 / len(self.class_names))
        self._keys: list[NDArray[np.int64]] = []
        self._rows: list[NDArray[np.float64]] = []
        for length in range(order):
            keys, inverse, counts = np.unique(
                _keys(contexts[:, order - 1 - length :], words), return_inverse=True, return_counts=True
            )
            sums = _grouped_sums(rows, inverse.ravel(), counts)
            shorter = below if length == 0 else self._looked_up(keys % words ** (length - 1), length - 1)
            self._keys.append(keys)
            self._rows.append((sums + self.strength * shorter) / (counts[:, None] + self.strength))

    @cached_property
    def initial_output(self) -> NDArray[np.float32]:
        output: NDArray[np.float32] = self._outputs(self.initial_state(1))[0]
        return output

    def initial_state(self, batch: int) -> State:
        return np.zeros((batch, self.order - 1), np.float32)

    def step(self, state: State, ids: NDArray[np.int32]) -> tuple[State, NDArray[np.float32]]:
        after = np.hstack([state, np.asarray(ids, np.float32)[:, None]])[:, 1:]
        return after, self._outputs(after)

    def _outputs(self, state: State) -> NDArray[np.float32]:
        words = len(self.encoder.vocabulary)
        return self._looked_up(_keys(state.astype(np.int64), words), self.order - 1).astype(np.float32)

    def _looked_up(self, keys: NDArray[np.int64], length: int) -> NDArray[np.float64]:
        """Rows of contexts of a length; where one was never seen, that of the context without its first symbol."""
        known = self._keys[length]
        place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        rows = self._rows[length][place]
        unseen = known[place] != keys
        if length and unseen.any():
            words = len(self.encoder.vocabulary)
            rows[unseen] = self._looked_up(keys[unseen] % words ** (length - 1), length - 1)
        return rows


def next_symbol_rows(language: Language, ids: Ragged[np.int32]) -> NDArray[np.float64]:
    """What the texts themselves say comes next, as distributions; -> (tokens + texts, classes)"""
    targets = language.targets(ids)
    rows = np.zeros((len(targets), len(language.prior)))
    rows[np.arange(len(targets)), targets] = 1
    return rows


def best_ngram(
    language: Language,
    fit: Ragged[np.int32],
    held: Ragged[np.int32],
    orders: Sequence[int] = (2, 3, 4, 5, 6),
    strengths: Sequence[float] = (0.5, 2.0, 8.0),
) -> NGram:
    """The n-gram of the texts (not of the model) with the lowest perplexity on held-out ones."""
    rows = next_symbol_rows(language, fit)
    found = [NGram(language, fit, rows, order, strength) for order in orders for strength in strengths]
    return min(found, key=lambda each: Language.of(each).perplexity(held))


def _contexts(ids: Ragged[np.int32], length: int) -> NDArray[np.int64]:
    """The last symbols before every symbol and every end, 0 before the first one; -> (tokens + texts, length)"""
    lengths = ids.lengths + 1
    text = np.repeat(np.arange(len(ids)), lengths)
    place = np.arange(len(text)) - np.repeat(np.cumsum(lengths) - lengths, lengths)  # symbols read so far
    found = np.zeros((len(text), length), np.int64)
    for back in range(1, length + 1):
        there = place >= back
        found[there, length - back] = ids.values[ids.offsets[text[there]] + place[there] - back]
    return found


def _keys(contexts: NDArray[np.int64], words: int) -> NDArray[np.int64]:
    """One number per context; (N, length) -> (N,)"""
    powers = words ** np.arange(contexts.shape[1] - 1, -1, -1, dtype=np.int64)
    return np.asarray(contexts @ powers if contexts.shape[1] else np.zeros(len(contexts), np.int64))


def _grouped_sums(
    rows: NDArray[np.floating], group: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """(N, classes), (N,), (groups,) -> (groups, classes)"""
    ordered = np.asarray(rows[np.argsort(group, kind="stable")], np.float64)
    return np.asarray(np.add.reduceat(ordered, np.cumsum(counts) - counts, axis=0))
