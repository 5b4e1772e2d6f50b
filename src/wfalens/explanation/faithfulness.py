"""How faithful to the model are the automaton's attributions? Measured beside leave-one-out and random scores."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.comparison import check_pair
from wfalens.evaluation.explanations import (
    ExplanationScores,
    TextScorer,
    evaluate_explanations,
    leave_one_out_scores,
)
from wfalens.explanation.attribution import ADDITIVE
from wfalens.explanation.explain import explain
from wfalens.explanation.shapley.shapley_values import shapley
from wfalens.models.contract import PrefixClassifier


def compare_explanations(
    wfa: WFA, model: PrefixClassifier, texts: Sequence[str], *, limit: int = 200, seed: int = 0
) -> ExplanationScores:
    """Comprehensiveness, sufficiency and rank agreement of attributions of `limit` texts, drawn at random.

    Args:
        wfa: the automaton, whose Shapley values and additive contributions are measured.
        model: the network, whose class is explained; leave-one-out queries it.
        texts: those without words are left out.
        limit: texts at most.
        seed: of the texts drawn and of the random scores.
    """
    check_pair(wfa, model)
    order = np.random.default_rng(seed).permutation(len(texts))
    drawn = list(islice((texts[at] for at in order if model.encoder.tokens(texts[at])), limit))
    if not drawn:
        raise InputError("there is no text with a word in it", code="no-words")
    rng = np.random.default_rng(seed)
    scorers: dict[str, TextScorer] = {
        "Shapley values of the automaton": lambda text: shapley(wfa, text).values,
        "additive contributions of the automaton": lambda text: explain(wfa, text, method=ADDITIVE).values,
        "leave-one-out on the classifier": lambda text: leave_one_out_scores(model, text),
        "random": lambda text: rng.random(len(model.encoder.tokens(text))),
    }
    return evaluate_explanations(scorers, model, drawn, seed=seed)
