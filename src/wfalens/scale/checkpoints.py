"""Finished blocks in a folder, from which a stopped run continues.

A folder's manifest names what the run is about, so that no other run continues with it; a block is one file with
checksums, written atomically.
"""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from numpy.typing import NDArray

from wfalens.errors import FormatError, InputError
from wfalens.storage import StoredFile, read_file, write_atomically, write_file

FORMAT, VERSION = "block", 1
_MANIFEST, _LOCK, _ENDING = "manifest.json", "lock", ".block"


class Checkpoints:
    """Results of blocks as files of a folder; only one run at a time may have it."""

    def __init__(self, path: Path, manifest: Mapping[str, Any]) -> None:
        self.path = path
        self.resumed = path.is_dir()
        if self.resumed and not (path / _MANIFEST).exists() and not _is_bare(path):
            raise InputError(
                f"{path} is not a folder of checkpoints, or lost its manifest; use another folder", code="checkpoints"
            )
        try:
            path.mkdir(exist_ok=True)
            self._lock: IO[str] = (path / _LOCK).open("a")
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror or error}") from None
        _take(self._lock, path)
        try:
            self._check(json.loads(json.dumps(manifest)))
        except InputError:
            self._lock.close()
            raise
        for left in path.glob(f".*{_ENDING}"):  # writing was cut off
            left.unlink(missing_ok=True)

    def _check(self, manifest: dict[str, Any]) -> None:
        file = self.path / _MANIFEST
        if not file.exists():
            write_atomically(file, json.dumps(manifest, indent=1, sort_keys=True).encode())
            return
        try:
            stored = json.loads(file.read_text())
        except ValueError:
            raise InputError(f"{file} is damaged; remove {self.path} to start again", code="checkpoints") from None
        if stored != manifest:
            raise InputError(
                f"{self.path} belongs to another run ({_difference(stored, manifest)}); repeat that run to finish it, "
                "or remove the folder to start again",
                code="other-run",
            )

    def write(self, name: str, header: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> None:
        write_file(self._path(name), FORMAT, VERSION, header, tensors)

    def read(self, name: str) -> StoredFile:
        try:
            return read_file(self._path(name), FORMAT, VERSION)
        except FormatError as error:
            raise FormatError(f"{error}; remove this file and run again", code="damaged") from None

    def names(self, beginning: str) -> list[str]:
        return sorted(path.name.removesuffix(_ENDING) for path in self.path.glob(f"{beginning}*{_ENDING}"))

    def close(self) -> None:
        """Leave the folder to the next run; one in which nothing is done yet does not stay."""
        if self.path.is_dir() and {path.name for path in self.path.iterdir()} <= {_MANIFEST, _LOCK}:
            shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()

    def _path(self, name: str) -> Path:
        return self.path / f"{name}{_ENDING}"


def _take(lock: IO[str], path: Path) -> None:
    """Lock a folder for this run; the lock ends with the process."""
    try:
        import fcntl
    except ImportError:
        raise InputError(
            "this system has no file locks, which a folder of checkpoints needs; run without one"
        ) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            raise InputError(
                f"another run is using {path}; wait for it, or give another output", code="in-use"
            ) from None
        raise InputError(
            f"{path} lies on a disk without file locks ({error.strerror or error}); put the output on another disk"
        ) from None


def _is_bare(path: Path) -> bool:
    """Whether a folder holds nothing but what a run leaves that is killed as soon as it begins."""
    return all(each.name == _LOCK or each.name.startswith(f".{_MANIFEST}.") for each in path.iterdir())


def _difference(stored: Any, other: Any, at: str = "") -> str:
    """Where two manifests differ first, in words."""
    if isinstance(stored, dict) and isinstance(other, dict):
        for key in sorted({*stored, *other}):
            if stored.get(key) != other.get(key):
                return _difference(stored.get(key), other.get(key), f"{at} {key}".strip())
    if isinstance(stored, list) and isinstance(other, list):
        if len(stored) != len(other):
            return f"{at}: {len(stored)} there, {len(other)} here"
        for one, two in zip(stored, other, strict=True):
            if one != two:
                return _difference(one, two, f"{at} {one[0]}" if isinstance(one, list) and one else at)
    return f"{at}: {stored!r} there, {other!r} here"
