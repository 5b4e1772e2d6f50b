"""Automatic choice of K, α and β: on held-out sentences, for consistency, then for divergence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.completion import Empirical
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.divergence import jensen_shannon
from wfalens.errors import InputError
from wfalens.extraction.completion.queries import TooFewQueriesError
from wfalens.extraction.states.abstraction import TooFewOutputsError
from wfalens.extraction.states.views import Seen
from wfalens.progress import Progress
from wfalens.ragged import Ragged

LADDER = (10, 20, 40, 60, 80, 120, 160, 240, 320)  # numbers of states that are tried, upwards
FIT_LADDER = (20, 40, 80)  # where rows are fitted, which makes up for few states
ALPHAS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4)
BETAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7)
_HELD_OUT, _MOST_HELD_OUT = 0.1, 3000  # share of the texts, and number of texts at most
_PATIENCE = 2  # rungs without a gain before the search ends
_BYTES_PER_ENTRY = 3  # of a stored row: a target and a small count


@dataclass(frozen=True)
class Trial:
    """A setting and how faithful it was on the held-out sentences; `bytes` is an estimate of the whole file."""

    abstraction: str
    states: int
    alpha: float
    beta: float | None
    cr: float
    jsd: float
    bytes: int


@dataclass(frozen=True)
class Tuning:
    """What was tried, on how many held-out texts, and what was chosen."""

    trials: tuple[Trial, ...]
    chosen: Trial
    texts: int

    @property
    def curve(self) -> list[Trial]:
        """The best trial for each abstraction and number of states; the chosen one where it is among them."""
        groups = dict.fromkeys((trial.abstraction, trial.states) for trial in self.trials)
        return [
            self.chosen
            if group == (self.chosen.abstraction, self.chosen.states)
            else _best([each for each in self.trials if (each.abstraction, each.states) == group], self.texts)
            for group in groups
        ]

    @classmethod
    def best(cls, searches: Sequence[Tuning]) -> Tuning:
        """Searches over the same held-out texts as one."""
        trials = tuple(trial for search in searches for trial in search.trials)
        return cls(trials, _best([search.chosen for search in searches], searches[0].texts), searches[0].texts)

    @classmethod
    def from_json(cls, stored: Any) -> Tuning | None:
        """What an automaton's provenance holds; None if it holds none, or none of ours."""
        try:
            trials = tuple(Trial(**trial) for trial in stored["trials"])
            found = cls(trials, Trial(**stored["chosen"]), int(stored["texts"]))
            numbers = [
                value for trial in trials for value in (trial.states, trial.alpha, trial.cr, trial.jsd, trial.bytes)
            ]
            sound = found.texts > 0 and found.chosen in trials and bool(np.isfinite(np.array(numbers, float)).all())
            return found if sound and all(isinstance(trial.beta, float | None) for trial in trials) else None
        except (TypeError, KeyError, ValueError):
            return None

    def to_json(self) -> dict[str, Any]:
        return {"texts": self.texts, "chosen": asdict(self.chosen), "trials": [asdict(trial) for trial in self.trials]}


# Builds an automaton with K states from what was seen, with rows for the given words only.
Build = Callable[[int, Seen, NDArray[np.int32]], StochasticWFA]


def choose(
    seen: Seen,
    abstraction: str,
    build: Build,
    states: Sequence[int],
    alphas: Sequence[float],
    betas: Sequence[float],
    budget: int | None,
    rng: np.random.Generator,
    progress: Progress,
) -> Tuning:
    """Try K from small to large until it no longer helps, and every α and β with each.

    The model is not run again over the texts, and only words of the held-out sentences get rows. `budget` bounds the
    bytes of the file.
    """
    fit, held = _split(len(seen.ids), rng)
    known, hidden = seen.take(fit), seen.take(held)
    tests, wanted = hidden.ids, hidden.last
    words = np.unique(tests.values)
    trials: list[Trial] = []
    tops: list[Trial] = []  # the best of each rung
    progress.start("choosing the number of states", len(states))
    for rung in states:
        try:
            wfa = build(rung, known, words)
        except TooFewOutputsError as error:
            if trials:
                break
            wfa = build(error.distinct, known, words)
        except TooFewQueriesError:
            if trials:
                break
            raise
        size = _estimated_bytes(wfa, len(words))
        if budget is not None and size > budget:
            break
        found = [_tried(abstraction, variant, tests, wanted, size) for variant in _variants(wfa, alphas, betas)]
        trials += found
        tops.append(_best(found, len(tests)))
        progress.advance(1, f"K = {rung}: CR {tops[-1].cr:.3f}")
        leader = tops.index(_best(tops, len(tests)))
        if len(tops) - 1 - leader >= _PATIENCE:
            break
    progress.finish()
    if not trials:
        raise InputError(f"no automaton of {states[0]} states fits into {budget:,} bytes; allow more")
    return Tuning(tuple(trials), _best(trials, len(tests)), len(tests))


def _split(texts: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    order = rng.permutation(texts)
    held = max(1, min(_MOST_HELD_OUT, round(_HELD_OUT * texts)))
    if held >= texts:
        raise InputError("an automatic choice needs at least two texts")
    return np.sort(order[held:]), np.sort(order[:held])


def _variants(wfa: StochasticWFA, alphas: Sequence[float], betas: Sequence[float]) -> Iterator[StochasticWFA]:
    rules = (
        [Empirical(beta, wfa.completion.distance) for beta in betas]
        if betas and isinstance(wfa.completion, Empirical)
        else [wfa.completion]
    )
    return (wfa.with_rule(alpha, rule) for alpha in alphas for rule in rules)


def _tried(
    abstraction: str, wfa: StochasticWFA, tests: Ragged[np.int32], wanted: NDArray[np.float32], size: int
) -> Trial:
    weights = wfa.weights(tests)
    cr = float(np.mean(wfa.decide(weights) == wanted.argmax(1)))
    jsd = float(jensen_shannon(wfa.probabilities(weights), wanted).mean())
    return Trial(abstraction, wfa.states - 1, wfa.alpha, getattr(wfa.completion, "beta", None), cr, jsd, size)


def _best(trials: Sequence[Trial], texts: int) -> Trial:
    """The highest CR; rates within half a standard error are a tie, which the lower JSD wins."""
    top = max(trial.cr for trial in trials)
    tie = 0.5 * float(np.sqrt(top * (1 - top) / texts))
    return min((trial for trial in trials if trial.cr >= top - tie), key=lambda trial: (trial.jsd, trial.states))


def _estimated_bytes(wfa: StochasticWFA, words: int) -> int:
    alphabet = len(wfa.encoder.vocabulary)
    probed = getattr(wfa.completion, "rows", None)
    entries = int(wfa.word_counts.sum())  # at most one transition a token
    if probed is not None:
        entries += round(len(probed.target) * alphabet / max(1, words))
    return _BYTES_PER_ENTRY * entries + 16 * alphabet
