"""The command line, but a run pauses when its log has the first shard, until a file GO lies there: `pausing GO …`."""

import sys
from pathlib import Path

from wfalens.scale.journal import FileJournal

from tests.waiting import wait_until
from wfalens.cli.main import run


def main() -> None:
    go = Path(sys.argv.pop(1))
    write = FileJournal.write

    def write_and_pause(journal, event, **facts):
        write(journal, event, **facts)
        if event == "shard":
            wait_until(go.exists)

    FileJournal.write = write_and_pause
    run()


if __name__ == "__main__":
    main()
