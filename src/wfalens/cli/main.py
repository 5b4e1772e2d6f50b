"""The entry point: runs a command and turns what went wrong into one sentence and an exit code."""

from __future__ import annotations

import sys

from wfalens.cli import (  # noqa: F401 - they register themselves
    attack,
    certify,
    check,
    data,
    demo,
    diff,
    evaluate,
    explain,
    explore,
    export,
    extract,
    pairs,
    predict,
    pretrain,
    report,
    reproduce,
    train,
    walk,
)
from wfalens.cli.app import Settings, app
from wfalens.errors import WfalensError

USAGE = 2


def run() -> None:
    try:
        app()
    except WfalensError as error:
        _leave(str(error), USAGE)
    except MemoryError:
        _leave("not enough memory for this", USAGE)
    except OSError as error:
        _leave(f"{error.filename or 'input or output'}: {error.strerror or error}", USAGE)
    except Exception as error:  # a defect of ours: say so without a traceback
        _leave(f"internal error: {type(error).__name__}: {error} (run with --debug for details)", USAGE)


def _leave(message: str, code: int) -> None:
    if Settings.debug:
        raise
    print(f"error: {message}", file=sys.stderr)
    raise SystemExit(code)
