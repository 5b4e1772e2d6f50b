"""Words that influence a model although they should not: damaged ones, and rare ones as strong as the strongest.

A control character or a broken encoding shows where a text comes from, not what it means. A word of a handful of texts
with the influence of the best-known ones was memorised.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.explanation.influence import influence_of, words_seen
from wfalens.messages import visible
from wfalens.results import Result
from wfalens.text.word_checks import find_mojibake
from wfalens.validation import Bounds, real, whole

RARE = "strong and rare"
_COUNTS, _SHARES = Bounds(whole, 1, 1 << 40), Bounds(real, 0.0, 1.0)


@dataclass(frozen=True)
class Artefact:
    """A suspicious word, what makes it so, and what it does."""

    word: str
    kind: str  # one of `MOJIBAKE_KINDS`, or "strong and rare"
    count: int  # in the extraction corpus
    class_name: str  # the class that it raises most
    influence: float  # on the probability of that class
    rank: float  # the share of the usual words that it is stronger than

    @property
    def shown(self) -> str:
        """The word with invisible characters made visible."""
        return visible(self.word)


@dataclass(frozen=True, repr=False)
class Artefacts(Result):
    """The suspicious words of an automaton: damaged ones first, the strongest first."""

    items: tuple[Artefact, ...]
    usual: int  # words seen often enough to compare with
    rare: int  # occurrences up to which a word is rare

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Artefact]:
        return iter(self.items)

    def of_kind(self, kind: str) -> list[Artefact]:
        return [item for item in self.items if item.kind == kind]

    @property
    def title(self) -> str:
        return f"{len(self)} suspicious words ({self.usual:,} usual words to compare with)"

    def rows(self) -> list[dict[str, Any]]:
        return [
            {
                "word": each.word,
                "shown": each.shown,
                "kind": each.kind,
                "count": each.count,
                "class": each.class_name,
                "influence": each.influence,
                "stronger than": each.rank,
            }
            for each in self.items
        ]


def find_artefacts(
    wfa: WFA, *, rare: int = 5, stronger_than: float = 0.99, least_rank: float = 0.5, most: int = 50
) -> Artefacts:
    """Damaged words with an influence, and rare words with more influence than nearly all usual ones.

    rare            words seen at most so often are rare, the others are usual
    stronger_than   the share of the usual words that a rare word must exceed in strength
    least_rank      the share of the usual words that a damaged word must exceed
    most            words of each of the two sorts at most, the strongest first
    """
    for name, value, bounds in (
        ("rare", rare, _COUNTS),
        ("stronger_than", stronger_than, _SHARES),
        ("least_rank", least_rank, _SHARES),
        ("most", most, _COUNTS),
    ):
        bounds.checked(name, value)
    ids = words_seen(wfa, 1)
    words, counts = wfa.encoder.vocabulary.decode(ids), wfa.word_counts[ids]
    scores = influence_of(wfa, ids, "probability")
    kinds = [find_mojibake(word) for word in words]
    damaged = np.array([kind is not None for kind in kinds])
    strength = np.linalg.norm(scores, axis=1)
    usual = (counts > rare) & ~damaged
    ranks = _ranks(strength, strength[usual])
    chosen = [
        *_strongest(np.flatnonzero(damaged & (ranks >= least_rank)), strength, most),
        *_strongest(np.flatnonzero(~damaged & (counts <= rare) & (ranks >= stronger_than)), strength, most),
    ]
    items = tuple(
        Artefact(
            words[at],
            kinds[at] or RARE,
            int(counts[at]),
            wfa.class_names[int(scores[at].argmax())],
            float(scores[at].max()),
            float(ranks[at]),
        )
        for at in chosen
    )
    return Artefacts(items, int(usual.sum()), rare)


def _ranks(strength: NDArray[np.float64], usual: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of the usual words that each word is stronger than; 0 without any. (words,) -> (words,)"""
    return np.asarray(np.searchsorted(np.sort(usual), strength) / max(1, len(usual)))


def _strongest(places: NDArray[np.int64], strength: NDArray[np.float64], most: int) -> list[int]:
    ordered: list[int] = places[np.argsort(-strength[places], kind="stable")][:most].tolist()
    return ordered
