"""How much memory this process and its children hold, how much a file may want, and sizes as people write them."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from wfalens.errors import InputError

_ALWAYS_ALLOWED, _TIMES_STORED = 1 << 30, 1000  # bytes that anything may take in use, and that each stored byte may
_FOR_LIBRARIES = 1 << 29  # bytes that importing torch or keras takes
_MMAP_THRESHOLD, _LARGE = -3, 1 << 22  # a parameter of glibc's malloc, and bytes
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 1 << 10, "MI": 1 << 20, "GI": 1 << 30}


def parse_size(text: str) -> int:
    """Bytes of `2GB`, `512 MiB` or `1000000`."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?I?)B?\s*", text.upper())
    if found is None or found[2] not in _UNITS or float(found[1]) == 0:
        raise InputError(f"{text!r} is not a size; write for example 2GB or 512MB")
    return round(float(found[1]) * _UNITS[found[2]])


def shown_size(size: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.3g} GB" if size < 1000 else f"{size:,.0f} GB"


def check_in_use(needed: int, stored: int, path: object = "it") -> None:
    """Refuse what would take far more memory in use than it takes in a file; both in bytes."""
    if needed > allowed_in_use(stored):
        raise InputError(
            f"{path} would take {shown_size(needed)} of memory in use, out of proportion to the {shown_size(stored)} "
            "that it holds",
            code="too-large",
        )


def allowed_in_use(stored: int) -> int:
    """Bytes of memory that a file of a size may take."""
    return max(_ALWAYS_ALLOWED, _TIMES_STORED * stored)


@contextmanager
def limited_memory(stored: int) -> Iterator[None]:
    """Within it, the process can take only as much more memory as a file of that size may take (on Linux).

    Libraries that read files of other formats allocate what a file claims, and have no limit of their own. The limit
    counts for all threads of the process, so it is held for the opening of a file only.
    """
    try:
        import resource

        used = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmData:"))
    except (ImportError, OSError, StopIteration):
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = 1024 * int(used.split()[1]) + _FOR_LIBRARIES + allowed_in_use(stored)
    limits = [most, *(each for each in (soft, hard) if each != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_DATA, (min(limits), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def resident(process: int | None = None) -> int:
    """Bytes of physical memory that a process holds (0 where the system does not say)."""
    try:
        pages = int(Path(f"/proc/{process or os.getpid()}/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def free() -> int | None:
    """Bytes of physical memory that can be had without swapping (None where the system does not say)."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(found[0]) * 1024 if found else None


def return_large_arrays() -> None:
    """From now on, give large arrays back to the system when they are freed: glibc keeps some for every thread."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE)


def resident_with_children() -> int:
    """Of this process and the worker processes that it started; pages that they share count once for each."""
    from multiprocessing import active_children

    return resident() + sum(resident(child.pid) for child in active_children())
