"""What tests of the command line share."""

import errno
import os
from pathlib import Path

import pytest

from tests.cli.test_commands import SMALL, wfalens


@pytest.fixture
def make_read_only(monkeypatch):
    """Makes a folder one into which nobody can write, not even root, for whom permissions do not count."""
    real, folders = Path.open, []

    def opened(self, mode="r", *arguments, **options):
        if set(mode) & set("wxa") and self.absolute().parent in folders:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(self))
        return real(self, mode, *arguments, **options)

    monkeypatch.setattr(Path, "open", opened)
    return folders.append


@pytest.fixture(scope="session")
def small_network(once):
    """A folder with news.rnn, trained on newsroom, and trained.json, what the command has said."""

    def train(folder):
        folder.mkdir()
        done = wfalens("train", "--corpus", "newsroom", "--out", "news.rnn", *SMALL, "--json", cwd=folder)
        assert done.returncode == 0, done.stderr
        (folder / "trained.json").write_text(done.stdout)

    return once("small-network", train)
