"""Files of tensors with a JSON header: written atomically, read without executing anything.

Every tensor and the header have a CRC-32, so that a bit that changed on the disk or on the way is noticed when the file
is read. They guard against accidents, not against people: readers still check the content.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from stat import S_IMODE
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from wfalens.errors import FormatError, InputError, WfalensError
from wfalens.messages import LONGEST_REASON, quoted, reason_of, shortened

Tensors = dict[str, NDArray[Any]]
# safetensors keeps its metadata in no fixed order: one single entry, so that equal content gives equal bytes
_METADATA = "wfalens"
_TENSOR_SUMS, _HEADER_SUM = "checksums", "checksum"  # header entries
_DTYPES = ("U8", "U16", "U32", "U64", "I8", "I16", "I32", "I64", "F32", "F64")  # as safetensors calls them
_MOST = 1e30


def write_file(
    path: str | Path, kind: str, version: int, header: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]
) -> None:
    arrays = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    sums = {name: _checksum(array) for name, array in arrays.items()}
    entries = {**header, "format": kind, "version": version, _TENSOR_SUMS: sums}
    entries = json.loads(json.dumps(entries))  # as a reader sees it: all keys are texts
    text = _dumped({**entries, _HEADER_SUM: _header_checksum(entries)})
    write_atomically(Path(path), save(arrays, {_METADATA: text}))


def compact(array: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in the smallest unsigned type that holds them exactly, else as they are."""
    top = array.max(initial=0)
    if array.dtype.kind == "f" and (top > np.iinfo(np.uint32).max or not np.array_equal(array, np.trunc(array))):
        return array
    return array.astype(np.min_scalar_type(int(top)))


@dataclass(frozen=True)
class StoredFile:
    """The content of a file, with accessors that check what they hand out."""

    path: Path
    header: dict[str, Any]
    tensors: Tensors

    def fail(self, reason: str) -> FormatError:
        return _damaged(self.path, reason)

    def part(self, name: str, common: Collection[str] = ()) -> StoredFile:
        """What is stored under a name, as a file: a header entry, with common ones, and the tensors `name.…`."""
        fields = self.field(name, dict) | {each: self.header[each] for each in common if each in self.header}
        start = f"{name}."
        tensors = {each.removeprefix(start): part for each, part in self.tensors.items() if each.startswith(start)}
        return StoredFile(self.path, fields, tensors)

    def without(self, name: str) -> StoredFile:
        """The file without what is stored under a name."""
        header = {each: value for each, value in self.header.items() if each != name}
        tensors = {each: part for each, part in self.tensors.items() if not each.startswith(f"{name}.")}
        return StoredFile(self.path, header, tensors)

    def tensor(self, name: str, kinds: str, ndim: int = 1) -> NDArray[Any]:
        """A tensor of a dtype kind among `kinds` (numpy's letters: i, u, f) and with finite values."""
        if name not in self.tensors:
            raise self.fail(f"the tensor {name!r} is missing")
        array = self.tensors[name]
        if array.dtype.kind not in kinds or array.ndim != ndim:
            raise self.fail(f"the tensor {name!r} is {array.dtype} with {array.ndim} axes")
        if array.dtype.kind == "f" and not np.all(np.isfinite(array)):
            raise self.fail(f"the tensor {name!r} holds NaN or infinite values")
        return array

    def field(self, name: str, kind: type | tuple[type, ...]) -> Any:
        value = self.header.get(name)
        if not isinstance(value, kind):
            raise self.fail(f"the header entry {name!r} is missing or of the wrong type")
        return value

    def number(self, name: str) -> float:
        """A finite number of the header."""
        value: Any = self.header.get(name)
        if type(value) not in (int, float) or not -_MOST <= value <= _MOST:
            raise self.fail(f"the header entry {name!r} is not a number of reasonable size")
        return float(value)

    def class_names(self) -> tuple[str, ...]:
        names = self.field("class_names", list)
        if len(names) < 2 or not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
            raise self.fail("the class names are not at least two different strings")
        return tuple(names)


def read_file(path: str | Path, kind: str, version: int, only: Collection[str] | None = None) -> StoredFile:
    """The header and the tensors of a file, or some of them; what is read must have its checksum, where it has one."""
    path = Path(path)
    with _opened(path) as handle:
        header = json.loads((handle.metadata() or {}).get(_METADATA, "null"))
        if not isinstance(header, dict) or header.get("format") != kind:
            found = header.get("format") if isinstance(header, dict) else None
            hint = f"it holds {quoted(str(found))}" if found else "it has no wfalens header"
            raise FormatError(f"{path}: not a .{kind} file: {hint}")
        names = set(handle.keys())
        sums = _header_sums(path, header, names)
        if type(header.get("version")) is not int or header["version"] != version:
            found = quoted(str(header.get("version")))
            raise FormatError(f"{path}: format version {found}, but this wfalens reads version {version}")
        tensors: Tensors = {}
        for name in sorted(names if only is None else names & set(only)):
            _check_described(path, handle, name)
            tensors[name] = handle.get_tensor(name)
            if sums is not None and _checksum(tensors[name]) != sums[name]:
                raise _changed(path, f"the tensor {name!r}")
    return StoredFile(path, header, tensors)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The file as safetensors sees it; what it finds wrong is one sentence."""
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    try:
        with safe_open(path, framework="numpy") as handle:
            yield handle
    except WfalensError:
        raise
    except (SafetensorError, OSError, ValueError, TypeError, RecursionError) as error:
        raise _damaged(path, reason_of(error)) from None


def _check_described(path: Path, handle: Any, name: str) -> None:
    """Refuse a tensor of a type or shape that nothing has that wfalens writes."""
    view = handle.get_slice(name)
    if view.get_dtype() not in _DTYPES:
        raise _damaged(path, f"the tensor {name!r} is of type {view.get_dtype()}; known: {', '.join(_DTYPES)}")
    shape = tuple(view.get_shape())
    if max(shape, default=0) > path.stat().st_size:  # one axis of length 0 allows any length for the others
        raise _damaged(path, f"the tensor {name!r} has the shape {shape}, more than the file holds")


def _header_sums(path: Path, header: dict[str, Any], names: set[str]) -> dict[str, int] | None:
    """The checksums of the tensors, None in a file that was written without; the header must have its own."""
    found, sums = header.pop(_HEADER_SUM, None), header.get(_TENSOR_SUMS)
    if found is None and sums is None:
        return None
    if found != _header_checksum(header) or not isinstance(sums, dict) or sums.keys() != names:
        raise _changed(path, "the header")
    del header[_TENSOR_SUMS]
    return sums


def _header_checksum(header: Mapping[str, Any]) -> int:
    return zlib.crc32(_dumped(header).encode("utf-8", "surrogatepass"))


def _dumped(header: Mapping[str, Any]) -> str:
    return json.dumps(header, ensure_ascii=False, sort_keys=True)


def _checksum(array: NDArray[Any]) -> int:
    """CRC-32 of the type, the shape and the content; array: contiguous"""
    return zlib.crc32(array.reshape(-1).view(np.uint8).data, zlib.crc32(f"{array.dtype.str}{array.shape}".encode()))


def _damaged(path: Path, reason: str) -> FormatError:
    return FormatError(f"{path}: damaged or not made by wfalens: {shortened(reason, LONGEST_REASON)}")


def _changed(path: Path, what: str) -> FormatError:
    return FormatError(f"{path}: damaged: {what} changed since the file was written")


def file_text(path: Path) -> str:
    """What a file holds; a device or a pipe may have no end, and is refused."""
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is no regular file", code="special-file")
    return path.read_text("utf-8")


def write_atomically(path: Path, blob: bytes) -> None:
    """Write to a temporary name beside `path`, then rename: a reader sees the old file or the new one.

    A file that is there keeps its permissions, and a link stays: the file that it stands for is written.
    """
    path = _linked(path)
    remove_abandoned(path)
    temporary = _temporary(path)
    try:
        with temporary.open("xb") as stream:
            if path.exists() and os.name == "posix":
                os.fchmod(stream.fileno(), S_IMODE(path.stat().st_mode))
            stream.write(blob)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        raise _refused(path, error) from None
    finally:
        _removed(temporary)


def check_writable(path: Path) -> None:
    """Refuse a file that `write_atomically` could not write: its temporary file is made, and removed again."""
    temporary = _temporary(_linked(path))
    try:
        temporary.open("xb").close()
    except OSError as error:
        raise _refused(path, error) from None
    finally:
        _removed(temporary)


def _linked(path: Path) -> Path:
    """The file that a link stands for, else the path itself."""
    try:
        return path.resolve() if path.is_symlink() else path
    except (OSError, RuntimeError) as error:  # links in a circle
        raise InputError(f"cannot write {path}: {error}") from None


def remove_abandoned(path: Path) -> None:
    """Remove the temporary files of `path` that processes of this machine left behind when they were killed."""
    ours = re.compile(rf"\.{re.escape(path.name)}\.{_machine()}-(\d+)\.[0-9a-f]+\.part")
    with suppress(OSError), os.scandir(path.parent) as entries:  # a folder that cannot be read: writing reports it
        for entry in entries:
            found = ours.fullmatch(entry.name)
            if found and not _is_alive(int(found[1])):
                _removed(Path(entry.path))


def _temporary(path: Path) -> Path:
    """A name that shows its writer: only files of dead processes may be removed, and only by their own machine."""
    return path.with_name(f".{path.name}.{_machine()}-{os.getpid()}.{secrets.token_hex(4)}.part")


@cache
def _machine() -> str:
    from platform import node

    return sha256(node().encode("utf-8", "replace")).hexdigest()[:8]


def _is_alive(process: int) -> bool:
    if os.name != "posix":  # elsewhere asking with signal 0 would end the process
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True  # it belongs to somebody else
    return True


def _removed(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)


def _refused(path: Path, error: OSError) -> InputError:
    return InputError(f"cannot write {path}: {error.strerror or error}")
