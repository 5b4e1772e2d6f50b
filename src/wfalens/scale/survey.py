"""The first pass over a corpus: where its shards begin, and a sample of its texts. The model is not asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from wfalens.ragged import Ragged
from wfalens.scale.bottom_k import TextSample, draws
from wfalens.scale.checkpoints import Parts
from wfalens.scale.engines.engine import Engine
from wfalens.scale.engines.local import SerialEngine
from wfalens.scale.map_blocks import Facts, Pass, run_pass
from wfalens.scale.row_counts import RowCounts
from wfalens.scale.run_config import Session
from wfalens.scale.shards import Shard, encoded
from wfalens.storage import Tensors
from wfalens.text.blocks import Block, Place, Source
from wfalens.text.encoder import TextEncoder

_SURVEYED_HERE = 1 << 28  # bytes that need no help from other processes
_MOST_SHARDS_IN_ONE = 4


@dataclass(frozen=True, eq=False)
class FileSurvey:
    """What was found in one file: the blocks with which its shards begin, their places, and a sample."""

    blocks: int
    starts: list[tuple[int, Place]]
    sample: TextSample
    texts: int  # all that are not empty
    wordless: int  # of those that were looked at
    tally: RowCounts  # of those that were looked at, and of all rows that were left out


@dataclass(frozen=True, eq=False)
class Survey:
    """What was found in all files; `sample` is in the order of the corpus."""

    shards: list[Shard]
    sample: TextSample
    tally: RowCounts  # of the sample's texts; `left_out` of all
    is_whole: bool  # whether the sample holds all texts
    unreadable: RowCounts  # files that were left out as a whole


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

    source: Source
    encoder: TextEncoder
    classes: Mapping[str, int] | None  # of the labels; None: they are not read
    seed: int
    tokens: int | None  # of the sample; None: all texts
    shard_bytes: int
    skips_bad: bool
    bar: Bar = field(default_factory=Bar)

    def prepare(self) -> Callable[[int], FileSurvey]:
        return self.survey

    def survey(self, file: int) -> FileSurvey:
        starts: list[tuple[int, Place]] = []
        sample, waiting, tallies = TextSample.empty(), list[TextSample](), list[RowCounts]()
        divisible = self.source.is_divisible(file)
        blocks = size = rows = texts = wordless = 0
        for block in self.source.blocks(file):
            lead = self.source.lead(file, block.start) if divisible and size >= self.shard_bytes else 0
            if not starts or (divisible and self._is_enough(size, rows, lead)):
                starts.append((block.number, block.start))
                size = rows = 0
            size += block.size
            rows += len(block.texts)
            blocks += 1
            found, lost, tally = self._drawn(block)
            texts, wordless = texts + len(block.texts), wordless + lost
            tallies.append(tally)
            waiting.append(found)
            if self.tokens is not None and sum(len(part.ids.values) for part in waiting) > self.tokens:
                sample, waiting = TextSample.pruned([sample, *waiting], self.tokens), []
                self.bar.lower(sample.limit(self.tokens))
        sample = TextSample.pruned([sample, *waiting], self.tokens)
        return FileSurvey(blocks, starts, sample, texts, wordless, RowCounts.of(tallies))

    def _is_enough(self, size: int, rows: int, lead: int) -> bool:
        """Whether a shard may end where the next reads `lead` rows in vain: few of them, unless it grows too large."""
        return size >= self.shard_bytes and (2 * lead <= rows or size >= _MOST_SHARDS_IN_ONE * self.shard_bytes)

    def _drawn(self, block: Block) -> tuple[TextSample, int, RowCounts]:
        """The texts of a block that may get into the sample, how many of those looked at have no word, and a tally."""
        draw, bar = draws(self.seed, block.file, block.number, len(block.texts)), self.bar.draw
        wanted = None if bar is None else np.flatnonzero(draw < bar)
        found = encoded(block, self.encoder, self.classes, self.skips_bad, wanted)
        texts = found.texts
        address = np.column_stack([np.full(len(texts), block.file), np.full(len(texts), block.number), texts])
        truth = np.full(len(texts), -1) if found.truth is None else found.truth
        looked_at = len(block.texts) if wanted is None else len(wanted)
        return TextSample(draw[texts], address, truth, found.ids), looked_at - len(texts), found.tally


def survey_corpus(
    session: Session, encoder: TextEncoder, seed: int, classes: Mapping[str, int] | None = None
) -> Survey:
    """Survey all files; those that were surveyed before are not read again."""
    source, tokens, parts = session.source, session.sample_tokens, session.parts
    names, sizes = source.file_names, source.sizes
    task = SurveyTask(source, encoder, classes, seed, tokens, session.bytes_per_shard, session.skips_bad)
    found = {number: survey for number in range(len(names)) if (survey := _stored(parts, number))}
    left = [number for number in range(len(names)) if number not in found]

    def keep(file: int, survey: FileSurvey) -> tuple[Facts, str]:
        found[file] = survey
        _store(parts, file, survey)
        return {"file": names[file], "blocks": survey.blocks}, Path(names[file]).name

    def leave_out(file: int, reason: str) -> None:
        keep(file, FileSurvey(0, [], TextSample.empty(), 0, 0, RowCounts.without(file, 0, [reason])))

    work = Pass(
        title="reading the texts",
        event="survey",
        task=task,
        name=lambda file: names[file],
        keep=keep,
        leave_out=leave_out if session.skips_bad else None,
    )

    def survey_files(engine: Engine, numbers: Sequence[int]) -> None:
        run_pass(work, numbers, engine, session.journal)

    # unless threads are at hand, some files are read here, one after the other: starting processes would take longer,
    # and what they leave no room for need not be parsed in the others
    sample = TextSample.pruned([TextSample.empty(), *(each.sample for each in found.values())], tokens)
    task.bar.lower(sample.limit(tokens))
    read, here = 0, 0 if session.engine.shares_memory else _SURVEYED_HERE
    while left and (read < here or len(left) == 1):
        number = left.pop(0)
        survey_files(SerialEngine(), [number])
        if tokens is not None:
            sample = TextSample.pruned([sample, found[number].sample], tokens)
            task.bar.lower(sample.limit(tokens))
        read += sizes[number]
    if left:
        survey_files(session.engine, left)
    return _joined([found[number] for number in range(len(names))], tokens)


def _joined(surveys: Sequence[FileSurvey], tokens: int | None) -> Survey:
    sample = TextSample.merged([each.sample for each in surveys], tokens).in_corpus_order()
    looked_at = RowCounts.of(each.tally for each in surveys)
    unreadable = RowCounts.of(each.tally for each in surveys if each.blocks == 0)
    is_whole = len(sample) == sum(each.texts - each.wordless for each in surveys)
    tally = RowCounts(len(sample), len(sample.ids.values), looked_at.cut, looked_at.left_out, looked_at.first)
    return Survey(list(_numbered(surveys)), sample, tally, is_whole, unreadable)


def _numbered(surveys: Sequence[FileSurvey]) -> Iterator[Shard]:
    number = count()
    for file, survey in enumerate(surveys):
        starts = [*survey.starts, (survey.blocks, Place(0, 0))]
        for (first, place), (behind, _) in pairwise(starts):
            yield Shard(next(number), file, first, behind - first, place)


def _store(parts: Parts, number: int, survey: FileSurvey) -> None:
    header = {
        "blocks": survey.blocks,
        "starts": [[first, *place] for first, place in survey.starts],
        "texts": survey.texts,
        "wordless": survey.wordless,
        "tally": survey.tally.to_json(),
    }
    tensors: Tensors = {
        "draw": survey.sample.draw.view(np.int64),
        "address": survey.sample.address,
        "truth": survey.sample.truth,
        "ids": survey.sample.ids.values,
        "offsets": survey.sample.ids.offsets,
    }
    parts.write(_name(number), header, tensors)


def _stored(parts: Parts, number: int) -> FileSurvey | None:
    file = parts.read(_name(number))
    if file is None:
        return None
    sample = TextSample(
        file.tensor("draw", "i").view(np.uint64),
        file.tensor("address", "i", 2),
        file.tensor("truth", "i"),
        Ragged(file.tensor("ids", "i"), file.tensor("offsets", "i")),
    )
    starts = [(first, Place(*place)) for first, *place in file.field("starts", list)]
    numbers: dict[str, Any] = {name: file.field(name, int) for name in ("blocks", "texts", "wordless")}
    return FileSurvey(starts=starts, sample=sample, tally=RowCounts.stored(file), **numbers)


def _name(number: int) -> str:
    return f"survey-{number:08d}"
