"""Shapley and Banzhaf values of an automaton, text by text."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA, Texts
from wfalens.errors import InputError
from wfalens.explanation.attribution import BANZHAF, LOG_ODDS, PROBABILITY, SHAPLEY, Attribution
from wfalens.explanation.shapley.coalition_regression import Estimates, estimate_shapley
from wfalens.explanation.shapley.coalitions import draw_coalitions
from wfalens.explanation.shapley.game import DELETE, checked_absence, coalition_weights
from wfalens.explanation.shapley.quadrature import TOLERANCE, exact_marginals, exact_shapley
from wfalens.ragged import Ragged
from wfalens.text.encoder import TextEncoder

MOST_WORDS, MOST_SAMPLED, MOST_PAIRED = 20_000, 1_000, 500  # words of a text, see `check_length`
ENUMERATED = 12  # words up to which all coalitions are read
SAMPLED = 1024  # coalitions that are read for values in probabilities where there are more words or groups


def shapley(
    wfa: WFA,
    text: str,
    *,
    absence: str = "delete",
    unit: str | None = None,
    tolerance: float = TOLERANCE,
    seed: int = 0,
) -> Attribution:
    """Shapley values of every word of a text for every class; the model is not asked.

    Args:
        wfa: the automaton.
        text: to explain.
        absence: what an absent word is: "delete" (not there), "unknown" (`<unk>`), "background" (a random word of
            the extraction corpus) or "bigram" (a random word that fits its neighbours).
        unit: "probability" or "log-odds"; by default the automaton's own, in which values are exact.
        tolerance: for long texts: the largest error of quadrature; 0 for none. The result has its bound.
        seed: of coalitions that are drawn, where values are estimated: of linear automata in probabilities, beyond 12
            words. The result then has standard errors.

    Examples:
        >>> from wfalens.explanation import shapley
        >>> found = shapley(wfa, "not a bad film")
        >>> found.values.shape, bool(abs(found.gap).max() < 1e-9)  # a value for each word and class; they add up
        ((4, 2), True)
    """
    (found,) = shapley_each(wfa, [text], absence=absence, unit=unit, tolerance=tolerance, seed=seed)
    return found


def shapley_each(
    wfa: WFA,
    texts: Texts,
    *,
    absence: str = "delete",
    unit: str | None = None,
    tolerance: float = TOLERANCE,
    seed: int = 0,
) -> list[Attribution]:
    """The same for many texts at once, or for word ids; the options are those of `shapley`."""
    absence, unit = checked_absence(absence), checked_unit(wfa, unit)
    if not 0 <= tolerance < np.inf:
        raise InputError(f"the tolerance must be 0 or a positive number, not {tolerance}", code="tolerance")
    words, ids = _read(wfa.encoder, texts)
    is_exact = unit == wfa.unit
    check_length(
        ids, *((MOST_WORDS, "explained word by word") if is_exact else (MOST_SAMPLED, "sampled in probabilities"))
    )
    base, output = _empty_weights(wfa, ids.lengths, absence), wfa.weights(ids)
    if is_exact:
        values, errors = exact_shapley(wfa, ids, absence, tolerance)
        found = [Estimates.exact(each) for each in values]
    else:
        base, output, errors = wfa.probabilities(base), wfa.probabilities(output), np.zeros(len(ids))
        found = [probability_values(wfa, text, absence, seed) for text in ids]
    about: dict[str, Any] = {"class_names": wfa.class_names, "unit": unit, "method": SHAPLEY, "absence": absence}
    return [
        Attribution(
            words=words[at], base=base[at], output=output[at], error=float(errors[at]), **each.fields(), **about
        )
        for at, each in enumerate(found)
    ]


def probability_values(
    wfa: WFA, ids: NDArray[np.int32], absence: str, seed: int, player: NDArray[np.int64] | None = None
) -> Estimates:
    """Shapley values of one text in probabilities, with standard errors, 0 where values are exact; -> (players, C) each

    The softmax of a linear automaton is not linear in the words: values are enumerated or, of longer texts, estimated.
    So are those of groups of words; player: (L,) the group of every word
    """
    if player is None and wfa.unit == PROBABILITY:
        values, _ = exact_shapley(wfa, Ragged(ids, np.array([0, len(ids)])), absence)
        return Estimates.exact(values.values)
    player = np.arange(len(ids)) if player is None else player
    players = int(player[-1]) + 1
    count = 1 << players if players <= ENUMERATED else SAMPLED
    present = draw_coalitions(players, count, np.random.default_rng(seed))
    return estimate_shapley(present, wfa.shown(coalition_weights(wfa, ids, present[:, player], absence)))


def _empty_weights(wfa: WFA, lengths: NDArray[np.int64], absence: str) -> NDArray[np.float64]:
    """`I·B^L·F`: class weights of texts whose words are all absent; lengths: (texts,) -> (texts, classes)"""
    if absence == DELETE:
        return np.repeat(wfa.read_out(wfa.initial[None]), len(lengths), axis=0)
    distinct, which = np.unique(lengths, return_inverse=True)
    empty = [coalition_weights(wfa, np.ones(size, np.int32), np.zeros((1, size), bool), absence) for size in distinct]
    return np.concatenate([np.zeros((0, len(wfa.class_names))), *empty])[which]


def banzhaf(wfa: WFA, text: str, *, absence: str = "delete") -> Attribution:
    """Banzhaf values of every word of a text: its mean marginal over all coalitions, each as likely as the other."""
    words, ids = read_text(wfa.encoder, text)
    base = _empty_weights(wfa, ids.lengths, checked_absence(absence))[0]
    values = exact_marginals(wfa, ids, absence, 0.5).values
    about: dict[str, Any] = {"class_names": wfa.class_names, "unit": wfa.unit, "method": BANZHAF, "absence": absence}
    return Attribution(words=words, base=base, output=wfa.weights(ids)[0], values=values, **about)


def checked_unit(wfa: WFA, unit: str | None) -> str:
    if unit not in (None, PROBABILITY, LOG_ODDS):
        raise InputError(f"unknown unit {unit!r}; choose {PROBABILITY} or {LOG_ODDS}", code="unit")
    if unit == LOG_ODDS != wfa.unit:
        raise InputError("a stochastic automaton has values in probabilities only", code="unit")
    return unit or wfa.unit


def read_text(
    encoder: TextEncoder, text: str, most: int = MOST_WORDS, done: str = "explained word by word"
) -> tuple[tuple[str, ...], Ragged[np.int32]]:
    """The words of one text, of which there are some but not more than `most`, and their ids."""
    (words,), ids = _read(encoder, [text])
    check_length(ids, most, done)
    return words, ids


def _read(encoder: TextEncoder, texts: Texts) -> tuple[list[tuple[str, ...]], Ragged[np.int32]]:
    """Words and ids of texts, none of them empty."""
    if isinstance(texts, str):
        raise InputError("give a list of texts; put a single text in a list", code="texts-not-list")
    if isinstance(texts, Ragged):
        ids = encoder.checked(texts)
        words = [tuple(encoder.vocabulary.decode(text)) for text in ids]
    else:
        words = [tuple(encoder.tokens(text)) for text in texts]
        ids = encoder.encode_tokens(words)
    if np.any(ids.lengths == 0):
        raise InputError("the text has no words" if len(ids) == 1 else "one of the texts has no words", code="no-words")
    return words, ids


def check_length(ids: Ragged[np.int32], most: int, done: str) -> None:
    longest = int(ids.lengths.max(initial=0))
    if longest > most:
        message = f"a text of {longest:,} words is too long to be {done}; truncate it to {most:,} words at most"
        raise InputError(message, code="text-too-long")
