"""One sentence, word by word: the outputs of network and automaton, and which words decide it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.explanation.attribution import PROBABILITY
from wfalens.explanation.shapley import network_shapley, shapley, shapley_each
from wfalens.models.contract import StatefulClassifier
from wfalens.models.inference import jensen_shannon
from wfalens.ragged import Ragged
from wfalens.report.study import Study, short

_LONGEST = 120  # words of a text whose Shapley values are computed while somebody waits
_QUERIES = 256  # model calls for the Shapley values of a sentence
_TOLERANCE = 1e-5  # of Shapley values, which are shown with four digits


def trace(study: Study, text: str) -> dict[str, Any]:
    """The outputs after every word; an empty text shows the initial output."""
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
    if study.model is not None and len(ids):
        outputs_of_model = study.model.trace(Ragged(ids, np.array([0, len(ids)]))).values.astype(np.float64)
        if isinstance(study.model, StatefulClassifier):  # it has an output before any word, too
            outputs_of_model = np.vstack([study.model.initial_output, outputs_of_model])
        label = study.wfa.class_names[int(outputs_of_model[-1].argmax())]
        result["model"] = short(outputs_of_model)
        result["model_label"] = label
        result["agrees"] = label == walk.label
        result["jsd"] = round(float(jensen_shannon(outputs[-1:], outputs_of_model[-1:])[0]), 4)
    return result


def _shapley(wfa: WFA, ids: NDArray[np.int32]) -> NDArray[np.float64]:
    """Shapley values of the words; -> (words, classes), also of none"""
    if len(ids) == 0:
        return np.zeros((0, len(wfa.class_names)))
    return shapley_each(wfa, Ragged(ids, np.array([0, len(ids)])), tolerance=_TOLERANCE)[0].values


def attribution(study: Study, text: str) -> dict[str, Any]:
    """Shapley values for network and automaton, in probabilities; those of the network with their standard error.

    They are exact where the query budget covers all subsets of the words.
    """
    words = len(study.wfa.encoder.tokens(text))
    if words > _LONGEST:
        return {"error": f"Shapley values of the network are for at most {_LONGEST} words; this text has {words:,}."}
    network = network_shapley(study.classifier, study.wfa, text, queries=_QUERIES, seed=0)
    automaton = shapley(study.wfa, text, unit=PROBABILITY, seed=0)
    error = network.standard_error
    return {
        "network": short(network.values),
        "automaton": short(automaton.values),
        "standard_error": 0.0 if error is None else round(float(error.max()), 4),
        "queries": network.queries,
    }
