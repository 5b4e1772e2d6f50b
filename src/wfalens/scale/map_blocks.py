"""One loop over blocks: jobs go to workers, results come back in any order, what fails is tried again and then named.

A task is prepared once per worker (there the model is loaded), then does job after job. Its result may depend on the
job alone. An error that a user can fix ends a job at once; any other failure, such as the death of the worker, is tried
again.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import connection, resource_tracker
from typing import Any, Generic, Protocol, TypeVar

from wfalens import progress
from wfalens.errors import InputError, ModelError, WfalensError
from wfalens.scale.ray_executor import leave_cluster, run_on_ray
from wfalens.scale.run_config import RAY, SERIAL, THREADS, FileRun, RunConfig, chosen_engine
from wfalens.scale.worker import ATTEMPTS, Done, Failed, OnRetry, attempt
from wfalens.storage import StoredFile, Tensors
from wfalens.threads import THREADS_VARIABLE, work_alone

_THREAD_LIMITS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", THREADS_VARIABLE)
_SWITCH_INTERVAL = 5e-4  # seconds that a thread keeps the interpreter while another wants to continue its model
Job = TypeVar("Job")
Result = TypeVar("Result")
Job_contra = TypeVar("Job_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)


class Task(Protocol[Job_contra, Result_co]):
    """Work that can be sent to a worker."""

    def prepare(self) -> Callable[[Job_contra], Result_co]:
        """Called once per worker; what it returns may be called by several threads at a time."""
        ...


@dataclass(frozen=True, eq=False, kw_only=True)
class BlockTask(Generic[Job, Result]):
    """A task over many jobs, and what becomes of its results.

    title    what progress shows
    kind     of the checkpoints; "": results are not kept
    name     of a job, for people
    number   of a job, for its checkpoint
    stored   a result as a header and tensors; restored: the way back
    skipped  the result of a job that failed, with the reason; None: a failure ends the run
    """

    title: str
    task: Task[Job, Result]
    name: Callable[[Job], str]
    kind: str = ""
    number: Callable[[Job], int] | None = None
    stored: Callable[[Result], tuple[dict[str, Any], Tensors]] | None = None
    restored: Callable[[StoredFile], Result] | None = None
    skipped: Callable[[Job, str], Result] | None = None


def map_blocks(work: BlockTask[Job, Result], jobs: Sequence[Job], run: FileRun) -> Iterator[tuple[Job, Result]]:
    """The result of every job, in any order; those with a checkpoint are not done again."""
    folder, left = run.folder, list(jobs)
    if folder is not None and work.number is not None and work.restored is not None:
        kept = set(folder.names(work.kind))
        done = [job for job in jobs if _checkpoint(work, job) in kept]
        left = [job for job in jobs if _checkpoint(work, job) not in kept]
        if done:
            progress.say(f"continuing: {len(done):,} of {len(jobs):,} blocks are done already ({work.title})")
        for job in done:
            yield job, work.restored(folder.read(_checkpoint(work, job)))

    def on_retry(job: Job, reason: str, number: int) -> None:
        run.record("retry", job=work.name(job), attempt=number, reason=reason)

    progress.start(work.title, len(left))
    for outcome in run_jobs(work.task, left, run.engine, run.workers, run.config.address, on_retry):
        name = work.name(outcome.job)
        if isinstance(outcome, Done):
            result = outcome.result
        else:
            run.record("fail", name=name, reason=outcome.reason)
            result = _skipped(work, outcome)
        if folder is not None and work.stored is not None:
            folder.write(_checkpoint(work, outcome.job), *work.stored(result))
        if isinstance(outcome, Done):  # the log names a block when it is kept
            run.record(work.kind or "job", name=name, seconds=round(outcome.seconds, 3))
        run.check_memory()
        yield outcome.job, result
        progress.advance(1)
    progress.finish()


def map_jobs(work: BlockTask[Job, Result], jobs: Sequence[Job], config: RunConfig) -> Iterator[tuple[Job, Result]]:
    """The same for jobs that are no blocks of files; nothing is kept."""
    engine, workers = chosen_engine(config, None if config.memory is None else int(config.memory))
    try:
        yield from map_blocks(work, jobs, FileRun(config=config, engine=engine, workers=workers))
    finally:
        leave_cluster()


def _checkpoint(work: BlockTask[Job, Result], job: Job) -> str:
    assert work.number is not None  # noqa: S101 - kept results are numbered
    return f"{work.kind}-{work.number(job):08d}"


def _skipped(work: BlockTask[Job, Result], failure: Failed[Job]) -> Result:
    """The result of a job that failed; where nothing may be left out, the run ends."""
    name = work.name(failure.job)
    if work.skipped is None:
        if failure.fixable:
            raise InputError(failure.reason, code=failure.code)
        raise ModelError(f"{name}: failed {failure.attempts} times: {failure.reason}", code="block-failed")
    reason = failure.reason if failure.reason.startswith(name) else f"{name}: {failure.reason}"
    progress.say(f"left out: {reason}")
    return work.skipped(failure.job, reason)


def run_jobs(
    task: Task[Job, Result],
    jobs: Sequence[Job],
    engine: str,
    workers: int,
    address: str | None = None,
    on_retry: OnRetry[Job] | None = None,
) -> Iterator[Done[Job, Result] | Failed[Job]]:
    """One outcome for every job, as they come; only a few results wait at any time."""
    on_retry = on_retry or _ignore_retry
    if not jobs:
        return iter(())
    workers = min(workers, len(jobs))
    if engine == RAY:
        return run_on_ray(task, jobs, workers, address, on_retry)
    if engine == SERIAL:
        function = task.prepare()
        return (attempt(function, job, on_retry) for job in jobs)
    return (_on_threads if engine == THREADS else _on_processes)(task, jobs, workers, on_retry)


def _ignore_retry(job: Any, reason: str, number: int) -> None:
    """A retry is not recorded."""


def _on_threads(
    task: Task[Job, Result], jobs: Sequence[Job], workers: int, on_retry: OnRetry[Job]
) -> Iterator[Done[Job, Result] | Failed[Job]]:
    """Threads that share one model: for models too large to load twice. Torch and the kernels release the GIL."""
    function = task.prepare()
    earlier = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_INTERVAL)
    try:
        with ThreadPoolExecutor(workers, "wfalens-block", work_alone) as pool:
            for future in _as_finished(pool, partial(attempt, function, on_retry=on_retry), jobs, workers + 1, {}):
                yield future.result()
    finally:
        sys.setswitchinterval(earlier)


def _as_finished(
    pool: Executor, function: Callable[[Job], Any], jobs: Sequence[Job], most: int, out: dict[Future[Any], int]
) -> Iterator[Future[Any]]:
    """Futures as they finish; at most so many jobs are out at a time. `out` gets the number of each future's job."""
    waiting: set[Future[Any]] = set()
    try:
        for number, job in enumerate(jobs):
            if len(waiting) >= most:
                finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from finished
            with _interrupts_held():
                future = pool.submit(function, job)
            waiting.add(future)
            out[future] = number
        while waiting:
            finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from finished
    finally:
        for future in waiting:
            future.cancel()


def _on_processes(
    task: Task[Job, Result], jobs: Sequence[Job], workers: int, on_retry: OnRetry[Job]
) -> Iterator[Done[Job, Result] | Failed[Job]]:
    """Processes with one thread each: nothing is shared, so nothing waits.

    A worker that dies breaks the pool. Jobs that were out then are done one by one in pools of their own, so that
    the one that kills its worker is known.
    """
    try:
        blob = pickle.dumps(task, protocol=pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"this model cannot be sent to another process ({error}); use one worker", code="not-picklable"
        ) from None
    waiting = [(job, 1) for job in jobs]  # with the number of the attempt
    while waiting:
        is_suspect = waiting[0][1] > 1
        batch, waiting = (waiting[:1], waiting[1:]) if is_suspect else (waiting, [])
        left = dict(enumerate(batch))
        out: dict[Future[Any], int] = {}
        with _pool(blob, 1 if is_suspect else workers) as pool:
            try:
                for future in _as_finished(pool, _do, [job for job, _ in batch], workers, out):
                    outcome, retries = future.result()
                    del left[out.pop(future)]
                    for retry in retries:
                        on_retry(*retry)
                    yield outcome
            except BrokenProcessPool:
                suspects = []
                for job, number in [left.pop(at) for at in out.values()]:
                    reason = "the worker process ended"
                    if number >= ATTEMPTS:
                        yield Failed(job, reason, number, fixable=False)
                    else:
                        on_retry(job, reason, number + 1)
                        suspects.append((job, number + 1))
                waiting = [*suspects, *left.values(), *waiting]


@contextmanager
def _pool(blob: bytes, workers: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that are started afresh: a fork of a process with threads may hang."""
    earlier = {name: os.environ.get(name) for name in _THREAD_LIMITS}
    os.environ.update(dict.fromkeys(_THREAD_LIMITS, "1"))  # read while the child's libraries load
    resource_tracker.ensure_running()
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _start, (blob,))
    try:
        yield pool
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


def _start(blob: bytes) -> None:
    """Make a worker process ready; it ends with the driver, even if that is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's to handle
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    try:
        _worker["function"] = pickle.loads(blob).prepare()  # noqa: S301 - comes from our own driver over a pipe
    except WfalensError as error:
        _worker["error"] = error


def _end_with(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)


def _do(job: Any) -> tuple[Any, list[tuple[Any, str, int]]]:
    """The outcome of a job in a worker process, and its retries."""
    retries: list[tuple[Any, str, int]] = []
    if "error" in _worker:
        error = _worker["error"]
        return Failed(job, str(error), 1, fixable=True, code=error.code), retries
    return attempt(_worker["function"], job, lambda *retry: retries.append(retry)), retries
