"""Compiled functions: a cache that is damaged, full or read-only costs one sentence and no result."""

import os
import subprocess
import sys

import pytest

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
    (tmp_path / "temporary").mkdir()
    return tmp_path


def run(folder, code=CODE):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache"), "TMPDIR": str(folder / "temporary")}
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
def test_a_damaged_file_means_another_folder_and_one_sentence(folder, ending, way):
    run(folder)
    for path in files(folder, ending):
        blob = bytearray(path.read_bytes())
        middle = len(blob) // 2
        blob[middle] ^= 1
        path.write_bytes({"empty": b"", "cut": blob[:middle], "bit": blob, "garbage": b"garbage" * 100}[way])
    assert run(folder) == 1
    assert list((folder / "temporary").rglob("*.nbc"))


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


def test_a_folder_of_somebody_else_is_not_used(folder):
    (folder / "temporary" / f"wfalens-compiled-{os.getuid()}").mkdir(mode=0o777)
    (folder / "temporary" / f"wfalens-compiled-{os.getuid()}").chmod(0o777)
    run(folder)
    for path in files(folder, "nbc"):
        path.write_bytes(b"")
    run(folder)
    assert not list((folder / "temporary").rglob("*.nbc"))
