"""Keras files: plain recurrent networks become steppable without Keras, others are run by it."""

import io
import json
import os
import subprocess
import sys
import zipfile
from dataclasses import replace

import numpy as np
import pytest

os.environ.setdefault("KERAS_BACKEND", "torch")
import h5py
import keras

from tests.errors import raises
from tests.files import little_memory
from tests.models.conformance import StatefulConformance, WholeTextConformance
from wfalens.errors import FormatError, InputError, ModelError, WfalensError
from wfalens.models import Preprocessing, wrap
from wfalens.models.inference import last_outputs
from wfalens.models.keras.keras_file import load_in_keras, read_keras
from wfalens.models.keras.keras_recurrent import plain_network

CLASSES = ("x", "y", "z")
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # Keras' own
RECURRENT = {
    "lstm": lambda **more: keras.layers.LSTM(5, **more),
    "gru": lambda **more: keras.layers.GRU(5, **more),
    "old gru": lambda **more: keras.layers.GRU(5, reset_after=False, **more),
    "simple": lambda **more: keras.layers.SimpleRNN(5, **more),
    "unusual": lambda **more: keras.layers.LSTM(
        5, activation="relu", recurrent_activation="hard_sigmoid", use_bias=False, **more
    ),
}


def network(kind="lstm", words=10, seed=0, width=None, masks=False, layers=1, head="softmax", units=3):
    keras.utils.set_random_seed(seed)
    cells = [RECURRENT[kind](return_sequences=number < layers - 1) for number in range(layers)]
    model = keras.Sequential(
        [
            keras.Input((width,), dtype="int32"),
            keras.layers.Embedding(words, 4, embeddings_initializer="normal", mask_zero=masks),
            keras.layers.SpatialDropout1D(0.3),
            *cells,
            keras.layers.Dropout(0.3),
            keras.layers.Dense(6, activation="tanh"),
            keras.layers.Dense(units, activation=head),
        ]
    )
    rng = np.random.default_rng(seed)
    model.set_weights([rng.normal(size=weight.shape).astype(np.float32) for weight in model.get_weights()])
    return model


def saved(path, model):
    model.save(path)
    return path


@pytest.mark.parametrize("ending", ["h5", "keras"])
def test_an_activation_that_stands_alone_belongs_to_the_layer_before_it(tmp_path, ending):
    plain = network(head="linear")
    model = keras.Sequential([keras.Input((7,), dtype="int32"), *plain.layers, keras.layers.Activation("softmax")])
    own = plain_network(read_keras(saved(tmp_path / f"m.{ending}", model)))
    table = np.random.default_rng(1).integers(1, 10, (20, 7))
    np.testing.assert_allclose(own.batch_outputs(table), keras.ops.convert_to_numpy(model(table)), atol=1e-5)
    assert own.outputs == "probabilities"


@pytest.mark.parametrize("ending", ["h5", "keras"])
@pytest.mark.parametrize("kind", RECURRENT)
@pytest.mark.parametrize(("layers", "masks"), [(1, False), (2, True)])
def test_a_plain_network_says_what_keras_says(tmp_path, ending, kind, layers, masks):
    model = network(kind, layers=layers, masks=masks, width=7)
    path = saved(tmp_path / f"m.{ending}", model)
    own = plain_network(read_keras(path))
    table = np.random.default_rng(1).integers(1, 10, (20, 7))
    table[np.arange(7) < np.arange(20)[:, None] % 4] = 0  # masked ids stand in front
    expected = keras.ops.convert_to_numpy(model(table))
    np.testing.assert_allclose(own.batch_outputs(table), expected, atol=1e-5)
    assert np.ptp(expected, 0).max() > 0.1
    assert (own.width, own.masks_zero, len(own.cells)) == (7, masks, layers)


@pytest.mark.parametrize("ending", ["h5", "keras"])
def test_a_functional_model_in_a_row_is_plain_too(tmp_path, ending):
    ids = keras.Input((5,), dtype="int32")
    hidden = keras.layers.GRU(4)(keras.layers.Embedding(8, 3)(ids))
    model = keras.Model(ids, keras.layers.Dense(1, activation="sigmoid")(hidden))
    path = saved(tmp_path / f"m.{ending}", model)
    table = np.random.default_rng(0).integers(0, 8, (6, 5))
    own = plain_network(read_keras(path))
    np.testing.assert_allclose(own.batch_outputs(table), keras.ops.convert_to_numpy(model(table)), atol=1e-5)
    assert own.outputs == "binary"


@pytest.mark.parametrize(
    "layers",
    [
        lambda: [keras.layers.Bidirectional(keras.layers.LSTM(4)), keras.layers.Dense(3, activation="softmax")],
        lambda: [keras.layers.LSTM(4, go_backwards=True), keras.layers.Dense(3, activation="softmax")],
        lambda: [keras.layers.Conv1D(4, 2), keras.layers.LSTM(4), keras.layers.Dense(3, activation="softmax")],
        lambda: [keras.layers.LSTM(4, return_sequences=True), keras.layers.Dense(3, activation="softmax")],
        lambda: [keras.layers.LSTM(4), keras.layers.Dense(3, activation="sigmoid")],
        lambda: [keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(3, activation="softmax")],
    ],
)
def test_other_networks_are_not_taken_for_plain_ones(tmp_path, layers):
    model = keras.Sequential([keras.Input((6,), dtype="int32"), keras.layers.Embedding(10, 4), *layers()])
    assert plain_network(read_keras(saved(tmp_path / "m.keras", model))) is None


OTHERS = {
    "convolution, pooling, lstm": lambda: [
        keras.layers.Conv1D(5, 3, padding="same", activation="relu"),
        keras.layers.MaxPooling1D(2, padding="same"),
        keras.layers.LSTM(4),
    ],
    "both directions": lambda: [keras.layers.Bidirectional(keras.layers.GRU(4))],
    "convolution, flat": lambda: [keras.layers.Conv1D(5, 3, strides=2, activation="tanh"), keras.layers.Flatten()],
}


def other_network(kind, words, width=9):
    front = [keras.Input((width,), dtype="int32"), keras.layers.Embedding(words, 4)]
    model = keras.Sequential([*front, *OTHERS[kind](), keras.layers.Dense(3, activation="softmax")])
    rng = np.random.default_rng(0)
    model.set_weights([rng.normal(size=weight.shape).astype(np.float32) for weight in model.get_weights()])
    return model


@pytest.mark.parametrize(("ending", "padding"), [("h5", "left"), ("keras", "right")])
@pytest.mark.parametrize("kind", OTHERS)
def test_other_networks_are_run_by_keras(tmp_path, letters, kind, ending, padding):
    network = other_network(kind, len(letters.vocabulary))
    preprocessing = Preprocessing.of(letters, CLASSES, padding_side=padding)
    model = wrap(saved(tmp_path / f"m.{ending}", network), preprocessing=preprocessing)
    texts = ["a b c", "h g f e d c b a", "c"]
    table = np.zeros((3, 9), np.int64)
    for row, ids in zip(table, letters.encode(texts), strict=True):
        row[slice(9 - len(ids), 9) if padding == "left" else slice(0, len(ids))] = ids
    expected = keras.ops.convert_to_numpy(network(table))
    np.testing.assert_allclose(model.predict_proba(texts), expected, atol=1e-5)
    assert np.ptp(expected, 0).max() > 0.1


@pytest.mark.parametrize(
    ("kind", "entry", "value"),
    [("convolution, flat", "kernel_size", "two"), ("convolution, flat", "padding", 3), ("both directions", "layer", 1)],
)
def test_layers_that_keras_does_not_understand_are_refused_in_one_sentence(tmp_path, letters, kind, entry, value):
    path = saved(tmp_path / "m.h5", other_network(kind, len(letters.vocabulary)))
    with h5py.File(path, "r+") as file:
        config = json.loads(file.attrs["model_config"])
        file.attrs["model_config"] = json.dumps(changed(config, entry, value))
    with pytest.raises(WfalensError) as refused:
        wrap(path, preprocessing=Preprocessing.of(letters, CLASSES, padding_side="right"))
    assert "\n" not in str(refused.value)


def changed(config, entry, value):
    """A configuration with another value wherever an entry stands."""
    if isinstance(config, list):
        return [changed(each, entry, value) for each in config]
    if not isinstance(config, dict):
        return config
    return {name: value if name == entry else changed(each, entry, value) for name, each in config.items()}


class TestRecurrentFile(StatefulConformance):
    @pytest.fixture
    def make(self, tmp_path):
        def made(seed, encoder):
            path = saved(tmp_path / f"m{seed}.h5", network("lstm", len(encoder.vocabulary), seed))
            return wrap(path, preprocessing=Preprocessing.of(encoder, CLASSES))

        return made


class TestRecurrentFileThatReadsItsPadding(StatefulConformance):
    @pytest.fixture
    def make(self, tmp_path):
        def made(seed, encoder):
            path = saved(tmp_path / f"m{seed}.h5", network("gru", len(encoder.vocabulary), seed, width=12, layers=2))
            return wrap(path, preprocessing=Preprocessing.of(encoder, CLASSES, padding_side="left"))

        return made


class TestExactReading(WholeTextConformance):
    @pytest.fixture
    def make(self, tmp_path):
        def made(seed, encoder):
            path = saved(tmp_path / f"m{seed}.keras", network("simple", len(encoder.vocabulary), seed, width=70))
            return wrap(path, preprocessing=Preprocessing.of(encoder, CLASSES, padding_side="left", reading="exact"))

        return made


class TestConvolutionFile(WholeTextConformance):
    @pytest.fixture
    def make(self, tmp_path):
        def made(seed, encoder):
            keras.utils.set_random_seed(seed)
            layers = [
                keras.layers.Embedding(len(encoder.vocabulary), 4, embeddings_initializer="normal"),
                keras.layers.Conv1D(4, 2, padding="same"),
                keras.layers.LSTM(4),
                keras.layers.Dense(3, activation="softmax"),
            ]
            model = keras.Sequential([keras.Input((10,), dtype="int32"), *layers])
            model.set_weights([5 * weight for weight in model.get_weights()])
            path = saved(tmp_path / f"m{seed}.h5", model)
            return wrap(path, preprocessing=Preprocessing.of(encoder, CLASSES, padding_side="right"))

        return made


def test_texts_start_after_the_pads_that_the_network_reads(tmp_path, letters):
    """Padded on the left to the full width: exact for the length that leaves so many pads."""
    model = network("lstm", len(letters.vocabulary), width=8)
    card = Preprocessing.of(letters, CLASSES, padding_side="left", pads=5)
    path = saved(tmp_path / "m.h5", model)
    ids = letters.encode(["a b c"])
    padded = np.concatenate([np.zeros((1, 5), int), ids.values[None]], 1)
    expected = keras.ops.convert_to_numpy(model(padded))
    np.testing.assert_allclose(wrap(path, preprocessing=card).trace(ids).last(), expected, atol=1e-5)
    assert wrap(path, preprocessing=replace(card, pads=None)).pads == 6
    exact = wrap(path, preprocessing=replace(card, pads=None, reading="exact"))
    np.testing.assert_allclose(exact.trace(ids).last(), expected, atol=1e-5)
    stepped = wrap(path, preprocessing=replace(card, pads=None))
    np.testing.assert_allclose(stepped.exact().trace(ids).last(), expected, atol=1e-5)
    assert exact.fingerprint != stepped.fingerprint


def test_what_is_masked_is_not_read(tmp_path, letters):
    path = saved(tmp_path / "m.h5", network("lstm", len(letters.vocabulary), width=8, masks=True))
    model = wrap(path, preprocessing=Preprocessing.of(letters, CLASSES))  # the side does not matter
    assert (model.pads, model.encoder.max_length) == (0, 8)
    ids = letters.encode(["a b c"])
    expected = keras.ops.convert_to_numpy(keras.models.load_model(path)(np.array([[*ids.values, *[0] * 5]])))
    np.testing.assert_allclose(model.trace(ids).last(), expected, atol=1e-5)


def test_long_texts_lose_words_on_the_side_that_the_card_tells(tmp_path, letters):
    path = saved(tmp_path / "m.h5", network("gru", len(letters.vocabulary), width=3))
    card = Preprocessing.of(letters, CLASSES, padding_side="left")
    left = wrap(path, preprocessing=card, truncation_side="left")
    np.testing.assert_array_equal(left.encoder.encode(["a b c d"]).values, letters.encode(["b c d"]).values)
    right = wrap(path, preprocessing=replace(card, truncation_side="right"))
    np.testing.assert_array_equal(right.encoder.encode(["a b c d"]).values, letters.encode(["a b c"]).values)
    assert left.fingerprint != right.fingerprint


def old_file(path, model, version="2.2.4"):
    """The file as Keras 2 would have written it: no input layer, options that Keras 3 does not know."""
    model.save(path)
    with h5py.File(path, "r+") as file:
        config = json.loads(file.attrs["model_config"])
        first, *layers = config["config"]["layers"]
        layers[0]["config"]["batch_input_shape"] = first["config"]["batch_shape"]
        for layer in layers:
            layer["config"].pop("dtype", None)
            if layer["class_name"] in ("LSTM", "GRU"):
                layer["config"] |= {"time_major": False, "implementation": 1, "recurrent_activation": "hard_sigmoid"}
            layer.pop("build_config", None)
        config["config"]["layers"] = layers
        file.attrs["model_config"] = json.dumps(config)
        file.attrs["keras_version"] = version
    return path


def test_keras_3_reads_what_older_versions_wrote(tmp_path):
    path = old_file(tmp_path / "old.h5", network("lstm", width=6))
    stored = read_keras(path)
    table = np.random.default_rng(0).integers(0, 10, (9, 6))
    ours, theirs = plain_network(stored).batch_outputs(table), load_in_keras(stored)(table)
    np.testing.assert_allclose(ours, keras.ops.convert_to_numpy(theirs), atol=1e-5)
    new = plain_network(read_keras(old_file(tmp_path / "new.h5", network("lstm", width=6), "3.8.0")))
    assert np.abs(ours - new.batch_outputs(table)).max() > 1e-3  # Keras 3 has another hard_sigmoid


@pytest.mark.slow
def test_a_plain_file_is_opened_without_keras(tmp_path, letters):
    path = saved(tmp_path / "m.h5", network("lstm", len(letters.vocabulary)))
    Preprocessing.of(letters, CLASSES).write(tmp_path / "m.json")
    code = (
        "import sys; from wfalens import wrap;"
        f"model = wrap({str(path)!r}); model.trace(model.encoder.encode(['a b']));"
        "print([name for name in ('keras', 'tensorflow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_model_with_a_lambda_layer_is_not_run(tmp_path, letters):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Lambda(lambda values: values), keras.layers.Dense(3)])
    path = saved(tmp_path / "m.keras", model)
    with raises("lambda-layer"):
        wrap(path, preprocessing=Preprocessing.of(letters, CLASSES))


def garbage(path, letters):
    path.write_bytes(b"no model at all")


def weights_only(path, letters):
    network("lstm", len(letters.vocabulary)).save_weights(path.with_name("m.weights.h5"))
    path.with_name("m.weights.h5").rename(path)


def other_hdf5(path, letters):
    with h5py.File(path, "w") as file:
        file["data"] = np.arange(3)


def broken_config(path, letters):
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = '{"class_name": 3'


def missing_weights(path, letters):
    network("lstm", len(letters.vocabulary)).save(path)
    with h5py.File(path, "r+") as file:
        group = next(name for name in file["model_weights"] if name.startswith("lstm"))
        file["model_weights"][group].attrs["weight_names"] = []


def other_zip(path, letters):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "b")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (garbage, r"not a model that Keras has saved \(.*\)"),
        (weights_only, "no model in it, at most its weights; save the whole model"),
        (other_hdf5, "no model in it"),
        (broken_config, "its configuration is not that of a Keras model"),
        (missing_weights, "the weights of the layer 'lstm.*' do not fit its configuration"),
        (other_zip, "not a model that Keras has saved"),
    ],
)
def test_files_that_hold_no_model_are_refused_in_one_sentence(tmp_path, letters, make, message):
    make(tmp_path / "m.h5", letters)
    with pytest.raises(FormatError, match=message) as caught:
        wrap(tmp_path / "m.h5", preprocessing=Preprocessing.of(letters, CLASSES))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"class_names": ("x", "y")}, "classes"),
        ({"outputs": "logits"}, "outputs"),
        ({"padding_side": None}, "padding-side-needed"),
        ({"words": tuple(f"w{n}" for n in range(11)), "unknown": "w0"}, "vocabulary-size"),
    ],
)
def test_a_card_that_contradicts_the_weights_is_refused(tmp_path, letters, change, code):
    path = saved(tmp_path / "m.h5", network("lstm", len(letters.vocabulary), width=6))
    card = Preprocessing.of(letters, CLASSES, padding_side="left")
    with raises(code):
        wrap(path, preprocessing=replace(card, **change))


def test_a_file_without_a_card_says_what_is_missing(tmp_path):
    path = saved(tmp_path / "m.h5", network())
    with raises("preprocessing-needed"):
        wrap(path)
    with pytest.raises(InputError, match="no such file"):
        wrap(tmp_path / "other.keras")


def test_a_vocabulary_larger_than_the_embedding_is_refused_when_wrapping(letters):
    model = network("lstm", words=6)
    with pytest.raises(ModelError, match=r"cannot read the id 9: its embedding has 6 rows; .*word_ids"):
        wrap(model, vocab=letters, classes=CLASSES)
    wrap(model, vocab=letters, classes=CLASSES, word_ids=np.arange(10) % 6)


def test_words_of_a_closed_card_are_all_words(tmp_path):
    words = ("-", ".", "a", "b")
    path = saved(tmp_path / "m.h5", network("lstm", words=4, width=5))
    card = Preprocessing(
        words=words, class_names=CLASSES, unknown=None, closed=True, padding="-", padding_side="left",
        tokenizer="lower+characters",
    )  # fmt: skip
    card.write(tmp_path / "m.json")
    model = wrap(path)
    np.testing.assert_array_equal(model.form.word_ids[model.encoder.encode(["-A.b"]).values], [0, 2, 1, 3])
    with pytest.raises(InputError, match="the alphabet is closed, but 'c' in the text 'abc'"):
        model.encoder.encode(["abc"])


def test_last_outputs_of_the_exact_reading_are_those_of_its_trace(tmp_path, letters):
    path = saved(tmp_path / "m.h5", network("lstm", len(letters.vocabulary), width=6))
    model = wrap(path, preprocessing=Preprocessing.of(letters, CLASSES, padding_side="right"))
    ids = letters.encode(["a b c", "d", "a b c d e f"])
    np.testing.assert_allclose(last_outputs(model, ids), model.trace(ids).last(), atol=1e-6)


def secret_weights(path, secret, way):
    """A file whose embedding is the content of another file."""
    with h5py.File(path, "r+") as file:
        names = []
        file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
        name = next(each for each in names if file[each].shape == (10, 4))
        group = file[name].parent
        key = name.rpartition("/")[2]
        del group[key]
        if way == "external storage":
            group.create_dataset(key, (10, 4), "f4", external=[(str(secret), 0, 160)])
        elif way == "external link":
            group[key] = h5py.ExternalLink(str(secret.with_suffix(".h5")), "/stolen")
        elif way == "soft link":
            group[key] = h5py.SoftLink("/elsewhere")
        else:
            layout = h5py.VirtualLayout((10, 4), "f4")
            layout[:] = h5py.VirtualSource(str(secret.with_suffix(".h5")), "stolen", (10, 4))
            group.create_virtual_dataset(key, layout)


@pytest.mark.parametrize("ending", ["h5", "keras"])
@pytest.mark.parametrize("way", ["external storage", "external link", "soft link", "virtual dataset"])
def test_weights_in_other_files_are_refused(tmp_path, ending, way):
    secret = tmp_path / "secret"
    secret.write_bytes(bytes(range(160)))
    with h5py.File(secret.with_suffix(".h5"), "w") as file:
        file["stolen"] = np.ones((10, 4), np.float32)
    path = saved(tmp_path / f"m.{ending}", network())
    if ending == "h5":
        secret_weights(path, secret, way)
    else:
        inner = tmp_path / "weights.h5"
        with zipfile.ZipFile(path) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        inner.write_bytes(parts["model.weights.h5"])
        secret_weights(inner, secret, way)
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in (parts | {"model.weights.h5": inner.read_bytes()}).items():
                archive.writestr(name, content)
    with raises("foreign-file"):
        read_keras(path)


def test_links_in_a_circle_end(tmp_path):
    path = saved(tmp_path / "m.h5", network())
    with h5py.File(path, "r+") as file:
        file["model_weights"]["again"] = file["/"]
    read_keras(path)


@pytest.mark.parametrize("ending", ["h5", "keras"])
def test_weights_that_are_claimed_but_not_stored_are_refused(tmp_path, ending):
    path = tmp_path / f"m.{ending}"
    content = io.BytesIO()
    with h5py.File(path if ending == "h5" else content, "w") as file:
        file.attrs["model_config"] = json.dumps({"class_name": "Sequential", "config": {"layers": []}})
        file.create_dataset("layers/dense/vars/0", (40_000, 40_000), "f4", chunks=(4000, 4000), compression="gzip")
    if ending == "keras":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("model.weights.h5", content.getvalue())
    with raises("too-large"), little_memory():
        read_keras(path)


def test_a_member_that_inflates_is_refused(tmp_path):
    path = tmp_path / "m.keras"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.weights.h5", bytes(1 << 28))
    with raises("too-large"), little_memory(1 << 30):
        read_keras(path)


@pytest.mark.parametrize("kind", ["TorchModuleWrapper", "keras.layers>TFSMLayer", "StringLookup", "TextVectorization"])
def test_layers_that_run_code_or_read_files_are_refused(tmp_path, kind):
    path = saved(tmp_path / "m.h5", network())
    stored = read_keras(path)
    config = {"class_name": "Functional", "config": {"layers": [{"class_name": kind, "config": {}}]}}
    with raises("lambda-layer"):
        load_in_keras(replace(stored, config=config))
