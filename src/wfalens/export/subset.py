"""The part of an automaton that is exported: chosen words and states, every transition written out.

Whole vocabularies do not fit every tool. What is left out must not leave rows that sum to less than 1: a row that loses
some of its targets is scaled up to what it had. Mass that has nowhere to go (a row that null completion left empty, or
one all of whose targets were left out) goes to a state of its own, *lost*, which has no weight for any class and is
never left. Weights `A(w)` are thereby those of the automaton, and all rows sum to 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.linear import LinearWFA
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA, frozen
from wfalens.errors import InputError
from wfalens.text.vocabulary import PADDING, UNKNOWN, UNKNOWN_WORD

LOST, LOST_NAME = -1, "lost"
MOST_TRANSITIONS = 10_000_000
_FLOATS_AT_ONCE = 1 << 22
_LEAST_LOSS = 1e-9  # below that, a row's missing mass is rounding


@dataclass(frozen=True, eq=False)
class Subset:
    """Words and states of an automaton with all their transitions, sorted by source, word and target."""

    kind: str
    class_names: tuple[str, ...]
    words: tuple[str, ...]
    states: NDArray[np.int64]  # (n,): their numbers in the automaton, -1 for the lost one
    initial: NDArray[np.float64]  # I: (n,)
    final: NDArray[np.float64]  # F: (n, C)
    source: NDArray[np.int32]  # (transitions,): a place in `states`, as `target` is
    word: NDArray[np.int32]  # (transitions,): a place in `words`
    target: NDArray[np.int32]  # (transitions,)
    weight: NDArray[np.float64]  # (transitions,): Êσ[source, target]
    word_counts: NDArray[np.int64]  # (words,): occurrences in the extraction corpus
    state_frequencies: NDArray[np.float64]  # u: (n,)
    about: dict[str, Any] = field(default_factory=dict)  # how texts become words, provenance
    state_names: tuple[str, ...] | None = None  # (n,), where states have names
    word_classes: tuple[str, ...] | None = None  # names of the classes of words, where words share rows
    class_of_word: NDArray[np.int64] | None = None  # (words,): a place in `word_classes`

    def __post_init__(self) -> None:
        for part in vars(self).values():
            if isinstance(part, np.ndarray):
                frozen(part)

    @property
    def lost(self) -> int | None:
        """The place of the lost state, if there is one."""
        return len(self.states) - 1 if self.states[-1] == LOST else None

    @property
    def decided(self) -> NDArray[np.int64]:
        """The class with the largest weight in each state, -1 for the lost state; (n,)"""
        return np.where(self.states == LOST, -1, self.final.argmax(1))

    def matrices(self) -> NDArray[np.float64]:
        """Êσ of every word; (words, n, n)"""
        n = len(self.states)
        dense = np.zeros((len(self.words), n, n))
        dense[self.word, self.source, self.target] = self.weight
        return dense

    def weights(self, texts: Sequence[Sequence[str]]) -> NDArray[np.float64]:
        """`A(w)` of texts given as lists of words, all of which must be in the subset; -> (texts, classes)"""
        matrices = dict(zip(self.words, self.matrices(), strict=True))
        vectors = np.tile(self.initial, (len(texts), 1))
        for row, text in enumerate(texts):
            for word in text:
                if word not in matrices:
                    raise InputError(f"the word {word!r} was not exported", code="unknown-word")
                vectors[row] = vectors[row] @ matrices[word]
        return np.asarray(vectors @ self.final)


def subset(
    wfa: WFA, words: Sequence[str] | int | None = None, states: Sequence[int] | None = None, threshold: float = 0.0
) -> Subset:
    """Write out the transitions of chosen words (default: all) between chosen states (default: all; 0 is always in).

    A number of words stands for the most frequent ones.

    Weights below the threshold are left out, but for the largest of a row; rows are scaled back to what they had.
    """
    ids, kept = chosen_ids(wfa, words), chosen_states(wfa, states, threshold)
    columns = _transitions(wfa, ids, kept, threshold)
    lost = int(np.any((columns[2] == len(kept)) & (columns[0] < len(kept))))
    source, word, target, weight = (column[columns[0] < len(kept) + lost] for column in columns)
    numbers = np.append(kept, np.full(lost, LOST))
    return Subset(
        wfa.kind,
        wfa.class_names,
        tuple(wfa.encoder.vocabulary.decode(ids)),
        numbers,
        np.pad(wfa.initial[kept], (0, lost)),
        np.pad(wfa.read_out(np.eye(wfa.states)[kept]), ((0, lost), (0, 0))),
        source,
        word,
        target,
        weight,
        wfa.word_counts[ids],
        np.pad(wfa.state_frequencies[kept], (0, lost)),
        {**wfa.encoder.settings, "provenance": wfa.provenance},
        *_names(wfa, ids, numbers),
    )


def _names(
    wfa: WFA, ids: NDArray[np.int32], states: NDArray[np.int64]
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None, NDArray[np.int64] | None]:
    """Of states and classes of words, and the class of each word, where an automaton has them."""
    if not isinstance(wfa, StochasticWFA) or wfa.names is None or wfa.anatomy is None:
        return None, None, None
    named = tuple(LOST_NAME if state == LOST else wfa.names.states[state] for state in states)
    return named, tuple(each.name for each in wfa.names.classes), wfa.anatomy.word_class[ids].astype(np.int64)


def _transitions(
    wfa: WFA, ids: NDArray[np.int32], states: NDArray[np.int64], threshold: float
) -> tuple[NDArray[Any], ...]:
    """Source, word, target and weight of the transitions of the words between the states, in this order.

    The state `len(states)` is the lost one, which is never left.
    """
    parts: list[tuple[NDArray[Any], ...]] = []
    found, step = 0, max(1, _FLOATS_AT_ONCE // wfa.states**2)
    for first in range(0, len(ids), step):
        full = wfa.matrices(ids[first : first + step])
        dense = full[:, states[:, None], states]
        if wfa.kind != LinearWFA.kind:
            dense = _sum_to_one(dense, full[:, states].sum(2), threshold)
        word, source, target = (part.astype(np.int32) for part in np.nonzero(dense))
        parts.append((source, word + np.int32(first), target, dense[word, source, target]))
        found += len(source)
        if found > MOST_TRANSITIONS:
            raise InputError(
                f"{len(ids):,} words and {len(states)} states make more than {MOST_TRANSITIONS:,} transitions; "
                "choose fewer words or states, or a threshold",
                code="too-large",
            )
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(columns[0], kind="stable")  # by word and target already
    return tuple(column[order] for column in columns)


def _sum_to_one(dense: NDArray[np.float64], mass: NDArray[np.float64], threshold: float) -> NDArray[np.float64]:
    """Rows without small weights, scaled to their mass, with a last column for what is lost, and a last row.

    dense: (words, n, n), mass: (words, n) of the rows before any target was left out -> (words, n + 1, n + 1)
    """
    kept = np.where((dense >= threshold) | (dense == dense.max(2, keepdims=True)), dense, 0.0)
    left = kept.sum(2)
    mass = np.where((left > 0) & (mass > _LEAST_LOSS), mass, 0.0)
    mass = np.where(mass > 1 - _LEAST_LOSS, 1.0, mass)
    kept *= np.divide(mass, left, out=np.zeros_like(mass), where=left > 0)[..., None]
    rows = np.concatenate([kept, 1 - mass[..., None]], axis=2)
    largest = rows.argmax(2)[..., None]  # takes what rounding left over
    residue = 1 - rows.sum(2, keepdims=True)
    np.put_along_axis(rows, largest, np.take_along_axis(rows, largest, 2) + residue, 2)
    stays = np.broadcast_to(np.eye(rows.shape[2])[-1], (len(rows), 1, rows.shape[2]))
    return np.concatenate([rows, stays], axis=1)


def chosen_ids(wfa: WFA, words: Sequence[str] | int | None) -> NDArray[np.int32]:
    """Ids of the words, each of which must be in the alphabet once; all but padding by default."""
    vocabulary = wfa.encoder.vocabulary
    if words is None:
        return np.arange(UNKNOWN, len(vocabulary), dtype=np.int32)
    if isinstance(words, int):
        words = frequent_words(wfa, words)
    if isinstance(words, str):
        raise InputError("give a list of words; put a single word into a list", code="words")
    ids = np.array([vocabulary.id_of(word) for word in words], np.int32)
    for word, number, count in zip(words, ids, map(Counter(words).__getitem__, words), strict=True):
        if number == PADDING or (number == UNKNOWN and word != UNKNOWN_WORD):
            message = f"the word {word!r} is not in the automaton's alphabet; {UNKNOWN_WORD} stands for it"
            raise InputError(message, code="unknown-word")
        if count > 1:
            raise InputError(f"the word {word!r} is given twice", code="words")
    if not len(ids):
        raise InputError("no word is left to export", code="words")
    return ids


def chosen_states(wfa: WFA, states: Sequence[int] | None, threshold: float) -> NDArray[np.int64]:
    """The states in their order, 0 always among them; all by default, and of a linear automaton."""
    if not 0 <= threshold < 1:
        raise InputError(f"the threshold must lie in [0, 1), not {threshold}", code="option-value")
    chosen = np.arange(wfa.states) if states is None else np.unique(np.append(np.asarray(states, np.int64), 0))
    if chosen[0] < 0 or chosen[-1] >= wfa.states:
        raise InputError(f"states are numbered from 0 to {wfa.states - 1}", code="states")
    if wfa.kind == LinearWFA.kind and (threshold or len(chosen) < wfa.states):
        raise InputError(
            "a linear automaton's states are directions, none of which can be left out, and its small weights matter; "
            "export all states without a threshold",
            code="states",
        )
    return chosen


def frequent_words(wfa: WFA, top: int) -> list[str]:
    """`<unk>`, which any text may need, and the words that were seen most often in extraction."""
    counts = wfa.word_counts[UNKNOWN + 1 :]
    ranked = np.argsort(-counts, kind="stable")[:top]
    seen = ranked[counts[ranked] > 0] + UNKNOWN + 1
    return [UNKNOWN_WORD, *wfa.encoder.vocabulary.decode(seen.astype(np.int32))]


def with_unknown(words: Sequence[str] | int | None) -> Sequence[str] | int | None:
    """The words and `<unk>`, for a tool that must read any text; numbers of words and None (all) hold it already."""
    return words if words is None or isinstance(words, int) or UNKNOWN_WORD in words else [UNKNOWN_WORD, *words]
