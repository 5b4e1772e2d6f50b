"""Pairs of words that act alike but differ in meaning, or the other way round, and sentences that show it."""

from __future__ import annotations

from typing import Any

import numpy as np

from wfalens.errors import InputError
from wfalens.explanation.contrast import adversarial_pairs, collaborative_pairs
from wfalens.explanation.pairs import Pairs
from wfalens.inspection.study import Study, short
from wfalens.progress import SILENT, Progress
from wfalens.ragged import Ragged

_FINDERS = {
    "adversarial": (adversarial_pairs, "q0.001", "q0.5"),
    "collaborative": (collaborative_pairs, "q0.01", "q0.5"),
}
_SWAPPED_TEXTS = 200
_SHOWN_TEXTS = 5


def contrast(study: Study, *, per_class: int = 12, progress: Progress = SILENT) -> dict[str, Any]:
    """Both kinds of pairs, bounds by quantiles of the distances over random pairs."""
    found = {
        kind: find(
            study.wfa, study.meanings, low, high, per_class=per_class, min_count=study.usual_count, progress=progress
        )
        for kind, (find, low, high) in _FINDERS.items()
    }
    return {
        "class_names": list(study.wfa.class_names),
        "unit": study.wfa.unit,
        "vectors": study.meanings.source,
        **{kind: _as_json(pairs) for kind, pairs in found.items()},
    }


def _as_json(pairs: Pairs) -> dict[str, Any]:
    return {
        "total": pairs.total,
        "words": pairs.words,
        "epsilon": round(pairs.epsilon, 6),
        "delta": round(pairs.delta, 6),
        "pairs": [
            {
                "first": pair.first,
                "second": pair.second,
                "d_T": round(pair.transition_distance, 5),
                "d_S": round(pair.semantic_distance, 5),
                "first_influence": short(pair.first_influence, 3),
                "second_influence": short(pair.second_influence, 3),
            }
            for pair in pairs.pairs
        ],
    }


def swaps(study: Study, first: str, second: str) -> dict[str, Any]:
    """Texts that hold `first`: how often replacing it by `second` changes the model's class, and examples."""
    vocabulary, model = study.wfa.encoder.vocabulary, study.classifier
    for word in (first, second):
        if word not in vocabulary:
            raise InputError(f"the automaton does not know the word {word!r}")
    old, new = vocabulary.id_of(first), vocabulary.id_of(second)
    rows = study.texts_with(old, _SWAPPED_TEXTS)
    if not rows:
        return {"first": first, "second": second, "texts": 0, "changed": 0, "examples": []}
    before = study.encoded.take(np.array(rows, np.int64))
    after = Ragged(np.where(before.values == old, np.int32(new), before.values), before.offsets)
    was, became = (model.trace(ids).last() for ids in (before, after))
    changed = np.flatnonzero(was.argmax(1) != became.argmax(1))
    names = study.wfa.class_names
    return {
        "first": first,
        "second": second,
        "texts": len(rows),
        "changed": len(changed),
        "examples": [
            {
                "words": [vocabulary.words[word] for word in before[at]],
                "at": np.flatnonzero(before[at] == old).tolist(),
                "before": names[int(was[at].argmax())],
                "before_probability": round(float(was[at].max()), 3),
                "after": names[int(became[at].argmax())],
                "after_probability": round(float(became[at].max()), 3),
            }
            for at in changed[:_SHOWN_TEXTS]
        ],
    }
