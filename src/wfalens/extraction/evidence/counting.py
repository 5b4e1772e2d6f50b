"""The second pass over a stream: every text goes through the model, its transitions are counted, it is forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from wfalens.corpus.sources.blocks import BadRow, Block, Shard
from wfalens.corpus.sources.files import TextFiles
from wfalens.errors import InputError
from wfalens.extraction.completion.augmentation import Chances, augmented
from wfalens.extraction.evidence.sums import carried, output_sums
from wfalens.extraction.evidence.transitions import TransitionCounts, transition_keys
from wfalens.extraction.states.abstraction import States
from wfalens.extraction.states.views import Seen, View, see
from wfalens.models.contract import StepwiseClassifier
from wfalens.passes.engines.contract import ModelSource
from wfalens.progress import Progress
from wfalens.ragged import Ragged
from wfalens.threads import limit_model_threads

_TOLD = 20  # bad rows that are listed
_HELD = 1 << 20  # keys that are held before they are counted


@dataclass(frozen=True)
class Tally:
    """How much was read, and what could not be."""

    texts: int = 0
    tokens: int = 0
    cut: int = 0  # texts that were longer than the model reads
    bad: int = 0  # rows, or shards as a whole
    told: tuple[str, ...] = ()  # what was bad, the first of it by name

    @classmethod
    def of(cls, parts: Iterable[Tally]) -> Tally:
        parts = list(parts)
        told = sorted(each for part in parts for each in part.told)[:_TOLD]
        return cls(
            sum(part.texts for part in parts),
            sum(part.tokens for part in parts),
            sum(part.cut for part in parts),
            sum(part.bad for part in parts),
            tuple(told),
        )

    def tell_left_out(self, progress: Progress) -> None:
        if self.bad:
            more = "; …" if self.bad > 3 else ""
            progress.say(f"left out {self.bad:,} rows, shards or files ({'; '.join(self.told[:3])}{more})")


@dataclass(frozen=True, eq=False)
class ShardCounts:
    """All that is kept of a shard, or of several."""

    counts: TransitionCounts
    augmented: TransitionCounts
    output_sums: NDArray[np.int64]  # (n, C, 2): see `output_sums`; state 0 has none
    tally: Tally


@dataclass(frozen=True, eq=False)
class Resampling:
    """Augmentation of a stream: each block draws from its own place."""

    synonyms: NDArray[np.int32]  # (V, k)
    chances: Chances
    epochs: int


@dataclass(frozen=True, eq=False)
class CountTask:
    """Counts a shard."""

    files: TextFiles
    model: ModelSource
    states: States
    view: View
    resampling: Resampling | None
    seed: int
    skips_bad: bool

    def prepare(self) -> Callable[[Shard], ShardCounts]:
        model = self.model.open()
        limit_model_threads()
        return lambda shard: self._counted(model, shard)

    def _counted(self, model: StepwiseClassifier, shard: Shard) -> ShardCounts:
        total = _Total(len(self.states), len(model.class_names))
        for block in shard.read(self.files):
            bad = block.bad
            if bad and not self.skips_bad:
                raise InputError(f"{bad[0]}; mend the row, or leave out bad rows with --on-bad skip")
            total.bad += bad
            self._add(total, model, block, cast(Sequence[str], block.texts))
        return total.result()

    def _add(self, total: _Total, model: StepwiseClassifier, block: Block, texts: Sequence[str]) -> None:
        ids = model.encoder.encode(texts)
        total.cut += int(np.sum(ids.lengths == model.encoder.max_length)) and model.encoder.count_cut(texts)
        worded = np.flatnonzero(ids.lengths)
        if len(worded) == 0:
            return
        ids = ids if len(worded) == len(ids) else ids.take(worded)
        seen = see(model, ids, self.view)
        path = self.states.assign(seen.points)
        total.add(seen, path)
        if self.resampling is None:
            return
        for epoch in range(self.resampling.epochs):
            rng = np.random.default_rng([self.seed, block.file, block.number, epoch])
            fresh = augmented(ids, self.resampling.synonyms, self.resampling.chances, rng)
            path = self.states.assign(see(model, fresh, self.view).points)
            total.more.add(fresh, path)


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
    def __init__(self, states: int, classes: int) -> None:
        self.states = states
        self.counts, self.more = _Counter(states), _Counter(states)
        self.sums = np.zeros((states, classes, 2), np.int64)
        self.texts = self.tokens = self.cut = 0
        self.bad: list[BadRow] = []

    def add(self, seen: Seen, path: NDArray[np.int32]) -> None:
        self.counts.add(seen.ids, path)
        self.sums = carried(self.sums + output_sums(seen.outputs, path, self.states))
        self.texts += len(seen.ids)
        self.tokens += len(seen.ids.values)

    def result(self) -> ShardCounts:
        return ShardCounts(
            self.counts.result(),
            self.more.result(),
            self.sums,
            Tally.of([Tally(self.texts, self.tokens, self.cut, len(self.bad), tuple(map(str, self.bad)))]),
        )
