"""A text as a game: a coalition of its words is present, the others are absent.

Absence is a matrix B: the identity (`delete`), `Ê_<unk>` (`unknown`), or `Σσ p(σ)·Êσ` (`background`: a random word of
the extraction corpus). The weight of a coalition is `I·M_1⋯M_L·F`, with `M_i = Ê_wi` for present words and B for absent
ones. With the absence `bigram`, absent words are random ones that fit their neighbours (`background`).
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.linear import LinearWFA
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.shapley.background import bigram_weights, mean_matrix, mean_parts
from wfalens.explanation.shapley.shapley_kernels import IDENTITY, MEAN, LayeredSteps, SparseSteps, Steps
from wfalens.ragged import Ragged
from wfalens.text.encoder import TextEncoder
from wfalens.text.vocabulary import UNKNOWN
from wfalens.validation import check_choice

ABSENCES = DELETE, HIDE, BACKGROUND, BIGRAM = ("delete", "unknown", "background", "bigram")
PLAYERS = WORD, PHRASE, SENTENCE = ("word", "phrase", "sentence")
_ENDS = {PHRASE: re.compile(r"[.!?…,;:)–—]\S*\s|\s[(–—-]\s?"), SENTENCE: re.compile(r"[.!?…]\S*\s")}
_PHRASE_WORDS = 5


def checked_absence(absence: str) -> str:
    if absence not in ABSENCES:
        raise InputError(f"unknown absence {absence!r}; choose one of {', '.join(ABSENCES)}", code="absence")
    return absence


def compiled_game(wfa: WFA, ids: NDArray[np.int32], absence: str) -> tuple[Steps, NDArray[np.int64], int]:
    """What the kernels need: the steps, the step of every word, and that of an absent word. ids: (tokens,)"""
    if isinstance(wfa, StochasticWFA):
        mean = mean_matrix(wfa) if absence == BACKGROUND else np.zeros((0, 0))
        absent = {DELETE: IDENTITY, HIDE: int(wfa.row_set[UNKNOWN]), BACKGROUND: MEAN}[absence]
        return SparseSteps(wfa.rows, wfa.rule, mean, np.ascontiguousarray(mean.T)), wfa.row_set[ids], absent
    if not isinstance(wfa, LinearWFA):
        raise InputError(f"automata of the kind {wfa.kind!r} have no exact Shapley values")
    distinct, words = np.unique(ids, return_inverse=True)
    parts, absent = wfa.layers.parts(distinct).astype(np.float64), IDENTITY
    if absence != DELETE:
        one = wfa.layers.parts(np.array([UNKNOWN], np.int32)) if absence == HIDE else mean_parts(wfa)[:, None]
        parts, absent = np.concatenate([parts, one], 1), len(distinct)
    decay, gate, entry = np.ascontiguousarray(parts)  # one layout: kernels are compiled for each
    columns = np.ascontiguousarray(wfa.links.T)
    return LayeredSteps(decay, gate, entry, wfa.links, columns, wfa.factors.width), words, absent


def absent_step(wfa: WFA, vectors: NDArray[np.float64], absence: str) -> NDArray[np.float64]:
    """`d·B`; (N, n) -> (N, n)"""
    if absence == DELETE:
        return vectors
    if absence == HIDE:
        return wfa.advance(vectors, np.full(len(vectors), UNKNOWN, np.int32))
    return np.asarray(vectors @ mean_matrix(wfa))


def coalition_weights(
    wfa: WFA, ids: NDArray[np.int32], present: NDArray[np.bool_], absence: str
) -> NDArray[np.float64]:
    """Class weights of some coalitions of one text; present: (N, L) -> (N, classes)"""
    if absence == BIGRAM:
        return bigram_weights(wfa, ids, present)
    if absence != BACKGROUND:
        return wfa.weights(coalition_texts(ids, present, absence))
    prefix, vectors = np.zeros(len(present), np.int64), wfa.initial[None]  # coalitions that begin alike are one
    for word, there in zip(ids, present.T, strict=True):
        distinct, prefix = np.unique(2 * prefix + there, return_inverse=True)
        vectors, has_word = vectors[distinct // 2], distinct % 2 == 1
        after = absent_step(wfa, vectors, BACKGROUND)
        after[has_word] = wfa.advance(vectors[has_word], np.full(has_word.sum(), word, np.int32))
        vectors = after
    return wfa.read_out(vectors)[prefix]


def players_of(encoder: TextEncoder, text: str, by: str) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Words, phrases or sentences as they are written, and of which of them every word is one; -> (words,)

    A sentence ends at a full stop or another of its marks, a phrase also at a comma and the like, and after five words.
    """
    check_choice("by", by, PLAYERS)
    pieces = encoder.pieces(text)
    if by == WORD:
        return tuple(encoder.tokens(text)), np.arange(len(pieces))
    player, length = np.zeros(len(pieces), np.int64), 0
    for at in range(1, len(pieces)):
        gap = re.search(r"\W*$", pieces[at - 1])[0] + re.match(r"\W*", pieces[at])[0]  # type: ignore[index]
        length += 1
        is_word = re.search(r"\w", pieces[at]) is not None  # marks belong to what they end
        starts = is_word and (_ENDS[by].search(gap) is not None or (by == PHRASE and length >= _PHRASE_WORDS))
        player[at], length = player[at - 1] + starts, 0 if starts else length
    groups = np.split(np.array(pieces, object), np.flatnonzero(np.diff(player)) + 1)
    return tuple("".join(group).strip() for group in groups), player


def coalition_texts(ids: NDArray[np.int32], present: NDArray[np.bool_], absence: str) -> Ragged[np.int32]:
    """Coalitions as texts: the absent words are deleted or read as `<unk>`. present: (N, L)"""
    if absence == DELETE:
        return Ragged.from_lengths(np.broadcast_to(ids, present.shape)[present], present.sum(1))
    table = np.where(present, ids, np.int32(UNKNOWN)).astype(np.int32)
    return Ragged.from_lengths(table.ravel(), np.full(len(present), len(ids)))
