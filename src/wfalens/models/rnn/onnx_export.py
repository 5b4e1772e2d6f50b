"""The built-in network as an ONNX step graph, with its words and classes in the file."""

from __future__ import annotations

import io
import warnings
from pathlib import Path

import torch
from torch import Tensor, nn

from wfalens.errors import InputError, naming_extras
from wfalens.models.contract import is_language_model
from wfalens.models.preprocessing import METADATA, Preprocessing
from wfalens.models.rnn.classifier import RNNClassifier, RNNNetwork
from wfalens.models.rnn.gates import last_hidden, recurrent_step
from wfalens.storage import write_atomically

_OPSET = 17  # old enough for the runtimes in use
_INPUTS, _OUTPUTS = ("ids", "state"), ("probabilities", "new_state")


class _Step(nn.Module):
    """One step of a network: ids (batch,), state (batch, width) -> probabilities, the new state."""

    def __init__(self, network: RNNNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, ids: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        layers = self.network.recurrent
        after = recurrent_step(layers, self.network.embedding(ids), state)
        return self.network.output(last_hidden(layers, after)).softmax(-1), after


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
    with naming_extras():
        import onnx

    if is_language_model(model):
        raise InputError(
            "a language model begins with a symbol of its own, which a step graph that starts at zero lacks"
        )
    example = torch.zeros(2, dtype=torch.int64), torch.from_numpy(model.initial_state(2))
    axes, graph = {name: {0: "batch"} for name in (*_INPUTS, *_OUTPUTS)}, io.BytesIO()
    with warnings.catch_warnings():  # that the exporter is the older one, and about batches of another size
        warnings.simplefilter("ignore")
        torch.onnx.export(
            _Step(model.network).eval(),
            example,
            graph,  # type: ignore[arg-type] # the older exporter writes to anything
            input_names=_INPUTS,
            output_names=_OUTPUTS,
            dynamic_axes=axes,
            opset_version=_OPSET,
            dynamo=False,
        )
    stored = onnx.load_from_string(graph.getvalue())
    prior = tuple(map(float, model.initial_output.tolist()))
    preprocessing = Preprocessing.of(model.encoder, model.class_names, initial_output=prior)
    onnx.helper.set_model_props(stored, {METADATA: preprocessing.to_json()})
    onnx.checker.check_model(stored, full_check=True)
    write_atomically(Path(path), stored.SerializeToString(deterministic=True))
