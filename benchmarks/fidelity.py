"""How faithful automata are, kind by kind, on the same models, beside the paper's method.

paper       empirical completion, context and augmentation, with the paper's K, α and β
readable    few states and few classes of words: `wfalens extract --kind readable`
stochastic  fitted rows, K and the abstraction chosen on held-out texts: `wfalens extract --kind stochastic`
linear      real weights trained against the model: `wfalens extract --kind linear`
auto        the kind chosen on held-out texts: `wfalens extract` without options
high        (with --high, first seed only) `wfalens extract --kind linear --effort high`
bag         no automaton: a bag of words fitted to the model's predictions

Three seeds of the LSTM and of extraction on tagmynews and jigsaw_toxic, one on the other sets. The readable and the
linear automaton are those that auto extracts on its way; their time is taken there. Finished work is kept under
benchmarks/.cache by the version of the code, so that a long run may be stopped and goes on.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from common import CACHE, arguments, code_version, finish, show, trained_model, word_vectors
from wfalens.automaton import WFA
from wfalens.evaluation import jensen_shannon
from wfalens.evaluation.baselines import bag_of_words
from wfalens.extraction import METHODS, Augmentation, Linear, Method, Paper, Request, extract
from wfalens.models import RNNClassifier
from wfalens.ragged import Ragged
from wfalens.storage import write_atomically
from wfalens.text import load_dataset
from wfalens.text.datasets.catalogue import is_available

SETTINGS = {"jigsaw_toxic": (20, 0.2)}  # K, α of the paper's method; else 40, .4
NAMES = ("tagmynews", "jigsaw_toxic", "rotten_tomatoes", "clickbait", "imdb")
SEEDS = {"tagmynews": 3, "jigsaw_toxic": 3}
PAPER, READABLE, STOCHASTIC, LINEAR, AUTO = ROWS = ("paper", "readable", "stochastic", "linear", "auto")
HIGH, BAG = "high", "bag"
JOBS = {BAG: (BAG,), PAPER: (PAPER,), AUTO: (READABLE, LINEAR, AUTO), STOCHASTIC: (STOCHASTIC,)}  # work → rows
QUICK_TEXTS = 1500


class Extracted(NamedTuple):
    wfa: WFA
    seconds: float
    cpu_seconds: float


@contextmanager
def timed_extractions() -> Iterator[dict[str, Extracted]]:
    """Every automaton that is extracted meanwhile, by its kind, with the time that it took."""
    found: dict[str, Extracted] = {}
    originals = {method: method.extract for method in METHODS.values()}

    def timed(original):
        def extract(self: Method, request: Request) -> WFA:
            began = time.perf_counter(), time.process_time()
            wfa = original(self, request)
            found[self.name] = Extracted(wfa, time.perf_counter() - began[0], time.process_time() - began[1])
            return wfa

        return extract

    for method, original in originals.items():
        method.extract = timed(original)
    try:
        yield found
    finally:
        for method, original in originals.items():
            method.extract = original


def extraction(options: argparse.Namespace, job: str, name: str, model: RNNClassifier, seed: int) -> dict[str, object]:
    """Method and bounds of an extraction."""
    states, alpha = SETTINGS.get(name, (40, 0.4))
    if job == PAPER:
        rule = Augmentation(vectors=word_vectors(options, model))
        return {"method": Paper(states=states, alpha=alpha, augmentation=rule), "seed": seed}
    if job == HIGH:
        return {"method": Linear(), "seed": seed, "effort": HIGH}
    is_small = job == STOCHASTIC and options.quick
    smaller = {"states": 20, "abstraction": "outputs", "representatives": 3} if is_small else {}
    method = None if job == AUTO else METHODS[job](**smaller)
    return {"method": method, "seed": seed, "effort": "low" if options.quick else "normal"}


def measured(found: Extracted, texts: Ragged[np.int32], wanted: np.ndarray) -> dict[str, float]:
    said, agrees = found.wfa.predict_proba(texts), found.wfa.predict_indices(texts) == wanted.argmax(1)
    surest = np.argsort(-found.wfa.confidence(texts), kind="stable")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.wfa"
        found.wfa.save(path)
        size = path.stat().st_size
    quarters = np.array_split(np.argsort(texts.lengths, kind="stable"), 4)
    return {
        "cr": float(agrees.mean()),
        "jsd": float(jensen_shannon(said, wanted).mean()),
        "cr80": float(agrees[surest[: round(0.8 * len(texts))]].mean()),
        "cr90": float(agrees[surest[: round(0.9 * len(texts))]].mean()),
        "cr_shortest": float(agrees[quarters[0]].mean()),
        "cr_longest": float(agrees[quarters[-1]].mean()),
        "bytes": size,
        "cpu_seconds": found.cpu_seconds,
        "states": found.wfa.states,
        "seconds": found.seconds,
    }


def work(options: argparse.Namespace, job: str, name: str, seed: int) -> dict[str, dict[str, float]]:
    """The rows of one extraction, or of the bag of words."""
    train, test = (load_dataset(name, split, options.data) for split in ("train", "test"))
    model = trained_model(name, train, options.quick, seed)
    ids, texts = (model.encoder.encode(corpus.texts).nonempty()[1] for corpus in (train, test))
    if options.quick:
        ids = ids.take(np.arange(min(QUICK_TEXTS, len(ids))))
    wanted = model.trace(texts).last()
    if job == BAG:
        said = bag_of_words(ids, model.trace(ids).last(), texts, len(model.encoder.vocabulary))
        agrees = said.argmax(1) == wanted.argmax(1)
        return {BAG: {"cr": float(agrees.mean()), "jsd": float(jensen_shannon(said, wanted).mean())}}
    with timed_extractions() as found:
        began = time.perf_counter(), time.process_time()
        wfa = extract(model, ids, **extraction(options, job, name, model, seed))
        if job == AUTO:
            found[AUTO] = Extracted(wfa, time.perf_counter() - began[0], time.process_time() - began[1])
            if LINEAR not in found:
                raise SystemExit(f"{name}: the choice of the kind extracted no linear automaton")
    rows = {row: measured(found[row], texts, wanted) for row in JOBS.get(job, ()) if row in found}
    if job in (PAPER, HIGH):
        rows[job] = measured(found[PAPER if job == PAPER else wfa.kind], texts, wanted)
    truth = test.labels[model.encoder.encode(test.texts).lengths > 0]
    same = {"accuracy": float(np.mean(wanted.argmax(1) == truth)), "texts": len(texts)}
    if job == AUTO:
        rows[AUTO]["chosen"] = wfa.kind
    return {row: {**rates, **same} for row, rates in rows.items()}


def place(options: argparse.Namespace, job: str, name: str, seed: int) -> Path:
    """Where the rows of one extraction are kept."""
    return CACHE / f"fidelity-{code_version()}{'-quick' if options.quick else ''}-{name}-{job}-{seed}.json"


def is_shown(options: argparse.Namespace, job: str, name: str, seed: int) -> bool:
    return job not in options.without or place(options, job, name, seed).exists()


def kept(options: argparse.Namespace, job: str, name: str, seed: int) -> dict[str, dict[str, float]]:
    """The rows of one extraction from the cache, or measured now."""
    CACHE.mkdir(exist_ok=True)
    path = place(options, job, name, seed)
    if not path.exists():
        rows = work(options, job, name, seed)
        write_atomically(path, json.dumps(rows).encode())
        for row, rates in rows.items():
            told = ", ".join(f"{key} {rates[key]:.4g}" for key in ("cr", "jsd", "cpu_seconds") if key in rates)
            print(f"{name} {row} seed {seed}: {told}", file=sys.stderr, flush=True)
    return json.loads(path.read_text())


def table_of(options: argparse.Namespace, name: str) -> dict[str, dict[str, object]]:
    """Means over the seeds, row by row; printed as a table."""
    seeds = range(1 if options.quick else min(SEEDS.get(name, 1), options.lstms))
    runs = [
        {
            row: each
            for job in JOBS
            if is_shown(options, job, name, seed)
            for row, each in kept(options, job, name, seed).items()
        }
        for seed in seeds
    ]
    rows = [row for row in (*ROWS, BAG) if any(row in run for run in runs)]
    table = {row: summary([run[row] for run in runs if row in run]) for row in rows}
    if options.high:
        table[HIGH] = summary([kept(options, HIGH, name, 0)[HIGH]])
    shown = [
        [
            row,
            f"{one['cr']:.4f}" + (f" ± {one['cr_sd']:.4f}" if "cr_sd" in one else ""),
            f"{one['jsd']:.4f}",
            *([f"{one['cr80']:.4f}", f"{one['cr90']:.4f}", f"{one['states']:.0f}"] if row != BAG else ["", "", ""]),
            *([f"{one['bytes'] / 1e6:.1f}", f"{one['cpu_seconds']:.0f}"] if row != BAG else ["", ""]),
        ]
        for row, one in table.items()
    ]
    columns = ["", "CR", "JSD", "CR on the surest 80 %", "90 %", "states", "MB", "processor s"]
    show(f"{name}: {len(runs)} LSTMs, {table[AUTO]['accuracy']:.1%} accurate", columns, shown)
    return table


def summary(runs: list[dict[str, object]]) -> dict[str, object]:
    """The mean of every figure over the seeds, how many these are, and how far CR differs between them."""
    numbers = [key for key, value in runs[0].items() if not isinstance(value, str)]
    found: dict[str, object] = {key: float(np.mean([run[key] for run in runs])) for key in numbers}
    found |= {key: ", ".join(dict.fromkeys(str(run[key]) for run in runs)) for key in runs[0].keys() - set(numbers)}
    found["lstms"] = len(runs)
    if len(runs) > 1:
        found["cr_sd"] = float(np.std([run["cr"] for run in runs], ddof=1))
    return found


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", nargs="+", metavar="NAME", help="data sets, by name")
    parser.add_argument("--lstms", type=int, default=3, metavar="N", help="LSTMs of a data set at most (3)")
    parser.add_argument(
        "--without", nargs="+", choices=JOBS, default=(), help="not measured now; what is kept is shown"
    )
    parser.add_argument("--high", action="store_true", help="also with --effort high, on the first LSTM of each set")


def main() -> None:
    options = arguments(__doc__.splitlines()[0], add_options)
    usual = ("newsroom",) if options.quick else NAMES
    names = [name for name in options.only or usual if is_available(name, options.data)] or ["newsroom"]
    finish(options, {name: table_of(options, name) for name in names})


if __name__ == "__main__":
    main()
