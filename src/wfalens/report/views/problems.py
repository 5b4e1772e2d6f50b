"""What is wrong with texts, phrases and rows; every list is worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.walk import row_kinds
from wfalens.explanation.phrases import deciding_phrases
from wfalens.models.inference import output_traces
from wfalens.ragged import Ragged
from wfalens.report.study import Study, records, short
from wfalens.text.corpus import Corpus
from wfalens.text.word_checks import find_mojibake

MOST = 100  # entries of a list
_LEAST_TEXTS = 10  # with a word or a phrase, before its labels count
_MISLED = 0.1  # by which the network must follow a phrase more often than the truth does
_TRACED = 1000  # disagreeing texts that are read word by word


def surest_mistakes(
    truth: NDArray[np.int64] | None, outputs: NDArray[np.float64] | None
) -> list[dict[str, Any]] | None:
    """The network's mistakes, those with the highest probability first; None without labels or network.

    truth: (texts,), outputs: (texts, classes)
    """
    if truth is None or outputs is None:
        return None
    wrong = np.flatnonzero(outputs.argmax(1) != truth)
    order = wrong[np.argsort(-outputs[wrong].max(1), kind="stable")][:MOST]
    return records(
        text=order.tolist(),
        label=truth[order].tolist(),
        predicted=outputs[order].argmax(1).tolist(),
        probability=short(outputs[order].max(1), 3),
    )


def misleading_phrases(
    study: Study, texts: tuple[str, ...], truth: NDArray[np.int64] | None
) -> list[dict[str, Any]] | None:
    """Phrases that decide for a class more often than the truth does; None without labels or network."""
    if truth is None or study.model is None:
        return None
    corpus = Corpus(texts, truth, study.wfa.class_names, study.texts.name)
    found = deciding_phrases(study.wfa, corpus, study.model, min_support=_LEAST_TEXTS, longest=3)
    if found.true_hits is None or len(found) == 0:
        return []
    excess = found.hits - found.true_hits
    worst = np.argsort(-excess, kind="stable")[:MOST]
    return [
        {
            "phrase": found.phrases[at],
            "class": found.class_names[found.labels[at]],
            "texts": int(found.support[at]),
            "network": int(found.hits[at]),
            "truth": int(found.true_hits[at]),
        }
        for at in worst
        if excess[at] / found.support[at] >= _MISLED
    ]


def broken_texts(texts: Sequence[str]) -> list[dict[str, Any]]:
    """Texts with control characters, broken encodings or left-over markup, the most damaged first."""
    found = []
    for at, text in enumerate(texts):
        kinds = Counter(kind for kind in map(find_mojibake, text.split()) if kind is not None)
        if kinds:
            found.append({"text": at, "words": kinds.total(), "kinds": ", ".join(sorted(kinds))})
    return sorted(found, key=lambda each: -int(str(each["words"])))[:MOST]


def disagreements(
    study: Study, ids: Ragged[np.int32], predicted: NDArray[np.int64] | None, automaton: NDArray[np.int64]
) -> list[dict[str, Any]] | None:
    """The rows (a word, in a state) that cause most disagreement; None without the network.

    A text on which automaton and network end with different classes counts for the word after which they never agree
    again. predicted, automaton: (texts,)
    """
    if predicted is None:
        return None
    lost = np.flatnonzero(predicted != automaton)[:_TRACED]
    if len(lost) == 0:
        return []
    wfa, part = study.wfa, ids.take(lost)
    vectors = wfa.state_vectors(part, every=True)
    agree = output_traces(study.classifier, part).values.argmax(1) == wfa.decide(wfa.read_out(vectors))
    after = [int(np.flatnonzero(row)[-1]) + 1 if row.any() else 0 for row in Ragged(agree, part.offsets)]
    places = part.offsets[:-1] + np.array(after, np.int64)
    first = np.isin(places, part.offsets[:-1])
    before = np.where(first[:, None], wfa.initial, vectors[np.maximum(places - 1, 0)])
    kinds = row_kinds(wfa.row_shares(part.values[places], before))
    names_states = wfa.unit == "probability"
    states = before.argmax(1).tolist() if names_states else [None] * len(places)
    counted = Counter(zip(part.values[places].tolist(), states, kinds, strict=True))
    return [
        {
            "word": wfa.encoder.vocabulary.words[word],
            "state": state,
            "says": short(wfa.read_out(np.eye(wfa.states)[[state]])[0]) if names_states else None,
            "row": kind,
            "lost": number,
        }
        for (word, state, kind), number in counted.most_common()
    ]


def disagreement_rows(found: list[dict[str, Any]]) -> dict[str, int]:
    """Texts on which automaton and network disagree by the kind of row at the deciding word, the most first."""
    counted: Counter[str] = Counter()
    for each in found:
        counted[each["row"]] += each["lost"]
    return dict(counted.most_common())
