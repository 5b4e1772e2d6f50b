"""The network that generates a linear automaton's matrices while it is trained."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from wfalens.automaton.linear import Factors
from wfalens.extraction.linear.distillation import Distillation

_STANDING = 2.0  # decays start at sigmoid(2) = .88


class Generator(nn.Module):
    """The automaton in training: factors of words from what is known of them. inputs: (V, ·)"""

    def __init__(self, shape: Distillation, inputs: NDArray[np.float32], classes: int) -> None:
        super().__init__()
        self.shape = shape
        n = shape.layers * shape.width
        self.inputs = torch.from_numpy(inputs)
        self.inner = nn.Linear(inputs.shape[1], shape.hidden)
        self.outer = nn.Linear(shape.hidden, shape.factors)
        self.skip = nn.Linear(inputs.shape[1], shape.factors, bias=False)
        self.expansion = nn.Linear(shape.factors, 3 * n - shape.width)
        self.links = nn.ParameterList(
            nn.Parameter(torch.randn(layer * shape.width, shape.width) / math.sqrt(layer * shape.width))
            for layer in range(1, shape.layers)
        )
        self.start = nn.Parameter(torch.zeros(n))
        self.final = nn.Parameter(torch.randn(n, classes) / math.sqrt(n))
        self.bias = nn.Parameter(torch.zeros(classes))
        with torch.no_grad():
            self.expansion.bias.zero_()
            self.expansion.bias[:n] = _STANDING

    def describe(self, words: Tensor) -> Tensor:
        """The factors z of words; (N,) -> (N, R)"""
        known = self.inputs[words]
        result: Tensor = self.outer(functional.gelu(self.inner(known))) + self.skip(known)
        return result

    def forward(self, ids: Tensor) -> Tensor:
        """Class weights after every word; (time, texts) -> (time, texts, classes)"""
        shape, n = self.shape, len(self.start)
        distinct, inverse = torch.unique(ids, return_inverse=True)
        tables = self.expansion(self.describe(distinct)).split([n, n - shape.width, n], -1)
        decay, gate, entry = (functional.embedding(inverse, table) for table in tables)
        decay = shape.decay * decay.sigmoid()
        before: list[Tensor] = []
        after: list[Tensor] = []
        for layer in range(shape.layers):
            here = slice(layer * shape.width, (layer + 1) * shape.width)
            inputs = entry[..., here]
            if layer:
                earlier = slice(here.start - shape.width, here.stop - shape.width)  # gates begin with the second layer
                inputs = inputs + (torch.cat(before, -1) @ self.links[layer - 1]) * gate[..., earlier]
            start = self.start[here].expand(ids.shape[1], -1)
            states: Tensor = _Scan.apply(decay[..., here], inputs, start)  # type: ignore[no-untyped-call]
            before.append(states[:-1])
            after.append(states[1:])
        return torch.cat(after, -1) @ self.final + self.bias

    def before_any_word(self) -> Tensor:
        """Class weights of the empty text; -> (classes,)"""
        return self.start @ self.final + self.bias

    @torch.no_grad()
    def finished(self) -> Factors:
        """What the automaton keeps: the network that described the words has done its work."""
        n, width = len(self.start), self.shape.width
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
        )


class _Scan(torch.autograd.Function):
    """`x_t = d_t∘x_{t−1} + u_t` over the first axis; gives the start and all x_t. Written out, for speed."""

    @staticmethod
    def forward(ctx: Any, decay: Tensor, inputs: Tensor, start: Tensor) -> Tensor:
        states = torch.empty(len(inputs) + 1, *inputs.shape[1:])
        states[0] = start
        rows = states.unbind(0)
        for at, (d, u) in enumerate(zip(decay.unbind(0), inputs.unbind(0), strict=True)):
            torch.addcmul(u, d, rows[at], out=rows[at + 1])
        ctx.save_for_backward(decay, states)
        return states

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        decay, states = ctx.saved_tensors
        slope = slope.clone()
        rows = slope.unbind(0)
        for at in range(len(rows) - 1, 0, -1):
            rows[at - 1].addcmul_(decay[at - 1], rows[at])
        return slope[1:] * states[:-1], slope[1:], slope[0]


def _array(tensor: Tensor) -> NDArray[np.float32]:
    return np.array(tensor.detach().numpy(), np.float32, order="C")
