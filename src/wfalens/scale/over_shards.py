"""A task over all shards of a corpus whose results are kept part by part: a shard that has one is not done again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from wfalens import progress
from wfalens.scale.engines.engine import Task
from wfalens.scale.map_blocks import Facts, Pass, run_pass
from wfalens.scale.row_counts import RowCounts
from wfalens.scale.run_config import Session
from wfalens.scale.shards import Shard


class Tallied(Protocol):
    """What is kept of a shard."""

    @property
    def tally(self) -> RowCounts: ...


Found = TypeVar("Found", bound=Tallied)
Found_contra = TypeVar("Found_contra", bound=Tallied, contravariant=True)


class ShardParts(Protocol[Found_contra]):
    """Results of shards; `tallies` tells which shards have one, and how much each has."""

    tallies: dict[int, RowCounts]

    def add(self, shard: int, found: Found_contra) -> None: ...

    def skip(self, shard: Shard, reason: str) -> None:
        """Keep in mind that a shard was left out."""
        ...


def work_over_shards(
    session: Session,
    shards: Sequence[Shard],
    task: Task[Shard, Found],
    parts: ShardParts[Found],
    title: str,
    done: str,
    check: Callable[[int], None] | None = None,
) -> None:
    """Do every shard that has no part yet.

    title  what progress shows
    done   what a finished shard is, in a sentence
    check  is given the number of texts so far, whenever a shard is done
    """
    left = [shard for shard in shards if shard.number not in parts.tallies]
    if len(left) < len(shards):
        progress.say(f"going on: {len(shards) - len(left):,} of {len(shards):,} shards are {done} already")
    texts = sum(tally.texts for tally in parts.tallies.values())

    def keep(shard: Shard, found: Found) -> tuple[Facts, str]:
        nonlocal texts
        parts.add(shard.number, found)
        tally = found.tally
        texts += tally.texts
        facts = {"shard": shard.number, "texts": tally.texts, "tokens": tally.tokens, "left_out": tally.reasons}
        return facts, f"{texts:,} texts"

    work = Pass(
        title=title,
        event="shard",
        task=task,
        name=lambda shard: shard.named(session.source),
        keep=keep,
        leave_out=parts.skip if session.skips_bad else None,
    )
    after_each = None if check is None else (lambda: check(texts))
    run_pass(work, left, session.engine, session.journal, after_each)
