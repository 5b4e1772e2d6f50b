"""Corpora in shards: when they are read so, with what engine, and where what is done is kept until the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from wfalens.cli.legacy.inputs import dataset_of
from wfalens.cli.legacy.options import SKIP, STOP
from wfalens.cli.legacy.stopping import resumable
from wfalens.errors import InputError
from wfalens.models.adapters.transformer import reads_texts
from wfalens.text.files import is_pattern

if TYPE_CHECKING:
    from wfalens.scale.run_config import RunConfig


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

    def run_config(self, checkpoints: Path | None = None, model: str | None = None) -> RunConfig:
        """How a corpus is read in blocks; `checkpoints` keeps what is done."""
        from wfalens.scale.run_config import LOCAL, RunConfig

        return RunConfig(
            checkpoints=checkpoints,
            engine=self.engine or LOCAL,
            workers=self.workers,
            address=self.address,
            memory=self.memory,
            block_bytes=self.shard,
            on_error=self.on_bad,
            model_file=None if model is None or reads_texts(model) else Path(model),
            log=self.log,
        )

    @contextmanager
    def opened(self, parts: Path, model: str) -> Iterator[RunConfig]:
        """The same; after a stop, `parts` is named."""
        with resumable(parts):
            yield self.run_config(parts, model)


NO_SHARDS = Shards()
