"""Texts as the truth, the network and the automaton see them, and what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import UNDECIDED
from wfalens.models.inference import last_outputs
from wfalens.ragged import Ragged
from wfalens.report.study import Study, short
from wfalens.report.views import problems

_SHOWN_CHARACTERS = 300  # of a text


@dataclass(frozen=True, eq=False)
class ReadTexts:
    """A sample of the texts and what was said of each; -1 stands for undecided, and for no label."""

    texts: tuple[str, ...]
    ids: Ragged[np.int32]
    truth: NDArray[np.int64] | None  # (texts,)
    network: NDArray[np.float64] | None  # (texts, classes): its output
    automaton: NDArray[np.int64]  # (texts,)
    confidence: NDArray[np.float64]  # (texts,): the automaton's

    @property
    def said(self) -> NDArray[np.int64] | None:
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
    said = read.said
    parted = problems.partings(study, read.ids, said, read.automaton)
    return {
        "corpus": study.texts.name,
        "of": len(study.texts),
        "class_names": list(study.wfa.class_names),
        "rows": _rows(read),
        "confusions": {
            "network": None if read.truth is None or said is None else confusion(read.truth, said, classes),
            "automaton": None if said is None else confusion(said, read.automaton, classes),
        },
        "problems": {
            "label_errors": problems.label_errors(read.truth, read.network),
            "words": problems.artefact_words(study, read.ids, read.truth),
            "phrases": problems.misleading_phrases(study, read.texts, read.truth),
            "broken": problems.broken_texts(read.texts),
            "partings": None if parted is None else parted[: problems.MOST],
        },
        "parting_kinds": problems.parting_kinds(parted or []),
    }


def confusion(rows: NDArray[np.int64], columns: NDArray[np.int64], classes: int) -> list[list[int]]:
    """How many texts are of one class by the first and of another by the second; the last column is undecided.

    (texts,), (texts,) -> (classes, classes + 1)
    """
    table = np.zeros((classes, classes + 1), np.int64)
    np.add.at(table, (rows, np.where(columns == UNDECIDED, classes, columns)), 1)
    return [[int(count) for count in row] for row in table]


def _rows(read: ReadTexts) -> list[list[Any]]:
    """Per text: what it says, truth, network, automaton, and how sure network and automaton are."""
    said = read.said
    return [
        [
            text[:_SHOWN_CHARACTERS],
            None if read.truth is None else int(read.truth[at]),
            None if said is None else int(said[at]),
            int(read.automaton[at]),
            None if read.network is None else short(read.network[at].max(), 3),
            short(read.confidence[at], 3),
        ]
        for at, text in enumerate(read.texts)
    ]
