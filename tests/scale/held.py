"""A run of two jobs on the cluster of $RAY_ADDRESS; each tells where it is and waits for a file before it ends."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.waiting import wait_until
from wfalens.scale.map_blocks import run_jobs
from wfalens.scale.ray_executor import leave_cluster


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
    for outcome in run_jobs(Held(folder), ["one", "two"], "ray", 2):
        for _ in outcome.retries:
            print("retry", outcome.job)
        print(outcome.result, flush=True)
    leave_cluster()


if __name__ == "__main__":
    from tests.scale.held import main as importable  # so that the task is found by its module's name

    importable(sys.argv[1])
