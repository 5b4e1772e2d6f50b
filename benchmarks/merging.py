"""Merging 100 partial counts of a million entries: against a plain numpy sort-merge, and against copying the bytes.

Keys are those of a Zipf vocabulary of a million words and 41 states. The copy moves as many bytes as merging must at
least, all inputs read and all outputs written, by as many threads. The best of several runs counts, so that all of
them work in memory that the system has handed out before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from common import arguments, finish, show
from wfalens.extraction.transitions import Run, merge_runs, summed
from wfalens.threads import in_parallel, thread_count

WORDS, STATES, ENTRIES = 10**6, 41, 10**6


def partial_counts(seed: int) -> Run:
    rng = np.random.default_rng(seed)
    number = 2 * ENTRIES
    words = np.exp(rng.random(number) * np.log(WORDS)).astype(np.int64) - 1  # chances fall as 1 / rank
    keys = (words * STATES + rng.integers(0, STATES, number)) * STATES + rng.integers(0, STATES, number)
    keys.sort()
    keys = keys[np.diff(keys, prepend=-1) > 0]
    keys = np.delete(keys, rng.choice(len(keys), len(keys) - ENTRIES, replace=False))
    return keys, rng.integers(1, 50, ENTRIES)


def timed(work: Callable[[], object], times: int) -> float:
    best = float("inf")
    for _ in range(times):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best


def merge_by_sorting(runs: Sequence[Run]) -> Run:
    keys, counts = (np.concatenate(each) for each in zip(*runs, strict=True))
    order = np.argsort(keys, kind="stable")
    return summed(keys[order], counts[order])


def copied(values: np.ndarray) -> np.ndarray:
    """A copy by as many threads as merging uses."""
    copy = np.empty_like(values)
    bounds = np.append(np.arange(0, len(values), 1 << 16), len(values))

    def work(first: int, last: int) -> None:
        part = slice(bounds[first], bounds[last])
        copy[part] = values[part]

    in_parallel(work, bounds, 1 << 20)
    return copy


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    number = 20 if options.quick else 100
    runs = [partial_counts(seed) for seed in range(number)]
    found, expected = merge_runs(runs), merge_by_sorting(runs)
    assert all(np.array_equal(one, two) for one, two in zip(found, expected, strict=True))
    entries, distinct = number * ENTRIES, len(found[0])
    del expected, found
    moved = np.ones(entries + distinct, np.int64)  # read and written: keys and counts, inputs and output
    seconds = {
        "pairs of runs": timed(lambda: merge_runs(runs), 3),
        "copy of the bytes": timed(lambda: copied(moved), 5),
        "numpy sort-merge": timed(lambda: merge_by_sorting(runs), 2),
    }
    rows = [[name, value, value / entries * 1e9] for name, value in seconds.items()]
    show(f"{number} runs of {ENTRIES:,} entries, {distinct:,} distinct", ["", "seconds", "ns per entry"], rows)
    result: dict[str, object] = {
        "entries": entries,
        "distinct": distinct,
        "threads": thread_count(),
        "merge_seconds": seconds["pairs of runs"],
        "sort_ratio": seconds["numpy sort-merge"] / seconds["pairs of runs"],
        "bandwidth_ratio": seconds["pairs of runs"] / seconds["copy of the bytes"],
    }
    print(f"{result['sort_ratio']:.1f} × as fast as sorting, {result['bandwidth_ratio']:.1f} × the time of the copy")
    finish(options, result)


if __name__ == "__main__":
    main()
