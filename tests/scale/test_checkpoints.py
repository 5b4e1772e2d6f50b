"""What a run keeps in a folder: locked, for one run only, and noticed when it changed on the disk."""

import builtins
import errno
import os

import numpy as np
import pytest

from tests.errors import raises
from tests.streams import corpus_files, small_model
from wfalens.errors import InputError
from wfalens.extraction import Paper, extract
from wfalens.scale import RunConfig
from wfalens.scale.checkpoints import Checkpoints

TENSORS = {"keys": np.arange(7), "counts": np.arange(7, dtype=np.uint8)}


def test_blocks_are_read_as_they_were_written(tmp_path):
    folder = Checkpoints(tmp_path / "blocks", {"about": 1})
    folder.write("counts-1", {"texts": 1}, TENSORS)
    folder.write("counts-0", {"texts": 0}, TENSORS)
    assert folder.names("counts-") == ["counts-0", "counts-1"]
    assert folder.read("counts-1").field("texts", int) == 1
    np.testing.assert_array_equal(folder.read("counts-0").tensor("keys", "i"), TENSORS["keys"])
    folder.close()


def test_another_run_does_not_continue_with_them_nor_share_them(tmp_path):
    folder = Checkpoints(tmp_path / "blocks", {"alpha": 1})
    with raises("in-use"):
        Checkpoints(tmp_path / "blocks", {"alpha": 1})
    folder.write("counts-0", {}, TENSORS)
    folder.close()
    with raises("other-run"):
        Checkpoints(tmp_path / "blocks", {"alpha": 2})


def test_a_system_without_file_locks_is_one_error(tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *arguments):
        if name == "fcntl":
            raise ImportError(name)
        return real(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError):
        Checkpoints(tmp_path / "blocks", {})


def test_a_disk_without_file_locks_is_one_error(tmp_path, monkeypatch):
    def refused(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", refused)
    with pytest.raises(InputError):
        Checkpoints(tmp_path / "blocks", {})


@pytest.mark.parametrize("kind", ["counts", "scan"])
def test_a_flipped_bit_in_a_block_is_noticed_on_resuming(tmp_path, kind):
    run = RunConfig(checkpoints=tmp_path / "blocks", sample_tokens=1500, block_bytes=1, memory=10**12)
    files, model, method = corpus_files(tmp_path), small_model(), Paper(states=6)
    extract(model, files, method, run=run)
    path = min((tmp_path / "blocks").glob(f"{kind}-*.block"))
    blob = bytearray(path.read_bytes())
    blob[-9] ^= 4
    path.write_bytes(blob)
    with raises("damaged"):
        extract(model, files, method, run=run)
