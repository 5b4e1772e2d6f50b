"""What is wrong with texts, labels, words, phrases and rows; every list is worst first."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.walk import row_kinds
from wfalens.evaluation.agreement import wilson_bounds
from wfalens.explanation.artefacts import find_artefacts
from wfalens.explanation.phrases import deciding_phrases
from wfalens.models.inference import output_traces
from wfalens.ragged import Ragged
from wfalens.report.study import Study, short
from wfalens.text.corpus import Corpus
from wfalens.text.word_checks import find_mojibake

MOST = 100  # entries of a list
AGAINST = "against its labels"
_LEAST_TEXTS = 10  # with a word or a phrase, before its labels count
_STRONG = 0.9  # share of the words that a word must be stronger than
_MISLED = 0.1  # by which the network must follow a phrase more often than the truth does
_TRACED = 1000  # disagreeing texts that are read word by word


def label_errors(truth: NDArray[np.int64] | None, outputs: NDArray[np.float64] | None) -> list[dict[str, Any]] | None:
    """Likely label errors by confident learning (Northcutt et al. 2021); None without labels or network.

    A label is doubted where the network is as sure of another class as it is, on average, on texts of that class.
    truth: (texts,), outputs: (texts, classes)
    """
    if truth is None or outputs is None:
        return None
    classes = outputs.shape[1]
    sure = np.array(
        [outputs[truth == label, label].mean() if (truth == label).any() else np.inf for label in range(classes)]
    )
    above = np.where(outputs >= sure, outputs, -1.0)
    above[np.arange(len(truth)), truth] = -1.0
    other = above.argmax(1)
    gap = outputs[np.arange(len(truth)), other] - outputs[np.arange(len(truth)), truth]
    doubted = np.flatnonzero((above.max(1) >= 0) & (gap > 0))
    order = doubted[np.argsort(-gap[doubted], kind="stable")][:MOST]
    return [
        {
            "text": int(at),
            "label": int(truth[at]),
            "probable": int(other[at]),
            "of_label": short(outputs[at, truth[at]], 3),
            "of_probable": short(outputs[at, other[at]], 3),
        }
        for at in order
    ]


def artefact_words(study: Study, ids: Ragged[np.int32], truth: NDArray[np.int64] | None) -> list[dict[str, Any]]:
    """Damaged words, rare words as strong as the strongest, and strong words that contradict their labels."""
    found = [
        {
            "word": each.shown,
            "kind": each.kind,
            "count": each.count,
            "class": each.class_name,
            "by": round(each.influence, 4),
        }
        for each in find_artefacts(study.wfa, most=MOST)
    ]
    return [*found, *([] if truth is None else _against_labels(study, ids, truth))]


def _against_labels(study: Study, ids: Ragged[np.int32], truth: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Strong words whose class is rarer among the texts that hold them than among all texts, beyond doubt."""
    scores = study.influence
    words, classes = len(study.wfa.encoder.vocabulary), len(study.wfa.class_names)
    pairs = np.unique(ids.item_of_value() * words + ids.values)  # every word once per text
    text, word = pairs // words, pairs % words
    table = np.zeros((words, classes), np.int64)
    np.add.at(table, (word, truth[text]), 1)
    at_word = table[[study.wfa.encoder.vocabulary.id_of(each) for each in scores.words]]  # (influences, classes)
    label = scores.scores.argmax(1)
    hits, total = at_word[np.arange(len(label)), label], at_word.sum(1)
    base = np.bincount(truth, minlength=classes) / len(truth)
    strong = scores.strength >= np.quantile(scores.strength, _STRONG)
    chosen = np.flatnonzero(strong & (total >= _LEAST_TEXTS))
    _, high = wilson_bounds(hits[chosen], total[chosen])
    chosen = chosen[high < base[label[chosen]]]
    chosen = chosen[np.argsort(-scores.strength[chosen], kind="stable")][:MOST]
    names = study.wfa.class_names
    return [
        {
            "word": scores.words[at],
            "kind": AGAINST,
            "count": int(scores.counts[at]),
            "class": names[label[at]],
            "by": short(scores.scores[at, label[at]]),
            "labelled": f"{hits[at]} of {total[at]} texts with it are {names[label[at]]}",
        }
        for at in chosen
    ]


def misleading_phrases(
    study: Study,
    texts: tuple[str, ...],
    truth: NDArray[np.int64] | None,
) -> list[dict[str, Any]] | None:
    """Phrases that decide for a class more often than the truth does; None without labels or network."""
    if truth is None or study.model is None:
        return None
    corpus = Corpus(texts, truth, study.wfa.class_names, study.texts.name)
    found = deciding_phrases(study.wfa, corpus, study.model, min_support=_LEAST_TEXTS, longest=3)
    if found.true_hits is None or len(found) == 0:
        return []
    share, true_share = found.hits / found.support, found.true_hits / found.support
    worst = np.argsort(-(share - true_share) * found.support, kind="stable")
    return [
        {
            "phrase": found.phrases[at],
            "class": found.class_names[found.labels[at]],
            "texts": int(found.support[at]),
            "network": int(found.hits[at]),
            "truth": int(found.true_hits[at]),
        }
        for at in worst[:MOST]
        if share[at] - true_share[at] >= _MISLED
    ]


def broken_texts(texts: tuple[str, ...]) -> list[dict[str, Any]]:
    """Texts with control characters, broken encodings or left-over markup, the most damaged first."""
    found = []
    for at, text in enumerate(texts):
        kinds = Counter(kind for kind in map(find_mojibake, text.split()) if kind is not None)
        if kinds:
            found.append({"text": at, "words": kinds.total(), "kinds": ", ".join(sorted(kinds))})
    return sorted(found, key=lambda each: -int(str(each["words"])))[:MOST]


def disagreements(
    study: Study,
    ids: Ragged[np.int32],
    predicted: NDArray[np.int64] | None,
    automaton: NDArray[np.int64],
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
    part = ids.take(lost)
    theirs = output_traces(study.classifier, part).values.argmax(1)
    vectors = study.wfa.state_vectors(part, every=True)
    ours = study.wfa.decide(study.wfa.read_out(vectors))
    places = part.offsets[:-1] + _after_the_last(Ragged(theirs == ours, part.offsets))
    first = np.isin(places, part.offsets[:-1])
    before = np.where(first[:, None], study.wfa.initial, vectors[np.maximum(places - 1, 0)])
    kinds = row_kinds(study.wfa.row_shares(part.values[places], before))
    names_states = study.wfa.unit == "probability"
    states = before.argmax(1) if names_states else np.full(len(places), -1)
    counted = Counter(zip(part.values[places].tolist(), states.tolist(), kinds, strict=True))
    words = study.wfa.encoder.vocabulary.words
    return [
        {
            "word": words[word],
            "state": state if names_states else None,
            "says": short(study.wfa.read_out(np.eye(study.wfa.states)[[state]])[0]) if names_states else None,
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


def _after_the_last(agree: Ragged[np.bool_]) -> NDArray[np.int64]:
    """The position behind the last True of every text, 0 where there is none; -> (texts,)"""
    return np.array([int(np.flatnonzero(row)[-1]) + 1 if row.any() else 0 for row in agree], np.int64)
