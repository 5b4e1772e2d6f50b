"""Sentences to pick from: where automaton and model agree, where they do not, and where the automaton is unsure."""

from __future__ import annotations

from typing import Any

import numpy as np

from wfalens.models.inference import output_traces
from wfalens.report.study import Study, short


def sentences(
    study: Study,
    each: int = 100,
) -> dict[str, Any]:
    """Up to `each` texts of every sort from the sample, in random order; without a model nothing disagrees."""
    wfa, corpus = study.wfa, study.texts.relabelled(study.wfa.class_names)
    ids = study.encoded.take(study.sample)
    weights = wfa.weights(ids)
    decided, confidence = wfa.decide(weights), wfa.probabilities(weights).max(1)
    said = None if study.model is None else output_traces(study.model, ids).last().argmax(1)
    order = np.random.default_rng(study.seed).permutation(len(ids))
    chosen = {
        "any": order[:each],
        "disagree": order[:0] if said is None else order[(decided != said)[order]][:each],
        "unsure": np.argsort(confidence, kind="stable")[:each],
    }

    def as_json(at: int) -> dict[str, Any]:
        text = int(study.sample[at])
        return {
            "text": corpus.texts[text],
            "label": None if decided[at] < 0 else wfa.class_names[decided[at]],
            "model_label": None if said is None else wfa.class_names[said[at]],
            "truth": None if corpus.labels is None else wfa.class_names[corpus.labels[text]],
            "confidence": short(confidence[at], 3),
        }

    return {
        "corpus": corpus.name,
        "sampled": len(ids),
        "of": len(corpus),
        **{sort: [as_json(int(at)) for at in rows] for sort, rows in chosen.items()},
    }
