"""Influence scores (paper §5.2): how a word moves the output, averaged over the states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.attribution import class_column
from wfalens.results import RowResult

_SHOWN_WORDS, _PRINTED_WORDS = 50, 5  # in a notebook; for a class, where it is printed


def words_seen(wfa: WFA, min_count: int) -> NDArray[np.int32]:
    """Ids of the words seen at least `min_count` times in extraction, `<unk>` and padding left out."""
    ids = np.flatnonzero(wfa.word_counts >= max(1, min_count)).astype(np.int32)
    ids = ids[ids > 1]
    if len(ids) == 0:
        message = f"no word was seen {min_count} times in extraction; lower the minimum count"
        raise InputError(message, code="no-frequent-word")
    return ids


@dataclass(frozen=True, eq=False, repr=False)
class Influence(RowResult):
    """`IS(σ) ∈ R^C` of many words, with how often each was seen; rare words have noisy scores."""

    per_row = ("words", "counts", "scores")

    words: tuple[str, ...]
    counts: NDArray[np.int64]  # (words,)
    scores: NDArray[np.float64]  # (words, classes)
    class_names: tuple[str, ...]
    unit: str

    @property
    def title(self) -> str:
        return f"Influence of {len(self.words):,} words ({self.unit})"

    def summary(self, most: int = _PRINTED_WORDS) -> str:
        """The words with the largest influence on each class, a line each."""
        lines = [self.title]
        for at, name in enumerate(self.class_names):
            top = self.top(name, most)
            words = (f"{word} {score:+.3f}" for word, score in zip(top.words, top.scores[:, at], strict=True))
            lines.append(f"{name}: {', '.join(words)}")
        return "\n".join(lines)

    @property
    def strength(self) -> NDArray[np.float64]:
        """‖IS(σ)‖₂; (words,)"""
        return np.asarray(np.linalg.norm(self.scores, axis=1))

    def of(self, word: str) -> NDArray[np.float64]:
        """The scores of one word; (classes,)"""
        row: NDArray[np.float64] = self.chosen([word]).scores[0]
        return row

    def chosen(self, words: Sequence[str]) -> Influence:
        """Some of the words, in the given order."""
        places = {word: at for at, word in enumerate(self.words)}
        for word in words:
            if word not in places:
                message = f"no influence score for {word!r}: it was not seen often enough; lower the minimum count"
                raise InputError(message, code="word-without-score")
        return self.subset(np.array([places[word] for word in words], np.int64))

    def top(self, class_name: str, k: int = 10) -> Influence:
        """The `k` words with the largest influence on a class."""
        return self.largest(self.scores[:, class_column(self.class_names, class_name)], k)

    def top_of_all(self, k: int = 10) -> Influence:
        """The `k` words with the largest influence on each class, every word once."""
        words = [word for name in self.class_names for word in self.top(name, k).words]
        return self.chosen(list(dict.fromkeys(words)))

    def by_strength(self, k: int | None = None) -> Influence:
        """The `k` strongest words (default: all), the strongest first."""
        return self.largest(self.strength, k)

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"word": word, "count": int(count), **dict(zip(self.class_names, row.tolist(), strict=True)), "strength": s}
            for word, count, row, s in zip(self.words, self.counts, self.scores, self.strength.tolist(), strict=True)
        ]

    def _repr_html_(self) -> str:
        return self.by_strength(_SHOWN_WORDS).to_html()


def influence(wfa: WFA, min_count: int = 5, words: Sequence[str] | None = None) -> Influence:
    """`IS(σ) = Σᵢ u(i) Σⱼ Êσ[i,j]·(ρ(j) − ρ(i))` of the words seen `min_count` times.

    Args:
        wfa: the automaton.
        min_count: occurrences in the extraction texts that a word needs.
        words: only these, in this order (default: all).

    Examples:
        >>> from wfalens.explanation import influence
        >>> influence(wfa).top("pos", 1).words
        ('good',)
    """
    ids = words_seen(wfa, min_count)
    names = tuple(wfa.encoder.vocabulary.decode(ids))
    found = Influence(names, wfa.word_counts[ids], influence_of(wfa, ids), wfa.class_names, wfa.unit)
    return found if words is None else found.chosen(words)


def influence_of(wfa: WFA, ids: NDArray[np.int32], unit: str | None = None) -> NDArray[np.float64]:
    """`IS(σ)` of any words in the automaton's unit, or in "probability"; -> (words, classes)"""
    after = wfa.advance(wfa.state_frequencies[None], ids)
    if unit in (None, wfa.unit):
        return _scores(wfa, after, ids)
    before = wfa.probabilities(wfa.read_out(wfa.state_frequencies[None]))
    return np.asarray(wfa.probabilities(wfa.read_out(after)) - before)


def phrase_influence(wfa: WFA, phrases: Sequence[str]) -> Influence:
    """The same for phrases: the product of their words' matrices. `counts` is that of the rarest word."""
    texts = [wfa.encoder.encode_tokens([wfa.encoder.tokens(phrase)]).values for phrase in phrases]
    for phrase, ids in zip(phrases, texts, strict=True):
        if len(ids) == 0:
            raise InputError(f"the phrase {phrase!r} has no words", code="no-words")
    scores = np.array([_moved(wfa, _product(wfa, ids)[None])[0] for ids in texts])
    counts = np.array([int(wfa.word_counts[ids].min()) for ids in texts])
    return Influence(tuple(phrases), counts, scores, wfa.class_names, wfa.unit)


def _scores(wfa: WFA, after: NDArray[np.float64], ids: NDArray[np.int32]) -> NDArray[np.float64]:
    """`u·Êσ·F − u·F`, from the vectors u·Êσ: (words, n) -> (words, classes)"""
    if np.abs(after.sum(1) - wfa.state_frequencies.sum()).max() < 1e-9 or wfa.unit != "probability":
        return np.asarray(wfa.read_out(after) - wfa.read_out(wfa.state_frequencies[None]))
    # null completion leaves rows empty, Σⱼ Êσ[i,j] < 1: what is lost has not moved, so the rows are needed
    step = max(1, (1 << 22) // wfa.states**2)
    chunks = [_moved(wfa, wfa.matrices(ids[start : start + step])) for start in range(0, len(ids), step)]
    return np.concatenate(chunks)


def _moved(wfa: WFA, matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    """`Σᵢ u(i) Σⱼ E[i,j]·(ρ(j) − ρ(i))`; (words, n, n) -> (words, classes)"""
    frequencies = wfa.state_frequencies
    after = frequencies @ matrices
    before = frequencies * (matrices.sum(2) if wfa.unit == "probability" else 1.0)
    return np.asarray(wfa.read_out(after) - wfa.read_out(np.broadcast_to(before, after.shape).copy()))


def _product(wfa: WFA, ids: NDArray[np.int32]) -> NDArray[np.float64]:
    """Ê_w1⋯Ê_wL; -> (n, n)"""
    vectors = np.eye(wfa.states)
    for word in ids:
        vectors = wfa.advance(vectors, np.full(wfa.states, word))
    return vectors
