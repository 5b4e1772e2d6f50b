"""Networks over symbols in a folder: those of the TAYSIR competition, and their forward pass."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from tests.errors import raises
from tests.files import little_memory
from wfalens.errors import FormatError, WfalensError
from wfalens.language import log_probability
from wfalens.models import StatefulClassifier, check_causal, wrap
from wfalens.models.base import BlackBoxClassifier
from wfalens.models.contract import END, is_language_model
from wfalens.models.inference import final_outputs
from wfalens.ragged import Ragged

LETTERS, START, STOP, SYMBOLS, HIDDEN = 3, 3, 4, 5, 6
CELLS = {"srn": torch.nn.RNN, "gru": torch.nn.GRU, "lstm": torch.nn.LSTM}


def write(folder, cell, task, layers=1, both=False, changes=None):
    """A random network on disk, and the same network as plain torch."""
    torch.manual_seed(0)
    network = CELLS[cell](SYMBOLS, HIDDEN, layers, batch_first=True, bidirectional=both)
    outputs = SYMBOLS if task == "lm" else 2
    dense = [torch.nn.Linear(HIDDEN * (1 + both), 4), torch.nn.Linear(4, outputs)]
    settings = {
        "cell": cell,
        "layers": layers,
        "hidden": HIDDEN,
        "bidirectional": both,
        "task": task,
        "symbols": SYMBOLS,
        "outputs": outputs,
        "dense": ["Linear", "Linear", "Sigmoid", "Softmax"],
        "start": START,
        "end": STOP,
    }
    weights = {}
    for name, tensor in network.state_dict().items():
        kind, _, place = name.rpartition("_l")
        layer, _, reverse = place.partition("_")
        weights[f"rnn.{layer}.{'bw' if reverse else 'fw'}.{kind}"] = tensor.numpy()
    for number, layer in enumerate(dense):
        weights |= {
            f"dense.{number}.weight": layer.weight.detach().numpy(),
            f"dense.{number}.bias": layer.bias.detach().numpy(),
        }
    (folder / "net.json").write_text(json.dumps(settings | (changes or {})))
    save_file(weights, folder / "net.safetensors")
    return network, dense


def outputs_of(network, dense, word, closes):
    """Straight from the description: one-hot, zero state, last hidden state, sigmoid, softmax."""
    symbols = [START, *word, *([STOP] if closes else [])]
    with torch.inference_mode():
        _, hidden = network(torch.eye(SYMBOLS)[symbols][None])
        hidden = hidden[0] if isinstance(hidden, tuple) else hidden
        last = torch.cat([hidden[-2], hidden[-1]], -1) if network.bidirectional else hidden[-1]
        return dense[1](dense[0](last)).sigmoid().softmax(-1)[0].numpy()


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("task", ["binary", "lm"])
@pytest.mark.parametrize(("layers", "both"), [(1, False), (2, False), (1, True)])
def test_every_prefix_is_read_as_described(tmp_path, cell, task, layers, both):
    network, dense = write(tmp_path, cell, task, layers, both)
    model = wrap(tmp_path)
    assert isinstance(model, BlackBoxClassifier if both else StatefulClassifier)
    words = [[0, 2, 1, 1], [1], [2, 2]]
    trace = model.trace(model.encoder.encode([" ".join(map(str, word)) for word in words]))
    for item, word in enumerate(words):
        for length in range(1, len(word) + 1):
            expected = outputs_of(network, dense, word[:length], task == "binary")
            np.testing.assert_allclose(trace[item][length - 1], expected, atol=1e-5)
    np.testing.assert_allclose(model.initial_output, outputs_of(network, dense, [], task == "binary"), atol=1e-5)
    check_causal(model, Ragged.from_lists([[2, 3, 4, 2, 3]] * 4, np.int32))
    assert is_language_model(model) == (task == "lm")


def test_saturated_outputs_are_not_taken_for_probabilities(tmp_path):
    """A sigmoid may give 0 and 1 after every prefix; the softmax behind it still makes .27 and .73 of them."""
    write(tmp_path, "gru", "binary")
    weights = load_file(tmp_path / "net.safetensors")
    save_file(weights | {"dense.1.bias": np.array([-1000, 1000], np.float32)}, tmp_path / "net.safetensors")
    model = wrap(tmp_path)
    np.testing.assert_allclose(model.trace(model.encoder.encode(["0 1"])).values, [[0.2689, 0.7311]] * 2, atol=1e-4)


def test_a_language_model_multiplies_the_symbols_and_the_end(tmp_path):
    network, dense = write(tmp_path, "gru", "lm")
    model = wrap(tmp_path)
    assert model.class_names[STOP] == END
    rows = [outputs_of(network, dense, prefix, False) for prefix in ([], [0], [0, 2])]
    expected = np.log(rows[0][0]) + np.log(rows[1][2]) + np.log(rows[2][STOP])
    np.testing.assert_allclose(log_probability(model, ["0 2"]), [expected], rtol=1e-5)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"cell": "qrnn"}, "unknown cell 'qrnn'"),
        ({"task": "regression"}, "unknown task"),
        ({"end": 9}, "none of its symbols"),
        ({"dense": ["Linear", "Sigmoid"]}, "no Softmax"),
        ({"dense": ["Linear", "Magic", "Softmax"]}, "unknown layer 'Magic'"),
        ({"hidden": 7}, "not a network over symbols"),
        ({"layers": "two"}, "not a network over symbols"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path, change, said):
    write(tmp_path, "gru", "lm", changes=change)
    with pytest.raises(FormatError, match=said):
        wrap(tmp_path)


def published(number):
    folder = Path(os.environ.get("WFALENS_DATA", "")) / "taysir" / number
    if not (folder / "expected.json").exists():
        pytest.skip("needs the networks of TAYSIR: set WFALENS_DATA to the data folder")
    return folder


@pytest.mark.parametrize("number", ["1.2", "1.5", "1.9", "2.3", "2.4", "2.8"])
def test_the_published_networks_answer_as_expected(number):
    folder = published(number)
    model = wrap(folder)
    for symbols, expected in json.loads((folder / "expected.json").read_text())[:20]:
        word = symbols[1:-1]
        prefixes = [" ".join(map(str, word[:length])) for length in range(1, len(word) + 1)][:30]
        if is_language_model(model):
            found, wanted = log_probability(model, prefixes), np.log(expected[: len(prefixes)])
            np.testing.assert_allclose(found, wanted, atol=0.01)
        else:
            found = model.trace(model.encoder.encode([" ".join(map(str, word))])).values.argmax(1)
            np.testing.assert_array_equal(found == 1, expected)


def test_no_machine_of_five_states_reads_every_word_as_network_1_2_does():
    """Six prefixes, any two of which some continuation tells apart: by Myhill and Nerode it takes six states."""
    model = wrap(published("1.2"))
    prefixes = ["", "0", "13", "13 13", "13 13 13", "14 13 13 13 13"]
    continuations = ["", "13", "13 13", "13 13 13", "0 0"]
    asked = [f"{before} {after}".strip() for before in prefixes for after in continuations]
    classes = final_outputs(model, model.encoder.encode(asked)).argmax(1).reshape(len(prefixes), -1)
    assert len(np.unique(classes, axis=0)) == len(prefixes)


@pytest.mark.parametrize(
    "changes",
    [
        {"layers": 100_000},
        {"layers": 3},
        {"hidden": 10**9},
        {"hidden": 7},
        {"symbols": 60_000},
        {"symbols": 1e308},
        {"start": -1},
        {"bidirectional": True},
        {"dense": ["Linear", "Softmax"]},
        {"dense": ["Sigmoid"] * 100_000 + ["Softmax"]},
        {"dense": "Softmax"},
        {"cell": ["lstm"]},
        {"task": "lm"},
    ],
)
def test_what_the_settings_claim_is_held_against_the_weights(tmp_path, changes):
    write(tmp_path, "lstm", "binary", changes=changes)
    with pytest.raises(WfalensError) as refused, little_memory():
        wrap(tmp_path)
    assert refused.value.code in ("cannot-load", "too-large")


def test_weights_that_are_not_finite_are_refused(tmp_path):
    write(tmp_path, "gru", "binary")
    weights = load_file(tmp_path / "net.safetensors")
    weights["dense.0.bias"][0] = np.nan
    save_file(weights, tmp_path / "net.safetensors")
    with raises("cannot-load"):
        wrap(tmp_path)
