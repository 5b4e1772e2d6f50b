"""A run of two jobs on the cluster of $RAY_ADDRESS; each tells where it is and waits for a file before it ends."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wfalens.scale.engines import open_engine

from tests.waiting import wait_until


@dataclass(frozen=True)
class Held:
    folder: str

    def prepare(self) -> Callable[[str], str]:
        return self._hold

    def _hold(self, job: str) -> str:
        folder = Path(self.folder)
        (folder / f"{job}.new").write_text(f"{os.getppid()} {os.getpid()}")
        (folder / f"{job}.new").rename(folder / f"{job}.node")
        wait_until((folder / f"{job}.go").exists)
        return job


def main(folder: str) -> None:
    engine = open_engine("ray")
    for outcome in engine.run(Held(folder), ["one", "two"], lambda retry: print("retry", retry.job, flush=True)):
        print(outcome.result, flush=True)
    engine.close()


if __name__ == "__main__":
    from tests.scale.held import main as importable  # so that the task is found by its module's name

    importable(sys.argv[1])
