"""Published networks that come in wheels (extra `zoo`): where they lie, how they read, and texts for them.

Three Keras LSTMs of the package ethnicolr guess a group from character bigrams of a name; a Keras network of dgaintel
tells domains that an algorithm made from others. What they say about names is a property of these models, which are
objects of study here. The packages themselves are not imported: they want TensorFlow.
"""

import csv
import importlib.util
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wfalens.models import PrefixClassifier, Preprocessing, wrap
from wfalens.text import Corpus, load_dataset
from wfalens.text.vocabulary import read_word_list

PUBLISHED = ("census", "wiki", "florida", "dgaintel")
PACKAGES = {"census": "ethnicolr", "wiki": "ethnicolr", "florida": "ethnicolr", "dgaintel": "dgaintel"}
_FILES = {
    "census": ("census/lstm", "census2010_ln_lstm.h5", "census2010_ln_vocab.csv", "census2010_race.csv"),
    "wiki": ("wiki/lstm", "wiki_name_lstm.h5", "wiki_name_vocab.csv", "wiki_name_race.csv"),
    "florida": ("fl_voter_reg/lstm", "fl_all_name_lstm.h5", "fl_all_name_vocab.csv", "fl_name_race.csv"),
}
_DOMAIN_LETTERS = "-.0123456789_abcdefghijklmnopqrstuvwxyz"
_ENDINGS = (".com", ".net", ".org", ".info", ".biz", ".ru", ".co")


@dataclass(frozen=True)
class Published:
    """A network as its package reads it."""

    path: Path
    card: Preprocessing

    def open(self) -> PrefixClassifier:
        return wrap(self.path, preprocessing=self.card)


def folder_of(package: str) -> Path | None:
    """Where an installed package lies, without importing it."""
    found = importlib.util.find_spec(package)
    return None if found is None or found.origin is None else Path(found.origin).parent


def is_installed(name: str) -> bool:
    return folder_of(PACKAGES[name]) is not None


def published(name: str) -> Published:
    folder = folder_of(PACKAGES[name])
    if name == "dgaintel":
        card = Preprocessing(
            words=tuple(_DOMAIN_LETTERS),
            class_names=("genuine", "generated"),
            unknown=None,
            closed=True,
            padding="-",
            padding_side="right",
            tokenizer="lower+characters",
        )
        return Published(folder / "domain_classifier_model.h5", card)
    place, *files = _FILES[name]
    network, words, classes = (folder / "models" / place / file for file in files)
    card = Preprocessing(
        words=read_word_list(words),
        class_names=read_word_list(classes),
        unknown="UNK",
        padding="UNK",
        padding_side="left",
        truncation_side="left",
        tokenizer="strip+title+bigrams",
    )
    return Published(network, card)


def published_texts(name: str, train: int, test: int, seed: int = 0) -> tuple[Corpus, Corpus]:
    """Texts to extract on, and others to test on."""
    texts, labels = {"dgaintel": _domains, "census": _surnames}.get(name, _full_names)()
    order = np.random.default_rng(seed).permutation(len(texts))[: train + test]
    chosen = [[texts[item] for item in part] for part in (order[:train], order[train:])]
    known = [None if labels is None else [labels[item] for item in part] for part in (order[:train], order[train:])]
    return tuple(Corpus.of(*part, name=name) for part in zip(chosen, known, strict=True))


def _rows(file: str) -> list[dict[str, str]]:
    with (folder_of("ethnicolr") / "data" / file).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def _surnames() -> tuple[list[str], None]:
    return [row["name"] for row in _rows("census/census_2010.csv") if len(row["name"]) > 1], None


def _full_names() -> tuple[list[str], list[str]]:
    """Last name and first name, as the packages join them, with the group that Wikipedia gives."""
    rows = [row for row in _rows("wiki/wiki_name_race.csv") if row["name_last"] and row["name_first"]]
    return [f"{row['name_last']} {row['name_first']}" for row in rows], [row["race"] for row in rows]


def _domains() -> tuple[list[str], list[str]]:
    """Domains of one or two English words, and others of random letters, digits, or syllables."""
    rng = np.random.default_rng(0)
    known = sorted({word for text in load_dataset("rotten_tomatoes", "train").texts for word in text.split()})
    words = np.array([word for word in known if 3 <= len(word) <= 10 and word.isascii() and word.isalpha()])
    made = {f"{''.join(rng.choice(words, rng.integers(1, 3)))}{rng.choice(_ENDINGS)}" for _ in range(20_000)}
    spelled = ("abcdefghijklmnopqrstuvwxyz", "0123456789abcdef", "bcdfghjklmnpqrstvwxz")
    alphabets = [np.array(list(letters)) for letters in spelled]
    drawn = {
        "".join(rng.choice(alphabets[rng.integers(3)], rng.integers(8, 24))) + rng.choice(_ENDINGS)
        for _ in range(14_000)
    }
    syllables = {
        "".join(rng.choice(list("bcdfgklmnprstvz")) + rng.choice(list("aeiou")) for _ in range(rng.integers(3, 8)))
        + rng.choice(_ENDINGS)
        for _ in range(6_000)
    }
    genuine, generated = sorted(made), sorted((drawn | syllables) - made)
    return genuine + generated, ["genuine"] * len(genuine) + ["generated"] * len(generated)
