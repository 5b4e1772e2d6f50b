"""ONNX graphs, node by node: names are given here, so that a graph reads like the formula it computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike
from onnx import TensorProto, helper, numpy_helper

OPSET, IR_VERSION = 17, 8  # old enough for the runtimes in use
Shape = Sequence[int | str]
Port = tuple[type, Shape]  # of a graph: the type and the shape of an input or output


class Nodes:
    """Nodes of a graph under construction; `add` returns the name of what it adds."""

    def __init__(self, numbers: count[int]) -> None:
        self._numbers = numbers
        self._nodes: list[Any] = []

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        name = f"{operator.lower()}{next(self._numbers)}"
        self._nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name


class GraphBuilder(Nodes):
    """A whole graph; every method returns the name of what it adds."""

    def __init__(self) -> None:
        super().__init__(count())
        self._constants: list[Any] = []

    def hold(self, values: ArrayLike) -> str:
        """A constant; whole numbers are 64 bits wide."""
        name = f"constant{next(self._numbers)}"
        self._constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def double(self, values: str) -> str:
        return self.add("Cast", values, to=TensorProto.DOUBLE)

    def single(self, values: str) -> str:
        return self.add("Cast", values, to=TensorProto.FLOAT)

    def body(self) -> Body:
        return Body(self._numbers)

    def scan(self, body: Body, moved: str, initial: str, steps: Sequence[str]) -> tuple[str, str]:
        """Carry the state over the first axis of the steps; the last state, and all of them."""
        last, every = f"last{next(self._numbers)}", f"every{next(self._numbers)}"
        node = helper.make_node(
            "Scan", [initial, *steps], [last, every], body=body.graph(moved), num_scan_inputs=len(steps)
        )
        self._nodes.append(node)
        return last, every

    def model(
        self,
        name: str,
        inputs: Mapping[str, Port],
        outputs: Mapping[str, tuple[str, Port]],
        metadata: Mapping[str, str],
    ) -> bytes:
        """The serialised model, checked; an output is called as its key says."""
        for output, (found, _) in outputs.items():
            self._nodes.append(helper.make_node("Identity", [found], [output]))
        graph = helper.make_graph(
            self._nodes,
            name,
            [_described(key, port) for key, port in inputs.items()],
            [_described(key, port) for key, (_, port) in outputs.items()],
            self._constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
        model.producer_name = "wfalens"
        helper.set_model_props(model, dict(metadata))
        onnx.checker.check_model(model, full_check=True)
        return bytes(model.SerializeToString(deterministic=True))


class Body(Nodes):
    """What a scan does in one step; constants are those of the graph around it."""

    def __init__(self, numbers: count[int]) -> None:
        super().__init__(numbers)
        self._carried: list[Any] = []
        self._steps: list[Any] = []

    def carried(self, name: str, shape: Shape) -> str:
        """The state that a step receives from the one before."""
        self._carried.append(_described(name, (np.float64, shape)))
        return name

    def step(self, name: str, dtype: type, shape: Shape) -> str:
        """A slice of one of the inputs that are scanned, in their order."""
        self._steps.append(_described(name, (dtype, shape)))
        return name

    def graph(self, moved: str) -> Any:
        shape = [item.dim_param or item.dim_value for item in self._carried[0].type.tensor_type.shape.dim]
        results = []
        for name in ("state_after", "state_shown"):
            self._nodes.append(helper.make_node("Identity", [moved], [name]))
            results.append(_described(name, (np.float64, shape)))
        return helper.make_graph(self._nodes, "step", [*self._carried, *self._steps], results)


def _described(name: str, port: Port) -> Any:
    kind, shape = port
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), list(shape))
