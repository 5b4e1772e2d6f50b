"""Texts by their labels and by the classes of network and automaton, their problems, and sentences to pick from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import UNDECIDED
from wfalens.models.inference import last_outputs, output_traces
from wfalens.ragged import Ragged
from wfalens.report.study import Study, short
from wfalens.report.views import problems

_SHOWN_CHARACTERS = 300  # of a text


@dataclass(frozen=True, eq=False)
class ReadTexts:
    """A sample of the texts with their classes; -1 stands for undecided, and for no label."""

    texts: tuple[str, ...]
    ids: Ragged[np.int32]
    truth: NDArray[np.int64] | None  # (texts,)
    network: NDArray[np.float64] | None  # (texts, classes): its output
    automaton: NDArray[np.int64]  # (texts,)
    confidence: NDArray[np.float64]  # (texts,): the automaton's

    @property
    def predicted(self) -> NDArray[np.int64] | None:
        """The network's class; (texts,)"""
        return None if self.network is None else self.network.argmax(1)

    @classmethod
    def of(
        cls,
        study: Study,
        most: int,
    ) -> ReadTexts:
        corpus = study.texts.relabelled(study.wfa.class_names).sample(most, study.seed)
        worded, ids = study.wfa.encoder.encode(corpus.texts).nonempty()
        network = None if study.model is None else last_outputs(study.model, ids).astype(np.float64)
        weights = study.wfa.prediction_weights(ids)
        return cls(
            tuple(corpus.texts[at] for at in worded),
            ids,
            None if corpus.labels is None else corpus.labels[worded],
            network,
            study.wfa.decide(weights),
            study.wfa.probabilities(weights).max(1),
        )


def texts(
    study: Study,
    *,
    most: int = 3000,
) -> dict[str, Any]:
    """A table of texts, the confusions among truth, network and automaton, and lists of problems: all on one sample."""
    read = ReadTexts.of(study, most)
    classes = len(study.wfa.class_names)
    predicted = read.predicted
    disagreements = problems.disagreements(study, read.ids, predicted, read.automaton)
    return {
        "corpus": study.texts.name,
        "of": len(study.texts),
        "class_names": list(study.wfa.class_names),
        "rows": _rows(read),
        "confusions": {
            "network": None if read.truth is None or predicted is None else confusion(read.truth, predicted, classes),
            "automaton": None if predicted is None else confusion(predicted, read.automaton, classes),
        },
        "problems": {
            "label_errors": problems.label_errors(read.truth, read.network),
            "words": problems.artefact_words(study, read.ids, read.truth),
            "phrases": problems.misleading_phrases(study, read.texts, read.truth),
            "broken": problems.broken_texts(read.texts),
            "disagreements": None if disagreements is None else disagreements[: problems.MOST],
        },
        "disagreement_rows": problems.disagreement_rows(disagreements or []),
    }


def confusion(rows: NDArray[np.int64], columns: NDArray[np.int64], classes: int) -> list[list[int]]:
    """How many texts are of one class by the first and of another by the second; the last column is undecided.

    (texts,), (texts,) -> (classes, classes + 1)
    """
    table = np.zeros((classes, classes + 1), np.int64)
    np.add.at(table, (rows, np.where(columns == UNDECIDED, classes, columns)), 1)
    return [[int(count) for count in row] for row in table]


def _rows(read: ReadTexts) -> list[list[Any]]:
    """Per text: the text, label, network, automaton, and how sure network and automaton are."""
    predicted = read.predicted
    return [
        [
            text[:_SHOWN_CHARACTERS],
            None if read.truth is None else int(read.truth[at]),
            None if predicted is None else int(predicted[at]),
            int(read.automaton[at]),
            None if read.network is None else short(read.network[at].max(), 3),
            short(read.confidence[at], 3),
        ]
        for at, text in enumerate(read.texts)
    ]


def sentences(
    study: Study,
    each: int = 100,
) -> dict[str, Any]:
    """Up to `each` texts of every sort from the sample, in random order; without a model none disagrees."""
    wfa, corpus = study.wfa, study.texts.relabelled(study.wfa.class_names)
    ids = study.encoded.take(study.sample)
    weights = wfa.weights(ids)
    decided, confidence = wfa.decide(weights), wfa.probabilities(weights).max(1)
    predicted = None if study.model is None else output_traces(study.model, ids).last().argmax(1)
    order = np.random.default_rng(study.seed).permutation(len(ids))
    chosen = {
        "any": order[:each],
        "disagree": order[:0] if predicted is None else order[(decided != predicted)[order]][:each],
        "unsure": np.argsort(confidence, kind="stable")[:each],
    }

    def as_json(at: int) -> dict[str, Any]:
        text = int(study.sample[at])
        return {
            "text": corpus.texts[text],
            "label": None if decided[at] < 0 else wfa.class_names[decided[at]],
            "model_label": None if predicted is None else wfa.class_names[predicted[at]],
            "truth": None if corpus.labels is None else wfa.class_names[corpus.labels[text]],
            "confidence": short(confidence[at], 3),
        }

    return {
        "corpus": corpus.name,
        "sampled": len(ids),
        "of": len(corpus),
        **{sort: [as_json(int(at)) for at in rows] for sort, rows in chosen.items()},
    }
