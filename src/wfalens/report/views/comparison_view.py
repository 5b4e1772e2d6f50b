"""What changed from an earlier automaton to this one."""

from __future__ import annotations

from typing import Any

import numpy as np

from wfalens.errors import InputError
from wfalens.report.study import Study, records, short
from wfalens.robustness.difference import TextChanges, WordChanges, compare

_TEXTS_READ = 5000
_STATES = 40
_POINTS = 300  # words of the scatter


def comparison(study: Study, *, words: int = 200, texts: int = 40) -> dict[str, Any]:
    """Both automata side by side, the words whose influence changed most, the texts that prove it, and the states.

    All figures are of one sample of the texts.
    """
    if study.other is None:
        raise InputError("there is no earlier automaton to compare with", code="nothing-to-compare")
    corpus = () if study.corpus is None else study.corpus.sample(_TEXTS_READ, study.seed)
    found = compare(study.other, study.wfa, corpus, models=study.compared_models, min_count=study.usual_count)
    summary = found.to_dict(top=_STATES)
    changed = found.words.top(words)
    return {
        "before": study.other_name,
        "after": study.name,
        "class_names": list(found.class_names),
        "texts_read": len(corpus),
        "corpus": None if study.corpus is None else study.corpus.name,
        "sides": [
            {"name": name, "kind": wfa.kind, "states": wfa.states}
            for name, wfa in ((study.other_name, study.other), (study.name, study.wfa))
        ],
        "scatter": _scatter(found.words),
        **{name: summary[name] for name in ("agreement", "fidelity", "accuracy", "states", "states_note")},
        "words": records(
            word=changed.words,
            where=changed.where.tolist(),
            counts=changed.counts.tolist(),
            change=short(changed.change),
            before=short(changed.before),
            after=short(changed.after),
        ),
        "texts": [] if found.texts is None else _texts(found.texts.top(texts)),
    }


def _scatter(words: WordChanges) -> list[list[Any]]:
    """The strongest words of either for every class: word, influence by class before, and after."""
    strength = np.maximum(np.abs(words.before), np.abs(words.after))  # (words, classes)
    order = np.argsort(-strength, axis=0, kind="stable")[: -(-_POINTS // strength.shape[1])]
    chosen = np.unique(order)
    return [[words.words[at], short(words.before[at], 3), short(words.after[at], 3)] for at in chosen]


def _texts(changes: TextChanges) -> list[dict[str, Any]]:
    truth = [None] * len(changes) if changes.truth is None else [changes.class_names[at] for at in changes.truth]
    outputs = {name: short(each) for name, each in changes.sides()}
    return records(text=changes.texts, divergence=short(changes.divergence), truth=truth, **outputs)
