"""What tests of the command line share."""

import errno
import os
from pathlib import Path

import pytest

from tests.readable import negation


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
def workshop(tmp_path_factory, news_model, headlines, test_headlines, newsroom_model, newsroom_wfa):
    """A folder with a network, automata and texts; commands write into it under names of their own."""
    folder = tmp_path_factory.mktemp("workshop")
    newsroom_model.save(folder / "news.rnn")
    news_model.save(folder / "small.rnn")
    newsroom_wfa.save(folder / "news.wfa")
    negation().wfa.save(folder / "readable.wfa")
    for name, corpus, rows in (("train", headlines, 600), ("test", test_headlines, 150)):
        write_csv(folder / f"{name}.csv", corpus, rows)
    return folder


@pytest.fixture(scope="session")
def flaw_files(tmp_path_factory, flaw):
    """A folder with a network that has a planted flaw, its automaton and its texts."""
    folder = tmp_path_factory.mktemp("flaw")
    flaw.model.save(folder / "flaw.rnn")
    flaw.wfa.save(folder / "flaw.wfa")
    write_csv(folder / "train.csv", flaw.train)
    write_csv(folder / "slice.csv", flaw.slice)
    return folder


def write_csv(path, corpus, rows=None):
    lines = [f"{text},{corpus.class_names[corpus.labels[row]]}" for row, text in enumerate(corpus.texts[:rows])]
    path.write_text("\n".join(["text,label", *lines]) + "\n")
