"""Worker processes over pipes: whoever dies takes one known job along, which another worker gets."""

from __future__ import annotations

import os
import pickle
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from wfalens.errors import InputError, ModelError, WfalensError
from wfalens.scale.engines.engine import ATTEMPTS, Done, Failed, Hear, Job, Result, Retry, Task, attempt
from wfalens.threads import THREADS_VARIABLE

_READY = "ready"
_THREAD_LIMITS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", THREADS_VARIABLE)


@dataclass
class _Worker:
    process: SpawnProcess
    pipe: Connection
    ready: bool = False
    job: Any = None
    tried: int = 0

    def end(self) -> None:
        self.pipe.close()
        self.process.join(0.2)
        if self.process.is_alive():
            self.process.terminate()
            self.process.join()


def run_in_processes(
    task: Task[Job, Result], jobs: Sequence[Job], workers: int, hear: Hear[Job]
) -> Iterator[Done[Job, Result] | Failed[Job]]:
    try:
        blob = pickle.dumps(task, protocol=pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(f"this model cannot be sent to another process ({error}); use one worker") from None
    waiting = deque((job, 1) for job in jobs)
    team: list[_Worker] = []
    open_jobs, lost = len(jobs), 0
    try:
        while open_jobs:
            while len(team) < min(workers, open_jobs):
                team.append(_started(blob))
            for worker in team:
                if worker.ready and worker.job is None and waiting:
                    worker.job, worker.tried = waiting.popleft()
                    _send(worker, worker.job)
            by_pipe = {worker.pipe: worker for worker in team}
            for pipe in wait(list(by_pipe)):
                worker = by_pipe[pipe]  # type: ignore[index]
                try:
                    answer = worker.pipe.recv()
                except (EOFError, OSError):
                    team.remove(worker)
                    worker.end()
                    reason = f"the worker process ended (exit code {worker.process.exitcode})"
                    if worker.job is None:
                        lost += 1
                        if lost >= ATTEMPTS:
                            raise ModelError(f"{reason} while it loaded the model") from None
                    elif worker.tried < ATTEMPTS:
                        hear(Retry(worker.job, reason, worker.tried + 1))
                        waiting.append((worker.job, worker.tried + 1))
                    else:
                        open_jobs -= 1
                        yield Failed(worker.job, reason, worker.tried, mendable=False)
                    continue
                if answer == _READY:
                    worker.ready = True
                elif isinstance(answer, WfalensError):
                    raise answer
                elif isinstance(answer, Retry):
                    hear(answer)
                else:
                    worker.job = None
                    open_jobs -= 1
                    yield answer
    finally:
        for worker in team:
            worker.end()


def _started(blob: bytes) -> _Worker:
    context = get_context("spawn")  # a fork of a process with threads may hang
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    earlier = {name: os.environ.get(name) for name in _THREAD_LIMITS}
    os.environ.update(dict.fromkeys(_THREAD_LIMITS, "1"))  # read while the child's libraries load
    try:
        with _interrupts_held():
            process.start()
    finally:
        for name, value in earlier.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    theirs.close()
    worker = _Worker(process, ours)
    _send(worker, blob)
    return worker


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back, here and in a process that is started meanwhile: it is the driver's to handle."""
    resource_tracker.ensure_running()  # it would let Ctrl-C through again when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _send(worker: _Worker, item: Any) -> None:
    try:
        worker.pipe.send(item)
    except OSError:
        return  # it has died; reading from it tells so


def _serve(pipe: Connection) -> None:
    """The life of a worker: until its pipe closes, which it also does when the driver is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's to handle
    try:
        try:
            function = pickle.loads(pipe.recv()).prepare()  # noqa: S301 - comes from our own driver over a pipe
        except WfalensError as error:
            pipe.send(error)
            return
        pipe.send(_READY)
        while True:
            pipe.send(attempt(function, pipe.recv(), pipe.send))
    except (EOFError, OSError):
        return
