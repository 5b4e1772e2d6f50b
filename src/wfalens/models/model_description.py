"""How a model file from elsewhere reads texts: checked against its weights and, with labelled texts, by its answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wfalens import progress
from wfalens.models.checks import unknown_words
from wfalens.models.contract import PrefixClassifier, StatefulClassifier
from wfalens.models.preprocessing import Preprocessing
from wfalens.models.preprocessing_check import (
    Misreading,
    Rereadable,
    StepsApart,
    agreement,
    check_preprocessing,
    steps_apart,
)
from wfalens.models.wrapping import wrap
from wfalens.results import Result
from wfalens.text.corpus import Corpus


@dataclass(frozen=True, repr=False)
class ModelDescription(Result):
    """The preprocessing of a model, and what the checks found; figures on labels are None without labelled texts."""

    preprocessing: Preprocessing
    stateful: bool  # whether it can be stepped from a saved state
    accuracy: float | None
    misreading: Misreading | None
    steps_apart: StepsApart | None

    def to_dict(self) -> dict[str, Any]:
        """Without the lists of words and classes."""
        sizes = {"words": len(self.preprocessing.words), "classes": len(self.preprocessing.class_names)}
        found = {name: value for name, value in super().to_dict().items() if name != "preprocessing"}
        return {**sizes, **found}

    def rows(self) -> list[dict[str, Any]]:
        rows: list[tuple[str, Any]] = [
            ("words", len(self.preprocessing.words)),
            ("classes", len(self.preprocessing.class_names)),
            ("can be stepped", "yes" if self.stateful else "no: every prefix is asked as a text"),
        ]
        rows += [] if self.accuracy is None else [("accuracy on labels", self.accuracy)]
        return [{"": name, "value": value} for name, value in rows]


def describe_model(model: str | Path, preprocessing: Preprocessing, labelled: Corpus | None = None) -> ModelDescription:
    """Check a description of a model; labels choose the padding side where that is not given."""
    chosen, classifier = _best_side(model, preprocessing, labelled)
    width = classifier.form.width if isinstance(classifier, Rereadable) else None
    if width is not None and chosen.padding_side is None:
        progress.say(
            f"the model reads batches padded to {width} words, and the padding side is not known, so the right one is "
            "assumed: name the side, or give labelled texts"
        )
    if labelled is None:
        return ModelDescription(chosen, isinstance(classifier, StatefulClassifier), None, None, None)
    misread, apart = check_preprocessing(classifier, labelled), steps_apart(classifier, labelled.texts)
    for remark in (unknown_words(classifier.encoder, labelled.texts), misread, apart):
        if remark is not None:
            progress.say(str(remark))
    rate = agreement(classifier, labelled)
    return ModelDescription(chosen, isinstance(classifier, StatefulClassifier), rate, misread, apart)


def _best_side(
    model: str | Path, preprocessing: Preprocessing, labelled: Corpus | None
) -> tuple[Preprocessing, PrefixClassifier]:
    if preprocessing.padding_side is not None or labelled is None or labelled.labels is None:
        return preprocessing, wrap(model, preprocessing=preprocessing)
    options = {side: preprocessing.read_as(side) for side in ("left", "right")}
    opened = {side: wrap(model, preprocessing=each) for side, each in options.items()}
    rates = {side: agreement(each, labelled) for side, each in opened.items()}
    if rates["left"] is None or rates["left"] == rates["right"]:  # nothing is padded, or labels do not decide
        return preprocessing, wrap(model, preprocessing=preprocessing)
    best = max(rates, key=lambda side: rates[side] or 0.0)
    shown = ", ".join(f"{rate:.1%} on the {side}" for side, rate in rates.items())
    progress.say(f"padding on the {best}: agrees with labels on {shown}")
    return options[best], opened[best]
