# mypy: disable-error-code="no-untyped-call"
"""Compiled functions: numba's `njit` with a cache on disk that may be damaged, full or read-only."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

from wfalens import progress
from wfalens.messages import reason_of

_SUM_BYTES = 4
_NOTES: list[str] = []  # one sentence in a process is enough


def njit(*, cache: bool = False, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit`; with `cache`, compiled code is kept on disk, with checksums.

    Examples:
        >>> from wfalens.jit import njit
        >>> @njit(nogil=True)
        ... def doubled(number):
        ...     return 2 * number
        >>> doubled(21)
        42
    """

    def compiled(function: Callable[..., Any]) -> Any:
        dispatcher: Any = numba.njit(**options)(function)
        if cache and hasattr(dispatcher, "_cache"):  # there is none where numba is switched off
            try:
                dispatcher._cache = _GuardedCache(function)
            except (RuntimeError, OSError) as error:  # there is no folder that can be written
                _say_once(f"compiled code cannot be kept ({reason_of(error)}): every start compiles again")
        return dispatcher

    return compiled


class _CheckedFile(IndexDataCacheFile):
    """Files that end in a CRC-32, as their name says: machine code that changed on the disk would end the process.

    A damaged file counts as none, so that the next save replaces it.
    """

    def __init__(self, folder: str, name: str, stamp: Any) -> None:
        super().__init__(folder, f"{name}.crc", stamp)

    def _load_index(self) -> dict[Any, str]:
        found: dict[Any, str] = super()._load_index() if _is_whole(self._index_path) else {}
        return found

    def _load_data(self, name: str) -> Any:
        return super()._load_data(name) if _is_whole(self._data_path(name)) else None

    @contextmanager
    def _open_for_write(self, path: str) -> Iterator[io.BytesIO]:
        content = io.BytesIO()
        yield content
        with super()._open_for_write(path) as file:
            file.write(content.getvalue() + _sum_of(content.getvalue()))


def _is_whole(path: str) -> bool:
    blob = Path(path).read_bytes() if Path(path).exists() else b""
    return _sum_of(blob[:-_SUM_BYTES]) == blob[-_SUM_BYTES:]


def _sum_of(blob: bytes) -> bytes:
    return zlib.crc32(blob).to_bytes(_SUM_BYTES, "little")


class _GuardedCache(FunctionCache):
    """A cache that fails without consequence: the function is then compiled for this process."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _CheckedFile(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, signature: Any, context: Any) -> Any:
        return self._tried(super().load_overload, signature, context)

    def save_overload(self, signature: Any, content: Any) -> None:
        self._tried(super().save_overload, signature, content)

    def _tried(self, action: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return action(*arguments)
        except Exception as error:  # of the system, of another version of a library, of LLVM
            _say_once(f"{self._cache_path} cannot keep compiled code ({reason_of(error)}): every start compiles again")
            return None


def _say_once(message: str) -> None:
    if not _NOTES:
        _NOTES.append(message)
        progress.say(message)
