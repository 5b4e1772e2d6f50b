"""A process that imports all once and forks a run for every line it reads, so that runs can be killed by the dozen.

A line is "FOLDER OUT MOMENT". A run's own time is counted in calls and returns of its functions: at the MOMENT-th the
run is killed, unless it has ended before. The answer is "killed" or "ended". A run that ends by itself writes OUT: an
automaton, what an evaluation says of one, or the values of words. The first line printed is the length of a whole run
in that time.
"""

import itertools
import json
import math
import os
import signal
import sys
from pathlib import Path

import torch

from tests.streams import corpus_files, small_model, some_texts
from wfalens.evaluation import measure_fidelity
from wfalens.explanation import word_importance
from wfalens.extraction import Paper, Stochastic, extract
from wfalens.scale.run_config import RunConfig
from wfalens.storage import write_atomically
from wfalens.text.files import TextFiles


def run_in(folder: Path) -> RunConfig:
    return RunConfig(checkpoints=folder, block_bytes=1, sample_tokens=1500, memory=10**12)


def extraction(files: TextFiles, folder: Path, out: Path) -> None:
    extract(
        small_model(),
        files,
        Stochastic(states=6, completion="probe", abstraction="outputs", alpha=0.4),
        run=run_in(folder),
    ).save(out)


def evaluation(files: TextFiles, folder: Path, out: Path) -> None:
    wfa = extract(small_model(), some_texts(100), Paper(states=6))
    fidelity = measure_fidelity(wfa, small_model(), files, run=run_in(folder))
    write_atomically(out, json.dumps(fidelity.to_dict()).encode())


def importance(files: TextFiles, folder: Path, out: Path) -> None:
    wfa = extract(small_model(), some_texts(100), Paper(states=6))
    found = word_importance(wfa, files, min_count=1, run=run_in(folder))
    write_atomically(out, json.dumps(found.to_dict()).encode())


class Fate:
    """Kills this process at a moment of its own time."""

    def __init__(self, moment: float = math.inf) -> None:
        self.moment, self.clock, self.now = moment, itertools.count(1), 0

    def __call__(self, *_event) -> None:
        self.now = next(self.clock)
        if self.now >= self.moment:
            os.kill(os.getpid(), signal.SIGKILL)

    def __enter__(self) -> "Fate":
        sys.setprofile(self)
        return self

    def __exit__(self, *_error) -> None:
        sys.setprofile(None)


def main(job: str, texts: Path) -> None:
    torch.set_num_threads(1)  # and no other thread: what is forked is whole
    run = {"extraction": extraction, "evaluation": evaluation, "importance": importance}[job]
    files = corpus_files(texts, labels=True)
    run(files, texts / "first.parts", texts / "first.out")  # compiles what has to be compiled
    with Fate() as fate:
        run(files, texts / "second.parts", texts / "second.out")
    print(fate.now, flush=True)
    for line in sys.stdin:
        folder, out, moment = line.split()
        child = os.fork()
        if child == 0:
            with Fate(float(moment)):
                run(files, Path(folder), Path(out))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print({signal.SIGKILL: "killed", 0: "ended"}[status], flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
