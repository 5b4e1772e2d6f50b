"""Texts of many classes, each told by its own words, and a model that adds their evidence up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wfalens.models.contract import uniform
from wfalens.models.inference import last_outputs, trace_by_steps
from wfalens.ragged import Ragged
from wfalens.text import TextEncoder, Vocabulary

_OWN, _COMMON = 2, 20  # words of a class, and words of all


class Evidence:
    """Log-odds of words are added up, the past fading slowly; what has been added up is the state."""

    fingerprint = "evidence"

    def __init__(self, classes: int, rng: np.random.Generator) -> None:
        words = [f"own{number}" for number in range(_OWN * classes)] + [f"common{number}" for number in range(_COMMON)]
        self.class_names = tuple(f"class{number}" for number in range(classes))
        self.encoder = TextEncoder(Vocabulary.of_words(tuple(words)), "whitespace", 20)
        self.initial_output = uniform(classes)
        self.table = rng.normal(0, 0.2, (len(words) + 2, classes)).astype(np.float32)
        own = np.arange(_OWN * classes)
        self.table[own + 2, own // _OWN] += 4

    def initial_state(self, batch: int) -> NDArray[np.float32]:
        return np.zeros((batch, len(self.class_names)), np.float32)

    def step(
        self, state: NDArray[np.float32], ids: NDArray[np.int32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        state = np.float32(0.95) * state + self.table[ids]
        odds = np.exp(state - state.max(1, keepdims=True))
        return state, odds / odds.sum(1, keepdims=True)

    def trace(self, ids: Ragged[np.int32]) -> Ragged[np.float32]:
        return trace_by_steps(self, ids)


def intents(classes: int, texts: int = 1200) -> tuple[Evidence, list[str], list[str]]:
    """A model, texts of its classes, and fresh ones."""
    rng = np.random.default_rng(0)
    model = Evidence(classes, rng)

    def text(number: int) -> str:
        words = [f"common{each}" for each in rng.integers(0, _COMMON, rng.integers(2, 6))]
        words.insert(rng.integers(0, len(words)), f"own{_OWN * number + rng.integers(0, _OWN)}")
        return " ".join(words)

    made = [text(int(number)) for number in rng.integers(0, classes, texts + 500)]
    return model, made[:texts], made[texts:]


def last_classes(model: Evidence, texts: list[str]) -> NDArray[np.int64]:
    return last_outputs(model, model.encoder.encode(texts)).argmax(1)
