"""Methods that explain texts, of automata and of models, and how faithful to the model each is.

The measures are those of `wfalens.evaluation.explanations`; scorers work on word ids and count their model calls.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.sweeps import forward_backward
from wfalens.automaton.wfa import WFA
from wfalens.errors import ModelError
from wfalens.evaluation.explanations import erasure, leave_one_out
from wfalens.explanation.shapley.shapley_values import shapley_each
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.models.rnn.classifier import RNNClassifier
from wfalens.ragged import Ragged

Scorer = Callable[[NDArray[np.int32], int], tuple[NDArray[np.float64], int]]  # ids, class -> scores, model passes


@dataclass(frozen=True)
class Faithfulness:
    """One method over many texts; passes and milliseconds are means per text."""

    method: str
    comprehensiveness: float
    sufficiency: float
    passes: float
    ms: float


def measure_faithfulness(
    method: str,
    scorer: Scorer,
    model: PrefixClassifier,
    ids: Ragged[np.int32],
) -> Faithfulness:
    """Score every text's words for the model's class, then remove and keep the best; all variants in one batch."""
    outputs = final_outputs(model, ids)
    labels = outputs.argmax(1)
    scores, passes, seconds = [], 0, 0.0
    progress.start(f"explaining ({method})", len(ids))
    for at in range(len(ids)):
        began = time.perf_counter()
        found, asked = scorer(ids[at], int(labels[at]))
        seconds += time.perf_counter() - began
        scores.append(found)
        passes += asked
        progress.advance()
    progress.finish()
    comprehensiveness, sufficiency = erasure(model, ids, scores, labels, outputs)
    return Faithfulness(
        method,
        float(comprehensiveness.mean()),
        float(sufficiency.mean()),
        passes / len(ids),
        1000 * seconds / len(ids),
    )


def shapley_scorer(wfa: WFA, absence: str = "delete", unit: str | None = None) -> Scorer:
    """Shapley values of the automaton: no model pass."""

    def score(ids: NDArray[np.int32], label: int) -> tuple[NDArray[np.float64], int]:
        (found,) = shapley_each(wfa, Ragged(ids, np.array([0, len(ids)])), absence=absence, unit=unit)
        return found.values[:, label], 0

    return score


def automaton_scorer(wfa: WFA) -> Scorer:
    """Additive attribution of the automaton: no model pass."""

    def score(ids: NDArray[np.int32], label: int) -> tuple[NDArray[np.float64], int]:
        vectors = np.vstack([wfa.initial, wfa.state_vectors(Ragged(ids, np.array([0, len(ids)])), every=True)])
        return np.diff(wfa.read_out(vectors)[:, label]), 0

    return score


def deletion_scorer(wfa: WFA) -> Scorer:
    """Exact leave-one-out on the automaton, from forward and backward vectors: no model pass."""

    def score(ids: NDArray[np.int32], label: int) -> tuple[NDArray[np.float64], int]:
        forward, backward = forward_backward(wfa, ids)
        without = np.einsum("tn,tn->t", forward[:-1], backward[1:, :, label])
        return np.asarray(forward[-1] @ backward[-1, :, label] - without), 0

    return score


def random_scorer(seed: int = 0) -> Scorer:
    rng = np.random.default_rng(seed)
    return lambda ids, _label: (rng.random(len(ids)), 0)


def leave_one_out_scorer(model: PrefixClassifier) -> Scorer:
    """The fall of the model's own output when a word is left out: one pass per word."""

    def score(ids: NDArray[np.int32], label: int) -> tuple[NDArray[np.float64], int]:
        text = Ragged(ids, np.array([0, len(ids)]))
        scores = leave_one_out(model, text, final_outputs(model, text)).values[:, label]
        return scores, len(ids) + 1

    return score


def integrated_gradients_scorer(model: PrefixClassifier, steps: int = 32) -> Scorer:
    """Integrated gradients on the embedding of a built-in network, from the zero vector; one step: gradient × input."""
    import torch

    if not isinstance(model, RNNClassifier):
        raise ModelError("integrated gradients need a built-in network")
    network = model.network

    def score(ids: NDArray[np.int32], label: int) -> tuple[NDArray[np.float64], int]:
        with torch.enable_grad():
            words = network.embedding(torch.from_numpy(ids.astype(np.int64))).detach()
            scale = (torch.arange(steps) + 0.5) / steps if steps > 1 else torch.ones(1)
            inputs = (scale[:, None, None] * words).requires_grad_()
            hidden, _ = network.recurrent(inputs)
            chosen = network.output(hidden[:, -1]).softmax(-1)[:, label].sum()
            (gradient,) = torch.autograd.grad(chosen, inputs)
        return (gradient.mean(0) * words).sum(1).double().numpy(), 2 * steps  # forward and backward

    return score
