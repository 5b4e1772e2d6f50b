"""ONNX graphs: with and without states, by names or by a card, and the built-in network there and back."""

import json
import re
import sys

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.external_data_helper import set_external_data

from tests.errors import raises
from tests.files import little_memory
from tests.models.conformance import PrefixConformance, StatefulConformance, WholeTextConformance
from tests.models.graphs import FLOAT, INT, lstm_graph, running_graph, summing_graph, write_graph
from tests.models.toy import CLASSES as TOY_CLASSES
from tests.models.toy import ENCODER, extracted_fidelity, word_scores
from wfalens.errors import FormatError, InputError, MissingDependencyError, ModelError, WfalensError
from wfalens.evaluation import measure_fidelity
from wfalens.extraction import Paper, Stochastic, extract
from wfalens.models import Preprocessing, RNNClassifier, RNNConfig, export_onnx, wrap
from wfalens.models.adapters import onnx_model
from wfalens.models.adapters.onnx_model import OnnxGraph
from wfalens.models.checks import softmax

CLASSES = ("x", "y", "z")


def scores_of(seed, words, classes=3):
    return np.random.default_rng(seed).normal(size=(words, classes)).astype(np.float32)


class TestExportedNetwork(StatefulConformance):
    @pytest.fixture
    def make(self, tmp_path):
        def make(seed, encoder):
            config = RNNConfig(cell="lstm", embedding=5, hidden=6, layers=2)
            export_onnx(RNNClassifier.untrained(config, encoder, CLASSES, seed), tmp_path / f"{seed}.onnx")
            return wrap(tmp_path / f"{seed}.onnx")

        return make


class TestGraphWithTwoStates(StatefulConformance):
    @pytest.fixture
    def make(self, tmp_path):
        def make(seed, encoder):
            path = lstm_graph(tmp_path / f"{seed}.onnx", len(encoder.vocabulary), 3, seed)
            return wrap(path, preprocessing=Preprocessing.of(encoder, CLASSES))

        return make


class TestGraphOfTexts(WholeTextConformance):
    @pytest.fixture
    def make(self, tmp_path):
        def make(seed, encoder):
            path = summing_graph(tmp_path / f"{seed}.onnx", scores_of(seed, len(encoder.vocabulary)))
            return wrap(path, preprocessing=Preprocessing.of(encoder, CLASSES))

        return make


class TestGraphOfFixedWidth(WholeTextConformance):
    @pytest.fixture
    def make(self, tmp_path):
        def make(seed, encoder):
            scores = scores_of(seed, len(encoder.vocabulary))
            path = summing_graph(tmp_path / f"{seed}.onnx", scores, width=10)
            return wrap(path, preprocessing=Preprocessing.of(encoder, CLASSES), padding_side="left")

        return make


@pytest.mark.filterwarnings("ignore::wfalens.models.checks.LookAheadWarning")
@pytest.mark.parametrize("reverse", [0, 1])
class TestGraphOfTokens(PrefixConformance):
    @pytest.fixture
    def make(self, tmp_path, reverse):
        def make(seed, encoder):
            path = running_graph(tmp_path / f"{seed}.onnx", scores_of(seed, len(encoder.vocabulary)), reverse)
            return wrap(path, preprocessing=Preprocessing.of(encoder, CLASSES))

        return make


@pytest.mark.parametrize("cell", ["lstm", "gru", "elman"])
@pytest.mark.parametrize("layers", [1, 3])
def test_a_network_says_the_same_after_export(letters, tmp_path, cell, layers):
    config = RNNConfig(cell=cell, embedding=5, hidden=6, layers=layers)
    model = RNNClassifier.untrained(config, letters, CLASSES, seed=3)
    for weights in model.network.parameters():
        weights.data *= 3  # outputs of fresh weights are close to uniform and would hide differences
    export_onnx(model, tmp_path / "m.onnx")
    onnx.checker.check_model(tmp_path / "m.onnx", full_check=True)
    copy = wrap(tmp_path / "m.onnx")
    ids = StatefulConformance().ids(model)
    assert np.ptp(model.trace(ids).values, axis=0).max() > 0.1
    np.testing.assert_allclose(copy.trace(ids).values, model.trace(ids).values, atol=5e-6)
    np.testing.assert_allclose(copy.initial_output, model.initial_output, atol=1e-7)
    assert (copy.encoder, copy.class_names) == (model.encoder, model.class_names)


def test_the_automaton_of_an_exported_network_is_the_networks(news_model, headlines, test_headlines, tmp_path):
    export_onnx(news_model, tmp_path / "news.onnx")
    copy = wrap(tmp_path / "news.onnx")
    ids = news_model.encoder.encode(test_headlines.texts)
    np.testing.assert_allclose(copy.trace(ids).values, news_model.trace(ids).values, atol=1e-6)
    extractor = Stochastic(states=20, completion="probe", alpha=0.0, abstraction="outputs")
    ours, theirs = extract(news_model, headlines, extractor), extract(copy, headlines, extractor)
    np.testing.assert_allclose(theirs.predict_proba(ids), ours.predict_proba(ids), atol=1e-6)
    assert measure_fidelity(theirs, copy, test_headlines, reference=headlines).overall.cr.value > 0.9


def test_equal_networks_make_equal_files(letters, tmp_path):
    for name in ("a", "b"):
        export_onnx(RNNClassifier.untrained(RNNConfig(hidden=4), letters, CLASSES, 0), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_graph_without_states_is_extracted_faithfully(tmp_path):
    path = summing_graph(tmp_path / "toy.onnx", word_scores(ENCODER.vocabulary))
    Preprocessing.of(ENCODER, TOY_CLASSES).write(tmp_path / "toy.json")
    cr, accuracy = extracted_fidelity(wrap(path))
    assert accuracy == 1
    assert cr > 0.9


def test_prefixes_go_in_tables_of_one_length(letters, tmp_path):
    scores = scores_of(0, len(letters.vocabulary))
    scores[0] = [99, 0, 0]  # a single padded column would show
    model = wrap(summing_graph(tmp_path / "m.onnx", scores), preprocessing=Preprocessing.of(letters, CLASSES))
    trace = model.trace(letters.encode(["a b c d", "b", "c a"]))
    ids = letters.encode(["a b c d"])[0]
    np.testing.assert_allclose(trace[0], softmax(scores[ids].cumsum(0)), atol=1e-6)
    assert model.queries == 7


def test_a_graph_of_fixed_width_is_padded_on_the_side_it_wants(letters, tmp_path):
    """The graph scores the last column only: with padding on the left it reads the last word."""
    scores = scores_of(0, len(letters.vocabulary))
    nodes = [("Gather", ["ids", "last"], ["word"], {"axis": 1}), ("Gather", ["scores", "word"], ["logits"], {})]
    ports = {"ids": (INT, ["batch", 4])}, {"logits": (FLOAT, ["batch", 3])}
    path = write_graph(tmp_path / "m.onnx", nodes, *ports, {"scores": scores, "last": np.array(3, np.int64)})
    card = Preprocessing.of(letters, CLASSES)
    ids = letters.encode(["a b c d e"])
    left = wrap(path, preprocessing=card, padding_side="left").trace(ids)[0]
    right = wrap(path, preprocessing=card, padding_side="right").trace(ids)[0]
    np.testing.assert_allclose(left[:4], softmax(scores[ids[0][:4]]), atol=1e-6)
    np.testing.assert_allclose(right[:3], softmax(scores[[0, 0, 0]]), atol=1e-6)
    np.testing.assert_allclose(right[3], left[3])
    np.testing.assert_allclose(left[4], left[3])  # what the model cannot read does not count
    assert wrap(path, preprocessing=card).encoder.max_length == 4
    with pytest.raises(InputError, match="unknown padding_side 'top'; choose one of right, left"):
        wrap(path, preprocessing=card, padding_side="top")


def test_a_models_own_order_of_words_is_kept(tmp_path):
    """Other vocabularies put padding and the unknown word where they like."""
    words = ("[UNK]", "b", "[PAD]", "a")
    scores = scores_of(0, len(words))
    path = summing_graph(tmp_path / "m.onnx", scores)
    card = Preprocessing(words=words, class_names=CLASSES, unknown="[UNK]", padding="[PAD]", tokenizer="whitespace")
    card.write(tmp_path / "m.json")
    model = wrap(path)
    assert model.encoder.vocabulary.words == ("<pad>", "<unk>", "b", "a")
    trace = model.trace(model.encoder.encode(["a b [PAD]"]))[0]
    np.testing.assert_allclose(trace, softmax(scores[[3, 1, 0]].cumsum(0)), atol=1e-6)


@pytest.mark.parametrize("names", [("h", "c", "h_out", "c_out"), ("h_in", "c_in", "h_out", "c_out")])
def test_states_are_paired_by_name(letters, tmp_path, names):
    path = lstm_graph(tmp_path / "m.onnx", len(letters.vocabulary), 3, 0, names)
    model = wrap(path, preprocessing=Preprocessing.of(letters, CLASSES))
    assert [port.after for port in OnnxGraph(path, None, None).states] == [names[2], names[3]]
    assert model.initial_state(2).shape == (2, 8)


def test_states_of_other_names_are_paired_by_the_card(letters, tmp_path):
    path = lstm_graph(tmp_path / "m.onnx", len(letters.vocabulary), 3, 0, ("p", "q", "r", "s"))
    with pytest.raises(ModelError, match=r"new value of the input 'p' \(outputs: logits, r, s\); name it in the prep"):
        wrap(path, preprocessing=Preprocessing.of(letters, CLASSES))
    named = wrap(path, preprocessing=Preprocessing.of(letters, CLASSES, state={"p": "r", "q": "s"}))
    usual = wrap(
        lstm_graph(tmp_path / "n.onnx", len(letters.vocabulary), 3, 0), preprocessing=Preprocessing.of(letters, CLASSES)
    )
    ids = StatefulConformance().ids(usual)
    np.testing.assert_allclose(named.trace(ids).values, usual.trace(ids).values, atol=1e-6)
    with pytest.raises(InputError, match="names a state 'x', but the graph has no such input"):
        wrap(path, preprocessing=Preprocessing.of(letters, CLASSES, state={"p": "r", "q": "s", "x": "s"}))


def test_an_output_of_another_name_is_explained_by_the_card(letters, tmp_path):
    scores = scores_of(0, len(letters.vocabulary), 1)
    path = summing_graph(tmp_path / "m.onnx", scores, output="y")
    with pytest.raises(InputError, match="what the output 'y' holds is not known by its name; say probabilities"):
        wrap(path, preprocessing=Preprocessing.of(letters, ("no", "yes")))
    probability = (1 / (1 + np.exp(-scores)) / 20).astype(np.float32)  # of each word: a text adds them up
    path = summing_graph(tmp_path / "p.onnx", probability, output="y")
    model = wrap(path, preprocessing=Preprocessing.of(letters, ("no", "yes"), outputs="binary"))
    trace = model.trace(letters.encode(["a"]))[0]
    np.testing.assert_allclose(trace, [[1 - probability[2, 0], probability[2, 0]]], atol=1e-6)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"ids": (INT, [1, "time"])}, r"must be \(batch,\) or \(batch, time\) with a free batch; export"),
        ({"ids": (INT, ["batch", "time"]), "mask": (INT, ["batch", "time"])}, r"one integer input .*, not ids, mask"),
        ({"ids": (FLOAT, ["batch", "time"])}, r"one integer input \(the word ids\) is expected, not none"),
        ({"ids": (INT, ["batch"])}, r"must be \(batch, time\) in a graph without states"),
        ({"ids": (INT, ["batch", "time"]), "h": (FLOAT, ["batch", "width"])}, "must have one free axis, its batch"),
    ],
)
def test_graphs_that_cannot_be_studied_are_refused_with_the_reason(letters, tmp_path, inputs, message):
    nodes = [("Identity", ["answer"], ["logits"], {}), ("Identity", ["state"], ["h_out"], {})]
    constants = {"answer": np.zeros((1, 3), np.float32), "state": np.zeros((1, 2), np.float32)}
    outputs = {"logits": (FLOAT, [1, 3])}
    if "h" in inputs:
        outputs["h_out"] = (FLOAT, [1, 2])
    path = write_graph(tmp_path / "m.onnx", nodes, inputs, outputs, constants)
    with pytest.raises(ModelError, match=message) as caught:
        wrap(path, preprocessing=Preprocessing.of(letters, CLASSES))
    assert "\n" not in str(caught.value)


def stepping_graph(path, scores):
    return lstm_graph(path, *scores.shape, seed=0)


@pytest.mark.parametrize("graph", [summing_graph, running_graph, stepping_graph])
def test_a_card_that_contradicts_its_graph_is_refused_when_it_is_opened(letters, tmp_path, graph):
    path = graph(tmp_path / "m.onnx", scores_of(0, 3))
    with raises("vocabulary-size", match="cannot read the id 9") as caught:
        wrap(path, preprocessing=Preprocessing.of(letters, CLASSES))
    assert "\n" not in str(caught.value)
    path = graph(tmp_path / "n.onnx", scores_of(0, 10))
    with pytest.raises(InputError, match="has 3 classes, but its preprocessing names 2"):
        wrap(path, preprocessing=Preprocessing.of(letters, ("x", "y")))


def test_a_graph_that_was_said_to_give_logits_and_gives_probabilities_is_refused(letters, tmp_path):
    shares = np.random.default_rng(0).dirichlet(np.ones(3), 10).astype(np.float32) / 4
    path = summing_graph(tmp_path / "m.onnx", shares, width=4)
    with pytest.raises(ModelError, match="gives probabilities, not logits"):
        wrap(path, preprocessing=Preprocessing.of(letters, CLASSES, outputs="logits"))


@pytest.mark.parametrize("graph", [summing_graph, running_graph])
def test_the_prior_of_the_card_is_the_models(letters, tmp_path, graph):
    path = graph(tmp_path / "m.onnx", scores_of(0, 10))
    model = wrap(path, preprocessing=Preprocessing.of(letters, CLASSES, initial_output=(0.5, 0.3, 0.2)))
    wfa = extract(model, ["a b", "c"], Paper(states=2, completion="uniform"))
    np.testing.assert_allclose(wfa.predict_proba([""])[0], [0.5, 0.3, 0.2], atol=1e-6)


def test_a_new_state_that_does_not_fit_the_old_one_is_refused(letters, tmp_path):
    nodes = [
        ("Gather", ["scores", "ids"], ["logits"], {}),
        ("Concat", ["h", "h"], ["h_out"], {"axis": 1}),
    ]
    inputs = {"ids": (INT, ["batch"]), "h": (FLOAT, ["batch", 2])}
    outputs = {"logits": (FLOAT, ["batch", 3]), "h_out": (FLOAT, ["batch", 4])}
    path = write_graph(tmp_path / "m.onnx", nodes, inputs, outputs, {"scores": scores_of(0, 10)})
    with pytest.raises(ModelError, match=r"the new state 'h_out' is \(1, 4\) and cannot take the place of 'h'"):
        wrap(path, preprocessing=Preprocessing.of(letters, CLASSES))


def test_missing_and_damaged_files_are_refused(letters, tmp_path):
    card = Preprocessing.of(letters, CLASSES)
    with pytest.raises(InputError, match=r"m\.onnx: no such file"):
        wrap(tmp_path / "m.onnx", preprocessing=card)
    (tmp_path / "m.onnx").write_bytes(b"nothing of the kind")
    with pytest.raises(FormatError, match="not a graph that onnxruntime can run"):
        wrap(tmp_path / "m.onnx", preprocessing=card)


def test_a_refused_graph_prints_nothing(letters, tmp_path, capfd):
    path = summing_graph(tmp_path / "m.onnx", scores_of(0, 10))
    path.write_bytes(path.read_bytes().replace(b"Gather", b"Gath\xabr"))  # a name that cannot even be decoded
    with pytest.raises(FormatError, match="not a graph that onnxruntime can run"):
        wrap(path, preprocessing=Preprocessing.of(letters, CLASSES))
    assert capfd.readouterr().out == ""


def test_a_graph_without_a_card_is_refused_with_what_to_write(letters, tmp_path):
    path = summing_graph(tmp_path / "m.onnx", scores_of(0, 10))
    with raises("preprocessing-needed"):
        wrap(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"words": None}, "the entry 'words' is not a list of strings"),
        ({"words": ["<unk>", "a", "a"]}, "a word stands twice"),
        ({"words": ["a", "b"], "padding": None}, "'<unk>' is not among the model's words; name the one"),
        ({"padding": "no"}, "'no' is not among the model's words; name the one that pads"),
        ({"class_names": ["x"]}, "at least two classes"),
        ({"tokenizer": "magic"}, "unknown tokenizer 'magic'; choose one of"),
        ({"outputs": "odds"}, "unknown outputs 'odds'; choose one of probabilities, logits, binary"),
        ({"max_length": 2.5}, "the entry 'max_length' is not a whole number or null"),
        ({"max_length": 0}, "max_length must lie between 1 and"),
        ({"state": ["h"]}, "the entry 'state' is not an object of names or null"),
        ({"initial_output": [1, 1, 1]}, "rows that are not probabilities"),
        ({"clases": []}, "unknown entry 'clases'; known"),
        ({"version": 7}, "not a preprocessing file of version 1"),
    ],
)
def test_wrong_cards_are_refused_in_one_sentence(letters, tmp_path, change, message):
    content = json.loads(Preprocessing.of(letters, CLASSES).to_json()) | change
    (tmp_path / "m.json").write_text(json.dumps(content))
    with pytest.raises(FormatError, match=re.escape(message)) as caught:
        Preprocessing.read(tmp_path / "m.json")
    assert str(caught.value).startswith(f"{tmp_path / 'm.json'}: ")


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"words": ["<unk>"]}', "[" * 10_000])
def test_texts_that_are_no_cards_are_refused(tmp_path, text):
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(FormatError, match=r"m\.json: "):
        Preprocessing.read(tmp_path / "m.json")


def test_a_card_is_the_same_after_writing_and_reading(letters, tmp_path):
    card = Preprocessing.of(letters, CLASSES, state={"h": "k"}, outputs="logits", initial_output=(0.5, 0.25, 0.25))
    card.write(tmp_path / "m.json")
    assert Preprocessing.read(tmp_path / "m.json") == card


def test_words_of_every_kind_survive_the_export(tmp_path):
    from wfalens.text import TextEncoder, Vocabulary

    encoder = TextEncoder(
        Vocabulary.of_words(["don't", "22", '"', "\\", "{", "🙂", "<br/>", "\ud800"]), "whitespace", 7
    )
    export_onnx(RNNClassifier.untrained(RNNConfig(hidden=4), encoder, CLASSES), tmp_path / "m.onnx")
    assert wrap(tmp_path / "m.onnx").encoder == encoder


@pytest.mark.parametrize(("package", "act"), [("onnxruntime", wrap), ("onnx", export_onnx)])
def test_a_missing_package_names_the_extra(letters, tmp_path, monkeypatch, package, act):
    model = RNNClassifier.untrained(RNNConfig(hidden=4), letters, CLASSES)
    export_onnx(model, tmp_path / "m.onnx")
    monkeypatch.setitem(sys.modules, package, None)
    arguments = (tmp_path / "m.onnx",) if act is wrap else (model, tmp_path / "n.onnx")
    with pytest.raises(MissingDependencyError, match=rf"{package} is not installed; .*'wfalens\[onnx\]'"):
        act(*arguments)


def described(path):
    Preprocessing.of(ENCODER, TOY_CLASSES, outputs="logits").write(path.with_suffix(".json"))
    return path


def constant_graph(path, nodes, constants):
    """A graph of 300 bytes whose output does not depend on its words."""
    ports = {"ids": (INT, ["batch", "time"])}, {"logits": (FLOAT, ["batch", 2])}
    return described(write_graph(path, nodes, *ports, constants))


def test_a_small_graph_that_wants_much_memory_is_refused(tmp_path):
    nodes = [
        ("ConstantOfShape", ["shape"], ["large"], {}),
        ("ReduceSum", ["large"], ["logits"], {"keepdims": 0}),
    ]
    path = constant_graph(tmp_path / "m.onnx", nodes, {"shape": np.array([1500, 1500, 1000])})
    with pytest.raises(WfalensError), little_memory(4 << 30):
        wrap(path)


def test_a_graph_that_does_not_end_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(onnx_model, "_MOST_SECONDS", 0.5)
    ports = [helper.make_tensor_value_info(*each) for each in (("i", INT, []), ("more", 9, []), ("x", FLOAT, [1, 2]))]
    after = [helper.make_tensor_value_info(*each) for each in (("again", 9, []), ("y", FLOAT, [1, 2]))]
    steps = [helper.make_node("Identity", ["more"], ["again"]), helper.make_node("Identity", ["x"], ["y"])]
    loop = ("Loop", ["count", "yes", "zeros"], ["logits"], {"body": helper.make_graph(steps, "body", ports, after)})
    constants = {"count": np.array(2**60), "yes": np.array(True), "zeros": np.zeros((1, 2), np.float32)}
    with raises("model", ModelError):
        wrap(constant_graph(tmp_path / "m.onnx", [loop], constants))


@pytest.mark.parametrize("place", ["../secret", "/secret", "a/../../secret", "..\\secret", "link"])
def test_weights_outside_the_folder_of_a_graph_are_not_read(tmp_path, place):
    folder = tmp_path / "model"
    folder.mkdir()
    scores = word_scores(ENCODER.vocabulary)
    (tmp_path / "secret").write_bytes(scores.astype(np.float32).tobytes())
    (folder / "link").symlink_to(tmp_path / "secret")
    path = described(summing_graph(folder / "m.onnx", scores))
    model = onnx.load(path)
    weights = next(each for each in model.graph.initializer if each.name == "scores")
    set_external_data(weights, place)
    weights.ClearField("raw_data")
    path.write_bytes(model.SerializeToString())
    with raises("foreign-file"):
        wrap(path)


def test_a_changed_model_or_description_is_noticed(tmp_path):
    path = summing_graph(tmp_path / "m.onnx", word_scores(ENCODER.vocabulary))
    beside = path.with_suffix(".json")
    Preprocessing.of(ENCODER, TOY_CLASSES).write(beside, path)
    wrap(path)
    content = json.loads(beside.read_text())
    beside.write_text(json.dumps(content | {"truncation_side": "left"}))
    with raises("checksum"):
        wrap(path)
    del content["checksum"]
    beside.write_text(json.dumps(content))
    wrap(path)
    Preprocessing.of(ENCODER, TOY_CLASSES).write(beside, path)
    summing_graph(path, -word_scores(ENCODER.vocabulary))
    with raises("checksum"):
        wrap(path)
