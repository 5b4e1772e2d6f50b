"""Compiled functions: a damaged cache is replaced; one that is full or read-only costs one sentence and no result."""

import os
import subprocess
import sys

import pytest

from wfalens.jit import _is_whole, _sum_of

CODE = """
import logging, sys
logging.basicConfig(level=logging.INFO, format="%(message)s")
from module import doubled
print(doubled(21))
"""
MODULE = """
from wfalens.jit import njit

@njit(cache=True)
def doubled(number):
    return 2 * number
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "module.py").write_text(MODULE)
    return tmp_path


def run(folder, code=CODE):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache")}
    environment["PYTHONPATH"] = os.pathsep.join([str(folder), *sys.path])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout) == (0, "42\n"), done.stderr
    return done.stderr.count("compiled code")


def files(folder, ending):
    return sorted((folder / "cache").rglob(f"*.{ending}"))


def test_compiled_code_is_kept(folder):
    assert run(folder) == 0
    kept = [path.stat().st_mtime_ns for ending in ("nbi", "nbc") for path in files(folder, ending)]
    assert run(folder) == 0
    assert kept == [path.stat().st_mtime_ns for ending in ("nbi", "nbc") for path in files(folder, ending)] != []


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("way", ["empty", "cut", "bit", "garbage"])
def test_a_damaged_file_is_replaced(folder, ending, way):
    run(folder)
    (path,) = files(folder, ending)
    whole = path.read_bytes()
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    path.write_bytes({"empty": b"", "cut": whole[:middle], "bit": flipped, "garbage": b"garbage" * 100}[way])
    assert run(folder) == 0
    (index,), (code,) = files(folder, "nbi"), files(folder, "nbc")
    assert all(_is_whole(each) for each in (index, code))
    replaced = path.stat().st_mtime_ns
    assert run(folder) == 0
    assert path.stat().st_mtime_ns == replaced  # it is kept again


@pytest.mark.slow
def test_code_that_is_whole_but_cannot_be_read_costs_one_sentence(folder):
    run(folder)
    for path in files(folder, "nbc"):
        path.write_bytes(b"nothing of the kind" + _sum_of(b"nothing of the kind"))
    assert run(folder) == 1


def test_a_full_disk_costs_one_sentence(folder):
    full = """
import errno, os
from numba.core import caching

class Full(caching.IndexDataCacheFile):
    pass

def refuse(self, *_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

caching.IndexDataCacheFile._save_index = refuse
"""
    assert run(folder, full + CODE) == 1


def test_no_folder_that_can_be_written_costs_one_sentence(folder):
    none = """
from numba.core import caching

def refuse(self, *_):
    raise RuntimeError("no locator available")

caching.FunctionCache.__init__ = refuse
"""
    assert run(folder, none + CODE) == 1
