"""Networks that other people published (extra `zoo`): all files open, and say what Keras says."""

import os
from dataclasses import replace

import numpy as np
import pytest

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras

from tests.models.zoo import PACKAGES, PUBLISHED, folder_of, is_installed, published, published_texts
from wfalens.models import StatefulClassifier, check_preprocessing
from wfalens.models.inference import last_outputs
from wfalens.models.keras.keras_file import load_in_keras, read_keras
from wfalens.models.keras.keras_recurrent import plain_network

pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning", "ignore:The structure of")
MISSING = {name: not is_installed(name) for name in PUBLISHED}
FILES = [path for package in set(PACKAGES.values()) if (folder := folder_of(package)) for path in folder.rglob("*.h5")]


def needs(name):
    reason = f"needs the package {PACKAGES[name]} (extra zoo; pip install --no-deps, it need not be imported)"
    return pytest.param(name, marks=pytest.mark.skipif(MISSING[name], reason=reason))


NAMES = [needs(name) for name in ("census", "wiki", "florida")]


@pytest.mark.skipif(not FILES, reason="needs the packages of the extra zoo")
@pytest.mark.parametrize("path", FILES or [None], ids=lambda path: getattr(path, "stem", ""))
def test_every_published_file_opens_and_says_what_keras_says(path):
    stored = read_keras(path)
    model, own = load_in_keras(stored), plain_network(stored)
    rows = next(layer.weights[0].shape[0] for layer in stored.layers if layer.kind == "Embedding")
    table = np.random.default_rng(0).integers(0, rows, (5, model.input_shape[1]))
    answers = keras.ops.convert_to_numpy(model({model.inputs[0].name: table}))
    assert answers.shape == (5, model.output_shape[1])
    if own is not None:
        np.testing.assert_allclose(own.batch_outputs(table), answers, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_steps_after_pads_choose_nearly_the_classes_of_padded_tables(name):
    found = published(name)
    texts, _ = published_texts(name, 1000, 1)
    rates = {}
    for pads in (0, None):
        model = replace(found, card=replace(found.card, pads=pads)).open()
        assert isinstance(model, StatefulClassifier)
        _, ids = model.encoder.encode(texts.texts).nonempty()
        exact = last_outputs(model.exact(), ids).argmax(1)
        rates[pads] = float(np.mean(last_outputs(model, ids).argmax(1) != exact))
    assert rates[None] < 0.015
    assert rates[0] > 3 * rates[None]


@pytest.mark.parametrize("name", [needs("wiki")])
def test_a_wrong_padding_side_is_named(name):
    found = published(name)
    texts, _ = published_texts(name, 300, 1)
    assert check_preprocessing(found.open(), texts) is None
    wrong = replace(found, card=found.card.read_as(padding_side="right")).open()
    assert "if texts are padded on the left" in str(check_preprocessing(wrong, texts))


@pytest.mark.parametrize("name", [needs("dgaintel")])
def test_a_network_with_a_closed_alphabet_is_asked_by_its_letters(name):
    model = published(name).open()
    assert not isinstance(model, StatefulClassifier)
    texts, _ = published_texts(name, 60, 1)
    ids = model.encoder.encode(texts.texts)
    table = np.zeros((len(ids), 82), int)
    for row, text in enumerate(texts.texts):
        table[row, : len(text)] = ["-.0123456789_abcdefghijklmnopqrstuvwxyz".index(letter) for letter in text]
    network = load_in_keras(read_keras(published(name).path))
    expected = keras.ops.convert_to_numpy(network({network.inputs[0].name: table}))[:, 0]
    np.testing.assert_allclose(last_outputs(model, ids)[:, 1], expected, atol=1e-5)
