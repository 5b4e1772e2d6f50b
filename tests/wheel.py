"""Tries wheel and sdist in fresh environments without any extra: `python -m tests.wheel dist [PIP ARGUMENTS]`.

The wheel is tried on every Python of `VERSIONS` that this machine has, the sdist and the lowest versions that the
base installation allows on this one. Versions without an interpreter are named.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.automata import linear_sample, sample
from tests.readable import negation

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
ROOT = Path(__file__).resolve().parent.parent
INSTALLED = """
from importlib.metadata import distribution
from importlib.resources import files
import wfalens
root = files("wfalens")
assert wfalens.__version__ == distribution("wfalens").version, wfalens.__version__
assert (root / "py.typed").is_file(), "py.typed is missing"
assert (root / "__init__.pyi").is_file(), "the stub is missing"
assert (root / "report" / "static" / "page.css").is_file(), "the page is missing"
assert (root / "export" / "runtime" / "runtime.js").is_file(), "the runtime is missing"
assert any(each.name == "LICENSE" for each in distribution("wfalens").files), "the licence is missing"
wfa = wfalens.WFA.load("linear.wfa")
from wfalens.explanation import shapley
print(shapley(wfa, "w1 w2").values.shape, wfa.predict_proba(["w1 w2"]).shape)
"""


def interpreter(version: str) -> str | None:
    """A Python of this version that starts: from the path, else from pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    installed = sorted(pyenv.glob(f"versions/{version}.*/bin/python"))
    for program in (shutil.which(f"python{version}"), *map(str, reversed(installed))):
        if program and subprocess.run([program, "-c", ""], capture_output=True).returncode == 0:
            return program
    return None


def lowest_versions() -> list[str]:
    """The lowest versions that the base installation allows, as constraints: `numpy>=2.0` -> `numpy==2.0`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [requirement.replace(">=", "==") for requirement in project["dependencies"]]


def try_installed(package: Path, python: str, constraints: Path, pip_arguments: list[str]) -> None:
    """Install into a new environment; then read, predict and explain in an empty folder."""
    with TemporaryDirectory() as folder:
        environment = Path(folder) / "environment"
        _run(folder, python, "-m", "venv", str(environment))
        program, own = (str(environment / "bin" / name) for name in ("wfalens", "python"))
        quiet = ("--quiet", "--disable-pip-version-check")
        _run(folder, own, "-m", "pip", "install", *quiet, "-c", str(constraints), *pip_arguments, str(package))
        for name, wfa in (
            ("stochastic", sample("fit", 0).wfa),
            ("linear", linear_sample(0).wfa),
            ("readable", negation().wfa),
        ):
            wfa.save(Path(folder) / f"{name}.wfa")
            for command, *options in (["predict"], ["predict", "--trace"], ["explain", "text"]):
                arguments = [*options, f"{name}.wfa"] if command == "explain" else [f"{name}.wfa", *options]
                _run(folder, program, command, *arguments, "w1 w2")
        _run(folder, program, "show", "readable.wfa")
        _run(folder, own, "-c", INSTALLED)
        refused = _run(folder, program, "explain", "text", "linear.wfa", "w1 w2", "-o", "words.png", code=2)
        if "pip install 'wfalens[plot]'" not in refused.stderr:
            raise SystemExit(f"a missing extra is not named: {refused.stderr}")


def _run(folder: str, *command: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # nothing but the package
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=own)
    if done.returncode != code:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done


def main(folder: Path, pip_arguments: list[str]) -> None:
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    tested = ROOT / "constraints.txt"
    skipped = [version for version in VERSIONS if interpreter(version) is None]
    for version in VERSIONS:
        if program := interpreter(version):
            try_installed(wheel, program, tested, pip_arguments)
            print(f"Python {version}: the wheel works", flush=True)
    try_installed(sdist, sys.executable, tested, pip_arguments)
    print("the sdist works")
    with TemporaryDirectory() as scratch:
        lowest = Path(scratch) / "lowest.txt"
        lowest.write_text("\n".join(lowest_versions()))
        try_installed(wheel, sys.executable, lowest, pip_arguments)
    print("the wheel works with the lowest versions that it allows")
    if skipped:
        print(f"not tried, because no interpreter is installed: Python {', '.join(skipped)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
