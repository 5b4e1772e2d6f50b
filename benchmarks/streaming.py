"""Streaming extraction: peak memory, throughput against the model's own pass, and time against the number of words.

The corpus is generated into parquet files: texts of 20 words from a Zipf distribution over a million. The model is an
LSTM of the paper's size with an embedding for each of them. Every measurement runs in a fresh process; the model's own
pass over the same words, encoded and in memory, is timed before and after each run, with two workers of one thread each
and with the threads of torch, and the faster way counts; of several rounds the median. Kernels are loaded before. What
a run costs as such (k-means, a file of a million words) is measured on a tiny corpus and left out of the exponent, not
out of the throughput.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np

from common import arguments, finish, show
from wfalens.automaton import StochasticWFA
from wfalens.memory import parse_size, resident_with_children
from wfalens.ragged import Ragged
from wfalens.text import TextEncoder, Vocabulary

LENGTH, WORDS, CLASSES, STATES, FILES = 20, 10**6, 7, 40, 4
ROUNDS = 5
SMALLEST = 20_000  # words, that take little time: what is left is the cost of a run as such


def zipf_ids(tokens: int, seed: int) -> Ragged[np.int32]:
    share = np.cumsum(1 / np.arange(1, WORDS + 1))
    ids = 2 + np.searchsorted(share, np.random.default_rng(seed).random(tokens) * share[-1])
    return Ragged.from_lengths(ids.astype(np.int32), np.full(tokens // LENGTH, LENGTH))


def write_corpus(folder: Path, tokens: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for file in range(FILES):
        ids = zipf_ids(tokens // FILES // LENGTH * LENGTH, file).values.reshape(-1, LENGTH)
        texts = [" ".join(f"w{word - 2}" for word in text) for text in ids.tolist()]
        pq.write_table(pa.table({"text": texts}), folder / f"{tokens}-{file}.parquet", row_group_size=20_000)


def write_model(path: Path) -> None:
    import torch

    from wfalens.models import RNNClassifier, RNNConfig

    encoder = TextEncoder(Vocabulary.of_words(f"w{word}" for word in range(WORDS)), "whitespace")
    model = RNNClassifier.untrained(RNNConfig(), encoder, tuple(f"class {each}" for each in range(CLASSES)))
    with torch.no_grad():
        model.network.output.weight *= 20  # as decided as a trained one
    model.save(path)


def measure_forward(folder: Path, tokens: int) -> dict[str, float]:
    """Seconds of the model alone."""
    import torch

    from wfalens.models import RNNClassifier

    model = RNNClassifier.load(folder / "model.rnn")
    parts = [
        part for file in range(FILES) for part in zipf_ids(tokens // FILES // LENGTH * LENGTH, file).chunks(45_000)
    ]
    cores = len(os.sched_getaffinity(0))
    seconds = {}
    torch.set_num_threads(1)
    with ThreadPoolExecutor(cores) as pool:
        list(pool.map(model.trace, parts[: 2 * cores]))
        began = time.perf_counter()
        for _ in pool.map(lambda part: model.trace(part).last(), parts):
            pass
        seconds["workers"] = time.perf_counter() - began
    torch.set_num_threads(cores)
    some = parts[: max(2, len(parts) // 10)]  # a tenth tells how it compares
    began = time.perf_counter()
    for part in some:
        model.trace(part)
    seconds["torch"] = (time.perf_counter() - began) * sum(len(part.values) for part in parts)
    seconds["torch"] /= sum(len(part.values) for part in some)
    return seconds


def measure_stream(folder: Path, tokens: int, memory: int, name: str, workers: int | None) -> dict[str, float]:
    from wfalens.extraction import Paper, extract
    from wfalens.models import RNNClassifier
    from wfalens.scale import RunConfig
    from wfalens.scale.file_run import chosen_engine
    from wfalens.text.files import TextFiles

    model = RNNClassifier.load(folder / "model.rnn")
    engine, _ = chosen_engine(RunConfig(engine=name, workers=workers), memory)
    peak, stop = [0], threading.Event()

    def watch() -> None:
        while not stop.wait(0.05):
            peak[0] = max(peak[0], resident_with_children())

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()

    def run(size: int) -> tuple[float, StochasticWFA]:
        parts, out = folder / f"{size}.parts", folder / f"{size}.wfa"
        files = TextFiles.find(str(folder / f"{size}-*.parquet"))
        began = time.perf_counter()
        means = RunConfig(
            checkpoints=parts, engine=name, workers=workers, memory=memory, model_file=folder / "model.rnn"
        )
        wfa = extract(model, files, Paper(states=STATES), run=means)
        wfa.save(out)
        seconds = time.perf_counter() - began
        shutil.rmtree(parts)
        return seconds, wfa

    run(SMALLEST)  # loads the kernels and makes the table of words
    fixed, _ = run(SMALLEST)
    seconds, wfa = run(tokens)
    stop.set()
    watcher.join()
    return {
        "tokens": wfa.provenance["corpus"]["tokens"],
        "seconds": seconds,
        "fixed_seconds": fixed,
        "transitions": len(wfa.rows.weight),
        "file_mb": (folder / f"{tokens}.wfa").stat().st_size / 1e6,
        "workers": engine,
        "peak_mb": max(own_peak(), peak[0]) / 1e6,
    }


def own_peak() -> int:
    """The most that this process ever held; what its parent held does not count."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def measured(**point: object) -> dict[str, float]:
    done = subprocess.run([sys.executable, __file__, "--point", json.dumps(point)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def options_of(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--point", help=argparse.SUPPRESS)
    parser.add_argument("--tokens", type=float, help="words of the largest corpus (default: 1e7; quick: 1e6)")
    parser.add_argument("--memory", default="2GB", help="bound on memory (default: 2GB)")
    parser.add_argument("--engine", default="local", help="local or ray")
    parser.add_argument("--workers", type=int, help="default: one for each core")
    parser.add_argument("--folder", help="for the corpus and the model, about 0.6 GB (default: a temporary one)")


def main() -> None:
    options = arguments(__doc__.splitlines()[0], options_of)
    if options.point:
        point = json.loads(options.point)
        kind, point["folder"] = point.pop("kind"), Path(point["folder"])
        print(json.dumps((measure_forward if kind == "forward" else measure_stream)(**point)))
        return
    largest = round(options.tokens or (1e6 if options.quick else 1e7))
    sizes = sorted({largest // 100, largest // 10, largest})
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        write_model(folder / "model.rnn")
        for tokens in (SMALLEST, *sizes):
            write_corpus(folder, tokens)
        means = {"memory": parse_size(options.memory), "name": options.engine, "workers": options.workers}
        points = [measured(kind="stream", folder=name, tokens=tokens, **means) for tokens in sizes[:-1]]
        forward = [measured(kind="forward", folder=name, tokens=largest)]
        rounds = []
        for _ in range(1 if options.quick else ROUNDS):
            rounds.append(measured(kind="stream", folder=name, tokens=largest, **means))
            forward.append(measured(kind="forward", folder=name, tokens=largest))
    alone = [min((before[way] + after[way]) / 2 for way in before) for before, after in pairwise(forward)]
    ratios = [seconds / point["seconds"] for seconds, point in zip(alone, rounds, strict=True)]
    middle = int(np.argsort(ratios)[len(ratios) // 2])
    points.append({**rounds[middle], "peak_mb": max(point["peak_mb"] for point in rounds)})
    columns = ["tokens", "seconds", "fixed_seconds", "transitions", "file_mb", "peak_mb", "workers"]
    show("streaming extraction", columns, [[point[column] for column in columns] for point in points])
    tokens = np.log([point["tokens"] for point in points])
    total = np.polyfit(tokens, np.log([point["seconds"] for point in points]), 1)[0]
    growing = [max(1e-3, point["seconds"] - point["fixed_seconds"]) for point in points]
    slope = np.polyfit(tokens, np.log(growing), 1)[0]
    result: dict[str, object] = {
        "peak_mb": points[-1]["peak_mb"],
        "throughput_ratio": ratios[middle],
        "throughput_ratios": ratios,
        "token_exponent": float(slope),
        "total_exponent": float(total),
        "forward_seconds": alone[middle],
        "forward": forward,
        "points": points,
    }
    print(f"the model alone: {alone[middle]:.1f} s ({largest / alone[middle]:,.0f} words/s)", end="; ")
    print(f"the stream runs at {ratios[middle]:.2f} of that (rounds: {min(ratios):.2f} to {max(ratios):.2f})", end="; ")
    print(f"time beyond that of a tiny corpus grows as tokens^{slope:.2f}")
    finish(options, result)


if __name__ == "__main__":
    main()
