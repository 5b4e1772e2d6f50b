"""How a corpus is passed over, and a run under way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wfalens.errors import InputError
from wfalens.memory import parse_size, resident_with_children, shown_size
from wfalens.models.contract import PrefixClassifier
from wfalens.scale.checkpoints import HeldParts, Parts, PartsFolder
from wfalens.scale.engines.engine import Engine, ModelSource
from wfalens.scale.engines.engine_choice import LOCAL, open_engine
from wfalens.scale.engines.local import SerialEngine
from wfalens.scale.journal import NO_JOURNAL, Journal
from wfalens.text.blocks import Source
from wfalens.text.files import TextFiles
from wfalens.validation import Bounds, check_choice, check_numbers, whole

STOP, SKIP = ON_BAD = ("stop", "skip")
DEFAULT_MEMORY = 2 * 10**9
DEFAULT_SAMPLE = 300_000  # words: what a round of fitting reads
_SMALL_SHARD, _SHARD, _LARGE_SHARD = 1 << 20, 4 << 20, 64 << 20  # bytes
_MANY_PER_WORKER, _MANY = 64, 4096  # shards
_LEAST_ROOM = 200 << 20


@dataclass(frozen=True, kw_only=True)
class Run:
    """How a corpus is read. Only `sample_tokens` and `on_bad` have an effect on the result.

    Args:
        memory: bytes that this process and its workers on this machine may hold together, as a number or as "2GB"
            (None: 2 GB for files, no bound for texts in memory).
        engine: where the work is done: "local" (this machine), "ray" (a cluster), an engine that is open already,
            or None for one worker in this process.
        workers: how many (None: one for each core).
        address: of a Ray cluster.
        parts: folder that keeps what is done, so that a stopped run can go on (None: nothing is kept).
        shard_bytes: of text in a shard, the unit of work, as a number or as "16MB" (None: 1 to 64 MB).
        sample_tokens: words of the sample on which states and settings are decided (None: all texts in memory; of
            files 300,000 where settings are chosen or the model is asked for rows, else eight for every output that
            k-means sees).
        on_bad: "stop" at a row that cannot be read or a shard that fails, or "skip" and count it.
        model_file: where the model lies, so that worker processes can load it.
        journal: is told of every shard.

    Examples:
        >>> from wfalens import Run
        >>> wfa = extract(model, corpus, Paper(states=4), run=Run(memory="16GB"))
    """

    memory: int | str | None = None
    engine: str | Engine | None = None
    workers: int | None = None
    address: str | None = None
    parts: Path | None = None
    shard_bytes: int | str | None = None
    sample_tokens: int | None = None
    on_bad: str = STOP
    model_file: Path | None = None
    journal: Journal = NO_JOURNAL

    def __post_init__(self) -> None:
        for name in ("memory", "shard_bytes"):
            value = getattr(self, name)
            object.__setattr__(self, name, parse_size(value) if isinstance(value, str) else value)
        count = Bounds(whole, 1, 1 << 60, (None,))
        check_numbers(self, dict.fromkeys(("memory", "shard_bytes", "sample_tokens", "workers"), count))
        check_choice("on_bad", self.on_bad, ON_BAD)

    def bound(self, source: Source) -> int | None:
        """Bytes of memory that a run over a source may take."""
        if self.memory is None:
            return DEFAULT_MEMORY if isinstance(source, TextFiles) else None
        return int(self.memory)

    @contextmanager
    def opened(
        self,
        source: Source,
        about: Mapping[str, Any],
        sample_tokens: int | None,
    ) -> Iterator[Session]:
        """Begin a run; `about` and the source are all that its result depends on. Call it when the model is loaded.

        `sample_tokens` is the size of the sample where the run does not name one; None: all texts.
        """
        memory = self.bound(source)
        check_room(memory, _LEAST_ROOM, "the program with its model and room to work in")
        tokens = self.sample_tokens if self.sample_tokens is not None else sample_tokens
        with ExitStack() as stack:
            parts: Parts = HeldParts()
            if self.parts is not None:
                parts = PartsFolder(self.parts, {**about, **source.identity(), "sample_tokens": tokens})
            stack.callback(parts.close)
            engine = self._engine(memory)
            if engine is not self.engine:
                stack.callback(engine.close)
            session = Session(
                source=source,
                engine=engine,
                parts=parts,
                memory=memory,
                shard_bytes=None if self.shard_bytes is None else int(self.shard_bytes),
                sample_tokens=tokens,
                skips_bad=self.on_bad == SKIP,
                model_file=self.model_file,
                journal=self.journal,
            )
            names = source.file_names
            session.journal.write("start", files=len(names), bytes=sum(source.sizes), resumed=parts.resumed)
            yield session

    def _engine(self, memory: int | None) -> Engine:
        if self.engine is None and self.workers is None and self.address is None:
            return SerialEngine()
        if self.engine is None or isinstance(self.engine, str):
            return open_engine(self.engine or LOCAL, self.workers, memory, self.address)
        return self.engine


@dataclass(frozen=True, eq=False, kw_only=True)
class Session:
    """A run under way: what it reads, where it works and what it keeps."""

    source: Source
    engine: Engine = field(default_factory=SerialEngine)
    parts: Parts = field(default_factory=HeldParts)
    memory: int | None = None
    shard_bytes: int | None = None
    sample_tokens: int | None = None
    skips_bad: bool = False
    model_file: Path | None = None
    journal: Journal = NO_JOURNAL

    @property
    def bytes_per_shard(self) -> int:
        """Small in a small corpus, so that no worker waits long for the last; large where there would be too many."""
        if self.shard_bytes is not None:
            return self.shard_bytes
        total = sum(self.source.sizes)
        shared_out = min(_SHARD, total // (_MANY_PER_WORKER * self.engine.workers))
        return min(_LARGE_SHARD, max(_SMALL_SHARD, shared_out, total // _MANY))

    @property
    def room(self) -> int | None:
        """Bytes of memory that are left; None: there is no bound."""
        return None if self.memory is None else self.memory - resident_with_children()

    def check_room(self, needed: int = 0, what: str = "this run") -> None:
        """Refuse to go on where memory would not last."""
        check_room(self.memory, needed, what)

    def aside(self) -> Session:
        """For a trial: here, in silence, and nothing of it is kept."""
        return Session(source=self.source)

    def model_source(self, model: PrefixClassifier) -> ModelSource:
        """How workers come by the model."""
        return self.engine.source(model, self.model_file)


def check_room(memory: int | None, needed: int, what: str) -> None:
    if memory is None:
        return
    total = resident_with_children() + needed
    if total > memory:
        raise InputError(
            f"{what} needs {shown_size(total)}, more than --memory {shown_size(memory)}; allow more, or use fewer "
            "workers or states (what was counted is kept)"
        )
