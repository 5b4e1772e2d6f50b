"""ONNX graphs, node by node: names are given here, so that a graph reads like the formula it computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike
from onnx import TensorProto, helper, numpy_helper

Shape = Sequence[int | str]


class Graph:
    """Nodes and constants of a graph under construction; every method returns the name of what it adds."""

    def __init__(self, opset: int) -> None:
        self._opset, self._numbers = opset, count()
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        return _add(self._nodes, self._numbers, operator, inputs, attributes)

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
        inputs: Mapping[str, Shape],
        outputs: Mapping[str, tuple[str, Shape]],
        ir_version: int,
        metadata: Mapping[str, str],
    ) -> bytes:
        """The serialised model, checked; inputs are 64-bit integers, outputs doubles."""
        for name, (found, _) in outputs.items():
            self._nodes.append(helper.make_node("Identity", [found], [name]))
        graph = helper.make_graph(
            self._nodes,
            "automaton",
            [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name, shape in inputs.items()],
            [helper.make_tensor_value_info(name, TensorProto.DOUBLE, shape) for name, (_, shape) in outputs.items()],
            self._constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self._opset)], ir_version=ir_version)
        model.producer_name = "wfalens"
        helper.set_model_props(model, dict(metadata))
        onnx.checker.check_model(model, full_check=True)
        return bytes(model.SerializeToString(deterministic=True))


class Body:
    """What a scan does in one step; constants are those of the graph around it."""

    def __init__(self, numbers: count[int]) -> None:
        self._numbers = numbers
        self._nodes: list[Any] = []
        self._carried: list[Any] = []
        self._steps: list[Any] = []

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        return _add(self._nodes, self._numbers, operator, inputs, attributes)

    def carried(self, name: str, shape: Shape) -> str:
        """The state that a step receives from the one before."""
        self._carried.append(helper.make_tensor_value_info(name, TensorProto.DOUBLE, shape))
        return name

    def step(self, name: str, dtype: type, shape: Shape) -> str:
        """A slice of one of the inputs that are scanned, in their order."""
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        self._steps.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def graph(self, moved: str) -> Any:
        shape = [item.dim_param or item.dim_value for item in self._carried[0].type.tensor_type.shape.dim]
        results = []
        for name in ("state_after", "state_shown"):
            self._nodes.append(helper.make_node("Identity", [moved], [name]))
            results.append(helper.make_tensor_value_info(name, TensorProto.DOUBLE, shape))
        return helper.make_graph(self._nodes, "step", [*self._carried, *self._steps], results)


def _add(
    nodes: list[Any], numbers: count[int], operator: str, inputs: Sequence[str], attributes: Mapping[str, Any]
) -> str:
    name = f"{operator.lower()}{next(numbers)}"
    nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
    return name
