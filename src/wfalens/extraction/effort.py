"""How much work an extraction is worth: from a quick look to the most faithful automaton, for every kind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from wfalens.extraction.completion.fitting import Fitting
from wfalens.extraction.linear.linear_options import Distillation
from wfalens.extraction.readable.readable_options import Sharing
from wfalens.validation import check_choice

LOW, NORMAL, HIGH = EFFORTS = ("low", "normal", "high")
_FEW_SYMBOLS = 64
_STRICT: dict[str, Any] = {"temperature": 1.0, "clean": 0.3, "following": 0.0}  # for few symbols
_SPEAKING_WIDTH, _SPOKEN = 128, 256  # what comes next takes more memory than a class; of more symbols it takes too long


def distillation_of(effort: str, symbols: int | None = None, *, speaks: bool = False) -> Distillation:
    """More passes, and for high effort, or for a language model (`speaks`) of up to 256 symbols, a larger automaton.

    An alphabet of few symbols is rather that of a formal language than of a natural one. A changed letter then mostly
    makes another text of it, so more texts stay as they are, and what counts is the network's decision, not how sure
    it is: it is learned at temperature 1.
    """
    check_choice("effort", effort, EFFORTS)
    usual = replace(Distillation(), **(_STRICT if symbols is not None and symbols < _FEW_SYMBOLS else {}))
    usual = replace(usual, width=_SPEAKING_WIDTH) if speaks and symbols is not None and symbols <= _SPOKEN else usual
    return {
        LOW: replace(usual, epochs=12),
        NORMAL: usual,
        HIGH: replace(usual, width=2 * usual.width, epochs=100, patience=30),
    }[effort]


def sharing_of(effort: str) -> Sharing:
    """More passes, in the same proportions."""
    usual = Sharing()
    return {
        LOW: replace(usual, forming=5, epochs=15, settling=5),
        NORMAL: usual,
        HIGH: replace(usual, epochs=60, settling=20),
    }[effort]


def fitting_of(effort: str) -> Fitting:
    """More rounds."""
    return {LOW: Fitting(rounds=8), NORMAL: Fitting(), HIGH: Fitting(rounds=32)}[effort]
