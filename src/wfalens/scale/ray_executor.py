"""A Ray cluster: joined where there is one, else started on this machine for the time of the run."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future
from dataclasses import replace
from pathlib import Path
from queue import Empty, Queue
from textwrap import shorten
from typing import Any, NamedTuple

from wfalens import __version__
from wfalens.errors import InputError, ModelError, WfalensError, naming_extras
from wfalens.scale.worker import ATTEMPTS, Done, Outcome, attempt
from wfalens.threads import THREADS_VARIABLE

_AUTO, _LOCAL = "auto", "local"
_REACH = 5.0  # seconds; Ray itself would try for minutes
_PATIENCE = 30.0  # seconds without any worker before we say so
_SAME_PACKAGES = "; every machine needs what is installed here"
_GIST = 120  # characters of what Ray reports of an end
_LOG = logging.getLogger(__name__)
_joined: list[Any] = []  # the ray module, if the cluster was joined here


def join_cluster(workers: int | None, address: str | None) -> Any:
    """The ray module, joined to the cluster at an address ("auto": the one of this machine), else to a local one.

    Without an address, $RAY_ADDRESS is one, as everywhere in Ray.
    """
    with naming_extras():
        import ray
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


class Origin(NamedTuple):
    """Where a run comes from: what workers elsewhere must share with it."""

    version: str
    machine: str
    folder: str


class RayWorker:
    """What runs in an actor's process."""

    def prepare(self, origin: Origin, shipped: list[Any]) -> InputError | None:
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
            return InputError(str(error), code=error.code)
        return None

    def run(self, job: Any) -> Outcome | InputError:
        """What became of a job, or why this machine can do none."""
        outcome = attempt(self._function, job)
        if self._elsewhere is None or isinstance(outcome, Done) or outcome.fixable:
            return outcome
        if outcome.reason.startswith(FileNotFoundError.__name__):
            return InputError(f"{self._elsewhere} must see all files under the same names ({outcome.reason})")
        return replace(outcome, reason=f"{outcome.reason} (on {self._elsewhere})")


class _Team:
    """Actors that do jobs; whoever ends is replaced."""

    def __init__(self, task: Any, workers: int, address: str | None) -> None:
        self._ray = join_cluster(workers, address)
        self._actor_class = self._ray.remote(num_cpus=1)(RayWorker)
        self._arguments = Origin(__version__, socket.gethostname(), str(Path.cwd())), [_put(self._ray, task)]
        self._free: Queue[tuple[Any, Any, Future[Any]]] = Queue()  # an actor, its job if it had one, and its answer
        self._lost = 0  # actors that ended before they were ready
        self._patience: float | None = _PATIENCE
        self.actors: list[Any] = []
        for _ in range(workers):
            self._hire()

    def submit(self, job: Any) -> Future[Any]:
        """Give a job to an actor that has none, and wait until there is one."""
        actor, outcome = self._idle_actor(), Future[Any]()

        def settle(answer: Future[Any]) -> None:
            error = answer.exception()
            if error is not None:
                outcome.set_exception(BrokenExecutor(_gist(error)))
            elif isinstance(answer.result(), InputError):
                outcome.set_exception(answer.result())
            else:
                outcome.set_result(answer.result())
            self._free.put((actor, job, answer))

        actor.run.remote(job).future().add_done_callback(settle)
        return outcome

    def _hire(self) -> None:
        actor = self._actor_class.remote()
        self.actors.append(actor)
        ready = actor.prepare.remote(*self._arguments).future()
        ready.add_done_callback(lambda answer: self._free.put((actor, None, answer)))

    def _idle_actor(self) -> Any:
        while True:
            try:
                actor, job, answer = self._free.get(timeout=self._patience)
            except Empty:
                _LOG.warning("note: no Ray worker is ready yet; the cluster's CPUs may be taken; waiting")
                self._patience = None
                continue
            error = answer.exception()
            if error is None:
                if isinstance(answer.result(), InputError):
                    raise answer.result()
                self._lost, self._patience = 0, None
                return actor
            self._ray.kill(actor)  # it may have lost its answer only
            self._lost += job is None
            if self._lost == ATTEMPTS:
                remedy = _SAME_PACKAGES if "ModuleNotFoundError" in _gist(error) else ""
                raise ModelError(f"the Ray worker ended ({_gist(error)}) while it loaded the model{remedy}")
            self._hire()


@contextlib.contextmanager
def ray_pool(task: Any, workers: int, address: str | None) -> Iterator[Callable[[Any], Future[Any]]]:
    """A team of actors for the time of a run; a job that ends its actor raises BrokenExecutor."""
    team = _Team(task, workers, address)
    try:
        yield team.submit
    finally:
        for actor in team.actors:
            team._ray.kill(actor)


def _put(ray: Any, task: Any) -> Any:
    try:
        return ray.put(task)
    except Exception as error:  # of what cannot be sent
        reason = str(error.__cause__ or error).partition("\n")[0]
        raise InputError(
            f"this model cannot be sent to Ray's workers ({reason}); use the engine local", code="not-picklable"
        ) from None


def _gist(error: BaseException) -> str:
    """The gist of Ray's many lines: what kind of end, and from the last line, which tells the cause, its beginning."""
    *_, last = ["", *(line for line in str(error).splitlines() if line.strip())]
    return f"{type(error).__name__}: {shorten(last, _GIST, placeholder=' …')}"


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
