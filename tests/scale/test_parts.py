"""What a run keeps: alike in memory and in a folder, locked, and noticed when it changed on the disk."""

import builtins
import errno
import os

import numpy as np
import pytest

from tests.streams import corpus_files, small_model
from wfalens import Paper, Run, extract
from wfalens.errors import FormatError, InputError
from wfalens.scale.checkpoints import HeldParts, PartsFolder

TENSORS = {"keys": np.arange(7), "counts": np.arange(7, dtype=np.uint8)}


@pytest.fixture(params=["held", "folder"])
def parts(request, tmp_path):
    kept = HeldParts() if request.param == "held" else PartsFolder(tmp_path / "parts", {"about": 1})
    yield kept
    kept.close()


def test_parts_are_read_as_they_were_written(parts):
    parts.write("counts-1", {"shards": [1]}, TENSORS)
    parts.write("counts-0", {"shards": [0]}, TENSORS)
    assert parts.names("counts-") == ["counts-0", "counts-1"]
    assert parts.read("plan") is None
    assert parts.read("counts-1").field("shards", list) == [1]
    np.testing.assert_array_equal(parts.read("counts-0").tensor("keys", "i"), TENSORS["keys"])
    sliced = parts.sliced("counts-0")
    assert sliced.size("keys") == 7
    found = sliced.slices([("keys", 2, 5), ("counts", 7, 7), ("counts", 0, 7)])
    assert [each.tolist() for each in found] == [[2, 3, 4], [], list(range(7))]
    parts.verify("counts-0")
    parts.remove("counts-0")
    assert parts.names("counts-") == ["counts-1"]


def test_a_system_without_file_locks_is_told_in_a_sentence(tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *arguments):
        if name == "fcntl":
            raise ImportError(name)
        return real(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match="no file locks, which a folder of parts needs"):
        PartsFolder(tmp_path / "parts", {})


def test_a_disk_without_file_locks_is_told_in_a_sentence(tmp_path, monkeypatch):
    def refused(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", refused)
    with pytest.raises(InputError, match="lies on a disk without file locks"):
        PartsFolder(tmp_path / "parts", {})


@pytest.mark.parametrize("name", ["counts-00000000", "plan", "survey-00000000"])
def test_a_flipped_bit_in_a_part_is_noticed_on_resuming_and_named(tmp_path, name):
    run = Run(parts=tmp_path / "parts", sample_tokens=1500, shard_bytes=1, memory=10**12)
    files, model, extractor = corpus_files(tmp_path), small_model(), Paper(states=6)
    extract(model, files, extractor, run=run)
    path = tmp_path / "parts" / f"{name}.part"
    blob = bytearray(path.read_bytes())
    blob[-9] ^= 4
    path.write_bytes(blob)
    with pytest.raises(FormatError, match=rf"{name}\.part: damaged: .*remove this file and run again"):
        extract(model, files, extractor, run=run)
