"""Which engine, and how many workers of which kind fit into the machine."""

from __future__ import annotations

from wfalens.errors import InputError
from wfalens.memory import resident
from wfalens.scale.engines.engine import Engine
from wfalens.scale.engines.local import ProcessEngine, SerialEngine, ThreadEngine
from wfalens.threads import thread_count

ENGINES = LOCAL, RAY = ("local", "ray")
_MOST_THREADS = 4  # beyond that, they wait for the interpreter too often
_WORKING = 200 << 20  # bytes that a worker needs beside what this process holds after loading the model


def open_engine(
    name: str = LOCAL, workers: int | None = None, memory: int | None = None, address: str | None = None
) -> Engine:
    """An engine by name; `memory` bounds all workers of this machine together, the model's copies included.

    Call it when the model is loaded: what this process holds then is what another one would need.
    """
    if name not in ENGINES:
        raise InputError(f"unknown engine {name!r}; choose one of {', '.join(ENGINES)}")
    if workers is not None and workers < 1:
        raise InputError(f"workers must be at least 1, not {workers}")
    if name == RAY:
        from wfalens.scale.engines.ray import RayEngine

        return RayEngine(workers, address)
    if address is not None:
        raise InputError("an address needs the engine ray")
    return _local(workers or thread_count(), memory)


def _local(workers: int, memory: int | None) -> Engine:
    if workers == 1:
        return SerialEngine()
    if memory is None:
        return ProcessEngine(workers)
    here = resident()
    processes = (memory - here) // (here + _WORKING)
    if processes >= workers:
        return ProcessEngine(workers)
    return ThreadEngine(workers) if workers <= _MOST_THREADS or processes < 2 else ProcessEngine(processes)
