"""Automatic choice of K, α and β: on held-out sentences, for consistency or divergence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.completion import Empirical, Fitted, Probe
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.errors import InputError
from wfalens.extraction.comparing import CONSISTENCY, Rates, gains, rates, select_best
from wfalens.extraction.deadline import NEVER, Deadline
from wfalens.extraction.held_out import comparison_prefixes
from wfalens.extraction.query_budget import TooFewQueriesError
from wfalens.extraction.states.abstraction import TooFewOutputsError
from wfalens.extraction.states.views import PrefixOutputs
from wfalens.extraction.stochastic.memory_budget import MemoryBudget
from wfalens.extraction.stochastic.size_grid import SizeGrid
from wfalens.ragged import Ragged

ALPHAS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4)
BETAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7)
_HELD_OUT, _MOST_HELD_OUT = 0.1, 3000  # share of the texts, and number of texts at most
_PATIENCE = 2  # sizes without a gain before the search ends
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
class Delivered:
    """Which rows the automaton has: the fitted ones, or those that they began from, if these are the better ones."""

    rows: str
    fit: Rates
    probe: Rates

    @classmethod
    def better(cls, fit: Rates, probe: Rates, texts: int, aim: str = CONSISTENCY) -> Delivered:
        names = (Fitted.name, Probe.name)
        return cls(names[select_best([fit, probe], texts, aim)], fit, probe)

    @classmethod
    def from_dict(cls, stored: Any) -> Delivered | None:
        return None if stored is None else cls(stored["rows"], Rates(**stored["fit"]), Rates(**stored["probe"]))

    def to_dict(self) -> dict[str, Any]:
        return {"rows": self.rows, "fit": self.fit._asdict(), "probe": self.probe._asdict()}


@dataclass(frozen=True, eq=False)
class Held:
    """Texts that are held out, by their numbers, and what the model says of them."""

    texts: NDArray[np.int64]
    outputs: NDArray[np.float32]  # (texts, C)

    def measured(self, wfa: StochasticWFA, ids: Ragged[np.int32]) -> Rates:
        """`ids` are all texts."""
        return rates(wfa, comparison_prefixes(wfa, ids.take(self.texts)), self.outputs)

    def others(self, texts: int) -> NDArray[np.int64]:
        """The numbers of the others among so many texts."""
        return np.setdiff1d(np.arange(texts), self.texts)


@dataclass(frozen=True)
class Tuning:
    """What was tried, on how many held-out texts, what was chosen, and which rows it got where they were fitted."""

    trials: tuple[Trial, ...]
    chosen: Trial
    texts: int
    delivered: Delivered | None = None
    aim: str = CONSISTENCY  # what counted first

    @property
    def curve(self) -> list[Trial]:
        """The best trial for each abstraction and number of states; the chosen one where it is among them."""
        groups = dict.fromkeys((trial.abstraction, trial.states) for trial in self.trials)
        return [
            self.chosen
            if group == (self.chosen.abstraction, self.chosen.states)
            else _best([each for each in self.trials if (each.abstraction, each.states) == group], self.texts, self.aim)
            for group in groups
        ]

    @classmethod
    def best(cls, searches: Sequence[Tuning]) -> Tuning:
        """Searches over the same held-out texts as one."""
        trials = tuple(trial for search in searches for trial in search.trials)
        texts, aim = searches[0].texts, searches[0].aim
        return cls(trials, _best([search.chosen for search in searches], texts, aim), texts, aim=aim)

    @classmethod
    def from_dict(cls, stored: Any) -> Tuning | None:
        """What an automaton's provenance holds; None if it holds none, or none of ours."""
        try:
            trials = tuple(Trial(**trial) for trial in stored["trials"])
            delivered = Delivered.from_dict(stored.get("delivered"))
            aim = str(stored.get("aim", CONSISTENCY))
            found = cls(trials, Trial(**stored["chosen"]), int(stored["texts"]), delivered, aim)
            numbers = [
                value for trial in trials for value in (trial.states, trial.alpha, trial.cr, trial.jsd, trial.bytes)
            ]
            sound = found.texts > 0 and found.chosen in trials and bool(np.isfinite(np.array(numbers, float)).all())
            return found if sound and all(isinstance(trial.beta, float | None) for trial in trials) else None
        except (TypeError, KeyError, ValueError):
            return None

    def to_dict(self) -> dict[str, Any]:
        record = {"texts": self.texts, "aim": self.aim, "chosen": asdict(self.chosen)}
        record["trials"] = [asdict(trial) for trial in self.trials]
        return record if self.delivered is None else record | {"delivered": self.delivered.to_dict()}


# Builds an automaton with K states from what was seen, with rows for the given words only.
Build = Callable[[int, PrefixOutputs, NDArray[np.int32]], StochasticWFA]


def choose(
    seen: PrefixOutputs,
    compared_part: Callable[[PrefixOutputs], PrefixOutputs],
    abstraction: str,
    build: Build,
    grid: SizeGrid,
    memory: MemoryBudget,
    alphas: Sequence[float],
    betas: Sequence[float],
    max_bytes: int | None,
    rng: np.random.Generator,
    deadline: Deadline = NEVER,
    aim: str = CONSISTENCY,
) -> Tuning:
    """Try K from small to large until it no longer helps or time is short, and every α and β with each.

    The model is not run again over the texts, and only words of the held-out sentences get rows. `max_bytes` bounds the
    bytes of the file, `memory` that that it takes to make it.
    """
    fit, held = split(len(seen.ids), rng)
    known, hidden = seen.take(fit), compared_part(seen.take(held))
    tests, targets = hidden.ids, hidden.last
    words = np.unique(tests.values)
    trials: list[Trial] = []
    tops: list[Trial] = []  # the best of each size
    wfa: StochasticWFA | None = None
    refusal: str | None = None
    per_state = 0.0  # seconds that the last size took
    progress.start("choosing the number of states", len(grid.sizes))
    for size in grid.sizes:
        if not _continues(tops, grid.usual, len(tests), aim) or (tops and not deadline.allows(size * per_state)):
            break
        began = deadline.used
        refusal = None if wfa is None else memory.refusal(size, wfa)
        if refusal is not None:
            break
        try:
            wfa = build(size, known, words)
        except TooFewOutputsError as error:
            if trials:
                break
            wfa = build(error.distinct, known, words)
        except TooFewQueriesError:
            if trials:
                break
            raise
        file_bytes = _estimated_bytes(wfa, len(words))
        if max_bytes is not None and file_bytes > max_bytes:
            break
        found = [_tried(abstraction, variant, tests, targets, file_bytes) for variant in _variants(wfa, alphas, betas)]
        trials += found
        tops.append(_best(found, len(tests), aim))
        per_state = (deadline.used - began) / size
        progress.advance(1, f"K = {size}: CR {tops[-1].cr:.3f}, JSD {tops[-1].jsd:.4f}")
    progress.finish()
    if refusal is not None:
        progress.say(refusal)
    if not trials:
        raise InputError(f"no automaton of {grid.sizes[0]} states fits into {max_bytes:,} bytes; allow more")
    return Tuning(tuple(trials), _best(trials, len(tests), aim), len(tests), aim=aim)


def _continues(tops: Sequence[Trial], usual: int, texts: int, aim: str = CONSISTENCY) -> bool:
    """Whether another size is tried after these: usual ones with patience, further ones only after a clear gain."""
    if len(tops) < 2:
        return True
    if len(tops) < usual:
        return len(tops) - 1 - select_best(tops, texts, aim) < _PATIENCE
    return gains(tops[-1], tops[:-1], texts, aim)


def split(texts: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers of the texts that are known in a search, and of those that are held out."""
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
    abstraction: str, wfa: StochasticWFA, tests: Ragged[np.int32], targets: NDArray[np.float32], file_bytes: int
) -> Trial:
    beta = getattr(wfa.completion, "beta", None)
    return Trial(abstraction, wfa.states - 1, wfa.alpha, beta, *rates(wfa, tests, targets), file_bytes)


def _best(trials: Sequence[Trial], texts: int, aim: str = CONSISTENCY) -> Trial:
    """The select_best; of equals the one with the fewest states."""
    ordered = sorted(trials, key=lambda trial: trial.states)
    return ordered[select_best(ordered, texts, aim)]


def _estimated_bytes(wfa: StochasticWFA, words: int) -> int:
    alphabet = len(wfa.encoder.vocabulary)
    probed = getattr(wfa.completion, "rows", None)
    entries = int(wfa.word_counts.sum())  # at most one transition a token
    if probed is not None:
        entries += round(len(probed.target) * alphabet / max(1, words))
    return _BYTES_PER_ENTRY * entries + 16 * alphabet
