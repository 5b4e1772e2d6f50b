"""Options of detection and of watching; importing them loads no numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wfalens.validation import Bounds, Options, option, real, whole

ATTACKS = ("guided", "greedy", "random-word")
FORMATS = ("lines", "csv", "jsonl")


@dataclass(frozen=True, kw_only=True)
class DetectOptions(Options):
    """Which attacks a detector is trained and tested on, and how many false alarms it may raise."""

    train_on: str = option("guided", "Attack to learn from.", ATTACKS)
    test_on: tuple[str, ...] = option(ATTACKS, "Attacks to test on.")
    changes: int = option(3, "Words an attack may replace.", Bounds(whole, 1, 10**6))
    false_alarms: float = option(0.05, "Share of clean texts that may raise an alarm.", Bounds(real, 0, 1))


def share(value: Any) -> float | None:
    """A number, or a percentage as text."""
    text = value.strip() if isinstance(value, str) else ""
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else real(value)
    except ValueError:
        return None


@dataclass(frozen=True, kw_only=True)
class Alarms(Options):
    """How often usual texts may raise an alarm, how many texts a window has, and how standard input is read."""

    false_alarms: float = option(
        0.01, "Share of usual texts, and of windows of them, that may raise an alarm (1% or 0.01).",
        Bounds(share, 0, 1, excluded=(0, 1)),
    )  # fmt: skip
    window: int = option(1000, "Texts of a window.", Bounds(whole, 1, 10**5))
    format: str = option("lines", "Standard input has a text on each line, or a row of CSV or JSON", FORMATS)
