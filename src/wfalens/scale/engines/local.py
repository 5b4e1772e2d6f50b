"""This machine: one worker in this process, threads in this process, or processes of their own."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

from wfalens.models.contract import PrefixClassifier
from wfalens.scale.engines.engine import (
    Done,
    Failed,
    Hear,
    Job,
    ModelFile,
    ModelObject,
    ModelSource,
    Result,
    Task,
    attempt,
    deaf,
)
from wfalens.scale.engines.processes import run_in_processes
from wfalens.threads import work_alone

_PATIENCE = 5e-4  # seconds that a thread keeps the interpreter while another wants to send its model on


class SerialEngine:
    """One job after the other, here."""

    name, workers, shares_memory = "local", 1, True

    def source(self, model: PrefixClassifier, path: Path | None) -> ModelSource:  # noqa: ARG002
        return ModelObject(model)

    def run(
        self, task: Task[Job, Result], jobs: Sequence[Job], hear: Hear[Job] = deaf
    ) -> Iterator[Done[Job, Result] | Failed[Job]]:
        function = task.prepare()
        return (attempt(function, job, hear) for job in jobs)

    def close(self) -> None:
        """There is nothing to end."""


class ThreadEngine:
    """Threads that share one model: for models too large to load twice. Torch and the kernels release the GIL."""

    name, shares_memory = "local", True

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def source(self, model: PrefixClassifier, path: Path | None) -> ModelSource:  # noqa: ARG002
        return ModelObject(model)

    def run(
        self, task: Task[Job, Result], jobs: Sequence[Job], hear: Hear[Job] = deaf
    ) -> Iterator[Done[Job, Result] | Failed[Job]]:
        function = task.prepare()
        patience = sys.getswitchinterval()
        sys.setswitchinterval(_PATIENCE)
        waiting: set[Future[Done[Job, Result] | Failed[Job]]] = set()
        with ThreadPoolExecutor(self.workers, "wfalens-shard", work_alone) as pool:
            try:
                for job in jobs:
                    if len(waiting) > self.workers:
                        finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                        yield from (future.result() for future in finished)
                    waiting.add(pool.submit(attempt, function, job, hear))
                while waiting:
                    finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in finished)
            finally:
                sys.setswitchinterval(patience)
                for future in waiting:
                    future.cancel()

    def close(self) -> None:
        """Threads end with each run."""


class ProcessEngine:
    """Processes with one thread each: nothing is shared, so nothing waits."""

    name, shares_memory = "local", False

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def source(self, model: PrefixClassifier, path: Path | None) -> ModelSource:
        return ModelObject(model) if path is None else ModelFile(str(path))

    def run(
        self, task: Task[Job, Result], jobs: Sequence[Job], hear: Hear[Job] = deaf
    ) -> Iterator[Done[Job, Result] | Failed[Job]]:
        return run_in_processes(task, jobs, min(self.workers, max(1, len(jobs))), hear)

    def close(self) -> None:
        """Processes end with each run."""


LocalEngine = SerialEngine | ThreadEngine | ProcessEngine
