"""One loop over blocks: jobs go to workers, results come back in any order, what fails is tried again and then named.

A task is prepared once per worker (there the model is loaded), then does job after job. Its result may depend on the
job alone. An error that a user can fix ends a job at once; any other failure, such as the death of the worker, is tried
again.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import connection, resource_tracker
from typing import Any, Protocol

from wfalens import progress
from wfalens.errors import InputError, ModelError, WfalensError
from wfalens.scale.file_run import FileRun, chosen_engine
from wfalens.scale.ray_executor import leave_cluster, ray_pool
from wfalens.scale.run_config import PROCESSES, RAY, SERIAL, THREADS, RunConfig
from wfalens.scale.worker import ATTEMPTS, Done, Failed, Outcome, attempt
from wfalens.storage import StoredFile, Tensors
from wfalens.threads import THREADS_VARIABLE, work_alone

_THREAD_LIMITS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", THREADS_VARIABLE)
_SWITCH_INTERVAL = 5e-4  # seconds that a thread keeps the interpreter while another wants to continue its model
Attempts = tuple[Any, tuple[str, ...]]  # a job, and how attempts ended that took their worker along
Submit = Callable[[Any], Future[Outcome]]


class Task(Protocol):
    """Work that can be sent to a worker."""

    def prepare(self) -> Callable[[Any], Any]:
        """Called once per worker; what it returns may be called by several threads at a time."""
        ...


@dataclass(frozen=True, eq=False, kw_only=True)
class BlockTask:
    """A task over many jobs, and what becomes of its results.

    title    what progress shows
    kind     of the checkpoints; "": results are not kept
    name     of a job, for people
    number   of a job, for its checkpoint; a number is its own
    stored   a result as a header and tensors; restored: the way back
    skipped  the result of a job that failed, with the reason; None: a failure ends the run
    """

    title: str
    task: Task
    name: Callable[[Any], str]
    kind: str = ""
    number: Callable[[Any], int] = int
    stored: Callable[[Any], tuple[dict[str, Any], Tensors]] | None = None
    restored: Callable[[StoredFile], Any] | None = None
    skipped: Callable[[Any, str], Any] | None = None

    def checkpoint(self, job: Any) -> str:
        """The name of its file."""
        return f"{self.kind}-{self.number(job):08d}"


def map_blocks(work: BlockTask, jobs: Sequence[Any], run: FileRun) -> Iterator[tuple[Any, Any]]:
    """The result of every job, in any order; those with a checkpoint are not done again."""
    folder, left = run.folder, list(jobs)
    if folder is not None and work.restored is not None:
        kept = set(folder.names(work.kind))
        done = [job for job in jobs if work.checkpoint(job) in kept]
        left = [job for job in jobs if work.checkpoint(job) not in kept]
        if done:
            progress.say(f"continuing: {len(done):,} of {len(jobs):,} blocks are done already ({work.title})")
        for job in done:
            yield job, work.restored(folder.read(work.checkpoint(job)))

    progress.start(work.title, len(left))
    for outcome in run_jobs(work.task, left, run.engine, run.workers, run.config.address):
        name = work.name(outcome.job)
        for number, reason in enumerate(outcome.retries, 2):
            run.record("retry", job=name, attempt=number, reason=reason)
        if isinstance(outcome, Done):
            result = outcome.result
        else:
            run.record("fail", name=name, reason=outcome.reason)
            result = _skipped(work, outcome)
        if folder is not None and work.stored is not None:
            folder.write(work.checkpoint(outcome.job), *work.stored(result))
        if isinstance(outcome, Done):  # the log names a block when it is kept
            run.record(work.kind or "job", name=name, seconds=round(outcome.seconds, 3))
        run.check_memory()
        yield outcome.job, result
        progress.advance(1)
    progress.finish()


def map_jobs(work: BlockTask, jobs: Sequence[Any], config: RunConfig) -> Iterator[tuple[Any, Any]]:
    """The same for jobs that are no blocks of files; nothing is kept."""
    engine, workers = chosen_engine(config, None if config.memory is None else int(config.memory))
    try:
        yield from map_blocks(work, jobs, FileRun(config=config, engine=engine, workers=workers))
    finally:
        leave_cluster()


def _skipped(work: BlockTask, failure: Failed) -> Any:
    """The result of a job that failed; where nothing may be left out, the run ends."""
    name = work.name(failure.job)
    if work.skipped is None:
        if failure.fixable:
            raise InputError(failure.reason, code=failure.code)
        raise ModelError(f"{name}: failed {len(failure.retries) + 1} times: {failure.reason}", code="block-failed")
    reason = failure.reason if failure.reason.startswith(name) else f"{name}: {failure.reason}"
    progress.say(f"left out: {reason}")
    return work.skipped(failure.job, reason)


def run_jobs(
    task: Task, jobs: Sequence[Any], engine: str, workers: int, address: str | None = None
) -> Iterator[Outcome]:
    """One outcome for every job, as they come; only a few results wait at any time.

    Jobs that were out when a worker ended are tried one by one in pools of their own, so that the one that ends its
    worker is known.
    """
    if engine == SERIAL and jobs:
        function = task.prepare()
        yield from (attempt(function, job) for job in jobs)
        return
    pools: dict[str, Callable[[Task, int], AbstractContextManager[Submit]]]
    pools = {THREADS: _thread_pool, PROCESSES: _process_pool, RAY: partial(ray_pool, address=address)}
    waiting: list[Attempts] = [(job, ()) for job in jobs]
    while waiting:
        taken = 1 if waiting[0][1] else len(waiting)
        fresh, waiting = deque(waiting[:taken]), waiting[taken:]
        suspects: list[Attempts] = []
        with pools[engine](task, min(workers, taken)) as submit:
            for (job, lost), future in _as_finished(submit, fresh, workers + 1):
                try:
                    outcome = future.result()
                except BrokenExecutor as error:
                    outcome = Failed(job, f"the worker ended ({error})", ())
                    if len(lost) + 1 < ATTEMPTS:
                        suspects.append((job, (*lost, outcome.reason)))
                        continue
                yield replace(outcome, retries=lost + outcome.retries)
        waiting = [*suspects, *fresh, *waiting]


def _as_finished(submit: Submit, fresh: deque[Attempts], most: int) -> Iterator[tuple[Attempts, Future[Outcome]]]:
    """Futures as they finish, at most so many at a time; what a broken pool does not take any more stays in `fresh`."""
    out: dict[Future[Outcome], Attempts] = {}
    while out or (fresh and most):
        try:
            while fresh and len(out) < most:
                out[submit(fresh[0][0])] = fresh[0]
                fresh.popleft()
        except BrokenExecutor:
            most = 0
        for future in futures.wait(out, return_when=futures.FIRST_COMPLETED).done:
            yield out.pop(future), future


@contextmanager
def _thread_pool(task: Task, workers: int) -> Iterator[Submit]:
    """Threads that share one model: for models too large to load twice. Torch and the kernels release the GIL."""
    function, earlier = task.prepare(), sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_INTERVAL)
    pool = ThreadPoolExecutor(workers, "wfalens-block", work_alone)

    def submit(job: Any) -> Future[Outcome]:
        return pool.submit(attempt, function, job)

    try:
        yield submit
    finally:
        pool.shutdown(cancel_futures=True)
        sys.setswitchinterval(earlier)


@contextmanager
def _process_pool(task: Task, workers: int) -> Iterator[Submit]:
    """Processes with one thread each: nothing is shared, so nothing waits. A worker that dies breaks the pool.

    They are started afresh: a fork of a process with threads may hang.
    """
    earlier = {name: os.environ.get(name) for name in _THREAD_LIMITS}
    os.environ.update(dict.fromkeys(_THREAD_LIMITS, "1"))  # read while the child's libraries load
    resource_tracker.ensure_running()
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _start, (task,))

    def submit(job: Any) -> Future[Outcome]:
        try:
            with _interrupts_held():
                return pool.submit(_do, job)
        except (BrokenExecutor, OSError):
            raise
        except Exception as error:  # of what cannot be sent
            reason = f"this model cannot be sent to another process ({error}); use one worker"
            raise InputError(reason, code="not-picklable") from None

    try:
        yield submit
    finally:
        for name, value in earlier.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        processes = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.join(0.2)
            if process.is_alive():
                process.terminate()
                process.join()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back, here and in a process that is started meanwhile: it is the driver's to handle."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_worker: dict[str, Any] = {}  # of a worker process: what does its jobs, or why it cannot


def _start(task: Task) -> None:
    """Make a worker process ready; it ends with the driver, even if that is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's to handle
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    try:
        _worker["function"] = task.prepare()
    except WfalensError as error:
        _worker["error"] = InputError(str(error), code=error.code)


def _end_with(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)


def _do(job: Any) -> Outcome:
    """The outcome of a job in a worker process."""
    if "error" in _worker:
        raise _worker["error"]
    return attempt(_worker["function"], job)
