"""The network's own Shapley values: those of its automaton, plus a regression on what the automaton gets wrong.

    φ̂(R) = φ(A) + φ̂(R − A)

φ(A) takes no query. The network is asked for some coalitions, and the values of the residual game R − A, which is small
where the automaton is faithful, are estimated from these (`coalition_regression`). Without an automaton, A = 0.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError, WfalensWarning
from wfalens.evaluation.comparison import check_pair
from wfalens.explanation.attribution import LOG_ODDS, NETWORK, PROBABILITY, SHAPLEY, Attribution, half_widths
from wfalens.explanation.shapley.coalition_regression import estimate_shapley
from wfalens.explanation.shapley.coalitions import MOST_COALITIONS, draw_coalitions, most_coalitions
from wfalens.explanation.shapley.game import (
    BACKGROUND,
    BIGRAM,
    DELETE,
    HIDE,
    WORD,
    checked_absence,
    coalition_texts,
    coalition_weights,
    players_of,
)
from wfalens.explanation.shapley.shapley_values import (
    MOST_SAMPLED,
    probability_values,
    read_text,
)
from wfalens.models.base import BlackBoxClassifier
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs

QUERIES = 500
_LEAST_PROBABILITY = 1e-6  # in log-odds
_FIRST, _LEVEL = 32, 0.95  # coalitions before the intervals are looked at for the first time, and their level


def network_shapley(
    model: PrefixClassifier,
    wfa: WFA | None,
    text: str,
    *,
    queries: int | None = None,
    tolerance: float | None = None,
    absence: str = "delete",
    by: str = WORD,
    seed: int = 0,
) -> Attribution:
    """Shapley values of the network's class probabilities, with an interval for every word.

    Where the budget covers all coalitions they are all asked, and the values are exact.

    Args:
        model: the network.
        wfa: its automaton. None: the same regression on the network's outputs themselves, which takes more queries.
            It is no KernelSHAP: it asks chosen coalitions and shrinks, and its error is smaller at every budget.
        text: to explain.
        queries: the largest number of coalitions the network is queried for (default: 500, or as many as
            `tolerance` takes). No more than 4,096 are asked, unless more are all.
        tolerance: ask until the 95 % intervals of all words and classes reach no further than this. If the budget
            or the limit is spent before, a warning says how far they reach.
        absence: what an absent word is: "delete" or "unknown".
        by: what is present or absent as a whole: "word", "phrase" (up to a mark, five words at most) or "sentence".
            Long texts have fewer of these than words, so that the same queries tell more of each.
        seed: of the coalitions that are drawn.

    Examples:
        >>> from wfalens.explanation import network_shapley
        >>> asked = network_shapley(model, wfa, "not a bad film", queries=8)
        >>> low, high = asked.interval()
        >>> bool((low <= asked.values).all())
        True
    """
    check_network_game(model, wfa, absence)
    if tolerance is not None and not tolerance > 0:
        raise InputError(f"the tolerance must be positive, not {tolerance}", code="tolerance")
    encoder = model.encoder if wfa is None else wfa.encoder
    ids = read_text(encoder, text, MOST_SAMPLED, "sampled")[1].values
    names, player = players_of(encoder, text, by)
    shown = shown_ids(model, text, ids)
    free = int(absence == DELETE and getattr(model, "has_prior", True))  # the text without words
    budget = queries if queries is not None else QUERIES if tolerance is None else MOST_COALITIONS
    most = most_coalitions(len(names), budget + free)
    if most < 2:
        raise InputError(f"a budget of {budget} queries does not cover the text itself", code="few-queries")
    outputs = np.empty((0, len(model.class_names)))
    known = None if wfa is None else probability_values(wfa, ids, absence, seed, None if by == WORD else player)
    count = most if tolerance is None else min(most, _FIRST)
    while True:
        present = draw_coalitions(len(names), count, np.random.default_rng(seed))
        of_words = present[:, player]
        asked = final_outputs(model, coalition_texts(shown, of_words[len(outputs) :], absence))
        outputs = np.concatenate([outputs, asked])
        if wfa is None or known is None:
            found = estimate_shapley(present, outputs)
        else:
            residual = outputs - wfa.shown(coalition_weights(wfa, ids, of_words, absence))
            found = known + estimate_shapley(present, residual, residual_variance(wfa))
        width = float(half_widths(found.standard_error, found.samples, _LEVEL).max())
        if count == most or width <= (tolerance or 0):
            break
        count = min(most, 2 * count)
    if tolerance is not None and width > tolerance:
        message = f"with {count - free:,} queries the values are within ±{width:.2g}, not ±{tolerance:g}; " + (
            "that is the limit" if count >= MOST_COALITIONS else "allow more queries"
        )
        warnings.warn(message, WfalensWarning, stacklevel=2)
    about: dict[str, Any] = {
        "unit": PROBABILITY,
        "method": SHAPLEY,
        "absence": absence,
        "source": NETWORK,
        "queries": len(outputs) - free,
    }
    base, output = outputs[:2]
    return Attribution(words=names, class_names=model.class_names, base=base, output=output, **found.fields(), **about)


def residual_values(
    wfa: WFA, model: PrefixClassifier, text: str, absence: str, queries: int, seed: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The words of a text, and φ(network) − φ(automaton) of each in the automaton's unit; -> (L,), (L, C)"""
    ids = read_text(wfa.encoder, text, MOST_SAMPLED, "sampled")[1].values
    present = draw_coalitions(len(ids), most_coalitions(len(ids), max(2, queries)), np.random.default_rng(seed))
    outputs = final_outputs(model, coalition_texts(shown_ids(model, text, ids), present, absence)).astype(np.float64)
    if wfa.unit == LOG_ODDS:
        logs = np.log(np.maximum(outputs, _LEAST_PROBABILITY))
        outputs = logs - logs.mean(1, keepdims=True)
    return ids, estimate_shapley(present, outputs - coalition_weights(wfa, ids, present, absence)).values


def residual_variance(wfa: WFA) -> float | None:
    """The mean square of what the automaton gets wrong, as it was measured on held-out texts; None: it was not."""
    stored = wfa.provenance.get("residual_variance")
    return float(stored) if isinstance(stored, float) and 0 <= stored <= 1 else None


def check_network_game(model: PrefixClassifier, wfa: WFA | None, absence: str) -> None:
    if wfa is not None:
        check_pair(wfa, model)
    if checked_absence(absence) in (BACKGROUND, BIGRAM):
        raise InputError(
            "a network has no random words in place of absent ones; choose delete or unknown", code="absence"
        )
    if absence == HIDE and model.encoder.closed:
        raise InputError("the model's alphabet is closed, without an unknown word; choose delete", code="absence")


def shown_ids(model: PrefixClassifier, text: str, ids: NDArray[np.int32]) -> NDArray[np.int32]:
    """The words as the model reads them: as they are written, if it reads texts. ids: those of the automaton"""
    return model.encode([text]).values if isinstance(model, BlackBoxClassifier) else ids
