"""Evidence: what is counted of texts and their states. Evidence of parts adds up to that of the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.extraction.completion.augmentation import Chances, augmented
from wfalens.extraction.counts.fixed_point import added, carried, output_sums
from wfalens.extraction.counts.transitions import TransitionCounts, transition_keys
from wfalens.extraction.states.abstraction import States
from wfalens.extraction.states.views import PrefixOutputs, View, see
from wfalens.models.contract import PrefixClassifier
from wfalens.ragged import Ragged
from wfalens.scale.engines.engine import ModelSource
from wfalens.scale.row_counts import RowCounts
from wfalens.scale.shards import Shard, encoded
from wfalens.text.blocks import Source
from wfalens.threads import limit_model_threads

_HELD = 1 << 20  # keys that are held before they are counted


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that is kept of texts; a commutative monoid under `merge`."""

    counts: TransitionCounts
    augmented: TransitionCounts
    output_sums: NDArray[np.int64]  # (n, C, 2): see `output_sums`; state 0 has none
    tally: RowCounts

    @classmethod
    def none(cls, shape: tuple[int, ...], tally: RowCounts) -> Evidence:
        """Of no text; the tally tells what was left out. shape: (n, C)"""
        empty = TransitionCounts.empty(shape[0])
        return cls(empty, empty, np.zeros((*shape, 2), np.int64), tally)

    @classmethod
    def merged(cls, parts: list[Evidence]) -> Evidence:
        first, *others = parts
        return cls(
            first.counts.merge(*(part.counts for part in others)),
            first.augmented.merge(*(part.augmented for part in others)),
            added([part.output_sums for part in parts]),
            RowCounts.of(part.tally for part in parts),
        )


@dataclass(frozen=True, eq=False)
class Resampling:
    """Augmentation of blocks: each draws by its own number, so that it does not matter who reads it."""

    synonyms: NDArray[np.int32]  # (V, k)
    chances: Chances
    epochs: int
    seed: int

    def texts(self, ids: Ragged[np.int32], file: int, block: int) -> Iterator[Ragged[np.int32]]:
        """One set of new texts for each epoch."""
        for epoch in range(self.epochs):
            rng = np.random.default_rng([self.seed, file, block, epoch])
            yield augmented(ids, self.synonyms, self.chances, rng)


def evidence_of(
    seen: PrefixOutputs,
    path: NDArray[np.int32],
    states: States,
    tally: RowCounts,
    augmented_texts: Iterable[PrefixOutputs] = (),
) -> Evidence:
    """The evidence of texts that were seen already, and of texts made from them. path: (tokens,)"""
    total = _Total(states, seen.outputs.shape[1])
    total.add(seen, path)
    for fresh in augmented_texts:
        total.add_augmented(fresh)
    return total.evidence(tally)


@dataclass(frozen=True, eq=False)
class CountTask:
    """Counts a shard: every text goes through the model, its transitions are counted, it is forgotten."""

    source: Source
    model: ModelSource
    states: States
    view: View
    resampling: Resampling | None
    skips_bad: bool

    def prepare(self) -> Callable[[Shard], Evidence]:
        model = self.model.open()
        limit_model_threads()
        return lambda shard: self._counted(model, shard)

    def _counted(self, model: PrefixClassifier, shard: Shard) -> Evidence:
        total = _Total(self.states, len(model.class_names))
        tallies = []
        for block in shard.read(self.source):
            found = encoded(block, model.encoder, skips_bad=self.skips_bad)
            tallies.append(found.tally)
            if len(found.ids) == 0:
                continue
            seen = see(model, found.ids, self.view)
            total.add(seen, self.states.assign(seen.points))
            if self.resampling is not None:
                for fresh in self.resampling.texts(found.ids, block.file, block.number):
                    total.add_augmented(see(model, fresh, self.view))
        return total.evidence(RowCounts.of(tallies))


class _Counter:
    """Counts transitions as they come: keys are held until there are enough to be worth sorting."""

    def __init__(self, states: int) -> None:
        self._counts = TransitionCounts.empty(states)
        self._keys: list[NDArray[np.int64]] = []

    def add(self, ids: Ragged[np.int32], path: NDArray[np.int32]) -> None:
        self._keys.append(transition_keys(ids, path, self._counts.states))
        if sum(map(len, self._keys)) >= max(_HELD, len(self._counts)):
            self._fold()

    def result(self) -> TransitionCounts:
        self._fold()
        return self._counts

    def _fold(self) -> None:
        if self._keys:
            fresh = TransitionCounts.of_keys(self._counts.states, np.concatenate(self._keys))
            self._counts = self._counts.merge(fresh)
            self._keys = []


class _Total:
    """Evidence in the making."""

    def __init__(self, states: States, classes: int) -> None:
        self._states = states
        self._counts, self._augmented = _Counter(len(states)), _Counter(len(states))
        self._sums = np.zeros((len(states), classes, 2), np.int64)

    def add(self, seen: PrefixOutputs, path: NDArray[np.int32]) -> None:
        self._counts.add(seen.ids, path)
        self._sums = carried(self._sums + output_sums(seen.outputs, path, len(self._states)))

    def add_augmented(self, seen: PrefixOutputs) -> None:
        self._augmented.add(seen.ids, self._states.assign(seen.points))

    def evidence(self, tally: RowCounts) -> Evidence:
        return Evidence(self._counts.result(), self._augmented.result(), self._sums, tally)
