"""Comparison of automaton and model over all blocks of files: a few numbers of every text stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.comparison import Comparison
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import last_outputs, text_outputs
from wfalens.ragged import Ragged
from wfalens.scale.block_jobs import BlockJob, RowCounts, encoded
from wfalens.scale.file_run import FileRun, open_run
from wfalens.scale.map_blocks import BlockTask, map_blocks
from wfalens.scale.run_config import DEFAULT_SAMPLE, RunConfig
from wfalens.scale.sample import CorpusScan, scan_files
from wfalens.storage import StoredFile, Tensors
from wfalens.text.files import TextFiles, with_labels
from wfalens.threads import limit_model_threads, model_threads_limited

_COLUMNS = {"label": "i", "predicted": "i", "divergence": "f", "confidence": "f", "length": "i", "rare": "f"}
_TRUTH = {"truth": "i"}  # where labels are known
_OUTPUTS = "outputs"
_BYTES_PER_TEXT = 120  # of a comparison and what is sorted and grouped of it (measured: 98)


@dataclass(frozen=True, eq=False)
class BlockComparison:
    """All that is kept of a block; no comparison if it has no text with a word in it."""

    comparison: Comparison | None
    rows: RowCounts


@dataclass(frozen=True, eq=False)
class ComparisonTask:
    """Compares a block, with its labels if the source has some."""

    source: TextFiles
    open_model: Callable[[], PrefixClassifier]
    wfa: WFA
    keeps_outputs: bool
    skips_errors: bool

    def prepare(self) -> Callable[[BlockJob], BlockComparison]:
        model = self.open_model()
        limit_model_threads()
        return lambda job: self._compared(model, job)

    def _compared(self, model: PrefixClassifier, job: BlockJob) -> BlockComparison:
        has_labels = self.source.has_labels
        classes = {name: number for number, name in enumerate(self.wfa.class_names)} if has_labels else None
        compared: list[Comparison] = []
        rows: list[RowCounts] = []
        for block in job.read(self.source):
            found = encoded(block, self.wfa.encoder, classes, self.skips_errors)
            rows.append(found.rows)
            if len(found.ids):
                outputs = text_outputs(model, block.texts, found.texts, found.ids)
                each = Comparison.of(self.wfa, found.ids, outputs, found.truth)
                compared.append(replace(each, outputs=outputs) if self.keeps_outputs else each)
        return BlockComparison(Comparison.joined(compared) if compared else None, RowCounts.of(rows))


def compare_files(
    wfa: WFA, model: PrefixClassifier, files: TextFiles, seed: int, run: RunConfig | None
) -> tuple[Comparison, Ragged[np.int32], NDArray[np.floating]]:
    """The comparison of all texts; a sample of them (all where they are few) and the model's outputs on it."""
    if not files.has_labels:
        files, remark = with_labels(files)
        if remark:
            progress.say(remark)
    about = {"automaton": wfa.fingerprint, "seed": seed, "model": model.fingerprint, **model.encoder.settings}
    with open_run(run or RunConfig(), files, about, DEFAULT_SAMPLE) as opened, model_threads_limited():
        classes = {name: number for number, name in enumerate(wfa.class_names)} if files.has_labels else None
        scan = scan_files(opened, wfa.encoder, seed, classes)
        comparison, rows = _compare_blocks(wfa, model, scan, opened)
        ids, outputs = scan.sample.ids, comparison.outputs
        if outputs is None or rows.texts != len(ids):  # there are more texts, or a block was left out
            outputs = last_outputs(model, ids)
        opened.record("finish", texts=rows.texts, tokens=rows.tokens, left_out=rows.left_out)
    return comparison, ids, outputs


def _compare_blocks(wfa: WFA, model: PrefixClassifier, scan: CorpusScan, run: FileRun) -> tuple[Comparison, RowCounts]:
    """The comparison of all texts, in the order of the corpus; outputs are kept where the sample holds all texts."""
    source = run.source
    work = BlockTask(
        title="comparing automaton and model",
        task=ComparisonTask(source, run.model_opener(model), wfa, scan.is_whole, run.skips_errors),
        name=lambda job: job.named(source),
        kind="compared",
        number=lambda job: job.number,
        stored=_stored,
        restored=lambda file: _restored(file, source.has_labels),
        skipped=(lambda job, reason: BlockComparison(None, job.skipped(reason))) if run.skips_errors else None,
    )
    found: dict[int, BlockComparison] = {}
    texts = 0
    for job, each in map_blocks(work, scan.jobs, run):
        found[job.number] = each
        texts += each.rows.texts
        run.check_memory(_BYTES_PER_TEXT * texts, f"the evaluation of {texts:,} texts")
    parts = [found[number] for number in sorted(found)]
    rows = RowCounts.of([*(part.rows for part in parts), scan.unreadable])
    rows.say_left_out()
    if rows.texts == 0:
        raise InputError(f"{source.name}: there is no text with a word in it", code="no-words")
    return Comparison.joined([part.comparison for part in parts if part.comparison is not None]), rows


def _stored(found: BlockComparison) -> tuple[dict[str, object], Tensors]:
    columns = {} if found.comparison is None else vars(found.comparison)
    return {"rows": found.rows.to_dict()}, {name: column for name, column in columns.items() if column is not None}


def _restored(file: StoredFile, has_labels: bool) -> BlockComparison:
    rows = RowCounts.stored(file)
    if rows.texts == 0:
        return BlockComparison(None, rows)
    kinds = _COLUMNS | (_TRUTH if has_labels else {})
    columns = {name: file.tensor(name, kind) for name, kind in kinds.items()}
    if _OUTPUTS in file.tensors:
        columns[_OUTPUTS] = file.tensor(_OUTPUTS, "f", 2)
    for name, column in columns.items():
        if len(column) != rows.texts:
            raise file.fail(f"the tensor {name!r} has {len(column)} entries for {rows.texts} texts")
    return BlockComparison(Comparison(**columns), rows)
