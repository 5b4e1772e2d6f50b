"""Words that move a model although they should not: damaged ones, and rare ones as strong as the strongest usual words.

A control character or a broken encoding tells where a text comes from, not what it says. A word of a handful of texts
that decides like the best-known ones was learned by heart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.explanation.embeddings import words_seen
from wfalens.explanation.influence import influence_of
from wfalens.html import table_html
from wfalens.messages import percent, visible
from wfalens.text.word_checks import find_mojibake
from wfalens.validation import Bounds, real, whole

if TYPE_CHECKING:
    import pandas as pd

RARE = "strong and rare"
_COUNTS, _SHARES = Bounds(whole, 1, 1 << 40), Bounds(real, 0.0, 1.0)


@dataclass(frozen=True)
class Artefact:
    """A suspicious word, what makes it so, and what it does."""

    word: str
    kind: str  # one of `MOJIBAKE_KINDS`, or "strong and rare"
    count: int  # in the extraction corpus
    class_name: str  # the class that it speaks for most
    influence: float  # on the probability of that class
    rank: float  # the share of the usual words that it is stronger than

    @property
    def shown(self) -> str:
        """The word with invisible characters in sight."""
        return visible(self.word)

    def to_json(self) -> dict[str, Any]:
        return {
            "word": self.word,
            "shown": self.shown,
            "kind": self.kind,
            "count": self.count,
            "class": self.class_name,
            "influence": self.influence,
            "stronger_than": self.rank,
        }


@dataclass(frozen=True)
class Artefacts:
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

    def to_dataframe(self) -> pd.DataFrame:
        import pandas as pd

        names = ("word", "shown", "kind", "count", "class", "influence", "stronger_than")
        return pd.DataFrame([item.to_json() for item in self.items], columns=list(names))

    def to_json(self) -> dict[str, Any]:
        return {"usual": self.usual, "rare": self.rare, "words": [item.to_json() for item in self.items]}

    def to_html(self) -> str:
        return table_html(self.title, COLUMNS, self.rows())

    @property
    def title(self) -> str:
        return f"Words that should not matter ({self.usual:,} usual words to compare with)"

    def rows(self) -> list[list[str]]:
        """As a table for people, under `COLUMNS`."""
        return [
            [each.shown, each.kind, f"{each.count:,}", each.class_name, f"{each.influence:+.3f}", percent(each.rank)]
            for each in self.items
        ]

    def _repr_html_(self) -> str:
        return self.to_html()


COLUMNS = ("word", "what it is", "seen", "speaks for", "by", "stronger than")


def find_artefacts(
    wfa: WFA, *, rare: int = 5, stronger_than: float = 0.99, least_rank: float = 0.5, most: int = 50
) -> Artefacts:
    """Damaged words that move the model, and rare words that move it like hardly any usual one.

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
