"""ONNX graphs as classifiers."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError, ModelError
from wfalens.models.base import Classifier
from wfalens.models.checks import readout_named
from wfalens.models.contract import PrefixClassifier, State, checked_probabilities
from wfalens.models.inference import state_traces
from wfalens.models.onnx.graph_ports import OnnxGraph, StatePort, stored_metadata
from wfalens.models.padded import PaddedForm, PaddedTextClassifier, check_outputs, token_classifier
from wfalens.models.preprocessing import Preprocessing, preprocessing_of
from wfalens.models.registry import WrapArguments, adapter
from wfalens.ragged import Ragged
from wfalens.text.encoder import RIGHT

_TRIED = 12  # words of a text that is tried


@adapter
class OnnxAdapter:
    """An ONNX file, run by onnxruntime.

    A graph with state inputs – ids (batch,) or (batch, 1) and states in, one row of classes and the new states out –
    can be stepped. Without states it goes from ids (batch, time) to (batch, classes), and prefixes are asked as texts
    of their own, or to (batch, time, classes), and is read the same way if it looks ahead. The preprocessing is the one
    given, else the JSON file beside the graph (model.json for model.onnx), else what `export_onnx` left in the graph.
    """

    kind = "an ONNX file (.onnx)"

    def accepts(self, model: Any) -> bool:
        return isinstance(model, str | Path) and Path(model).suffix.lower() == ".onnx"

    def wrap(
        self,
        model: str | Path,
        given: WrapArguments,
        *,
        padding_side: str | None = None,
        truncation_side: str | None = None,
    ) -> PrefixClassifier:
        path = Path(model)
        read = given.preprocessing or preprocessing_of(path, stored_metadata)
        return _opened(path, read.read_as(padding_side, truncation_side))


def _opened(path: Path, read: Preprocessing) -> PrefixClassifier:
    graph = OnnxGraph(path, read.state, read.outputs)
    if graph.states:
        stepped = OnnxStepClassifier(graph, read)
        start = stepped.initial_state(1)
        _check_preprocessing(path, read, lambda word: stepped.rows_after(start, np.array([word]))[1])
        return stepped
    if len(graph.ids.shape) != 2:
        raise ModelError(f"{path}: the ids {graph.ids.shown} must be (batch, time) in a graph without states")

    def run(table: NDArray[np.int64]) -> NDArray[Any]:
        return graph.run({graph.ids.name: table.astype(graph.ids.dtype)})[0]

    form = PaddedForm(read.word_ids, graph.ids.shape[1], read.padding_side or RIGHT)
    width = form.width or min(_TRIED, read.max_length or _TRIED)
    read_out = readout_named(graph.readout)
    _check_preprocessing(path, read, lambda word: read_out(run(np.full((1, width), read.word_ids[word]))))
    check_outputs(run, read.encoder, form, graph.readout, len(read.class_names), str(path))
    wrapped = token_classifier if graph.output_axes == 3 else PaddedTextClassifier
    return wrapped(
        run,
        read.encoder,
        read.class_names,
        form=form,
        outputs=graph.readout,
        fingerprint=graph.fingerprint,
        initial_output=read.prior,
    )


def _check_preprocessing(path: Path, read: Preprocessing, rows_of: Callable[[int], NDArray[Any]]) -> None:
    """Refuse preprocessing that contradicts the graph; `rows_of` gives the classes' row of a text of one word of it."""
    order = np.argsort(read.word_ids[read.encoder.lowest_id :]) + read.encoder.lowest_id
    classes = rows_of(int(order[0])).shape[-1]
    if classes != len(read.class_names):
        raise InputError(f"{path} has {classes} classes, but its preprocessing names {len(read.class_names)}")
    try:
        rows_of(int(order[-1]))
    except ModelError:
        raise ModelError(
            f"{path} cannot read the id {read.word_ids[order[-1]]:,}, although its preprocessing lists "
            f"{len(read.words):,} words: they are not the words of this model"
        ) from None


class OnnxStepClassifier(Classifier):
    """White box: the graph continues from a state, which starts at zero."""

    def __init__(self, graph: OnnxGraph, read: Preprocessing) -> None:
        if len(graph.ids.shape) == 2 and graph.ids.shape[1] not in (1, None):
            raise ModelError(f"{graph.path}: a graph with states reads one word at a time, not {graph.ids.shown}")
        self.graph = graph
        self.encoder = read.encoder
        self.class_names = read.class_names
        self.fingerprint = graph.fingerprint
        self.initial_output = read.prior
        self._word_ids = read.word_ids.astype(graph.ids.dtype)
        self._read_out = readout_named(graph.readout)

    @property
    def form(self) -> PaddedForm:
        return PaddedForm(self._word_ids.astype(np.int64))

    def reread(self, form: PaddedForm, truncation_side: str) -> OnnxStepClassifier:
        """The same graph with other ids."""
        other = copy(self)
        other.encoder = replace(self.encoder, truncation_side=truncation_side)
        other._word_ids = np.asarray(form.word_ids, self._word_ids.dtype)
        return other

    def initial_state(self, batch: int) -> State:
        return np.zeros((batch, sum(port.width for port in self.graph.states)), np.float32)

    def step(self, state: State, ids: NDArray[np.int32]) -> tuple[State, NDArray[np.float32]]:
        after, rows = self.rows_after(state, ids)
        return after, checked_probabilities(rows, len(state), len(self.class_names), "the graph")

    def rows_after(self, state: State, ids: NDArray[np.integer]) -> tuple[State, NDArray[np.floating]]:
        """The new state, and the classes' rows as they come."""
        words = self._word_ids[ids]
        feeds = {self.graph.ids.name: words if len(self.graph.ids.shape) == 1 else words[:, None]}
        first = 0
        for port in self.graph.states:
            feeds[port.before.name] = _unpacked(port, state[:, first : first + port.width])
            first += port.width
        output, states = self.graph.run(feeds)
        rows = self._read_out(output[:, -1] if output.ndim == 3 else output)
        after = np.concatenate([_packed(port, new) for port, new in zip(self.graph.states, states, strict=True)], 1)
        return after, rows

    def trace(self, ids: Ragged[np.int32]) -> Ragged[np.float32]:
        values = np.empty((len(ids.values), len(self.class_names)), np.float32)
        for places, _, outputs in state_traces(self, ids):
            values[places] = outputs
        return Ragged(values, ids.offsets)


def _unpacked(port: StatePort, part: State) -> NDArray[Any]:
    # (batch, width) -> the port's shape
    return np.moveaxis(part.reshape(len(part), *port.sizes), 0, port.axis).astype(port.before.dtype)


def _packed(port: StatePort, new: NDArray[Any]) -> State:
    if new.ndim != len(port.before.shape) or np.delete(new.shape, port.axis).tolist() != list(port.sizes):
        raise ModelError(
            f"the new state {port.after!r} is {new.shape} and cannot take the place of {port.before.shown}"
        )
    rows = np.moveaxis(new, port.axis, 0)
    return rows.reshape(len(rows), port.width).astype(np.float32)
