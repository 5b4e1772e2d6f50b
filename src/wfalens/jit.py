# mypy: disable-error-code="no-untyped-call"
"""Compiled functions: numba's `njit` with a cache on disk that may be damaged, full or read-only."""

from __future__ import annotations

import io
import os
import pickle
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

from wfalens import progress

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
                _say_once(f"compiled code cannot be kept ({error})")
        return dispatcher

    return compiled


class _CheckedFile(IndexDataCacheFile):
    """Files with a CRC-32 at their end: machine code that changed on the disk would end the process."""

    def __init__(self, folder: str, name: str, stamp: Any) -> None:
        super().__init__(folder, name, stamp)
        self._version = f"{numba.__version__} with checksums"

    def _dump(self, content: Any) -> bytes:
        blob: bytes = super()._dump(content)
        return blob + zlib.crc32(blob).to_bytes(_SUM_BYTES, "little")

    def _load_index(self) -> dict[Any, str]:
        if Path(self._index_path).exists():
            stream = io.BytesIO(Path(self._index_path).read_bytes())
            if pickle.load(stream) == self._version:  # noqa: S301 - numba's own form; the folder is the user's
                _check_sum(stream.read(), self._index_path)
        found: dict[Any, str] = super()._load_index()
        return found

    def _load_data(self, name: str) -> Any:
        _check_sum(Path(self._data_path(name)).read_bytes(), self._data_path(name))
        return super()._load_data(name)


def _check_sum(blob: bytes, path: str) -> None:
    if zlib.crc32(blob[:-_SUM_BYTES]).to_bytes(_SUM_BYTES, "little") != blob[-_SUM_BYTES:]:
        raise ValueError(f"{path} is damaged")


class _GuardedCache(FunctionCache):
    """A cache that goes to another folder where its own fails, and without one where that fails, too."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._use(self._cache_path)

    def _use(self, folder: str) -> None:
        self._cache_path = folder
        self._cache_file = _CheckedFile(folder, self._impl.filename_base, self._impl.locator.get_source_stamp())

    def load_overload(self, signature: Any, context: Any) -> Any:
        return self._tried(super().load_overload, signature, context)

    def save_overload(self, signature: Any, content: Any) -> None:
        self._tried(super().save_overload, signature, content)

    def _tried(self, action: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return action(*arguments)
        except Exception as error:  # of pickle, the system, LLVM
            user = os.getuid() if hasattr(os, "getuid") else 0
            folder = str(Path(tempfile.gettempdir()) / f"wfalens-compiled-{user}")
            if self._cache_path == folder:
                return None  # it is compiled for this process only
            _say_once(f"compiled code is kept in {folder}: the usual folder cannot be used ({error})")
            stamp = self._impl.locator.get_source_stamp()
            self._impl._locator = SimpleNamespace(
                get_source_stamp=lambda: stamp, ensure_cache_path=lambda: _make_private(folder)
            )
            self._use(folder)
            return self._tried(action, *arguments)


def _make_private(folder: str) -> None:
    """A folder of this user alone: who can write into it could run code."""
    os.makedirs(folder, 0o700, exist_ok=True)  # noqa: PTH103
    about = os.stat(folder, follow_symlinks=False)  # noqa: PTH116
    if hasattr(os, "getuid") and (about.st_uid != os.getuid() or about.st_mode & 0o077):
        raise OSError(f"{folder} belongs to others, too")


def _say_once(message: str) -> None:
    if not _NOTES:
        _NOTES.append(message)
        progress.say(message)
