"""Tokens per second of the automata against their LSTM's batched forward pass, on the same texts and threads.

All take word ids and give one class distribution per text; blocks of runs alternate, and each side's median counts. The
linear and the readable automaton have their usual shapes but little training, on which their speed does not depend.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from statistics import median

import numpy as np
import torch

from common import arguments, data_sets, finish, show, trained_model
from wfalens.automaton import WFA
from wfalens.extraction import Linear, Paper, Readable, Stochastic, extract
from wfalens.models import RNNClassifier
from wfalens.ragged import Ragged
from wfalens.text import Corpus
from wfalens.threads import THREADS_VARIABLE, thread_count

SETTINGS = {"jigsaw_toxic": (20, 0.2)}
LSTM = "LSTM"
EMPIRICAL, PROBE, FIT, LINEAR, READABLE = ("empirical", "probe", "fit", "linear", "readable")


def automata(model: RNNClassifier, train: Ragged[np.int32], states: int, alpha: float, quick: bool) -> dict[str, WFA]:
    fitting = {"rounds": 1} if quick else {}
    short = Linear(epochs=1, tokens=20_000)
    extractors = {
        EMPIRICAL: Paper(states=states, alpha=alpha, beta=0.3),
        PROBE: Stochastic(states=states, completion="probe", alpha=0.0, representatives=5, abstraction="outputs"),
        FIT: Stochastic(states=states, completion="fit", abstraction="outputs", representatives=5, **fitting),
        LINEAR: short,
        READABLE: Readable(start_epochs=1, epochs=1, final_epochs=1, tokens=20_000),
    }
    return {name: extract(model, train, extractor) for name, extractor in extractors.items()}


def rates(runs: dict[str, Callable[[], object]], tokens: int, blocks: int) -> dict[str, float]:
    """Tokens per second."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(blocks):
        for name, run in runs.items():
            time.sleep(0.05)  # let the other side's threads fall asleep
            run()
            for _ in range(5):
                began = time.perf_counter()
                run()
                seconds[name].append(time.perf_counter() - began)
    return {name: tokens / median(times) for name, times in seconds.items()}


def compare(options: argparse.Namespace, name: str, train_texts: Corpus, test_texts: Corpus) -> dict[str, object]:
    states, alpha = SETTINGS.get(name, (40, 0.4))
    model = trained_model(name, train_texts, options.quick)
    train, test = (model.encoder.encode(corpus.texts) for corpus in (train_texts, test_texts))
    train, test = (ids.nonempty()[1] for ids in (train, test))
    if options.quick:
        train = train.take(np.arange(min(4000, len(train))))
    runs: dict[str, Callable[[], object]] = {LSTM: lambda: model.trace(test).last()}
    for kind, wfa in automata(model, train, states, alpha, options.quick).items():
        runs[kind] = lambda wfa=wfa: wfa.predict_proba(test)
    found: dict[int, dict[str, object]] = {}
    chosen = thread_count()
    for threads in sorted({1, chosen}):
        os.environ[THREADS_VARIABLE] = str(threads)
        torch.set_num_threads(threads)
        measured = rates(runs, len(test.values), 2 if options.quick else 6)
        show(
            f"{name}: {len(test):,} texts, {len(test.values):,} tokens, K = {states}, {threads} threads",
            ["", "tokens/s", "ratio to LSTM", "ratio to fit"],
            [[kind, rate, rate / measured[LSTM], rate / measured[FIT]] for kind, rate in measured.items()],
        )
        found[threads] = {
            "speedup": measured[EMPIRICAL] / measured[LSTM],
            "tokens_per_second": measured[EMPIRICAL],
            "rnn_tokens_per_second": measured[LSTM],
            **{f"speedup_{kind}": measured[kind] / measured[LSTM] for kind in (PROBE, FIT, LINEAR)},
            "linear_speedup": measured[LINEAR] / measured[LSTM],
            "readable_speedup": measured[READABLE] / measured[LSTM],
            "linear_to_fit": measured[LINEAR] / measured[FIT],
            "threads": threads,
        }
    return {**found[chosen], "one_thread": found[1]}


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    results = {name: compare(options, name, train, test) for name, train, test in data_sets(options)}
    first, *others = results
    finish(options, {**results[first], **{name: results[name] for name in others}})


if __name__ == "__main__":
    main()
