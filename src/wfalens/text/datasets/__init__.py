"""Data sets by name, bundled or generated; `catalogue` loads them."""

import tomllib
from importlib.resources import files
from typing import Any

NAMES = ("rotten_tomatoes", "imdb", "tagmynews", "jigsaw_toxic", "clickbait", "newsroom", "opinions")


def read_words(name: str) -> dict[str, Any]:
    """The words of a generated data set, by their role."""
    words: dict[str, Any] = tomllib.loads(files(__package__).joinpath("words.toml").read_text("utf-8"))[name]
    return words
