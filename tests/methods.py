"""Methods with bounds of the extraction, for tests that try several."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from wfalens.automaton import WFA
from wfalens.extraction import Linear, Method, Request, completion_method, extract
from wfalens.extraction.deadline import Deadline, seconds_of
from wfalens.extraction.extract import extract_requested, texts_in_memory
from wfalens.extraction.selection import CandidateMethods, extract_best
from wfalens.scale import RunConfig

SMALL_TEACHER = Linear(layers=1, width=8, factors=8, hidden=16, epochs=8)
BOUNDS = ("seed", "queries", "time", "effort", "balance")


def quicken_teachers(patch: Any) -> None:
    """Readable automata of models that pay for every call are taught by a small linear one, with little training."""
    patch.setattr("wfalens.extraction.readable.readable_extraction.Linear", lambda: SMALL_TEACHER)


class Bounded:
    """A method (None: chosen) and bounds of its extraction."""

    def __init__(self, method: Method | None = None, **bounds: Any) -> None:
        self.method, self.bounds = method, bounds

    def with_bounds(self, **bounds: Any) -> Bounded:
        return Bounded(self.method, **self.bounds | bounds)

    def extract(self, model: Any, texts: Any, checkpoint: Path | None = None, **more: Any) -> WFA:
        """With a checkpoint, a file named "training" in a folder."""
        run = None if checkpoint is None else RunConfig(checkpoints=checkpoint.parent)
        return extract(model, texts, self.method, **{"run": run, **self.bounds, **more})

    def timed(self, model: Any, texts: Any, clock: Callable[[], float], **more: Any) -> WFA:
        """The same by another clock."""
        bounds = self.bounds | more
        time = bounds.pop("time", None)
        deadline = Deadline(None if time is None else seconds_of(time), clock)
        request = Request(model=model, texts=texts_in_memory(model, texts), deadline=deadline, **bounds)
        return extract_requested(request, self.method)


def extracted(model: Any, texts: Any, completion: str = "empirical", **options: Any) -> WFA:
    """An automaton by `Paper` or `Stochastic`, whichever has the completion; options may be bounds, too."""
    bounds = {name: options.pop(name) for name in BOUNDS if name in options}
    if completion in ("probe", "fit"):
        options.pop("beta", None)  # of empirical completion
    return extract(model, texts, completion_method(completion, **options), **bounds)


def best_of(model: Any, texts: Any, candidates: CandidateMethods, **bounds: Any) -> WFA:
    """The most faithful of several methods."""
    balance = bounds.get("balance")
    request = Request(model=model, texts=texts_in_memory(model, texts, balance), **bounds)
    return extract_requested(request, _Best(candidates))


class _Best(Method):
    def __init__(self, candidates: CandidateMethods) -> None:
        object.__setattr__(self, "candidates", candidates)

    def extract(self, request: Request) -> WFA:
        return extract_best(replace(request), self.candidates)  # type: ignore[attr-defined]
