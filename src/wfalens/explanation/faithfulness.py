"""Are explanations of texts faithful to the model? Comprehensiveness and sufficiency, averaged over removals (AOPC).

Comprehensiveness: how much the model's probability of its class falls when the words with the highest scores are
removed (more is better). Sufficiency: how much it falls when only they are kept (less is better).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.explanation.attribution import forward_backward
from wfalens.models.contract import StepwiseClassifier
from wfalens.models.traces import prior_of
from wfalens.progress import SILENT, Progress
from wfalens.ragged import Ragged

SHARES = (0.1, 0.2, 0.3, 0.5)  # of the words that are removed or kept
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
    method: str, scorer: Scorer, model: StepwiseClassifier, ids: Ragged[np.int32], progress: Progress = SILENT
) -> Faithfulness:
    """Score every text's words for the model's class, then remove and keep the best; all variants in one batch."""
    outputs = model.trace(ids).last()
    labels = outputs.argmax(1)
    removed, kept, passes, seconds = [], [], 0, 0.0
    progress.start(f"explaining ({method})", len(ids))
    for at in range(len(ids)):
        began = time.perf_counter()
        scores, asked = scorer(ids[at], int(labels[at]))
        seconds += time.perf_counter() - began
        passes += asked
        order = np.argsort(-scores, kind="stable")
        for share in SHARES:
            top = order[: max(1, round(share * len(order)))]
            without, only = np.delete(ids[at], top), ids[at][np.sort(top)]
            removed.append(without)
            kept.append(only)
        progress.advance()
    progress.finish()
    before = np.repeat(outputs[np.arange(len(ids)), labels], len(SHARES))
    target = np.repeat(labels, len(SHARES))
    return Faithfulness(
        method,
        float(np.mean(before - _probability(model, removed, target))),
        float(np.mean(before - _probability(model, kept, target))),
        passes / len(ids),
        1000 * seconds / len(ids),
    )


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


def leave_one_out_scorer(model: StepwiseClassifier) -> Scorer:
    """The fall of the model's own output when a word is left out: one pass per word."""

    def score(ids: NDArray[np.int32], label: int) -> tuple[NDArray[np.float64], int]:
        texts = [np.delete(ids, at) for at in range(len(ids))]
        whole = _probability(model, [ids], np.array([label]))[0]
        return np.asarray(whole - _probability(model, texts, np.full(len(ids), label))), len(ids) + 1

    return score


def integrated_gradients_scorer(model: StepwiseClassifier, steps: int = 32) -> Scorer:
    """Integrated gradients on the embedding of a built-in network, from the zero vector."""
    import torch

    from wfalens.errors import ModelError
    from wfalens.models.rnn import RNNClassifier

    if not isinstance(model, RNNClassifier):
        raise ModelError("integrated gradients need a built-in network")
    network = model.network

    def score(ids: NDArray[np.int32], label: int) -> tuple[NDArray[np.float64], int]:
        with torch.enable_grad():
            words = network.embedding(torch.from_numpy(ids.astype(np.int64))).detach()
            scale = (torch.arange(steps) + 0.5) / steps
            inputs = (scale[:, None, None] * words).requires_grad_()
            hidden, _ = network.recurrent(inputs)
            chosen = network.output(hidden[:, -1]).softmax(-1)[:, label].sum()
            (gradient,) = torch.autograd.grad(chosen, inputs)
        return (gradient.mean(0) * words).sum(1).double().numpy(), 2 * steps  # forward and backward

    return score


def _probability(
    model: StepwiseClassifier, texts: list[NDArray[np.int32]], labels: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The probability of each text's class; a text without words has the model's prior."""
    lengths = np.array([len(text) for text in texts])
    result = prior_of(model).astype(np.float64)[labels]
    worded = np.flatnonzero(lengths)
    if len(worded):
        ids = Ragged.from_lengths(np.concatenate([texts[at] for at in worded]), lengths[worded])
        result[worded] = model.trace(ids).last()[np.arange(len(worded)), labels[worded]]
    return result
