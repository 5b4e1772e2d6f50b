"""The built-in network as an ONNX step graph, with its words and classes in the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import MissingDependencyError
from wfalens.models.adapters.card import ModelCard
from wfalens.models.onnx.graph import METADATA
from wfalens.models.rnn import RNNClassifier
from wfalens.writing import write_atomically

OPSET = 17
_OPERATORS = {"lstm": "LSTM", "gru": "GRU", "elman": "RNN"}
# torch's gates in the order of ONNX: input, output, forget, cell; update, reset, hidden
_GATES = {"lstm": (0, 3, 1, 2), "gru": (1, 0, 2), "elman": (0,)}


def export_onnx(model: RNNClassifier, path: str | Path) -> None:
    """Write a graph `ids (batch,), state (batch, width) -> probabilities (batch, classes), new_state (batch, width)`.

    The state is the one of `RNNClassifier.step`; it starts at zero. `load_onnx` needs nothing but the file.
    """
    try:
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        raise MissingDependencyError("onnx", "onnx") from None

    config = model.config
    weights = {name: tensor.numpy() for name, tensor in model.network.state_dict().items()}
    width = model.initial_state(1).shape[1]
    builder = _Builder(helper, numpy_helper)
    names = [f"part_{number}" for number in range(width // config.hidden)]
    parts = builder.add_all("Split", ["state"], names, axis=1)
    row = builder.add("Gather", [builder.constant("embedding", weights["embedding.weight"]), "ids"])
    time = builder.constant("time_axis", np.array([0], np.int64))
    below = builder.add("Unsqueeze", [row, time])  # (1, batch, width): one step
    after: list[list[str]] = [[] for _ in range(2 if config.cell == "lstm" else 1)]
    for layer in range(config.layers):
        # the parts stand one after the other, each with all its layers
        before = [builder.add("Unsqueeze", [parts[at * config.layers + layer], time]) for at in range(len(after))]
        new = builder.add_cell(config.cell, config.hidden, below, before, _cell_weights(config.cell, weights, layer))
        below = new[0]
        for kept, name in zip(after, new, strict=True):
            kept.append(builder.add("Squeeze", [name, time]))
    builder.add("Concat", [name for kept in after for name in kept], "new_state", axis=1)
    linear = [builder.constant(name, weights[name]) for name in ("output.weight", "output.bias")]
    builder.add("Softmax", [builder.add("Gemm", [after[0][-1], *linear], transB=1)], "probabilities", axis=1)

    def port(name: str, kind: int, *sizes: int) -> Any:
        return helper.make_tensor_value_info(name, kind, ["batch", *sizes])

    graph = helper.make_graph(
        builder.nodes,
        "wfalens",
        [port("ids", TensorProto.INT64), port("state", TensorProto.FLOAT, width)],
        [port("probabilities", TensorProto.FLOAT, len(model.class_names)), port("new_state", TensorProto.FLOAT, width)],
        builder.constants,
    )
    file = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    card = ModelCard.of(
        model.encoder, model.class_names, initial_output=tuple(map(float, model.initial_output.astype(np.float64)))
    )
    helper.set_model_props(file, {METADATA: card.to_json()})
    write_atomically(Path(path), file.SerializeToString(deterministic=True))


class _Builder:
    """Collects nodes and constants; each result gets a name of its own."""

    def __init__(self, helper: Any, numpy_helper: Any) -> None:
        self._helper, self._numpy = helper, numpy_helper
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, name: str, value: NDArray[Any]) -> str:
        self.constants.append(self._numpy.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, operator: str, inputs: list[str], name: str | None = None, **attributes: Any) -> str:
        (result,) = self.add_all(operator, inputs, [name or f"{operator.lower()}_{len(self.nodes)}"], **attributes)
        return result

    def add_all(self, operator: str, inputs: list[str], names: list[str], **attributes: Any) -> list[str]:
        self.nodes.append(self._helper.make_node(operator, inputs, names, **attributes))
        return names

    def add_cell(
        self, cell: str, hidden: int, inputs: str, before: list[str], weights: dict[str, NDArray[np.float32]]
    ) -> list[str]:
        """One recurrent layer, one step; -> the names of its new states, each (1, batch, hidden)."""
        number = len(self.nodes)
        named = [self.constant(f"{kind}_{number}", value) for kind, value in weights.items()]
        new = [f"state_{number}_{part}" for part in range(len(before))]
        gru = {"linear_before_reset": 1} if cell == "gru" else {}  # as torch does it
        self.add_all(_OPERATORS[cell], [inputs, *named, "", *before], ["", *new], hidden_size=hidden, **gru)
        return new


def _cell_weights(cell: str, weights: dict[str, Any], layer: int) -> dict[str, NDArray[np.float32]]:
    """Torch's weights in the order of ONNX, with a leading axis for its one direction."""

    def ordered(name: str) -> NDArray[np.float32]:
        gates = np.split(weights[f"recurrent.{name}_l{layer}"], len(_GATES[cell]))
        return np.concatenate([gates[gate] for gate in _GATES[cell]])

    bias = np.concatenate([ordered("bias_ih"), ordered("bias_hh")])
    return {"W": ordered("weight_ih")[None], "R": ordered("weight_hh")[None], "B": bias[None]}
