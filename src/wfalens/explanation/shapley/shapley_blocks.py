"""Sums of Shapley values or interactions over files, block by block; a block with a checkpoint is not read again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.shapley.shapley_sums import BlockSums, KeyedSums, pair_sums, word_sums
from wfalens.scale.block_jobs import BlockJob, RowCounts, encoded
from wfalens.scale.map_blocks import BlockTask, map_blocks
from wfalens.scale.run_config import RunConfig
from wfalens.scale.sample import scan_files
from wfalens.storage import StoredFile
from wfalens.text.blocks import Source

WORDS, PAIRS = "words", "pairs"
_SUMS: dict[str, BlockSums] = {WORDS: word_sums, PAIRS: pair_sums}
_TOKENS_AT_ONCE = 1 << 15
_NO_SAMPLE = 1  # words: a scan draws a sample, which nothing here looks at


@dataclass(frozen=True, eq=False)
class BlockShapleySums:
    """All that is kept of a block."""

    sums: KeyedSums
    rows: RowCounts


@dataclass(frozen=True, eq=False)
class SumTask:
    """Adds up the values of a block's words or pairs."""

    source: Source
    wfa: WFA
    of: str  # WORDS or PAIRS
    absence: str
    skips_errors: bool

    def prepare(self) -> Callable[[BlockJob], BlockShapleySums]:
        return self.summed

    def summed(self, job: BlockJob) -> BlockShapleySums:
        total, rows = KeyedSums.nothing(len(self.wfa.class_names)), list[RowCounts]()
        for block in job.read(self.source):
            found = encoded(block, self.wfa.encoder, skips_errors=self.skips_errors)
            rows.append(found.rows)
            for ids in found.ids.chunks(_TOKENS_AT_ONCE):
                total += _SUMS[self.of](self.wfa, ids, self.absence)
        return BlockShapleySums(total, RowCounts.of(rows))


def corpus_sums(wfa: WFA, source: Source, of: str, absence: str, run: RunConfig) -> KeyedSums:
    """The sums over all texts of a source, of words or of pairs of words."""
    about = {"automaton": wfa.fingerprint, "sums": of, "absence": absence}
    classes = len(wfa.class_names)
    with run.opened(source, about, _NO_SAMPLE) as opened:
        scan = scan_files(opened, wfa.encoder, seed=0)

        def skipped(job: BlockJob, reason: str) -> BlockShapleySums:
            return BlockShapleySums(KeyedSums.nothing(classes), job.skipped(reason))

        work = BlockTask(
            title="explaining texts",
            task=SumTask(source, wfa, of, absence, opened.skips_errors),
            name=lambda job: job.named(source),
            kind="sums",
            number=lambda job: job.number,
            stored=lambda found: ({"rows": found.rows.to_dict()}, dict(vars(found.sums))),
            restored=_restored,
            skipped=skipped if opened.skips_errors else None,
        )
        total, rows = KeyedSums.nothing(classes), [scan.unreadable]
        for _, found in map_blocks(work, scan.jobs, opened):
            opened.check_memory(2 * (total.nbytes + found.sums.nbytes), "adding up the values")
            total += found.sums
            rows.append(found.rows)
        read = RowCounts.of(rows)
        read.say_left_out()
        if read.texts == 0:
            raise InputError(f"{source.name}: there is no text with a word in it", code="no-words")
        opened.record("finish", texts=read.texts, tokens=read.tokens, left_out=read.left_out)
    return total


def _restored(file: StoredFile) -> BlockShapleySums:
    sums = KeyedSums(file.tensor("keys", "i"), file.tensor("counts", "i"), file.tensor("sums", "i", 3))
    return BlockShapleySums(sums, RowCounts.stored(file))
