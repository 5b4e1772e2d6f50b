"""Baselines of a language model: n-grams and spectral learning. They keep to the contract of models.

An n-gram is what follows the last few symbols. Spectral learning makes an automaton of the singular values of a Hankel
matrix (Hsu, Kakade and Zhang; Balle et al.): rows of H are prefixes p, columns are tests s: the next symbol, the end,
or a pair of symbols. `H[p, s]` is the model's probability of s after p, and `Hσ[p, s]` that of σs. With H ≈ X·Vᵀ of
rank r, `Aσ = X⁺·Hσ·V`. The operators need not give probabilities: what is negative counts as 0, and rows are scaled to
sum to 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.language.probability import Language, Stepper
from wfalens.models.contract import State, StatefulClassifier
from wfalens.models.inference import state_grid, states_after, step_grid, trace_by_steps
from wfalens.ragged import Ragged, positions
from wfalens.text.encoder import TextEncoder

RANKS = (2, 4, 8, 16, 32, 64)
_PREFIXES, _MOST_STEPS = 400, 400_000
_PAIRS = 48
_FLOOR = 1e-9


class Stepped(ABC):
    """A model whose outputs follow from its states."""

    is_concurrent = True
    encoder: TextEncoder
    class_names: tuple[str, ...]

    @abstractmethod
    def initial_state(self, batch: int) -> State: ...

    @abstractmethod
    def _outputs(self, state: State) -> NDArray[np.float32]: ...

    @cached_property
    def initial_output(self) -> NDArray[np.float32]:
        return np.asarray(self._outputs(self.initial_state(1))[0])

    def trace(self: StatefulClassifier, ids: Ragged[np.int32]) -> Ragged[np.float32]:
        return trace_by_steps(self, ids)


class NGram(Stepped):
    """The mean of what comes next after the last `order − 1` symbols, shrunk towards that after fewer of them.

    `strength` is the number of observations that the shorter context is worth. A state is the last symbols.
    """

    def __init__(
        self, language: Language, ids: Ragged[np.int32], rows: NDArray[np.floating], order: int, strength: float = 1.0
    ) -> None:
        """rows: (tokens + texts, classes), what came next before every symbol and every end of the texts"""
        self.order, self.strength = order, strength
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


class Hankel:
    """The blocks of a Hankel matrix, asked of a language model."""

    def __init__(self, language: Language, ids: Ragged[np.int32], rng: np.random.Generator) -> None:
        self.language = language
        self.letters = np.flatnonzero(language.announced >= 0).astype(np.int32)
        pairs = _frequent_pairs(ids, self.letters)
        firsts = np.unique(pairs[:, 0])
        per_prefix = len(self.letters) * (1 + len(firsts))
        prefixes = _prefixes(ids, min(_PREFIXES, max(20, _MOST_STEPS // per_prefix)), rng)
        steps: Any = Stepper(language.model, int(prefixes.lengths.max()) + 3)
        state = np.vstack([steps.initial_state(1), states_after(steps, prefixes)])
        outputs_of = np.vstack([language.prior, language.rows(prefixes).last()])

        def tests(outputs_of: NDArray[np.floating], after: NDArray[np.floating]) -> NDArray[np.float64]:
            """(N, classes), (N, firsts, classes) -> (N, tests): 1, symbols and end, pairs"""
            first = np.searchsorted(firsts, pairs[:, 0])
            single = outputs_of[:, language.announced[pairs[:, 0]]]
            both = single * after[:, first, language.announced[pairs[:, 1]]]
            return np.hstack([np.ones((len(outputs_of), 1)), outputs_of, both])

        self.blocks = tests(outputs_of, step_grid(steps, state, firsts))  # (P, tests)
        after, outputs = (rows.reshape(-1, rows.shape[-1]) for rows in state_grid(steps, state, self.letters))
        there = tests(outputs.astype(np.float64), step_grid(steps, after, firsts)).reshape(
            len(state), len(self.letters), -1
        )
        shares = outputs_of[:, language.announced[self.letters]]  # (P, letters)
        self.shifted = there * shares[..., None]  # (P, letters, tests)
        self.singular = np.linalg.svd(self.blocks, full_matrices=False)

    @property
    def ranks(self) -> list[int]:
        return [rank for rank in RANKS if rank <= len(self.singular[1])]


class Spectral(Stepped):
    """The automaton of a given rank; a state is a row of r numbers, scaled so that the empty test has probability 1."""

    def __init__(self, hankel: Hankel, rank: int) -> None:
        language = hankel.language
        self.encoder, self.class_names = language.model.encoder, language.model.class_names
        self.rank, self.fingerprint = rank, f"spectral-{rank}"
        left, values, right = hankel.singular
        basis = right[:rank].T  # V: (tests, r)
        inverse = (left[:, :rank] / np.maximum(values[:rank], _FLOOR)).T  # X⁺: (r, P)
        self._operators = np.einsum("rp,plt,ts->lrs", inverse, hankel.shifted, basis)  # (letters, r, r)
        self._final = basis[0]  # α∞: (r,)
        self._class_basis = basis[1 : 1 + len(self.class_names)].T  # (r, classes)
        self._start = hankel.blocks[0] @ basis
        self._letter = np.full(len(self.encoder.vocabulary), -1)
        self._letter[hankel.letters] = np.arange(len(hankel.letters))

    def initial_state(self, batch: int) -> State:
        return np.tile(self._scaled(self._start[None]), (batch, 1)).astype(np.float32)

    def step(self, state: State, ids: NDArray[np.int32]) -> tuple[State, NDArray[np.float32]]:
        after = np.array(state, np.float64)
        for letter in np.unique(self._letter[ids]):  # a word that is no symbol changes nothing
            here = self._letter[ids] == letter
            if letter >= 0:
                after[here] = state[here] @ self._operators[letter]
        after = self._scaled(after)
        return after.astype(np.float32), self._outputs(after)

    def _scaled(self, state: NDArray[np.float64]) -> NDArray[np.float64]:
        mass = state @ self._final
        lost = ~np.isfinite(mass) | (np.abs(mass) < _FLOOR)
        scaled = state / np.where(lost, 1.0, mass)[:, None]
        return np.where(lost[:, None], self._start, scaled)

    def _outputs(self, state: NDArray[np.floating]) -> NDArray[np.float32]:
        rows = np.maximum(np.asarray(state, np.float64) @ self._class_basis, _FLOOR)
        return np.asarray(rows / rows.sum(1, keepdims=True), np.float32)


def _frequent_pairs(ids: Ragged[np.int32], letters: NDArray[np.int32]) -> NDArray[np.int32]:
    """Pairs of neighbouring symbols, the most frequent first; -> (pairs, 2)"""
    both = np.stack([ids.values[:-1], ids.values[1:]], 1) if len(ids.values) > 1 else np.zeros((0, 2), np.int32)
    both = both[np.isin(both, letters).all(1)]
    distinct, counts = np.unique(both, axis=0, return_counts=True)
    if len(distinct) == 0:
        return np.stack([letters[:1], letters[:1]], 1)
    return np.asarray(distinct[np.argsort(-counts, kind="stable")[:_PAIRS]], np.int32)


def _prefixes(ids: Ragged[np.int32], number: int, rng: np.random.Generator) -> Ragged[np.int32]:
    """Random prefixes of texts, none empty."""
    chosen = np.sort(rng.choice(len(ids.values), min(number, len(ids.values)), replace=False))
    starts = ids.offsets[ids.item_of_value()[chosen]]
    lengths = chosen + 1 - starts
    return Ragged.from_lengths(ids.values[positions(starts, lengths)], lengths)
