"""The linear automaton: real weights and a softmax read-out, for fidelity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.kernels.layers import LANES, Layers, in_blocks, layered_states, packed_links, partners
from wfalens.automaton.wfa import WFA, frozen
from wfalens.errors import InputError
from wfalens.ragged import Ragged
from wfalens.text.encoder import TextEncoder
from wfalens.text.vocabulary import PADDING, UNKNOWN
from wfalens.validation import Bounds, real

_TOKENS_AT_ONCE, _WORDS_AT_ONCE = 1 << 13, 1 << 10


class Factors(NamedTuple):
    """All that a linear automaton has learned. m: width of a layer, n = layers · m, R: factors per word.

    The state is a row `[x, 1]`. Reading σ, with d, s and b from numbers that are affine in σ's factors,

        x ← x∘d(σ) + (x·P)∘s(σ) + b(σ)        class weights = x·F + f

    P leads from each layer only to later ones; nothing leads to the first layer, where s(σ) turns pairs of numbers
    instead: j and j + m/2 turn by an angle and shrink to r < γ of their length (`d = r·cos`, `s = ±r·sin`). In later
    layers d = γ·tanh of a number, so that it may turn the sign of the state. So Êσ is block-triangular, and no block
    on its diagonal leaves more than γ < 1 of the length of what it finds: no text, however long, can make the state
    grow without bound. Automata that do not turn have d = γ·sigmoid everywhere, and no s in the first layer.
    """

    words: NDArray[np.float32]  # (V, R)
    expansion: NDArray[np.float32]  # (R, 3n − m): to the decays, gates and inputs
    offset: NDArray[np.float32]  # (3n − m,)
    links: NDArray[np.float32]  # P: (n, n), zero but above the block diagonal
    start: NDArray[np.float32]  # (n,)
    final: NDArray[np.float32]  # F: (n, C)
    bias: NDArray[np.float32]  # f: (C,)
    decay: float  # γ
    turns: bool = False  # whether pairs turn and signs may change

    @property
    def width(self) -> int:
        """m: 3n − m columns leave no choice."""
        return 3 * len(self.start) - len(self.offset)


class LinearWFA(WFA):
    """`softmax(I·E_w1⋯E_wL·F)` with real weights: states are directions, not label distributions.

    Class weights are log-odds up to a constant; they are centred, so that they sum to 0 over the classes.
    `mean_state` is the mean of the state over all prefixes of the extraction corpus, which takes the place of state
    frequencies where the effect of a word is averaged.

    Args:
        encoder: how a text becomes words.
        class_names: C names.
        factors: all that was learned, from which matrices are made when they are needed.
        mean_state: (n,) mean of the state over all prefixes of the extraction texts.
        word_counts: (V,) occurrences in the extraction texts.
        provenance: how it was made.

    Examples:
        >>> from wfalens import Linear, extract
        >>> linear = extract(model, corpus, Linear(layers=2, width=8, epochs=1))
        >>> linear.kind, linear.unit
        ('linear', 'log-odds')
    """

    kind: ClassVar[str] = "linear"
    unit: ClassVar[str] = "log-odds"

    def __init__(
        self,
        *,
        encoder: TextEncoder,
        class_names: Sequence[str],
        factors: Factors,
        mean_state: NDArray[np.float64],
        word_counts: NDArray[np.int64],
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(encoder, class_names, word_counts, provenance)
        n, classes = len(factors.start), len(self.class_names)
        per_word = factors.words.shape[-1]
        expected = {
            "words": (len(encoder.vocabulary), per_word),
            "expansion": (per_word, len(factors.offset)),
            "offset": (len(factors.offset),),
            "links": (n, n),
            "start": (n,),
            "final": (n, classes),
            "bias": (classes,),
        }
        for name, shape in expected.items():
            if getattr(factors, name).shape != shape:
                raise InputError(f"the factors' {name} have the shape {getattr(factors, name).shape}, not {shape}")
        if not (1 <= factors.width <= n and n % factors.width == 0):
            raise InputError("the factors' layers do not fit the number of states")
        layer = np.arange(n) // factors.width
        if np.any(factors.links[layer[:, None] >= layer]):
            raise InputError("the factors' links lead to an earlier layer: the automaton could grow without bound")
        decay = Bounds(real, 0, 1, excluded=(0, 1)).checked("the largest decay", factors.decay)
        if mean_state.shape != (n,):
            raise InputError("the mean state does not fit the number of states")
        for name in expected:
            frozen(getattr(factors, name))
        self.factors = factors._replace(decay=decay)
        self.mean_state = frozen(np.array(mean_state, np.float64))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            if not np.all(np.isfinite(self.bounds @ np.abs(self.final[:-1]))):
                raise InputError("the factors are so large that some text would go beyond all numbers")

    @property
    def states(self) -> int:
        return len(self.factors.start) + 1

    @cached_property
    def initial(self) -> NDArray[np.float64]:
        return frozen(np.append(self.factors.start.astype(np.float64), 1.0))

    @property
    def state_frequencies(self) -> NDArray[np.float64]:
        return np.append(self.mean_state, 1.0)

    @cached_property
    def bounds(self) -> NDArray[np.float64]:
        """The most, up to sign, that any text can make of each number of the state; (n,)

        `|x∘d + u| ≤ B` wherever `|x| ≤ B` and `|u| ≤ B·(1 − |d|)`, with u the input from earlier layers at their
        bounds. Of a pair that turns, all of this is about its length.
        """
        n, m = self.states - 1, self.factors.width
        bounds, links = np.abs(self.initial[:-1]), np.abs(self.factors.links.astype(np.float64))
        if self.factors.turns:
            bounds[:m] = paired(bounds[:m])
        for layer in range(0, n, m):
            here = slice(layer, layer + m)
            steps = self.layers.layer(layer // m)[:, UNKNOWN:]  # padding changes nothing
            decay, gate, entry = steps.astype(np.float64)
            inputs, kept = np.abs(entry) + np.abs(gate) * (bounds[:layer] @ links[:layer, here]), np.abs(decay)
            if layer == 0 and self.factors.turns:
                inputs, kept = paired(inputs), np.hypot(kept, gate)
            bounds[here] = np.maximum(bounds[here], (inputs / (1 - kept)).max(0))
        return frozen(bounds)

    def probabilities(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        shifted = np.exp(weights - weights.max(1, keepdims=True))
        return np.asarray(shifted / shifted.sum(1, keepdims=True))

    def shown(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.probabilities(weights)

    def advance(self, vectors: NDArray[np.float64], ids: NDArray[np.int32]) -> NDArray[np.float64]:
        x, one = vectors[:, :-1], vectors[:, -1:]
        decay, gate, entry = self.layers.parts(ids)
        moved = x * decay + (x @ self.links) * gate + one * entry
        return np.hstack([moved, np.broadcast_to(one, (len(moved), 1))])

    def matrices(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        return self.matrices_of(np.moveaxis(self.layers.parts(ids), 0, 1))

    def matrices_of(self, parts: NDArray[np.floating]) -> NDArray[np.float64]:
        """Matrices from decays, gates and entries, in which they are linear; (…, 3, n − 1) -> (…, n, n)"""
        decay, gate, entry = np.moveaxis(parts, -2, 0)
        matrix, diagonal = np.zeros((*decay.shape[:-1], self.states, self.states)), np.arange(self.states - 1)
        np.multiply(self.links, gate[..., None, :], out=matrix[..., :-1, :-1])
        matrix[..., diagonal, diagonal] += decay
        matrix[..., -1, :-1], matrix[..., -1, -1] = entry, 1
        return matrix

    def state_vectors(self, ids: Ragged[np.int32], every: bool) -> NDArray[np.float64]:
        return layered_states(ids.values, ids.offsets, self.layers, every)

    def single_vectors(self, ids: Ragged[np.int32]) -> NDArray[np.floating]:
        return layered_states(ids.values, ids.offsets, self._single_layers, every=False)

    def summary(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "states": self.states,
            "words": len(self.encoder.vocabulary),
            "layers": (self.states - 1) // self.factors.width,
            "factors": self.factors.words.shape[1],
            "decay": self.factors.decay,
        }

    def _read_out_by(self, columns: NDArray[np.int64], names: Sequence[str]) -> LinearWFA:
        final, bias = self.factors.final[:, columns], self.factors.bias[columns]
        same = {name: getattr(self, name) for name in ("encoder", "mean_state", "word_counts", "provenance")}
        return LinearWFA(class_names=names, factors=self.factors._replace(final=final, bias=bias), **same)

    @classmethod
    def of_texts(cls, ids: Ragged[np.int32], *, encoder: TextEncoder, factors: Factors, **about: Any) -> LinearWFA:
        """An automaton with the mean of its state before every word of the texts, and their counts of words."""
        counts = np.bincount(ids.values, minlength=len(encoder.vocabulary))
        zero = np.zeros(len(factors.start))
        wfa = cls(encoder=encoder, factors=factors, mean_state=zero, word_counts=counts, **about)
        total = np.zeros_like(zero)
        for part in ids.chunks(_TOKENS_AT_ONCE):
            after = wfa.state_vectors(part, every=True)[:, :-1]
            ends = part.offsets[1:][part.lengths > 0] - 1
            total += after.sum(0) - after[ends].sum(0) + len(ends) * wfa.initial[:-1]
        wfa.mean_state = frozen(total / max(1, len(ids.values)))
        return wfa

    @cached_property
    def final(self) -> NDArray[np.float64]:
        """F and f in one, centred over the classes; (n + 1, C)"""
        table = np.vstack([self.factors.final, self.factors.bias]).astype(np.float64)
        return np.asarray(table - table.mean(1, keepdims=True))

    @cached_property
    def links(self) -> NDArray[np.float64]:
        """P, and the partners in the first layer, which s(σ) takes part of as it does of P; (n, n)"""
        links, m = self.factors.links.astype(np.float64), self.factors.width
        numbers = np.arange(m // 2 * 2)
        links[numbers, partners(m)[numbers]] = 1
        return links

    @cached_property
    def layers(self) -> Layers:
        """The factors as the kernel reads them, made on first use; padding reads as nothing."""
        m, factors = self.factors.width, self.factors
        links, start = packed_links(factors.links, m), in_blocks(self.initial[:-1], m)
        table = np.empty((len(factors.words), len(start), 3, LANES), np.float32)
        for first in range(0, len(factors.words), _WORDS_AT_ONCE):  # in double precision only some at a time
            described = factors.words[first : first + _WORDS_AT_ONCE].astype(np.float64) @ factors.expansion
            for at, part in enumerate(steps_of(described + factors.offset, factors)):
                table[first : first + len(part), :, at] = in_blocks(part, m)
        for at, nothing in enumerate((1, 0, 0)):
            table[PADDING, :, at] = in_blocks(np.full(len(factors.start), nothing), m)
        return Layers(table, links, start.astype(np.float64), m)

    @cached_property
    def _single_layers(self) -> Layers:
        """The same in single precision, with the same table of words."""
        links, start = (part.astype(np.float32) for part in (self.layers.links, self.layers.start))
        return self.layers._replace(links=links, start=start)


def steps_of(described: NDArray[np.float64], factors: Factors) -> tuple[NDArray[np.float64], ...]:
    """d, s and b of words from the numbers that describe them; (N, 3n − m) -> (N, n) each"""
    n, m = len(factors.start), factors.width
    stays, gate, entry = np.split(described, [n, 2 * n - m], 1)
    turned = np.zeros((len(described), m))
    if not factors.turns:
        return factors.decay * _sigmoid(stays), np.hstack([turned, gate]), entry
    half = m // 2
    radius, angle = factors.decay * _sigmoid(stays[:, :half]), stays[:, half : 2 * half]
    decay = factors.decay * np.tanh(stays)
    decay[:, :half] = decay[:, half : 2 * half] = radius * np.cos(angle)
    turned[:, half : 2 * half] = radius * np.sin(angle)
    turned[:, :half] = -turned[:, half : 2 * half]
    return decay, np.hstack([turned, gate]), entry


def paired(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The length of each number with its partner; of an odd number of values the last has none. (…, m) -> (…, m)"""
    length = np.hypot(values, values[..., partners(values.shape[-1])])
    if values.shape[-1] % 2:
        length[..., -1] = np.abs(values[..., -1])
    return np.asarray(length)


def _sigmoid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):  # exp(∞) leaves nothing
        return np.asarray(1 / (1 + np.exp(-values)))
