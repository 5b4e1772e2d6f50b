"""A Ray cluster: joined where there is one, else started on this machine for the time of the run."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from wfalens.errors import InputError, MissingDependencyError
from wfalens.models.contract import PrefixClassifier
from wfalens.scale.engines.engine import Done, Failed, Hear, Job, ModelObject, ModelSource, Result, Task, deaf
from wfalens.scale.engines.ray_actors import run_on_actors

EXTRA = "ray"
_AUTO, _LOCAL = "auto", "local"
_REACH = 5.0  # seconds; Ray itself would try for minutes


class RayEngine:
    """A cluster at an address ("auto": the one that this machine belongs to), else a local one of its own.

    Without an address, $RAY_ADDRESS is one, as everywhere in Ray.
    """

    name, shares_memory = "ray", False

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        self._ray = ray = _imported()
        self._started = not ray.is_initialized()
        if self._started:
            _join(ray, workers, address or os.environ.get("RAY_ADDRESS") or _LOCAL)
        self.workers = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))

    def source(self, model: PrefixClassifier, path: Path | None) -> ModelSource:  # noqa: ARG002
        return ModelObject(model)  # other machines may not see the file

    def run(
        self, task: Task[Job, Result], jobs: Sequence[Job], hear: Hear[Job] = deaf
    ) -> Iterator[Done[Job, Result] | Failed[Job]]:
        return run_on_actors(self._ray, task, jobs, self.workers, hear)

    def close(self) -> None:
        """Leave the cluster, unless it was joined before."""
        if self._started:
            self._ray.shutdown()


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
    # Ray prints deaths of workers to stdout, which is the command's; `hear` tells of them
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
