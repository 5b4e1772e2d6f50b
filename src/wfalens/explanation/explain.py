"""Explain one text: the door to all attributions of an automaton, and to the network's own Shapley values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.attribution import ADDITIVE, METHODS, PROBABILITY, SHAPLEY, Attribution, class_column
from wfalens.explanation.shapley.game import DELETE
from wfalens.explanation.shapley.network_values import network_shapley
from wfalens.explanation.shapley.quadrature import exact_marginals
from wfalens.explanation.shapley.shapley_values import banzhaf, read_text, shapley
from wfalens.models.contract import PrefixClassifier
from wfalens.validation import check_choice


def explain(
    wfa: WFA,
    text: str,
    model: PrefixClassifier | None = None,
    *,
    method: str = SHAPLEY,
    absence: str = DELETE,
    unit: str | None = None,
    queries: int | None = None,
    tolerance: float | None = None,
    class_name: str | None = None,
    seed: int = 0,
) -> Attribution:
    """What every word of a text contributes to every class.

    Without a model the values are the automaton's, and no query is made. With the model they are the network's own,
    estimated by regression on what the automaton gets wrong, with an interval for every word.

    Args:
        wfa: the automaton.
        text: to explain.
        model: the network; None to explain the automaton.
        method: "shapley": the mean marginal contribution over all permutations of the words (which words matter?);
            "banzhaf": the mean over all coalitions; "additive": what each word changed when it was read (how did the
            output evolve?).
        absence: what an absent word is: "delete" (not there), "unknown" (`<unk>`) or, of the automaton only,
            "background" (a random word of the extraction corpus) or "bigram" (one that fits its neighbours).
        unit: "probability", or for experts "log-odds" of a linear automaton. Banzhaf values are in the automaton's own
            unit, and the network's are probabilities.
        queries: with a model: the largest number of queries (default: 500).
        tolerance: with a model: stop when all 95 % intervals are at most this far from the values; if the queries
            do not suffice, a warning says so.
        class_name: the class to show first; by default the predicted one.
        seed: of the coalitions that are drawn.

    Examples:
        >>> from wfalens.explanation import explain
        >>> found = explain(wfa, "not a bad film")
        >>> found.values.shape, bool(abs(found.gap).max() < 1e-9)  # a value for each word and class; they add up
        ((4, 2), True)
    """
    check_choice("method", method, METHODS)
    if not isinstance(text, str):
        raise InputError(f"explain one text at a time: give a string, not {type(text).__name__}", code="not-a-text")
    if class_name is not None:
        class_column(wfa.class_names, class_name)
    if model is not None:
        if method != SHAPLEY or unit not in (None, PROBABILITY):
            raise InputError("a network has Shapley values in probabilities only", code="network-method")
        found = network_shapley(model, wfa, text, queries=queries, tolerance=tolerance, absence=absence, seed=seed)
        return replace(found, class_name=class_name)
    if queries is not None or tolerance is not None:
        raise InputError("queries and a tolerance need a model; give one, or leave them out", code="no-model")
    if method == SHAPLEY:
        found = shapley(wfa, text, absence=absence, unit=unit or PROBABILITY, seed=seed)
    else:
        if unit not in (None, wfa.unit) and (method, unit) != (ADDITIVE, PROBABILITY):
            raise InputError(f"{method} values of this automaton are in the unit {wfa.unit}", code="unit")
        found = (
            _additive(wfa, text, absence, unit or PROBABILITY)
            if method == ADDITIVE
            else banzhaf(wfa, text, absence=absence)
        )
    return replace(_with_deletions(wfa, found), class_name=class_name)


def _additive(wfa: WFA, text: str, absence: str, unit: str) -> Attribution:
    """`(d_t − d_{t−1})·F` for word t, with `d_t` the state vector after t words."""
    if absence != DELETE:
        raise InputError("additive contributions have no other absence than delete", code="absence")
    words, _ = read_text(wfa.encoder, text)
    weights = wfa.walk(text).weights
    outputs = weights if unit == wfa.unit else wfa.probabilities(weights)
    about: dict[str, Any] = {"class_names": wfa.class_names, "unit": unit, "method": ADDITIVE, "absence": absence}
    return Attribution(words=words, base=outputs[0], output=outputs[-1], values=np.diff(outputs, axis=0), **about)


def _with_deletions(wfa: WFA, found: Attribution) -> Attribution:
    """With the output if each word were deleted, and the kinds of rows that the words went through."""
    ids = wfa.encoder.encode_tokens([found.words])
    vectors = np.vstack([wfa.initial, wfa.state_vectors(ids, every=True)])
    without = wfa.read_out(vectors[-1:]) - exact_marginals(wfa, ids, DELETE, z=1.0).values
    in_unit = without if found.unit == wfa.unit else wfa.probabilities(without)
    return replace(found, without=in_unit, row_shares=wfa.row_shares(ids.values, vectors[:-1]))
