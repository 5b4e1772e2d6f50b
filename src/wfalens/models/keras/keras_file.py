"""A Keras file (.h5 or .keras) without Keras: the layers that it names, one after the other, and their weights."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import FormatError, InputError, MissingDependencyError, ModelError
from wfalens.messages import quoted, reason_of
from wfalens.models.preprocessing import Preprocessing
from wfalens.text.encoder import LEFT

ENDINGS = (".h5", ".hdf5", ".keras")
_CONFIG, _METADATA, _WEIGHTS = "config.json", "metadata.json", "model.weights.h5"
_PLACES = ("cell/vars", "vars")  # of weights within a layer
_MOST_BYTES = 1 << 34  # of one file within an archive


@dataclass(frozen=True)
class Layer:
    """A layer as it was saved."""

    kind: str
    name: str
    config: Mapping[str, Any]
    weights: tuple[NDArray[Any], ...]


@dataclass(frozen=True)
class StoredModel:
    """What a file holds: the configuration, and the layers where they stand in a row (else None)."""

    path: Path
    config: Mapping[str, Any]
    version: str  # of Keras
    layers: tuple[Layer, ...] | None

    @property
    def fingerprint(self) -> str:
        """A hash of the weights, the same whenever and under whatever names they were saved."""
        digest = hashlib.sha256()
        for layer in self.layers or ():
            digest.update(layer.kind.encode())
            for array in layer.weights:
                digest.update(f"{array.shape}{array.dtype}".encode())
                digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]

    @property
    def is_old(self) -> bool:
        """Whether Keras 1 or 2 wrote it, whose hard_sigmoid is another function than that of Keras 3."""
        return not self.version.startswith("3")

    @property
    def width(self) -> int | None:
        """How many words the first layer reads, where that is fixed."""
        for layer in self.layers or ():
            shape = layer.config.get("batch_shape") or layer.config.get("batch_input_shape")
            if isinstance(shape, list) and len(shape) == 2 and isinstance(shape[1], int):
                return shape[1]
        return None

    def checked_side(self, read: Preprocessing, width: int | None) -> str:
        """The side on which texts are padded to a fixed width, refused if it is not given."""
        if width is not None and read.padding_side is None:
            raise InputError(
                f"{self.path} reads texts padded to {width} words; say in its preprocessing on which side they are "
                'padded ("padding_side": "left" after pad_sequences with its defaults, which also truncates on the '
                'left: "truncation_side": "left")',
                code="padding-side-needed",
            )
        return read.padding_side or LEFT

    def check_rows(self, read: Preprocessing, rows: int | None = None) -> None:
        """Refuse more words than the model has vectors for."""
        found = (layer.weights[0].shape[0] for layer in self.layers or () if layer.kind == "Embedding")
        rows = next(found, None) if rows is None else rows
        if rows is not None and len(read.words) > rows:
            raise ModelError(
                f"{self.path} has vectors for {rows:,} words, but its preprocessing lists {len(read.words):,}: they "
                "are not the words of this model",
                code="vocabulary-size",
            )

    @property
    def kinds(self) -> set[str]:
        """The classes of all layers, nested ones too."""
        return set(_class_names(self.config))


def read_keras(path: str | Path) -> StoredModel:
    """Read a whole model; a file of weights alone, or of something else, is refused."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    with _opened(path) as (config, version, file):
        return StoredModel(path, config, version, _layers(config, file))


@contextmanager
def _opened(path: Path) -> Iterator[tuple[dict[str, Any], str, Any]]:
    """The configuration, the version of Keras, and the file of weights."""
    try:
        import h5py
    except ImportError:
        raise MissingDependencyError("h5py", "keras") from None
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive, h5py.File(io.BytesIO(_member(archive, _WEIGHTS)), "r") as file:
                about = json.loads(_member(archive, _METADATA))
                yield _config(path, _member(archive, _CONFIG)), str(about.get("keras_version", "3")), file
        else:
            with h5py.File(path, "r") as file:
                version = _text(file.attrs.get("keras_version", "2"))
                yield _config(path, file.attrs.get("model_config")), version, file
    except FormatError:
        raise
    except (OSError, KeyError, ValueError, AttributeError, zipfile.BadZipFile, RuntimeError) as error:
        raise FormatError(f"{path}: not a model that Keras has saved ({reason_of(error)})") from None


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    if archive.getinfo(name).file_size > _MOST_BYTES:
        raise OSError(f"{name} is too large")
    return archive.read(name)


def _config(path: Path, stored: object) -> dict[str, Any]:
    if stored is None:
        raise FormatError(f"{path}: no model in it, at most its weights; save the whole model (model.save)")
    try:
        config = json.loads(stored)  # type: ignore[arg-type]
    except (ValueError, TypeError, RecursionError):
        config = None
    if not isinstance(config, dict) or not isinstance(config.get("class_name"), str):
        raise FormatError(f"{path}: its configuration is not that of a Keras model")
    return config


def _layers(config: Mapping[str, Any], file: Any) -> tuple[Layer, ...] | None:
    """The layers in their order, None unless each reads the one before."""
    stored = config.get("config")
    listed = stored.get("layers") if isinstance(stored, dict) else stored  # a list in files of Keras 1
    if not isinstance(listed, list) or not all(_is_layer(each) for each in listed):
        return None
    if config["class_name"] != "Sequential" and not _in_a_row(listed):
        return None
    weights = _legacy_weights if "model_weights" in file else _numbered_weights
    found = weights(listed, file)
    return tuple(
        Layer(each["class_name"], _name(each), each["config"], arrays)
        for each, arrays in zip(listed, found, strict=True)
    )


def _is_layer(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    return isinstance(entry.get("class_name"), str) and isinstance(entry.get("config"), dict)


def _in_a_row(listed: list[dict[str, Any]]) -> bool:
    names = [_name(each) for each in listed]
    parents = [set(_histories(each.get("inbound_nodes", []))) for each in listed]
    return not parents[0] and all(parents[at] == {names[at - 1]} for at in range(1, len(names)))


def _name(entry: Mapping[str, Any]) -> str:
    return str(entry["config"].get("name") or entry.get("name"))


def _histories(node: Any) -> Iterator[str]:
    """The names of the layers that a node reads, in the old notation or in that of Keras 3."""
    if isinstance(node, dict):
        history = node.get("keras_history")
        if isinstance(history, list) and history:
            yield str(history[0])
        for value in node.values():
            yield from _histories(value)
    elif isinstance(node, list):
        if len(node) >= 3 and isinstance(node[0], str) and isinstance(node[1], int):
            yield node[0]
        else:
            for value in node:
                yield from _histories(value)


def _legacy_weights(listed: list[dict[str, Any]], file: Any) -> Iterator[tuple[NDArray[Any], ...]]:
    """By the names that every layer's group lists."""
    for each in listed:
        group = file["model_weights"].get(_name(each))
        names = [] if group is None else group.attrs.get("weight_names", [])
        yield tuple(np.asarray(group[_text(name)]) for name in names)


def _numbered_weights(listed: list[dict[str, Any]], file: Any) -> Iterator[tuple[NDArray[Any], ...]]:
    """In a .keras file layers are called by their class, with a number for all but the first of it."""
    seen: Counter[str] = Counter()
    for each in listed:
        kind = _snake(each["class_name"])
        name = f"{kind}_{seen[kind]}" if seen[kind] else kind
        seen[kind] += 1
        group = file.get(f"layers/{name}")
        held = [] if group is None else [group[place] for place in _PLACES if place in group]
        yield tuple(np.asarray(part[key]) for part in held for key in sorted(part, key=int))


def _snake(kind: str) -> str:
    parted = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", kind))
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", parted).lower()


def _text(name: object) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)


def _class_names(config: Any) -> Iterator[str]:
    if isinstance(config, dict):
        if isinstance(config.get("class_name"), str):
            yield config["class_name"]
        for value in config.values():
            yield from _class_names(value)
    elif isinstance(config, list):
        for value in config:
            yield from _class_names(value)


def check_layer(path: Path, layer: Layer, *shapes: tuple[int | None, ...]) -> None:
    """Refuse a layer whose weights are not of the given shapes (None: any size)."""
    got = [array.shape for array in layer.weights]
    fits = len(got) == len(shapes) and all(
        len(one) == len(other) and all(size in (None, real) for real, size in zip(one, other, strict=True))
        for one, other in zip(got, shapes, strict=True)
    )
    if not fits or not all(np.all(np.isfinite(array)) for array in layer.weights):
        raise FormatError(f"{path}: the weights of the layer {quoted(layer.name)} do not fit its configuration")
