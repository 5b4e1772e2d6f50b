"""The first pass over a stream: where its shards begin, and a sample of its texts. The model is not asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from wfalens.corpus.encoder import TextEncoder
from wfalens.corpus.packed import PackedTexts
from wfalens.corpus.sources.blocks import Block, Place, Shard
from wfalens.corpus.sources.files import TextFiles
from wfalens.errors import InputError
from wfalens.passes.engines.contract import Done, Engine, Failed
from wfalens.passes.engines.local import SerialEngine
from wfalens.passes.parts import PartsFolder
from wfalens.passes.sampling import TextSample, draws
from wfalens.passes.stream import DEFAULT_SAMPLE, Stream
from wfalens.progress import Progress
from wfalens.ragged import Ragged
from wfalens.storage import Tensors

_SURVEYED_HERE = 1 << 28  # bytes that need no help from other processes
_MOST_SHARDS_IN_ONE = 4


@dataclass(frozen=True, eq=False)
class FileSurvey:
    """What was found in one file: the blocks with which its shards begin, their places, and a sample."""

    blocks: int
    starts: list[tuple[int, Place]]
    sample: TextSample
    unreadable: str = ""  # why nothing could be read


@dataclass(frozen=True, eq=False)
class Survey:
    """What was found in all files; `unreadable` tells which ones were left out, and why."""

    shards: list[Shard]
    sample: TextSample
    unreadable: tuple[str, ...]


@dataclass(eq=False)
class Bar:
    """The lowest draw that is known to be out of the sample's reach, None at first; a worker's files share it."""

    draw: np.uint64 | None = None

    def lower(self, draw: np.uint64 | None) -> None:
        if draw is not None and (self.draw is None or draw < self.draw):
            self.draw = draw


@dataclass(frozen=True, eq=False)
class SurveyTask:
    """Surveys a file, the job being its number."""

    files: TextFiles
    encoder: TextEncoder
    seed: int
    tokens: int  # of the sample
    shard_bytes: int
    bar: Bar = field(default_factory=Bar)

    def prepare(self) -> Callable[[int], FileSurvey]:
        return self.survey

    def survey(self, file: int) -> FileSurvey:
        starts: list[tuple[int, Place]] = []
        sample = TextSample.empty()
        waiting: list[TextSample] = []
        blocks = size = rows = 0
        divisible = self.files.is_divisible(file)
        for block in self.files.blocks(file):
            lead = self.files.lead(file, block.start) if divisible and size >= self.shard_bytes else 0
            if not starts or (divisible and self._is_enough(size, rows, lead)):
                starts.append((block.number, block.start))
                size = rows = 0
            size += block.size
            rows += len(block.texts)
            blocks += 1
            waiting.append(self._drawn(block))
            if sum(len(part.ids.values) for part in waiting) > self.tokens:
                sample, waiting = TextSample.pruned([sample, *waiting], self.tokens), []
                self.bar.lower(sample.limit(self.tokens))
        return FileSurvey(blocks, starts, TextSample.pruned([sample, *waiting], self.tokens))

    def _is_enough(self, size: int, rows: int, lead: int) -> bool:
        """Whether a shard may end where the next reads `lead` rows in vain: few of them, unless it grows too large."""
        return size >= self.shard_bytes and (2 * lead <= rows or size >= _MOST_SHARDS_IN_ONE * self.shard_bytes)

    def _drawn(self, block: Block) -> TextSample:
        """The texts of a block that may get into the sample."""
        draw, bar = draws(self.seed, block.file, block.number, len(block.texts)), self.bar.draw
        rows = np.arange(len(draw)) if bar is None else np.flatnonzero(draw < bar)
        texts = _chosen(cast(Sequence[str], block.texts), rows)
        ids = self.encoder.encode(texts)
        worded = np.flatnonzero(ids.lengths)
        rows = rows[worded]
        place = np.column_stack([np.full(len(rows), block.file), np.full(len(rows), block.number), rows])
        return TextSample(draw[rows], place, _taken(ids, worded))


def _chosen(texts: Sequence[str], items: NDArray[np.int64]) -> Sequence[str]:
    return texts.take(items) if isinstance(texts, PackedTexts) else [texts[item] for item in items.tolist()]


def _taken(ids: Ragged[np.int32], items: NDArray[np.int64]) -> Ragged[np.int32]:
    return ids if len(items) == len(ids) else ids.take(items)


def survey_stream(stream: Stream, encoder: TextEncoder, seed: int, folder: PartsFolder, progress: Progress) -> Survey:
    """Survey all files; those that were surveyed before are not read again."""
    files, tokens = stream.files, stream.sample_tokens or DEFAULT_SAMPLE
    task = SurveyTask(files, encoder, seed, tokens, stream.bytes_per_shard)
    found = {number: survey for number in range(len(files.paths)) if (survey := _stored(folder, number))}
    left = [number for number in range(len(files.paths)) if number not in found]
    progress.start("reading the files", len(left))

    def survey_files(engine: Engine, numbers: Sequence[int]) -> None:
        for outcome in engine.run(task, numbers, stream.heard()):
            survey = found[outcome.job] = _kept(stream, outcome, progress)
            _store(folder, outcome.job, survey)
            stream.journal.write("survey", file=files.paths[outcome.job], blocks=survey.blocks)
            progress.advance(1, Path(files.paths[outcome.job]).name)

    # unless threads are at hand, some files are read here, one after the other: starting processes would take longer,
    # and what they leave no room for need not be parsed in the others
    sample = TextSample.pruned([TextSample.empty(), *(each.sample for each in found.values())], tokens)
    task.bar.lower(sample.limit(tokens))
    read, sizes = 0, files.sizes
    here = 0 if stream.engine.shares_memory else _SURVEYED_HERE
    while left and (read < here or len(left) == 1):
        number = left.pop(0)
        survey_files(SerialEngine(), [number])
        sample = TextSample.pruned([sample, found[number].sample], tokens)
        task.bar.lower(sample.limit(tokens))
        read += sizes[number]
    survey_files(stream.engine, left)
    progress.finish()
    surveys = [found[number] for number in range(len(files.paths))]
    return Survey(
        list(_numbered(surveys)),
        TextSample.merged([each.sample for each in surveys], tokens),
        tuple(each.unreadable for each in surveys if each.unreadable),
    )


def _numbered(surveys: Sequence[FileSurvey]) -> Iterator[Shard]:
    number = count()
    for file, survey in enumerate(surveys):
        starts = [*survey.starts, (survey.blocks, Place(0, 0))]
        for (first, place), (behind, _) in pairwise(starts):
            yield Shard(next(number), file, first, behind - first, place)


def _kept(stream: Stream, outcome: Done[int, FileSurvey] | Failed[int], progress: Progress) -> FileSurvey:
    if isinstance(outcome, Done):
        return outcome.result
    path = stream.files.paths[outcome.job]
    reason = outcome.reason if outcome.reason.startswith(path) else f"{path}: {outcome.reason}"
    if not stream.skips_bad:
        raise InputError(reason)
    progress.say(f"left out: {reason}")
    stream.journal.write("skip", file=path, reason=outcome.reason)
    return FileSurvey(0, [], TextSample.empty(), reason)


def _store(folder: PartsFolder, number: int, survey: FileSurvey) -> None:
    starts = [[first, *place] for first, place in survey.starts]
    header = {"blocks": survey.blocks, "starts": starts, "unreadable": survey.unreadable}
    tensors: Tensors = {
        "draw": survey.sample.draw.view(np.int64),
        "place": survey.sample.place,
        "ids": survey.sample.ids.values,
        "offsets": survey.sample.ids.offsets,
    }
    folder.write(f"survey-{number:08d}", header, tensors)


def _stored(folder: PartsFolder, number: int) -> FileSurvey | None:
    file = folder.read(f"survey-{number:08d}")
    if file is None:
        return None
    ids = Ragged(file.tensor("ids", "i"), file.tensor("offsets", "i"))
    sample = TextSample(file.tensor("draw", "i").view(np.uint64), file.tensor("place", "i", 2), ids)
    starts = [(first, Place(offset, line)) for first, offset, line in file.field("starts", list)]
    return FileSurvey(file.field("blocks", int), starts, sample, file.field("unreadable", str))
