"""The built-in network as an ONNX step graph, with its words and classes in the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError, MissingDependencyError
from wfalens.models.contract import is_language_model
from wfalens.models.preprocessing import METADATA, Preprocessing
from wfalens.models.rnn.classifier import RNNClassifier
from wfalens.storage import write_atomically

_OPERATORS = {"lstm": "LSTM", "gru": "GRU", "elman": "RNN"}
# torch's gates in the order of ONNX: input, output, forget, cell; update, reset, hidden
_GATES = {"lstm": (0, 3, 1, 2), "gru": (1, 0, 2), "elman": (0,)}


def export_onnx(model: RNNClassifier, path: str | Path) -> None:
    """Write a graph `ids (batch,), state (batch, width) -> probabilities (batch, classes), new_state (batch, width)`.

    The state is the one of `RNNClassifier.step`; it starts at zero. `wrap` needs nothing but the file.

    Args:
        model: a built-in network.
        path: of the file to write.

    Examples:
        >>> from wfalens.models import export_onnx, wrap
        >>> export_onnx(network, "films.onnx")
        >>> wrap("films.onnx").class_names
        ('neg', 'pos')
    """
    try:
        from wfalens.models.onnx_graph import GraphBuilder
    except ImportError:
        raise MissingDependencyError("onnx", "onnx") from None

    if is_language_model(model):
        raise InputError(
            "a language model begins with a symbol of its own, which a step graph that starts at zero lacks"
        )
    config = model.config
    weights = {name: tensor.numpy() for name, tensor in model.network.state_dict().items()}
    width, parts = model.initial_state(1).shape[1], 2 if config.cell == "lstm" else 1
    graph = GraphBuilder()
    time = graph.hold([0])  # the axis
    before = graph.add_all("Split", ["state"], width // config.hidden, axis=1)
    row = graph.add("Gather", graph.hold(weights["embedding.weight"]), "ids")
    below = graph.add("Unsqueeze", row, time)  # (1, batch, width): one step
    after: list[list[str]] = [[] for _ in range(parts)]
    gru = {"linear_before_reset": 1} if config.cell == "gru" else {}  # as torch does it
    for layer in range(config.layers):
        # the parts stand one after the other, each with all its layers
        states = [graph.add("Unsqueeze", before[part * config.layers + layer], time) for part in range(parts)]
        named = [graph.hold(value) for value in _cell_weights(config.cell, weights, layer)]
        inputs = [below, *named, "", *states]
        new = graph.add_all(_OPERATORS[config.cell], inputs, parts, skipped=1, hidden_size=config.hidden, **gru)
        below = new[0]  # (1, batch, hidden)
        for kept, name in zip(after, new, strict=True):
            kept.append(graph.add("Squeeze", name, time))
    new_state = graph.add("Concat", *(name for kept in after for name in kept), axis=1)
    linear = [graph.hold(weights[name]) for name in ("output.weight", "output.bias")]
    probabilities = graph.add("Softmax", graph.add("Gemm", after[0][-1], *linear, transB=1), axis=1)
    preprocessing = Preprocessing.of(
        model.encoder, model.class_names, initial_output=tuple(map(float, model.initial_output.astype(np.float64)))
    )
    blob = graph.model(
        "wfalens",
        {"ids": (np.int64, ["batch"]), "state": (np.float32, ["batch", width])},
        {
            "probabilities": (probabilities, (np.float32, ["batch", len(model.class_names)])),
            "new_state": (new_state, (np.float32, ["batch", width])),
        },
        {METADATA: preprocessing.to_json()},
    )
    write_atomically(Path(path), blob)


def _cell_weights(cell: str, weights: dict[str, Any], layer: int) -> tuple[NDArray[np.float32], ...]:
    """Torch's weights W, R and B in the order of ONNX, with a leading axis for its one direction."""

    def ordered(name: str) -> NDArray[np.float32]:
        gates = np.split(weights[f"recurrent.{name}_l{layer}"], len(_GATES[cell]))
        return np.concatenate([gates[gate] for gate in _GATES[cell]])

    bias = np.concatenate([ordered("bias_ih"), ordered("bias_hh")])
    return ordered("weight_ih")[None], ordered("weight_hh")[None], bias[None]
