"""The pass of an evaluation over a stream: every text goes through model and automaton, a few numbers of it stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.corpus.sources.blocks import BadRow, Block, Shard, classes_of
from wfalens.corpus.sources.files import TextFiles
from wfalens.errors import InputError
from wfalens.evaluation.judgement import Judgement
from wfalens.extraction.evidence.counting import Tally
from wfalens.models.contract import StepwiseClassifier
from wfalens.models.traces import output_traces
from wfalens.passes.engines.contract import ModelSource
from wfalens.progress import SILENT
from wfalens.threads import limit_model_threads


@dataclass(frozen=True, eq=False)
class ShardJudgement:
    """All that is kept of a shard; no judgement if it has no text with a word in it."""

    judgement: Judgement | None
    tally: Tally


@dataclass(frozen=True, eq=False)
class JudgeTask:
    """Judges a shard, with its labels if the files have a column for them."""

    files: TextFiles
    model: ModelSource
    wfa: WFA
    skips_bad: bool

    def prepare(self) -> Callable[[Shard], ShardJudgement]:
        model = self.model.open()
        limit_model_threads()
        return lambda shard: self._judged(model, shard)

    def _judged(self, model: StepwiseClassifier, shard: Shard) -> ShardJudgement:
        parts: list[Judgement] = []
        left_out: list[BadRow] = []
        tokens = 0
        for block in shard.read(self.files):
            texts, truth, bad = self._read(block)
            if bad and not self.skips_bad:
                raise InputError(f"{bad[0]}; mend the row, or leave out bad rows with --on-bad skip")
            left_out += bad
            ids = model.encoder.encode(texts)
            worded = np.flatnonzero(ids.lengths)
            if len(worded):
                ids = ids.take(worded)
                outputs = output_traces(model, ids, SILENT).last().astype(np.float64)
                parts.append(Judgement.of(self.wfa, ids, outputs, None if truth is None else truth[worded]))
                tokens += len(ids.values)
        tally = Tally(sum(map(len, parts)), tokens, 0, len(left_out), tuple(map(str, left_out)))
        return ShardJudgement(Judgement.joined(parts) if parts else None, Tally.of([tally]))

    def _read(self, block: Block) -> tuple[Sequence[str], NDArray[np.int64] | None, list[BadRow]]:
        """The texts of a block, their true classes where labels are read, and what could not be read."""
        texts, bad = cast(Sequence[str], block.texts), list(block.bad)
        if self.files.label_column is None:
            return texts, None, bad
        truth, unknown = classes_of(block, {name: number for number, name in enumerate(self.wfa.class_names)})
        known = np.flatnonzero(truth >= 0)
        return [texts[text] for text in known.tolist()] if unknown else texts, truth[known], bad + unknown
