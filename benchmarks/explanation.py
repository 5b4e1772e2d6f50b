"""Speed of explanations: all influence scores, all pairs of words, and one title, beside methods that ask the model.

The title is explained by the automaton's additive attribution; leave-one-out, integrated gradients (32 steps) and a
sample of 1,000 perturbed texts (what LIME takes by default) run on the LSTM.
"""

from __future__ import annotations

import time
from statistics import median

import numpy as np

from common import PeakMemory, arguments, finish, news, show, trained_model, word_vectors
from scorers import (
    automaton_scorer,
    integrated_gradients_scorer,
    leave_one_out_scorer,
)
from wfalens.explanation import influence, word_pairs
from wfalens.extraction import Stochastic, extract
from wfalens.ragged import Ragged


def sampled_texts(model, samples: int = 1000):
    """The model passes of LIME: the text with random words left out, many times, in one batch."""
    rng = np.random.default_rng(0)

    def score(ids, label):
        kept = rng.random((samples, len(ids))) < 0.5
        kept[:, 0] |= ~kept.any(1)
        texts = Ragged.from_lengths(np.tile(ids, (samples, 1))[kept], kept.sum(1))
        outputs = model.trace(texts).last()[:, label]
        return np.linalg.lstsq(np.c_[kept, np.ones(samples)], outputs, rcond=None)[0][:-1], samples

    return score


def milliseconds(scorer, texts, labels) -> float:
    times = []
    for ids, label in zip(texts, labels, strict=True):
        began = time.perf_counter()
        scorer(ids, int(label))
        times.append(1000 * (time.perf_counter() - began))
    return median(times)


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    name, train, test = news(options)
    model = trained_model(name, train, options.quick)
    wfa = extract(
        model, train, Stochastic(states=40, completion="probe", alpha=0.0, representatives=5, abstraction="outputs")
    )
    vectors = word_vectors(options, model)
    influence(wfa, 1)  # kernels and tables are loaded here
    began = time.perf_counter()
    scores = influence(wfa, 1)
    influence_s = time.perf_counter() - began
    with PeakMemory() as peak:
        began = time.perf_counter()
        bounds = {"epsilon": 0.2, "delta": 0.01, "min_count": 20 if options.quick else 1}
        pairs = word_pairs(wfa, vectors, "adversarial", convention="mean_square", **bounds)
        pairs_s = time.perf_counter() - began
    texts = [ids for ids in model.encoder.encode(test.texts[:300]) if len(ids) > 1]
    labels = [int(model.trace(Ragged(ids, np.array([0, len(ids)]))).last()[0].argmax()) for ids in texts]
    scorers = {
        "automaton": automaton_scorer(wfa),
        "leave-one-out on the LSTM": leave_one_out_scorer(model),
        "integrated gradients": integrated_gradients_scorer(model),
        "1,000 samples (LIME)": sampled_texts(model),
    }
    count = 50 if options.quick else len(texts)
    ms = {key: milliseconds(scorer, texts[:count], labels[:count]) for key, scorer in scorers.items()}
    explain_ms = ms["automaton"]
    show(
        f"{name}: {len(scores.words):,} words × {wfa.states} states",
        ["what", "value"],
        [
            ["all influence scores, s", influence_s],
            [f"all pairs of {pairs.words:,} words, s", pairs_s],
            ["  peak memory of the pairs, MB", peak.mb],
            *([f"one text, {key}, ms", value] for key, value in ms.items()),
        ],
    )
    finish(
        options,
        {
            "influence_s": influence_s,
            "pairs_s": pairs_s,
            "pairs_words": pairs.words,
            "pairs_peak_mb": peak.mb,
            "explain_ms": explain_ms,
            "speedup_loo": ms["leave-one-out on the LSTM"] / explain_ms,
            "speedup_ig": ms["integrated gradients"] / explain_ms,
            "speedup_lime": ms["1,000 samples (LIME)"] / explain_ms,
        },
    )


if __name__ == "__main__":
    main()
