"""Where an automaton comes from: all that it depends on beside the texts."""

from __future__ import annotations

import platform
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from wfalens.automaton.completion import Fitted
from wfalens.automaton.linear import LinearWFA
from wfalens.extraction.options import AUTO
from wfalens.extraction.states.abstraction import named_abstraction
from wfalens.models.contract import StepwiseClassifier

if TYPE_CHECKING:
    from wfalens.extraction.extractor import Extractor

_APART = {"augmentation", "distillation", "vectors"}  # options that are told in another place


def origin(extractor: Extractor, model: StepwiseClassifier) -> dict[str, Any]:
    """The model, the options and the versions, for an automaton's `provenance`."""
    from wfalens import __version__

    return {
        "model": {"type": type(model).__name__, "fingerprint": model.fingerprint},
        "parameters": _linear(extractor) if extractor.kind == LinearWFA.kind else _stochastic(extractor),
        "augmentation": extractor.augmentation.parameters if extractor.augmentation else None,
        "vectors": extractor.vectors.source if extractor.vectors else None,
        "versions": {
            "wfalens": __version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }


def _stochastic(extractor: Extractor) -> dict[str, Any]:
    chosen = extractor.abstraction
    return {name: value for name, value in vars(extractor).items() if name not in _APART} | {
        "abstraction": AUTO if chosen == AUTO else named_abstraction(chosen).name,
        "fitting": asdict(extractor.fitting) if extractor.completion == Fitted.name else None,
    }


def _linear(extractor: Extractor) -> dict[str, Any]:
    told = {"kind": extractor.kind, "states": extractor.states, "seed": extractor.seed}
    return told | asdict(extractor.sized_distillation)
