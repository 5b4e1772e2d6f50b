"""How much memory an automaton with more states would take while it is made."""

from __future__ import annotations

from dataclasses import dataclass

from wfalens.automaton.completion import Probe
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.memory import free, shown_size
from wfalens.scale.sample import SampledFiles

_SHARE_OF_FREE = 0.5  # of the memory that is free, where no bound is given
_BYTES_PER_ENTRY, _BYTES_PER_FITTED_ENTRY = 70, 110  # of a probed row while it is made, and while it is fitted
_TIMES_POINT = 4  # copies of the points that k-means sees
_BYTES_PER_NUMBER = 4


def free_share(files: SampledFiles | None) -> int | None:
    """Bytes that may be used: of files what their run leaves, else half of what is free; None: unknown."""
    if files is not None and files.run.memory is not None:
        return files.run.memory_left
    available = free()
    return None if available is None else int(_SHARE_OF_FREE * available)


@dataclass(frozen=True)
class MemoryBudget:
    """Bytes that the making of an automaton may take (None: nobody knows), and what one with K states takes."""

    bytes: int | None
    words: int  # of the vocabulary
    fits: bool
    points: tuple[int, int]  # how many there are, how wide each
    sampled: int | None  # points per state that k-means sees at most

    def needed(self, states: int, smaller: StochasticWFA) -> int:
        """By what a smaller automaton, with rows for some words, has stored for each word and state."""
        points, width = self.points
        seen = points if self.sampled is None else min(points, states * self.sampled)
        forming = seen * width * _BYTES_PER_NUMBER * _TIMES_POINT
        if not isinstance(smaller.completion, Probe):
            return forming
        rows = smaller.completion.rows
        dense = len(rows.target) / max(1, len(rows.state))
        per_entry = _BYTES_PER_FITTED_ENTRY if self.fits else _BYTES_PER_ENTRY
        return forming + round(dense * per_entry * states * self.words)

    def refusal(self, states: int, smaller: StochasticWFA) -> str | None:
        """Why so many states are not tried, in a sentence; None if they fit."""
        needed = self.needed(states, smaller)
        if self.bytes is None or needed <= self.bytes:
            return None
        return (
            f"{states} states would take about {shown_size(needed)} of memory, more than the {shown_size(self.bytes)} "
            "at hand, and are not tried; a higher limit of memory allows more"
        )
