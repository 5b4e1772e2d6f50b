"""A Ray cluster: joined where there is one, else started on this machine for the time of the run."""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import socket
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import shorten
from typing import Any

from wfalens import __version__
from wfalens.errors import InputError, MissingDependencyError, ModelError, WfalensError
from wfalens.scale.worker import ATTEMPTS, Done, Failed, OnRetry, attempt
from wfalens.threads import THREADS_VARIABLE

EXTRA = "ray"
_AUTO, _LOCAL = "auto", "local"
_REACH = 5.0  # seconds; Ray itself would try for minutes
_PATIENCE = 30.0  # seconds without any worker before we say so
_GIST = 120  # characters of what Ray reports of an end
_LOG = logging.getLogger(__name__)
_joined: list[Any] = []  # the ray module, if the cluster was joined here


def join_cluster(workers: int | None, address: str | None) -> Any:
    """The ray module, joined to the cluster at an address ("auto": the one of this machine), else to a local one.

    Without an address, $RAY_ADDRESS is one, as everywhere in Ray.
    """
    ray = _imported()
    if not ray.is_initialized():
        _join(ray, workers, address or os.environ.get("RAY_ADDRESS") or _LOCAL)
        _joined.append(ray)
    return ray


def leave_cluster() -> None:
    """Leave the cluster, unless it was joined by somebody else."""
    while _joined:
        _joined.pop().shutdown()


def cluster_workers(workers: int | None, address: str | None) -> int:
    """So many, or one for each CPU of the cluster."""
    ray = join_cluster(workers, address)
    return workers or max(1, int(ray.cluster_resources().get("CPU", 1)))


@dataclass(frozen=True)
class Origin:
    """Where a run comes from: what workers elsewhere must share with it."""

    version: str
    machine: str
    folder: str

    @classmethod
    def here(cls) -> Origin:
        return cls(__version__, socket.gethostname(), str(Path.cwd()))


class RayWorker:
    """What runs in an actor's process."""

    def prepare(self, origin: Origin, shipped: list[Any]) -> WfalensError | None:
        """Make ready for jobs; -> what a user has to fix first. The task is fetched when the versions agree."""
        import ray

        machine = socket.gethostname()
        if origin.version != __version__:
            return InputError(
                f"the Ray worker on {machine} has wfalens {__version__}, this run {origin.version}; install one "
                "version on all machines"
            )
        self._elsewhere = machine if machine != origin.machine else None
        os.environ[THREADS_VARIABLE] = "1"  # an actor has one CPU
        with contextlib.suppress(OSError):  # names of files may be relative; a machine without the folder tells later
            os.chdir(origin.folder)
        try:
            self._function = ray.get(shipped[0]).prepare()
        except WfalensError as error:
            return error
        return None

    def run(self, job: Any) -> tuple[Done[Any, Any] | Failed[Any], list[tuple[Any, str, int]]] | WfalensError:
        """What became of a job and its retries, or why this machine can do none."""
        retries: list[tuple[Any, str, int]] = []
        outcome = attempt(self._function, job, lambda *retry: retries.append(retry))
        if self._elsewhere is None or isinstance(outcome, Done) or outcome.fixable:
            return outcome, retries
        if outcome.reason.startswith(FileNotFoundError.__name__):
            return InputError(f"{self._elsewhere} must see all files under the same names ({outcome.reason})")
        return replace(outcome, reason=f"{outcome.reason} (on {self._elsewhere})"), retries


def run_on_ray(
    task: Any, jobs: Sequence[Any], workers: int, address: str | None, on_retry: OnRetry[Any]
) -> Iterator[Done[Any, Any] | Failed[Any]]:
    """A team of actors over jobs: whoever dies is replaced, and the job that it had is tried again."""
    ray = join_cluster(workers, address)
    actor_class = ray.remote(num_cpus=1)(RayWorker)
    shipped = _put(ray, task)
    origin = Origin.here()
    waiting = deque((job, 1) for job in jobs)
    asked: dict[Any, tuple[Any, Any, int]] = {}  # by the promised answer: actor, job (None: to prepare), attempt
    idle: list[Any] = []
    open_jobs, lost = len(jobs), 0
    patience: float | None = _PATIENCE

    def hire() -> None:
        actor = actor_class.remote()
        asked[actor.prepare.remote(origin, [shipped])] = actor, None, 0

    def deal() -> None:
        """Give jobs to all who have none: one that comes back may find the others idle, and no CPU for a new actor."""
        while idle and waiting:
            actor, (job, number) = idle.pop(), waiting.popleft()
            asked[actor.run.remote(job)] = actor, job, number

    try:
        for _ in range(min(workers, open_jobs)):
            hire()
        while open_jobs:
            answers, _ = ray.wait(list(asked), num_returns=1, timeout=patience)
            if not answers:
                _LOG.warning("note: no Ray worker is ready yet; the cluster's CPUs may be taken; waiting")
                patience = None
                continue
            actor, job, number = asked.pop(answers[0])
            try:
                answer = ray.get(answers[0])
            except ray.exceptions.RayError as error:
                ray.kill(actor)  # it may have lost its answer only
                reason = f"the Ray worker ended ({_gist(error)})"
                if job is None:
                    lost += 1
                    if lost >= ATTEMPTS:
                        raise ModelError(f"{reason} while it loaded the model{_remedy(reason)}") from None
                elif number < ATTEMPTS:
                    on_retry(job, reason, number + 1)
                    waiting.append((job, number + 1))
                else:
                    open_jobs -= 1
                    yield Failed(job, reason, number, fixable=False)
                if open_jobs:
                    hire()
                deal()
                continue
            idle.append(actor)
            if isinstance(answer, WfalensError):
                raise answer
            if job is None:
                lost, patience = 0, None
                deal()
                continue
            outcome, retries = answer
            for retry in retries:
                on_retry(*retry)
            open_jobs -= 1
            deal()  # before the result is used, so that the worker does not wait for it
            yield outcome
    finally:
        for actor in [*idle, *(actor for actor, _, _ in asked.values())]:
            ray.kill(actor)


def _put(ray: Any, task: Any) -> Any:
    try:
        return ray.put(task)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        reason = str(error.__cause__ or error).partition("\n")[0]
        raise InputError(
            f"this model cannot be sent to Ray's workers ({reason}); use the engine local", code="not-picklable"
        ) from None


def _gist(error: Exception) -> str:
    """The gist of Ray's many lines: what kind of end, and from the last line, which tells the cause, its beginning."""
    *_, last = ["", *(line for line in str(error).splitlines() if line.strip())]
    return f"{type(error).__name__}: {shorten(last, _GIST, placeholder=' …')}"


def _remedy(reason: str) -> str:
    return "; every machine needs what is installed here" if "ModuleNotFoundError" in reason else ""


def _imported() -> Any:
    try:
        import ray
    except ImportError:
        raise MissingDependencyError("ray", EXTRA) from None
    return ray


def _join(ray: Any, workers: int | None, address: str) -> None:
    if address not in (_AUTO, _LOCAL):
        _check_reachable(address)
    means = {"num_cpus": workers, "include_dashboard": False} if address == _LOCAL else {}
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **means)
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        where = "start a local Ray" if address == _LOCAL else f"join the Ray cluster at {address}"
        raise InputError(f"cannot {where}: {_reason(error)}") from None
    # Ray prints deaths of workers to stdout, which is the command's; they are recorded as retries
    ray._private.worker._worker_logs_enabled = False


def _check_reachable(address: str) -> None:
    host, _, port = address.rpartition(":")
    if not (host and port.isascii() and port.isdecimal()) or "/" in host:
        raise InputError(f"an address is auto or HOST:PORT, not {address!r}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _REACH).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot reach the Ray cluster at {address}: {reason}; is its head node running?") from None


def _reason(error: BaseException) -> str:
    """One line of Ray's many, and what to do where we know."""
    chain = [error]
    while chain[-1].__cause__ is not None:
        chain.append(chain[-1].__cause__)
    if any("InvalidAuthToken" in str(each) for each in chain):
        return "it asks for a token; set RAY_AUTH_MODE=token here, with the cluster's token in ~/.ray/auth_token"
    return " ".join(str(error).split())
