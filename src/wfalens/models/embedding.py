"""A model's own word vectors."""

from __future__ import annotations

from wfalens.models.contract import EmbeddingClassifier
from wfalens.text.word_vectors import WordVectors


def model_vectors(model: EmbeddingClassifier) -> WordVectors:
    """A model's embedding layer, one row per word of its vocabulary except padding.

    Args:
        model: with an embedding layer.

    Examples:
        >>> from wfalens.models import model_vectors
        >>> model_vectors(network)["good"].shape
        (8,)
    """
    return WordVectors(model.encoder.vocabulary.words[1:], model.embedding[1:], "model embedding")
