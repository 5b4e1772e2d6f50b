"""ONNX: the automaton as a graph from word ids to class probabilities, for onnxruntime and its kin.

Input `ids`, int64 (batch, time): ids of the automaton's alphabet; 0 is padding and changes nothing, wherever it
stands. Ids outside the alphabet, and of words that were not exported, read as `<unk>`. Outputs, in double precision:
`probabilities` (batch, classes) after the last word, `trace` (batch, time, classes) after every word, and `weights`
(batch, classes), which is A(w). The metadata entry `wfalens` is JSON: the alphabet, the exported words, the class
names, the tokenizer and the cut-off length.

The graph is written as text, as `onnx.parser` reads it.

A `Scan` over time carries the state vector. A stochastic automaton holds one matrix per exported word; a linear one
holds its factors, and makes decays, gates and inputs of the words that it reads.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.linear import LinearWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError, naming_extras
from wfalens.export.exporters import exporter
from wfalens.export.subset import Subset, chosen_ids, chosen_states, subset, with_unknown
from wfalens.text.vocabulary import PADDING, UNKNOWN

_MOST_FLOATS = 1 << 26  # of the matrices: protobuf ends at 2 GB, and several copies are made on the way


_GRAPH = """
<ir_version: 8, opset_import: ["" : 17], producer_name: "wfalens">
automaton (int64[batch, time] ids)
  => (double[batch, CLASSES] probabilities, double[batch, time, CLASSES] trace, double[batch, CLASSES] weights)
{
  positive = GreaterOrEqual(ids, padding)
  below = Less(ids, alphabet)
  known = And(positive, below)
  inside = Where(known, ids, unknown)
  led = Pad(inside, one_before, padding)
  places = Gather(slots, led)
  slot = Transpose <perm = [1, 0]> (places)
  batch_size = Shape <start = 1> (slot)
  initial_shape = Concat <axis = 0> (batch_size, states)
  initial = Expand(start, initial_shape)
READING
  words = Slice(every, first_axis, end, first_place)
  by_text = Transpose <perm = [1, 0, 2]> (words)
  last_product = MatMul(last, final)
  weights = Add(last_product, bias)
  every_product = MatMul(by_text, final)
  traced = Add(every_product, bias)
READ_OUT
}
"""
_STOCHASTIC = """
  last, every = Scan <num_scan_inputs = 1, body = step
    (double[batch, n] state, int64[batch] place) => (double[batch, n] after, double[batch, n] shown) {
      matrix = Gather(matrices, place)
      row = Unsqueeze(state, first_axis)
      product = MatMul(row, matrix)
      after = Squeeze(product, first_axis)
      shown = Identity(after)
    }> (initial, slot)
"""
_FACTORS = """
  narrow = Gather(factors, slot)
  wide = Cast <to = 11> (narrow)
  expanded = MatMul(wide, expansion)
  described = Add(expanded, offset)
  nowhere = Equal(slot, padding_slot)
  skipped = Unsqueeze(nowhere, last_axis)
"""
_PLAIN_DECAY = """
  kept, raw_gate, entry = Split <axis = 2> (described, columns)
  share = Sigmoid(kept)
  decay = Mul(share, largest)
  gate = Pad(raw_gate, gap)
"""
_TURNING_DECAY = """
  raw_radius, angle, raw_rest, raw_gate, entry = Split <axis = 2> (described, columns)
  radius_share = Sigmoid(raw_radius)
  radius = Mul(radius_share, largest)
  ahead = Add(angle, quarter)
  cosine = Sin(ahead)
  sine = Sin(angle)
  along = Mul(radius, cosine)
  across = Mul(radius, sine)
  rest_share = Tanh(raw_rest)
  rest = Mul(rest_share, largest)
  decay = Concat <axis = 2> (along, along, rest)
  back = Neg(across)
  later = Pad(raw_gate, gap)
  gate = Concat <axis = 2> (back, across, later)
"""
_LINEAR_STEP = """
  exact = Concat <axis = 2> (decay, gate, entry)
  single = Cast <to = 1> (exact)
  stored = Cast <to = 11> (single)
  last, every = Scan <num_scan_inputs = 2, body = step
    (double[batch, n] state, double[batch, m] word, bool[batch, 1] skip)
    => (double[batch, n] after, double[batch, n] shown) {
      d, s, b = Split <axis = 1> (word, thirds)
      read = MatMul(state, links)
      kept_state = Mul(state, d)
      gated = Mul(read, s)
      moved = Add(kept_state, gated)
      entered = Add(moved, b)
      after = Where(skip, state, entered)
      shown = Identity(after)
    }> (initial, stored, skipped)
"""
_SCALED = """
  total_OUT = ReduceSum <keepdims = 1> (WEIGHTS, last_place)
  lost_OUT = LessOrEqual(total_OUT, nothing)
  divisor_OUT = Where(lost_OUT, one, total_OUT)
  shares_OUT = Div(WEIGHTS, divisor_OUT)
  OUT = Where(lost_OUT, even, shares_OUT)
"""
_SOFTMAX = """
  OUT = Softmax <axis = -1> (WEIGHTS)
"""


@exporter("onnx", suffixes=(".onnx",), factored=True)
def to_onnx(
    wfa: WFA, words: Sequence[str] | int | None = None, states: Sequence[int] | None = None, threshold: float = 0.0
) -> bytes:
    """The automaton as a serialised model; words, states and threshold as for `subset`. `<unk>` is always in."""
    with naming_extras():
        import onnx
        import onnx.parser

    words = with_unknown(words)
    ids = chosen_ids(wfa, words)
    # every id of the alphabet has a slot: that of its word, of <unk>, or the one behind all words for padding
    slots = np.full(len(wfa.encoder.vocabulary), np.flatnonzero(ids == UNKNOWN)[0], np.int64)
    slots[ids], slots[PADDING] = np.arange(len(ids)), len(ids)
    if isinstance(wfa, LinearWFA):
        chosen_states(wfa, states, threshold)  # none can be left out
        (reading, constants), read_out = _linear(wfa, ids), _SOFTMAX
    else:
        (reading, constants), read_out = _stochastic(subset(wfa, words, states, threshold)), _SCALED
    outputs = (("weights", "probabilities"), ("traced", "trace"))
    written = "".join(read_out.replace("WEIGHTS", weights).replace("OUT", out) for weights, out in outputs)
    text = _GRAPH.replace("READING", reading).replace("READ_OUT", written)
    model = onnx.parser.parse_model(text.replace("CLASSES", str(len(wfa.class_names))))
    whole = {"padding": PADDING, "unknown": UNKNOWN, "alphabet": len(slots), "padding_slot": len(ids), "slots": slots}
    lists = {"first_place": [0], "first_axis": [1], "last_axis": [2], "last_place": [-1], "one_before": [0, 1, 0, 0]}
    whole |= lists | {"states": [len(constants["start"])], "end": [np.iinfo(np.int64).max]}
    reals = {"nothing": 0.0, "one": 1.0, "even": 1 / len(wfa.class_names)}
    held = {name: np.asarray(value, np.int64) for name, value in whole.items()}
    held |= {name: np.asarray(value) for name, value in reals.items()} | constants
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(value, name) for name, value in held.items() if name in text
    )
    onnx.helper.set_model_props(model, {"wfalens": json.dumps(_about(wfa, ids))})
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString(deterministic=True))


def _about(wfa: WFA, ids: NDArray[np.int32]) -> dict[str, Any]:
    vocabulary = wfa.encoder.vocabulary
    return {
        "kind": wfa.kind,
        "class_names": wfa.class_names,
        "alphabet": vocabulary.words,
        "exported": vocabulary.decode(ids),
        **wfa.encoder.settings,
    }


def _stochastic(part: Subset) -> tuple[str, dict[str, NDArray[Any]]]:
    """How the graph reads words, and its constants."""
    n = len(part.states)
    if len(part.words) * n * n > _MOST_FLOATS:
        raise InputError(
            f"the matrices of {len(part.words):,} words and {n} states are too large for an ONNX file; "
            "choose fewer words or states",
            code="too-large",
        )
    matrices = np.concatenate([part.matrices(), np.eye(n)[None]])
    bias = np.zeros(len(part.class_names))
    return _STOCHASTIC, {"matrices": matrices, "start": part.initial, "final": part.final, "bias": bias}


def _linear(wfa: LinearWFA, ids: NDArray[np.int32]) -> tuple[str, dict[str, NDArray[Any]]]:
    """The same by `x ← x∘d + (x·P)∘s + b`, with d, s and b in single precision, as the automaton keeps them."""
    factors, n, m = wfa.factors, wfa.states - 1, wfa.factors.width
    half = m // 2 if factors.turns else 0
    columns = [half, half, n - 2 * half] if factors.turns else [n]
    table = wfa.read_out(np.eye(n + 1))  # F and f, centred over the classes
    reading = _FACTORS + (_TURNING_DECAY if factors.turns else _PLAIN_DECAY) + _LINEAR_STEP
    return (
        reading,
        {
            "factors": np.vstack([factors.words[ids], np.zeros((1, factors.words.shape[1]), np.float32)]),
            "expansion": factors.expansion.astype(np.float64),
            "offset": factors.offset.astype(np.float64),
            "columns": np.array([*columns, n - m, n]),
            "thirds": np.array([n, n, n]),
            "largest": np.asarray(factors.decay, np.float64),
            "quarter": np.asarray(np.pi / 2),  # not every runtime has a cosine in double precision
            "gap": np.array([0, 0, m - 2 * half, 0, 0, 0]),  # nothing leads to the first layer
            "links": wfa.links,
            "start": wfa.initial[:-1],
            "final": table[:-1],
            "bias": table[-1],
        },
    )
