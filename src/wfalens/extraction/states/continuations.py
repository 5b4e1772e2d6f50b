"""What a model that cannot be stepped shows of a prefix beside its output: its answers after a few continuations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.models.contract import PrefixClassifier, asks_every_prefix
from wfalens.models.inference import last_outputs, prefix_tree
from wfalens.ragged import Ragged, offsets_of, positions
from wfalens.threads import passes_of_model

MOST_ASKED = 4  # continuations behind every prefix
_PREFIXES_PER_CALL = 20_000
_RIDGE, _LEAST_RIDGE = 1e-3, 1e-6


@dataclass(frozen=True, eq=False)
class Continuations:
    """Texts that are put behind prefixes."""

    texts: Ragged[np.int32]

    def __len__(self) -> int:
        return len(self.texts)

    def queries(self, model: PrefixClassifier, lengths: NDArray[np.int64]) -> int:
        """What asking them behind prefixes of these lengths costs: a model that traces scores all words of a text."""
        if asks_every_prefix(model):
            return len(self) * len(lengths)
        return len(self) * int(lengths.sum()) + len(lengths) * len(self.texts.values)

    def answers(self, model: PrefixClassifier, prefixes: Ragged[np.int32]) -> NDArray[np.float32]:
        """Outputs after every continuation of every prefix, side by side; -> (prefixes, continuations · C)"""

        def asked(part: Ragged[np.int32]) -> NDArray[np.float32]:
            return np.hstack([last_outputs(model, _joined(part, each)) for each in self.texts])

        width = len(self) * len(model.class_names)
        parts = [
            prefixes.between(first, first + _PREFIXES_PER_CALL) for first in range(0, len(prefixes), _PREFIXES_PER_CALL)
        ]
        return np.concatenate([np.empty((0, width), np.float32), *passes_of_model(model, asked, parts)])

    def after_every_word(self, model: PrefixClassifier, ids: Ragged[np.int32]) -> NDArray[np.float32]:
        """The same of every prefix of texts, equal ones asked once; -> (tokens, continuations · C)"""
        tree = prefix_tree(ids)
        return np.asarray(self.answers(model, tree.spelled(np.arange(len(tree))))[tree.of_token])


def drawn(ids: Ragged[np.int32], number: int, longest: int, rng: np.random.Generator) -> Continuations:
    """So many runs of one to `longest` words from the texts, ends of texts crossed."""
    lengths = rng.integers(1, min(longest, len(ids.values)) + 1, number)
    starts = rng.integers(0, len(ids.values) - lengths + 1)
    return Continuations(Ragged.from_lengths(ids.values[positions(starts, lengths)], lengths))


def most_informative(answers: NDArray[np.float32], targets: NDArray[np.float64], number: int) -> NDArray[np.int64]:
    """The continuations whose answers together explain most of the targets, chosen one after the other.

    answers: (N, continuations, C), targets: (N, ·), both of the same prefixes -> (number,)
    """
    chosen: list[int] = []
    for _ in range(min(number, answers.shape[1])):
        rest = [each for each in range(answers.shape[1]) if each not in chosen]
        lost = [_unexplained(answers[:, [*chosen, each]].reshape(len(answers), -1), targets) for each in rest]
        chosen.append(rest[int(np.argmin(lost))])
    return np.array(chosen)


def regression(known: NDArray[np.floating], targets: NDArray[np.float64]) -> NDArray[np.float64]:
    """B that makes `known·B` nearest to the targets; known, centred: (N, a), wanted: (N, b) -> (a, b)"""
    table = known.astype(np.float64)
    damping = (_RIDGE * len(table) * float(table.var()) + _LEAST_RIDGE) * np.eye(table.shape[1])
    return np.asarray(np.linalg.solve(table.T @ table + damping, table.T @ targets))


def _unexplained(known: NDArray[np.float32], targets: NDArray[np.float64]) -> float:
    centred = known - known.mean(0)
    return float(np.square(targets - centred @ regression(centred, targets)).sum())


def _joined(prefixes: Ragged[np.int32], continuation: NDArray[np.int32]) -> Ragged[np.int32]:
    lengths = prefixes.lengths + len(continuation)
    offsets = offsets_of(lengths)
    values = np.empty(int(offsets[-1]), np.int32)
    values[positions(offsets[:-1], prefixes.lengths)] = prefixes.values
    values[positions(offsets[1:] - len(continuation), np.full(len(prefixes), len(continuation)))] = np.tile(
        continuation, len(prefixes)
    )
    return Ragged(values, offsets)
