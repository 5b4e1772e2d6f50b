"""One sentence, word by word: automaton, model and readable automaton side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.divergence import jensen_shannon
from wfalens.explanation.shapley import shapley_each
from wfalens.models.contract import StatefulClassifier
from wfalens.ragged import Ragged
from wfalens.report.study import Study, short

_SHOWN_STATES = 5  # of the distribution after each word
_LEAST_MASS = 0.02
_TOLERANCE = 1e-5  # of Shapley values, which are shown with four digits


def play(study: Study, text: str) -> dict[str, Any]:
    """All that the sentence player shows; an empty text shows the beginning."""
    wfa = study.wfa
    walk = wfa.walk(text)
    weights, ids = walk.weights, walk.ids
    outputs = wfa.probabilities(weights)
    result: dict[str, Any] = {
        "text": text,
        "words": list(walk.words),
        "cut": wfa.encoder.count_cut([text]) > 0,
        "counts": wfa.word_counts[ids].tolist(),
        "rows": walk.row_kinds,
        "unit": wfa.unit,
        "automaton": short(outputs),
        "contributions": short(_shapley(wfa, ids)),
        "label": walk.label,
        "confidence": round(float(wfa.probabilities(weights[-1:]).max()), 4),
        "truth": study.truths.get(text),
    }
    if walk.names_states:
        result["states"] = [_likely(row) for row in walk.states]
    if wfa.readable is not None and wfa.readable.anatomy is not None:
        result["kinds"] = wfa.readable.anatomy.word_class[ids].tolist()
    if study.model is not None and len(ids):
        said = study.model.trace(Ragged(ids, np.array([0, len(ids)]))).values.astype(np.float64)
        if isinstance(study.model, StatefulClassifier):  # it has an output before any word, too
            said = np.vstack([study.model.initial_output, said])
        label = study.wfa.class_names[int(said[-1].argmax())]
        result["model"] = short(said)
        result["model_label"] = label
        result["agrees"] = label == walk.label
        result["jsd"] = round(float(jensen_shannon(outputs[-1:], said[-1:])[0]), 4)
    return result


def _shapley(wfa: WFA, ids: NDArray[np.int32]) -> NDArray[np.float64]:
    """Shapley values of the words; -> (words, classes), also of none"""
    if len(ids) == 0:
        return np.zeros((0, len(wfa.class_names)))
    return shapley_each(wfa, Ragged(ids, np.array([0, len(ids)])), tolerance=_TOLERANCE)[0].values


def _likely(distribution: NDArray[np.float64]) -> list[list[float]]:
    order = np.argsort(-distribution, kind="stable")[:_SHOWN_STATES]
    return [[int(at), round(float(distribution[at]), 3)] for at in order if distribution[at] >= _LEAST_MASS]
