"""How automata with shared rows are fitted, and of what sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from wfalens.extraction.perturbation import Perturbation
from wfalens.validation import Bounds, check_numbers, real, whole

_SIZES = ("spread", "forming", "epochs", "settling", "tokens", "batch", "prefixes")
_BOUNDS = {
    **dict.fromkeys(
        ("spread", "forming", "epochs", "settling", "tokens", "batch", "prefixes"), Bounds(whole, 1, 1 << 40)
    ),
    **dict.fromkeys(("learning_rate", "word_rate", "effect_rate", "coldest"), Bounds(real, 0, 1, excluded=(0,))),
    **dict.fromkeys(("replaced", "clean", "anything", "unknown"), Bounds(real, 0, 1)),
    "most": Bounds(real, 0, 1e9),
    "every": Bounds(real, 0, 1e3),
}


@dataclass(frozen=True, kw_only=True)
class Sharing:
    """How words are put into classes, and the classes' matrices and the states' outputs are fitted.

    Args:
        spread: classes to begin with, for each that is wanted in the end; like ones become one.
        forming: passes from each start, before the best of them goes on.
        epochs: passes in which a word may change its class: it is a mixture of classes, which hardens.
        settling: passes after that, with every word in one class for good.
        tokens: in a pass at most, of texts drawn and perturbed anew each time.
        batch: tokens in a step of gradient descent (Adam).
        learning_rate: of the matrices and outputs.
        word_rate: of what each word itself says about its class.
        effect_rate: of how the effect of a word on the model speaks for its class, which all words share.
        coldest: temperature of the mixtures at the end of the epochs; they begin at 1.
        every: weight of all prefixes of a text, to the text's end.
        prefixes: that stand for a state where the model is asked what every word does there.
        replaced: share of words replaced in a perturbed text.
        clean: share of texts that are not perturbed.
        anything: share of the replacements drawn evenly from the vocabulary, not by frequency.
        unknown: share of words that become `<unk>`.
        most: words replaced in a perturbed text at most, on average.

    Examples:
        >>> from wfalens import Sharing
        >>> quick = Extractor(kind="readable", states=4, classes=6, sharing=Sharing(epochs=3))
    """

    spread: int = 2
    forming: int = 10
    epochs: int = 30
    settling: int = 10
    tokens: int = 200_000
    batch: int = 4000
    learning_rate: float = 0.05
    word_rate: float = 0.1
    effect_rate: float = 0.01
    coldest: float = 0.1
    every: float = 2.0
    prefixes: int = 4
    replaced: float = 0.2
    clean: float = 0.2
    anything: float = 0.3
    unknown: float = 0.05
    most: float = 5.0

    def __post_init__(self) -> None:
        check_numbers(self, _BOUNDS)

    @property
    def passes(self) -> int:
        return self.forming + self.epochs + self.settling

    @property
    def perturbation(self) -> Perturbation:
        return Perturbation(self.replaced, self.clean, self.anything, self.unknown, self.most)


class Size(NamedTuple):
    """States, without the start, and classes of words: at most."""

    states: int
    classes: int


@dataclass(frozen=True)
class Rung:
    """A size that was tried, and how faithful it was on held-out texts."""

    states: int
    classes: int
    cr: float
    jsd: float


@dataclass(frozen=True)
class Sizes:
    """What is tried; of it the smallest is chosen whose CR on held-out texts is at most `loss` below the best."""

    tried: Sequence[Size]  # from small to large
    loss: float = 0.0

    def chosen(self, rungs: Sequence[Rung]) -> int:
        best = max(rung.cr for rung in rungs)
        return next(number for number, rung in enumerate(rungs) if rung.cr >= best - self.loss)


# from tiny to a poster: what is tried where the number of classes is left open
LADDER = (Size(4, 6), Size(8, 12), Size(12, 16), Size(12, 32), Size(16, 48), Size(24, 64))
