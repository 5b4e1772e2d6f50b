"""Small ONNX graphs as other exporters would write them, with answers that one can compute by hand."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

INT, FLOAT = TensorProto.INT64, TensorProto.FLOAT


def write_graph(path, nodes, inputs, outputs, constants):
    """inputs, outputs: name -> (type, shape); constants: name -> array."""

    def ports(named):
        return [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in named.items()]

    stored = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(
        [helper.make_node(operator, read, written, **more) for operator, read, written, more in nodes],
        "graph",
        ports(inputs),
        ports(outputs),
        stored,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


def summing_graph(path, scores, width="time", output="logits"):
    """ids (batch, time) -> the sum of the words' scores; scores: (words, classes)."""
    axis = np.array([1], np.int64)
    nodes = [
        ("Gather", ["scores", "ids"], ["each"], {}),
        ("ReduceSum", ["each", "axis"], [output], {"keepdims": 0}),
    ]
    ids, given = (INT, ["batch", width]), (FLOAT, ["batch", scores.shape[1]])
    return write_graph(path, nodes, {"ids": ids}, {output: given}, {"scores": scores, "axis": axis})


def running_graph(path, scores, reverse=0):
    """ids (batch, time) -> (batch, time, classes): the sum so far after every word, or of those that follow."""
    nodes = [
        ("Gather", ["scores", "ids"], ["each"], {}),
        ("CumSum", ["each", "axis"], ["logits"], {"reverse": reverse}),
    ]
    outputs = {"logits": (FLOAT, ["batch", "time", scores.shape[1]])}
    constants = {"scores": scores, "axis": np.array(1, np.int64)}
    return write_graph(path, nodes, {"ids": (INT, ["batch", "time"])}, outputs, constants)


def lstm_graph(path, words, classes, seed, names=("h0", "c0", "hn", "cn")):
    """As torch exports one: ids (batch, 1), h0 and c0 (1, batch, hidden) -> logits (batch, 1, classes), hn, cn."""
    rng, hidden, width = np.random.default_rng(seed), 4, 5
    h0, c0, hn, cn = names
    constants = {
        "embedding": rng.normal(size=(words, width)),
        "W": rng.normal(size=(1, 4 * hidden, width)),
        "R": rng.normal(size=(1, 4 * hidden, hidden)),
        "B": rng.normal(size=(1, 8 * hidden)),
        "out": rng.normal(size=(hidden, classes)),
    }
    nodes = [
        ("Gather", ["embedding", "ids"], ["each"], {}),
        ("Transpose", ["each"], ["steps"], {"perm": [1, 0, 2]}),
        ("LSTM", ["steps", "W", "R", "B", "", h0, c0], ["all", hn, cn], {"hidden_size": hidden}),
        ("Squeeze", ["all", "direction"], ["hidden"], {}),
        ("Transpose", ["hidden"], ["by_text"], {"perm": [1, 0, 2]}),
        ("MatMul", ["by_text", "out"], ["logits"], {}),
    ]
    state = (FLOAT, [1, "batch", hidden])
    return write_graph(
        path,
        nodes,
        {"ids": (INT, ["batch", "time"]), h0: state, c0: state},
        {"logits": (FLOAT, ["batch", "time", classes]), hn: state, cn: state},
        {name: value.astype(np.float32) for name, value in constants.items()} | {"direction": np.array([1], np.int64)},
    )
