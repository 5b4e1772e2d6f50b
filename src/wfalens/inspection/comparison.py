"""What changed from an earlier automaton to this one."""

from __future__ import annotations

from typing import Any

from wfalens.errors import InputError
from wfalens.inspection.study import Study, short
from wfalens.progress import SILENT, Progress
from wfalens.verification.changes import TextChanges
from wfalens.verification.diff import compare

_TEXTS_READ = 5000
_STATES = 40


def comparison(study: Study, *, words: int = 200, texts: int = 40, progress: Progress = SILENT) -> dict[str, Any]:
    """The words whose influence changed most, the texts that prove it, and the states that moved."""
    if study.other is None:
        raise InputError("there is nothing to compare with; give an earlier automaton with --compare")
    corpus = () if study.corpus is None else study.corpus.sample(_TEXTS_READ, study.seed)
    found = compare(
        study.other, study.wfa, corpus, models=study.compared_models, min_count=study.usual_count, progress=progress
    )
    summary = found.to_json(top=_STATES)
    changed = found.words.top(words)
    return {
        "before": study.other_name,
        "after": study.name,
        "class_names": list(found.class_names),
        "unit": found.words.unit,
        "texts_read": len(corpus),
        **{name: summary[name] for name in ("agreement", "fidelity", "accuracy", "states", "states_note")},
        "words": [
            {"word": word, "where": where, "counts": counts, "change": change, "before": before, "after": after}
            for word, where, counts, change, before, after in zip(
                changed.words,
                changed.where,
                changed.counts.tolist(),
                short(changed.change),
                short(changed.before),
                short(changed.after),
                strict=True,
            )
        ],
        "texts": [] if found.texts is None else _as_json(found.texts.top(texts)),
    }


def _as_json(changes: TextChanges) -> list[dict[str, Any]]:
    return [
        {
            "text": text,
            "divergence": round(float(changes.divergence[at]), 4),
            "truth": None if changes.truth is None else changes.class_names[changes.truth[at]],
            **{name: short(outputs[at]) for name, outputs in changes.sides()},
        }
        for at, text in enumerate(changes.texts)
    ]
