"""A scikit-learn pipeline, or anything else with `predict_proba` over raw texts, as a stepwise classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from numpy.typing import ArrayLike

from wfalens.errors import ModelError
from wfalens.models.whole_texts import TextClassifier
from wfalens.text.encoder import TextEncoder


class TextPipeline(Protocol):
    def predict_proba(self, X: list[str]) -> object: ...  # noqa: N803 - scikit-learn's name


def wrap_pipeline(
    pipeline: TextPipeline,
    encoder: TextEncoder,
    class_names: Sequence[object] | None = None,
    *,
    unknown: str = "",
    batch_size: int = 1024,
    name: str | None = None,
    initial_output: ArrayLike | None = None,
) -> TextClassifier:
    """A classifier from a fitted scikit-learn pipeline whose first step reads texts.

    Args:
        pipeline: fitted, with `predict_proba` over texts. It reads what `encoder` makes of a text, words joined by
            blanks: the tokenizer "whitespace" changes least.
        encoder: what the words of the automaton are.
        class_names: in the order of the columns (None: `classes_` of the pipeline).
        unknown: what the pipeline is shown for a word outside the vocabulary.
        batch_size: texts in a call at most.
        name: tells this model from others in files (None: a hash of its answers).
        initial_output: probabilities (classes,) before any word, in place of its answer for an empty text.

    Examples:
        >>> from sklearn.feature_extraction.text import CountVectorizer
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.pipeline import make_pipeline
        >>> from wfalens import wrap_pipeline
        >>> pipeline = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, corpus.labels)
        >>> wrap_pipeline(pipeline, encoder).class_names
        ('0', '1')
    """
    if not callable(getattr(pipeline, "predict_proba", None)):
        raise ModelError(
            f"{type(pipeline).__name__} has no predict_proba; end the pipeline with a classifier that has, "
            "or calibrate it (CalibratedClassifierCV)"
        )
    classes = getattr(pipeline, "classes_", None) if class_names is None else class_names
    if classes is None:
        raise ModelError(f"{type(pipeline).__name__} does not tell its classes; fit it first, or give class_names")
    return TextClassifier(
        pipeline.predict_proba,
        encoder,
        list(classes),
        unknown=unknown,
        batch_size=batch_size,
        fingerprint=name,
        initial_output=initial_output,
    )
