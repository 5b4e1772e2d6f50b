"""A corpus that is read in shards, and the means for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from wfalens.corpus.sources.blocks import Shard
from wfalens.corpus.sources.files import TextFiles
from wfalens.errors import InputError
from wfalens.journal import NO_JOURNAL, Journal
from wfalens.memory import resident_with_children, shown_size
from wfalens.passes.engines.contract import Engine, Retry
from wfalens.passes.engines.local import SerialEngine

DEFAULT_MEMORY = 2 * 10**9
DEFAULT_SAMPLE = 300_000  # words: what a round of fitting reads
_SMALL_SHARD, _SHARD, _LARGE_SHARD = 1 << 20, 4 << 20, 64 << 20  # bytes
_MANY_PER_WORKER, _MANY = 64, 4096  # shards
_LEAST_ROOM = 200 << 20


@dataclass(frozen=True, kw_only=True)
class Stream:
    """Files of any size and how they are read.

    folder         where parts are kept until the automaton is made
    engine         where the passes run
    memory         bytes that this process and its workers on this machine may hold together
    shard_bytes    of text in a shard (None: 1 to 4 MB, up to 64 MB in large corpora); the result does not depend on it
    sample_tokens  words of the sample on which states and settings are decided (None: 300,000 where settings are
                   chosen or the model is asked for rows, else eight for every output that k-means sees)
    skips_bad      leave out rows that cannot be read and shards that fail, and count them, instead of stopping
    model_file     where the model lies, so that worker processes can load it
    journal        hears of every shard
    """

    files: TextFiles
    folder: Path
    engine: Engine = field(default_factory=SerialEngine)
    memory: int = DEFAULT_MEMORY
    shard_bytes: int | None = None
    sample_tokens: int | None = None
    skips_bad: bool = False
    model_file: Path | None = None
    journal: Journal = NO_JOURNAL

    def __post_init__(self) -> None:
        for name in ("memory", "sample_tokens", "shard_bytes"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name} must be at least 1, not {value}")

    @property
    def bytes_per_shard(self) -> int:
        """Small in a small corpus, so that no worker waits long for the last; large where there would be too many."""
        if self.shard_bytes is not None:
            return self.shard_bytes
        total = sum(self.files.sizes)
        shared_out = min(_SHARD, total // (_MANY_PER_WORKER * self.engine.workers))
        return min(_LARGE_SHARD, max(_SMALL_SHARD, shared_out, total // _MANY))

    @property
    def room(self) -> int:
        """Bytes of memory that are left."""
        return self.memory - resident_with_children()

    def check_room(self, needed: int = 0, what: str = "this run") -> None:
        """Refuse to go on where memory would not last."""
        if self.room < needed:
            raise InputError(
                f"{what} needs {shown_size(self.memory - self.room + needed)}, more than --memory "
                f"{shown_size(self.memory)}; allow more, or use fewer workers or states (what was counted is kept)"
            )

    def check_start(self) -> None:
        self.check_room(_LEAST_ROOM, "the program with its model and room to work in")

    def heard(self) -> Callable[[Retry], None]:
        """Writes retries to the journal."""

        def hear(retry: Retry) -> None:
            job = retry.job.named(self.files) if isinstance(retry.job, Shard) else str(retry.job)
            self.journal.write("retry", job=job, attempt=retry.attempt, reason=retry.reason)

        return hear
