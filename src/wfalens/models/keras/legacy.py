"""Keras 3 for files that older versions wrote: what it no longer understands is replaced before it reads them."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wfalens.errors import FormatError, InputError, MissingDependencyError
from wfalens.messages import reason_of
from wfalens.models.keras.keras_file import StoredModel

_CODE = {"Lambda", "TFOpLambda", "SlicingOpLambda"}
_READOUTS = {"softmax": "probabilities", "sigmoid": "binary", "linear": "logits"}
_TABLE = "batch_input_shape"
_FORGOTTEN = ("time_major", "implementation", "input_length", _TABLE)  # which Keras 3 refuses, or takes amiss


def load_old(stored: StoredModel) -> Any:
    """The model of a file, run by Keras 3; layers that are code are refused."""
    if stored.kinds & _CODE:
        raise InputError(
            f"{stored.path}: the model has a Lambda layer, which is code that would run; load it yourself in Python "
            "and wrap the model",
            code="lambda-layer",
        )
    is_open = "KERAS_BACKEND" not in os.environ and "keras" not in sys.modules
    if is_open and importlib.util.find_spec("tensorflow") is None:
        os.environ["KERAS_BACKEND"] = "torch"
    try:
        import keras
    except ImportError:
        raise MissingDependencyError("keras", "keras") from None
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
    found = _READOUTS.get(getattr(activation, "__name__", ""))
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
                new.writestr(name, text if name == "config.json" else old.read(name))
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
    return {name: _modern(value) for name, value in config.items() if name not in _FORGOTTEN}


def _with_input(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """A sequence of layers with the input layer in front that old files leave out."""
    inner = config["config"] if isinstance(config["config"], dict) else {"layers": config["config"]}
    first = inner["layers"][0]
    shape = first["config"].get(_TABLE)
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
