"""What changes of a text do to the class: first as the automaton expects, then corrected by the network's answers.

What a single change does is exact on the automaton, from the state before the position and the backward matrix behind
the option. In log-odds, changes are taken to add up. The network's outputs on variants that it has read correct
what is expected of those that share their changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.robustness.certify.edits import Choices, Picks
from wfalens.robustness.certify.induction import text_positions

_LEAST = 1e-3  # what is less likely counts as that likely: differences below it are noise


@dataclass(frozen=True, eq=False)
class ChangeEffects:
    """How near variants are expected to bring another class to the network's, in log-odds."""

    label: int
    lead: NDArray[np.float64]  # (C,): of every class over the network's, on the text itself
    gains: tuple[NDArray[np.float64], ...]  # L × (options, C): what each option alone adds to it

    @classmethod
    def of(cls, wfa: WFA, choices: Choices, label: int, output: NDArray[np.float64] | None = None) -> ChangeEffects:
        """output: the network's output on the text, (C,); its lead and the automaton's count half each"""
        steps = text_positions(wfa, choices)
        before, after = [wfa.initial], [wfa.read_out(np.eye(wfa.states))]
        for options in choices:
            before.append(wfa.advance(before[-1][None], np.array(options[0].words, np.int32))[0])
        for matrices, _ in reversed(steps):
            after.append(matrices[0] @ after[-1])
        after.reverse()
        gains = []
        for at, (matrices, spans) in enumerate(steps):
            later = np.stack([after[at + span] for span in spans])  # (options, n, C)
            weights = np.einsum("on,onc->oc", before[at] @ matrices, later)
            leads = _leads(_log_odds(wfa, weights), label)
            gains.append(leads - leads[0])
        (lead,) = _leads(_log_odds(wfa, wfa.read_out(before[-1][None])), label)
        if output is not None:
            lead = (lead + _leads(_logs(output[None]), label)[0]) / 2
        return cls(label, lead, tuple(gains))

    def expected(self, picks: Picks) -> NDArray[np.float64]:
        """The lead of every class over the network's; (variants, L) -> (variants, C)"""
        total = np.tile(self.lead, (len(picks), 1))
        for at, gain in enumerate(self.gains):
            total += gain[picks[:, at]]
        return total

    def __call__(self, picks: Picks) -> NDArray[np.float64]:
        """The lead of the class that comes nearest; (variants, L) -> (variants,)"""
        return np.asarray(np.delete(self.expected(picks), self.label, axis=1).max(1))

    def ordered(self, picks: Picks) -> Picks:
        """The variants that come nearest to another class first."""
        return picks[np.argsort(-self(picks), kind="stable")]

    def updated(self, picks: Picks, outputs: NDArray[np.float64]) -> ChangeEffects:
        """With the network's outputs on variants: what was not expected is shared among the changes of each.

        picks: (variants, L); outputs: (variants, C)
        """
        missed = _leads(_logs(outputs), self.label) - self.expected(picks)
        missed /= np.maximum(1, np.count_nonzero(picks, axis=1))[:, None]
        gains = []
        for at, gain in enumerate(self.gains):
            changed = np.flatnonzero(picks[:, at])
            sums, times = np.zeros_like(gain), np.zeros(len(gain))
            np.add.at(sums, picks[changed, at], missed[changed])
            np.add.at(times, picks[changed, at], 1)
            gains.append(gain + sums / np.maximum(1, times)[:, None])
        return replace(self, gains=tuple(gains))

    def greedy(self, changes: int | None) -> Picks:
        """For every other class and number of changes, those that favour the class most; -> (variants, L)"""
        length = len(self.gains)
        rows = []
        for column in np.delete(np.arange(len(self.lead)), self.label):
            best = np.array([gain[:, column].argmax() for gain in self.gains])
            gained = [gain[option, column] for gain, option in zip(self.gains, best, strict=True)]
            order = np.argsort(gained, kind="stable")[::-1]
            for count in range(1, 1 + (length if changes is None else min(changes, length))):
                row = np.zeros(length, np.int16)
                row[order[:count]] = best[order[:count]]
                rows.append(row)
        return np.array(rows, np.int16).reshape(-1, length)


def _log_odds(wfa: WFA, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Class weights in log-odds, but for a constant; (variants, C)"""
    return _logs(weights) if isinstance(wfa, StochasticWFA) else weights


def _logs(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.log(np.maximum(probabilities, _LEAST)))


def _leads(scores: NDArray[np.float64], label: int) -> NDArray[np.float64]:
    return np.asarray(scores - scores[:, [label]])
