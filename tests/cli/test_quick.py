"""Commands that are over in a moment load nothing that takes longer."""

import json
import subprocess
import sys

import pytest

from tests.automata import linear_sample, sample
from wfalens.cli.app import PHASES

HEAVY = {"sklearn", "pandas", "torch", "pyarrow", "matplotlib"}
LOADED = """
import json, sys
from wfalens.cli.main import main
code = main(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""
COMMANDS = [name for commands in PHASES.values() for name in commands]


def modules_of(*arguments):
    command = [sys.executable, "-c", LOADED, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    code, names = json.loads(done.stderr.splitlines()[-1])
    assert code == 0, done.stderr
    return set(names)


def tops(names):
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_version_and_the_list_of_commands_load_not_even_numpy(option):
    assert not tops(modules_of(option)) & {*HEAVY, "scipy", "numba", "numpy"}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_loads_no_heavy_library(name):
    assert not tops(modules_of(name, "--help")) & {*HEAVY, "scipy", "numba"}


@pytest.mark.parametrize("kind", ["stochastic", "linear"])
@pytest.mark.parametrize("command", ["predict", "walk"])
def test_an_automaton_is_used_without_the_heavy_libraries(tmp_path, kind, command):
    (sample("fit", 0) if kind == "stochastic" else linear_sample(0)).wfa.save(tmp_path / "some.wfa")
    names = modules_of(command, tmp_path / "some.wfa", "w1 w2")
    assert not tops(names) & HEAVY
    # numba looks at the version of scipy, which loads its root and no part that computes
    assert not names & {f"scipy.{part}" for part in ("linalg", "sparse", "special", "optimize", "stats", "cluster")}


def test_numba_still_finds_blas_where_a_kernel_needs_it():
    script = """
from wfalens.cli.legacy.quick import load_numba
load_numba()
import numba, numpy as np
print(numba.njit(lambda a, b: a @ b)(np.eye(2), np.full((2, 2), 3.0)).sum())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert float(done.stdout) == 12
