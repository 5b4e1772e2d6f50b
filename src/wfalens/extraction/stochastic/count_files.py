"""Beyond memory: transitions counted over all blocks of files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

from wfalens.errors import InputError
from wfalens.extraction.completion.augmentation import Resampling
from wfalens.extraction.method import Request
from wfalens.extraction.query_budget import AUGMENTATION
from wfalens.extraction.states import States, View, continuations_of, trace_prefixes
from wfalens.extraction.stochastic.tuning import StateSpace
from wfalens.extraction.transitions import TextStatistics, TransitionCounts
from wfalens.models.contract import PrefixClassifier
from wfalens.scale.block_jobs import BlockJob, RowCounts, encoded
from wfalens.scale.map_blocks import BlockTask, map_blocks
from wfalens.scale.sample import SampledFiles
from wfalens.storage import StoredFile, Tensors, compact
from wfalens.text.files import TextFiles
from wfalens.threads import limit_model_threads

_BYTES_PER_ENTRY, _BYTES_PER_WORD = 40, 64  # of the automaton while it is put together and written


class BlockCounts(NamedTuple):
    """The statistics of a block, and how much of it was read."""

    statistics: TextStatistics
    rows: RowCounts


@dataclass(frozen=True, eq=False)
class CountTask:
    """Counts a block: every text goes through the model, its transitions are counted, it is forgotten."""

    source: TextFiles
    open_model: Callable[[], PrefixClassifier]
    states: States
    view: View
    resampling: Resampling | None
    skips_errors: bool

    def prepare(self) -> Callable[[BlockJob], BlockCounts]:
        model = self.open_model()
        limit_model_threads()
        return lambda job: self._counted(model, job)

    def _counted(self, model: PrefixClassifier, job: BlockJob) -> BlockCounts:
        total, rows = TextStatistics(len(self.states), len(model.class_names)), list[RowCounts]()
        for block in job.read(self.source):
            found = encoded(block, model.encoder, skips_errors=self.skips_errors)
            rows.append(found.rows)
            if len(found.ids) == 0:
                continue
            seen = trace_prefixes(model, found.ids, self.view)
            total.add(seen, self.states.assign(seen.points))
            if self.resampling is not None:
                for fresh in self.resampling.texts(found.ids, block.file, block.number):
                    seen = trace_prefixes(model, fresh, self.view)
                    total.add_augmented(seen, self.states.assign(seen.points))
        return BlockCounts(total, RowCounts.of(rows))


def count_files(space: StateSpace, request: Request, files: SampledFiles, resampling: Resampling | None) -> BlockCounts:
    """The statistics of all texts."""
    augmentation, budget, run = space.method.augmentation, space.budget, files.run
    if continuations_of(space.view) is not None:
        raise InputError(
            "looking ahead asks a model that cannot be stepped about every prefix, and a corpus beyond its sample has "
            "too many of them; choose the abstraction 'outputs', or let the sample hold the whole corpus",
            code="lookahead-beyond-sample",
        )
    if augmentation is not None and budget.limit is not None:
        raise InputError(
            "augmenting a corpus beyond its sample asks the model as often as the corpus is long, which no limit on "
            "queries can bound; leave out one of the two",
            code="augmentation-beyond-sample",
        )
    states, classes = len(space.states), len(request.model.class_names)

    def skipped(job: BlockJob, reason: str) -> BlockCounts:
        return BlockCounts(TextStatistics(states, classes), job.skipped(reason))

    work = BlockTask(
        title="counting transitions",
        task=CountTask(
            run.source, run.model_opener(request.model), space.states, space.view, resampling, run.skips_errors
        ),
        name=lambda job: job.named(run.source),
        kind=f"counts-{sha256(space.states.seeds.tobytes()).hexdigest()[:12]}",  # states may depend on time
        number=lambda job: job.number,
        stored=_stored,
        restored=_restored,
        skipped=skipped if run.skips_errors else None,
    )
    total, rows = TextStatistics(states, classes), [files.scan.unreadable]
    for _, found in map_blocks(work, files.scan.jobs, run):
        total.merge(found.statistics)
        rows.append(found.rows)
    read = RowCounts.of(rows)
    budget.texts += read.tokens
    if augmentation is not None:
        budget.enter(AUGMENTATION, augmentation.epochs * read.tokens)
    words, entries = len(request.model.encoder.vocabulary), len(total.counts) + len(total.augmented)
    run.check_memory(_BYTES_PER_ENTRY * entries + _BYTES_PER_WORD * words, "the automaton")
    return BlockCounts(total, read)


def _stored(found: BlockCounts) -> tuple[dict[str, Any], Tensors]:
    statistics = found.statistics
    tensors: Tensors = {"output_sums": statistics.output_sums}
    for name, counts in (("", statistics.counts), ("augmented.", statistics.augmented)):
        tensors |= {f"{name}keys": compact(counts.keys), f"{name}counts": compact(counts.counts)}
    return {"rows": found.rows.to_dict(), "texts": statistics.texts}, tensors


def _restored(file: StoredFile) -> BlockCounts:
    sums = file.tensor("output_sums", "i", 2)
    statistics = TextStatistics(*sums.shape)
    statistics.add_sums(file.field("texts", int), sums)
    counts, augmented = (
        TransitionCounts(
            len(sums), *(file.tensor(f"{kind}{part}", "iu").astype(np.int64) for part in ("keys", "counts"))
        )
        for kind in ("", "augmented.")
    )
    statistics.add_counts(counts, augmented)
    return BlockCounts(statistics, RowCounts.stored(file))
