"""Corpora in shards: when they are read so, with what engine, and where what is done is kept until the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from wfalens.cli.legacy.inputs import dataset_of
from wfalens.cli.legacy.options import SKIP, STOP
from wfalens.cli.legacy.stopping import resumable, undisturbed
from wfalens.errors import InputError
from wfalens.memory import parse_size
from wfalens.models.adapters.transformer import reads_texts
from wfalens.text.files import is_pattern

if TYPE_CHECKING:
    from wfalens.scale.engines import Engine
    from wfalens.scale.run_config import Run


@dataclass(frozen=True, kw_only=True)
class Shards:
    """The options about corpora in shards, as they are given; `docs/scale.md` explains them."""

    memory: str | None = None
    engine: str | None = None
    workers: int | None = None
    address: str | None = None
    shard: str | None = None
    on_bad: str = STOP
    log: Path | None = None

    def __post_init__(self) -> None:
        if self.on_bad not in (STOP, SKIP):
            raise InputError(f"--on-bad must be {STOP} or {SKIP}, not {self.on_bad!r}")

    def wanted_for(self, corpus: str) -> bool:
        """Whether a corpus is to be read in shards; where it is not, options about shards are refused."""
        if self.memory is not None or self.engine is not None or (dataset_of(corpus) is None and is_pattern(corpus)):
            return True
        for field in fields(self):
            if getattr(self, field.name) != field.default:
                option = field.name.replace("_", "-")
                raise InputError(f"--{option} is about corpora in shards; give --memory or --engine too")
        return False

    @contextmanager
    def opened_engine(self) -> Iterator[Engine]:
        """The engine; ask for it when the model is loaded."""
        from wfalens.scale.engines.engine_choice import LOCAL, open_engine
        from wfalens.scale.run_config import DEFAULT_MEMORY

        with undisturbed():
            memory = DEFAULT_MEMORY if self.memory is None else parse_size(self.memory)
            engine = open_engine(self.engine or LOCAL, self.workers, memory, self.address)
        try:
            yield engine
        finally:
            engine.close()

    @contextmanager
    def opened(self, parts: Path, model: str) -> Iterator[Run]:
        """How a corpus is read in shards; `parts` keeps what is done."""
        from wfalens.scale.journal import NO_JOURNAL, FileJournal
        from wfalens.scale.run_config import Run

        journal = NO_JOURNAL if self.log is None else FileJournal(self.log)
        try:
            with resumable(parts), self.opened_engine() as engine:
                yield Run(
                    parts=parts,
                    engine=engine,
                    memory=self.memory,
                    shard_bytes=self.shard,
                    on_bad=self.on_bad,
                    model_file=None if reads_texts(model) else Path(model),
                    journal=journal,
                )
        finally:
            journal.close()


NO_SHARDS = Shards()
