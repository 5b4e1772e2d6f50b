"""The second pass as a whole: every shard that no part covers is counted, kept, and in time merged."""

from __future__ import annotations

import time
from collections.abc import Sequence

from wfalens.corpus.sources.blocks import Shard
from wfalens.errors import InputError, ModelError
from wfalens.extraction.evidence.count_parts import CountParts
from wfalens.extraction.evidence.counting import CountTask, Resampling, ShardCounts
from wfalens.extraction.plan import Plan
from wfalens.memory import resident_with_children
from wfalens.models.contract import StepwiseClassifier
from wfalens.passes.engines.contract import Done, Failed
from wfalens.passes.parts import PartsFolder
from wfalens.passes.stream import Stream
from wfalens.progress import Progress

_TIMES_HELD = 12  # the bytes of parts that are being merged: read, widened, joined, and their result


def count_stream(
    stream: Stream,
    plan: Plan,
    model: StepwiseClassifier,
    shards: Sequence[Shard],
    folder: PartsFolder,
    progress: Progress,
) -> CountParts:
    parts = CountParts(folder)
    left = [shard for shard in shards if shard.number not in parts.covered]
    if len(left) < len(shards):
        progress.say(f"going on: {len(shards) - len(left):,} of {len(shards):,} shards are counted already")
    task = CountTask(
        stream.files,
        stream.engine.source(model, stream.model_file),
        plan.states,
        plan.view,
        _resampling(plan, model),
        plan.extractor.seed,
        stream.skips_bad,
    )
    progress.start("counting transitions", len(left))
    began, tokens = time.monotonic(), 0
    for outcome in stream.engine.run(task, left, stream.heard()):
        if isinstance(outcome, Done):
            parts.add(outcome.job.number, outcome.result)
            tokens += outcome.result.tally.tokens
            _log(stream, outcome.job, outcome.result, outcome.seconds)
        else:
            reason = given_up(stream, outcome)
            progress.say(f"left out: {reason}")
            parts.skip(outcome.job.number, reason, *plan.centres.shape)
        due = parts.full_level(stream.room // _TIMES_HELD // 2)
        if due:
            parts.merge(due)
        stream.check_room()
        progress.advance(1, f"{tokens / (time.monotonic() - began):,.0f} words/s")
    progress.finish()
    return parts


def _resampling(plan: Plan, model: StepwiseClassifier) -> Resampling | None:
    rule = plan.extractor.augmentation
    if rule is None:
        return None
    return Resampling(rule.synonyms(model.encoder.vocabulary), rule.chances, rule.epochs)


def _log(stream: Stream, shard: Shard, found: ShardCounts, seconds: float) -> None:
    stream.journal.write(
        "shard",
        shard=shard.number,
        name=shard.named(stream.files),
        texts=found.tally.texts,
        tokens=found.tally.tokens,
        transitions=len(found.counts),
        bad=list(found.tally.told),
        seconds=round(seconds, 3),
        resident=resident_with_children(),
    )


def given_up(stream: Stream, failure: Failed[Shard]) -> str:
    """Why a shard is left out; where nothing may be left out, the run ends."""
    name = failure.job.named(stream.files)
    stream.journal.write("fail", shard=failure.job.number, name=name, reason=failure.reason)
    if not stream.skips_bad:
        if failure.mendable:
            raise InputError(failure.reason)
        raise ModelError(f"{name}: failed {failure.attempts} times: {failure.reason}")
    return f"{name}: {failure.reason}"
