"""Where an automaton comes from: all that it depends on beside the texts."""

from __future__ import annotations

import platform
from dataclasses import asdict
from typing import Any

import numpy as np

from wfalens.automaton.completion import Shared
from wfalens.automaton.linear import LinearWFA
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.extraction.completion.augmentation import Augmentation
from wfalens.extraction.linear.linear_options import Distillation
from wfalens.extraction.readable.readable_options import Sharing, Sizes
from wfalens.extraction.stochastic.options import Options
from wfalens.models.contract import PrefixClassifier
from wfalens.models.padded import padding_of
from wfalens.scale.row_counts import RowCounts
from wfalens.scale.survey import Survey
from wfalens.text.sources.blocks import Source
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


def stochastic_parameters(options: Options) -> dict[str, Any]:
    """The options as they were asked for, "auto" included."""
    states, completion = options.states, options.completion
    return {
        "kind": StochasticWFA.kind,
        "states": states.number,
        "abstraction": states.abstraction_name,
        "sample": states.sample,
        "initial": states.initial,
        "completion": completion.name,
        "alpha": completion.alpha,
        "beta": completion.beta,
        "distance": completion.distance,
        "representatives": completion.representatives,
        "strength": completion.strength,
        "queries": completion.queries,
        "fitting": asdict(completion.fitting) if completion.fits else None,
        "budget": options.choice.budget,
        "seed": options.seed,
    }


def linear_parameters(shape: Distillation, states: int | str | None, queries: int | None, seed: int) -> dict[str, Any]:
    return {"kind": LinearWFA.kind, "states": states, "queries": queries, "seed": seed} | asdict(shape)


def shared_parameters(kind: str, sizes: Sizes, sharing: Sharing, queries: int | None, seed: int) -> dict[str, Any]:
    tried = [size._asdict() for size in sizes.tried]
    return {
        "kind": kind,
        "completion": Shared.name,
        "sizes": tried,
        "loss": sizes.loss,
        "queries": queries,
        "seed": seed,
    } | asdict(sharing)


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
