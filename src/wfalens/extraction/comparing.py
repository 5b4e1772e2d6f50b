"""How automata are compared on held-out texts: by consistency, then by divergence; of language models by divergence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.divergence import jensen_shannon
from wfalens.models.contract import Named, is_language_model
from wfalens.ragged import Ragged

CONSISTENCY, DIVERGENCE = ("consistency", "divergence")  # what counts first
_TIE = 0.5  # standard errors of a rate
_CLEAR, _CLEARLY_LESS = 1.0, 0.9  # standard errors that a rate must gain, and what may be left of a divergence
_NOTHING = 1e-5  # a divergence below which there is nothing to gain


class Rates(NamedTuple):
    """Of an automaton on texts: the share on which it gives the model's class, and the mean divergence."""

    cr: float
    jsd: float


class ClassRate(NamedTuple):
    """Of an automaton on the texts to which the model gives one class."""

    texts: int
    cr: float


class Rated(Protocol):
    """Something that was measured."""

    @property
    def cr(self) -> float: ...

    @property
    def jsd(self) -> float: ...


def rates(wfa: WFA, texts: Ragged[np.int32], targets: NDArray[np.floating]) -> Rates:
    """CR and JSD of an automaton. targets: (texts, C), the model's outputs"""
    weights = wfa.weights(texts)
    cr = float(np.mean(wfa.decide(weights) == targets.argmax(1)))
    return Rates(cr, float(jensen_shannon(wfa.probabilities(weights), targets).mean()))


def rates_by_class(wfa: WFA, texts: Ragged[np.int32], targets: NDArray[np.floating]) -> dict[str, ClassRate]:
    """CR on the texts of each of the model's classes that has any. targets: (texts, C), the model's outputs"""
    label = targets.argmax(1)
    agrees = wfa.decide(wfa.weights(texts)) == label
    sizes = np.bincount(label, minlength=len(wfa.class_names))
    hits = np.bincount(label, agrees, len(wfa.class_names))
    return {
        name: ClassRate(int(size), float(hit / size))
        for name, size, hit in zip(wfa.class_names, sizes, hits, strict=True)
        if size
    }


def aim_for(model: Named) -> str:
    """What counts first in a copy of this model: its class, or, where it tells what comes next, its probabilities."""
    return DIVERGENCE if is_language_model(model) else CONSISTENCY


def select_best(found: Sequence[Rated], texts: int, aim: str = CONSISTENCY) -> int:
    """The place of the best: CR within half a standard error of the highest is a tie, which the lower JSD wins."""
    if aim == DIVERGENCE:
        return min(range(len(found)), key=lambda at: (max(_NOTHING, found[at].jsd), at))
    top = max(each.cr for each in found)
    least = top - _TIE * standard_error(top, texts)
    return min((at for at, each in enumerate(found) if each.cr >= least), key=lambda at: (found[at].jsd, at))


def gains(found: Rated, before: Sequence[Rated], texts: int, aim: str = CONSISTENCY) -> bool:
    """Whether it is clearly better than all before it, and not yet as good as can be."""
    if aim == DIVERGENCE:
        return _NOTHING < found.jsd <= _CLEARLY_LESS * min(each.jsd for each in before)
    top = max(each.cr for each in before)
    return found.cr - top > _CLEAR * standard_error(top, texts)


def standard_error(rate: float, texts: int) -> float:
    return float(np.sqrt(rate * (1 - rate) / texts))
