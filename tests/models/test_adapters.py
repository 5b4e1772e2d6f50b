"""Every adapter passes the conformance suite; broken models are refused with the reason."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from tests.errors import raises
from tests.models.conformance import PrefixConformance, StatefulConformance, WholeTextConformance
from wfalens.errors import ModelError
from wfalens.extraction import Paper, extract
from wfalens.models import RNNClassifier, RNNConfig, check_causal, wrap
from wfalens.models.checks import LookAheadWarning
from wfalens.models.inference import final_outputs, prefix_tree
from wfalens.models.padded import PaddedForm, PaddedTokenClassifier
from wfalens.ragged import Ragged

CLASSES = ("x", "y", "z")


@pytest.mark.parametrize("cell", ["lstm", "gru", "elman"])
@pytest.mark.parametrize("layers", [1, 2])
class TestRNN(StatefulConformance):
    @pytest.fixture
    def make(self, cell, layers):
        config = RNNConfig(cell=cell, embedding=5, hidden=6, layers=layers)
        return lambda seed, encoder: RNNClassifier.untrained(config, encoder, CLASSES, seed)


class CausalNet(nn.Module):
    def __init__(self, words, classes=3, bidirectional=False, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        self.embedding = nn.Embedding(words, 6)
        self.rnn = nn.GRU(6, 5, batch_first=True, bidirectional=bidirectional)
        self.out = nn.Linear(10 if bidirectional else 5, classes)

    def forward(self, ids):
        return self.out(self.rnn(self.embedding(ids))[0])


class StateNet(CausalNet):
    def initial_state(self, batch):
        return torch.zeros(batch, 5)

    def step(self, state, ids):
        hidden, after = self.rnn(self.embedding(ids)[:, None], state[None].contiguous())
        return after[0], self.out(hidden[:, 0])


class TestTorchModule(PrefixConformance):
    @pytest.fixture
    def make(self):
        return lambda seed, encoder: wrap(CausalNet(len(encoder.vocabulary), seed=seed), vocab=encoder, classes=CLASSES)


class TestSteppableModule(StatefulConformance):
    @pytest.fixture
    def make(self):
        return lambda seed, encoder: wrap(StateNet(len(encoder.vocabulary), seed=seed), vocab=encoder, classes=CLASSES)


def count_letters(texts):
    """A black box with an answer that one can compute by hand: smoothed shares of a, b and the rest."""
    counts = np.array([[text.count("a"), text.count("b"), len(text)] for text in texts], float)
    counts[:, 2] -= counts[:, 0] + counts[:, 1]
    return (counts + 1) / (counts + 1).sum(1, keepdims=True)


class TestCallable(WholeTextConformance):
    @pytest.fixture
    def make(self):
        names = ("by counts", "by the same counts")
        return lambda seed, encoder: wrap(
            count_letters, vocab=encoder, classes=CLASSES, batch_size=7, name=names[seed], reads="tokens"
        )


def test_callable_answers_are_put_where_they_belong(letters):
    model = wrap(count_letters, vocab=letters, classes=CLASSES, batch_size=3, reads="tokens")
    trace = model.trace(letters.encode(["a b c", "a b b", "c"]))
    np.testing.assert_allclose(
        trace[1], [[2 / 4, 1 / 4, 1 / 4], [2 / 5, 2 / 5, 1 / 5], [2 / 6, 3 / 6, 1 / 6]], atol=1e-6
    )
    np.testing.assert_allclose(trace[2], [[1 / 4, 1 / 4, 2 / 4]], atol=1e-6)


def test_shared_prefixes_are_asked_once(letters):
    asked = []

    def spy(texts):
        asked.extend(tuple(text) for text in texts)
        return count_letters(texts)

    model = wrap(spy, vocab=letters, classes=CLASSES, reads="tokens")
    model.trace(letters.encode(["a b c", "a b d", "a b", "b"]))
    assert sorted(asked) == [("a",), ("a", "b"), ("a", "b", "c"), ("a", "b", "d"), ("b",)]
    assert model.queries == 5


def test_the_output_before_any_word_may_be_given(letters):
    prior = [0.7, 0.2, 0.1]
    told = wrap(count_letters, vocab=letters, classes=CLASSES, initial_output=prior, reads="tokens")
    wfa = extract(told, ["a b c", "b d"], Paper(states=2, completion="uniform", alpha=0))
    np.testing.assert_allclose(wfa.predict_proba([""])[0], prior, atol=1e-6)
    np.testing.assert_allclose(
        final_outputs(told, letters.encode(["", "a"])), [prior, [2 / 4, 1 / 4, 1 / 4]], atol=1e-6
    )
    np.testing.assert_allclose(
        wrap(count_letters, vocab=letters, classes=CLASSES, reads="tokens").initial_output, [1 / 3] * 3
    )


@pytest.mark.parametrize(
    ("prior", "reason"),
    [
        ([0.5, 0.5], r"initial_output returned an array of shape"),
        ([0.9, 0.9, 0.9], "not probabilities"),
        (1.0, "shape"),
    ],
)
def test_an_output_before_any_word_that_is_no_distribution_is_refused(letters, prior, reason):
    with pytest.raises(ModelError, match=reason):
        wrap(count_letters, vocab=letters, classes=CLASSES, initial_output=prior, reads="tokens")


def test_a_module_that_cannot_be_stepped_may_tell_its_output_before_any_word(letters):
    network = CausalNet(len(letters.vocabulary))
    np.testing.assert_allclose(wrap(network, vocab=letters, classes=CLASSES).initial_output, [1 / 3] * 3)
    network.initial_logits = torch.tensor([0.0, 0.0, np.log(2)])
    np.testing.assert_allclose(
        wrap(network, vocab=letters, classes=CLASSES).initial_output, [1 / 4, 1 / 4, 1 / 2], atol=1e-6
    )


def test_prefix_tree_spells_every_prefix():
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 7, 50)
    ids = Ragged.from_lengths(rng.integers(1, 4, lengths.sum()).astype(np.int32), lengths)
    tree = prefix_tree(ids)
    spelled = [tuple(item) for item in tree.spelled(np.arange(len(tree)))]
    assert len(set(spelled)) == len(spelled)
    for item in range(len(ids)):
        for position in range(len(ids[item])):
            number = tree.of_token[ids.offsets[item] + position]
            assert spelled[number] == tuple(ids[item][: position + 1])


def test_optional_packages_are_imported_only_where_they_are_used():
    code = (
        "import sys, wfalens, wfalens.models, wfalens.models.wrapping;"
        "wfalens.wrap(lambda texts: [[0.5, 0.5]] * len(texts), vocab=['a'], classes=[0, 1]), wfalens.Preprocessing;"
        "print([name for name in ('torch', 'onnx', 'onnxruntime', 'transformers', 'keras') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


class Pooled(CausalNet):
    """One row per text: a convolution over the words, and the most of each channel."""

    def forward(self, ids):
        return self.out(self.rnn(self.embedding(ids))[0].amax(1))


class Attention(nn.Module):
    """A small transformer with positions; causal or not."""

    def __init__(self, words, causal, classes=3, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        self.causal = causal
        self.embedding, self.places = nn.Embedding(words, 8), nn.Embedding(64, 8)
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(8, classes)

    def forward(self, ids):
        time = ids.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(time) if self.causal else None
        return self.out(self.layers(self.embedding(ids) + self.places.weight[:time], mask=mask, is_causal=self.causal))


class TestCausalAttention(PrefixConformance):
    @pytest.fixture
    def make(self):
        def module(words, seed):
            return Attention(words, causal=True, seed=seed)

        return lambda seed, encoder: wrap(module(len(encoder.vocabulary), seed), vocab=encoder, classes=CLASSES)


@pytest.mark.filterwarnings("ignore::wfalens.models.checks.LookAheadWarning")
@pytest.mark.parametrize("kind", ["bidirectional", "attention", "one row per text"])
class TestLookAheadModule(WholeTextConformance):
    @pytest.fixture
    def make(self, kind):
        nets = {
            "bidirectional": lambda words, seed: CausalNet(words, bidirectional=True, seed=seed),
            "attention": lambda words, seed: Attention(words, causal=False, seed=seed),
            "one row per text": lambda words, seed: Pooled(words, seed=seed),
        }
        return lambda seed, encoder: wrap(nets[kind](len(encoder.vocabulary), seed), vocab=encoder, classes=CLASSES)


def test_a_module_that_looks_ahead_is_read_prefix_by_prefix_and_says_so(letters):
    network = CausalNet(len(letters.vocabulary), bidirectional=True)
    with pytest.warns(LookAheadWarning, match=r"looks ahead: its output for a prefix changes by .* text by text"):
        model = wrap(network, vocab=letters, classes=CLASSES)
    ids = letters.encode(["a b c d", "d c"])
    trace = model.trace(ids)
    for item, length in ((0, 1), (0, 3), (0, 4), (1, 2)):
        alone = network(torch.from_numpy(ids[item][None, :length]).long())[0, -1].softmax(-1)
        np.testing.assert_allclose(trace[item][length - 1], alone.detach(), atol=1e-6)
    assert model.queries == 6


def test_a_causal_module_is_read_in_one_pass_without_a_warning(letters, recwarn):
    model = wrap(Attention(len(letters.vocabulary), causal=True), vocab=letters, classes=CLASSES)
    assert not hasattr(model, "queries")
    assert not [each for each in recwarn if each.category is LookAheadWarning]


def test_look_ahead_that_begins_late_is_seen(letters):
    class Late(CausalNet):
        """Causal but for texts of more than thirty words, whose length it knows from the start."""

        def forward(self, ids):
            return super().forward(ids) + (ids.shape[1] > 30) * torch.tensor([5.0, 0, 0])

    with pytest.warns(LookAheadWarning):
        wrap(Late(len(letters.vocabulary)), vocab=letters, classes=CLASSES)


def test_a_classifier_of_ones_own_whose_trace_looks_ahead_is_refused_with_the_reason(letters):
    network = CausalNet(len(letters.vocabulary), bidirectional=True)

    @torch.inference_mode()
    def run(ids):
        return network(torch.from_numpy(ids)).numpy()

    model = PaddedTokenClassifier(run, letters, CLASSES, form=PaddedForm(outputs="logits"), fingerprint="both ways")
    ids = letters.encode(["a b c d", "d c b a e"])
    with pytest.raises(ModelError, match=r"not causal: its output for the prefix .* \(a bidirectional network"):
        check_causal(model, ids)
    with pytest.raises(ModelError, match="not causal"):
        extract(model, ids, Paper(states=2))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda n: np.full((n, 2), 0.5), r"shape \(\d+, 2\) where \(\d+, 3\) was expected.*3 class names were given"),
        (lambda n: np.full((n + 1, 3), 1 / 3), r"where \(\d+, 3\) was expected"),
        (lambda n: np.full(n, 0.5), r"shape \(\d+,\)"),
        (lambda n: np.full((n, 3), np.nan), "NaN or infinite"),
        (lambda n: np.full((n, 3), 0.5), r"not probabilities \(one sums to 1.5\); apply a softmax"),
        (lambda n: np.tile([2.0, -1.0, 0.0], (n, 1)), "not probabilities"),
        (lambda n: np.full((n, 3), "a"), "must be numbers"),
        (lambda n: None, "shape"),
    ],
)
def test_wrong_answers_are_refused_in_one_sentence(letters, answer, message):
    model = wrap(lambda texts: answer(len(texts)), vocab=letters, classes=CLASSES, name="model", reads="tokens")
    with pytest.raises(ModelError, match=message) as caught:
        extract(model, ["a b c", "b c"], Paper(states=2))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (lambda ids: torch.zeros(len(ids), 5), r"shape \(\d+, 5\) where \(\d+, 3\) was expected"),
        (lambda ids: torch.zeros(*ids.shape, 5), r"shape \(\d+, 5\) where \(\d+, 3\) was expected"),
        (lambda ids: "no", "returned str"),
        (lambda ids: torch.full((*ids.shape, 3), torch.nan), "NaN"),
    ],
)
def test_modules_of_wrong_shape_are_refused(letters, module, message):
    class Broken(nn.Module):
        def forward(self, ids):
            return module(ids)

    with pytest.raises(ModelError, match=message):
        wrap(Broken(), vocab=letters, classes=CLASSES).trace(letters.encode(["a b c", "b c"]))


def test_modules_with_a_state_of_wrong_shape_are_refused(letters):
    class Broken(StateNet):
        def initial_state(self, batch):
            return torch.zeros(1, batch, 5)

    with pytest.raises(ModelError, match=r"one tensor of shape \(\d, width\), not \(1, \d, 5\)"):
        wrap(Broken(len(letters.vocabulary)), vocab=letters, classes=CLASSES)


@pytest.mark.parametrize("fault", ["stands still", "begins elsewhere", "other logits"])
def test_a_step_that_contradicts_forward_is_found_when_wrapping(letters, fault):
    class Contradicting(StateNet):
        def initial_state(self, batch):
            return torch.full((batch, 5), float(fault == "begins elsewhere"))

        def step(self, state, ids):
            after, logits = super().step(state, ids)
            return (state if fault == "stands still" else after), (-logits if fault == "other logits" else logits)

    with pytest.raises(
        ModelError, match=r"step contradicts its forward: after \d of 12 words their outputs differ by"
    ) as told:
        wrap(Contradicting(len(letters.vocabulary)), vocab=letters, classes=CLASSES)
    assert "after 2 of" in str(told.value) or fault != "stands still"
    assert "\n" not in str(told.value)


def test_a_step_that_contradicts_forward_in_long_texts_only_is_found_when_wrapping(letters):
    class Late(StateNet):
        def forward(self, ids):
            return super().forward(ids) + (ids.shape[1] > 30) * torch.tensor([5.0, 0, 0])

    with pytest.raises(ModelError, match="step contradicts its forward: after 1 of 40 words"):
        wrap(Late(len(letters.vocabulary)), vocab=letters, classes=CLASSES)


class Positions(CausalNet):
    """Knows so many positions, and fails on a longer text like an embedding of them."""

    def __init__(self, words, positions):
        super().__init__(words)
        self.places = nn.Embedding(positions, 6)

    def forward(self, ids):
        return self.out(self.rnn(self.embedding(ids) + self.places(torch.arange(ids.shape[1])))[0])


def test_a_module_that_reads_no_more_words_than_texts_are_cut_to_is_wrapped(letters):
    words = len(letters.vocabulary)
    model = wrap(Positions(words, 5), vocab=replace(letters, max_length=5), classes=CLASSES)
    assert model.trace(model.encoder.encode(["a b c d a b c d"])).values.shape == (5, 3)
    with raises("cannot-read"):
        wrap(Positions(words, 5), vocab=replace(letters, max_length=6), classes=CLASSES)


def test_a_convolution_that_cannot_read_short_texts_is_padded_to_a_width(letters):
    class Convolution(CausalNet):
        def __init__(self, words):
            super().__init__(words)
            self.filters = nn.Conv1d(6, 5, 3)

        def forward(self, ids):
            return self.out(self.filters(self.embedding(ids).transpose(1, 2)).amax(2))

    module = Convolution(len(letters.vocabulary))
    with raises("cannot-read"):
        wrap(module, vocab=letters, classes=CLASSES)
    ids = letters.encode(["a b"])
    for padding, table in (("right", [*ids.values, 0, 0]), ("left", [0, 0, *ids.values])):
        model = wrap(module, vocab=letters, classes=CLASSES, width=4, padding_side=padding)
        expected = module(torch.tensor([table])).softmax(-1).detach()
        np.testing.assert_allclose(model.trace(ids).last(), expected, atol=1e-6)
    assert model.encoder.max_length == 4
    with pytest.raises(ModelError, match="one row per word"):
        wrap(CausalNet(len(letters.vocabulary)), vocab=letters, classes=CLASSES, width=4)


def test_probabilities_are_not_taken_for_logits(letters):
    class Shares(CausalNet):
        def forward(self, ids):
            return super().forward(ids).softmax(-1)

    module, ids = Shares(len(letters.vocabulary)), letters.encode(["a b c"])
    with raises("not-logits"):
        wrap(module, vocab=letters, classes=CLASSES)
    model = wrap(module, vocab=letters, classes=CLASSES, outputs="probabilities")
    np.testing.assert_allclose(model.trace(ids).values, module(torch.from_numpy(ids.values)[None])[0].detach())


def test_what_goes_wrong_in_a_module_is_told_in_one_sentence(letters):
    class Failing(nn.Module):
        def forward(self, ids):
            raise RuntimeError("mat1 and mat2\ncannot be multiplied")

    with raises("cannot-read") as caught:
        wrap(Failing(), vocab=letters, classes=CLASSES)
    assert "\n" not in str(caught.value)
    with raises("unknown-model"):
        wrap(nn.Linear(2, 2).state_dict(), vocab=letters, classes=CLASSES)


@pytest.mark.parametrize("network", [CausalNet, StateNet])
def test_a_vocabulary_larger_than_the_embedding_is_found_when_wrapping(letters, network):
    with pytest.raises(ModelError, match=r"cannot read the id 9: its embedding has 6 rows; .* \(word_ids\)"):
        wrap(network(6), vocab=letters, classes=CLASSES)


@pytest.mark.parametrize("network", [CausalNet, StateNet])
def test_words_reach_a_module_by_its_own_ids(letters, network):
    own = np.random.default_rng(1).permutation(20)[: len(letters.vocabulary)]
    module, ids = network(20), letters.encode(["a c b zebra"])
    expected = module(torch.from_numpy(own[ids.values])[None]).softmax(-1)[0].detach().numpy()
    model = wrap(module, vocab=letters, classes=CLASSES, word_ids=own)
    np.testing.assert_allclose(model.trace(ids).values, expected, atol=1e-5)
    if network is StateNet:
        _, stepped = model.step(model.initial_state(1), ids.values[:1])
        np.testing.assert_allclose(stepped, expected[:1], atol=1e-5)
    for wrong in (own[:3], own / 2):
        with pytest.raises(ModelError, match="word_ids must give one id, a whole number, for each of the 10 words"):
            wrap(module, vocab=letters, classes=CLASSES, word_ids=wrong)
