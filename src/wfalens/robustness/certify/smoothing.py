"""The smoothed classifier: what a network says in the mean when every word is replaced at random by its substitutes.

On a stochastic automaton the mean is exact, a product of mean matrices: `I·M_1⋯M_L·F`, with M_t the mean of Êσ over
the options σ. On the network it is estimated with the automaton as control variate: a share λ of what the automaton
says is taken from each sample and put back in the mean, where it is known. A tenth of the samples serves to choose λ.

Smoothing brings a certificate of its own. Two texts that differ in one word draw from sets of options P and P'. The
total variation between the draws is at most `τ = 1 − |P ∩ P'| / max(|P|, |P'|)`; with up to k words replaced it is at
most `1 − Π(1 − τ)` over the k positions with the largest τ. A function between −1 and 1, such as the lead of a class,
then changes by at most twice that in the mean: a larger mean lead cannot be lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.serving import stochastic_of
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.evaluation.agreement import Estimate, wilson
from wfalens.evaluation.comparison import check_pair
from wfalens.html import table_html
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.robustness.certify.certify_texts import worded
from wfalens.robustness.certify.edits import Edits, random_picks, spelled
from wfalens.robustness.certify.substitutes import Substitutes
from wfalens.validation import Bounds, whole

if TYPE_CHECKING:
    import pandas as pd

_SAMPLES = Bounds(whole, 20, 10**7)
_PILOT = 10  # one sample in so many serves to choose λ
_RISK = 0.001  # the chance that a bound from samples is wrong, for each text


@dataclass(frozen=True)
class SmoothedText:
    """The smoothed network on one text."""

    words: tuple[str, ...]
    label: str  # the class of largest mean
    mean: tuple[float, ...]  # of the network's outputs, estimated; by class
    automaton: tuple[float, ...] | None  # of the automaton's outputs, exact
    lead: float  # of the class over the best other, in the mean
    lead_low: float  # the lead is at least that, but for a chance of 1 in 1,000
    variance_ratio: float | None  # of the lead without and with the automaton as control
    radius: int | None  # words that may be replaced without changing the smoothed class; None: any number


@dataclass(frozen=True, eq=False)
class Smoothed:
    """The smoothed network on many texts."""

    texts: tuple[SmoothedText, ...]
    class_names: tuple[str, ...]
    samples: int
    remark: str | None  # whose means are exact, where that is the attached readable automaton

    def certified(self, changes: int | None) -> Estimate:
        """The share of texts whose smoothed class no such number of substitutions changes (None: any number)."""
        hits = sum(each.radius is None or (changes is not None and each.radius >= changes) for each in self.texts)
        return wilson(hits, len(self.texts))

    @cached_property
    def variance_ratio(self) -> float | None:
        """The median over the texts."""
        known = [each.variance_ratio for each in self.texts if each.variance_ratio is not None]
        return float(np.median(known)) if known else None

    def to_json(self) -> dict[str, Any]:
        return {
            "samples": self.samples,
            "class_names": list(self.class_names),
            "certified": {str(changes): asdict(self.certified(changes)) for changes in (1, 2, 3, None)},
            "variance_ratio": self.variance_ratio,
            "remark": self.remark,
            "texts": [{**asdict(each), "words": " ".join(each.words)} for each in self.texts],
        }

    def to_dataframe(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame([{**asdict(each), "words": " ".join(each.words)} for each in self.texts])

    def to_html(self) -> str:
        rows = [
            [each.label, f"{each.lead:.3f}", f"{each.lead_low:.3f}", told_radius(each.radius), " ".join(each.words)]
            for each in self.texts
        ]
        return table_html("The smoothed network", ["class", "lead", "at least", "certified changes", "text"], rows)

    def _repr_html_(self) -> str:
        return self.to_html()


def told_radius(radius: int | None) -> str:
    return "any number" if radius is None else str(radius)


def smooth(
    wfa: WFA,
    model: PrefixClassifier,
    texts: Sequence[str],
    substitutes: Substitutes,
    *,
    samples: int = 1000,
    seed: int = 0,
) -> Smoothed:
    """The network's mean output over random substitutions, and how many substitutions cannot change its class.

    Args:
        wfa: its automaton, whose exact mean makes the estimate better.
        model: the network.
        texts: to smooth it on.
        substitutes: words that may replace each word.
        samples: random variants of each text.
        seed: of these.

    Examples:
        >>> from wfalens.robustness import Substitutes, smooth
        >>> substitutes = Substitutes.of(wfa, {"film": ["a"]})
        >>> smooth(wfa, model, ["a good film"], substitutes, samples=100).texts[0].label
        'pos'
    """
    check_pair(wfa, model)
    samples = _SAMPLES.checked("samples", samples)
    serving = stochastic_of(wfa)
    tokens = worded(wfa, texts)
    rng = np.random.default_rng(seed)
    found = []
    progress.start("smoothing", len(tokens))
    for words in tokens:
        ids = wfa.encoder.vocabulary.encode([words]).values
        found.append(_smoothed(None if serving is None else serving.wfa, model, words, ids, substitutes, samples, rng))
        progress.advance(1)
    progress.finish()
    return Smoothed(tuple(found), wfa.class_names, samples, None if serving is None else serving.remark)


def mean_output(wfa: StochasticWFA, ids: NDArray[np.int32], substitutes: Substitutes) -> NDArray[np.float64]:
    """The automaton's class weights in the mean over all variants, exact; (C,)"""
    vector = wfa.initial
    for options in Edits(substitutes).choices(ids):
        vector = wfa.advance(vector[None], np.array([option.words[0] for option in options], np.int32)).mean(0)
    return np.asarray(wfa.read_out(vector[None])[0])


def tolerated_lead(ids: NDArray[np.int32], substitutes: Substitutes) -> NDArray[np.float64]:
    """The lead in the mean that 0, 1, 2 … substitutions may take away at most; (L + 1,)"""
    kept = np.sort([1 - _variation(int(word), substitutes) for word in ids])
    return np.asarray(2 * (1 - np.concatenate([[1.0], np.cumprod(kept)])))


def _variation(word: int, substitutes: Substitutes) -> float:
    """τ: the largest total variation between the draws of a word and of one that may replace it."""
    own = {word, *substitutes.of_id(word)}
    others = [{other, *substitutes.of_id(other)} for other in substitutes.of_id(word)]
    return max((1 - len(own & other) / max(len(own), len(other)) for other in others), default=0.0)


def _smoothed(
    wfa: StochasticWFA | None,
    model: PrefixClassifier,
    words: list[str],
    ids: NDArray[np.int32],
    substitutes: Substitutes,
    samples: int,
    rng: np.random.Generator,
) -> SmoothedText:
    choices = Edits(substitutes).choices(ids)
    texts = spelled(choices, random_picks(choices, samples, rng))
    outputs = final_outputs(model, texts)
    exact, rest, reach = None, outputs, 1.0  # |lead| of an output is at most 1
    if wfa is not None:
        exact = mean_output(wfa, ids, substitutes)
        pilot = max(2, samples // _PILOT)
        known = wfa.weights(texts) - exact
        share = _control_share(outputs[:pilot], known[:pilot])
        outputs = outputs[pilot:]
        rest, reach = outputs - share * known[pilot:], 1 + share
    mean = rest.mean(0)
    first, second = np.argsort(-mean, kind="stable")[:2]
    leads, plain = rest[:, first] - rest[:, second], outputs[:, first] - outputs[:, second]
    risk = _RISK / (len(mean) * (len(mean) - 1))  # of each pair of classes
    lead_low = min(
        _lowest_mean(rest[:, first] - rest[:, other], reach, risk) for other in range(len(mean)) if other != first
    )
    lost = tolerated_lead(ids, substitutes)
    held = int(np.sum(lost < lead_low)) - 1  # the largest number of substitutions whose loss is below the lead
    radius = None if held >= len(ids) else max(0, held)
    ratio = None if wfa is None or leads.var() == 0 else float(plain.var() / leads.var())
    return SmoothedText(
        tuple(words),
        model.class_names[int(first)],
        tuple(map(float, mean)),
        None if exact is None else tuple(map(float, exact)),
        float(leads.mean()),
        float(lead_low),
        ratio,
        radius,
    )


def _control_share(outputs: NDArray[np.float64], known: NDArray[np.float64]) -> float:
    """λ: how much of the automaton's deviation the network shares, between 0 and 1. outputs, known: (samples, C)"""
    moved = known - known.mean(0)
    varied, together = float((moved * moved).sum()), float(((outputs - outputs.mean(0)) * moved).sum())
    return 0.0 if varied == 0 else min(1.0, max(0.0, together / varied))


def _lowest_mean(values: NDArray[np.float64], reach: float, risk: float) -> float:
    """What the mean falls below with at most the given risk, of values in an interval of twice `reach`.

    The empirical Bernstein bound of Maurer and Pontil (2009).
    """
    number, odds = len(values), np.log(2 / risk)
    spread = np.sqrt(2 * values.var(ddof=1) * odds / number)
    return float(values.mean() - spread - 7 * 2 * reach * odds / (3 * (number - 1)))
