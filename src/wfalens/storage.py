"""Files of tensors with a JSON header: written atomically, read without executing anything."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from wfalens.corpus.encoder import CUSTOM, TextEncoder
from wfalens.corpus.tokenizers import Tokenizer
from wfalens.corpus.vocabulary import Vocabulary
from wfalens.errors import FormatError, InputError, WfalensError
from wfalens.ragged import Ragged
from wfalens.writing import write_atomically

Tensors = dict[str, NDArray[Any]]
# safetensors keeps its metadata in no fixed order: one single entry, so that equal content gives equal bytes
_METADATA = "wfalens"
_MOST = 1e30


def write_file(
    path: str | Path, kind: str, version: int, header: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]
) -> None:
    text = json.dumps({**header, "format": kind, "version": version}, ensure_ascii=False, sort_keys=True)
    arrays = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
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
        return FormatError(f"{self.path}: damaged or not made by wfalens: {reason}")

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

    def number(self, fields: Mapping[str, Any], name: str) -> float:
        """A finite number of the header or of a part of it."""
        value: Any = fields.get(name)
        if type(value) not in (int, float) or not -_MOST <= value <= _MOST:
            raise self.fail(f"the header entry {name!r} is not a number of reasonable size")
        return float(value)

    def class_names(self) -> tuple[str, ...]:
        names = self.field("class_names", list)
        if len(names) < 2 or not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
            raise self.fail("the class names are not at least two different strings")
        return tuple(names)


def read_file(path: str | Path, kind: str, version: int, only: Collection[str] | None = None) -> StoredFile:
    """The header and the tensors of a file, or some of them."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    try:
        with safe_open(path, framework="numpy") as handle:
            text = (handle.metadata() or {}).get(_METADATA, "null")
            names = handle.keys()
            tensors = {name: handle.get_tensor(name) for name in names if only is None or name in only}
        header = json.loads(text)
    except (SafetensorError, OSError, ValueError, TypeError, RecursionError) as error:
        raise FormatError(f"{path}: damaged or not made by wfalens: {str(error).splitlines()[0]}") from None
    if not isinstance(header, dict) or header.get("format") != kind:
        found = header.get("format") if isinstance(header, dict) else None
        hint = f"it holds {found!r}" if found else "it has no wfalens header"
        raise FormatError(f"{path}: not a .{kind} file: {hint}")
    if type(header.get("version")) is not int or header["version"] != version:
        raise FormatError(f"{path}: format version {header.get('version')!r}, but this wfalens reads version {version}")
    return StoredFile(path, header, tensors)


def store_encoder(encoder: TextEncoder) -> tuple[dict[str, Any], Tensors]:
    """Header entries and tensors of an encoder; the words travel as one run of UTF-8 bytes."""
    spelled = encoder.vocabulary.packed.content
    header = {"tokenizer": encoder.tokenizer_name, "max_length": encoder.max_length}
    return header, {"alphabet_bytes": spelled.values, "alphabet_offsets": spelled.offsets}


def restore_encoder(file: StoredFile, tokenizer: Tokenizer | None = None) -> TextEncoder:
    """The stored encoder; a given tokenizer takes the place of a stored "custom" one."""
    values, offsets = file.tensor("alphabet_bytes", "u"), file.tensor("alphabet_offsets", "i")
    limit, stored = file.header.get("max_length"), file.field("tokenizer", str)
    if values.dtype != np.uint8:
        raise file.fail("its words are not bytes")
    if limit is not None and not (type(limit) is int and limit > 0):
        raise file.fail("max_length is not a positive number")
    try:
        spelled = Ragged(values.astype(np.uint8), offsets.astype(np.int64))
        blob, places = spelled.values.tobytes(), spelled.offsets.tolist()
        words = [blob[start:stop].decode("utf-8", "surrogatepass") for start, stop in pairwise(places)]
        return TextEncoder(Vocabulary(words), tokenizer if tokenizer and stored == CUSTOM else stored, limit)
    except (WfalensError, UnicodeDecodeError) as error:
        raise file.fail(str(error)) from None
