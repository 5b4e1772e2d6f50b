"""A run over files beyond memory: the engine, the checkpoints, the bound on memory and the log."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from wfalens.errors import InputError
from wfalens.memory import resident, resident_with_children, shown_size
from wfalens.models.contract import PrefixClassifier
from wfalens.models.wrapping import wrap
from wfalens.scale.checkpoints import Checkpoints
from wfalens.scale.ray_executor import cluster_workers, leave_cluster
from wfalens.scale.run_config import LOCAL, PROCESSES, RAY, SERIAL, SKIP, THREADS, RunConfig
from wfalens.text.files import TextFiles
from wfalens.threads import thread_count

DEFAULT_MEMORY = 2 * 10**9
_SMALL_BLOCK, _BLOCK, _LARGE_BLOCK = 1 << 20, 4 << 20, 64 << 20  # bytes
_MANY_PER_WORKER, _MANY = 64, 4096  # blocks
_LEAST_MEMORY = 200 << 20
_MOST_THREADS = 4  # beyond that, they wait for the interpreter too often
_WORKING = 200 << 20  # bytes that a worker needs beside what this process holds after loading the model


@contextmanager
def open_run(
    config: RunConfig, source: TextFiles, about: Mapping[str, Any], sample_tokens: int | None
) -> Iterator[FileRun]:
    """Begin a run; `about` and the source are all that its result depends on. Call it when the model is loaded.

    `sample_tokens` is the size of the sample where the options name none; None: all texts.
    """
    tokens = config.sample_tokens if config.sample_tokens is not None else sample_tokens
    memory = DEFAULT_MEMORY if config.memory is None else int(config.memory)
    run = FileRun(source, config, memory, tokens)
    run.check_memory(_LEAST_MEMORY, "the program with its model")
    folder = None
    if config.checkpoints is not None:
        folder = Checkpoints(config.checkpoints, {**about, **source.identity(), "sample_tokens": tokens})
    try:
        engine, workers = chosen_engine(config, run.memory)
        run = replace(run, folder=folder, engine=engine, workers=workers)
        resumed = folder is not None and folder.resumed
        run.record("start", files=len(source.paths), bytes=sum(source.sizes), resumed=resumed)
        yield run
    finally:
        leave_cluster()
        if folder is not None:
            folder.close()


def chosen_engine(config: RunConfig, memory: int | None) -> tuple[str, int]:
    """Which engine with how many workers: processes where they fit into memory, else threads."""
    engine = config.engine or (SERIAL if config.workers is None else LOCAL)
    workers = 1 if engine == SERIAL else config.workers or thread_count()
    if engine == RAY:
        return engine, cluster_workers(config.workers, config.address)
    if engine != LOCAL:
        return engine, workers
    if workers == 1:
        return SERIAL, 1
    if memory is None:
        return PROCESSES, workers
    here = resident()
    fitting = (memory - here) // (here + _WORKING)
    if fitting >= workers:
        return PROCESSES, workers
    return (THREADS, workers) if workers <= _MOST_THREADS or fitting < 2 else (PROCESSES, fitting)


def _itself(model: PrefixClassifier) -> PrefixClassifier:
    return model


@dataclass(frozen=True, eq=False)
class FileRun:
    """A run over files: what it reads, where it works and what it keeps."""

    source: Any = None  # files; None: the jobs are no blocks of files
    config: RunConfig = field(default_factory=RunConfig)
    memory: int | None = None
    sample_tokens: int | None = None
    folder: Checkpoints | None = None
    engine: str = SERIAL
    workers: int = 1

    @property
    def skips_errors(self) -> bool:
        return self.config.on_error == SKIP

    @property
    def block_bytes(self) -> int:
        """Small in a small corpus, so that no worker waits long for the last; large where there would be too many."""
        if self.config.block_bytes is not None:
            return int(self.config.block_bytes)
        total: int = sum(self.source.sizes)
        shared_out = min(_BLOCK, total // (_MANY_PER_WORKER * self.workers))
        return min(_LARGE_BLOCK, max(_SMALL_BLOCK, shared_out, total // _MANY))

    @property
    def memory_left(self) -> int | None:
        """Bytes of memory that are left; None: there is no bound."""
        return None if self.memory is None else self.memory - resident_with_children()

    def check_memory(self, needed: int = 0, what: str = "this run") -> None:
        """Raise an error where memory would not last."""
        total = 0 if self.memory is None else resident_with_children() + needed
        if self.memory is not None and total > self.memory:
            raise InputError(
                f"{what} needs {shown_size(total)}, more than the {shown_size(self.memory)} allowed; allow more "
                "memory, or use fewer workers or states (finished blocks are kept)",
                code="memory",
            )

    def model_opener(self, model: PrefixClassifier) -> Callable[[], PrefixClassifier]:
        """How workers get the model: as it is, or from its file."""
        if self.engine == PROCESSES and self.config.model_file is not None:
            return partial(wrap, str(self.config.model_file))
        return partial(_itself, model)

    def record(self, event: str, **facts: Any) -> None:
        """A line for the log."""
        if self.config.log is None:
            return
        line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **facts}
        try:
            with self.config.log.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(line, ensure_ascii=False) + "\n")
        except OSError as error:
            raise InputError(f"cannot write the log {self.config.log}: {error.strerror or error}", code="log") from None
