"""The folder in which a stream's run keeps what it has done, until the automaton is written.

A manifest tells what the run is about, so that no other run goes on with it; a part is one file, written atomically.
"""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import IO, Any

from numpy.typing import NDArray

from wfalens.errors import FormatError, InputError
from wfalens.storage import StoredFile, read_file, write_file
from wfalens.writing import write_atomically

FORMAT, VERSION = "part", 2
_MANIFEST, _LOCK = "manifest.json", "lock"


class PartsFolder:
    """An open folder of parts; only one run at a time may have it."""

    def __init__(self, path: Path, manifest: Mapping[str, Any]) -> None:
        self.path = path
        self.resumed = path.is_dir()
        if self.resumed and not (path / _MANIFEST).exists() and not _is_bare(path):
            raise InputError(f"{path} is not a folder of parts, or lost its manifest; use another folder")
        try:
            path.mkdir(exist_ok=True)
            self._lock: IO[str] = (path / _LOCK).open("a")
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror or error}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"another run is using {path}; wait for it, or give another output") from None
        self._check(json.loads(json.dumps(manifest)))
        for left in path.glob(".*.part"):  # writing was cut off
            left.unlink(missing_ok=True)

    def _check(self, manifest: dict[str, Any]) -> None:
        file = self.path / _MANIFEST
        if not file.exists():
            write_atomically(file, json.dumps(manifest, indent=1, sort_keys=True).encode())
            return
        try:
            stored = json.loads(file.read_text())
        except ValueError:
            raise InputError(f"{file} is damaged; remove {self.path} to begin anew") from None
        if stored != manifest:
            raise InputError(
                f"{self.path} belongs to another run ({_difference(stored, manifest)}); repeat that run to finish it, "
                "or remove the folder to begin anew"
            )

    def write(self, name: str, header: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> Path:
        path = self.path / f"{name}.part"
        write_file(path, FORMAT, VERSION, header, tensors)
        return path

    def read(self, name: str, only: Collection[str] | None = None) -> StoredFile | None:
        """A part, or some of its tensors; None if there is no such part."""
        path = self.path / f"{name}.part"
        if not path.exists():
            return None
        try:
            return read_file(path, FORMAT, VERSION, only)
        except FormatError as error:
            raise FormatError(f"{error}; remove this file and run again") from None

    def remove(self) -> None:
        self.close()
        shutil.rmtree(self.path, ignore_errors=True)

    def close(self) -> None:
        """Leave the folder to the next run; one in which nothing is done yet does not stay."""
        if self.path.is_dir() and {path.name for path in self.path.iterdir()} <= {_MANIFEST, _LOCK}:
            shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()


def _is_bare(path: Path) -> bool:
    """Whether a folder holds nothing but what a run leaves that is killed as soon as it begins."""
    return all(each.name == _LOCK or each.name.startswith(f".{_MANIFEST}.") for each in path.iterdir())


def _difference(stored: Any, wanted: Any, at: str = "") -> str:
    """Where two manifests differ first, in words."""
    if isinstance(stored, dict) and isinstance(wanted, dict):
        for key in sorted({*stored, *wanted}):
            if stored.get(key) != wanted.get(key):
                return _difference(stored.get(key), wanted.get(key), f"{at} {key}".strip())
    if isinstance(stored, list) and isinstance(wanted, list):
        if len(stored) != len(wanted):
            return f"{at}: {len(stored)} there, {len(wanted)} here"
        for one, two in zip(stored, wanted, strict=True):
            if one != two:
                return _difference(one, two, f"{at} {one[0]}" if isinstance(one, list) and one else at)
    return f"{at}: {stored!r} there, {wanted!r} here"
