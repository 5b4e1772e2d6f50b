"""One sentence, word by word: automaton and model side by side, and the single words that would flip it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.divergence import jensen_shannon
from wfalens.errors import InputError
from wfalens.explanation.attribution import forward_backward, replacement_outputs
from wfalens.explanation.embeddings import words_seen
from wfalens.explanation.shapley import shapley_each
from wfalens.inspection.statemap import StateMap
from wfalens.inspection.study import Study, short
from wfalens.models.contract import SteppableClassifier
from wfalens.ragged import Ragged

_SHOWN_STATES = 5  # of the distribution after each word
_LEAST_MASS = 0.02
_POSITIONS = 24  # at which a flip is looked for
_CANDIDATES = 4000
_PER_POSITION, _FLIPS = 3, 24
_TOLERANCE = 1e-5  # of Shapley values, which are shown with four digits


def play(study: Study, state_map: StateMap | None, text: str) -> dict[str, Any]:
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
        "changes": short(np.diff(weights, axis=0)),
        "label": walk.label,
        "confidence": round(float(wfa.margins(weights[-1:])[0]), 4),
    }
    if walk.names_states:
        result["states"] = [_likely(row) for row in walk.states]
    if state_map is not None:
        result["path"] = short(state_map.project(outputs))
    if study.model is not None and len(ids):
        said = study.model.trace(Ragged(ids, np.array([0, len(ids)]))).values.astype(np.float64)
        if isinstance(study.model, SteppableClassifier):  # it has an output before any word, too
            said = np.vstack([study.model.initial_output, said])
        label = study.wfa.class_names[int(said[-1].argmax())]
        result["model"] = short(said)
        result["model_label"] = label
        result["agrees"] = label == walk.label
        result["jsd"] = round(float(jensen_shannon(outputs[-1:], said[-1:])[0]), 4)
        if state_map is not None:
            result["model_path"] = short(state_map.project(said))
    return result


def flips(study: Study, text: str) -> dict[str, Any]:
    """Single words whose replacement changes the automaton's class, the surest first, each tried on the model."""
    wfa = study.wfa
    words = wfa.encoder.tokens(text)
    if not words:
        raise InputError("the text has no words")
    ids = wfa.encoder.vocabulary.encode([words]).values
    forward, backward = forward_backward(wfa, ids)
    weights = wfa.read_out(forward[-1:])
    label = int(wfa.decide(weights)[0])
    without = np.einsum("tn,tnc->tc", forward[:-1], backward[1:])
    effect = np.abs(wfa.probabilities(without) - wfa.probabilities(weights)).sum(1)
    positions = np.sort(np.argsort(-effect, kind="stable")[:_POSITIONS])
    candidates = _candidates(study)
    found: list[tuple[float, int, int, NDArray[np.float64]]] = []
    for position in positions:
        changed = replacement_outputs(wfa, forward, backward, int(position), candidates)
        outputs, decided = wfa.probabilities(changed), wfa.decide(changed)
        gain = np.where((decided != label) & (candidates != ids[position]), wfa.margins(changed), -1.0)
        for at in np.argsort(-gain, kind="stable")[:_PER_POSITION]:
            if gain[at] > 0:
                found.append((float(gain[at]), int(position), int(candidates[at]), outputs[at]))
    best = sorted(found, key=lambda item: -item[0])[:_FLIPS]
    said = _model_outputs(study, [_replaced(ids, position, word) for _, position, word, _ in best] + [ids])
    names, vocabulary = wfa.class_names, wfa.encoder.vocabulary.words
    before = None if said is None else int(said[-1].argmax())
    return {
        "text": text,
        "tried": {"positions": len(positions), "of": len(words), "candidates": len(candidates)},
        "flips": [
            {
                "position": position,
                "old": words[position],
                "new": vocabulary[word],
                "to": names[int(output.argmax())],
                "automaton": short(output),
                **(
                    {}
                    if said is None
                    else {
                        "model": short(said[at]),
                        "model_to": names[int(said[at].argmax())],
                        "holds": int(said[at].argmax()) != before,
                    }
                ),
            }
            for at, (_, position, word, output) in enumerate(best)
        ],
    }


def _shapley(wfa: WFA, ids: NDArray[np.int32]) -> NDArray[np.float64]:
    """Shapley values of the words; -> (words, classes), also of none"""
    if len(ids) == 0:
        return np.zeros((0, len(wfa.class_names)))
    return shapley_each(wfa, Ragged(ids, np.array([0, len(ids)])), tolerance=_TOLERANCE)[0].values


def _likely(distribution: NDArray[np.float64]) -> list[list[float]]:
    order = np.argsort(-distribution, kind="stable")[:_SHOWN_STATES]
    return [[int(at), round(float(distribution[at]), 3)] for at in order if distribution[at] >= _LEAST_MASS]


def _candidates(study: Study) -> NDArray[np.int32]:
    """The words that move the output most, among those seen often enough."""
    wfa = study.wfa
    ids = words_seen(wfa, study.usual_count)
    if len(ids) <= _CANDIDATES:
        return ids
    scores = study.influence
    strength = dict(zip(scores.words, scores.strength.tolist(), strict=True))
    power = np.array([strength[word] for word in wfa.encoder.vocabulary.decode(ids)])
    return np.sort(ids[np.argsort(-power, kind="stable")[:_CANDIDATES]])


def _replaced(ids: NDArray[np.int32], position: int, word: int) -> NDArray[np.int32]:
    changed = ids.copy()
    changed[position] = word
    return changed


def _model_outputs(study: Study, texts: list[NDArray[np.int32]]) -> NDArray[np.float64] | None:
    """The model's last outputs, or None without a model; -> (texts, classes)"""
    if study.model is None:
        return None
    lengths = np.array([len(text) for text in texts])
    return study.model.trace(Ragged.from_lengths(np.concatenate(texts), lengths)).last().astype(np.float64)
