"""Options of repair; importing them loads no numpy."""

from __future__ import annotations

from dataclasses import dataclass

from wfalens.validation import Bounds, Options, check_choice, option, real, whole

ACTIONS = DROP, RELABEL, ADD = ("drop", "relabel", "add")
SWAP, POOL = "swap", "pool"
HOW = (DROP, RELABEL, SWAP, POOL)


@dataclass(frozen=True, kw_only=True)
class RepairOptions(Options):
    """How a training set is repaired, and how the network is trained on it."""

    how: tuple[str, ...] = option((SWAP,), "Ways: drop, relabel, swap (words on which errors turned), pool.")
    most: int = option(1000, "Training texts to change at most.", Bounds(whole, 1, 10**9))
    least_doubt: float = option(2.0, "Log-odds from which on a label is changed.", Bounds(real, 0, 1000))
    epochs: int = option(4, "Epochs to train.", Bounds(whole, 1, 10**6))
    learning_rate: float = option(1e-3, "Of this training.", Bounds(real, 0, 10))

    def __post_init__(self) -> None:
        super().__post_init__()
        for each in self.how:
            check_choice("way to repair", each, HOW)
