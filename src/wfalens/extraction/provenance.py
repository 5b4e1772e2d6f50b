"""Where an automaton comes from: all that it depends on beside the texts."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np

from wfalens.extraction.completion.augmentation import Augmentation
from wfalens.models.contract import PrefixClassifier
from wfalens.models.padded import padding_of
from wfalens.scale.row_counts import RowCounts
from wfalens.scale.survey import Survey
from wfalens.text.blocks import Source
from wfalens.text.word_vectors import WordVectors


def origin(
    model: PrefixClassifier,
    parameters: dict[str, Any],
    augmentation: Augmentation | None = None,
    vectors: WordVectors | None = None,
) -> dict[str, Any]:
    """The model, the options and the versions, for an automaton's `provenance`."""
    from wfalens import __version__

    return {
        "model": {"type": type(model).__name__, "fingerprint": model.fingerprint, **padding_of(model)},
        "parameters": parameters,
        "augmentation": augmentation.parameters if augmentation else None,
        "vectors": vectors.source if vectors else None,
        "versions": {
            "wfalens": __version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }


def about_corpus(source: Source, survey: Survey, tally: RowCounts) -> dict[str, Any]:
    """What was read: all of it, and the sample that decided."""
    return {
        "name": source.name,
        "files": len(source.file_names),
        "texts": tally.texts,
        "tokens": tally.tokens,
        "left_out": tally.left_out,
        "first_left_out": tally.reasons,
        "sample": {"texts": len(survey.sample), "tokens": len(survey.sample.ids.values)},
    }
