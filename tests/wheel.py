"""Tries a wheel that was installed without any extra: `python -m tests.wheel ENVIRONMENT`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.automata import linear_sample, sample
from tests.readable import negation

WANTED = """
from importlib.metadata import distribution
from importlib.resources import files
import wfalens
root = files("wfalens")
assert (root / "py.typed").is_file(), "py.typed is missing"
assert (root / "__init__.pyi").is_file(), "the stub is missing"
assert (root / "inspection" / "static" / "page.css").is_file(), "the page is missing"
assert any(each.name == "LICENSE" for each in distribution("wfalens").files), "the licence is missing"
wfa = wfalens.WFA.load("linear.wfa")
from wfalens.explanation import shapley
print(shapley(wfa, "w1 w2").values.shape, wfa.predict_proba(["w1 w2"]).shape)
"""


def main(environment: Path) -> int:
    """Read, predict and explain in an empty folder; -> exit code."""
    program, python = (str((environment / "bin" / name).absolute()) for name in ("wfalens", "python"))
    with TemporaryDirectory() as folder:
        for name, wfa in (
            ("stochastic", sample("fit", 0).wfa),
            ("linear", linear_sample(0).wfa),
            ("readable", negation().wfa),
        ):
            wfa.save(Path(folder) / f"{name}.wfa")
            for command in (["predict"], ["walk"], ["explain", "--text"]):
                _run(folder, program, command[0], f"{name}.wfa", *command[1:], "w1 w2")
        _run(folder, program, "show", "readable.wfa")
        _run(folder, python, "-c", WANTED)
        refused = _run(folder, program, "explain", "linear.wfa", "--plot", "words.png", code=2)
        if "pip install 'wfalens[plot]'" not in refused.stderr:
            raise SystemExit(f"a missing extra is not named: {refused.stderr}")
    print(f"the wheel works in {environment}")
    return 0


def _run(folder: str, *command: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # nothing but the wheel
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=own)
    if done.returncode != code:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
