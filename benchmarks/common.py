"""What the benchmarks share: options, cached models, peak memory, output as a table and as JSON."""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # the plain method lives among the tests

from tests import intents, oracle, planted, tomita_languages  # noqa: F401 - handed on
from tests.models import zoo  # noqa: F401 - handed on

import wfalens
from wfalens.automaton import WFA, StochasticWFA
from wfalens.extraction import Readable, extract
from wfalens.models import RNNClassifier, Trainer
from wfalens.monitoring.features import reader_of
from wfalens.text import Corpus, WordVectors, load_dataset, read_vectors, wordllama_vectors
from wfalens.text.datasets.catalogue import DATASETS, data_folder, is_available

CACHE = Path(__file__).resolve().parent / ".cache"


def arguments(about: str, add: Callable[[argparse.ArgumentParser], object] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--data", help="folder with the real data sets (default: WFALENS_DATA)")
    parser.add_argument("--quick", action="store_true", help="a small version, under a minute")
    parser.add_argument("--json", action="store_true", help="end with one JSON object")
    if add:
        add(parser)
    return parser.parse_args()


def news(options: argparse.Namespace) -> tuple[str, Corpus, Corpus]:
    """Training and test texts: tagmynews, or generated headlines where the data folder is missing."""
    name = "tagmynews"
    if not is_available(name, options.data):
        name = "newsroom"
        print(f"no data folder ({data_folder(options.data)}): using generated headlines", file=sys.stderr)
    train, test = (load_dataset(name, split, options.data) for split in ("train", "test"))
    return name, train, test


def data_sets(options: argparse.Namespace) -> Iterator[tuple[str, Corpus, Corpus]]:
    """News titles, and toxic comments where the data folder has them (not in a quick run)."""
    yield news(options)
    if is_available("jigsaw_toxic", options.data) and not options.quick:
        train, test = (load_dataset("jigsaw_toxic", split, options.data) for split in ("train", "test"))
        yield "jigsaw_toxic", train, test


def word_vectors(options: argparse.Namespace, model: RNNClassifier) -> WordVectors:
    """GloVe where the data folder has it, else WordLlama."""
    words, folder = model.encoder.vocabulary.words[2:], data_folder(options.data)
    glove = folder / "glove" / "glove.6B.100d.subset.txt.gz" if folder else None
    return read_vectors(glove, words) if glove and glove.exists() else wordllama_vectors(words)


def trained_model(name: str, train: Corpus, quick: bool, seed: int = 0) -> RNNClassifier:
    """The paper's LSTM on a data set, trained once and kept under benchmarks/.cache."""
    CACHE.mkdir(exist_ok=True)
    path = CACHE / f"{name}{'-quick' if quick else ''}-{seed}.rnn"
    if not path.exists():
        print(f"training {path.name} …", file=sys.stderr)
        known = DATASETS[name]
        if quick:
            train = train.subset(np.arange(0, len(train), max(1, len(train) // 4000)))
        trainer = Trainer(max_length=known.max_length, seed=seed, **({"epochs": 4} if quick else {}))
        trainer.train(train).model.save(path)
    return RNNClassifier.load(path)


def readable_automaton(name: str, model: RNNClassifier, train: Corpus, quick: bool, seed: int = 0) -> StochasticWFA:
    """A readable automaton of a model, extracted once and kept under benchmarks/.cache."""
    CACHE.mkdir(exist_ok=True)
    path = CACHE / f"{name}{'-quick' if quick else ''}-{seed}-readable.wfa"
    if not path.exists() or WFA.load(path).provenance["model"]["fingerprint"] != model.fingerprint:
        print(f"extracting {path.name} …", file=sys.stderr)
        some = train.sample(4000, seed) if quick else train
        extract(model, some, Readable()).save(path)
    return reader_of(WFA.load(path))


@cache
def code_version() -> str:
    """Tells apart versions of the code that results depend on."""
    folders = ("automaton", "corpus", "extraction", "models", "passes")
    source, digest = Path(wfalens.__file__).parent, hashlib.sha256()
    for path in sorted(path for folder in folders for path in (source / folder).rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:10]


class PeakMemory:
    """The growth of this process' resident memory while a block runs, sampled every millisecond, in MB."""

    def __enter__(self) -> PeakMemory:
        self._stop = threading.Event()
        self._base = self._peak = _resident()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._stop.is_set():
            self._peak = max(self._peak, _resident())
            time.sleep(0.001)

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._peak = max(self._peak, _resident())
        self.mb = (self._peak - self._base) / 1e6


def peak_mb() -> float:
    """The largest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def show(title: str, columns: list[str], rows: list[list[object]]) -> None:
    table = [columns, *[[_cell(cell) for cell in row] for row in rows]]
    widths = [max(len(row[column]) for row in table) for column in range(len(columns))]
    print(title)
    for row in table:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)))


def finish(options: argparse.Namespace, result: dict[str, object]) -> None:
    if options.json:
        print(json.dumps(result))


def _cell(value: object) -> str:
    return f"{value:,.4g}" if isinstance(value, float) else str(value)
