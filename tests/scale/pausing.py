"""The command line, but a run pauses when its first block is counted, until a file GO lies there: `pausing GO …`."""

import sys
from pathlib import Path

from tests.waiting import wait_until
from wfalens.cli.main import run
from wfalens.scale.file_run import FileRun


def main() -> None:
    go = Path(sys.argv.pop(1))
    record = FileRun.record

    def record_and_pause(self, event, **facts):
        record(self, event, **facts)
        if event.startswith("counts-"):
            wait_until(go.exists)

    FileRun.record = record_and_pause
    run()


if __name__ == "__main__":
    main()
