"""Networks of a Keras file that read whole tables: convolutions, pooling, recurrent layers in either direction.

They say what Keras says in a fraction of its time: prefixes of a text, and the pads of all texts, share their work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wfalens.models.keras.keras_file import Layer, StoredModel, check_layer
from wfalens.models.keras.keras_layers import (
    CAUSAL,
    SAME,
    VALID,
    Cell,
    Window,
    both_ends,
    both_ways,
    convolution,
    each,
    highest,
    last_state,
    recurrent,
)
from wfalens.models.keras.keras_network import table_width
from wfalens.models.keras.keras_weights import (
    CELLS,
    Dense,
    activation_of,
    cell_of,
    dense_of,
    embedding_of,
    is_usual,
    readout_of,
    said,
    tensor,
    working_layers,
)
from wfalens.models.keras.shared_work import Coded

Inner = Callable[[Coded], Coded]
Ending = Callable[[Coded], Tensor]
_WIDEST = 1 << 12  # columns of a window, and between windows
_ENDINGS: Mapping[str, Ending] = {
    "GlobalMaxPooling1D": lambda read: read.spelled.amax(1),
    "GlobalAveragePooling1D": lambda read: read.spelled.mean(1),
    "Flatten": lambda read: read.spelled.flatten(1),
}


@dataclass(frozen=True)
class TableNetwork:
    """Layers that turn sequences into sequences, one that turns them into a vector, and dense layers."""

    embedding: Tensor  # (rows, inputs)
    inner: tuple[Inner, ...]
    ending: Ending
    head: tuple[Dense, ...]
    width: int  # of its tables
    outputs: str  # what the head gives: a readout

    @torch.inference_mode()
    def table(self, ids: NDArray[np.int64]) -> NDArray[Any]:
        """What it says of whole tables, as Keras would: (batch, time) -> (batch, outputs)"""
        read = Coded(torch.from_numpy(ids), self.embedding)
        for layer in self.inner:
            read = layer(read)
        return np.asarray(said(self.ending(read), self.head).numpy())


def table_network(stored: StoredModel) -> TableNetwork | None:
    """The network of a file with tables of a fixed width whose layers are all known here, None for others."""
    layers, width = working_layers(stored), table_width(stored)
    if not layers or layers[0].kind != "Embedding" or layers[0].config.get("mask_zero") or width is None:
        return None
    end = next((at for at, layer in enumerate(layers) if _ends(layer)), None)
    outputs = None if end is None else readout_of(layers[end + 1 :], stored.is_old)
    if end is None or outputs is None:
        return None
    inner = [_inner(stored, layer) for layer in layers[1:end]]
    ending = _ending(stored, layers[end])
    if ending is None or any(layer is None for layer in inner):
        return None
    return TableNetwork(
        embedding_of(stored, layers[0]),
        tuple(layer for layer in inner if layer is not None),
        ending,
        tuple(dense_of(stored, layer) for layer in layers[end + 1 :]),
        width,
        outputs,
    )


def _ends(layer: Layer) -> bool:
    config = _both(layer)[0].config if layer.kind == "Bidirectional" else layer.config
    is_recurrent = layer.kind in CELLS or layer.kind == "Bidirectional"
    return layer.kind in _ENDINGS or (is_recurrent and not config.get("return_sequences"))


def _inner(stored: StoredModel, layer: Layer) -> Inner | None:
    if layer.kind == "Conv1D":
        return _convolution(stored, layer)
    if layer.kind == "MaxPooling1D":
        window = _window(layer, "pool_size")
        return None if window is None else highest(window)
    if layer.kind == "Dense" and activation_of(layer, "activation", stored.is_old):
        dense = dense_of(stored, layer)
        return each(lambda vectors: said(vectors, [dense]))
    cells = _cells(stored, layer)
    if cells is None:
        return None
    return both_ways(*cells) if len(cells) == 2 else recurrent(cells[0], bool(layer.config.get("go_backwards")))


def _ending(stored: StoredModel, layer: Layer) -> Ending | None:
    if layer.kind in _ENDINGS:
        return None if layer.config.get("keepdims") else _ENDINGS[layer.kind]
    cells = _cells(stored, layer)
    if cells is None:
        return None
    return both_ends(*cells) if len(cells) == 2 else last_state(cells[0], bool(layer.config.get("go_backwards")))


def _convolution(stored: StoredModel, layer: Layer) -> Inner | None:
    window, squash = _window(layer, "kernel_size"), activation_of(layer, "activation", stored.is_old)
    if window is None or squash is None or layer.config.get("groups", 1) != 1:
        return None
    filters, has_bias = layer.config["filters"], layer.config.get("use_bias", True)
    check_layer(stored.path, layer, (window.size, None, filters), *([(filters,)] if has_bias else []))
    bias = tensor(layer.weights[1]) if has_bias else torch.zeros(filters)
    return convolution(window, tensor(layer.weights[0]), bias, squash)


def _window(layer: Layer, size: str) -> Window | None:
    """None: it is described in a way that is not known here."""
    config = layer.config
    numbers = [_number(config.get(name, 1)) for name in (size, "strides", "dilation_rate")]
    padding = config.get("padding")
    if padding not in (SAME, VALID, CAUSAL) or config.get("data_format", "channels_last") != "channels_last":
        return None
    if any(number is None for number in numbers):
        return None
    return Window(numbers[0] or 1, numbers[1] or 1, padding, numbers[2] or 1)


def _number(stored: object) -> int | None:
    """A whole number of usual size, alone or in a list."""
    if isinstance(stored, list) and len(stored) == 1:
        (stored,) = stored
    return stored if isinstance(stored, int) and 0 < stored <= _WIDEST else None


def _cells(stored: StoredModel, layer: Layer) -> tuple[Cell, ...] | None:
    """The cell of a recurrent layer, those of both directions, or None for other layers."""
    if layer.kind in CELLS:
        return (cell_of(stored, layer),) if is_usual(layer, stored.is_old) else None
    if layer.kind != "Bidirectional" or layer.config.get("merge_mode") != "concat":
        return None
    both = _both(layer)
    return tuple(cell_of(stored, each) for each in both) if all(_is_usual(each, stored) for each in both) else None


def _both(layer: Layer) -> tuple[Layer, Layer]:
    """The layers that read on and back, of which old files describe the first only."""
    half = len(layer.weights) // 2
    told = [layer.config.get(name) or layer.config.get("layer") or {} for name in ("layer", "backward_layer")]
    weights = (layer.weights[:half], layer.weights[half:])
    on, back = (
        Layer(str(each.get("class_name")), layer.name, each.get("config", {}), held)
        for each, held in zip(told, weights, strict=True)
    )
    return on, back


def _is_usual(layer: Layer, stored: StoredModel) -> bool:
    return bool(layer.kind in CELLS and layer.weights and is_usual(layer, stored.is_old))
