"""A process that imports all once and forks a run for every line it reads, so that runs can be killed by the dozen.

A line is "FOLDER OUT"; the answer is the process id of the run. A run that ends by itself writes OUT.
"""

import os
import signal
import sys
from pathlib import Path

import torch

from tests.streams import corpus_files, small_model
from wfalens.corpus.files import TextFiles
from wfalens.extraction import Extractor
from wfalens.extraction.stream import Stream
from wfalens.extraction.streaming import extract_stream


def run(files: TextFiles, folder: Path, out: Path) -> None:
    stream = Stream(files=files, folder=folder, shard_bytes=1, sample_tokens=1500, memory=10**12)
    extract_stream(Extractor(states=6, completion="probe"), small_model(), stream).save(out)


def main(texts: Path) -> None:
    torch.set_num_threads(1)  # and no other thread: what is forked is whole
    files = corpus_files(texts)
    run(files, texts / "first.parts", texts / "first.wfa")
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
    main(Path(sys.argv[1]))
