"""Runs killed at any moment, and disks that are full or closed: what is done stays, what is resumed ends alike."""

import math
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.streams import corpus_files, small_model
from wfalens.extraction import Paper, extract
from wfalens.scale.run_config import RunConfig
from wfalens.text.files import TextFiles

ROOT = Path(__file__).resolve().parents[2]
KILLS = 20


class Zygote:
    """Forks runs and has them killed; see `killable`."""

    def __init__(self, job, texts):
        command = [sys.executable, "-m", "tests.extraction.killable", job, str(texts)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "WFALENS_THREADS": "1"}
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.duration = int(self.process.stdout.readline())  # of a whole run, in its own time

    def run(self, folder, out, moment=math.inf):
        print(folder, out, moment, file=self.process.stdin, flush=True)
        return self.process.stdout.readline().strip()

    def close(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks runs")
@pytest.mark.parametrize(
    ("job", "shards"),
    [("extraction", "counts-*.block"), ("evaluation", "compared-*.block"), ("importance", "sums-*.block")],
)
def test_runs_killed_twenty_times_end_in_the_bytes_of_one_that_was_not(tmp_path, job, shards):
    texts = tmp_path / "texts"
    texts.mkdir()
    zygote = Zygote(job, texts)
    expected = (texts / "first.out").read_bytes()
    folder, out = tmp_path / "parts", tmp_path / "out"
    chance, kills, resumed, ends = random.Random(7), 0, 0, 0  # noqa: S311
    while kills < KILLS or not ends:
        resumed += any(folder.glob(shards))
        moment = chance.randrange(1, int(0.9 * zygote.duration)) if kills < KILLS else math.inf
        kills += zygote.run(folder, out, moment) == "killed"
        if out.exists():
            assert out.read_bytes() == expected
            ends += 1
            out.unlink()
            shutil.rmtree(folder)
    zygote.close()
    assert resumed > 3  # runs were killed in the midst of the shards, too


@pytest.fixture
def small_disk(tmp_path):
    """Runs a command in which a folder is a disk of a few kilobytes, or one that cannot be written."""
    mount = ["unshare", "--map-root-user", "--mount"]
    if shutil.which("unshare") is None or subprocess.run([*mount, "true"], check=False).returncode:
        pytest.skip("may not mount a disk here")
    (tmp_path / "disk").mkdir()

    def run(options, *arguments):
        command = " ".join([sys.executable, "-m", "wfalens", *map(str, arguments)])
        keep = f"cp -r {tmp_path}/disk {tmp_path}/left"
        script = f"mount -t tmpfs -o {options} tmpfs {tmp_path}/disk && {{ {command}; code=$?; {keep}; exit $code; }}"
        return subprocess.run([*mount, "sh", "-c", script], capture_output=True, text=True, check=False)

    return run


def arguments(tmp_path, texts=40_000):
    small_model().save(tmp_path / "model.rnn")
    corpus_files(tmp_path, texts=texts)
    settings = "-C paper.states=6 -C run.engine=local -C run.workers=1 -C run.block_bytes=200KB"
    return ["extract", tmp_path / "model.rnn", "-c", f"'{tmp_path}/*.jsonl'", *settings.split()]


def room_for_five_shards(tmp_path):
    """Kilobytes, whole pages for each file."""
    files = TextFiles.find(f"{tmp_path}/*.jsonl")
    run = RunConfig(checkpoints=tmp_path / "measured", block_bytes=200_000, memory=10**12)
    extract(small_model(), files, Paper(states=6), run=run)
    pages = {path.name: -(-path.stat().st_size // 4096) for path in run.checkpoints.iterdir()}
    counts = [size for name, size in pages.items() if name.startswith("counts-")]
    assert len(counts) > 8
    return 4 * (sum(pages.values()) - sum(counts) + 5 * max(counts) + 2)


@pytest.mark.slow
def test_a_full_disk_is_one_sentence_and_the_earlier_parts_are_whole(small_disk, tmp_path):
    command = arguments(tmp_path)
    done = small_disk(f"size={room_for_five_shards(tmp_path)}k", *command, "-o", tmp_path / "disk" / "out.wfa")
    assert done.returncode == 2
    assert done.stderr.strip().splitlines()[-1].startswith("error: cannot write ")
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    left = tmp_path / "left" / "out.wfa.checkpoints"
    parts = {path.name for path in left.glob("*.block")}
    assert any(name.startswith("counts-") for name in parts)
    assert not any(path.name.startswith(".") for path in left.iterdir())
    # what is left is taken up on a larger disk, and ends as a run from the start
    from tests.commands import wfalens

    plain = [str(each).strip("'") for each in command]
    resumed = wfalens(*plain, "-o", tmp_path / "left" / "out.wfa")
    assert "blocks are done already" in resumed.stderr
    assert wfalens(*plain, "-o", tmp_path / "whole.wfa").returncode == 0
    assert (tmp_path / "left" / "out.wfa").read_bytes() == (tmp_path / "whole.wfa").read_bytes()
    assert not left.exists()


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_is_one_sentence_before_the_work(small_disk, tmp_path):
    done = small_disk("size=1m,ro", *arguments(tmp_path, texts=20), "-o", tmp_path / "disk" / "out.wfa")
    assert done.returncode == 2
    assert done.stderr.strip().splitlines() == [f"error: cannot write {tmp_path}/disk/out.wfa: Read-only file system"]
