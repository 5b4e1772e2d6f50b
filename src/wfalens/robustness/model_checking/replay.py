"""What the automaton and the network say about a text without and with a witness."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import initial_output, last_outputs
from wfalens.ragged import Ragged


@dataclass(frozen=True)
class Reading:
    """What a reader makes of the text without and with the witness."""

    label_before: str
    label_after: str
    before: float  # probability of the class in question
    after: float


def read_by_automaton(wfa: WFA, text: str, words: tuple[str, ...], column: int) -> Reading:
    ids = _two_texts(wfa, text, words)
    weights = wfa.read_out(wfa.state_vectors(ids, every=False))
    return _reading(wfa.class_names, wfa.probabilities(weights), column)


def read_by_model(model: PrefixClassifier, text: str, words: tuple[str, ...], column: int) -> Reading:
    ids = _two_texts(model, text, words)
    return _reading(model.class_names, np.array([_output(model, each) for each in ids]), column)


def _output(model: PrefixClassifier, ids: NDArray[np.int32]) -> NDArray[np.float64]:
    if len(ids):
        return np.asarray(last_outputs(model, Ragged(ids, np.array([0, len(ids)])))[0], np.float64)
    return initial_output(model).astype(np.float64)


def _two_texts(reader: WFA | PrefixClassifier, text: str, words: tuple[str, ...]) -> Ragged[np.int32]:
    """The text, and the text with the words behind it, as ids."""
    tokens = reader.encoder.tokens(text)
    return reader.encoder.vocabulary.encode([tokens, [*tokens, *words]])


def _reading(names: tuple[str, ...], outputs: NDArray[np.float64], column: int) -> Reading:
    labels = [names[at] for at in outputs.argmax(1)]
    return Reading(labels[0], labels[1], float(outputs[0, column]), float(outputs[1, column]))
