"""Files are written whole or not at all, and what dead processes left is cleaned up."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from wfalens import storage
from wfalens.errors import InputError
from wfalens.storage import check_writable, write_atomically

KILLED = """
import os, signal, sys
from pathlib import Path
from wfalens.storage import write_atomically
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
write_atomically(Path(sys.argv[1]), b"half")
"""


def killed_writer(path):
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_killed_writer_leaves_the_old_file_and_the_next_write_cleans_up(tmp_path):
    write_atomically(tmp_path / "a.wfa", b"old")
    killed_writer(tmp_path / "a.wfa")
    left = [name for name in names(tmp_path) if name != "a.wfa"]
    assert len(left) == 1
    assert (tmp_path / "a.wfa").read_bytes() == b"old"
    write_atomically(tmp_path / "a.wfa", b"new")
    assert names(tmp_path) == ["a.wfa"]
    assert (tmp_path / "a.wfa").read_bytes() == b"new"


def test_only_files_of_that_name_and_of_dead_processes_are_removed(tmp_path, monkeypatch):
    killed_writer(tmp_path / "b.wfa")
    alive = tmp_path / storage._temporary(tmp_path / "a.wfa").name
    monkeypatch.setattr(storage, "_machine", lambda: "00000000")
    elsewhere = tmp_path / storage._temporary(tmp_path / "a.wfa").name.replace(f"-{os.getpid()}", "-999999999")
    monkeypatch.undo()
    strange = [tmp_path / name for name in (".a.wfa.part", ".a.wfa.1234abcd.part", "a.wfa.part")]
    for path in (alive, elsewhere, *strange):
        path.write_bytes(b"")
    before = names(tmp_path)
    write_atomically(tmp_path / "a.wfa", b"new")
    assert names(tmp_path) == sorted([*before, "a.wfa"])


def test_names_are_taken_literally(tmp_path):
    killed_writer(tmp_path / "[ab].wfa")
    killed_writer(tmp_path / "a.wfa")
    write_atomically(tmp_path / "[ab].wfa", b"")
    assert [name for name in names(tmp_path) if name.startswith(".")] == [
        name for name in names(tmp_path) if name.startswith(".a.wfa.")
    ]


def test_a_file_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    for write in (check_writable, lambda path: write_atomically(path, b"")):
        with pytest.raises(InputError, match=r"cannot write .*file/a\.wfa: Not a directory"):
            write(tmp_path / "file" / "a.wfa")
        with pytest.raises(InputError, match="File name too long"):
            write(tmp_path / ("x" * 250))
    assert names(tmp_path) == ["file"]


def test_a_check_leaves_nothing_behind(tmp_path):
    check_writable(tmp_path / "a.wfa")
    assert names(tmp_path) == []


def test_a_write_that_is_stopped_leaves_nothing_behind(tmp_path, monkeypatch):
    def stops(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", stops)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(Path(tmp_path / "a.wfa"), b"x")
    assert names(tmp_path) == []


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path):
    path = tmp_path / "secret.wfa"
    write_atomically(path, b"old")
    path.chmod(0o600)
    write_atomically(path, b"new")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o600)


@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_stays_and_its_file_is_written(tmp_path, is_there):
    (tmp_path / "else").mkdir()
    target, link = tmp_path / "else" / "real.wfa", tmp_path / "link.wfa"
    if is_there:
        target.write_bytes(b"old")
    link.symlink_to(target)
    check_writable(link)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert (target.read_bytes(), len(list((tmp_path / "else").iterdir()))) == (b"new", 1)


def test_links_in_a_circle_are_one_sentence(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(InputError):
        write_atomically(tmp_path / "a", b"new")
