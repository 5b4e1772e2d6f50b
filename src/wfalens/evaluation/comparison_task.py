"""The pass of an evaluation: every text goes through model and automaton, a few numbers of it stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.evaluation.comparison import Comparison
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import last_outputs
from wfalens.scale.engines.engine import ModelSource
from wfalens.scale.row_counts import RowCounts
from wfalens.scale.shards import Shard, encoded
from wfalens.text.blocks import Source
from wfalens.threads import limit_model_threads


@dataclass(frozen=True, eq=False)
class BlockComparison:
    """All that is kept of a shard; no judgement if it has no text with a word in it."""

    judgement: Comparison | None
    outputs: NDArray[np.float32] | None  # (texts, C): the model's, where they are kept
    tally: RowCounts


@dataclass(frozen=True, eq=False)
class ComparisonTask:
    """Judges a shard, with its labels if the source has some."""

    source: Source
    model: ModelSource
    wfa: WFA
    has_labels: bool
    keeps_outputs: bool
    skips_bad: bool

    def prepare(self) -> Callable[[Shard], BlockComparison]:
        model = self.model.open()
        limit_model_threads()
        return lambda shard: self._judged(model, shard)

    def _judged(self, model: PrefixClassifier, shard: Shard) -> BlockComparison:
        classes = {name: number for number, name in enumerate(self.wfa.class_names)} if self.has_labels else None
        judged: list[Comparison] = []
        said: list[NDArray[np.float32]] = []
        tallies: list[RowCounts] = []
        for block in shard.read(self.source):
            found = encoded(block, model.encoder, classes, self.skips_bad)
            tallies.append(found.tally)
            if len(found.ids):
                outputs = last_outputs(model, found.ids)
                judged.append(Comparison.of(self.wfa, found.ids, outputs.astype(np.float64), found.truth))
                said.append(outputs)
        return BlockComparison(
            Comparison.joined(judged) if judged else None,
            np.concatenate(said) if said and self.keeps_outputs else None,
            RowCounts.of(tallies),
        )
