"""Fidelity over files of any size: shards are judged on an engine, and of a text only a few numbers stay.

All texts count for CR, JSD, their groups and trust. Stand-ins are fitted and measured on a sample of the texts. Labels
are not read, so there is no accuracy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wfalens.automaton.wfa import WFA
from wfalens.corpus.blocks import Shard, blocks_of_shard
from wfalens.corpus.corpus import Corpus
from wfalens.corpus.files import TextFiles
from wfalens.engines.contract import Done, ModelSource
from wfalens.errors import InputError, ModelError
from wfalens.evaluation.fidelity import Fidelity, check_pair, reported
from wfalens.evaluation.judgement import Judgement
from wfalens.extraction.parts import PartsFolder
from wfalens.extraction.stream import Stream
from wfalens.extraction.survey import survey_stream
from wfalens.extraction.traces import output_traces
from wfalens.models.contract import StepwiseClassifier
from wfalens.progress import SILENT, Progress
from wfalens.threads import limit_model_threads

_BYTES_PER_TEXT = 150  # of a judgement, joined, sorted and resampled


@dataclass(frozen=True, eq=False)
class Judged:
    """The judgement of a shard, and how many rows could not be read."""

    parts: list[Judgement]
    bad: int


@dataclass(frozen=True, eq=False)
class JudgeTask:
    """Judges a shard."""

    files: TextFiles
    model: ModelSource
    wfa: WFA
    skips_bad: bool

    def prepare(self) -> Callable[[Shard], Judged]:
        model = self.model.open()
        limit_model_threads()
        return lambda shard: self._judged(model, shard)

    def _judged(self, model: StepwiseClassifier, shard: Shard) -> Judged:
        parts, left_out = [], 0
        for block in blocks_of_shard(self.files, shard):
            texts, bad = block.texts()
            if bad and not self.skips_bad:
                raise InputError(f"{bad[0]}; mend the row, or leave out bad rows with --on-bad skip")
            left_out += len(bad)
            ids = model.encoder.encode(texts)
            ids = ids.take(np.flatnonzero(ids.lengths))
            if len(ids):
                outputs = output_traces(model, ids, SILENT).last().astype(np.float64)
                parts.append(Judgement.of(self.wfa, ids, outputs))
        return Judged(parts, left_out)


def measure_stream_fidelity(
    wfa: WFA,
    model: StepwiseClassifier,
    stream: Stream,
    *,
    reference: Corpus | None = None,
    seed: int = 0,
    progress: Progress = SILENT,
) -> Fidelity:
    """Compare automaton and model on files; `stream.folder` is used for the survey and may be removed afterwards."""
    check_pair(wfa, model)
    stream.check_start()
    folder = PartsFolder(stream.folder, {"files": stream.files.identity(), "model": model.fingerprint})
    take_back = limit_model_threads()
    try:
        survey = survey_stream(stream, model.encoder, seed, folder, progress)
        judged = _all_judged(wfa, model, stream, survey.shards, progress)
        ids = survey.sample.in_corpus_order()
        outputs = output_traces(model, ids, progress).last().astype(np.float64)
        return reported(model, judged, ids, outputs, None, reference, np.random.default_rng(seed), progress)
    finally:
        take_back()
        folder.close()


def _all_judged(
    wfa: WFA, model: StepwiseClassifier, stream: Stream, shards: list[Shard], progress: Progress
) -> Judgement:
    task = JudgeTask(stream.files, stream.engine.source(model, stream.model_file), wfa, stream.skips_bad)
    found: dict[int, list[Judgement]] = {}
    left_out = texts = 0
    progress.start("comparing automaton and model", len(shards))
    for outcome in stream.engine.run(task, shards, stream.heard()):
        name = outcome.job.named(stream.files)
        if isinstance(outcome, Done):
            found[outcome.job.number] = outcome.result.parts
            left_out += outcome.result.bad
            texts += sum(map(len, outcome.result.parts))
            stream.journal.write("shard", name=name, texts=texts, bad=outcome.result.bad, seconds=outcome.seconds)
        else:
            stream.journal.write("fail", name=name, reason=outcome.reason)
            if not stream.skips_bad:
                raise InputError(outcome.reason) if outcome.mendable else ModelError(f"{name}: {outcome.reason}")
            progress.say(f"left out: {name}: {outcome.reason}")
        stream.check_room(_BYTES_PER_TEXT * texts, f"the evaluation of {texts:,} texts")
        progress.advance(1, f"{texts:,} texts")
    progress.finish()
    if left_out:
        progress.say(f"left out {left_out:,} rows that could not be read")
    if texts == 0:
        raise InputError(f"{stream.files.name}: there is no text with a word in it")
    return Judgement.joined([part for number in sorted(found) for part in found[number]])
