"""An automaton as tables of integers, which C and JavaScript read alike: no product or sum leaves 53 bits.

Stochastic kinds: a distribution is whole numbers that sum to D, a row of a matrix whole numbers that sum to S. A step
divides by S and rounds down; what is missing then goes to state 0 with the next step, so that no text loses mass. A
row that is off by at most ε (L1) and a step that is off by at most 2n/D make an error of at most L·(ε + 2n/D) after L
words, because rows that are distributions do not enlarge differences; outputs are off by half of that at most.

The linear kind: each number of the state is divided by four times the most that common texts and repeated words make
of it (but at most by `LinearWFA.bounds`), and what is read of earlier layers by the most that it can be. So the numbers
of a step lie in [−1, 1]; those of a text that goes beyond are cut there. The error is measured, not bounded.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, floor, log2
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.linear import Factors, LinearWFA, paired
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.shapley.quadrature import TOLERANCE, gauss_legendre, largest_marginal, quadrature_error
from wfalens.explanation.shapley.shapley_values import MOST_WORDS
from wfalens.export.runtime.word_list import Arrays, Numbers, empty_words, hashed_words, tokenizer_tables
from wfalens.ragged import Ragged
from wfalens.text.vocabulary import UNKNOWN

BITS = (8, 16, 32)
_FINAL_UNIT = 1 << 8  # outputs of small automata of 8 bits are multiples of it
FINAL_ONE, NODE_ONE, WEIGHT_ONE = 1 << 22, 1 << 22, 1 << 24  # of outputs, and of nodes and weights of quadrature
ROW_ONE = {8: 256, 16: 65535, 32: 1 << 26}  # S; of 8 bits, 255 stands for 256
STATE_ONE = {8: 1 << 14, 16: 1 << 30, 32: 1 << 26}  # D: a state of 16 bits for 8, S·D fits into 53 bits for all
MOST_ENTRIES = 1 << 16
_LINEAR_ONE, _MOST_LINEAR = 1 << 30, 512  # of a state of the linear kind, and how many it may have
_MOST_LOGIT_BITS = 20
_FACTOR_MOST, _COLUMN_MOST = {8: 127, 16: 32767, 32: (1 << 22) - 1}, {8: 32767, 16: 32767, 32: (1 << 22) - 1}
_UNSIGNED = {8: np.uint8, 16: np.uint16, 32: np.uint32}
_SIGNED: dict[int, type[np.signedinteger[Any]]] = {8: np.int8, 16: np.int16, 32: np.int32}
_WORDS_AT_ONCE = 256
_SIDE = 16  # columns of a block of weights in C
_MOST_IN_BLOCKS = 1 << 15  # bytes of matrices that C has as blocks
_MARGIN, _ROOM = 1.01, 4.0  # of bounds, for rounding; of what common texts make of a number
_READ_ROOM = 1.02  # of what is read of earlier layers, so that rounded sums have 31 bits
_RANDOM_TEXTS, _RANDOM_WORDS = 1000, 20
_REPEATED, _TIMES = 4000, 30  # words, and how often each is repeated
_SEED = 0
_NODES = (*range(1, 9), 10, 12, 14, 16, 32, 64, 128, 256, 512)  # of the rules of quadrature


@dataclass(frozen=True, eq=False)
class Tables:
    """All that the runtimes read: numbers, arrays, and what they stand for."""

    kind: str
    unit: str
    class_names: tuple[str, ...]
    numbers: Numbers
    arrays: Arrays
    ids: NDArray[np.int32]  # words that have an entry of their own, as the automaton numbers them
    entries: NDArray[np.int64]  # (ids,): their places in the tables; all other words have 0
    row_error: float | None  # ε: the largest L1 error of a row; None for the linear kind, whose error is measured
    rounded: LinearWFA | None  # the linear automaton with its rounded factors, expansion and links

    @property
    def bytes(self) -> int:
        """What the arrays take in the memory of C."""
        return sum(array.nbytes for array in self.for_c().arrays.values())

    def for_c(self) -> Tables:
        """As C reads them: small matrices in blocks, as runtime.c describes them."""
        if not self.numbers["blocks"]:
            return self
        final = self.arrays["final"].reshape(self.numbers["states"], -1) // _FINAL_UNIT
        matrices, read_out = self.matrices(), np.pad(final, ((0, 0), (0, -final.shape[1] % _SIDE))).astype(np.int64)
        matrices[:, :, 0] -= self.numbers["row_one"]
        matrices = np.pad(matrices, ((0, 0), (0, 0), (0, -matrices.shape[2] % _SIDE)))
        made = {
            "weights": _in_pairs(matrices),
            "final_pairs": _in_pairs((read_out - read_out[0])[None]),
            "final_base": (read_out[0] * self.numbers["state_one"]).astype(np.int32),
        }
        rows = dict.fromkeys(("row_sizes", "matrix_starts", "targets"), np.zeros(0, np.uint8))
        return replace(self, arrays=self.arrays | rows | made)

    def matrices(self) -> NDArray[np.int64]:
        """Of a stochastic kind: the whole weights of all entries; (entries, n, n)"""
        from scipy import sparse

        arrays, n, one = self.arrays, self.numbers["states"], self.numbers["row_one"]
        weights = arrays["weights"].astype(np.int64)
        weights[weights == one - 1] = one if one == ROW_ONE[8] else one - 1
        starts = np.append(0, np.cumsum(arrays["row_sizes"], dtype=np.int64))
        rows = sparse.csr_array((weights, arrays["targets"], starts), (len(starts) - 1, n))
        return np.asarray(rows.toarray()).reshape(-1, n, n)

    @property
    def final_error(self) -> float:
        """The most that rounding changes an output of a state."""
        return (_FINAL_UNIT if self.numbers["blocks"] else 1) / FINAL_ONE

    def error_bound(self, length: int) -> float | None:
        """The most that a probability of a text of so many words can be off, where no mass is lost."""
        if self.row_error is None or self.numbers["lossy"]:
            return None
        step = self.row_error + 2 * self.numbers["states"] / self.numbers["state_one"]
        return length * step / 2 + (self.numbers["classes"] + 2) / FINAL_ONE + self.final_error

    def explanation_bound(self, length: int) -> float | None:
        """The same of a Shapley value: errors of both passes, of the two differences and of the nodes."""
        if self.row_error is None or self.numbers["lossy"]:
            return None
        step = self.row_error + 4 * self.numbers["states"] / self.numbers["state_one"]
        value = (length + 1) * (step + 2**-19 + self.final_error) + TOLERANCE
        return self.numbers["free_classes"] * value  # the last class has what all others have, with the other sign


IN_MEMORY: Callable[[Tables], int] = attrgetter("bytes")


def make_tables(
    wfa: WFA,
    ids: NDArray[np.int32],
    bits: int,
    max_bytes: int | None = None,
    *,
    size_of: Callable[[Tables], int] = IN_MEMORY,
    for_page: bool = False,
) -> Tables | None:
    """Tables of an automaton with some of its words; all others read as `<unk>`, even where the automaton would go by
    their form. None: even none of them fits.

    Args:
        wfa: a stochastic or linear automaton.
        ids: (N,) words that may have an entry, most important first.
        bits: 8, 16 or 32 for a weight.
        max_bytes: the last words are left out until the tables have this size.
        size_of: what the tables take in the file or in memory.
        for_page: list words even if they read as `<unk>` does.
    """
    if bits not in BITS:
        raise InputError(f"weights have {', '.join(map(str, BITS))} bits, not {bits!r}", code="option-value")
    reading, letters = tokenizer_tables(wfa.encoder)
    asked = np.concatenate([[UNKNOWN], ids[ids != UNKNOWN]]).astype(np.int32)
    decode = wfa.encoder.vocabulary.decode
    source: _StochasticTables | _LinearTables
    if isinstance(wfa, StochasticWFA):
        source = _StochasticTables(wfa, asked, bits, max_bytes)
    elif isinstance(wfa, LinearWFA):
        source = _LinearTables(wfa, asked, bits)
    else:
        raise InputError(f"automata of the kind {wfa.kind!r} cannot be exported", code="kind")
    nodes, rules = _quadrature(wfa)

    def tables(count: int) -> Tables:
        """With the first of the asked words, `<unk>` among them, but without their hashes."""
        entries = source.entries[:count]
        if entries.max() >= MOST_ENTRIES:
            raise InputError(f"more than {MOST_ENTRIES:,} words have matrices of their own", code="too-large")
        listed = np.arange(count) > 0 if for_page or wfa.encoder.closed else entries > 0
        kept, wide = asked[:count][listed], int(entries.max() > np.iinfo(np.uint8).max)
        numbers, arrays = source.tables(int(entries.max()) + 1)
        classes = len(wfa.class_names)
        numbers |= {"linear": int(isinstance(wfa, LinearWFA)), "classes": classes}
        numbers["free_classes"] = classes - (classes > 1 and not numbers["lossy"])
        numbers |= {"word_count": len(kept), "wide_entries": wide, **reading, **nodes}
        sizes, hashed = empty_words(len(kept), bool(wide))
        numbers, arrays = numbers | sizes, {**hashed, **letters, **arrays, **rules}
        places = kept, entries[listed]
        return Tables(wfa.kind, wfa.unit, wfa.class_names, numbers, arrays, *places, source.error, source.rounded)

    count = len(source.entries)
    if max_bytes is not None:
        count = bisect_right(range(1, count + 1), max_bytes, key=lambda words: size_of(tables(words)))
    if not count:
        return None
    made = tables(count)
    others = np.setdiff1d(np.arange(UNKNOWN + 1, len(wfa.encoder.vocabulary), dtype=np.int32), made.ids)
    hashed = hashed_words(decode(made.ids), made.entries, decode(others), bool(made.numbers["wide_entries"]))
    return replace(made, numbers=made.numbers | hashed[0], arrays=made.arrays | hashed[1])


def whole_rows(rows: NDArray[np.float64], one: int) -> NDArray[np.int64]:
    """Rows in parts of `one` by the largest remainder method, which keeps their sums. (…, n) -> (…, n)"""
    scaled = rows * one
    whole = np.floor(scaled + 1e-9)
    missing = np.rint(scaled.sum(-1)) - whole.sum(-1)
    rank = np.argsort(np.argsort(whole - scaled, axis=-1, kind="stable"), axis=-1, kind="stable")
    return np.asarray(whole + (rank < missing[..., None]), np.int64)


def _without_255(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Whole rows of 8 bits, in which 255 stands for 256: the largest number of a row is never 255."""
    nearly = rows == ROW_ONE[8] - 1
    return np.where(nearly.any(-1, keepdims=True), nearly * ROW_ONE[8], rows)


def _pairs(states: int) -> int:
    """Of states that stand side by side in C: of every 16, i and i + 8."""
    full, left = divmod(states, _SIDE)
    return _SIDE // 2 * full + min(left, _SIDE // 2)


def _in_pairs(matrices: NDArray[np.int64]) -> NDArray[np.int16]:
    # (M, n, columns) -> (M · pairs · columns · 2,)
    count, n, columns = matrices.shape
    padded = np.pad(matrices, ((0, 0), (0, -n % _SIDE), (0, 0))).astype(np.int16)
    pairs = padded.reshape(count, -1, 2, _SIDE // 2, columns).transpose(0, 1, 3, 4, 2)
    return pairs.reshape(count, -1, columns, 2)[:, : _pairs(n)].ravel()


class _StochasticTables:
    """Rounded matrices of words in their order; words with equal ones share an entry. That of `<unk>` is 0.

    Rounding ends where the matrices alone are larger than `max_bytes`: `entries` are of fewer words then.
    """

    def __init__(self, wfa: StochasticWFA, asked: NDArray[np.int32], bits: int, max_bytes: int | None) -> None:
        from scipy import sparse

        n, one = wfa.states, ROW_ONE[bits]
        if n >= MOST_ENTRIES:
            raise InputError(f"{n:,} states are too many to be exported", code="too-large")
        self.error: float | None = 0.0
        self.rounded = None
        self._wfa, self._bits, self._lossy = wfa, bits, False
        self._matrices = list[sparse.csr_array]()
        _, first, which = np.unique(wfa.row_set[asked], return_index=True, return_inverse=True)
        order = np.argsort(first)  # sets of rows, as words first use them
        place = np.full(len(first), -1)
        found, used = dict[bytes, int](), 0
        for some in (order[at : at + _WORDS_AT_ONCE] for at in range(0, len(order), _WORDS_AT_ONCE)):
            exact = wfa.matrices(asked[first[some]])
            rounded = _without_255(whole_rows(exact, one)) if bits == BITS[0] else whole_rows(exact, one)
            self.error = max(self.error or 0.0, float(np.abs(rounded / one - exact).sum(2).max()))
            self._lossy = self._lossy or bool(np.any(rounded.sum(2) != one))
            stored = np.minimum(rounded, (1 << bits) - 1).astype(_UNSIGNED[bits])
            for at, matrix in zip(some, stored, strict=True):
                place[at] = found.setdefault(matrix.tobytes(), len(found))
                if place[at] == len(self._matrices):
                    self._matrices.append(sparse.csr_array(matrix))
                    used += self._matrices[-1].data.nbytes
            if max_bytes is not None and used > max_bytes:
                break
        entries = place[which]
        self.entries = entries[: int(np.argmax(entries < 0)) or len(entries)].astype(np.int64)

    def tables(self, count: int) -> tuple[Numbers, Arrays]:
        """Of the first entries."""
        from scipy import sparse

        n = self._wfa.states
        few = np.uint8 if n <= np.iinfo(np.uint8).max else np.uint16
        stacked = sparse.vstack(self._matrices[:count], "csr")
        rows: Arrays = {
            "row_sizes": np.diff(stacked.indptr).astype(few),
            "matrix_starts": stacked.indptr[:-1:n].astype(np.uint32),
            "targets": stacked.indices.astype(few),
            "weights": stacked.data,
        }
        in_blocks = 4 * count * _pairs(n) * (n + -n % _SIDE)
        numbers = {
            "states": n,
            "row_one": ROW_ONE[self._bits],
            "state_one": STATE_ONE[self._bits],
            "lossy": int(self._lossy),
            "blocks": int(self._bits == BITS[0] and not self._lossy and in_blocks <= _MOST_IN_BLOCKS),
            "logit_bits": 0,
        }
        unit = _FINAL_UNIT if numbers["blocks"] else 1
        return numbers, {
            **rows,
            "final": (whole_rows(self._wfa.centres, FINAL_ONE // unit) * unit).astype(np.uint32).ravel(),
        }


def _quadrature(wfa: WFA) -> tuple[Numbers, Arrays]:
    """Gauss-Legendre rules, the lower half of the nodes of each, and the longest text that each is enough for."""
    most = min(MOST_WORDS, wfa.encoder.max_length or MOST_WORDS)
    scale = largest_marginal(wfa)
    limits: list[int] = []
    z, weights = list[NDArray[np.int64]](), list[NDArray[np.int64]]()
    for count in _NODES:
        longer = range(2 * count + 1, MOST_WORDS + 1)
        error = partial(quadrature_error, nodes=count, scale=scale)
        limits.append(2 * count + bisect_right(longer, TOLERANCE, key=error))
        half, odd = (count + 1) // 2, count % 2
        nodes, weight = gauss_legendre(count)
        share = np.append(weight[: half - odd], weight[half - odd : half] / 2)
        whole = whole_rows(share, WEIGHT_ONE)
        whole[half - odd :] *= 2  # the one in the middle is its own mirror
        z.append(np.rint(nodes[:half] * NODE_ONE).astype(np.int64))
        weights.append(whole)
        if limits[-1] >= most:
            break
    arrays: Arrays = {
        "node_limits": np.asarray(limits, np.uint32),
        "node_counts": np.asarray(_NODES[: len(limits)], np.uint16),
        "node_z": np.concatenate(z).astype(np.uint32),
        "node_weights": np.concatenate(weights).astype(np.uint32),
    }
    return {"most_explained": min(most, limits[-1])}, arrays


class _LinearTables:
    """Rounded factors of words, and what makes steps of them, scaled as the module's docstring says."""

    error: float | None = None

    def __init__(self, wfa: LinearWFA, asked: NDArray[np.int32], bits: int) -> None:
        if wfa.states > _MOST_LINEAR:
            raise InputError(f"a linear automaton of {wfa.states} states is too large to be exported", code="too-large")
        self._wfa, self._bits, self._scales = wfa, bits, LinearScales.of(wfa)
        factors, scales = wfa.factors, self._scales
        table, self._columns, self._first_shift, rounded = _described(factors, asked, scales.units, bits)
        self._factors, self.entries = _distinct_rows(table)
        scaled = factors.links.astype(np.float64) * scales.state[:, None] / scales.read
        top = float(np.abs(scaled).max(initial=0.0))
        self._link_bits = 20 if bits == BITS[-1] else min(16, 14 - ceil(log2(top)) if top else 0)
        self._links = np.rint(scaled * 2**self._link_bits)
        links = self._links / 2**self._link_bits * scales.read / scales.state[:, None]
        self.rounded = LinearWFA(
            encoder=wfa.encoder,
            class_names=wfa.class_names,
            factors=rounded._replace(links=links.astype(np.float32)),
            mean_state=wfa.mean_state,
            word_counts=wfa.word_counts,
        )

    def tables(self, count: int) -> tuple[Numbers, Arrays]:
        """Of the first entries."""
        wfa, factors, scales = self._wfa, self._wfa.factors, self._scales
        n, m, wide, none = wfa.states - 1, factors.width, self._bits == BITS[-1], np.zeros(0, np.int32)
        blocks = [np.pad(self._links[:at, at : at + m], ((0, at % 2), (0, -m % _SIDE))) for at in range(m, n, m)]
        paired_links = [block.reshape(-1, 2, block.shape[1]).swapaxes(1, 2).ravel() for block in blocks]
        final = wfa.read_out(np.eye(n + 1)) * np.append(scales.state, 1.0)[:, None]
        logit_bits = ceil(log2(max(float(np.abs(final).sum(0).max()), 2.0**-20)))
        if logit_bits > _MOST_LOGIT_BITS:
            raise InputError("the weights of the automaton are too large to be exported", code="too-large")
        numbers = {
            "states": n + 1,
            "width": m,
            "turns": int(factors.turns),
            "decay": round(factors.decay * FINAL_ONE),
            "factors": self._factors.shape[1],
            "columns": len(factors.offset),
            "link_bits": self._link_bits,
            "read_shift": 0 if wide else 15,  # of a state before products with links, whose sums then have 31 bits
            "gate_bits": scales.gate_bits,
            "short_steps": int(self._bits == BITS[0]),  # steps of 16 bits
            "logit_bits": logit_bits,
            "state_one": _LINEAR_ONE,
            "lossy": 0,
            "blocks": 0,
            "first_shift": self._first_shift,
        }
        start = np.append(factors.start / scales.state, 1.0) * _LINEAR_ONE
        return numbers, {
            "factors": self._factors[:count].astype(_SIGNED[self._bits]).ravel(),
            **self._columns,
            "links": np.concatenate([np.zeros(0), *paired_links]).astype(np.int32 if wide else np.int16),
            "start": np.rint(start).astype(np.int32),
            "final": np.rint(final.T * 2.0 ** (22 - logit_bits)).astype(np.int32).ravel(),
            "exp2": _polynomial(lambda x: 2.0**-x, 6, 1 << 30),
            "sine": _polynomial(lambda x: np.sin(np.pi / 2 * x), 8, 1 << 28) if factors.turns and m > 1 else none,
        }


class LinearScales(NamedTuple):
    """What the numbers of a linear automaton are divided by."""

    state: NDArray[np.float64]  # (n,)
    read: NDArray[np.float64]  # (n,): what is read of earlier layers
    units: NDArray[np.float64]  # (3n − m,): what each column of the expansion is multiplied by
    gate_bits: int

    @classmethod
    def of(cls, wfa: LinearWFA) -> LinearScales:
        factors, n, m = wfa.factors, wfa.states - 1, wfa.factors.width
        state = _ranges(wfa)
        read = np.maximum(_READ_ROOM * state @ np.abs(factors.links.astype(np.float64)), 1e-30)
        units, here = _units(factors, state, read), slice(n, 2 * n - m)
        gates = factors.words.astype(np.float64) @ factors.expansion[:, here] + factors.offset[here]
        largest = float(np.abs(gates * units[here]).max(initial=0.0))
        gate_bits = 22 - max(0, ceil(log2(largest)) if largest else 0)
        units[here] *= 2.0 ** (gate_bits - 22)
        return cls(state, read, units, gate_bits)


def _ranges(wfa: LinearWFA) -> NDArray[np.float64]:
    """What each number of the state is divided by; equal for pairs that turn. -> (n,)"""
    common = np.argsort(-wfa.word_counts[UNKNOWN:], kind="stable")[:_REPEATED] + UNKNOWN
    repeated = Ragged.from_lengths(np.repeat(common, _TIMES).astype(np.int32), np.full(len(common), _TIMES))
    seen = np.abs(wfa.initial[:-1])
    for part in (*drawn_texts(wfa).chunks(1 << 12), *repeated.chunks(1 << 12)):
        seen = np.maximum(seen, np.abs(wfa.state_vectors(part, every=True)[:, :-1]).max(0, initial=0.0))
    if wfa.factors.turns:
        seen[: wfa.factors.width] = paired(seen[: wfa.factors.width])
    return np.maximum(np.minimum(_ROOM * seen, _MARGIN * wfa.bounds), 1e-30)


def drawn_texts(wfa: WFA) -> Ragged[np.int32]:
    """Texts of words drawn by their frequency in extraction."""
    counts = wfa.word_counts[UNKNOWN:].astype(np.float64)
    counts = counts if counts.sum() else np.ones_like(counts)
    if wfa.encoder.closed:
        counts[0] = 0
    length = min(_RANDOM_WORDS, wfa.encoder.max_length or _RANDOM_WORDS)
    drawn = np.random.default_rng(_SEED).choice(len(counts), _RANDOM_TEXTS * length, p=counts / counts.sum())
    return Ragged.from_lengths((drawn + UNKNOWN).astype(np.int32), np.full(_RANDOM_TEXTS, length))


def _units(factors: Factors, bounds: NDArray[np.float64], most_read: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each column of the expansion is multiplied by: exponents of 2, parts of a turn, and parts of bounds."""
    n, m = len(factors.start), factors.width
    stays = np.full(n, (2 if factors.turns else 1) / np.log(2))  # tanh(x) = 2·sigmoid(2x) − 1
    if factors.turns:
        stays[: m // 2], stays[m // 2 : m // 2 * 2] = 1 / np.log(2), 1 / (2 * np.pi)
    return np.concatenate([stays, most_read[m:] / bounds[m:], 1 / bounds])


def _described(
    factors: Factors, asked: NDArray[np.int32], units: NDArray[np.float64], bits: int
) -> tuple[NDArray[np.int64], Arrays, int, Factors]:
    """Whole factors of words, whole columns, and for each column a multiplier and a shift; and the shift before it.

    Last, the factors with what rounding makes of these.
    """
    table = factors.words[asked].astype(np.float64)
    scale = np.maximum(np.abs(table).max(0), 1e-30) / _FACTOR_MOST[bits]
    columns = scale[:, None] * factors.expansion.astype(np.float64) * units
    column_scale = np.maximum(np.abs(columns).max(0), 1e-30) / _COLUMN_MOST[bits]
    largest = table.shape[1] * _FACTOR_MOST[bits] * _COLUMN_MOST[bits]
    if largest >= 1 << 53:
        raise InputError(f"{table.shape[1]} factors per word are too many for {bits} bits", code="too-large")
    first = max(0, largest.bit_length() - 30)
    exact = column_scale * FINAL_ONE * 2.0**first
    shift = np.array([21 - floor(log2(each)) for each in exact])
    multiplier = np.where(shift > 52, 0, np.rint(exact * 2.0 ** np.minimum(shift, 52)))
    offset = np.clip(np.rint(factors.offset * units * FINAL_ONE), -(2**31) + 1, 2**31 - 1)
    words, whole_columns = factors.words.copy(), np.rint(columns / column_scale)
    words[asked] = np.rint(table / scale) * scale
    expansion = (whole_columns * column_scale / units / scale[:, None]).astype(np.float32)
    return (
        np.rint(table / scale).astype(np.int64),
        {
            "expansion": whole_columns.astype(np.int32 if bits == BITS[-1] else np.int16).ravel(),
            "multipliers": multiplier.astype(np.uint32),
            "shifts": np.minimum(shift, 52).astype(np.uint8),
            "offset": offset.astype(np.int32),
        },
        first,
        factors._replace(words=words, expansion=expansion),
    )


def _distinct_rows(table: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows without repetition in the order of their first, and the place of each; (N, R) -> (M, R), (N,)"""
    _, first, which = np.unique(table, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.argsort(order)
    return table[first[order]], rank[which.ravel()].astype(np.int64)


def _polynomial(function: Any, degree: int, one: int) -> NDArray[np.int32]:
    """Whole coefficients on [0, 1], the highest power first."""
    fitted = np.polynomial.Chebyshev.interpolate(function, degree, [0, 1]).convert(kind=np.polynomial.Polynomial)
    return np.rint(fitted.coef[::-1] * one).astype(np.int32)


def outputs(tables: Tables, wfa: WFA, ids: Ragged[np.int32]) -> NDArray[np.float64]:
    """Class weights by the rounded tables, in double precision, to measure what rounding costs. -> (texts, C)"""
    arrays, numbers = tables.arrays, tables.numbers
    entry = np.zeros(len(wfa.encoder.vocabulary), np.int64)
    entry[tables.ids] = tables.entries
    if tables.rounded is not None:
        read = np.where(entry[ids.values] > 0, ids.values, UNKNOWN).astype(np.int32)
        return tables.rounded.weights(Ragged(read, ids.offsets))
    n = numbers["states"]
    used, places = np.unique(entry[ids.values], return_inverse=True)
    matrices = tables.matrices()[used] / numbers["row_one"]
    vectors = np.tile(np.eye(1, n), (len(ids), 1))
    for position in range(int(ids.lengths.max(initial=0))):
        going = np.flatnonzero(ids.lengths > position)
        for some in np.array_split(going, len(going) // _WORDS_AT_ONCE + 1):
            at = places[ids.offsets[some] + position]
            vectors[some] = np.einsum("ti,tij->tj", vectors[some], matrices[at])
    return np.asarray(vectors @ (arrays["final"].reshape(n, -1) / FINAL_ONE))


def importance(wfa: WFA, asked: NDArray[np.int32]) -> NDArray[np.float64]:
    """How often a word was read, times how much it differs from `<unk>`; (N,)"""
    counts = np.maximum(wfa.word_counts[asked], 0.5)
    if isinstance(wfa, LinearWFA):
        factors = wfa.factors
        change = (factors.words[asked] - factors.words[UNKNOWN]).astype(np.float64) @ factors.expansion
        return np.asarray(counts * np.linalg.norm(change, axis=1))
    effect = np.empty(len(asked))
    plain = wfa.matrices(np.array([UNKNOWN], np.int32))[0] @ wfa.read_out(np.eye(wfa.states))
    for at in range(0, len(asked), _WORDS_AT_ONCE):
        some = asked[at : at + _WORDS_AT_ONCE]
        changed = wfa.matrices(some) @ wfa.read_out(np.eye(wfa.states))
        effect[at : at + len(some)] = np.abs(changed - plain).sum(2) @ np.maximum(wfa.state_frequencies, 1e-9)
    return np.asarray(counts * effect)
