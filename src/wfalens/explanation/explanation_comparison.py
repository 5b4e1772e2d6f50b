"""Explanations of an automaton beside simple ones, measured on the network that they should be faithful to."""

from __future__ import annotations

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
from wfalens.explanation.explain import explain
from wfalens.models.contract import PrefixClassifier
from wfalens.text.corpus import Corpus


def compare_explanations(
    wfa: WFA, model: PrefixClassifier, texts: Corpus, *, limit: int = 200, seed: int = 0
) -> ExplanationScores:
    """Measure four explanations of `limit` texts, drawn at random.

    They are the automaton's Shapley values and its additive contributions, which do not ask the model, leave-one-out on
    the model, and random scores.
    """
    check_pair(wfa, model)
    order = np.random.default_rng(seed).permutation(len(texts.texts))
    with_words = (texts.texts[at] for at in order if model.encoder.tokens(texts.texts[at]))
    chosen = list(islice(with_words, limit))
    if not chosen:
        raise InputError(f"{texts.name}: there is no text with a word in it", code="no-words")
    rng = np.random.default_rng(seed)
    scorers: dict[str, TextScorer] = {
        "Shapley values of the automaton": lambda text: explain(wfa, text).values,
        "additive contributions of the automaton": lambda text: explain(wfa, text, method="additive").values,
        "leave-one-out on the classifier": lambda text: leave_one_out_scores(model, text),
        "random": lambda text: rng.random(len(model.encoder.tokens(text))),
    }
    return evaluate_explanations(scorers, model, chosen, seed=seed)
