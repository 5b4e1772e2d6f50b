"""The method that fits a readable automaton, and its options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from wfalens.automaton.rows import MAX_STATES
from wfalens.extraction.method import AUTO, HIGH, LOW, NORMAL, Method, Request
from wfalens.extraction.perturbation import Perturbation
from wfalens.validation import Bounds, option, real, whole

_COUNT, _COUNT_OR_AUTO = Bounds(whole, 1, 1 << 40), Bounds(whole, 1, 1 << 40, (AUTO,))
_RATE, _SHARE = Bounds(real, 0, 1, excluded=(0,)), Bounds(real, 0, 1)
_STATES = 12  # where one size is fitted
_EPOCHS = {LOW: (5, 15, 5), NORMAL: (10, 30, 10), HIGH: (10, 60, 20)}  # from each start, with mixtures, in the end


@dataclass(frozen=True, kw_only=True)
class Readable(Method):
    """Few states and few clusters of words, which share their rows: an automaton that fits on a page.

    Args:
        states: their number at most, without the start; auto: 12, or what goes with the number of clusters.
        clusters: word clusters at most, or "auto": the smallest of several sizes that is nearly as faithful as the
            best; what was tried is in `provenance["frontier"]`.
        cr_loss: the loss of CR that "auto" accepts for a smaller size.
        spread: clusters to begin with, for each one in the end; similar ones are merged.
        start_epochs: passes from each start, before training continues from the best of them; auto: 10, with low
            effort 5.
        epochs: passes in which a word may change its cluster: it is a mixture of clusters, which hardens; auto: 30,
            with low effort 15, with high effort 60.
        final_epochs: passes after that, with every word in one cluster; auto: 10, with low effort 5, with high
            effort 20.
        tokens: in a pass at most, of texts drawn and perturbed again each time.
        batch: tokens in a step of gradient descent (Adam).
        learning_rate: of the matrices and outputs.
        word_rate: learning rate of each word's own cluster scores.
        effect_rate: learning rate of the cluster scores by a word's effect on the model, which all words share.
        final_temperature: of the mixtures at the end of the epochs; they begin at 1.
        prefix_weight: weight of all prefixes of a text, to the text's end.
        prefixes: that represent a state where the model is asked what every word does there.
        replaced: share of words replaced in a perturbed text.
        clean: share of texts that are not perturbed.
        uniform: share of the replacements drawn evenly from the vocabulary, not by frequency.
        unknown: share of words that become `<unk>`.
        most_replaced: words replaced in a perturbed text at most, on average.

    Examples:
        >>> from wfalens import Readable, extract
        >>> wfa = extract(model, corpus, Readable(states=4, clusters=6, epochs=3))
        >>> wfa.readable is wfa
        True
    """

    name = "readable"

    states: int | str = option(AUTO, allowed=Bounds(whole, 1, MAX_STATES - 1, (AUTO,)))
    clusters: int | str = option(32, allowed=Bounds(whole, 1, MAX_STATES, (AUTO,)))
    cr_loss: float = option(0.01, allowed=_SHARE)
    spread: int = option(2, allowed=_COUNT)
    start_epochs: int | str = option(AUTO, allowed=_COUNT_OR_AUTO)
    epochs: int | str = option(AUTO, allowed=_COUNT_OR_AUTO)
    final_epochs: int | str = option(AUTO, allowed=_COUNT_OR_AUTO)
    tokens: int = option(200_000, allowed=_COUNT)
    batch: int = option(4000, allowed=_COUNT)
    learning_rate: float = option(0.05, allowed=_RATE)
    word_rate: float = option(0.1, allowed=_RATE)
    effect_rate: float = option(0.01, allowed=_RATE)
    final_temperature: float = option(0.1, allowed=_RATE)
    prefix_weight: float = option(2.0, allowed=Bounds(real, 0, 1e3))
    prefixes: int = option(4, allowed=_COUNT)
    replaced: float = option(0.2, allowed=_SHARE)
    clean: float = option(0.2, allowed=_SHARE)
    uniform: float = option(0.3, allowed=_SHARE)
    unknown: float = option(0.05, allowed=_SHARE)
    most_replaced: float = option(5.0, allowed=Bounds(real, 0, 1e9))

    def extract(self, request: Request) -> Any:
        from wfalens.extraction.readable.readable_extraction import extract_readable

        return extract_readable(self, request)

    def resolved(self, request: Request) -> Self:
        start, mixed, final = _EPOCHS[request.effort]
        return self._filled(start_epochs=start, epochs=mixed, final_epochs=final)

    @property
    def passes(self) -> int:
        return int(self.start_epochs) + int(self.epochs) + int(self.final_epochs)

    @property
    def perturbation(self) -> Perturbation:
        return Perturbation(self.replaced, self.clean, self.uniform, self.unknown, self.most_replaced)

    @property
    def sizes(self) -> list[Size]:
        """What is tried, from small to large: one size, or a grid where the number of clusters is open."""
        if self.clusters != AUTO:
            return [Size(_STATES if self.states == AUTO else int(self.states), int(self.clusters))]
        grid = (Size(each.states if self.states == AUTO else int(self.states), each.clusters) for each in GRID)
        return list(dict.fromkeys(grid))

    def chosen(self, rates: Sequence[float]) -> int:
        """The place of the smallest size whose CR on held-out texts is at most `cr_loss` below the best."""
        return next(number for number, cr in enumerate(rates) if cr >= max(rates) - self.accepted_loss)

    @property
    def accepted_loss(self) -> float:
        """Of CR, for a smaller size."""
        return self.cr_loss if self.clusters == AUTO else 0.0


class Size(NamedTuple):
    """States, without the start, and word clusters: at most."""

    states: int
    clusters: int


# from tiny to a poster: what is tried where the number of clusters is left open
GRID = (Size(4, 6), Size(8, 12), Size(12, 16), Size(12, 32), Size(16, 48), Size(24, 64))
