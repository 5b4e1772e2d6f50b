"""A Keras file (.h5 or .keras): the layers and weights that it names, without Keras, and the model run by Keras 3.

What Keras 3 no longer understands in files of older versions is replaced before it reads them.
"""

from __future__ import annotations

import importlib.util
import io
import json
import os
import re
import shutil
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import FormatError, InputError, naming_extras, opening
from wfalens.memory import check_in_use
from wfalens.messages import quoted, reason_of
from wfalens.models.contract import fingerprint_of
from wfalens.models.preprocessing import Preprocessing
from wfalens.models.preprocessing_options import BINARY, LOGITS, PROBABILITIES
from wfalens.text.encoder import LEFT

ENDINGS = (".h5", ".hdf5", ".keras")
ACTIVATED_OUTPUTS = {"softmax": PROBABILITIES, "sigmoid": BINARY, "linear": LOGITS}  # by the last activation
_CONFIG, _METADATA, _WEIGHTS = "config.json", "metadata.json", "model.weights.h5"
_PLACES = ("cell/vars", "vars")  # of weights within a layer
_BYTES_IN_USE = 10  # for every byte of weights: copies by the readers, and what one batch takes
_MOST_WORDS, _MOST_LAYERS = 1 << 16, 2000
_CODE = {"Lambda", "TFOpLambda", "SlicingOpLambda", "TorchModuleWrapper", "TFSMLayer", "JaxLayer", "FlaxLayer"}
_OTHER_FILES = {"StringLookup", "IntegerLookup", "IndexLookup", "TextVectorization"}  # that name a vocabulary's file
_SHAPE = "batch_input_shape"
_REMOVED = ("time_major", "implementation", "input_length", _SHAPE)  # which Keras 3 refuses, or takes amiss


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
        layers = ((layer.kind, *weight_parts(layer.weights)) for layer in self.layers or ())
        return fingerprint_of(*chain.from_iterable(layers))

    @property
    def is_old(self) -> bool:
        """Whether Keras 1 or 2 wrote it, whose hard_sigmoid is another function than that of Keras 3."""
        return not self.version.startswith("3")

    @property
    def width(self) -> int | None:
        """How many words the first layer reads, where that is fixed."""
        for layer in self.layers or ():
            shape = layer.config.get("batch_shape") or layer.config.get(_SHAPE)
            if isinstance(shape, list) and len(shape) == 2 and isinstance(shape[1], int):
                if not 0 < shape[1] <= _MOST_WORDS:
                    raise FormatError(f"{self.path}: it reads texts of {shape[1]:.6g} words", code="too-large")
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


def weight_parts(weights: Iterable[NDArray[Any]]) -> list[str | bytes]:
    """What a fingerprint of weights is made of; their names, which count up within a process, are left out."""
    return [part for array in weights for part in (f"{array.shape}{array.dtype}", array.tobytes())]


def read_keras(path: str | Path) -> StoredModel:
    """Read a whole model; a file of weights alone, or of something else, is refused."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    with _opened(path) as (config, version, file):
        return StoredModel(path, config, version, _layers(path, config, file))


@contextmanager
def _opened(path: Path) -> Iterator[tuple[dict[str, Any], str, Any]]:
    """The configuration, the version of Keras, and the file of weights."""
    with naming_extras():
        import h5py
    with opening(path, "a model that Keras has saved"):
        if zipfile.is_zipfile(path):
            with (
                zipfile.ZipFile(path) as archive,
                h5py.File(io.BytesIO(_member(path, archive, _WEIGHTS)), "r") as file,
            ):
                _check_contained(path, file)
                about = json.loads(_member(path, archive, _METADATA))
                yield _config(path, _member(path, archive, _CONFIG)), str(about.get("keras_version", "3")), file
        else:
            with h5py.File(path, "r") as file:
                _check_contained(path, file)
                version = _text(file.attrs.get("keras_version", "2"))
                yield _config(path, file.attrs.get("model_config")), version, file


def _member(path: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    check_in_use(_BYTES_IN_USE * archive.getinfo(name).file_size, path.stat().st_size, path)
    return archive.read(name)


def _check_contained(path: Path, file: Any) -> None:
    """Refuse a file whose weights lie in other files, or that claims far more of them than it holds."""
    import h5py

    seen, groups, claimed = set[int](), [file], 0
    while groups:
        group = groups.pop()
        for name in group:
            if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                raise _foreign_file(path, name, "a link")
            item = group[name]
            address = h5py.h5o.get_info(item.id).addr
            if address in seen:
                continue
            seen.add(address)
            if isinstance(item, h5py.Group):
                groups.append(item)
            elif isinstance(item, h5py.Dataset):
                if item.external or item.is_virtual:
                    raise _foreign_file(path, name, "a view of another file")
                claimed += item.nbytes
    check_in_use(_BYTES_IN_USE * claimed, path.stat().st_size, path)


def _foreign_file(path: Path, name: str, kind: str) -> InputError:
    return InputError(f"{path}: {quoted(name)} is {kind}; only weights in the file are read", code="foreign-file")


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


def _layers(path: Path, config: Mapping[str, Any], file: Any) -> tuple[Layer, ...] | None:
    """The layers in their order, None unless each reads the one before."""
    stored = config.get("config")
    listed = stored.get("layers") if isinstance(stored, dict) else stored  # a list in files of Keras 1
    if not isinstance(listed, list) or not all(_is_layer(each) for each in listed):
        return None
    if len(listed) > _MOST_LAYERS:
        raise FormatError(f"{path}: it has {len(listed):,} layers", code="too-large")
    if config["class_name"] != "Sequential" and not _in_a_row(listed):
        return None
    weights = _legacy_weights if "model_weights" in file else _numbered_weights
    layers, read = list[Layer](), 0
    for each, arrays in zip(listed, weights(listed, file), strict=True):
        read += sum(array.nbytes for array in arrays)  # several layers may name the same weights
        check_in_use(_BYTES_IN_USE * read, path.stat().st_size, path)
        layers.append(Layer(each["class_name"], _name(each), each["config"], arrays))
    return tuple(layers)


def _is_layer(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    return isinstance(entry.get("class_name"), str) and isinstance(entry.get("config"), dict)


def _in_a_row(listed: list[dict[str, Any]]) -> bool:
    """Whether every layer reads the one before it, and no other."""
    names = [_name(each) for each in listed]
    parents = [set(_values(each.get("inbound_nodes"), str)) & set(names) for each in listed]
    return not parents[0] and all(parents[at] == {names[at - 1]} for at in range(1, len(names)))


def _name(entry: Mapping[str, Any]) -> str:
    return str(entry["config"].get("name") or entry.get("name"))


def _values(config: Any, kind: type) -> Iterator[Any]:
    """All values of a type within a configuration, nested ones too."""
    if isinstance(config, kind):
        yield config
    inner = config.values() if isinstance(config, dict) else config if isinstance(config, list) else ()
    for value in inner:
        yield from _values(value, kind)


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


def load_in_keras(stored: StoredModel) -> Any:
    """The model of a file, run by Keras 3; layers that are code are refused."""
    for kind in {str(each.get("class_name")).rpartition(">")[2] for each in _values(stored.config, dict)}:
        if kind in _CODE | _OTHER_FILES:
            risk = "is code that would run" if kind in _CODE else "reads other files"
            raise InputError(
                f"{stored.path}: the model has a layer of the kind {kind}, which {risk}; load it yourself in Python "
                "and wrap the model",
                code="lambda-layer",
            )
    is_open = "KERAS_BACKEND" not in os.environ and "keras" not in sys.modules
    if is_open and importlib.util.find_spec("tensorflow") is None:
        os.environ["KERAS_BACKEND"] = "torch"
    with naming_extras():
        import keras
    with tempfile.TemporaryDirectory() as folder:
        path = _migrated(stored, Path(folder))
        try:
            model = keras.models.load_model(path, compile=False, safe_mode=True)
        except Exception as error:  # Keras has many
            raise FormatError(f"{stored.path}: Keras cannot load the model ({reason_of(error)})") from None
    if stored.is_old:
        _old_activations(model)
    return model


def last_activation(model: Any, path: Path) -> str:
    """What the last layer gives, as the name of a readout."""
    activation = getattr(model.layers[-1], "activation", None)
    found = ACTIVATED_OUTPUTS.get(getattr(activation, "__name__", ""))
    if found is None:
        raise InputError(
            f"{path}: what its last layer gives is not known; say probabilities, logits or binary in its preprocessing "
            '("outputs")'
        )
    return found


def _migrated(stored: StoredModel, folder: Path) -> Path:
    """The file itself, or a copy whose configuration Keras 3 understands."""
    config = _modern(stored.config)
    if config == stored.config:
        return stored.path
    copy = folder / stored.path.name
    text = json.dumps(config)
    if zipfile.is_zipfile(stored.path):
        with zipfile.ZipFile(stored.path) as old, zipfile.ZipFile(copy, "w") as new:
            for name in old.namelist():
                new.writestr(name, text if name == _CONFIG else old.read(name))
    else:
        import h5py

        shutil.copyfile(stored.path, copy)
        with h5py.File(copy, "r+") as file:
            file.attrs["model_config"] = text
    return copy


def _modern(config: Any) -> Any:
    """A configuration without options that Keras 3 refuses, and with the input layer that it expects."""
    if isinstance(config, list):
        return [_modern(each) for each in config]
    if not isinstance(config, Mapping):
        return config
    if config.get("class_name") == "InputLayer":
        return config
    if config.get("class_name") == "Sequential":
        config = _with_input(config)
    return {name: _modern(value) for name, value in config.items() if name not in _REMOVED}


def _with_input(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """A sequence of layers with the input layer in front that old files leave out."""
    inner = config["config"] if isinstance(config["config"], dict) else {"layers": config["config"]}
    first = inner["layers"][0]
    shape = first["config"].get(_SHAPE)
    if first["class_name"] == "InputLayer" or shape is None:
        return config
    front = {"class_name": "InputLayer", "config": {"batch_shape": shape, "dtype": "int32", "name": "table"}}
    return {**config, "config": {**inner, "layers": [front, *inner["layers"]]}}


def _old_activations(model: Any) -> None:
    """Before Keras 3, hard_sigmoid had the slope 1/5; since then it has 1/6."""
    from keras import ops

    def old_hard_sigmoid(values: Any) -> Any:
        return ops.clip(0.2 * values + 0.5, 0.0, 1.0)

    for layer in model.layers:
        owner = getattr(layer, "cell", layer)
        for name in ("activation", "recurrent_activation"):
            if getattr(getattr(owner, name, None), "__name__", "") == "hard_sigmoid":
                setattr(owner, name, old_hard_sigmoid)
