"""What is likely wrong with a training set: labels that all readers contradict, words that decide unduly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wfalens.automaton.wfa import WFA
from wfalens.evaluation.baselines import cross_fitted_bag_of_words
from wfalens.explanation.influence import influence
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.repair.blame import with_labels
from wfalens.text.corpus import Corpus
from wfalens.text.similar_words import Nearness
from wfalens.text.vocabulary import UNKNOWN

_LEAST = 1e-6  # probability
_FEWEST = 10  # training texts that hold a word, below which it is not called spurious
_NEAR = 3  # near words below which nothing is said of a word


@dataclass(frozen=True)
class LabelSuspect:
    """A training text whose label is likely wrong."""

    row: int
    text: str
    label: str
    likelier: str
    doubt: float  # mean log-odds of the likelier class against the label, by network, automata and a bag of words


@dataclass(frozen=True)
class SpuriousWord:
    """A word that speaks for a class although words of like meaning do not."""

    word: str
    class_name: str
    influence: float
    near_influence: float  # the mean of near words
    texts: int  # training texts that hold it
    share: float  # of them, those of the class


def label_suspects(wfa: WFA, model: PrefixClassifier, train: Corpus) -> list[LabelSuspect]:
    """Training texts whose label is doubted in the mean of all readers, the most doubtful first.

    The network may have learned a wrong label by heart. An automaton with few states cannot, and a bag of words that is
    fitted to the other texts has not seen it.
    """
    train = with_labels(train, wfa.class_names)
    worded, ids = wfa.encoder.encode(train.texts).nonempty()
    assert train.labels is not None  # noqa: S101 - checked above
    labels = train.labels[worded]
    readers = [final_outputs(model, ids), wfa.predict_proba(ids)]
    if wfa.attached_readable is not None:
        readers.append(wfa.attached_readable.predict_proba(ids))
    given = np.eye(len(wfa.class_names))[labels]
    others = cross_fitted_bag_of_words(ids, given, len(wfa.encoder.vocabulary))
    if others is not None:
        readers.append(others)
    logs = np.mean([np.log(np.maximum(outputs, _LEAST)) for outputs in readers], axis=0)
    likelier = logs.argmax(1)
    each = np.arange(len(labels))
    doubt = logs[each, likelier] - logs[each, labels]
    order = np.argsort(-doubt, kind="stable")
    return [
        LabelSuspect(
            int(worded[at]),
            train.texts[int(worded[at])],
            wfa.class_names[labels[at]],
            wfa.class_names[likelier[at]],
            float(doubt[at]),
        )
        for at in order[doubt[order] > 0].tolist()
    ]


def spurious_words(wfa: WFA, train: Corpus, nearness: Nearness, top: int = 20) -> list[SpuriousWord]:
    """Words whose influence on a class exceeds that of near words most, and which the training set teaches."""
    train = with_labels(train, wfa.class_names)
    assert train.labels is not None  # noqa: S101 - checked above
    scores = influence(wfa, min_count=_FEWEST)
    row_of = {word: row for row, word in enumerate(scores.words)}
    pairs = nearness.pairs([word for word in scores.words if word in nearness])
    near: dict[str, list[int]] = {}
    for first, second in zip(pairs.first, pairs.second, strict=True):
        other = row_of.get(nearness.words[int(second)])
        if other is not None:
            near.setdefault(nearness.words[int(first)], []).append(other)
    ids = wfa.encoder.encode(train.texts)
    text_of = ids.item_of_value()
    found = []
    for word, others in near.items():
        if len(others) < _NEAR:
            continue
        own, usual = scores.scores[row_of[word]], scores.scores[others].mean(0)
        best = int((own - usual).argmax())
        found.append((float(own[best] - usual[best]), word, best, float(own[best]), float(usual[best])))
    result = []
    for _, word, best, own_score, usual_score in sorted(found, reverse=True):
        number = wfa.encoder.vocabulary.id_of(word)
        if number == UNKNOWN:
            continue
        texts = np.unique(text_of[ids.values == number])
        if len(texts) < _FEWEST:
            continue
        share = float((train.labels[texts] == best).mean())
        result.append(SpuriousWord(word, wfa.class_names[best], own_score, usual_score, len(texts), share))
        if len(result) == top:
            break
    return result
