"""An automaton small enough to embed in a page, so that readers can type: common words with rounded weights."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.linear import LinearWFA
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.text.tokenizers import CUSTOM, is_import_path
from wfalens.text.vocabulary import UNKNOWN

_MOST_BYTES = 2_400_000  # before they are written as text, which takes a third more
_MOST_STATES = 256  # a state's number is one byte
_ONE = 255  # weights are bytes
_BLOCK = 256  # words whose matrices are held at once


def embedded_runtime(wfa: WFA, most_bytes: int = _MOST_BYTES) -> dict[str, Any]:
    """As many of the most common words as fit; all others read as `<unk>`. The script of the page reads it."""
    if wfa.encoder.tokenizer_name == CUSTOM or is_import_path(wfa.encoder.tokenizer_name):
        raise InputError("texts are split by a custom tokenizer, which a page cannot carry", code="not-embeddable")
    common = np.argsort(-wfa.word_counts[UNKNOWN + 1 :], kind="stable") + UNKNOWN + 1
    ids = np.concatenate([[UNKNOWN], common[wfa.word_counts[common] > 0]]).astype(np.int32)
    if isinstance(wfa, StochasticWFA):
        carried, fields = _stochastic(wfa, ids, most_bytes)
    elif isinstance(wfa, LinearWFA):
        carried, fields = _linear(wfa, ids, most_bytes)
    else:
        raise InputError(f"a page cannot carry an automaton of kind {wfa.kind}", code="not-embeddable")
    tokens = max(1, int(wfa.word_counts[UNKNOWN + 1 :].sum()))
    return {
        "kind": wfa.kind,
        **wfa.encoder.settings,
        "words": wfa.encoder.vocabulary.decode(carried),
        "counts": wfa.word_counts[carried].tolist(),
        "of": int((wfa.word_counts[UNKNOWN + 1 :] > 0).sum()),
        "share": round(float(wfa.word_counts[carried[1:]].sum() / tokens), 4),
        **fields,
    }


def _stochastic(
    wfa: StochasticWFA, ids: NDArray[np.int32], most_bytes: int
) -> tuple[NDArray[np.int32], dict[str, Any]]:
    """Rows as bytes that sum to 255 wherever the row sums to 1; three runs: entries of each row, targets, weights."""
    if wfa.states > _MOST_STATES:
        raise InputError(f"a page can carry {_MOST_STATES} states, not {wfa.states}", code="not-embeddable")
    sizes, targets, weights, used, words = [], [], [], 0, 0
    for start in range(0, len(ids), _BLOCK):
        whole = rounded(wfa.matrices(ids[start : start + _BLOCK]))
        there = whole > 0
        cost = wfa.states + 2 * there.sum((1, 2))
        fit = int(np.searchsorted(np.cumsum(cost), most_bytes - used, side="right"))
        whole, there = whole[:fit], there[:fit]
        sizes.append(there.sum(2).astype(np.uint8))
        targets.append(np.nonzero(there)[2].astype(np.uint8))
        weights.append(whole[there].astype(np.uint8))
        used, words = used + int(cost[:fit].sum()), words + fit
        if fit < len(cost):
            break
    fields = {
        "states": wfa.states,
        "centres": wfa.centres.round(6).tolist(),
        "sizes": _text(np.concatenate(sizes)),
        "targets": _text(np.concatenate(targets)),
        "weights": _text(np.concatenate(weights)),
    }
    return ids[:words], fields


def rounded(matrices: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rows in 255ths by the largest remainder method, which keeps their sums. (N, n, n) -> (N, n, n)"""
    scaled = matrices * _ONE
    whole = np.floor(scaled + 1e-9)
    missing = np.rint(scaled.sum(2)) - whole.sum(2)
    rank = np.argsort(np.argsort(whole - scaled, axis=2, kind="stable"), axis=2, kind="stable")
    return np.asarray(whole + (rank < missing[:, :, None]), np.int64)


def _linear(wfa: LinearWFA, ids: NDArray[np.int32], most_bytes: int) -> tuple[NDArray[np.int32], dict[str, Any]]:
    """The words' factors as 16-bit numbers with a scale for each column, and all else in single precision."""
    factors = wfa.factors
    fixed = sum(array.nbytes for array in (factors.expansion, factors.offset, factors.links, factors.final))
    words = min(len(ids), max(1, (most_bytes - fixed) // (2 * factors.words.shape[1])))
    table = factors.words[ids[:words]].astype(np.float64)
    scale = np.maximum(np.abs(table).max(0), np.finfo(np.float32).tiny) / np.iinfo(np.int16).max
    return ids[:words], {
        "states": len(factors.start),
        "width": factors.width,
        "decay": factors.decay,
        "turns": factors.turns,
        "scale": _text(scale.astype("<f4")),
        "factors": _text(np.rint(table / scale).astype("<i2")),
        **{
            name: _text(np.ascontiguousarray(getattr(factors, name), "<f4"))
            for name in ("expansion", "offset", "links", "start", "final", "bias")
        },
    }


def _text(values: NDArray[Any]) -> str:
    return base64.b64encode(values.tobytes()).decode()
