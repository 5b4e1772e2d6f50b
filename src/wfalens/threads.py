"""How many threads the compiled kernels use, and how work is dealt out to them."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from itertools import repeat
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError

THREADS_VARIABLE = "WFALENS_THREADS"
Part = TypeVar("Part")
Output = TypeVar("Output")


_this_thread = threading.local()


def work_alone() -> None:
    """From now on, kernels that this thread calls use no other thread: there are as many workers as cores already."""
    _this_thread.alone = True


def thread_count() -> int:
    """$WFALENS_THREADS, else one per usable core; one for a worker."""
    if getattr(_this_thread, "alone", False):
        return 1
    chosen = os.environ.get(THREADS_VARIABLE)
    if chosen:
        if not (chosen.isascii() and chosen.isdigit()) or int(chosen) < 1:
            raise InputError(f"{THREADS_VARIABLE} must be a positive number, not {chosen!r}")
        return int(chosen)
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def limit_model_threads() -> Callable[[], None]:
    """One thread for each pass of a model in this process; -> a function that takes the limit back.

    Workers side by side use the cores better than threads within one product, and sums keep their order, to the bit.
    """
    from threadpoolctl import threadpool_limits

    limits = threadpool_limits(1)
    torch = sys.modules.get("torch")  # a model that needs it has loaded it
    earlier = torch.get_num_threads() if torch else 1
    if torch:
        torch.set_num_threads(1)

    def take_back() -> None:
        limits.restore_original_limits()
        if torch:
            torch.set_num_threads(earlier)

    return take_back


@contextmanager
def model_threads_limited() -> Iterator[None]:
    """One thread for each pass of a model within this block; `passes_of_model` then runs passes side by side."""
    take_back = limit_model_threads()
    earlier = getattr(_this_thread, "limited", False)
    _this_thread.limited = True
    try:
        yield
    finally:
        _this_thread.limited = earlier
        take_back()


def passes_of_model(model: object, function: Callable[[Part], Output], parts: Iterable[Part]) -> Iterator[Output]:
    """`function`, which asks the model, of every part in turn.

    Where a pass may use one thread only and the model says that it `is_concurrent`, several parts are read at a time.
    """
    threads = thread_count() if getattr(_this_thread, "limited", False) else 1
    if threads == 1 or not getattr(model, "is_concurrent", False):
        return map(function, parts)
    # kernels that these threads call use no other thread
    return _in_order(_pool("wfalens-model", threads, os.getpid(), work_alone), function, parts, 2 * threads)


def _in_order(
    pool: ThreadPoolExecutor, function: Callable[[Part], Output], parts: Iterable[Part], most: int
) -> Iterator[Output]:
    """`pool.map`, but only a few outputs wait at any time: together they may fill the memory."""
    waiting: deque[Future[Output]] = deque()
    try:
        for part in parts:
            waiting.append(pool.submit(function, part))
            if len(waiting) == most:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def in_parallel(work: Callable[..., None], costs: NDArray[np.int64], least: int, *arguments: Any) -> None:
    """Call `work(start, stop, *arguments)` on ranges of about equal cost; no thread for less than `least` cost.

    costs: (items + 1,) cumulated. `work` must release the GIL to gain from this, and write to its range only.
    """
    items, total = len(costs) - 1, int(costs[-1])
    parts = max(1, min(thread_count(), total // least, items))
    if parts == 1:
        work(0, items, *arguments)
        return
    # a few ranges more than threads, so that one slow core does not hold up the rest
    cuts = np.searchsorted(costs, np.linspace(0, total, 4 * parts + 1)[1:-1])
    bounds = np.unique(np.concatenate([[0], cuts, [items]]))
    same = (repeat(argument) for argument in arguments)
    list(_pool("wfalens", parts, os.getpid()).map(work, bounds[:-1], bounds[1:], *same))


@lru_cache(maxsize=2)
def _pool(name: str, threads: int, _process: int, prepare: Callable[[], None] | None = None) -> ThreadPoolExecutor:
    """Threads that are kept between calls; a forked process, which inherits none, makes its own."""
    return ThreadPoolExecutor(threads, name, prepare)
