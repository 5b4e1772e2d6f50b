"""What a sample of the texts decides before all are counted: K, α and β, chosen on held-out texts, and the states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.completion import Probe
from wfalens.automaton.rows import MAX_STATES
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.extraction.held_out import CONSISTENCY, gains, select_best
from wfalens.extraction.method import Request, Step, stream_of
from wfalens.extraction.query_budget import QueryBudget
from wfalens.extraction.states import PrefixOutputs, States, View, named_abstraction, state_centres
from wfalens.extraction.stochastic.paper import StateMethod
from wfalens.memory import free
from wfalens.models.inference import initial_output
from wfalens.ragged import Ragged
from wfalens.scale.sample import SampledFiles

ALPHAS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4)
BETAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7)
_PATIENCE = 2  # sizes without a gain before the search ends
_LEAST, _TIMES = 10, (1, 2, 4, 6, 8, 12, 16, 24, 32)
_LEAST_FITTED, _TIMES_FITTED = 20, (1, 2, 4)  # fitting makes up for few states
_FURTHER = (8, 16, 32)  # as long as each is clearly better than the one before
_MOST_FITTED = 640  # states, unless there are more than half as many classes: patience ends somewhere
_LANGUAGE_SIZES = (10, 30, 80, 200, 600, 1500)  # of a language model: earned one by one
_MOST_LANGUAGE_ROWS = 40_000  # states times symbols of it
_MOST_REPRESENTATIVES = 1600  # of all states together, where their number is chosen: as many at least
_MOST_ASKED = 16_000_000  # or more, if the alphabet is so small that they are not asked about more than this
_SHARE_OF_FREE = 0.5  # of the memory that is free, where no bound is given
_BYTES_PER_PROBED, _BYTES_PER_FITTED = 70, 110  # of an entry of a probed row while it is made, and while it is fitted
_BYTES_PER_POINT = 16  # of each of its numbers: k-means makes four copies
_BYTES_PER_ENTRY, _BYTES_PER_WORD = 3, 16  # of a stored row: a target and a small count


@dataclass(frozen=True)
class SizeGrid:
    """Numbers of states to try with patience, and further ones, each only after a clear gain of the one before."""

    sizes: tuple[int, ...]
    usual: int  # how many of them are tried with patience

    @classmethod
    def of(cls, classes: int, *, fits: bool, limited: bool) -> SizeGrid:
        """For a task of so many classes; a limit on queries leaves nothing for further sizes."""
        least = max(classes, _LEAST_FITTED if fits else _LEAST)
        times = _TIMES_FITTED if fits else _TIMES
        further = _FURTHER if fits and not limited else ()
        most = min(MAX_STATES - 1, max(_MOST_FITTED, 2 * classes)) if fits else MAX_STATES - 1
        sizes = tuple(least * each for each in (*times, *further) if least * each <= most)
        return cls(sizes, min(len(times), len(sizes)))

    @classmethod
    def for_language_model(cls, symbols: int, *, limited: bool) -> SizeGrid:
        """For a language model of so many symbols."""
        affordable = [each for each in _LANGUAGE_SIZES if each * symbols <= _MOST_LANGUAGE_ROWS] or _LANGUAGE_SIZES[:1]
        return cls(tuple(affordable[: 4 if limited else None]), 1)


def representatives_for(most: int, states: int, words: int) -> int:
    """How many stand for each of so many states: as many as are given, but not too many in all."""
    return max(1, min(most, max(_MOST_REPRESENTATIVES, _MOST_ASKED // words) // states))


def free_share(files: SampledFiles | None) -> int | None:
    """Bytes that may be used: of files what their run leaves, else half of what is free; None: unknown."""
    if files is not None and files.run.memory is not None:
        return files.run.memory_left
    available = free()
    return None if available is None else int(_SHARE_OF_FREE * available)


def memory_needed(method: StateMethod, points: tuple[int, ...], states: int, smaller: StochasticWFA) -> int:
    """Bytes that making an automaton with so many states takes.

    A smaller automaton, with rows for some words, tells what is stored for each word and state. points: (number, width)
    """
    number, width = points
    seen = number if method.sample is None else min(number, states * method.sample)
    needed = seen * width * _BYTES_PER_POINT
    if isinstance(smaller.completion, Probe):
        rows = smaller.completion.rows
        per_entry = _BYTES_PER_FITTED if method.fits else _BYTES_PER_PROBED
        dense = len(rows.target) / max(1, len(rows.state))
        needed += round(dense * per_entry * states * len(smaller.encoder.vocabulary))
    return needed


def estimated_bytes(wfa: StochasticWFA, words: int) -> int:
    """Of the file of an automaton, by one with rows for so many words."""
    alphabet = len(wfa.encoder.vocabulary)
    entries = int(wfa.word_counts.sum())  # at most one transition a token
    if isinstance(wfa.completion, Probe):
        entries += round(len(wfa.completion.rows.target) * alphabet / max(1, words))
    return _BYTES_PER_ENTRY * entries + _BYTES_PER_WORD * alphabet


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


def best_trial(trials: Sequence[Trial], texts: int, aim: str = CONSISTENCY) -> Trial:
    """The most faithful on so many texts; of equals the one with the fewest states."""
    ordered = sorted(trials, key=lambda trial: trial.states)
    return ordered[select_best(ordered, texts, aim)]


def continues(tops: Sequence[Trial], usual: int, texts: int, aim: str = CONSISTENCY) -> bool:
    """Whether another size is tried after these: usual ones with patience, further ones only after a clear gain."""
    if len(tops) < 2:
        return True
    if len(tops) < usual:
        return len(tops) - 1 - select_best(tops, texts, aim) < _PATIENCE
    return gains(tops[-1], tops[:-1], texts, aim)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Texts on which settings are compared."""

    numbers: NDArray[np.int64]  # (texts,): among the texts of the extraction
    ids: Ragged[np.int32]  # as far as automata are compared by them
    targets: NDArray[np.float32]  # (texts, C): the model's outputs


@dataclass(frozen=True, eq=False)
class Tuning:
    """What was tried, on which held-out texts, and what was chosen."""

    trials: tuple[Trial, ...]
    chosen: Trial
    held: HeldOut
    aim: str  # what counted first

    def to_dict(self) -> dict[str, Any]:
        trials = [asdict(trial) for trial in self.trials]
        return {"texts": len(self.held.numbers), "aim": self.aim, "chosen": asdict(self.chosen), "trials": trials}


@dataclass(frozen=True, eq=False)
class StateSpace:
    """A method that leaves nothing open, the states, and how the search for it went (None: nothing was open)."""

    method: StateMethod
    view: View
    states: States
    path: NDArray[np.int32]  # (tokens of the sample,): the state after every word
    centres: NDArray[np.float64]  # (n, C): of the sample, for states that the texts never visit; ρ(0)
    budget: QueryBudget
    tuning: Tuning | None

    @classmethod
    def of(
        cls,
        method: StateMethod,
        request: Request,
        view: View,
        seen: PrefixOutputs,
        budget: QueryBudget,
        tuning: Tuning | None = None,
    ) -> StateSpace:
        """Form the states of prefixes in a view."""
        progress.start("clustering the outputs")
        abstraction, rng = named_abstraction(method.abstraction), stream_of(request.seed, Step.STATES)
        states, path = abstraction.divide(seen, int(method.states), method.sample, rng).visited(seen.points)
        progress.finish()
        prior = initial_output(request.model, method.initial)
        centres = state_centres(seen.outputs, path, prior, len(states))
        return cls(method, view, states, path, centres, budget, tuning)
