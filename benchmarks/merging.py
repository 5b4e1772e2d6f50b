"""Merging 100 partial counts of a million entries: against a plain numpy sort-merge, and against copying the bytes.

Keys are those of a Zipf vocabulary of a million words and 41 states. The copy reads and writes as many bytes as merging
must at least: all inputs and the output.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from common import arguments, finish, show
from wfalens.extraction.merging import Run, merge_by_sorting, merge_runs

WORDS, STATES, ENTRIES = 10**6, 41, 10**6


def partial_counts(seed: int) -> Run:
    rng = np.random.default_rng(seed)
    share = np.cumsum(1 / np.arange(1, WORDS + 1))
    keys = np.zeros(0, np.int64)
    while len(keys) < ENTRIES:
        words = np.searchsorted(share, rng.random(ENTRIES) * share[-1])
        fresh = (words * STATES + rng.integers(0, STATES, ENTRIES)) * STATES + rng.integers(0, STATES, ENTRIES)
        keys = np.union1d(keys, fresh)
    keys = np.sort(rng.choice(keys, ENTRIES, replace=False))
    return keys, rng.integers(1, 50, ENTRIES)


def timed(work: Callable[[], object], times: int) -> float:
    best = float("inf")
    for _ in range(times):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    number = 20 if options.quick else 100
    runs = [partial_counts(seed) for seed in range(number)]
    merged = merge_runs(runs)
    expected = merge_by_sorting(runs)
    assert all(np.array_equal(one, two) for one, two in zip(merged, expected, strict=True))
    del expected
    entries, distinct = number * ENTRIES, len(merged[0])
    moved = np.ones(2 * (entries + distinct) // 2, np.int64)  # read once and written once: inputs and output together
    seconds = {
        "windows": timed(lambda: merge_runs(runs), 3),
        "numpy sort-merge": timed(lambda: merge_by_sorting(runs), 1),
        "copy of the bytes": timed(lambda: moved.copy(), 3),
    }
    rows = [[name, value, value / entries * 1e9] for name, value in seconds.items()]
    show(f"{number} runs of {ENTRIES:,} entries, {distinct:,} distinct", ["", "seconds", "ns per entry"], rows)
    result: dict[str, object] = {
        "entries": entries,
        "distinct": distinct,
        "merge_seconds": seconds["windows"],
        "sort_ratio": seconds["numpy sort-merge"] / seconds["windows"],
        "bandwidth_ratio": seconds["windows"] / seconds["copy of the bytes"],
    }
    print(f"{result['sort_ratio']:.1f} × as fast as sorting, {result['bandwidth_ratio']:.1f} × the time of the copy")
    finish(options, result)


if __name__ == "__main__":
    main()
