"""Keras models, through their callable."""

import os
import sys

import numpy as np
import pytest

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras

from tests.errors import raises
from tests.models.conformance import PrefixConformance, WholeTextConformance
from tests.models.toy import CLASSES as TOY_CLASSES
from tests.models.toy import ENCODER, extracted_fidelity, word_scores
from wfalens.errors import MissingDependencyError, ModelError
from wfalens.models import wrap
from wfalens.models.checks import softmax

CLASSES = ("x", "y", "z")
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # Keras' own


def recurrent(seed, words, width=None, sequences=False):
    keras.utils.set_random_seed(seed)
    layers = [
        keras.layers.Embedding(words, 4, embeddings_initializer="normal", mask_zero=width is not None),
        keras.layers.SimpleRNN(5, return_sequences=sequences),
        keras.layers.Dense(3, activation="softmax"),
    ]
    model = keras.Sequential([keras.Input((width,), dtype="int32"), *layers])
    model.set_weights([10 * weight for weight in model.get_weights()])
    return model


class TestKeras(WholeTextConformance):
    @pytest.fixture
    def make(self):
        return lambda seed, encoder: wrap(recurrent(seed, len(encoder.vocabulary)), vocab=encoder, classes=CLASSES)


class TestKerasOfFixedWidth(WholeTextConformance):
    @pytest.fixture
    def make(self):
        return lambda seed, encoder: wrap(
            recurrent(seed, len(encoder.vocabulary), width=10), vocab=encoder, classes=CLASSES, padding_side="left"
        )


class TestKerasOfTokens(PrefixConformance):
    @pytest.fixture
    def make(self):
        return lambda seed, encoder: wrap(
            recurrent(seed, len(encoder.vocabulary), sequences=True), vocab=encoder, classes=CLASSES
        )


class Summing(keras.Model):
    """A subclassed model, which tells no shapes: the sum of the words' scores."""

    def __init__(self, scores):
        super().__init__()
        self.scores = keras.layers.Embedding(*scores.shape)
        self.scores.build((None, None))
        self.scores.set_weights([scores])

    def call(self, ids, training=False):
        return keras.ops.sum(self.scores(ids), 1)


def test_a_keras_model_is_extracted_faithfully():
    model = wrap(Summing(word_scores(ENCODER.vocabulary)), vocab=ENCODER, classes=TOY_CLASSES, outputs="logits")
    cr, accuracy = extracted_fidelity(model)
    assert accuracy == 1
    assert cr > 0.9


def test_words_reach_a_model_by_its_own_ids(letters):
    scores = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    own = np.random.default_rng(1).permutation(20)[: len(letters.vocabulary)]
    model = wrap(Summing(scores), vocab=letters, classes=CLASSES, outputs="logits", word_ids=own)
    ids = letters.encode(["a c b zebra"])
    np.testing.assert_allclose(model.trace(ids)[0], softmax(scores[own[ids[0]]].cumsum(0)), atol=1e-5)
    with pytest.raises(ModelError, match="word_ids must give one id, a whole number, for each of the 10 words"):
        wrap(Summing(scores), vocab=letters, classes=CLASSES, word_ids=[1, 2])


def test_one_sigmoid_is_read_as_two_classes(letters):
    model = keras.Sequential(
        [
            keras.Input((None,), dtype="int32"),
            keras.layers.Embedding(len(letters.vocabulary), 1, embeddings_initializer="normal"),
            keras.layers.GlobalAveragePooling1D(),
            keras.layers.Activation("sigmoid"),
        ]
    )
    trace = wrap(model, vocab=letters, classes=("no", "yes"), outputs="binary").trace(letters.encode(["a"]))
    second = 1 / (1 + np.exp(-model.get_weights()[0][2, 0]))
    np.testing.assert_allclose(trace.values, [[1 - second, second]], atol=1e-6)


def test_logits_taken_for_probabilities_are_refused(letters):
    scores = np.random.default_rng(0).normal(size=(10, 3)).astype(np.float32)
    with pytest.raises(ModelError, match=r"rows that are not probabilities .* apply a softmax"):
        wrap(Summing(scores), vocab=letters, classes=CLASSES).trace(letters.encode(["a"]))


def test_models_of_other_shapes_are_refused(letters):
    vectors = keras.Sequential([keras.Input((None, 3)), keras.layers.GRU(2)])
    with raises("input-shape"):
        wrap(vectors, vocab=letters, classes=CLASSES)
    several = keras.Input((None,), dtype="int32")
    with raises("output-shape"):
        wrap(keras.Model(several, [several, several]), vocab=letters, classes=CLASSES)
    fixed = recurrent(0, len(letters.vocabulary), width=6, sequences=True)
    with raises("fixed-width"):
        wrap(fixed, vocab=letters, classes=CLASSES)


def test_a_convolution_is_padded_to_the_width_it_needs(letters):
    layers = [
        keras.layers.Embedding(len(letters.vocabulary), 4),
        keras.layers.Conv1D(3, 4),
        keras.layers.GlobalMaxPooling1D(),
        keras.layers.Activation("softmax"),
    ]
    model = keras.Sequential([keras.Input((None,), dtype="int32"), *layers])
    with raises("cannot-read") as caught:
        wrap(model, vocab=letters, classes=CLASSES)
    assert "\n" not in str(caught.value)
    trace = wrap(model, vocab=letters, classes=CLASSES, width=6).trace(letters.encode(["a b"]))
    expected = keras.ops.convert_to_numpy(model(np.array([[2, 3, 0, 0, 0, 0]])))[0]
    np.testing.assert_allclose(trace[0][1], expected, atol=1e-6)


def test_the_fingerprint_is_the_same_after_saving_and_loading(letters, tmp_path):
    model = recurrent(0, len(letters.vocabulary))
    model.save(tmp_path / "m.keras")
    loaded = keras.models.load_model(tmp_path / "m.keras")
    assert (
        wrap(loaded, vocab=letters, classes=CLASSES).fingerprint
        == wrap(model, vocab=letters, classes=CLASSES).fingerprint
    )


def test_missing_keras_names_the_extra(letters, monkeypatch):
    model = recurrent(0, len(letters.vocabulary))
    monkeypatch.setitem(sys.modules, "keras", None)
    with pytest.raises(MissingDependencyError, match=r"keras is not installed; .*'wfalens\[keras\]'"):
        wrap(model, vocab=letters, classes=CLASSES)
