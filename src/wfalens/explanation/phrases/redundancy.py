"""Phrases that say nothing beyond the shorter ones within them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wfalens.explanation.phrases.phrase_candidates import GAP, Key


@dataclass(frozen=True)
class Standing:
    """What a phrase that decides is worth for its class."""

    label: int
    effect: float
    precision: float
    low: float  # end of the interval of the precision


def without_redundant(
    deciding: Mapping[Key, Standing], effects: Mapping[Key, list[float]], gap: int, margin: Sequence[float]
) -> list[Key]:
    """The phrases that add something to those within them: effect, or precision beyond doubt.

    A longer phrase adds precision if the lower end of its interval lies above the precision of every shorter one of its
    class within it. It adds effect if it has more by the `margin` of its class than any shorter one, and than any two
    that make it up; then its precision must not be lower than theirs.
    """
    return [key for key, own in deciding.items() if _adds(key, own, deciding, effects, gap, margin)]


def _adds(
    key: Key,
    own: Standing,
    deciding: Mapping[Key, Standing],
    effects: Mapping[Key, list[float]],
    gap: int,
    margin: Sequence[float],
) -> bool:
    shorter = contained(key, gap)
    rivals = [deciding[each] for each in shorter if each in deciding and deciding[each].label == own.label]
    if not rivals or all(own.low > rival.precision for rival in rivals):
        return True
    explained = [effects[each][own.label] for each in shorter if each in effects]
    explained += [effects[first][own.label] + effects[second][own.label] for first, second in _halves(key)]
    more = own.effect >= max(explained) + margin[own.label]
    return more and own.precision >= max(rival.precision for rival in rivals)


def contained(key: Key, gap: int) -> set[Key]:
    """All shorter phrases that stand in every text that contains this one."""
    found: set[Key] = set()
    todo = [key]
    while todo:
        for each in _one_shorter(todo.pop(), gap):
            if each not in found:
                found.add(each)
                todo.append(each)
    return found


def _one_shorter(key: Key, gap: int) -> list[Key]:
    if len(key) == 1:
        return []
    shorter = [_trimmed(key[1:]), _trimmed(key[:-1])]
    if GAP not in key:  # leave out words in the middle, as far as a gap reaches
        inner = range(1, len(key) - 1)
        shorter += [(*key[:i], GAP, *key[j + 1 :]) for i in inner for j in inner if i <= j < i + gap]
    return shorter


def _halves(key: Key) -> list[tuple[Key, Key]]:
    """The ways to cut a phrase into two."""
    cuts = [at for at in range(1, len(key)) if key[at] != GAP]
    return [(_trimmed(key[:at]), key[at:]) for at in cuts]


def _trimmed(key: Key) -> Key:
    """Without a gap at an end."""
    return key[key[0] == GAP : len(key) - (key[-1] == GAP)]
