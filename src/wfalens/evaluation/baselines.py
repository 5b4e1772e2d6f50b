"""Baselines: how often trivial copies of a model, the majority class and a bag of words, agree with it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.comparison import Agreement, agreement
from wfalens.extraction.held_out import bag_of_words, divided, fit_predict, word_counts
from wfalens.messages import printable, shortened
from wfalens.models.contract import PrefixClassifier, is_language_model
from wfalens.models.inference import jensen_shannon, last_outputs, text_outputs
from wfalens.ragged import Ragged
from wfalens.text.corpus import Corpus
from wfalens.text.datasets.catalogue import DATASETS, data_folder, is_available, load_dataset
from wfalens.text.encoder import require_words
from wfalens.text.files import read_corpus

MAJORITY, BAG_OF_WORDS = "majority class", "bag of words"
_FOLDS = 5
_FEWEST = 30  # held-out texts from which on the two rates are compared
_MOST_FITTED = 10_000  # texts that the bag of words learns from in a quick check
_MOST_TEXTS = 30_000  # that the bag of words is fitted on; more only cost time
_MOST_READ = 1_000_000  # texts of a corpus that is read for this
_MOST_NUMBERS = 100_000  # texts times classes, likewise: it shall take seconds


def measure_baselines(
    model: PrefixClassifier,
    ids: Ragged[np.int32],
    outputs: NDArray[np.float64],
    reference: Corpus | None,
    rng: np.random.Generator,
) -> dict[str, Agreement]:
    """Agreement of each baseline with the model; fitted on `reference`, else on the other fifths of the same texts."""
    words = len(model.encoder.vocabulary.words)
    if reference is None:
        predictions = {MAJORITY: majority(outputs, len(ids))}
        fitted = cross_fitted_bag_of_words(ids, outputs, words)
        if fitted is not None:
            predictions[f"{BAG_OF_WORDS} ({_FOLDS}-fold)"] = fitted
    else:
        kept, fit_ids = require_words(model.encoder.encode(reference.texts), reference.name)
        fit_outputs = text_outputs(model, reference.texts, kept, fit_ids).astype(np.float64)
        predictions = {
            MAJORITY: majority(fit_outputs, len(ids)),
            BAG_OF_WORDS: bag_of_words(fit_ids, fit_outputs, ids, words),
        }
    labels = outputs.argmax(1)
    return {
        name: agreement(predicted.argmax(1) == labels, jensen_shannon(predicted, outputs), rng)
        for name, predicted in predictions.items()
    }


def majority(outputs: NDArray[np.float64], texts: int) -> NDArray[np.float64]:
    """The model's mean output, with its most frequent class on top; outputs: (N, C) -> (texts, C)"""
    classes = outputs.shape[1]
    constant = outputs.mean(0)
    top = np.bincount(outputs.argmax(1), minlength=classes).argmax()
    if constant.argmax() != top:
        constant[top] = constant.max() * 1.001
    return np.tile(constant / constant.sum(), (texts, 1))


def cross_fitted_bag_of_words(
    ids: Ragged[np.int32], outputs: NDArray[np.float64], words: int
) -> NDArray[np.float64] | None:
    """The same where there are no other texts to fit on: each fifth is predicted from the rest.

    None if there are too few texts, or only one of some class.
    """
    from sklearn.model_selection import StratifiedKFold

    table, labels = word_counts(ids, words), outputs.argmax(1)
    smallest = np.bincount(labels)[np.unique(labels)].min()
    if len(labels) < 2 * _FOLDS or smallest < 2:
        return None
    result = np.empty(outputs.shape)
    folds = StratifiedKFold(min(_FOLDS, int(smallest)), shuffle=True, random_state=0)
    for fit, rest in folds.split(table, labels):
        result[rest] = fit_predict(table[fit], labels[fit], table[rest], outputs.shape[1])
    return result


@dataclass(frozen=True)
class BaselineCheck:
    """CR of an automaton and of a bag of words on extraction texts that were set aside."""

    texts: int
    cr: float
    bag_of_words: float

    @property
    def beats_bag_of_words(self) -> bool:
        """Whether its CR is higher; where both always agree with the model there is nothing to beat."""
        return self.cr > self.bag_of_words or self.cr == 1

    @property
    def warning(self) -> str | None:
        """One sentence, where a bag of words would do as well."""
        if self.beats_bag_of_words:
            return None
        return (
            f"on {self.texts:,} extraction texts its CR of {self.cr:.3f} does not beat that of a bag of words fitted "
            f"on the others, {self.bag_of_words:.3f}; try more time, more states or another method"
        )


def check_baseline(wfa: WFA, model: PrefixClassifier, corpus: Corpus, seed: int) -> BaselineCheck | None:
    """Compare an automaton with a bag of words fitted on the other extraction texts; None if there are too few texts
    or too many classes.

    `corpus` and `seed` are those of the extraction. The texts are those that linear and readable automata were not
    fitted to. A stochastic automaton has seen them, so it may look better than it is, never worse.
    """
    _, ids = model.encoder.encode(corpus.texts).nonempty()
    if len(ids) < 2 or is_language_model(model):  # what comes next is a matter of order: n-grams are its baselines
        return None
    held, known = divided(ids, seed)
    if len(held) < _FEWEST:
        return None
    if min(len(known), _MOST_FITTED) * len(model.class_names) > _MOST_NUMBERS:
        return None  # fitted to fewer texts, a bag of words would look worse than it is
    if len(known) > _MOST_FITTED:
        known = known.take(np.sort(np.random.default_rng(seed).permutation(len(known))[:_MOST_FITTED]))
    fit_outputs, labels = last_outputs(model, known).astype(np.float64), last_outputs(model, held).argmax(1)
    predicted = bag_of_words(known, fit_outputs, held, len(model.encoder.vocabulary)).argmax(1)
    return BaselineCheck(
        len(held), float(np.mean(wfa.predict_indices(held) == labels)), float(np.mean(predicted == labels))
    )


def find_extraction_texts(
    wfa: WFA,
    folders: Sequence[Path] = (),
    *,
    data: str | Path | None = None,
    seed: int = 0,
    **columns: Any,
) -> tuple[Corpus | None, str]:
    """The extraction texts that the provenance names, with the classes' labels if all have one; or None and the reason.

    Args:
        wfa: the automaton.
        folders: where a file of that name may be, beside the working folder and the data folder.
        data: folder of data sets.
        seed: of the sample, where there are very many texts.
        columns: how a file is read, as `read_corpus` has it: the columns of texts and labels, the encoding.
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
            corpus = None if path is None else _labelled_if_possible(path, wfa.class_names, columns)
    except InputError as error:
        return None, f"{shown} cannot be read ({error})"
    if corpus is None:
        return None, f"{shown}, the texts of the extraction, is not here"
    _, ids = wfa.encoder.encode(corpus.texts).nonempty()
    if (len(ids), len(ids.values)) != (texts, tokens):
        now = f"{len(ids)} texts with {len(ids.values)} words"
        return None, f"{shown} has changed since the extraction (it has {now} now)"
    return corpus.sample(_MOST_TEXTS, seed), ""


def _labelled_if_possible(path: Path, class_names: Sequence[str], columns: dict[str, Any]) -> Corpus:
    """The texts of a file, with its labels if all texts have one and all are among the classes."""
    with suppress(InputError):
        corpus = read_corpus(path, **columns)
        if set(corpus.class_names) <= set(class_names):
            return corpus
    return read_corpus(path, **{**columns, "label_column": None}, labels=False)


def _existing(name: str, folders: Sequence[Path | None]) -> Path | None:
    places = (folder / name for folder in folders if folder is not None)
    return next((place for place in places if place.is_file() or place.is_dir()), None)
