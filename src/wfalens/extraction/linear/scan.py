"""The steps of a linear automaton in training: states of all prefixes, and the way back of their slopes, compiled.

Texts lie one after the other, without padding. A layer reads only earlier layers, so `x·P` is one product for the whole
batch, and only `x ← x∘d(σ) + y∘s(σ) + b(σ)` goes word by word: y is what the layer reads or, in the first layer, which
reads nothing, each number's partner (`automaton.layers`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from wfalens.jit import njit
from wfalens.ragged import Ragged


class PrefixStates(torch.autograd.Function):
    """States after every word. d, s, b: (W, n) of the batch's distinct words; start: (n,); links: (earlier, m) each.

    `places` says for every word of the texts which of the distinct ones it is. -> (tokens, n)
    """

    @staticmethod
    def forward(
        ctx: Any, places: Ragged[np.int64], d: Tensor, s: Tensor, b: Tensor, start: Tensor, *links: Tensor
    ) -> Tensor:
        tokens, n = len(places.values), len(start)
        width = n // (len(links) + 1)
        before, after, read = (torch.empty(tokens, n) for _ in range(3))
        parts = [part.detach().numpy() for part in (d, s, b, start)]
        for layer in range(len(links) + 1):
            here = slice(layer * width, (layer + 1) * width)
            if layer:
                torch.mm(before[:, : here.start], links[layer - 1], out=read[:, here])
            arrays = before.numpy(), after.numpy(), read.numpy()
            _forward(*(places.values, places.offsets, *parts, here.start, here.stop, *arrays))
        ctx.places = places
        ctx.save_for_backward(d, s, before, read, *links)
        return after

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, ...]:
        d, s, before, read, *links = ctx.saved_tensors
        tokens, n = slope.shape
        width = n // (len(links) + 1)
        earlier, reading = torch.zeros(tokens, n), torch.empty(tokens, width)  # slopes of `before` and of `read`
        sums = [torch.zeros_like(d) for _ in range(3)] + [torch.zeros(n)]
        blocks: list[Tensor] = []
        given = [part.numpy() for part in (d, s, before, read, slope.contiguous(), earlier, reading)]
        for layer in reversed(range(len(links) + 1)):
            first, last = layer * width, (layer + 1) * width
            _backward(*(ctx.places.values, ctx.places.offsets, *given, first, last, *(part.numpy() for part in sums)))
            if layer:
                blocks.insert(0, before[:, :first].T @ reading)
                earlier[:, :first].addmm_(reading, links[layer - 1].T)
        return None, *sums, *blocks


@njit(cache=True, nogil=True, fastmath={"contract", "nsz", "arcp"})
def _forward(words, offsets, d, s, b, start, first, last, before, after, read):  # type: ignore[no-untyped-def]
    """One layer of the states, into `before` and `after`; the first one writes partners into `read`."""
    width = last - first
    half = width // 2
    for text in range(len(offsets) - 1):
        found = start[first:last]
        for t in range(offsets[text], offsets[text + 1]):
            stays, gate, entry = d[words[t], first:last], s[words[t], first:last], b[words[t], first:last]
            old, new, inflow = before[t, first:last], after[t, first:last], read[t, first:last]
            if first == 0:
                for j in range(half):
                    inflow[j] = found[half + j]
                    inflow[half + j] = found[j]
                for j in range(2 * half, width):
                    inflow[j] = 0
            for j in range(width):
                old[j] = found[j]
                new[j] = found[j] * stays[j] + inflow[j] * gate[j] + entry[j]
            found = new


@njit(cache=True, nogil=True, fastmath={"contract", "nsz", "arcp"})
def _backward(words, offsets, d, s, before, read, slope, earlier, reading, first, last, to_d, to_s, to_b, to_start):  # type: ignore[no-untyped-def]
    """The slopes of one layer, added to those of its parts; of what it read, into `reading`."""
    width = last - first
    half = width // 2
    carried, here = np.zeros(width, np.float32), np.zeros(width, np.float32)
    starts = to_start[first:last]
    for text in range(len(offsets) - 1):
        carried[:] = 0
        for t in range(offsets[text + 1] - 1, offsets[text] - 1, -1):
            w = words[t]
            given, stays, gate = slope[t, first:last], d[w, first:last], s[w, first:last]
            old, inflow, to_inflow, more = (
                before[t, first:last],
                read[t, first:last],
                reading[t],
                earlier[t, first:last],
            )
            d_row, s_row, b_row = to_d[w, first:last], to_s[w, first:last], to_b[w, first:last]
            for j in range(width):
                here[j] = given[j] + carried[j]
            for j in range(width):
                b_row[j] += here[j]
            for j in range(width):
                d_row[j] += here[j] * old[j]
            for j in range(width):
                s_row[j] += here[j] * inflow[j]
            for j in range(width):
                to_inflow[j] = here[j] * gate[j]
            for j in range(width):
                carried[j] = here[j] * stays[j] + more[j]
            if first == 0:
                for j in range(half):
                    carried[j] += to_inflow[half + j]
                    carried[half + j] += to_inflow[j]
        for j in range(width):
            starts[j] += carried[j]
