"""The texts that an automaton was extracted from, found again, so that a bag of words can be fitted on them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.messages import printable, shortened
from wfalens.text.corpus import Corpus
from wfalens.text.datasets.catalogue import DATASETS, data_folder, is_available, load_dataset
from wfalens.text.files import read_corpus

_MOST_TEXTS = 30_000  # that the bag of words is fitted on; more only cost time
_MOST_READ = 1_000_000  # texts of a corpus that is read for this


def find_extraction_texts(
    wfa: WFA,
    folders: Sequence[Path] = (),
    *,
    data: str | Path | None = None,
    text_column: str = "text",
    encoding: str = "utf-8",
    seed: int = 0,
) -> tuple[Corpus | None, str]:
    """The extraction texts that the provenance names, or None and the reason.

    Args:
        wfa: the automaton.
        folders: where a file of that name may be, beside the working folder and the data folder.
        data: folder of data sets.
        text_column: of files.
        encoding: of files.
        seed: of the sample, where there are very many texts.
    """
    made_from = wfa.provenance.get("corpus")
    name = made_from.get("name") if isinstance(made_from, dict) else None
    if not isinstance(made_from, dict) or not isinstance(name, str) or not name:
        return None, "the automaton does not name its extraction texts"
    shown, texts, tokens = shortened(printable(name)), made_from.get("texts"), made_from.get("tokens")
    if set("/\\") & set(name) or name in (".", ".."):  # who wrote the automaton does not choose files to open
        return None, f"{shown}, the texts of the extraction, is not a plain file name"
    if type(texts) is not int or texts > _MOST_READ:
        return None, f"{shown} has too many texts to read them again"
    folder = None if data is None else Path(data)
    dataset, _, split = name.partition(":")
    try:
        if dataset in DATASETS:
            corpus = load_dataset(dataset, split or "train", folder) if is_available(dataset, folder) else None
        else:
            path = _existing(name, (*folders, Path(), data_folder(folder)))
            corpus = (
                None if path is None else read_corpus(path, text_column=text_column, encoding=encoding, labels=False)
            )
    except InputError as error:
        return None, f"{shown} cannot be read ({error})"
    if corpus is None:
        return None, f"{shown}, the texts of the extraction, is not here"
    _, ids = wfa.encoder.encode(corpus.texts).nonempty()
    if (len(ids), len(ids.values)) != (texts, tokens):
        now = f"{len(ids)} texts with {len(ids.values)} words"
        return None, f"{shown} has changed since the extraction (it has {now} now)"
    return corpus.sample(_MOST_TEXTS, seed), ""


def _existing(name: str, folders: Sequence[Path | None]) -> Path | None:
    places = (folder / name for folder in folders if folder is not None)
    return next((place for place in places if place.is_file() or place.is_dir()), None)
