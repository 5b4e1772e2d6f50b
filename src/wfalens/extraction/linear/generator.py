"""The network that generates a linear automaton's matrices while it is trained."""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from wfalens.automaton.linear import Factors
from wfalens.extraction.linear.linear_options import Linear
from wfalens.extraction.linear.scan import PrefixStates
from wfalens.ragged import Ragged

_SHORTEST = 2  # words that a number of the state remembers at the beginning; the longest remember a whole text


class Generator(nn.Module):
    """The automaton in training: factors of words from what is known of them.

    inputs: (V, ·); `longest` is the length of the longest text, in words. `learns_words` adds factors of its own to
    each word, where little is known of the words beforehand: one output of a model that pays for every call.
    """

    def __init__(
        self, shape: Linear, inputs: NDArray[np.float32], classes: int, longest: int, *, learns_words: bool = False
    ) -> None:
        super().__init__()
        self.shape, self.width = shape, int(shape.width)
        n, m, factors = shape.layers * self.width, self.width, int(shape.factors)
        self.inputs = torch.from_numpy(inputs)
        self.inner = nn.Linear(inputs.shape[1], shape.hidden)
        self.outer = nn.Linear(shape.hidden, factors)
        self.skip = nn.Linear(inputs.shape[1], factors, bias=False)
        self.own = nn.Parameter(torch.zeros(len(inputs), factors)) if learns_words else None
        self.expansion = nn.Linear(factors, 3 * n - m)
        self.links = nn.ParameterList(
            nn.Parameter(torch.randn(layer * m, m) / math.sqrt(layer * m)) for layer in range(1, shape.layers)
        )
        self.start = nn.Parameter(torch.zeros(n))
        self.final = nn.Parameter(torch.randn(n, classes) / math.sqrt(n))
        self.bias = nn.Parameter(torch.zeros(classes))
        with torch.no_grad():
            self._begin(longest)

    def _begin(self, longest: int) -> None:
        """Let each layer remember a few words here and whole texts there; what remembers long takes little of each."""
        n, m, half = len(self.start), self.width, self.width // 2
        pairs, numbers = _kept(half, longest), _kept(m, longest)
        kept = torch.cat([pairs, pairs, numbers[2 * half :], numbers.repeat(self.shape.layers - 1)])
        self.expansion.bias.zero_()
        self.expansion.bias[:half] = pairs.logit()
        self.expansion.bias[2 * half : n] = kept[2 * half :].atanh()
        taken = (1 - kept.square()).sqrt()
        self.expansion.weight[n : 2 * n - m] *= taken[m:, None]
        self.expansion.weight[2 * n - m :] *= taken[:, None]

    def describe(self, words: Tensor) -> Tensor:
        """The factors z of words; (N,) -> (N, R)"""
        known = self.inputs[words]
        result: Tensor = self.outer(functional.gelu(self.inner(known))) + self.skip(known)
        if self.own is not None:
            result = result + self.own[words]
        return result

    def states(self, ids: Ragged[np.int32]) -> Tensor:
        """After every word of the texts; -> (tokens, n)"""
        distinct, inverse = np.unique(ids.values, return_inverse=True)
        steps = self._steps(self.expansion(self.describe(torch.from_numpy(distinct))))
        places = Ragged(inverse.astype(np.int64), ids.offsets)
        result: Tensor = PrefixStates.apply(places, *steps, self.start, *self.links)  # type: ignore[no-untyped-call]
        return result

    def _steps(self, described: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """d, s and b of words, as `automaton.linear.steps_of` has them; (N, 3n − m) -> (N, n) each"""
        n, m, half = len(self.start), self.width, self.width // 2
        sizes = [half, half, n - 2 * half, n - m, n]
        length, angle, stays, gate, entry = torch.split(described, sizes, -1)
        radius = self.shape.decay * length.sigmoid()
        along, across = radius * angle.cos(), radius * angle.sin()
        odd = torch.zeros(len(described), m - 2 * half)  # the last of an odd number has no partner
        decay = torch.cat([along, along, self.shape.decay * stays.tanh()], -1)
        return decay, torch.cat([-across, across, odd, gate], -1), entry.contiguous()

    def forward(self, ids: Ragged[np.int32], places: NDArray[np.int64]) -> Tensor:
        """Class weights behind the given tokens of the texts; (places,) -> (places, classes)"""
        states = self.states(ids)
        if len(places) < len(states):
            states = states[torch.from_numpy(places)]
        return states @ self.final + self.bias

    def before_any_word(self) -> Tensor:
        """Class weights of the empty text; -> (classes,)"""
        return self.start @ self.final + self.bias

    @torch.no_grad()
    def finished(self) -> Factors:
        """What the automaton keeps: the network that described the words has done its work."""
        n, width = len(self.start), self.width
        links = torch.zeros(n, n)
        for layer, block in enumerate(self.links, 1):
            links[: layer * width, layer * width : (layer + 1) * width] = block
        return Factors(
            words=_array(self.describe(torch.arange(len(self.inputs)))),
            expansion=_array(self.expansion.weight.T),
            offset=_array(self.expansion.bias),
            links=_array(links),
            start=_array(self.start),
            final=_array(self.final),
            bias=_array(self.bias),
            decay=self.shape.decay,
            turns=True,
        )


def _array(tensor: Tensor) -> NDArray[np.float32]:
    return np.array(tensor.detach().numpy(), np.float32, order="C")


def _kept(numbers: int, longest: int) -> Tensor:
    """What a word leaves of each: memories of two words up to the longest text, evenly on a logarithmic scale."""
    memories = torch.logspace(math.log2(_SHORTEST), math.log2(max(_SHORTEST, longest)), numbers, base=2)
    return 1 - 1 / memories
