"""A network that the command line has trained, once for all tests."""

import pytest

from tests.cli.test_commands import SMALL, wfalens


@pytest.fixture(scope="session")
def small_network(once):
    """A folder with news.rnn, trained on newsroom, and trained.json, what the command has said."""

    def train(folder):
        folder.mkdir()
        done = wfalens("train", "--corpus", "newsroom", "--out", "news.rnn", *SMALL, "--json", cwd=folder)
        assert done.returncode == 0, done.stderr
        (folder / "trained.json").write_text(done.stdout)

    return once("small-network", train)
