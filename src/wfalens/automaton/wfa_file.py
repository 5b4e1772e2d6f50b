"""The `.wfa` file: tensors in the smallest exact types behind a versioned JSON header."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.completion import MOST_COUNTED, Shared, load_completion
from wfalens.automaton.kernels import layers
from wfalens.automaton.linear import Factors, LinearWFA
from wfalens.automaton.rows import load_rows, no_rows, store_rows
from wfalens.automaton.stochastic import StochasticWFA, bytes_in_use
from wfalens.automaton.wfa import WFA
from wfalens.automaton.word_bigrams import WordBigrams
from wfalens.errors import InputError
from wfalens.memory import check_in_use
from wfalens.storage import StoredFile, Tensors, compact, read_file, write_file
from wfalens.text.encoder import TextEncoder, restore_encoder, store_encoder
from wfalens.text.tokenizers import Tokenizer

FORMAT, VERSION = "wfa", 2
_SUM_TOLERANCE = 1e-6
_LARGEST_FACTOR = 1e9
_BIGRAMS = ("bigrams.cluster", "bigrams.counts")
_DEEPEST = 40  # objects within objects of a provenance
_READABLE = "readable"  # header entry of a readable automaton, and the beginning of its tensors' names


def save(wfa: WFA, path: str | Path) -> None:
    header, tensors = _stored(wfa)
    _check_in_use(tensors, _linear_bytes(wfa.factors) if isinstance(wfa, LinearWFA) else bytes_in_use(wfa.states))
    if wfa.attached_readable is not None:
        fields, parts = _store_readable(wfa.attached_readable)
        header[_READABLE] = fields
        tensors |= {f"{_READABLE}.{name}": part for name, part in parts.items()}
    if wfa.bigrams is not None:
        tensors |= {_BIGRAMS[0]: compact(wfa.bigrams.cluster), _BIGRAMS[1]: compact(wfa.bigrams.counts)}
    write_file(path, FORMAT, VERSION, header, tensors)


def _store_readable(readable: StochasticWFA) -> tuple[dict[str, Any], Tensors]:
    """What is stored of a readable automaton beside what it shares with the automaton: the words, the classes."""
    common, alphabet = store_encoder(readable.encoder)
    fields, parts = _store_stochastic(readable)
    _check_in_use(parts, bytes_in_use(readable.states))
    own = {name: value for name, value in fields.items() if name not in (*common, "class_names")}
    return own, {name: part for name, part in parts.items() if name not in alphabet}


def _check_in_use(tensors: Tensors, needed: int) -> None:
    check_in_use(needed, sum(tensor.nbytes for tensor in tensors.values()))


def _linear_bytes(factors: Factors) -> int:
    fits = 0 < factors.width <= len(factors.start)  # else there are no layers, which the automaton says itself
    return layers.bytes_in_use(len(factors.words), len(factors.start), factors.width) if fits else 0


def fingerprint(wfa: WFA) -> str:
    """A hash of all that an automaton is, but not of where it comes from."""
    header, tensors = _stored(wfa)
    del header["provenance"]
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tensor.shape}".encode())
        digest.update(np.ascontiguousarray(tensor).data)
    return digest.hexdigest()[:16]


def _store_stochastic(wfa: StochasticWFA) -> tuple[dict[str, Any], Tensors]:
    header, tensors = _store_common(wfa)
    completion = {"name": wfa.completion.name, **wfa.completion.options()}
    rows = {} if isinstance(wfa.completion, Shared) else store_rows("rows", wfa.rows)
    tensors |= {"centres": wfa.centres, "state_visits": wfa.state_visits, **rows, **wfa.completion.tensors()}
    return header | {"alpha": wfa.alpha, "completion": completion}, tensors


def _stored(wfa: WFA) -> tuple[dict[str, Any], Tensors]:
    return _store_linear(wfa) if isinstance(wfa, LinearWFA) else _store_stochastic(cast("StochasticWFA", wfa))


def _store_linear(wfa: LinearWFA) -> tuple[dict[str, Any], Tensors]:
    header, tensors = _store_common(wfa)
    tensors |= {f"factors.{name}": getattr(wfa.factors, name) for name in _FACTORS}
    return header | {"decay": wfa.factors.decay, "turns": wfa.factors.turns}, tensors | {"mean_state": wfa.mean_state}


def _store_common(wfa: WFA) -> tuple[dict[str, Any], Tensors]:
    header, tensors = store_encoder(wfa.encoder)
    header |= {"kind": wfa.kind, "class_names": list(wfa.class_names), "provenance": wfa.provenance}
    return header, tensors | {"word_counts": compact(wfa.word_counts)}


def load(path: str | Path, tokenizer: Tokenizer | None = None) -> WFA:
    file = read_file(path, FORMAT, VERSION)
    kind = file.field("kind", str)
    if kind not in _LOADERS:
        raise file.fail(f"its kind {kind!r} is not one of {', '.join(_LOADERS)}")
    try:
        encoder = restore_encoder(file, tokenizer)
        wfa = _LOADERS[kind](file.without(_READABLE), encoder)
        if _BIGRAMS[0] in file.tensors or _BIGRAMS[1] in file.tensors:
            wfa.bigrams = _load_bigrams(file, len(encoder.vocabulary))
        return wfa if _READABLE not in file.header else wfa.with_readable(_load_readable(file, encoder))
    except InputError as error:
        raise file.fail(str(error)) from None


def _load_bigrams(file: StoredFile, words: int) -> WordBigrams:
    cluster, counts = _counts(file, _BIGRAMS[0]), _counts(file, _BIGRAMS[1], 2)
    if len(cluster) != words:
        raise file.fail("its bigrams do not fit the alphabet")
    return WordBigrams(cluster.astype(np.int32), counts)


def _load_readable(file: StoredFile, encoder: TextEncoder) -> StochasticWFA:
    """The readable automaton, checked as any automaton is; words and classes are those of the automaton."""
    part = file.part(_READABLE, ("class_names",))
    if part.field("kind", str) != StochasticWFA.kind:
        raise file.fail("its readable automaton is not stochastic")
    return _load_stochastic(part, encoder)


def _load_stochastic(file: StoredFile, encoder: TextEncoder) -> StochasticWFA:
    class_names = file.class_names()
    centres = file.tensor("centres", "f", 2)
    n, words = len(centres), len(encoder.vocabulary)
    _check_in_use(file.tensors, bytes_in_use(n))
    if np.any(centres < 0) or np.any(np.abs(centres.sum(1) - 1) > _SUM_TOLERANCE):
        raise file.fail("its centres are not distributions")
    visits, counts = _counts(file, "state_visits"), _counts(file, "word_counts")
    completion = load_completion(file, words, n)
    return StochasticWFA(
        encoder=encoder,
        class_names=class_names,
        centres=centres,
        rows=no_rows(words) if isinstance(completion, Shared) else load_rows(file, "rows", words, n),
        completion=completion,
        alpha=file.number("alpha"),
        state_visits=visits,
        word_counts=counts,
        provenance=_provenance(file),
    )


def _provenance(file: StoredFile) -> dict[str, Any]:
    """What the file says of its origin, which readers walk through: not nested without an end."""
    entries, depth = file.field("provenance", dict), 0
    level: list[Any] = [entries]
    while level:
        depth += 1
        if depth > _DEEPEST:
            raise file.fail("its provenance is nested too deeply")
        inner = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list))
        level = [value for values in inner for value in values]
    origin: dict[str, Any] = entries
    return origin


def _load_linear(file: StoredFile, encoder: TextEncoder) -> LinearWFA:
    counts = _counts(file, "word_counts")
    with np.errstate(over="ignore"):  # what is too large for single precision is refused below
        parts = {name: file.tensor(f"factors.{name}", "f", axes).astype(np.float32) for name, axes in _FACTORS.items()}
    mean_state = file.tensor("mean_state", "f")
    if any(np.any(np.abs(part) > _LARGEST_FACTOR) for part in (mean_state, *parts.values())):
        raise file.fail("its factors are out of range")
    factors = Factors(**parts, decay=file.number("decay"), turns=file.field("turns", bool))
    _check_in_use(file.tensors, _linear_bytes(factors))
    return LinearWFA(
        encoder=encoder,
        class_names=file.class_names(),
        factors=factors,
        mean_state=mean_state,
        word_counts=counts,
        provenance=_provenance(file),
    )


def _counts(file: StoredFile, name: str, axes: int = 1) -> NDArray[np.int64]:
    counts = file.tensor(name, "iu", axes)
    if np.any(counts < 0) or counts.sum(dtype=np.float64) > MOST_COUNTED:
        raise file.fail("its counts are out of range")
    return counts.astype(np.int64)


_FACTORS = {"words": 2, "expansion": 2, "offset": 1, "links": 2, "start": 1, "final": 2, "bias": 1}  # and their axes
_LOADERS: dict[str, Callable[[StoredFile, TextEncoder], WFA]] = {
    StochasticWFA.kind: _load_stochastic,
    LinearWFA.kind: _load_linear,
}
