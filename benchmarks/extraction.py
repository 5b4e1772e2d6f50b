"""Extraction and evaluation without augmentation, against the plain transcription of the method.

Both start from the same word ids and model and end with the consistency rate on the test texts. The plain one
(tests/oracle.py) runs the model on one sentence at a time and keeps one dense matrix per word. Times are taken
in one run, memory in one fresh process each, as the growth over the loaded model and texts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time

import numpy as np

from common import PeakMemory, arguments, finish, news, oracle, show, trained_model
from wfalens.evaluation import jensen_shannon
from wfalens.extraction import Paper, extract
from wfalens.models import RNNClassifier
from wfalens.progress import Progress, shown_on
from wfalens.ragged import Ragged

SETTINGS = {"states": 40, "alpha": 0.4, "beta": 0.3}
Ids = Ragged[np.int32]


class Stopwatch(Progress):
    """Seconds by the task that extraction reports."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def start(self, task: str, total: int | None = None) -> None:
        self._task, self._began = task, time.perf_counter()

    def finish(self) -> None:
        self.seconds[self._task] = self.seconds.get(self._task, 0) + time.perf_counter() - self._began


def fast(model: RNNClassifier, train: Ids, test: Ids) -> dict[str, object]:
    watch, began = Stopwatch(), time.perf_counter()
    with shown_on(watch):
        wfa = extract(model, train, Paper(**SETTINGS))
    extracted = time.perf_counter()
    outputs = model.trace(test).last()
    traced = time.perf_counter()
    weights = wfa.predict_proba(test)
    ended = time.perf_counter()
    traces, states = watch.seconds["running the model"], watch.seconds["clustering the outputs"]
    return {
        "cr": float(np.mean(weights.argmax(1) == outputs.argmax(1))),
        "jsd": float(jensen_shannon(weights, outputs).mean()),
        "seconds": {
            "traces": traces,
            "states": states,
            "counts and rows": extracted - began - traces - states,
            "model on test": traced - extracted,
            "automaton on test": ended - traced,
            "total": ended - began,
        },
    }


def plain(model: RNNClassifier, train: Ids, test: Ids) -> dict[str, object]:
    began = time.perf_counter()
    outputs = [one_trace(model, sentence) for sentence in train]
    traced = time.perf_counter()
    sentences = [sentence.tolist() for sentence in train]
    rng = np.random.default_rng(np.random.SeedSequence(0).spawn(3)[0])
    matrices, centres = oracle.extract(
        outputs,
        sentences,
        len(model.encoder.vocabulary),
        SETTINGS["states"],
        256,
        rng,
        SETTINGS["alpha"],
        SETTINGS["beta"],
        model.initial_output,
    )
    extracted = time.perf_counter()
    agree = [
        oracle.evaluate(sentence.tolist(), matrices, centres).argmax() == one_trace(model, sentence)[-1].argmax()
        for sentence in test
    ]
    ended = time.perf_counter()
    return {
        "cr": float(np.mean(agree)),
        "seconds": {
            "traces": traced - began,
            "states, counts and rows": extracted - traced,
            "evaluation": ended - extracted,
            "total": ended - began,
        },
    }


def one_trace(model: RNNClassifier, sentence: np.ndarray) -> np.ndarray:
    import torch

    with torch.inference_mode():
        return model.network(torch.from_numpy(sentence)[None]).softmax(-1)[0].numpy()


METHODS = {"fast": fast, "plain": plain}


def inputs(options: argparse.Namespace) -> tuple[RNNClassifier, Ids, Ids]:
    name, train_texts, test_texts = news(options)
    model = trained_model(name, train_texts, options.quick)
    train, test = (model.encoder.encode(corpus.texts) for corpus in (train_texts, test_texts))
    train, test = (ids.nonempty()[1] for ids in (train, test))
    if options.quick:
        train, test = train.take(np.arange(min(4000, len(train)))), test.take(np.arange(min(1000, len(test))))
    fast(model, train.take(np.arange(200)), test.take(np.arange(10)))  # compiled kernels are loaded here
    return model, train, test


def memory(options: argparse.Namespace, method: str) -> float:
    command = [sys.executable, __file__, "--memory-of", method]
    command += ["--data", options.data] * bool(options.data) + ["--quick"] * options.quick
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(answer.stdout.splitlines()[-1]))


def main() -> None:
    options = arguments(
        __doc__.splitlines()[0], lambda parser: parser.add_argument("--memory-of", choices=METHODS, help="internal")
    )
    model, train, test = inputs(options)
    if options.memory_of:
        with PeakMemory() as peak:
            METHODS[options.memory_of](model, train, test)
        print(json.dumps(peak.mb))
        return
    quick = min((fast(model, train, test) for _ in range(3)), key=lambda run: run["seconds"]["total"])
    slow = plain(model, train, test)
    megabytes = {method: memory(options, method) for method in METHODS}
    speedup = slow["seconds"]["total"] / quick["seconds"]["total"]
    ratio = megabytes["fast"] / megabytes["plain"]
    show(
        f"{len(train):,} + {len(test):,} texts, {len(train.values):,} tokens, K = {SETTINGS['states']}",
        ["", "seconds", "peak MB", "CR"],
        [
            ["plain", slow["seconds"]["total"], megabytes["plain"], slow["cr"]],
            ["wfalens", quick["seconds"]["total"], megabytes["fast"], quick["cr"]],
            ["ratio", speedup, ratio, ""],
        ],
    )
    for name, run in (("plain", slow), ("wfalens", quick)):
        show(f"{name}, by step", ["step", "seconds"], [[step, value] for step, value in run["seconds"].items()])
    finish(
        options,
        {
            "speedup": speedup,
            "memory_ratio": ratio,
            "cr": quick["cr"],
            "cr_plain": slow["cr"],
            "jsd": quick["jsd"],
            "seconds": quick["seconds"],
            "seconds_plain": slow["seconds"],
            "peak_mb": megabytes,
        },
    )


if __name__ == "__main__":
    main()
