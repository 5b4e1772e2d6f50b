"""A Ray cluster: actors that hold the model, fed with jobs; whoever dies is replaced and its job tried again."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from wfalens.engines.contract import (
    ATTEMPTS,
    Done,
    Failed,
    Hear,
    Job,
    ModelObject,
    ModelSource,
    Result,
    Retry,
    Task,
    attempt,
    deaf,
)
from wfalens.errors import InputError, MissingDependencyError, ModelError, WfalensError
from wfalens.models.contract import StepwiseClassifier

EXTRA = "ray"


class _Worker:
    """What runs in an actor's process."""

    def __init__(self, task: Task[Any, Any]) -> None:
        self._failure: WfalensError | None = None
        try:
            self._function = task.prepare()
        except WfalensError as error:
            self._failure = error

    def ready(self) -> WfalensError | None:
        return self._failure

    def run(self, job: Any) -> Any:
        heard: list[Retry] = []
        return attempt(self._function, job, heard.append), heard


def _imported() -> Any:
    try:
        import ray
    except ImportError:
        raise MissingDependencyError("ray", EXTRA) from None
    return ray


class RayEngine:
    """A cluster at an address ("auto": the one that this machine belongs to), else a local one of its own."""

    name, shares_memory = "ray", False

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        self._ray = ray = _imported()
        self._started = not ray.is_initialized()
        if self._started:
            quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
            try:
                if address is None:
                    ray.init(num_cpus=workers, include_dashboard=False, **quiet)
                else:
                    ray.init(address=address, **quiet)
            except (ConnectionError, RuntimeError, ValueError) as error:
                where = "a local Ray" if address is None else f"the Ray cluster at {address!r}"
                raise InputError(f"cannot reach {where}: {str(error).splitlines()[0]}") from None
        self.workers = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))

    def source(self, model: StepwiseClassifier, path: Path | None) -> ModelSource:  # noqa: ARG002
        return ModelObject(model)  # other machines may not see the file

    def run(
        self, task: Task[Job, Result], jobs: Sequence[Job], hear: Hear = deaf
    ) -> Iterator[Done[Job, Result] | Failed[Job]]:
        ray = self._ray
        actor_class = ray.remote(num_cpus=1)(_Worker)
        shipped = ray.put(task)
        waiting = deque((job, 1) for job in jobs)
        asked: dict[Any, tuple[Any, Any, int]] = {}  # by the promised answer: actor, job (None: is it ready?), attempt
        team: list[Any] = []
        open_jobs, lost = len(jobs), 0

        def hire() -> None:
            actor = actor_class.remote(shipped)
            team.append(actor)
            asked[actor.ready.remote()] = actor, None, 0

        def feed(actor: Any) -> None:
            if waiting:
                job, number = waiting.popleft()
                asked[actor.run.remote(job)] = actor, job, number

        try:
            for _ in range(min(self.workers, open_jobs)):
                hire()
            while open_jobs:
                (answer, *_), _ = ray.wait(list(asked), num_returns=1)
                actor, job, number = asked.pop(answer)
                try:
                    said = ray.get(answer)
                except ray.exceptions.RayError as error:
                    reason = f"the Ray worker ended ({type(error).__name__})"
                    if job is None:
                        lost += 1
                        if lost >= ATTEMPTS:
                            raise ModelError(f"{reason} while it loaded the model") from None
                    elif number < ATTEMPTS:
                        hear(Retry(job, reason, number + 1))
                        waiting.append((job, number + 1))
                    else:
                        open_jobs -= 1
                        yield Failed(job, reason, number, mendable=False)
                    if open_jobs:
                        hire()
                    continue
                if job is None:
                    if said is not None:
                        raise said
                else:
                    outcome, heard = said
                    for retry in heard:
                        hear(retry)
                    open_jobs -= 1
                    feed(actor)  # before the result is used, so that the worker does not wait for it
                    yield outcome
                    continue
                feed(actor)
        finally:
            for actor in team:
                ray.kill(actor)

    def close(self) -> None:
        """Leave the cluster, unless it was joined before."""
        if self._started:
            self._ray.shutdown()
