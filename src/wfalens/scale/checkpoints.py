"""What a run has done so far: named parts, in a folder from which a stopped run goes on, or in memory.

A folder's manifest tells what the run is about, so that no other run goes on with it; a part is one file, written
atomically.
"""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import FormatError, InputError
from wfalens.storage import SlicedFile, StoredFile, Tensors, read_file, verify_file, write_atomically, write_file

FORMAT, VERSION = "part", 3
_MANIFEST, _LOCK, _ENDING = "manifest.json", "lock", ".part"


class Slices(Protocol):
    """Lists of whole numbers in a part, read a stretch at a time."""

    def size(self, name: str) -> int: ...

    def slices(self, wanted: Iterable[tuple[str, int, int]]) -> list[NDArray[np.integer]]:
        """Stretches of lists: name, first entry, and the one behind the last."""
        ...


class Parts(Protocol):
    """Named parts; each has a header and tensors."""

    resumed: bool  # whether an earlier run left some

    def write(self, name: str, header: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> None: ...

    def read(self, name: str, only: Collection[str] | None = None) -> StoredFile | None:
        """A part, or some of its tensors; None if there is no such part."""
        ...

    def sliced(self, name: str) -> Slices:
        """The lists of a part that is there."""
        ...

    def verify(self, name: str) -> None:
        """See that a part is as it was written, all of it; for those that are then read a stretch at a time."""
        ...

    def names(self, beginning: str) -> list[str]:
        """All parts whose names begin so, sorted."""
        ...

    def bytes(self, name: str) -> int: ...

    def remove(self, name: str) -> None: ...

    def close(self) -> None: ...


class HeldParts:
    """Parts in memory: nothing stays when the run ends."""

    resumed = False

    def __init__(self) -> None:
        self._parts: dict[str, StoredFile] = {}

    def write(self, name: str, header: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> None:
        self._parts[name] = StoredFile(Path(name), dict(header), dict(tensors))

    def read(self, name: str, only: Collection[str] | None = None) -> StoredFile | None:  # noqa: ARG002
        return self._parts.get(name)

    def sliced(self, name: str) -> Slices:
        return _HeldSlices(self._parts[name].tensors)

    def verify(self, name: str) -> None:
        """What is in memory is as it was."""

    def names(self, beginning: str) -> list[str]:
        return sorted(name for name in self._parts if name.startswith(beginning))

    def bytes(self, name: str) -> int:
        return sum(tensor.nbytes for tensor in self._parts[name].tensors.values())

    def remove(self, name: str) -> None:
        del self._parts[name]

    def close(self) -> None:
        self._parts.clear()


class _HeldSlices:
    def __init__(self, tensors: Tensors) -> None:
        self._tensors = tensors

    def size(self, name: str) -> int:
        return len(self._tensors[name])

    def slices(self, wanted: Iterable[tuple[str, int, int]]) -> list[NDArray[np.integer]]:
        return [self._tensors[name][first:behind] for name, first, behind in wanted]


class PartsFolder:
    """Parts as files of a folder; only one run at a time may have it."""

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
        _take(self._lock, path)
        self._check(json.loads(json.dumps(manifest)))
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
            raise InputError(f"{file} is damaged; remove {self.path} to begin anew") from None
        if stored != manifest:
            raise InputError(
                f"{self.path} belongs to another run ({_difference(stored, manifest)}); repeat that run to finish it, "
                "or remove the folder to begin anew"
            )

    def write(self, name: str, header: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> None:
        write_file(self._path(name), FORMAT, VERSION, header, tensors)

    def read(self, name: str, only: Collection[str] | None = None) -> StoredFile | None:
        path = self._path(name)
        if not path.exists():
            return None
        with _advice():
            return read_file(path, FORMAT, VERSION, only)

    def sliced(self, name: str) -> Slices:
        return SlicedFile(self._path(name))

    def verify(self, name: str) -> None:
        with _advice():
            verify_file(self._path(name), FORMAT, VERSION)

    def names(self, beginning: str) -> list[str]:
        return sorted(path.name.removesuffix(_ENDING) for path in self.path.glob(f"{beginning}*{_ENDING}"))

    def bytes(self, name: str) -> int:
        return self._path(name).stat().st_size

    def remove(self, name: str) -> None:
        self._path(name).unlink(missing_ok=True)

    def close(self) -> None:
        """Leave the folder to the next run; one in which nothing is done yet does not stay."""
        if self.path.is_dir() and {path.name for path in self.path.iterdir()} <= {_MANIFEST, _LOCK}:
            shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()

    def _path(self, name: str) -> Path:
        return self.path / f"{name}{_ENDING}"


@contextmanager
def _advice() -> Iterator[None]:
    """Say what to do about a damaged part."""
    try:
        yield
    except FormatError as error:
        raise FormatError(f"{error}; remove this file and run again") from None


def _take(lock: IO[str], path: Path) -> None:
    """Lock a folder for this run; the lock ends with the process."""
    try:
        import fcntl
    except ImportError:
        raise InputError("this system has no file locks, which a folder of parts needs; run without one") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            raise InputError(f"another run is using {path}; wait for it, or give another output") from None
        raise InputError(
            f"{path} lies on a disk without file locks ({error.strerror or error}); put the output on another disk"
        ) from None


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
