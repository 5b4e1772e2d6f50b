"""Automaton and model side by side, text by text: all that fidelity is computed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.divergence import jensen_shannon
from wfalens.errors import InputError
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import last_outputs
from wfalens.ragged import Ragged

RARE = 5  # a word seen at most that often in extraction is rare


@dataclass(frozen=True, eq=False)
class Comparison:
    """One entry for each text; small enough for many millions of them."""

    label: NDArray[np.int32]  # the model's class
    predicted: NDArray[np.int32]  # the automaton's, -1 for undecided
    divergence: NDArray[np.float64]  # Jensen-Shannon, of the two outputs
    confidence: NDArray[np.float64]  # the automaton's largest probability
    length: NDArray[np.int32]
    rare: NDArray[np.float64]  # share of the words that are rare
    truth: NDArray[np.int32] | None = None  # the true class, where labels are known

    @classmethod
    def of(
        cls,
        wfa: WFA,
        ids: Ragged[np.int32],
        outputs: NDArray[np.floating],
        truth: NDArray[np.integer] | None = None,
    ) -> Comparison:
        """ids: no text is empty; outputs: (texts, C), the model's after the last word; truth: (texts,)"""
        weights = wfa.prediction_weights(ids)
        probabilities = wfa.probabilities(weights)
        rare = (wfa.word_counts[ids.values] <= RARE).astype(np.float64)
        return cls(
            outputs.argmax(1).astype(np.int32),
            wfa.decide(weights).astype(np.int32),
            jensen_shannon(probabilities, outputs.astype(np.float64)),
            probabilities.max(1),
            ids.lengths.astype(np.int32),
            np.add.reduceat(rare, ids.offsets[:-1]) / ids.lengths,
            None if truth is None else truth.astype(np.int32),
        )

    @classmethod
    def joined(cls, parts: Sequence[Comparison]) -> Comparison:
        """One comparison of several, all with labels or all without."""
        known = [field.name for field in fields(cls) if getattr(parts[0], field.name) is not None]
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in known})

    def __len__(self) -> int:
        return len(self.label)

    @property
    def agrees(self) -> NDArray[np.bool_]:
        """Where both choose the same class; (texts,)"""
        return np.asarray(self.label == self.predicted)


def compare_texts(
    wfa: WFA, model: PrefixClassifier, ids: Ragged[np.int32], truth: NDArray[np.integer] | None = None
) -> tuple[Comparison, NDArray[np.float32]]:
    """Read texts with both; comparisons of several blocks of texts merge with `Comparison.joined`.

    ids: no text is empty; truth: (texts,) -> the comparison, and the model's outputs (texts, C)
    """
    outputs = last_outputs(model, ids)
    return Comparison.of(wfa, ids, outputs, truth), outputs


def check_pair(wfa: WFA, model: PrefixClassifier) -> None:
    """Refuse a model that cannot be the one that the automaton was extracted from."""
    for name in ("class_names", "encoder"):
        if not hasattr(model, name):
            raise InputError(
                f"the model must be a wrapped classifier (wfalens.wrap), not {type(model).__name__}", code="model-type"
            )
    if wfa.class_names != tuple(model.class_names):
        classes = ", ".join(wfa.class_names), ", ".join(model.class_names)
        raise InputError(f"the automaton's classes ({classes[0]}) are not the model's ({classes[1]})", code="classes")
    if wfa.encoder.vocabulary != model.encoder.vocabulary:
        raise InputError("the automaton was extracted from a model with another vocabulary", code="vocabulary")
