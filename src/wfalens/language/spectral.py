"""Spectral learning: an automaton from the singular values of a Hankel matrix (Hsu, Kakade and Zhang; Balle et al.).

Rows of H are prefixes p, columns are tests s: the next symbol, the end, or a pair of symbols. `H[p, s]` is the model's
probability of s after p, and `Hσ[p, s]` that of σs. With H ≈ X·Vᵀ of rank r, `Aσ = X⁺·Hσ·V`. The operators need not
give probabilities: what is negative counts as 0, and rows are scaled to sum to 1.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wfalens.language.continuation import stepper
from wfalens.language.ngrams import Stepped
from wfalens.language.probability import Language
from wfalens.models.contract import State
from wfalens.ragged import Ragged, positions

RANKS = (2, 4, 8, 16, 32, 64)
_PREFIXES, _MOST_STEPS = 400, 400_000
_PAIRS = 48
_FLOOR = 1e-9


class Hankel:
    """The blocks of a Hankel matrix, asked of a language model."""

    def __init__(self, language: Language, ids: Ragged[np.int32], rng: np.random.Generator) -> None:
        self.language = language
        self.letters = np.flatnonzero(language.announced >= 0).astype(np.int32)
        pairs = _frequent_pairs(ids, self.letters)
        firsts = np.unique(pairs[:, 0])
        per_prefix = len(self.letters) * (1 + len(firsts))
        prefixes = _prefixes(ids, min(_PREFIXES, max(20, _MOST_STEPS // per_prefix)), rng)
        steps = stepper(language.model, int(prefixes.lengths.max()) + 3)
        state, outputs_of = _after(steps, prefixes, language.prior)
        state, outputs_of = np.vstack([steps.initial_state(1), state]), np.vstack([language.prior, outputs_of])

        def step_all(state: NDArray[np.floating], words: NDArray[np.int32]) -> tuple[NDArray, NDArray]:  # type: ignore[type-arg]
            """(N, width), (words,) -> (N · words, width), (N, words, classes)"""
            after, outputs = steps.step(np.repeat(state, len(words), axis=0), np.tile(words, len(state)))
            return after, np.asarray(outputs, np.float64).reshape(len(state), len(words), -1)

        def tests(outputs_of: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
            """(N, classes), (N, firsts, classes) -> (N, tests): 1, symbols and end, pairs"""
            first = np.searchsorted(firsts, pairs[:, 0])
            single = outputs_of[:, language.announced[pairs[:, 0]]]
            both = single * after[:, first, language.announced[pairs[:, 1]]]
            return np.hstack([np.ones((len(outputs_of), 1)), outputs_of, both])

        _, after = step_all(state, firsts)
        self.blocks = tests(outputs_of, after)  # (P, tests)
        going, outputs = step_all(state, self.letters)
        outputs_there = outputs.reshape(len(going), -1)
        _, after_there = step_all(going, firsts)
        there = tests(outputs_there, after_there).reshape(len(state), len(self.letters), -1)
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

    @cached_property
    def initial_output(self) -> NDArray[np.float32]:
        output: NDArray[np.float32] = self._outputs(self.initial_state(1))[0]
        return output

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


def _after(steps, prefixes: Ragged[np.int32], prior: NDArray[np.float64]):  # type: ignore[no-untyped-def]
    """States and outputs after each prefix."""
    state = steps.initial_state(len(prefixes))
    outputs = np.tile(prior, (len(prefixes), 1))
    table, lengths = prefixes.padded(), prefixes.lengths
    for position in range(table.shape[1]):
        reading = np.flatnonzero(lengths > position)
        state[reading], outputs[reading] = steps.step(state[reading], table[reading, position])
    return state, outputs
