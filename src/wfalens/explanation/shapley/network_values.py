"""The network's own Shapley values, with the automaton as control variate.

The automaton's values φ(A) are exact; random permutations estimate only how far the network is from the automaton:

    φ̂(R) = φ(A) + mean over permutations of [marginal of R − marginal of A]

This is unbiased for any automaton; the more faithful it is, the lower the variance, and the fewer queries are needed.
From a few permutations on, the automaton's marginals get fitted weights (`permutation_sampling.controlled`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.attribution import NETWORK, PROBABILITY, SHAPLEY, Attribution, half_widths
from wfalens.explanation.shapley.game import (
    BACKGROUND,
    DELETE,
    HIDE,
    checked_absence,
    coalition_texts,
    coalition_weights,
    every_coalition_weights,
)
from wfalens.explanation.shapley.permutation_sampling import (
    Estimates,
    all_coalitions,
    antithetic_ranks,
    controlled,
    enumerated_shapley,
    marginals,
)
from wfalens.explanation.shapley.shapley_values import ENUMERATED, MOST_SAMPLED, probability_values
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs, initial_output

QUERIES = 500
_MOST_QUERIES = 100_000  # where a tolerance is given and no budget
_FIRST_PAIRS, _MOST_PAIRS = 8, 10_000  # before the intervals are looked at for the first time, and at all
_LEVEL = 0.95
_CONTROL_PAIRS = 256  # for the automaton's own values, where they must be sampled


def network_shapley(
    model: PrefixClassifier,
    wfa: WFA | None,
    text: str,
    *,
    queries: int | None = None,
    tolerance: float | None = None,
    absence: str = "delete",
    seed: int = 0,
) -> Attribution:
    """Shapley values of the network's class probabilities, with an interval for every word.

    Where the budget covers all coalitions they are all asked, and the values are exact.

    Args:
        model: the network.
        wfa: its automaton; None for plain permutation sampling.
        text: to explain.
        queries: the largest number of coalitions the network is queried for (default: 500, or as many as
            `tolerance` takes).
        tolerance: ask until the 95 % intervals of all words and classes reach no further than this, or the budget
            is spent.
        absence: what an absent word is: "delete" or "unknown".
        seed: of the permutations that are drawn.

    Examples:
        >>> from wfalens.explanation import network_shapley
        >>> asked = network_shapley(model, wfa, "not a bad film", queries=16)
        >>> low, high = asked.interval()
        >>> bool((low <= asked.values).all())
        True
    """
    if checked_absence(absence) == BACKGROUND:
        raise InputError("a network has no background absence; choose delete or unknown", code="absence")
    if absence == HIDE and model.encoder.closed:
        raise InputError("the model's alphabet is closed, without an unknown word; choose delete", code="absence")
    if tolerance is not None and not tolerance > 0:
        raise InputError(f"the tolerance must be positive, not {tolerance}", code="tolerance")
    words = tuple(model.encoder.tokens(text))
    _check(model, wfa, len(words))
    ids = model.encoder.encode([text]).values
    budget = queries if queries is not None else (QUERIES if tolerance is None else _MOST_QUERIES)
    network = _NetworkGame(model, ids, absence, budget)
    if budget < network.cost_of_a_pair:
        raise InputError(
            f"a budget of {budget} queries is too small: a permutation of the {len(words)} words and its reverse "
            f"take {network.cost_of_a_pair}",
            code="few-queries",
        )
    rng = np.random.default_rng(seed)
    control = None if wfa is None else _AutomatonGame(wfa, ids, absence, rng)
    found = _estimate(network, control, tolerance, rng)
    base, output = network(np.array([[False], [True]]).repeat(len(ids), 1))
    return Attribution(
        words=words,
        class_names=model.class_names,
        base=base,
        output=output,
        values=found.values.mean,
        unit=PROBABILITY,
        method=SHAPLEY,
        absence=absence,
        source=NETWORK,
        standard_error=found.values.standard_error if found.values.samples else None,
        samples=found.values.samples,
        queries=network.queries,
        variance_ratio=found.ratio,
    )


class _NetworkGame:
    """The network as a cooperative game with a cache: no coalition is queried twice."""

    def __init__(self, model: PrefixClassifier, ids: NDArray[np.int32], absence: str, budget: int) -> None:
        self._model, self._ids, self.absence, self.budget = model, ids, absence, budget
        self.length = len(ids)
        self._outputs = initial_output(model)[None]
        self._known: dict[bytes, int] = {}
        if absence == DELETE:  # a text without words is not asked: its output is the model's prior
            self._known[_keys(np.zeros((1, self.length), bool))[0]] = 0
        self._free = len(self._known)

    @property
    def queries(self) -> int:
        return len(self._known) - self._free

    @property
    def cost_of_all(self) -> int:
        return (1 << self.length) - self._free

    @property
    def cost_of_a_pair(self) -> int:
        """The most queries that a permutation and its reverse take: they share their two ends."""
        return 2 * self.length - self._free

    @property
    def affordable_pairs(self) -> int:
        """How many pairs the rest of the budget allows, even if they share nothing but their ends.

        This depends on how many coalitions earlier permutations shared, never on which words they hold. It therefore
        favours no word, and means over all pairs stay unbiased.
        """
        ends = 0 if self.queries else 2 - self._free
        return (self.budget - self.queries - ends) // (2 * self.length - 2)

    def __call__(self, present: NDArray[np.bool_]) -> NDArray[np.float64]:
        keys = _keys(present)
        new = {key: at for at, key in enumerate(keys) if key not in self._known}
        if new:
            texts = coalition_texts(self._ids, present[list(new.values())], self.absence)
            self._known |= {key: len(self._outputs) + at for at, key in enumerate(new)}
            self._outputs = np.concatenate([self._outputs, final_outputs(self._model, texts)])
        return np.asarray(self._outputs[[self._known[key] for key in keys]])


def _keys(present: NDArray[np.bool_]) -> list[bytes]:
    return [row.tobytes() for row in np.packbits(present, axis=1)]


class _AutomatonGame:
    """The automaton as a game in probabilities, and its own Shapley values.

    For short texts all coalitions are computed. Further control variates then are the game times the share of words
    that are present, and times its square: they fit automata that are more faithful on long texts than on short ones.
    """

    def __init__(self, wfa: WFA, ids: NDArray[np.int32], absence: str, rng: np.random.Generator) -> None:
        self._wfa, self._ids, self._absence, self._rng = wfa, ids, absence, rng

    @cached_property
    def _all(self) -> NDArray[np.float64] | None:
        """Of all coalitions, by their numbers; (2^L, 3·C)"""
        if len(self._ids) > ENUMERATED:
            return None
        outputs = self._in_probabilities(every_coalition_weights(self._wfa, self._ids, self._absence))
        share = all_coalitions(len(self._ids)).mean(1)[:, None]
        return np.hstack([outputs, outputs * share, outputs * share**2])

    @cached_property
    def values(self) -> Estimates:
        if self._all is not None:
            return Estimates.exact(enumerated_shapley(self._all))
        return probability_values(self._wfa, self._ids, self._absence, _CONTROL_PAIRS, self._rng)

    def __call__(self, present: NDArray[np.bool_]) -> NDArray[np.float64]:
        if self._all is not None:
            return np.asarray(self._all[present @ (1 << np.arange(len(self._ids)))])
        return self._in_probabilities(coalition_weights(self._wfa, self._ids, present, self._absence))

    def _in_probabilities(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return weights if self._wfa.unit == PROBABILITY else self._wfa.probabilities(weights)


@dataclass(frozen=True, eq=False)
class _Estimate:
    values: Estimates
    ratio: float | None  # of the variances without and with control

    @classmethod
    def of(
        cls, samples: NDArray[np.float64], controls: NDArray[np.float64] | None, known: Estimates | None
    ) -> _Estimate:
        """From the marginals of pairs, of the network and of the controls; (pairs, L, C), (pairs, L, D)"""
        if controls is None or known is None:
            return cls(Estimates.of(samples), None)
        rest = controlled(samples, controls, known.mean)
        found = Estimates.of(rest)
        error = np.sqrt(found.standard_error**2 + known.standard_error[:, : samples.shape[2]] ** 2)
        return cls(Estimates(found.mean, error, found.samples), _variance_ratio(samples, rest))


def _variance_ratio(plain: NDArray[np.float64], rest: NDArray[np.float64]) -> float | None:
    """How much more the plain marginals vary, over all words and classes; None from a single pair."""
    if len(plain) < 2:
        return None
    with_control = float(rest.var(0, ddof=1).sum())
    return float(plain.var(0, ddof=1).sum()) / with_control if with_control > 0 else np.inf


def _estimate(
    network: _NetworkGame, control: _AutomatonGame | None, tolerance: float | None, rng: np.random.Generator
) -> _Estimate:
    """From pairs of permutations until the budget is spent or intervals are narrow; from all coalitions if cheaper."""
    samples: list[NDArray[np.float64]] = []
    controls: list[NDArray[np.float64]] = []
    done, target = 0, _MOST_PAIRS if tolerance is None else _FIRST_PAIRS
    while True:
        if network.cost_of_all <= min(network.budget, network.queries + (target - done) * network.cost_of_a_pair):
            return _Estimate(Estimates.exact(enumerated_shapley(network(all_coalitions(network.length)))), None)
        pairs = min(target - done, network.affordable_pairs)
        if pairs:
            ranks = antithetic_ranks(network.length, pairs, rng)
            samples.append(marginals(network, ranks))
            controls += [marginals(control, ranks)] if control else []
            done += pairs
        if pairs and done < target:
            continue  # permutations share coalitions, so the budget may allow more of them
        known = control.values if control else None
        found = _Estimate.of(np.concatenate(samples), np.concatenate(controls) if control else None, known)
        narrow = tolerance is not None and bool(
            np.all(half_widths(found.values.standard_error, done, _LEVEL) <= tolerance)
        )
        if narrow or not pairs or done >= _MOST_PAIRS:
            return found
        target = 2 * done


def _check(model: PrefixClassifier, wfa: WFA | None, words: int) -> None:
    if words == 0:
        raise InputError("the text has no words", code="no-words")
    if words > MOST_SAMPLED:
        message = f"a text of {words:,} words is too long to be sampled; truncate it to {MOST_SAMPLED:,} words at most"
        raise InputError(message, code="text-too-long")
    if wfa is not None and wfa.class_names != model.class_names:
        raise InputError("the automaton and the network have different classes", code="other-model")
    if wfa is not None and wfa.encoder.vocabulary != model.encoder.vocabulary:
        raise InputError("the automaton and the network have different vocabularies", code="other-model")
