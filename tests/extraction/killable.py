"""A process that imports all once and forks a run for every line it reads, so that runs can be killed by the dozen.

A line is "FOLDER OUT"; the answer is the process id of the run. A run that ends by itself writes OUT: an automaton, or
what an evaluation says of one.
"""

import json
import os
import signal
import sys
from pathlib import Path

import torch

from tests.streams import corpus_files, small_model, some_texts
from wfalens.corpus.sources.files import TextFiles
from wfalens.evaluation.streaming import measure_stream_fidelity
from wfalens.extraction import Extractor
from wfalens.extraction.streaming import extract_stream
from wfalens.passes.stream import Stream
from wfalens.writing import write_atomically


def stream_of(files: TextFiles, folder: Path) -> Stream:
    return Stream(files=files, folder=folder, shard_bytes=1, sample_tokens=1500, memory=10**12)


def extraction(files: TextFiles, folder: Path, out: Path) -> None:
    extract_stream(Extractor(states=6, completion="probe"), small_model(), stream_of(files, folder)).save(out)


def evaluation(files: TextFiles, folder: Path, out: Path) -> None:
    wfa = Extractor(states=6).extract(small_model(), some_texts(100))
    fidelity = measure_stream_fidelity(wfa, small_model(), stream_of(files, folder))
    write_atomically(out, json.dumps(fidelity.to_json()).encode())


def main(job: str, texts: Path) -> None:
    torch.set_num_threads(1)  # and no other thread: what is forked is whole
    run = {"extraction": extraction, "evaluation": evaluation}[job]
    files = corpus_files(texts, labels=True)
    run(files, texts / "first.parts", texts / "first.out")
    print("ready", flush=True)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended runs leave nothing behind
    for line in sys.stdin:
        folder, out = line.split()
        child = os.fork()
        if child == 0:
            run(files, Path(folder), Path(out))
            os._exit(0)
        print(child, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
