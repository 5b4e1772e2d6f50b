"""An ONNX file as onnxruntime sees it: its ports, and which of them are ids, states and outputs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import FormatError, InputError, MissingDependencyError, ModelError
from wfalens.threads import thread_count

METADATA = "wfalens.preprocessing"
_INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_FLOATS = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16}
# how an output that holds the new value of the state input X may be called
_NEW_STATES = ("new_{}", "next_{}", "{}_new", "{}_next", "{}_out", "out_{}", "{}n")
_OLD_ENDINGS = (("_in", "_out"), ("in_", "out_"), ("past_", "present_"), ("old_", "new_"), ("prev_", "next_"))
_WEIGHTS_BESIDE = (".data", "_data")  # where exporters put the weights of large graphs
_READOUTS = {"probabilities": "probabilities", "probs": "probabilities", "logits": "logits", "scores": "logits"}


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


class OnnxGraph:
    """A loaded graph whose ports are recognised, by their names or as they are given."""

    def __init__(self, path: str | Path, state: Mapping[str, str] | None, outputs: str | None) -> None:
        self.path = Path(path)
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
        self.output_axes = given[self.output]
        self.readout = outputs or _readout(self.path, self.output)

    @cached_property
    def fingerprint(self) -> str:
        digest = hashlib.sha256(self.path.read_bytes())
        for ending in _WEIGHTS_BESIDE:
            beside = self.path.with_name(self.path.name + ending)
            if beside.is_file():
                digest.update(beside.read_bytes())
        return digest.hexdigest()[:16]

    def run(self, feeds: Mapping[str, NDArray[Any]]) -> tuple[NDArray[Any], list[NDArray[Any]]]:
        """The output and the new states."""
        try:
            output, *states = self._session.run([self.output, *(port.after for port in self.states)], dict(feeds))
        except Exception as error:  # onnxruntime's errors have no base class of their own
            raise ModelError(f"{self.path}: onnxruntime could not run the graph: {_first_line(error)}") from None
        return output, states


def stored_metadata(path: str | Path) -> str | None:
    """The entry that an export by wfalens leaves in the file."""
    found: str | None = _session(Path(path)).get_modelmeta().custom_metadata_map.get(METADATA)
    return found


def _session(path: Path) -> Any:
    try:
        import onnxruntime
    except ImportError:
        raise MissingDependencyError("onnxruntime", "onnx") from None
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = thread_count()
    options.log_severity_level = 4  # its complaints come as exceptions, too
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # see above
        raise FormatError(f"{path}: not a graph that onnxruntime can run: {_first_line(error)}") from None


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


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
