"""ONNX: the automaton as a graph from word ids to class probabilities, for onnxruntime and its kin.

Input `ids`, int64 (batch, time): ids of the automaton's alphabet; 0 is padding and changes nothing, wherever it
stands. Ids outside the alphabet, and of words that were not exported, read as `<unk>`. Outputs, in double precision:
`probabilities` (batch, classes) after the last word, `trace` (batch, time, classes) after every word, and `weights`
(batch, classes), which is A(w). The metadata entry `wfalens` is JSON: the alphabet, the exported words, the class
names, the tokenizer and the cut-off length.

A `Scan` over time carries the state vector. A stochastic automaton holds one matrix per exported word; a linear one
holds its factors, and makes decays, gates and inputs of the words that it reads.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.linear import LinearWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError, MissingDependencyError
from wfalens.export.exporters import exporter
from wfalens.export.subset import Subset, chosen_ids, chosen_states, subset, with_unknown
from wfalens.text.vocabulary import PADDING, UNKNOWN

if TYPE_CHECKING:
    from wfalens.export.onnx_graph import GraphBuilder

_MOST_FLOATS = 1 << 26  # of the matrices: protobuf ends at 2 GB, and several copies are made on the way


@exporter("onnx", suffixes=(".onnx",), factored=True)
def to_onnx(
    wfa: WFA, words: Sequence[str] | int | None = None, states: Sequence[int] | None = None, threshold: float = 0.0
) -> bytes:
    """The automaton as a serialised model; words, states and threshold as for `subset`. `<unk>` is always in."""
    try:
        from wfalens.export.onnx_graph import GraphBuilder
    except ImportError:
        raise MissingDependencyError("onnx", "onnx") from None

    words = with_unknown(words)
    ids = chosen_ids(wfa, words)
    graph = GraphBuilder()
    # every id of the alphabet has a slot: that of its word, of <unk>, or the one behind all words for padding
    slots = np.full(len(wfa.encoder.vocabulary), np.flatnonzero(ids == UNKNOWN)[0], np.int64)
    slots[ids], slots[PADDING] = np.arange(len(ids)), len(ids)
    slot = _slots(graph, slots)
    if isinstance(wfa, LinearWFA):
        chosen_states(wfa, states, threshold)  # none can be left out
        weights, trace = _linear(graph, slot, wfa, ids)
        last, every = graph.add("Softmax", weights, axis=-1), graph.add("Softmax", trace, axis=-1)
    else:
        weights, trace = _stochastic(graph, slot, subset(wfa, words, states, threshold))
        last, every = _scaled(graph, weights), _scaled(graph, trace)
    classes = len(wfa.class_names)
    return graph.model(
        "automaton",
        {"ids": (np.int64, ["batch", "time"])},
        {
            "probabilities": (last, (np.float64, ["batch", classes])),
            "trace": (every, (np.float64, ["batch", "time", classes])),
            "weights": (weights, (np.float64, ["batch", classes])),
        },
        {"wfalens": json.dumps(_about(wfa, ids))},
    )


def _about(wfa: WFA, ids: NDArray[np.int32]) -> dict[str, Any]:
    vocabulary = wfa.encoder.vocabulary
    return {
        "kind": wfa.kind,
        "class_names": wfa.class_names,
        "alphabet": vocabulary.words,
        "exported": vocabulary.decode(ids),
        **wfa.encoder.settings,
    }


def _slots(graph: GraphBuilder, slots: NDArray[np.int64]) -> str:
    """Ids (batch, time) to the slots of their words (time + 1, batch), padding first: a scan of nothing is refused."""
    positive = graph.add("GreaterOrEqual", "ids", graph.hold(np.int64(0)))
    known = graph.add("And", positive, graph.add("Less", "ids", graph.hold(np.int64(len(slots)))))
    inside = graph.add("Where", known, "ids", graph.hold(np.int64(UNKNOWN)))
    led = graph.add("Pad", inside, graph.hold([0, 1, 0, 0]), graph.hold(np.int64(PADDING)))
    return graph.add("Transpose", graph.add("Gather", graph.hold(slots), led), perm=[1, 0])


def _by_text(graph: GraphBuilder, every: str) -> str:
    """State vectors (time + 1, batch, n) to (batch, time, n), without the one before the first word."""
    words = graph.add("Slice", every, graph.hold([1]), graph.hold([np.iinfo(np.int64).max]), graph.hold([0]))
    return graph.add("Transpose", words, perm=[1, 0, 2])


def _initial(graph: GraphBuilder, slot: str, initial: NDArray[np.float64]) -> str:
    """The initial vector once per text; (batch, n)"""
    batch = graph.add("Slice", graph.add("Shape", slot), graph.hold([1]), graph.hold([2]))
    shape = graph.add("Concat", batch, graph.hold([len(initial)]), axis=0)
    return graph.add("Expand", graph.hold(initial), shape)


def _stochastic(graph: GraphBuilder, slot: str, part: Subset) -> tuple[str, str]:
    """Class weights after the last word and after every word."""
    n = len(part.states)
    if len(part.words) * n * n > _MOST_FLOATS:
        raise InputError(
            f"the matrices of {len(part.words):,} words and {n} states are too large for an ONNX file; "
            "choose fewer words or states",
            code="too-large",
        )
    matrices = graph.hold(np.concatenate([part.matrices(), np.eye(n)[None]]))
    body = graph.body()
    matrix = body.add("Gather", matrices, body.step("slot", np.int64, ["batch"]))
    state = body.carried("state", ["batch", n])
    row = body.add("Unsqueeze", state, graph.hold([1]))
    moved = body.add("Squeeze", body.add("MatMul", row, matrix), graph.hold([1]))
    last, every = graph.scan(body, moved, _initial(graph, slot, part.initial), [slot])
    final = graph.hold(part.final)
    return graph.add("MatMul", last, final), graph.add("MatMul", _by_text(graph, every), final)


def _linear(graph: GraphBuilder, slot: str, wfa: LinearWFA, ids: NDArray[np.int32]) -> tuple[str, str]:
    """Class weights after the last word and after every word, by `x ← x∘d + (x·P)∘s + b`."""
    factors, n, m = wfa.factors, wfa.states - 1, wfa.factors.width
    words = np.vstack([factors.words[ids], np.zeros((1, factors.words.shape[1]), np.float32)])
    known = graph.double(graph.add("Gather", graph.hold(words), slot))
    described = graph.add("MatMul", known, graph.hold(factors.expansion.astype(np.float64)))
    described = graph.add("Add", described, graph.hold(factors.offset.astype(np.float64)))
    padding = graph.add("Unsqueeze", graph.add("Equal", slot, graph.hold(np.int64(len(ids)))), graph.hold([2]))

    def columns(first: int, last: int) -> str:
        return graph.add("Slice", described, graph.hold([first]), graph.hold([last]), graph.hold([2]))

    def stored(values: str, nothing: float) -> str:
        # the automaton keeps these in single precision; padding reads as nothing
        return graph.add("Where", padding, graph.hold(np.float64(nothing)), graph.double(graph.single(values)))

    largest, gate = graph.hold(np.float64(factors.decay)), columns(n, 2 * n - m)
    if factors.turns:
        half = m // 2
        radius = graph.add("Mul", graph.add("Sigmoid", columns(0, half)), largest)
        angle = columns(half, 2 * half)
        ahead = graph.add("Add", angle, graph.hold(np.pi / 2))  # not every runtime has a cosine in double precision
        across, along = (graph.add("Mul", radius, graph.add("Sin", each)) for each in (angle, ahead))
        rest = graph.add("Mul", graph.add("Tanh", columns(2 * half, n)), largest)
        decay = graph.add("Concat", along, along, rest, axis=2)
        gate = graph.add("Pad", gate, graph.hold([0, 0, m - 2 * half, 0, 0, 0]))
        gate = graph.add("Concat", graph.add("Neg", across), across, gate, axis=2)
    else:
        decay = graph.add("Mul", graph.add("Sigmoid", columns(0, n)), largest)
        gate = graph.add("Pad", gate, graph.hold([0, 0, m, 0, 0, 0]))  # nothing leads to the first layer
    decays, gates, entries = stored(decay, 1.0), stored(gate, 0.0), stored(columns(2 * n - m, 3 * n - m), 0.0)
    body = graph.body()
    state = body.carried("state", ["batch", n])
    decay, gate, entry = (body.step(name, np.float64, ["batch", n]) for name in ("decay", "gate", "entry"))
    read = body.add("MatMul", state, graph.hold(wfa.links))
    kept = body.add("Add", body.add("Mul", state, decay), body.add("Mul", read, gate))
    moved = body.add("Add", kept, entry)
    last, every = graph.scan(body, moved, _initial(graph, slot, wfa.initial[:-1]), [decays, gates, entries])
    table = wfa.read_out(np.eye(n + 1))  # F and f, centred over the classes
    final, bias = graph.hold(table[:-1]), graph.hold(table[-1])
    trace = graph.add("MatMul", _by_text(graph, every), final)
    return graph.add("Add", graph.add("MatMul", last, final), bias), graph.add("Add", trace, bias)


def _scaled(graph: GraphBuilder, weights: str) -> str:
    """Weights scaled to sum 1 over the last axis; equal ones where all mass was lost."""
    total = graph.add("ReduceSum", weights, graph.hold([-1]), keepdims=1)
    lost = graph.add("LessOrEqual", total, graph.hold(np.float64(0)))
    safe = graph.add("Where", lost, graph.hold(np.float64(1)), total)
    classes = graph.add("Expand", graph.hold(np.float64(1)), graph.add("Shape", weights))
    even = graph.add("Div", classes, graph.add("ReduceSum", classes, graph.hold([-1]), keepdims=1))
    return graph.add("Where", lost, even, graph.add("Div", weights, safe))
