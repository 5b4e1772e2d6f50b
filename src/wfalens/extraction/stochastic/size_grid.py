"""The numbers of states that are tried, upwards from the number of classes."""

from __future__ import annotations

from dataclasses import dataclass

from wfalens.automaton.rows import MAX_STATES

_LEAST, _TIMES = 10, (1, 2, 4, 6, 8, 12, 16, 24, 32)
_LEAST_FITTED, _TIMES_FITTED = 20, (1, 2, 4)  # fitting makes up for few states
_LANGUAGE_SIZES = (10, 30, 80, 200, 600, 1500)  # of a language model: earned one by one
_MOST_LANGUAGE_ROWS = 40_000  # states times symbols of it
_FURTHER = (8, 16, 32)  # as long as each is clearly better than the one before
_MOST_FITTED = 640  # states, unless there are more than half as many classes: patience ends somewhere
_MOST_REPRESENTATIVES = 1600  # of all states together, where their number is chosen: as many at least
_MOST_ASKED = 16_000_000  # or more, if the alphabet is so small that they are not asked about more than this


@dataclass(frozen=True)
class SizeGrid:
    """Sizes that are tried with patience, and further ones, each only after a clear gain of the one before."""

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
        affordable = (
            tuple(each for each in _LANGUAGE_SIZES if each * symbols <= _MOST_LANGUAGE_ROWS) or _LANGUAGE_SIZES[:1]
        )
        return cls(affordable[: 4 if limited else None], 1)

    @classmethod
    def single(cls, states: int) -> SizeGrid:
        return cls((states,), 1)


def representatives_for(most: int, states: int, words: int) -> int:
    """How many stand for each of so many states: as many as are given, but not too many in all."""
    return max(1, min(most, max(_MOST_REPRESENTATIVES, _MOST_ASKED // words) // states))
