"""Commands run in this process, as their entry point would run them."""

import io
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass

import pytest

from wfalens.cli.main import main
from wfalens.cli.output import OUT

SMALL = ["-C", "hidden=16", "--epochs", "4", "-C", "embedding=16", "-C", "learning_rate=0.01"]


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


def wfalens(*arguments, cwd=".", stdin=""):
    """Run a command in this process, as its entry point would; exit code and output as a shell sees them."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, chdir(cwd), redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        patch.delenv("WFALENS_DATA", raising=False)
        patch.setattr(OUT, "width", 160)
        code = main([str(argument) for argument in arguments])
    return Done(code, out.getvalue(), err.getvalue())


def ok(folder, *arguments):
    """What a command prints that must succeed."""
    done = wfalens(*arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def in_a_process(*arguments):
    command = [sys.executable, "-m", "wfalens", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)
