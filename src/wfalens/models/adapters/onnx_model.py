"""ONNX graphs, run by onnxruntime: which of their ports are ids, states and outputs, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from threading import Timer
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import FormatError, InputError, ModelError, naming_extras, opening
from wfalens.messages import quoted, reason_of
from wfalens.models.adapter_registry import WrapArguments, adapter
from wfalens.models.contract import State, fingerprint_of
from wfalens.models.padded import IdClassifier, StepClassifier, checked_classes, id_classifier, reading_of
from wfalens.models.preprocessing import METADATA
from wfalens.threads import thread_count

_INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_FLOATS = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16}
# how an output that holds the new value of the state input X may be called
_NEW_STATES = ("new_{}", "next_{}", "{}_new", "{}_next", "{}_out", "out_{}", "{}n")
_OLD_ENDINGS = (("_in", "_out"), ("in_", "out_"), ("past_", "present_"), ("old_", "new_"), ("prev_", "next_"))
_WEIGHTS_BESIDE = (".data", "_data")  # where exporters put the weights of large graphs
_MOST_SECONDS = 8.0  # of the first runs of a graph, whose loops may have no end
_READOUTS = {"probabilities": "probabilities", "probs": "probabilities", "logits": "logits", "scores": "logits"}


@adapter
class OnnxAdapter:
    """An ONNX file, run by onnxruntime.

    A graph with state inputs – ids (batch,) or (batch, 1) and states in, one row of classes and the new states out –
    can be stepped. Without states it goes from ids (batch, time) to (batch, classes), and prefixes are asked as texts
    of their own, or to (batch, time, classes), and is read the same way if it looks ahead. The preprocessing is the one
    given, else the JSON file beside the graph (model.json for model.onnx), else what `export_onnx` left in the graph.
    """

    kind, reads_ids = "an ONNX file (.onnx)", True

    def accepts(self, model: Any) -> bool:
        return isinstance(model, str | Path) and Path(model).suffix.lower() == ".onnx"

    def wrap(self, model: str | Path, given: WrapArguments) -> IdClassifier:
        path = Path(model)
        read = given.described(path, stored_metadata)
        graph, given = OnnxGraph(path, read.state, read.outputs), WrapArguments(preprocessing=read)
        encoder, form = reading_of(given, graph.readout, None if graph.states else graph.ids.shape[1])
        start = np.zeros((1, sum(port.width for port in graph.states)), np.float32)

        def first_step(ids: NDArray[np.int64]) -> NDArray[Any]:
            return graph.step(np.repeat(start, len(ids), 0), ids[:, 0])[1]

        run = first_step if graph.states else graph.read
        names, has_row_per_word = checked_classes(run, given, encoder, form, str(path))
        common: dict[str, Any] = {"form": form, "fingerprint": graph.fingerprint, "initial_output": read.initial_output}
        if graph.states:
            wrapped: IdClassifier = StepClassifier(graph.step, start, encoder, names, **common)
        else:
            wrapped = id_classifier(run, encoder, names, has_row_per_word, **common)
        graph.most_seconds = None  # long texts may take their time
        return wrapped


@dataclass(frozen=True)
class Port:
    """A named input or output."""

    name: str
    shape: tuple[int | None, ...]  # None: free
    dtype: Any

    @property
    def shown(self) -> str:
        return f"{self.name!r} {tuple('free' if size is None else size for size in self.shape)}"


@dataclass(frozen=True)
class StatePort:
    """A state input, the output that replaces it, and its one free axis: the batch."""

    before: Port
    after: str
    axis: int

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(size for size in self.before.shape if size is not None)

    @property
    def width(self) -> int:
        return int(np.prod(self.sizes, dtype=np.int64))

    def unpacked(self, part: State) -> NDArray[Any]:
        # (batch, width) -> the port's shape
        return np.moveaxis(part.reshape(len(part), *self.sizes), 0, self.axis).astype(self.before.dtype)

    def packed(self, new: NDArray[Any]) -> State:
        if new.ndim != len(self.before.shape) or np.delete(new.shape, self.axis).tolist() != list(self.sizes):
            raise ModelError(
                f"the new state {self.after!r} is {new.shape} and cannot take the place of {self.before.shown}"
            )
        rows = np.moveaxis(new, self.axis, 0)
        return rows.reshape(len(rows), self.width).astype(np.float32)


class OnnxGraph:
    """A loaded graph whose ports are recognised, by their names or as they are given."""

    def __init__(self, path: str | Path, state: Mapping[str, str] | None, outputs: str | None) -> None:
        self.path = Path(path)
        self.most_seconds: float | None = _MOST_SECONDS
        self._session = _session(self.path)
        inputs = [_port(self.path, node) for node in self._session.get_inputs()]
        given = {node.name: len(node.shape) for node in self._session.get_outputs()}
        self.ids = _ids(self.path, inputs)
        others = [port for port in inputs if port is not self.ids]
        for name in state or {}:
            if name not in [port.name for port in others]:
                raise InputError(f"{path}: the preprocessing names a state {name!r}, but the graph has no such input")
        self.states = [_state_port(self.path, port, given, state or {}) for port in others]
        answers = [name for name in given if name not in {port.after for port in self.states}]
        self.output = _output(self.path, answers)
        self.readout = outputs or _readout(self.path, self.output)
        if self.states and len(self.ids.shape) == 2 and self.ids.shape[1] not in (1, None):
            raise ModelError(f"{path}: a graph with states reads one word at a time, not {self.ids.shown}")
        if not self.states and len(self.ids.shape) != 2:
            raise ModelError(f"{path}: the ids {self.ids.shown} must be (batch, time) in a graph without states")

    @cached_property
    def fingerprint(self) -> str:
        beside = [self.path.with_name(self.path.name + ending) for ending in _WEIGHTS_BESIDE]
        return fingerprint_of(*(path.read_bytes() for path in (self.path, *beside) if path.is_file()))

    def run(self, feeds: Mapping[str, NDArray[Any]]) -> tuple[NDArray[Any], list[NDArray[Any]]]:
        """The output and the new states."""
        from onnxruntime import RunOptions

        options = RunOptions()
        options.log_severity_level = 4
        timer = Timer(self.most_seconds or 0, partial(setattr, options, "terminate", True))
        if self.most_seconds is not None:
            timer.start()
        names = [self.output, *(port.after for port in self.states)]
        try:
            output, *states = self._session.run(names, dict(feeds), options)
        except Exception as error:  # onnxruntime's errors have no base class of their own
            raise ModelError(f"{self.path}: onnxruntime could not run the graph: {reason_of(error)}") from None
        finally:
            timer.cancel()
        if not isinstance(output, np.ndarray) or not all(isinstance(state, np.ndarray) for state in states):
            raise ModelError(f"{self.path}: an output of the graph is not a tensor", code="output-shape")
        return output, states

    def read(self, ids: NDArray[np.int64]) -> NDArray[Any]:
        """The output for whole texts, of a graph without states; ids: (batch, time)"""
        return self.run({self.ids.name: ids.astype(self.ids.dtype)})[0]

    def step(self, state: State, ids: NDArray[np.int64]) -> tuple[State, NDArray[Any]]:
        """The new states, one beside the other, and the classes' rows; (batch, width), (batch,)"""
        words = ids.astype(self.ids.dtype)
        feeds = {self.ids.name: words if len(self.ids.shape) == 1 else words[:, None]}
        parts = np.split(state, np.cumsum([port.width for port in self.states])[:-1], 1)
        feeds |= {port.before.name: port.unpacked(part) for port, part in zip(self.states, parts, strict=True)}
        output, states = self.run(feeds)
        after = np.concatenate([port.packed(new) for port, new in zip(self.states, states, strict=True)], 1)
        return after, output[:, -1] if output.ndim == 3 else output


def stored_metadata(path: str | Path) -> str | None:
    """The entry that an export by wfalens leaves in the file."""
    found: str | None = _session(Path(path)).get_modelmeta().custom_metadata_map.get(METADATA)
    return found


def _session(path: Path) -> Any:
    with naming_extras():
        import onnxruntime
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    _check_weights_beside(path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = thread_count()
    options.log_severity_level = 4  # its complaints come as exceptions, too
    try:
        # its fallback prints to standard output and tries the same again
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"], enable_fallback=0)
    except Exception as error:  # see above
        raise FormatError(f"{path}: not a graph that onnxruntime can run: {reason_of(error)}") from None


def _check_weights_beside(path: Path) -> None:
    """Refuse a graph whose weights lie elsewhere than in files beside it."""
    with naming_extras():
        import onnx
        from onnx.external_data_helper import _get_all_tensors, uses_external_data
    with opening(path, "a graph that onnxruntime can run"):
        tensors = filter(uses_external_data, _get_all_tensors(onnx.load(path, load_external_data=False)))
        places = {entry.value for tensor in tensors for entry in tensor.external_data if entry.key == "location"}
    for place in places:
        if Path(place).name != place or "\\" in place or (path.parent / place).is_symlink():
            raise InputError(f"{path}: its weights {quoted(place)} are not in a file beside it", code="foreign-file")


def _port(path: Path, node: Any) -> Port:
    dtype = {**_INTEGERS, **_FLOATS}.get(node.type)
    if dtype is None:
        raise ModelError(f"{path}: the input {node.name!r} is {node.type}; word ids and float states are expected")
    return Port(node.name, tuple(size if isinstance(size, int) else None for size in node.shape), dtype)


def _ids(path: Path, inputs: list[Port]) -> Port:
    found = [port for port in inputs if port.dtype in _INTEGERS.values()]
    if len(found) != 1:
        names = ", ".join(port.name for port in found) or "none"
        raise ModelError(f"{path}: one integer input (the word ids) is expected, not {names}")
    (ids,) = found
    if len(ids.shape) not in (1, 2) or ids.shape[0] is not None:
        raise ModelError(
            f"{path}: the ids {ids.shown} must be (batch,) or (batch, time) with a free batch; "
            "export the graph with a dynamic batch axis"
        )
    return ids


def _state_port(path: Path, port: Port, outputs: Mapping[str, Any], given: Mapping[str, str]) -> StatePort:
    after = given.get(port.name) or next((name for name in _successors(port.name) if name in outputs), None)
    if after is None or after not in outputs:
        raise ModelError(
            f"{path}: no output is known to hold the new value of the input {port.name!r} (outputs: "
            f'{", ".join(outputs)}); name it in the preprocessing ("state")'
        )
    free = [axis for axis, size in enumerate(port.shape) if size is None]
    if len(free) != 1:
        raise ModelError(
            f"{path}: the state {port.shown} must have one free axis, its batch; export it with that dynamic axis alone"
        )
    return StatePort(port, after, free[0])


def _successors(name: str) -> list[str]:
    renamed = [name.replace(old, new) for old, new in _OLD_ENDINGS if old in name]
    ended = [f"{name[:-1]}n"] if name.endswith("0") else []
    return [*(pattern.format(name) for pattern in _NEW_STATES), *renamed, *ended]


def _output(path: Path, answers: list[str]) -> str:
    named = [name for name in answers if name.lower() in _READOUTS]
    chosen = named or answers
    if len(chosen) != 1:
        raise ModelError(
            f"{path}: one output is expected beside new states, not {', '.join(chosen) or 'none'}; "
            "call it probabilities or logits"
        )
    return chosen[0]


def _readout(path: Path, output: str) -> str:
    if output.lower() not in _READOUTS:
        raise InputError(
            f"{path}: what the output {output!r} holds is not known by its name; say probabilities, logits or binary "
            'in the preprocessing ("outputs")'
        )
    return _READOUTS[output.lower()]
