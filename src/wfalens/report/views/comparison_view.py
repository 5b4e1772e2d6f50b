"""What changed from an earlier automaton to this one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.report.study import Study, short
from wfalens.report.views.overview import reading
from wfalens.report.views.state_map import StateMap, state_map
from wfalens.robustness.compare.changes import TextChanges, WordChanges
from wfalens.robustness.compare.compare import compare

_TEXTS_READ = 5000
_STATES = 40
_POINTS = 300  # words of the scatter


def comparison(
    study: Study,
    *,
    words: int = 200,
    texts: int = 40,
) -> dict[str, Any]:
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
        "unit": found.words.unit,
        "texts_read": len(corpus),
        "corpus": None if study.corpus is None else study.corpus.name,
        "sides": _sides(study, study.other),
        "scatter": _scatter(found.words),
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


def _sides(study: Study, other: WFA) -> list[dict[str, Any]]:
    """Both automata in short: the story's diagram where both can be read, else the coarsest maps of their states."""
    studies = [replace(study, name=study.other_name, wfa=other, model=None), study]
    readings = [reading(each.wfa) for each in studies]
    if any(each is None or "error" in each for each in readings):
        readings = [None, None]
    maps = [None if found else _map_or_reason(each) for each, found in zip(studies, readings, strict=True)]
    order = next((each.order for each in reversed(maps) if isinstance(each, StateMap)), None)
    return [
        {
            "name": each.name,
            "kind": each.wfa.kind,
            "states": each.wfa.states,
            "reading": found,
            "map": _coarse(map_, order) if isinstance(map_, StateMap) else map_,
        }
        for each, found, map_ in zip(studies, readings, maps, strict=True)
    ]


def _map_or_reason(study: Study) -> StateMap | dict[str, str]:
    try:
        return state_map(study)
    except InputError as error:
        return {"error": str(error)}


def _coarse(found: StateMap, order: NDArray[np.int64] | None) -> dict[str, Any]:
    """A few groups of states, with the classes in the same order for both automata."""
    level = found.levels[0].drawn(found.order if order is None else order)
    for state in level["states"]:
        for name in ("sentences", "words_in", "words_out"):
            del state[name]
    return {"kind": found.kind, "class_names": list(found.study.wfa.class_names), "levels": [level]}


def _scatter(words: WordChanges) -> list[list[Any]]:
    """The strongest words of either for every class: word, influence by class before, and after."""
    strength = np.maximum(np.abs(words.before), np.abs(words.after))  # (words, classes)
    order = np.argsort(-strength, axis=0, kind="stable")[: -(-_POINTS // strength.shape[1])]
    chosen = np.unique(order)
    return [[words.words[at], short(words.before[at], 3), short(words.after[at], 3)] for at in chosen]


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
