"""The n-th open, write, fsync or rename fails, for every n, and so does the n-th allocation.

Nothing is half written, nothing is lost, and the error is one sentence.
"""

import errno
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.automata import sample
from tests.streams import corpus_files, small_model
from wfalens.errors import WfalensError
from wfalens.extraction import Linear, Paper, extract
from wfalens.scale.run_config import RunConfig


class FullDisk:
    """Counts what is written to disks; the operation of the given number fails, a write after half of it."""

    def __init__(self, fails_at=0):
        self.fails_at, self.operations = fails_at, 0

    def check(self):
        self.operations += 1
        if self.operations == self.fails_at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    @contextmanager
    def mounted(self):
        opened, fsync, rename = Path.open, os.fsync, Path.replace
        disk = self

        class Stream:
            def __init__(self, inner):
                self.inner = inner

            def __getattr__(self, name):
                return getattr(self.inner, name)

            def __enter__(self):
                return self

            def __exit__(self, *_):
                self.inner.close()

            def write(self, content):
                try:
                    disk.check()
                except OSError:
                    self.inner.write(content[: len(content) // 2])
                    self.inner.flush()
                    raise
                return self.inner.write(content)

        def open_counted(path, mode="r", *arguments, **options):
            if not set(mode) & set("wxa"):
                return opened(path, mode, *arguments, **options)
            disk.check()
            return Stream(opened(path, mode, *arguments, **options))

        def fsync_counted(handle):
            disk.check()
            fsync(handle)

        def rename_counted(path, target):
            disk.check()
            return rename(path, target)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Path, "open", open_counted)
            patch.setattr(os, "fsync", fsync_counted)
            patch.setattr(Path, "replace", rename_counted)
            yield self


def operations_of(job):
    with FullDisk().mounted() as disk:
        job()
    return disk.operations


def fails(job, number):
    """Run it with a fault, which must show as one sentence."""
    with FullDisk(number).mounted(), pytest.raises(WfalensError) as refused:
        job()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("kind", ["wfa", "rnn"])
def test_a_save_that_fails_anywhere_leaves_the_old_file(tmp_path, kind):
    path = tmp_path / f"old.{kind}"
    path.write_bytes(b"old")
    stored = sample("empirical", 0).wfa if kind == "wfa" else small_model()
    total = operations_of(lambda: stored.save(tmp_path / "count"))
    (tmp_path / "count").unlink()
    assert total == 4
    for number in range(1, total + 1):
        fails(lambda: stored.save(path), number)
        assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [(path.name, b"old")]


def counted(files, folder):
    run = RunConfig(checkpoints=folder, block_bytes=1, sample_tokens=1500, memory=10**12)
    return extract(small_model(), files, Paper(states=4), run=run)


def trained(files, folder):
    folder.mkdir(exist_ok=True)
    texts = [text for block in files.blocks(0) for text in block.texts]
    run = RunConfig(checkpoints=folder)
    return extract(small_model(), texts[:40], Linear(states=4, epochs=2, layers=1), run=run)


@pytest.mark.slow
@pytest.mark.parametrize("job", [counted, trained])
def test_an_extraction_that_fails_anywhere_continues_and_ends_in_the_same_bytes(tmp_path, job):
    (tmp_path / "texts").mkdir()
    files = corpus_files(tmp_path / "texts", files=2, texts=60)
    out, folder = tmp_path / "out.wfa", tmp_path / "checkpoints"
    total = operations_of(lambda: job(files, folder).save(out))
    expected = out.read_bytes()
    out.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    assert total > 8
    for number in range(1, total + 1):
        fails(lambda: job(files, folder).save(out), number)
        assert not out.exists()
        again = operations_of(lambda: job(files, folder).save(out))
        assert out.read_bytes() == expected
        assert again <= total
        out.unlink()
        shutil.rmtree(folder, ignore_errors=True)


ALLOCATIONS = """
import sys
from pathlib import Path
import _testcapi
from tests.automata import sample

path, wfa = Path(sys.argv[1]), sample("empirical", 0).wfa
wfa.save(path)
new, number, failed = path.read_bytes(), 0, True
path.write_bytes(b"old")
wrong = []
while failed:
    number += 1
    failed = False
    try:
        _testcapi.set_nomemory(number, number + 1)
        wfa.save(path)
    except BaseException:  # a MemoryError; numpy forgets to say what failed, safetensors panics
        failed = True
    finally:
        _testcapi.remove_mem_hooks()
    if path.read_bytes() != (b"old" if failed else new):
        wrong.append(number)
    left = [each.name for each in path.parent.iterdir()]
    if left != [path.name]:
        wrong.append(left)
    path.write_bytes(b"old")
print(number, wrong)
"""


@pytest.mark.slow
def test_an_allocation_that_fails_in_a_save_leaves_the_old_file(tmp_path):
    pytest.importorskip("_testcapi")
    command = [sys.executable, "-c", ALLOCATIONS, str(tmp_path / "a.wfa")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    number, _, wrong = done.stdout.partition(" ")
    assert (int(number) > 100, wrong.strip()) == (True, "[]")
