"""Checkpoints that strangers made: refused in one sentence, or they predict with finite numbers in little memory."""

import numpy as np
import pytest
from hypothesis import given, settings

from tests.files import changed_files, contents, little_memory, write_contents
from wfalens.errors import FormatError, InputError
from wfalens.models import RNNClassifier, RNNConfig
from wfalens.models.rnn.classifier import CELLS
from wfalens.ragged import Ragged


@pytest.fixture
def originals(letters, tmp_path):
    found = []
    for cell in CELLS:
        config = RNNConfig(cell=cell, embedding=4, hidden=5, layers=2)
        RNNClassifier.untrained(config, letters, ("x", "y")).save(tmp_path / "good.rnn")
        found.append(contents(tmp_path / "good.rnn"))
    return found


def assert_finite(model):
    words = np.arange(len(model.encoder.vocabulary), dtype=np.int32)
    ids = Ragged.from_lists([words, words[::-1], np.tile(words, 40)], np.int32)
    state = model.initial_state(len(words))
    for values in (
        model.trace(ids).values,
        model.initial_output,
        model.step_grid(state, words),
        *model.step(state, words),
    ):
        assert np.isfinite(values).all()


def _one_sentence(path, message):
    assert message.startswith(str(path))
    assert "\n" not in message


def test_changed_checkpoints_are_refused_or_predict(originals, tmp_path):
    loaded = 0

    @settings(max_examples=250, derandomize=True)
    @given(changed_files(originals))
    def check(changed):
        nonlocal loaded
        path = write_contents(tmp_path / "odd.rnn", *changed)
        try:
            model = RNNClassifier.load(path)
        except FormatError as error:
            return _one_sentence(path, str(error))
        loaded += 1
        return assert_finite(model)

    with little_memory():
        check()
    assert loaded > 10


@pytest.mark.parametrize("largest", [1e300, 1e39, 3e38, 1e10])
@pytest.mark.parametrize("name", ["embedding.weight", "recurrent.weight_hh_l1", "output.bias"])
def test_weights_that_would_overflow_are_refused(originals, tmp_path, name, largest):
    tensors, header = originals[0]
    tensors[f"network.{name}"] = tensors[f"network.{name}"].astype(np.float64)
    tensors[f"network.{name}"].flat[0] = -largest
    with pytest.raises(FormatError, match=f"its weights '{name}' are out of range"):
        RNNClassifier.load(write_contents(tmp_path / "odd.rnn", tensors, header))


@pytest.mark.parametrize("cell", CELLS)
def test_the_largest_weights_that_are_taken_stay_finite(letters, tmp_path, cell):
    config = RNNConfig(cell=cell, embedding=64, hidden=64, layers=2)
    RNNClassifier.untrained(config, letters, ("x", "y")).save(tmp_path / "a.rnn")
    tensors, header = contents(tmp_path / "a.rnn")
    rng = np.random.default_rng(0)
    for name in tensors:
        if name.startswith("network."):
            tensors[name] = rng.choice([-1e9, 1e9], tensors[name].shape)
    assert_finite(RNNClassifier.load(write_contents(tmp_path / "odd.rnn", tensors, header)))


def test_weights_of_half_precision_are_refused(originals, tmp_path):
    tensors, header = originals[0]
    tensors["network.output.bias"] = tensors["network.output.bias"].astype(np.float16)
    with pytest.raises(FormatError, match="is of type F16"):
        RNNClassifier.load(write_contents(tmp_path / "odd.rnn", tensors, header))


@pytest.mark.parametrize("limit", [2**63, 2**63 - 1, 0, -1, 5.0, True])
def test_lengths_that_would_break_later_are_refused(originals, tmp_path, limit):
    tensors, header = originals[0]
    with pytest.raises(FormatError, match="max_length must lie between 1 and"):
        RNNClassifier.load(write_contents(tmp_path / "odd.rnn", tensors, header | {"max_length": limit}))


def test_a_small_checkpoint_cannot_want_gigabytes(letters, tmp_path):
    """Few words, a state of one number, and as many classes as names fit."""
    names = tuple(str(number) for number in range(60_000))
    model = RNNClassifier.untrained(RNNConfig(embedding=1, hidden=1), letters, names)
    with pytest.raises(InputError, match="of memory in use, out of proportion"):
        model.save(tmp_path / "odd.rnn")
    RNNClassifier.untrained(RNNConfig(embedding=1, hidden=1), letters, ("x", "y")).save(tmp_path / "a.rnn")
    tensors, header = contents(tmp_path / "a.rnn")
    tensors |= {"network.output.weight": np.zeros((60_000, 1), np.float32), "network.output.bias": np.zeros(60_000)}
    path = write_contents(tmp_path / "odd.rnn", tensors, header | {"class_names": names})
    assert path.stat().st_size < 1_500_000
    with little_memory(1 << 30), pytest.raises(FormatError, match="of memory in use, out of proportion"):
        RNNClassifier.load(path)
