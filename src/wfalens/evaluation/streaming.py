"""Fidelity over files of any size: shards are judged on an engine, and of a text only a few numbers stay.

All texts count for CR, JSD, their groups, trust and accuracy. Stand-ins are fitted and measured on a sample of the
texts. What a shard gave is kept in a folder of parts; a run that was stopped goes on there to the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from wfalens.automaton.wfa import WFA
from wfalens.corpus.corpus import Corpus
from wfalens.corpus.sources.blocks import Shard
from wfalens.corpus.sources.files import with_labels
from wfalens.errors import InputError
from wfalens.evaluation.fidelity import Fidelity, check_pair, reported
from wfalens.evaluation.judged_parts import JudgedParts
from wfalens.evaluation.judging import JudgeTask
from wfalens.extraction.count_pass import given_up
from wfalens.extraction.evidence.counting import Tally
from wfalens.models.contract import StepwiseClassifier
from wfalens.models.traces import output_traces
from wfalens.passes.engines.contract import Done
from wfalens.passes.parts import PartsFolder
from wfalens.passes.stream import Stream
from wfalens.passes.survey import survey_stream
from wfalens.progress import SILENT, Progress
from wfalens.threads import limit_model_threads

_BYTES_PER_TEXT = 120  # of a judgement and what is sorted and grouped of it (measured: 98)


def measure_stream_fidelity(
    wfa: WFA,
    model: StepwiseClassifier,
    stream: Stream,
    *,
    label_column: str | None = None,
    reference: Corpus | None = None,
    seed: int = 0,
    progress: Progress = SILENT,
) -> Fidelity:
    """Compare automaton and model on files; `stream.folder` may be removed when the result is safe.

    `label_column=None` takes the column `label` if all files have it, else there is no accuracy. `reference` is as in
    `measure_fidelity`.
    """
    check_pair(wfa, model)
    stream.check_start()
    files, remark = with_labels(stream.files, label_column)
    if remark:
        progress.say(remark)
    stream = replace(stream, files=files)
    folder = PartsFolder(stream.folder, _manifest(wfa, model, stream, seed))
    take_back = limit_model_threads()
    try:
        stream.journal.write("start", files=len(files.paths), bytes=sum(files.sizes), resumed=folder.resumed)
        survey = survey_stream(stream, model.encoder, seed, folder, progress)
        parts = _judge_all(wfa, model, stream, survey.shards, folder, progress)
        unreadable = Tally(bad=len(survey.unreadable), told=survey.unreadable)
        tally = Tally.of([*parts.tallies.values(), unreadable])
        tally.tell_left_out(progress)
        if tally.texts == 0:
            raise InputError(f"{files.name}: there is no text with a word in it")
        stream.check_room(_BYTES_PER_TEXT * tally.texts, f"the evaluation of {tally.texts:,} texts")
        ids = survey.sample.in_corpus_order()
        outputs = output_traces(model, ids, progress).last().astype(np.float64)
        judged = parts.joined(files.label_column is not None)
        fidelity = reported(model, judged, ids, outputs, reference, np.random.default_rng(seed), progress)
        stream.journal.write("finish", texts=tally.texts, tokens=tally.tokens, left_out=tally.bad)
        return fidelity
    finally:
        take_back()
        folder.close()


def _judge_all(
    wfa: WFA,
    model: StepwiseClassifier,
    stream: Stream,
    shards: Sequence[Shard],
    folder: PartsFolder,
    progress: Progress,
) -> JudgedParts:
    """Judge every shard that has no part yet."""
    parts = JudgedParts(folder, len(shards))
    left = [shard for shard in shards if shard.number not in parts.tallies]
    if len(left) < len(shards):
        progress.say(f"going on: {len(shards) - len(left):,} of {len(shards):,} shards are judged already")
    task = JudgeTask(stream.files, stream.engine.source(model, stream.model_file), wfa, stream.skips_bad)
    texts = sum(tally.texts for tally in parts.tallies.values())
    progress.start("comparing automaton and model", len(left))
    for outcome in stream.engine.run(task, left, stream.heard()):
        shard = outcome.job
        if isinstance(outcome, Done):
            parts.add(shard.number, outcome.result)
            tally = outcome.result.tally
            texts += tally.texts
            stream.journal.write(
                "shard",
                shard=shard.number,
                name=shard.named(stream.files),
                texts=tally.texts,
                tokens=tally.tokens,
                bad=list(tally.told),
                seconds=round(outcome.seconds, 3),
            )
        else:
            reason = given_up(stream, outcome)
            progress.say(f"left out: {reason}")
            parts.skip(shard.number, reason)
        stream.check_room(_BYTES_PER_TEXT * texts, f"the evaluation of {texts:,} texts")
        progress.advance(1, f"{texts:,} texts")
    progress.finish()
    return parts


def _manifest(wfa: WFA, model: StepwiseClassifier, stream: Stream, seed: int) -> dict[str, Any]:
    """All that the numbers depend on, but for the reference of the stand-ins, which no part holds."""
    files, encoder = stream.files, model.encoder
    return {
        "automaton": wfa.fingerprint,
        "model": model.fingerprint,
        "tokenizer": encoder.tokenizer_name,
        "max_length": encoder.max_length,
        "files": files.identity(),
        "text_column": files.text_column,
        "label_column": files.label_column,
        "encoding": files.encoding,
        "block_bytes": files.block_bytes,
        "sample_tokens": stream.sample_tokens,
        "seed": seed,
    }
