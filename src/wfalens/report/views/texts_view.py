"""Texts by their labels and by the classes of network and automaton, their problems, and sentences to pick from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import UNDECIDED
from wfalens.models.inference import last_outputs, output_traces
from wfalens.report.study import Study, records, short
from wfalens.text.word_checks import find_mojibake

_MOST = 100  # problems of a sort
_CHARACTERS = 1_500_000  # of all texts that are carried; each is whole, so that it can be opened


def texts(study: Study, *, most: int = 3000) -> dict[str, Any]:
    """A table of texts, the confusions among truth, network and automaton, and lists of problems: all on one sample.

    A row of the table: the text, label, network, automaton, and how sure network and automaton are.
    """
    wfa = study.wfa
    corpus = study.texts.relabelled(wfa.class_names).sample(most, study.seed)
    total = np.cumsum([len(text) for text in corpus.texts])
    if total[-1] > _CHARACTERS:
        corpus = corpus.sample(max(1, int(np.searchsorted(total, _CHARACTERS))), study.seed)
    worded, ids = wfa.encoder.encode(corpus.texts).nonempty()
    shown, truth = [corpus.texts[at] for at in worded], None if corpus.labels is None else corpus.labels[worded]
    network = None if study.model is None else last_outputs(study.model, ids).astype(np.float64)
    predicted = None if network is None else network.argmax(1)
    weights = wfa.prediction_weights(ids)
    automaton, nothing = wfa.decide(weights), [None] * len(shown)
    columns: list[Sequence[Any]] = [
        shown,
        nothing if truth is None else truth.tolist(),
        nothing if predicted is None else predicted.tolist(),
        automaton.tolist(),
        nothing if network is None else short(network.max(1), 3),
        short(wfa.probabilities(weights).max(1), 3),
    ]
    return {
        "corpus": study.texts.name,
        "of": len(study.texts),
        "class_names": list(wfa.class_names),
        "rows": [list(row) for row in zip(*columns, strict=True)],
        "confusions": {
            "network": confusion(truth, predicted, len(wfa.class_names)),
            "automaton": confusion(predicted, automaton, len(wfa.class_names)),
        },
        "problems": {"mistakes": surest_mistakes(truth, network), "broken": broken_texts(shown)},
    }


def confusion(
    rows: NDArray[np.int64] | None, columns: NDArray[np.int64] | None, classes: int
) -> list[list[int]] | None:
    """How many texts are of one class by the first and of another by the second; the last column is undecided.

    (texts,), (texts,) -> (classes, classes + 1); None where one of them is not known
    """
    if rows is None or columns is None:
        return None
    table = np.zeros((classes, classes + 1), np.int64)
    np.add.at(table, (rows, np.where(columns == UNDECIDED, classes, columns)), 1)
    counts: list[list[int]] = table.tolist()
    return counts


def surest_mistakes(
    truth: NDArray[np.int64] | None, outputs: NDArray[np.float64] | None
) -> list[dict[str, Any]] | None:
    """The network's mistakes, those with the highest probability first; None without labels or network.

    truth: (texts,), outputs: (texts, classes)
    """
    if truth is None or outputs is None:
        return None
    wrong = np.flatnonzero(outputs.argmax(1) != truth)
    order = wrong[np.argsort(-outputs[wrong].max(1), kind="stable")][:_MOST]
    return records(
        text=order.tolist(),
        label=truth[order].tolist(),
        predicted=outputs[order].argmax(1).tolist(),
        probability=short(outputs[order].max(1), 3),
    )


def broken_texts(texts: Sequence[str]) -> list[dict[str, Any]]:
    """Texts with control characters, broken encodings or left-over markup, the most damaged first."""
    found = []
    for at, text in enumerate(texts):
        kinds = Counter(kind for kind in map(find_mojibake, text.split()) if kind is not None)
        if kinds:
            found.append({"text": at, "words": kinds.total(), "kinds": ", ".join(sorted(kinds))})
    return sorted(found, key=lambda each: -int(str(each["words"])))[:_MOST]


def sentences(study: Study, each: int = 100) -> dict[str, Any]:
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
