"""Options of attacks; importing them loads no numpy."""

from __future__ import annotations

from dataclasses import dataclass

from wfalens.validation import Bounds, Options, option, whole

CHANGES = Bounds(whole, 1, 10**6)


@dataclass(frozen=True, kw_only=True)
class AttackOptions(Options):
    """What an attack may change, and how many queries it may spend.

    A bound is a number, or a quantile over all pairs of near words such as "q0.5".
    """

    changes: int = option(1, "Words changed at most (characters, where tokens are characters).", CHANGES)
    weak: float | str = option("q0.5", "Bound on the semantic distance d_S of the weak recipe.")
    strong: float | str = option("q1", "Bound on the semantic distance d_S of all other recipes.")
    min_transition: float | str = option("q0.5", "Lower bound on the transition distance d_T.")
    spare_stop_words: bool = option(False, "Leave stop words as they are.")
    budget: int | None = option(None, "Model queries per text at most.", Bounds(whole, 1, 10**9, (None,)))
