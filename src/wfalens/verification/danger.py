"""Which variants of a text are dangerous: what the automaton expects of them, exactly for one change at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.verification.edits import Choices, Picks
from wfalens.verification.induction import TextSteps


@dataclass(frozen=True, eq=False)
class Danger:
    """What the automaton expects of variants: how near they bring another class to the network's.

    What a single change does is exact, from the state before the position and the backward matrix behind the option;
    changes are taken to add up.
    """

    lead: NDArray[np.float64]  # (C,): of every class over the network's, on the text itself
    gains: list[NDArray[np.float64]]  # L × (options, C): what each option alone adds to it

    @classmethod
    def of(cls, wfa: WFA, choices: Choices, label: int) -> Danger:
        steps = TextSteps(wfa, choices)
        before, after = [wfa.initial], [wfa.read_out(np.eye(wfa.states))]
        for options in choices:
            before.append(wfa.advance(before[-1][None], np.array(options[0].words, np.int32))[0])
        for options in reversed(choices):
            (matrix,) = wfa.matrices(np.array(options[0].words, np.int32))
            after.append(matrix @ after[-1])
        after.reverse()
        gains = []
        for at in range(len(choices)):
            later = np.stack([after[at + span] for span in steps.spans(at)])  # (options, n, C)
            weights = np.einsum("on,onc->oc", steps.advance(at, before[at]), later)
            leads = weights - weights[:, [label]]
            gains.append(leads - leads[0])
        said = wfa.read_out(before[-1][None])[0]
        lead = said - said[label]
        lead[label] = -np.inf
        return cls(lead, gains)

    def __call__(self, picks: Picks) -> NDArray[np.float64]:
        """The lead of the class that comes nearest; (variants, L) -> (variants,)"""
        total = np.tile(self.lead, (len(picks), 1))
        for at, gain in enumerate(self.gains):
            total += gain[picks[:, at]]
        return np.asarray(total.max(1))

    def ordered(self, picks: Picks) -> Picks:
        """The most dangerous first."""
        return picks[np.argsort(-self(picks), kind="stable")]

    def greedy(self, changes: int | None) -> Picks:
        """For every other class and number of changes, those that speak most for the class; -> (variants, L)"""
        length = len(self.gains)
        rows = []
        for column in np.flatnonzero(np.isfinite(self.lead)):
            best = np.array([gain[:, column].argmax() for gain in self.gains])
            worth = [gain[option, column] for gain, option in zip(self.gains, best, strict=True)]
            order = np.argsort(worth, kind="stable")[::-1]
            for count in range(1, 1 + (length if changes is None else min(changes, length))):
                row = np.zeros(length, np.int16)
                row[order[:count]] = best[order[:count]]
                rows.append(row)
        return np.array(rows, np.int16).reshape(-1, length)
