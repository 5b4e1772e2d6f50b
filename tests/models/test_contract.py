"""A model's own word vectors."""

import numpy as np

from wfalens.models import model_vectors


def test_model_vectors_leave_padding_out(news_model):
    vectors = model_vectors(news_model)
    assert vectors.words[0] == "<unk>"
    np.testing.assert_array_equal(
        vectors["senate"], news_model.embedding[news_model.encoder.vocabulary.id_of("senate")]
    )
