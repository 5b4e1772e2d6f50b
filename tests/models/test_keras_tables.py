"""Keras networks that read whole tables: without Keras they say what Keras says, and equal work is shared."""

import json
import os

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

os.environ.setdefault("KERAS_BACKEND", "torch")
import h5py
import keras

from tests.models.conformance import StepwiseConformance
from wfalens.errors import FormatError, WfalensError
from wfalens.models import Preprocessing, load_keras
from wfalens.models.keras.keras_file import read_keras
from wfalens.models.keras.keras_network import plain_network
from wfalens.models.keras.keras_tables import table_network
from wfalens.models.keras.shared_work import numbered, shared_steps, windows

CLASSES = ("x", "y", "z")
WIDTH, WORDS = 9, 7
layers = keras.layers
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # Keras' own
KNOWN = {
    "convolution, pooling, lstm": lambda: [
        layers.Conv1D(5, 3, padding="same", activation="relu"),
        layers.MaxPooling1D(2, padding="same"),
        layers.LSTM(4),
    ],
    "two convolutions, flat": lambda: [
        layers.Conv1D(5, 3, strides=2, activation="tanh", use_bias=False),
        layers.Conv1D(4, 2, padding="same"),
        layers.Flatten(),
    ],
    "causal, dilated, global": lambda: [
        layers.Conv1D(5, 2, padding="causal", dilation_rate=3, activation="elu"),
        layers.GlobalMaxPooling1D(),
    ],
    "even windows": lambda: [
        layers.Conv1D(5, 4, padding="same", strides=2),
        layers.MaxPooling1D(3, strides=1, padding="same"),
        layers.GlobalAveragePooling1D(),
    ],
    "both directions": lambda: [layers.Bidirectional(layers.GRU(4))],
    "both directions twice": lambda: [
        layers.Bidirectional(layers.LSTM(3, return_sequences=True)),
        layers.Dense(4, activation="tanh"),
        layers.Bidirectional(layers.SimpleRNN(4)),
    ],
    "backwards": lambda: [layers.GRU(4, go_backwards=True, reset_after=False, return_sequences=True), layers.LSTM(3)],
}
OTHER = {
    "normalised": lambda: [layers.BatchNormalization(), layers.Flatten()],
    "mean of windows": lambda: [layers.AveragePooling1D(2), layers.Flatten()],
    "groups": lambda: [layers.Conv1D(4, 2, groups=2), layers.Flatten()],
    "sum of directions": lambda: [layers.Bidirectional(layers.LSTM(3), merge_mode="sum")],
    "kept axis": lambda: [layers.GlobalMaxPooling1D(keepdims=True), layers.Flatten()],
}


def network(inside, words=WORDS, width=WIDTH, masks=False, seed=0):
    front = layers.Embedding(words, 4, mask_zero=masks)
    model = keras.Sequential([keras.Input((width,), dtype="int32"), front, *inside(), layers.Dropout(0.2)])
    model.add(layers.Dense(3, activation="softmax"))
    rng = np.random.default_rng(seed)
    model.set_weights([rng.normal(size=weight.shape).astype(np.float32) for weight in model.get_weights()])
    return model


def saved(path, model):
    model.save(path)
    return path


def prefixes(padding):
    """Tables of all prefixes of random texts, as a black box is asked."""
    texts = np.random.default_rng(1).integers(0, WORDS, (6, WIDTH))
    tables = np.zeros((6 * WIDTH, WIDTH), np.int64)
    for row, (text, length) in enumerate((text, length) for text in texts for length in range(1, WIDTH + 1)):
        tables[row, slice(0, length) if padding == "right" else slice(WIDTH - length, None)] = text[:length]
    return tables


@pytest.mark.parametrize("ending", ["h5", "keras"])
@pytest.mark.parametrize("padding", ["left", "right"])
@pytest.mark.parametrize("kind", KNOWN)
def test_a_network_of_tables_says_what_keras_says(tmp_path, kind, padding, ending):
    model = network(KNOWN[kind])
    stored = read_keras(saved(tmp_path / f"m.{ending}", model))
    own, tables = table_network(stored), prefixes(padding)
    expected = keras.ops.convert_to_numpy(model(tables))
    assert own is not None
    assert plain_network(stored) is None
    np.testing.assert_allclose(own.table(tables), expected, atol=1e-5)
    assert np.ptp(expected, 0).max() > 0.1
    assert (own.width, own.outputs) == (WIDTH, "probabilities")


@pytest.mark.parametrize("kind", OTHER)
def test_layers_that_are_not_known_are_left_to_keras(tmp_path, kind):
    path = saved(tmp_path / "m.keras", network(OTHER[kind]))
    assert table_network(read_keras(path)) is None


def test_masked_tables_and_tables_of_any_width_are_left_to_keras(tmp_path):
    for number, options in enumerate(({"masks": True}, {"width": None})):
        path = saved(tmp_path / f"{number}.keras", network(KNOWN["both directions"], **options))
        assert table_network(read_keras(path)) is None


class TestTablesOfBothDirections(StepwiseConformance):
    @pytest.fixture
    def make(self, tmp_path):
        def made(seed, encoder):
            model = network(KNOWN["both directions"], len(encoder.vocabulary), 70, seed=seed)
            return load_keras(
                saved(tmp_path / f"m{seed}.h5", model), Preprocessing.of(encoder, CLASSES, padding_side="left")
            )

        return made


def test_layers_that_do_not_fit_one_another_are_refused_in_one_sentence(tmp_path, letters):
    path = saved(tmp_path / "m.h5", network(KNOWN["convolution, pooling, lstm"], len(letters.vocabulary)))
    with h5py.File(path, "r+") as file:
        weights = file["model_weights"]
        name = next(each for each in weights if each.startswith("lstm"))
        group = weights[name]
        kernel = group.attrs["weight_names"][0]
        shape = group[kernel].shape
        del group[kernel]
        group[kernel] = np.ones((shape[0] + 1, shape[1]), np.float32)
    with pytest.raises(FormatError, match="layers do not fit one another"):
        load_keras(path, Preprocessing.of(letters, CLASSES, padding_side="right"))


@pytest.mark.parametrize(
    ("kind", "entry", "value"),
    [
        ("convolution, pooling, lstm", "filters", None),
        ("convolution, pooling, lstm", "kernel_size", 10**12),
        ("convolution, pooling, lstm", "pool_size", "two"),
        ("convolution, pooling, lstm", "strides", [10**12]),
        ("convolution, pooling, lstm", "padding", 3),
        ("both directions", "layer", ["GRU"]),
        ("both directions", "units", "four"),
    ],
)
def test_layers_that_are_described_otherwise_are_refused_in_one_sentence(tmp_path, letters, kind, entry, value):
    path = saved(tmp_path / "m.h5", network(KNOWN[kind], len(letters.vocabulary)))
    with h5py.File(path, "r+") as file:
        config = json.loads(file.attrs["model_config"])
        file.attrs["model_config"] = json.dumps(changed(config, entry, value))
    with pytest.raises(WfalensError) as refused:
        load_keras(path, Preprocessing.of(letters, CLASSES, padding_side="right"))
    assert "\n" not in str(refused.value)


def changed(config, entry, value):
    """A configuration with another value wherever an entry stands; None: without it."""
    if isinstance(config, list):
        return [changed(each, entry, value) for each in config]
    if not isinstance(config, dict):
        return config
    kept = {name: changed(each, entry, value) for name, each in config.items() if name != entry or value is not None}
    return kept | ({entry: value} if entry in config and value is not None else {})


@given(
    st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=30),
    st.sampled_from([4, 1 << 21, 1 << 40]),
)
def test_distinct_rows_are_found_once_each(rows, size):
    columns = torch.tensor(rows).unbind(1)
    which, distinct = numbered(columns, [size] * 3)
    table = torch.stack(distinct, 1)
    assert table[which].tolist() == rows
    assert len(table) == len({tuple(row) for row in rows})


def test_windows_read_beyond_both_ends():
    found = windows(torch.tensor([[1, 2, 3]]), -1, 3, 2, 2, 9)
    assert found.tolist() == [[[9, 1, 2], [2, 3, 9]]]


def test_rows_that_are_equal_so_far_are_stepped_once():
    """Tables padded on the left share their pads, tables padded on the right their beginnings."""
    stepped = []

    def step(state, words):
        stepped.append(len(words))
        return 10 * state + words[:, None]

    codes = torch.tensor([[0, 0, 1], [0, 0, 2], [0, 3, 2], [0, 0, 1]])
    *_, (state, which) = shared_steps(codes, 4, torch.zeros(1, 1), step)
    assert state[which, 0].tolist() == [1, 2, 32, 1]
    assert stepped == [1, 2, 3]
