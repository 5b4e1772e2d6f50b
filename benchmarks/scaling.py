"""Time and memory against corpus size, number of states and size of the vocabulary.

The model is a leaky sum of word scores, cheap enough not to hide what the extraction itself costs; words are
drawn from a Zipf distribution. Every measurement runs in a fresh process, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time

import numpy as np

from common import arguments, finish, peak_mb, show
from wfalens.extraction import Paper, extract
from wfalens.ragged import Ragged
from wfalens.text import TextEncoder, Vocabulary

CLASSES, LENGTH, TOKENS, WORDS, STATES = 4, 20, 10**6, 10**5, 40


class LeakySum:
    """`softmax(s)` with `s ← 0.8·s + score(word)`."""

    class_names, fingerprint = tuple(f"class {number}" for number in range(CLASSES)), "leaky sum"

    def __init__(self, words: int) -> None:
        self.encoder = TextEncoder(Vocabulary.of_words([str(number) for number in range(words - 2)]), "whitespace")
        self.scores = np.random.default_rng(0).normal(size=(words, CLASSES)).astype(np.float32)

    def trace(self, ids: Ragged[np.int32]) -> Ragged[np.float32]:
        table = ids.values.reshape(len(ids), -1)  # all texts have the same length here
        outputs = np.empty((*table.shape, CLASSES), np.float32)
        total = np.zeros((len(ids), CLASSES), np.float32)
        for position in range(table.shape[1]):
            total = 0.8 * total + self.scores[table[:, position]]
            shifted = np.exp(total - total.max(1, keepdims=True))
            outputs[:, position] = shifted / shifted.sum(1, keepdims=True)
        return Ragged(outputs.reshape(-1, CLASSES), ids.offsets)


def zipf_corpus(tokens: int, words: int) -> Ragged[np.int32]:
    rng = np.random.default_rng(1)
    share = np.cumsum(1 / np.arange(1, words - 1))
    ids = 2 + np.searchsorted(share, rng.random(tokens) * share[-1])
    return Ragged.from_lengths(ids.astype(np.int32), np.full(tokens // LENGTH, LENGTH))


def measure(tokens: int, words: int, states: int) -> dict[str, float]:
    model, ids = LeakySum(words), zipf_corpus(tokens, words)
    extract(model, zipf_corpus(2000, words), Paper(states=5)).predict(zipf_corpus(2000, words))  # load kernels
    before = peak_mb()
    began = time.perf_counter()
    model.trace(ids)
    traced = time.perf_counter()
    wfa = extract(model, ids, Paper(states=states))
    extracted = time.perf_counter()
    wfa.state_vectors(ids.take(np.arange(1000)), every=False)  # the table of scales is made on first use
    ready = time.perf_counter()
    some = ids.take(np.arange(min(len(ids), TOKENS // LENGTH)))
    wfa.predict_indices(some)
    return {
        "tokens": tokens,
        "words": words,
        "states": states,
        "extract_s": extracted - traced - (traced - began),
        "model_s": traced - began,
        "step_ns": (time.perf_counter() - ready) / len(some.values) * 1e9,
        "transitions": len(wfa.rows.weight),
        "peak_mb": peak_mb(),
        "grown_mb": peak_mb() - before,
    }


def measured(**point: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--point", json.dumps(point)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def exponent(points: list[dict[str, float]], of: str, against: str) -> float:
    """Slope of the logarithms, by least squares."""
    x, y = (np.log([point[key] for point in points]) for key in (against, of))
    return float(np.polyfit(x, y, 1)[0])


def main() -> None:
    options = arguments(__doc__.splitlines()[0], lambda parser: parser.add_argument("--point", help=argparse.SUPPRESS))
    if options.point:
        print(json.dumps(measure(**json.loads(options.point))))
        return
    top = 6 if options.quick else 7
    sizes = [round(10 ** (5 + step / 2)) // LENGTH * LENGTH for step in range(2 * (top - 5) + 1)]
    series = {
        "corpus": [{"tokens": size, "words": WORDS, "states": STATES} for size in sizes],
        "states": [
            {"tokens": TOKENS, "words": WORDS, "states": states}
            for states in ((20, 40, 100) if options.quick else (20, 40, 100, 200, 400))
        ],
        "vocabulary": [
            {"tokens": TOKENS, "words": words, "states": STATES}
            for words in ((10**4, 10**5) if options.quick else (10**4, 10**5, 10**6))
        ],
    }
    results = {name: [measured(**point) for point in points] for name, points in series.items()}
    columns = ["tokens", "words", "states", "extract_s", "model_s", "step_ns", "transitions", "grown_mb"]
    for name, points in results.items():
        show(f"against the {name}", columns, [[point[column] for column in columns] for point in points])
    result = {
        "token_exponent": exponent(results["corpus"], "extract_s", "tokens"),
        "vocabulary_exponent": exponent(results["vocabulary"], "step_ns", "words"),
        "state_exponent": exponent(results["states"], "step_ns", "states"),
        "peak_mb": results["corpus"][-1]["peak_mb"],
        "points": results,
    }
    print(f"extraction time grows as tokens^{result['token_exponent']:.2f}", end=", ")
    print(f"a step as words^{result['vocabulary_exponent']:.2f} and states^{result['state_exponent']:.2f}")
    finish(options, result)


if __name__ == "__main__":
    main()
