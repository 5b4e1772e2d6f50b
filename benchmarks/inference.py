"""Tokens per second of the automaton against its LSTM's batched forward pass, on the same texts and threads.

Both take word ids and give one class distribution per text; blocks of runs alternate, and each side's median counts.
"""

from __future__ import annotations

import argparse
import time
from statistics import median

import numpy as np
import torch

from common import arguments, data_sets, finish, show, trained_model
from wfalens.corpus import Corpus
from wfalens.extraction import Extractor
from wfalens.threads import thread_count

SETTINGS = {"jigsaw_toxic": (20, 0.2)}


def compare(options: argparse.Namespace, name: str, train_texts: Corpus, test_texts: Corpus) -> dict[str, float]:
    states, alpha = SETTINGS.get(name, (40, 0.4))
    model = trained_model(name, train_texts, options.quick)
    train, test = (model.encoder.encode(corpus.texts) for corpus in (train_texts, test_texts))
    train, test = (ids.take(np.flatnonzero(ids.lengths)) for ids in (train, test))
    if options.quick:
        train = train.take(np.arange(min(4000, len(train))))
    empirical = Extractor(states=states, alpha=alpha, beta=0.3).extract(model, train)
    probe = Extractor(states=states, completion="probe", alpha=0.0, representatives=5).extract(model, train)
    automata = {f"empirical, α = {alpha}": empirical, "probe": probe}
    runs = {"LSTM": lambda: model.trace(test).last()}
    runs |= {key: (lambda wfa=wfa: wfa.predict_proba(test)) for key, wfa in automata.items()}
    seconds: dict[str, list[float]] = {key: [] for key in runs}
    for _ in range(2 if options.quick else 6):
        for key, run in runs.items():
            time.sleep(0.05)  # let the other side's threads fall asleep
            run()
            for _ in range(5):
                began = time.perf_counter()
                run()
                seconds[key].append(time.perf_counter() - began)
    rates = {key: len(test.values) / median(times) for key, times in seconds.items()}
    show(
        f"{name}: {len(test):,} texts, {len(test.values):,} tokens, K = {states}, {thread_count()} threads",
        ["", "tokens/s", "ratio to LSTM"],
        [[key, rate, rate / rates["LSTM"]] for key, rate in rates.items()],
    )
    first = next(iter(automata))
    return {
        "speedup": rates[first] / rates["LSTM"],
        "tokens_per_second": rates[first],
        "rnn_tokens_per_second": rates["LSTM"],
        "speedup_probe": rates["probe"] / rates["LSTM"],
        "threads": thread_count(),
    }


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    torch.set_num_threads(thread_count())
    results = {name: compare(options, name, train, test) for name, train, test in data_sets(options)}
    first, *others = results
    finish(options, {**results[first], **{name: results[name] for name in others}})


if __name__ == "__main__":
    main()
