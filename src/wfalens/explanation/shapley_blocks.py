"""The pass over a corpus that adds up Shapley values or interactions; a shard whose sums are kept is not read again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.shapley.game import checked_absence
from wfalens.explanation.shapley_sums import BlockSums, KeyedSums, pair_sums, word_sums
from wfalens.ragged import Ragged
from wfalens.scale.checkpoints import Parts
from wfalens.scale.over_shards import work_over_shards
from wfalens.scale.row_counts import RowCounts
from wfalens.scale.run_config import Run, Session
from wfalens.scale.shards import Shard, encoded
from wfalens.scale.survey import survey_corpus
from wfalens.text.blocks import Source, source_of
from wfalens.text.corpus import Corpus
from wfalens.validation import check_choice

Texts = Source | Corpus | Sequence[str] | Ragged[np.int32]
WORDS, PAIRS = "words", "pairs"
_SUMS: dict[str, BlockSums] = {WORDS: word_sums, PAIRS: pair_sums}
_TOKENS_AT_ONCE = 1 << 15
_NO_SAMPLE = 1  # words: a survey draws a sample, which nothing here looks at


@dataclass(frozen=True, eq=False)
class ShardSums:
    """All that is kept of a shard."""

    sums: KeyedSums
    tally: RowCounts


@dataclass(frozen=True, eq=False)
class SumTask:
    """Adds up the values of a shard's words or pairs."""

    source: Source
    wfa: WFA
    of: str  # WORDS or PAIRS
    absence: str
    skips_bad: bool

    def prepare(self) -> Callable[[Shard], ShardSums]:
        return self.summed

    def summed(self, shard: Shard) -> ShardSums:
        total, tallies = KeyedSums.nothing(len(self.wfa.class_names)), list[RowCounts]()
        for block in shard.read(self.source):
            found = encoded(block, self.wfa.encoder, skips_bad=self.skips_bad)
            tallies.append(found.tally)
            for ids in found.ids.chunks(_TOKENS_AT_ONCE):
                total += _SUMS[self.of](self.wfa, ids, self.absence)
        return ShardSums(total, RowCounts.of(tallies))


class SummedParts:
    """Sums of shards, one part for each; `tallies` tells how much each shard has."""

    def __init__(self, parts: Parts, shards: int, classes: int) -> None:
        self._parts, self._classes = parts, classes
        found = ((number, parts.read(_name(number), ())) for number in range(shards))
        self.tallies = {number: RowCounts.stored(part) for number, part in found if part is not None}

    def add(self, shard: int, found: ShardSums) -> None:
        self._parts.write(_name(shard), {"tally": found.tally.to_json()}, vars(found.sums))
        self.tallies[shard] = found.tally

    def skip(self, shard: Shard, reason: str) -> None:
        """Keep in mind that a shard was left out."""
        nothing = KeyedSums.nothing(self._classes)
        self.add(shard.number, ShardSums(nothing, RowCounts.without(shard.file, shard.first, [reason])))

    def total(self, session: Session) -> KeyedSums:
        total = KeyedSums.nothing(self._classes)
        for number in sorted(self.tallies):
            part = self._parts.read(_name(number))
            assert part is not None  # noqa: S101 - its tally was read or written
            found = KeyedSums(part.tensor("keys", "i"), part.tensor("counts", "i"), part.tensor("sums", "i", 3))
            session.check_room(2 * (total.nbytes + found.nbytes), "adding up the values")
            total += found
        return total


def corpus_sums(
    wfa: WFA,
    texts: Texts,
    of: str,
    absence: str,
    run: Run,
) -> KeyedSums:
    """The sums over all texts, of words or of pairs of words."""
    check_choice("sums", of, _SUMS)
    source, absence = source_of(texts), checked_absence(absence)
    about = {"automaton": wfa.fingerprint, "sums": of, "absence": absence}
    with run.opened(source, about, _NO_SAMPLE) as session:
        survey = survey_corpus(session, wfa.encoder, seed=0)
        parts = SummedParts(session.parts, len(survey.shards), len(wfa.class_names))
        task = SumTask(source, wfa, of, absence, session.skips_bad)
        work_over_shards(session, survey.shards, task, parts, "explaining texts", "explained")
        tally = RowCounts.of([*parts.tallies.values(), survey.unreadable])
        tally.say_left_out()
        if tally.texts == 0:
            raise InputError(f"{source.name}: there is no text with a word in it")
        total = parts.total(session)
        session.journal.write("finish", texts=tally.texts, tokens=tally.tokens, left_out=tally.left_out)
    return total


def _name(shard: int) -> str:
    return f"summed-{shard:08d}"
