"""How many threads the compiled kernels use, and how work is dealt out to them."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError

THREADS_VARIABLE = "WFALENS_THREADS"


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
    """One thread for each pass of a model within this block."""
    take_back = limit_model_threads()
    try:
        yield
    finally:
        take_back()


def in_parallel(work: Callable[[int, int], None], costs: NDArray[np.int64], least: int) -> None:
    """Call `work(start, stop)` on ranges of about equal cost; no thread for less than `least` cost.

    costs: (items + 1,) cumulated. `work` must release the GIL to gain from this, and write to its range only.
    """
    items, total = len(costs) - 1, int(costs[-1])
    parts = max(1, min(thread_count(), total // least, items))
    if parts == 1:
        work(0, items)
        return
    # a few ranges more than threads, so that one slow core does not hold up the rest
    cuts = np.searchsorted(costs, np.linspace(0, total, 4 * parts + 1)[1:-1])
    bounds = np.unique(np.concatenate([[0], cuts, [items]]))
    list(_pool(parts, os.getpid()).map(work, bounds[:-1], bounds[1:]))


@lru_cache(maxsize=1)
def _pool(threads: int, _process: int) -> ThreadPoolExecutor:
    """Threads that are kept between calls; a forked process, which inherits none, makes its own."""
    return ThreadPoolExecutor(threads, "wfalens")
