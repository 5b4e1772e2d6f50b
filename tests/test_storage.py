"""Files of tensors: every bit that changes is noticed, older files stay readable, and stretches are read alone."""

import io
import json
import os
import re
import struct
from pathlib import Path

import numpy as np
import pytest

from tests.files import contents, write_contents
from wfalens import storage
from wfalens.errors import FormatError, WfalensError
from wfalens.export.json_file import read_json
from wfalens.monitoring import Detector
from wfalens.robustness import read_lists, read_machine
from wfalens.scale.checkpoints import Checkpoints
from wfalens.storage import read_file, write_file
from wfalens.text.vocabulary import read_word_list

HEADER = {"texts": 3, "named": {"b": [1, 2.5], "a": "é"}}
TENSORS = {"keys": np.arange(7, dtype=np.uint16), "sums": np.ones((2, 3)), "none": np.zeros((0, 3), np.int64)}


def written(path: Path, header=HEADER, tensors=TENSORS) -> Path:
    write_file(path, "part", 1, header, tensors)
    return path


def assert_same(file):
    assert {name: file.header[name] for name in HEADER} == HEADER
    assert file.tensors.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        np.testing.assert_array_equal(file.tensors[name], tensor)
        assert file.tensors[name].dtype == tensor.dtype


def test_what_was_written_is_read(tmp_path):
    file = read_file(written(tmp_path / "a"), "part", 1)
    assert_same(file)
    assert file.header.keys() == {*HEADER, "format", "version"}


def test_equal_content_gives_equal_bytes(tmp_path):
    turned = dict(reversed(TENSORS.items())), dict(reversed(HEADER.items()))
    assert written(tmp_path / "a").read_bytes() == written(tmp_path / "b", turned[1], turned[0]).read_bytes()


def test_keys_that_are_numbers_do_not_confuse_the_checksum(tmp_path):
    file = read_file(written(tmp_path / "a", {"by_length": {10: 1, 9: 2}}), "part", 1)
    assert file.header["by_length"] == {"10": 1, "9": 2}


def test_a_flipped_bit_in_any_byte_is_noticed(tmp_path):
    blob, odd = written(tmp_path / "a").read_bytes(), tmp_path / "odd"
    for place in range(len(blob)):
        changed = bytearray(blob)
        changed[place] ^= 1 << place % 8
        odd.write_bytes(changed)
        with pytest.raises(FormatError, match="odd: ") as caught:
            read_file(odd, "part", 1)
        assert "\n" not in str(caught.value)


def damaged(path: Path, name: str) -> Path:
    """A file with one flipped bit in a tensor, and its checksums as they were."""
    blob = bytearray(path.read_bytes())
    size = struct.unpack("<Q", blob[:8])[0]
    blob[8 + size + json.loads(blob[8 : 8 + size])[name]["data_offsets"][0]] ^= 4
    path.write_bytes(blob)
    return path


def test_damage_is_noticed_in_what_is_read_and_only_there(tmp_path):
    path = damaged(written(tmp_path / "a"), "sums")
    assert read_file(path, "part", 1, ()).header["texts"] == 3
    assert list(read_file(path, "part", 1, ("keys",)).tensors) == ["keys"]
    for only in (("sums",), ("keys", "sums"), None):
        with pytest.raises(FormatError, match="the tensor 'sums' changed since the file was written"):
            read_file(path, "part", 1, only)


def test_a_file_that_was_written_without_checksums_is_read(tmp_path):
    path = written(tmp_path / "a")
    write_contents(path, *contents(path))
    assert_same(read_file(path, "part", 1))


@pytest.mark.parametrize("left_out", ["checksum", "checksums"])
def test_half_of_the_checksums_is_damage(tmp_path, left_out):
    path = written(tmp_path / "a")
    file = read_file(path, "part", 1)
    header = {**file.header, "checksum": 1, "checksums": {}}
    del header[left_out]
    with pytest.raises(FormatError, match="the header changed"):
        read_file(write_contents(path, file.tensors, header), "part", 1)


def odd_file(path: Path, dtype: str, shape: list[int], size: int) -> Path:
    """A file with one tensor of a type that numpy may not know."""
    header = {
        "keys": {"dtype": dtype, "shape": shape, "data_offsets": [0, size]},
        "__metadata__": {"wfalens": json.dumps({"format": "part", "version": 1})},
    }
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(size))
    return path


@pytest.mark.parametrize("dtype", ["F16", "BF16", "F8_E4M3", "F8_E5M2", "F8_E8M0", "C64", "BOOL"])
def test_types_that_are_never_written_are_refused_in_one_sentence(tmp_path, dtype):
    size = {"F16": 2, "BF16": 2, "C64": 8}.get(dtype, 1)
    path = odd_file(tmp_path / "odd", dtype, [4], 4 * size)
    with pytest.raises(FormatError, match=f"'keys' is of type {dtype}; known: U8, ") as caught:
        read_file(path, "part", 1)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("shape", [[1 << 40, 0], [0, 1 << 40], [1 << 63, 0], [(1 << 64) - 1, 0], [0, 3, 10_000]])
def test_an_axis_longer_than_the_file_is_refused(tmp_path, shape):
    with pytest.raises(FormatError, match="more than the file holds"):
        read_file(odd_file(tmp_path / "odd", "F64", shape, 0), "part", 1)


def test_a_damaged_checkpoint_says_what_to_do(tmp_path):
    folder = Checkpoints(tmp_path / "blocks", {"seed": 0})
    folder.write("counts-0", HEADER, TENSORS)
    damaged(folder.path / "counts-0.block", "keys")
    with pytest.raises(FormatError) as error:
        folder.read("counts-0")
    assert error.value.code == "damaged"
    folder.close()


@pytest.mark.parametrize("read", [read_machine, read_json, Detector.load, read_lists, read_word_list])
def test_what_may_have_no_end_is_not_read(tmp_path, monkeypatch, read):
    os.mkfifo(tmp_path / "some.json")
    opened = []
    monkeypatch.setattr(Path, "open", lambda *_, **__: opened.append(1) or io.StringIO("{}"))
    with pytest.raises(WfalensError):
        read(tmp_path / "some.json")
    assert opened == []


def test_nothing_is_unpickled():
    sources = Path(storage.__file__).parent.rglob("*.py")
    imports = re.compile(r"^\s*(import|from) (pickle|dill|cloudpickle|joblib)\b", re.MULTILINE)
    assert [path.name for path in sources if imports.search(path.read_text())] == []
