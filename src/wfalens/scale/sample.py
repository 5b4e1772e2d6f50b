"""The first pass over files: where blocks of work begin, and a bottom-k sample of the texts. The model is not asked.

Every text draws a number from its address (file, block, text) and the seed; the sample is the texts of the smallest
numbers whose words fit into a budget. The smallest of a union are among the smallest of its parts, so samples of parts
merge to that of the whole, in any order, if each keeps the first text that no longer fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.ragged import Ragged, concatenate
from wfalens.scale.block_jobs import BlockJob, RowCounts, encoded
from wfalens.scale.file_run import FileRun
from wfalens.scale.map_blocks import BlockTask, map_blocks
from wfalens.scale.run_config import PROCESSES, RAY, SERIAL
from wfalens.storage import StoredFile, Tensors
from wfalens.text.blocks import Block, Place
from wfalens.text.encoder import TextEncoder
from wfalens.text.files import TextFiles

_SCANNED_HERE = 1 << 28  # bytes that need no help from other processes
_MOST_BLOCKS_IN_ONE = 4
NO_LIMIT = np.uint64((1 << 64) - 1)


@dataclass(frozen=True, eq=False)
class TextSample:
    """Texts by rising draw; `address` is (file, block, text), `truth` the true class or -1."""

    draw: NDArray[np.uint64]  # (texts,)
    address: NDArray[np.int64]  # (texts, 3)
    truth: NDArray[np.int64]  # (texts,)
    ids: Ragged[np.int32]

    @classmethod
    def empty(cls) -> TextSample:
        ids = Ragged(np.zeros(0, np.int32), np.zeros(1, np.int64))
        return cls(np.zeros(0, np.uint64), np.zeros((0, 3), np.int64), np.zeros(0, np.int64), ids)

    def __len__(self) -> int:
        return len(self.draw)

    @classmethod
    def joined(cls, parts: Sequence[TextSample]) -> TextSample:
        """Samples one after the other, nothing left out."""
        draw, address, truth = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("draw", "address", "truth")
        )
        return cls(draw, address, truth, concatenate([part.ids for part in parts]))

    @classmethod
    def merged(cls, parts: Sequence[TextSample], tokens: int | None, behind: int = 0) -> TextSample:
        """The texts of the smallest draws that have at most so many words together, but one text at least.

        Where more parts will follow, one text `behind` them is kept too: it tells what cannot get in any more.
        """
        whole = cls.joined(parts)
        if tokens is None:
            return whole
        file, block, text = whole.address.T
        whole = whole._take(np.lexsort((text, block, file, whole.draw)))
        fitting = int(np.searchsorted(np.cumsum(whole.ids.lengths), tokens, side="right"))
        return whole._take(np.arange(min(len(whole), max(1, fitting + behind))))

    def limit(self, tokens: int | None) -> np.uint64:
        """The draw that a text must stay below to get into such a sample; the largest if any may."""
        return np.uint64(self.draw[-1]) if tokens is not None and len(self.ids.values) > tokens else NO_LIMIT

    def in_corpus_order(self) -> TextSample:
        file, block, text = self.address.T
        return self._take(np.lexsort((text, block, file)))

    def _take(self, items: NDArray[np.int64]) -> TextSample:
        return TextSample(self.draw[items], self.address[items], self.truth[items], self.ids.take(items))


def draws(seed: int, file: int, block: int, texts: int) -> NDArray[np.uint64]:
    """One number for each text of a block, as good as random. -> (texts,)"""
    with np.errstate(over="ignore"):
        start = np.zeros(1, np.uint64)
        for part in (seed, file, block):
            start = _mixed(start ^ _mixed(np.array([part & (1 << 64) - 1], np.uint64)))
        return _mixed(start ^ _mixed(np.arange(texts, dtype=np.uint64)))


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's finaliser: a bijection of 64 bits in which every input bit moves half of the output."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


@dataclass(frozen=True, eq=False)
class FileScan:
    """What was found in one file: the blocks with which jobs begin, their places, and a sample."""

    blocks: int
    starts: list[tuple[int, Place]]
    sample: TextSample
    texts: int  # all that are not empty
    wordless: int  # of those that were looked at
    rows: RowCounts  # of those that were looked at, and of all rows that were left out


@dataclass(frozen=True, eq=False)
class CorpusScan:
    """What was found in all files; `sample` is in the order of the corpus."""

    jobs: list[BlockJob]
    sample: TextSample
    rows: RowCounts  # of the texts that were looked at; `left_out` of all
    is_whole: bool  # whether the sample holds all texts
    unreadable: RowCounts  # files that were left out as a whole


@dataclass(frozen=True, eq=False)
class SampledFiles:
    """Files whose texts are more than a sample of them: what truly needs all texts maps over their blocks."""

    run: FileRun
    scan: CorpusScan


@dataclass(frozen=True, eq=False)
class ScanTask:
    """Scans a file, the job being its number."""

    source: TextFiles
    encoder: TextEncoder
    classes: Mapping[str, int] | None  # of the labels; None: they are not read
    seed: int
    tokens: int | None  # of the sample; None: all texts
    block_bytes: int
    skips_errors: bool
    limit: list[np.uint64] = field(default_factory=lambda: [NO_LIMIT])  # of draws; a worker's files share it

    def prepare(self) -> Callable[[int], FileScan]:
        return self.scan

    def scan(self, file: int) -> FileScan:
        starts: list[tuple[int, Place]] = []
        sample, waiting, rows_read = TextSample.empty(), list[TextSample](), list[RowCounts]()
        divisible = self.source.reader(file).divisible
        blocks = size = rows = texts = wordless = 0
        for block in self.source.blocks(file):
            if not starts or (divisible and self._is_enough(size, rows, block.start.skip)):
                starts.append((block.number, block.start))
                size = rows = 0
            size += block.size
            rows += len(block.texts)
            blocks += 1
            found, lost, read = self._drawn(block)
            texts, wordless = texts + len(block.texts), wordless + lost
            rows_read.append(read)
            waiting.append(found)
            if self.tokens is not None and sum(len(part.ids.values) for part in waiting) > self.tokens:
                sample, waiting = TextSample.merged([sample, *waiting], self.tokens, behind=1), []
                self.lower_limit(sample)
        sample = TextSample.merged([sample, *waiting], self.tokens, behind=1)
        return FileScan(blocks, starts, sample, texts, wordless, RowCounts.of(rows_read))

    def lower_limit(self, sample: TextSample) -> None:
        """Texts that cannot get into the sample any more need not be encoded."""
        self.limit[0] = min(self.limit[0], sample.limit(self.tokens))

    def _is_enough(self, size: int, rows: int, lead: int) -> bool:
        """Whether a job may end where the next reads `lead` rows for nothing: few of them, unless it is large."""
        return size >= self.block_bytes and (2 * lead <= rows or size >= _MOST_BLOCKS_IN_ONE * self.block_bytes)

    def _drawn(self, block: Block) -> tuple[TextSample, int, RowCounts]:
        """The texts of a block that may get into the sample, how many of those looked at have no word, and counts."""
        draw, limit = draws(self.seed, block.file, block.number, len(block.texts)), self.limit[0]
        chosen = None if limit == NO_LIMIT else np.flatnonzero(draw < limit)
        found = encoded(block, self.encoder, self.classes, self.skips_errors, chosen)
        texts = found.texts
        address = np.column_stack([np.full(len(texts), block.file), np.full(len(texts), block.number), texts])
        truth = np.full(len(texts), -1) if found.truth is None else found.truth
        looked_at = len(block.texts) if chosen is None else len(chosen)
        return TextSample(draw[texts], address, truth, found.ids), looked_at - len(texts), found.rows


def scan_files(run: FileRun, encoder: TextEncoder, seed: int, classes: Mapping[str, int] | None = None) -> CorpusScan:
    """Scan all files; those with a checkpoint are not read again."""
    source, tokens = run.source, run.sample_tokens
    names, sizes = source.paths, source.sizes
    task = ScanTask(source, encoder, classes, seed, tokens, run.block_bytes, run.skips_errors)
    found: dict[int, FileScan] = {}
    sample = TextSample.empty()

    def skipped(file: int, reason: str) -> FileScan:
        return FileScan(0, [], TextSample.empty(), 0, 0, RowCounts.without(file, 0, [reason]))

    work = BlockTask(
        title="reading the texts",
        task=task,
        name=lambda file: names[file],
        kind="scan",
        stored=_stored,
        restored=_restored,
        skipped=skipped if run.skips_errors else None,
    )

    def scan(run: FileRun, files: Sequence[int]) -> None:
        nonlocal sample
        for file, result in map_blocks(work, files, run):
            found[file] = result
            if tokens is not None:
                sample = TextSample.merged([sample, result.sample], tokens, behind=1)
                task.lower_limit(sample)

    # before processes are started, some files are read here: that would take longer
    here, left = list[int](), list(range(len(names)))
    if run.engine in (PROCESSES, RAY):
        while left and (sum(sizes[file] for file in here) < _SCANNED_HERE or len(left) == 1):
            here.append(left.pop(0))
        scan(replace(run, engine=SERIAL), here)
    if left:
        scan(run, left)
    return _joined([found[number] for number in range(len(names))], tokens)


def _joined(scans: Sequence[FileScan], tokens: int | None) -> CorpusScan:
    sample = TextSample.merged([each.sample for each in scans], tokens).in_corpus_order()
    read = RowCounts.of(each.rows for each in scans)
    unreadable = RowCounts.of(each.rows for each in scans if each.blocks == 0)
    is_whole = len(sample) == sum(each.texts - each.wordless for each in scans)
    return CorpusScan(list(_numbered(scans)), sample, read, is_whole, unreadable)


def _numbered(scans: Sequence[FileScan]) -> Iterator[BlockJob]:
    number = count()
    for file, scan in enumerate(scans):
        starts = [*scan.starts, (scan.blocks, Place(0, 0))]
        for (first, place), (behind, _) in pairwise(starts):
            yield BlockJob(next(number), file, first, behind - first, place)


def _stored(scan: FileScan) -> tuple[dict[str, Any], Tensors]:
    header = {
        "blocks": scan.blocks,
        "starts": [[first, *place] for first, place in scan.starts],
        "texts": scan.texts,
        "wordless": scan.wordless,
        "rows": scan.rows.to_dict(),
    }
    sample = scan.sample
    tensors: Tensors = {"draw": sample.draw.view(np.int64), "address": sample.address, "truth": sample.truth}
    return header, tensors | {"ids": sample.ids.values, "offsets": sample.ids.offsets}


def _restored(file: StoredFile) -> FileScan:
    sample = TextSample(
        file.tensor("draw", "i").view(np.uint64),
        file.tensor("address", "i", 2),
        file.tensor("truth", "i"),
        Ragged(file.tensor("ids", "i"), file.tensor("offsets", "i")),
    )
    starts = [(first, Place(*place)) for first, *place in file.field("starts", list)]
    numbers: dict[str, Any] = {name: file.field(name, int) for name in ("blocks", "texts", "wordless")}
    return FileScan(starts=starts, sample=sample, rows=RowCounts.stored(file), **numbers)
