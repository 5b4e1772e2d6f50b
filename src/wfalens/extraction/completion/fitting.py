"""EM of an input–output HMM: a stochastic automaton's rows and centres, fitted to the model's outputs.

The automaton is a Markov chain driven by words, its centres are what a state emits. For a text and the model's outputs
p_t the aim is Σ_t λ_t Σ_c p_t[c]·log (d_t·F)[c]; each round computes expected transitions and emissions by forward and
backward vectors and makes them, mixed with those of earlier rounds and a prior, the new rows and centres.
Rows start from the probed ones and keep their support, so all work is linear in the stored entries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.kernels.steps import Rows
from wfalens.automaton.rows import entries_per_row, make_rows
from wfalens.extraction.deadline import INTERRUPT, NEVER, TIME, Deadline, Stop
from wfalens.extraction.perturbation import random_part
from wfalens.extraction.query_budget import FITTING, QueryBudget, TooFewQueriesError
from wfalens.extraction.stochastic.paper import Stochastic
from wfalens.jit import njit
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import output_traces
from wfalens.ragged import Ragged
from wfalens.text.vocabulary import UNKNOWN
from wfalens.threads import in_parallel

PARTS = 4  # texts are summed in that many parts whatever the threads, so that equal seeds give equal bytes
_LEVELS = 255  # weights of a row are stored as whole numbers up to this
_NEGLIGIBLE = 1e-6  # mass of a state that is passed over


def affordable_rounds(method: Stochastic, queries: int | None, ids: Ragged[np.int32]) -> Stochastic:
    """The same for a number of queries: fewer tokens in a round, then fewer rounds."""
    longest, rounds = int(ids.lengths.max()), int(method.rounds)  # a round ends with a whole text
    if queries is None or rounds * min(method.tokens + longest, len(ids.values)) <= queries:
        return method
    rounds = min(rounds, queries // (2 * longest))
    if not rounds:
        raise TooFewQueriesError(
            f"{queries:,} queries are too few for fitting, which takes at least {2 * longest:,}; allow more"
        )
    return replace(method, rounds=rounds, tokens=min(method.tokens, queries // rounds - longest))


class FittedRows(NamedTuple):
    """What was fitted, and what ended it early."""

    rows: Rows
    centres: NDArray[np.float64]  # (n, C)
    stop: Stop | None


def fit_rows(
    model: PrefixClassifier,
    ids: Ragged[np.int32],
    probed: Rows,
    centres: NDArray[np.float64],
    method: Stochastic,
    rng: np.random.Generator,
    budget: QueryBudget,
    deadline: Deadline = NEVER,
) -> FittedRows:
    """From rows for every word in every state and centres (n, C); ρ(0) stays.

    There is one round at least; no other is begun after the deadline, and Ctrl-C ends them.
    """
    row_of = np.repeat(np.arange(len(probed.state)), entries_per_row(probed))
    prior = (probed.weight * probed.inverse[row_of]).astype(np.float32)
    weights, expected = prior.copy(), np.zeros_like(prior)
    emitted, fitted = np.zeros_like(centres), centres.copy()
    words = np.flatnonzero(np.diff(probed.row_start)).astype(np.int32)
    every = 2 / ids.lengths.mean()  # all prefixes of a text count twice as much as its end
    rounds = int(method.rounds)
    progress.start("fitting the rows", rounds)
    number, by = 0, None
    try:
        while number < rounds and not (number and deadline.is_over):
            texts = _perturbed(ids, words, method, rng)
            budget.enter(FITTING, len(texts.values))
            targets = output_traces(model, texts).values
            expected *= np.float32(method.memory)
            emitted *= method.memory
            aim = _expectations(texts, targets, probed, weights, fitted, every, expected, emitted)
            mixed = expected + np.float32(method.prior) * prior
            weights = (mixed / np.bincount(row_of, mixed)[row_of]).astype(np.float32)
            sums = emitted.sum(1, keepdims=True)
            fitted = np.where(sums > 0, emitted / np.where(sums > 0, sums, 1), fitted)
            fitted[0] = centres[0]
            number += 1
            progress.advance(1, f"mean log-likelihood {aim:.4f}")
    except KeyboardInterrupt:
        if not number:
            raise
        by = INTERRUPT
    progress.finish()
    by = by or (TIME if number < rounds else None)
    return FittedRows(_stored(probed, weights, row_of), fitted, None if by is None else Stop(by, number, rounds))


def _perturbed(
    ids: Ragged[np.int32], words: NDArray[np.int32], method: Stochastic, rng: np.random.Generator
) -> Ragged[np.int32]:
    """A random part of the texts with some words replaced by any that has rows.

    Words without rows become `<unk>`; where that has none either, as in a closed alphabet, any word with rows.
    """
    texts = ids.take(random_part(ids, method.tokens, rng))
    drawn = words[rng.integers(len(words), size=len(texts.values))]
    changed = np.where(rng.random(len(texts.values)) < method.replaced, drawn, texts.values)
    instead = UNKNOWN if UNKNOWN in words else drawn
    return Ragged(np.where(np.isin(changed, words), changed, instead).astype(np.int32), texts.offsets)


def in_parts(offsets: NDArray[np.int64], work: Callable[[int, NDArray[np.int64]], None]) -> None:
    """Call `work(number, offsets)` on `PARTS` parts of texts, on several threads."""
    cuts = np.searchsorted(offsets, np.linspace(0, offsets[-1], PARTS + 1)).clip(max=len(offsets) - 1)
    cuts[0], cuts[-1] = 0, len(offsets) - 1

    def some(first: int, last: int) -> None:
        for part in range(first, last):
            work(part, offsets[cuts[part] : cuts[part + 1] + 1])

    in_parallel(some, np.arange(PARTS + 1), 1)


def _expectations(
    ids: Ragged[np.int32],
    targets: NDArray[np.float32],
    rows: Rows,
    weights: NDArray[np.float32],
    centres: NDArray[np.float64],
    every: float,
    expected: NDArray[np.float32],
    emitted: NDArray[np.float64],
) -> float:
    """Add the expected transitions (entries,) and emissions (n, C) of the texts; -> the mean aim."""
    moved = np.zeros((PARTS, len(weights)), np.float32)
    shown = np.zeros((PARTS, *centres.shape))
    aims = np.zeros(PARTS)
    chain = rows.entry_start, rows.source, rows.target, weights, centres

    def work(part: int, offsets: NDArray[np.int64]) -> None:
        aims[part] = _expect(ids.values, offsets, targets, *chain, every, moved[part], shown[part])

    in_parts(ids.offsets, work)
    for part in range(PARTS):
        expected += moved[part]
        emitted += shown[part]
    return float(aims.sum() / len(ids))


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _expect(  # type: ignore[no-untyped-def]
    words, offsets, targets, entry_start, source, target, weights, centres, every, moved, shown
):
    n, classes = centres.shape
    longest = 0
    for text in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[text + 1] - offsets[text])
    forward, backward, earlier = np.zeros((longest + 1, n)), np.zeros(n), np.zeros(n)
    pull = np.zeros(classes)
    aim = 0.0
    for text in range(offsets.shape[0] - 1):
        start, length = offsets[text], offsets[text + 1] - offsets[text]
        forward[0, :] = 0.0
        forward[0, 0] = 1.0
        for step in range(length):
            word = words[start + step]
            forward[step + 1, :] = 0.0
            for entry in range(entry_start[word], entry_start[word + 1]):
                forward[step + 1, target[entry]] += forward[step, source[entry]] * weights[entry]
        backward[:] = 0.0
        for step in range(length - 1, -1, -1):
            word, share = words[start + step], every + (1.0 if step == length - 1 else 0.0)
            for column in range(classes):
                likelihood = 1e-12  # avoids 0 · log 0
                for state in range(n):
                    likelihood += forward[step + 1, state] * centres[state, column]
                p = targets[start + step, column]
                aim += share * p * np.log(likelihood)
                pull[column] = share * p / likelihood
            for state in range(n):
                total = 0.0
                for column in range(classes):
                    each = centres[state, column] * pull[column]
                    total += each
                    shown[state, column] += forward[step + 1, state] * each
                backward[state] += total
            earlier[:] = 0.0
            for entry in range(entry_start[word], entry_start[word + 1]):
                onward = weights[entry] * backward[target[entry]]
                earlier[source[entry]] += onward
                if forward[step, source[entry]] > _NEGLIGIBLE:
                    moved[entry] += forward[step, source[entry]] * onward
            backward[:] = earlier
    return aim


def _stored(rows: Rows, weights: NDArray[np.float32], row_of: NDArray[np.int64]) -> Rows:
    """The rows with their new weights as whole numbers, small enough for a byte each; what vanishes is left out."""
    starts = np.flatnonzero(np.diff(row_of, prepend=-1))
    largest = np.maximum.reduceat(weights, starts)[row_of]
    whole = np.rint(weights / largest * _LEVELS)
    kept = whole > 0
    entries = np.bincount(row_of[kept], minlength=len(rows.state))
    return make_rows(np.diff(rows.row_start), rows.state, entries, rows.target[kept], whole[kept])
