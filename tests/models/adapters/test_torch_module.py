"""Torch modules that take more than ids, on the device and in the type of their weights."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from tests.errors import raises
from tests.models.conformance import PrefixConformance
from wfalens.models import wrap

CLASSES = ("x", "y", "z")


class Base(nn.Module):
    def __init__(self, words=10, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        self.embedding, self.rnn, self.out = nn.Embedding(words, 6), nn.GRU(6, 5, batch_first=True), nn.Linear(5, 3)


class WithLengths(Base):
    """One row per text, the last state of a packed sequence."""

    def forward(self, ids, lengths):
        packed = pack_padded_sequence(self.embedding(ids), lengths, batch_first=True, enforce_sorted=False)
        return self.out(self.rnn(packed)[1][-1])


class WithMask(Base):
    """One row per text, the mean of the states of its words."""

    def forward(self, ids, attention_mask):
        hidden = self.rnn(self.embedding(ids))[0].masked_fill(~attention_mask[..., None], 0)
        return self.out(hidden.sum(1) / attention_mask.sum(1, keepdim=True))


class WithWholeMask(Base):
    """The same with a mask of whole numbers, as transformers have it."""

    def forward(self, ids, mask):
        hidden = self.rnn(self.embedding(ids))[0] * (1 - (1 - mask))[..., None]
        return self.out(hidden.sum(1) / mask.sum(1, keepdim=True))


class WithPaddingMask(Base):
    """The same with a mask that is true where a text is padded."""

    def forward(self, ids, padding_mask):
        hidden = self.rnn(self.embedding(ids))[0].masked_fill(padding_mask[..., None], 0)
        return self.out(hidden.sum(1) / (~padding_mask).sum(1, keepdim=True))


class Packed(Base):
    """A row for every word of a packed sequence of ids."""

    def forward(self, packed):
        words = PackedSequence(self.embedding(packed.data), *packed[1:])
        hidden = self.rnn(words)[0]
        return PackedSequence(self.out(hidden.data), *hidden[1:])


class Unnamed(Base):
    """What the second parameter is, is not told by its name."""

    def forward(self, x, y):
        return WithLengths.forward(self, x, y)


FORMS = (WithLengths, WithMask, WithWholeMask, WithPaddingMask, Packed, Unnamed)


@pytest.mark.parametrize("kind", FORMS)
class TestForward(PrefixConformance):
    @pytest.fixture
    def make(self, kind):
        return lambda seed, encoder: wrap(kind(len(encoder.vocabulary), seed), vocab=encoder, classes=CLASSES)


@pytest.mark.parametrize("kind", FORMS)
def test_a_padded_text_is_read_as_one_without_padding(letters, kind):
    module = kind(len(letters.vocabulary))
    ids = letters.encode(["a b", "c"])
    plain = wrap(module, vocab=letters, classes=CLASSES)
    if kind is Packed:
        return  # a row per word: texts of unequal length are padded anyway
    wide = wrap(module, vocab=letters, classes=CLASSES, width=5)
    np.testing.assert_allclose(wide.final(ids), plain.final(ids), atol=1e-6)


def test_the_padding_of_a_model_with_its_own_ids_is_found(letters):
    own = np.arange(len(letters.vocabulary))[::-1].copy()
    module, ids = WithLengths(), letters.encode(["a b"])
    model = wrap(module, vocab=letters, classes=CLASSES, word_ids=own, width=4)
    expected = module(torch.from_numpy(own[ids.values])[None], torch.tensor([2])).softmax(-1).detach()
    np.testing.assert_allclose(model.final(ids), expected, atol=1e-6)


def test_what_forward_takes_may_be_said(letters):
    class Either(Base):
        def forward(self, ids, second):
            assert second.dtype == torch.bool
            return self.out(self.rnn(self.embedding(ids))[0].mean(1))

    assert wrap(Either(), vocab=letters, classes=CLASSES, inputs="mask").predict_proba(["a b"]).shape == (1, 3)
    with raises("cannot-read"):
        wrap(Either(), vocab=letters, classes=CLASSES, inputs="ids")
    with raises("option-value"):
        wrap(Either(), vocab=letters, classes=CLASSES, inputs="words")


@pytest.mark.parametrize(
    "answer",
    [
        lambda ids: torch.zeros(len(ids)),
        lambda ids: torch.zeros(ids.shape[1], len(ids), 3),
        lambda ids: torch.zeros(len(ids), 1, 1, 3),
    ],
)
def test_rows_of_another_shape_are_refused_in_one_sentence(letters, answer):
    class Wrong(nn.Module):
        def forward(self, ids):
            return answer(ids)

    with raises("output-shape") as caught:
        wrap(Wrong(), vocab=letters, classes=CLASSES)
    assert "\n" not in str(caught.value)


def test_ids_are_moved_to_the_device_of_the_module(letters):
    seen = set()

    class Elsewhere(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("there", torch.empty(1, device="meta"), persistent=False)

        def forward(self, ids):
            seen.add(ids.device.type)
            return torch.arange(3.0).expand(len(ids), 3)

    wrap(Elsewhere(), vocab=letters, classes=CLASSES).predict_proba(["a b"])
    assert seen == {"meta"}


def test_a_module_keeps_its_type(letters):
    class Half(Base):
        def forward(self, ids):
            return self.out(self.rnn(self.embedding(ids))[0])

        def initial_state(self, batch):
            return torch.zeros(batch, 5, dtype=torch.bfloat16)

        def step(self, state, ids):
            hidden, after = self.rnn(self.embedding(ids)[:, None], state[None].contiguous())
            return after[0], self.out(hidden[:, 0])

    module = Half().to(torch.bfloat16)
    model = wrap(module, vocab=letters, classes=CLASSES)
    state, output = model.step(model.initial_state(1), letters.encode(["a"]).values)
    assert (state.dtype, output.dtype, module.out.weight.dtype) == (np.float32, np.float32, torch.bfloat16)


def test_a_batch_has_at_most_so_many_tokens(letters):
    shapes = []

    class Spy(Base):
        def forward(self, ids):
            shapes.append(tuple(ids.shape))
            return self.out(self.rnn(self.embedding(ids))[0].mean(1))

    model = wrap(Spy(), vocab=letters, classes=CLASSES, tokens_per_batch=12)
    del shapes[:]
    texts = [f"{first} {second} c" for first in "abcde" for second in "abc"]
    outputs = model.predict_proba(texts)
    assert sorted(shapes) == [(3, 3), (4, 3), (4, 3), (4, 3)]
    np.testing.assert_allclose(outputs[7], model.predict_proba(texts[7:8])[0], atol=1e-6)


@pytest.mark.parametrize("answer", [lambda logits: {"logits": logits}, lambda logits: (logits, None)])
def test_logits_beside_something_else_are_found(letters, answer):
    class Beside(WithLengths):
        def forward(self, ids, lengths):
            return answer(super().forward(ids, lengths))

    modules = (kind(len(letters.vocabulary)) for kind in (WithLengths, Beside))
    plain, beside = (wrap(module, vocab=letters, classes=CLASSES) for module in modules)
    np.testing.assert_array_equal(beside.predict_proba(["a b"]), plain.predict_proba(["a b"]))


def test_a_mask_that_has_a_default_is_given_where_ids_alone_do_not_do(letters):
    class Optional(WithMask):
        def forward(self, ids, attention_mask=None):
            return super().forward(ids, attention_mask)

    models = [wrap(kind(len(letters.vocabulary)), vocab=letters, classes=CLASSES) for kind in (WithMask, Optional)]
    np.testing.assert_array_equal(*(model.predict_proba(["a b", "c"]) for model in models))


@pytest.mark.parametrize("axes", [1, 2])
def test_one_number_is_the_second_class_as_a_probability_or_before_its_sigmoid(letters, axes):
    class Second(Base):
        def forward(self, ids):
            logit = self.out(self.rnn(self.embedding(ids))[1][-1])[:, :1]
            return logit if axes == 2 else logit[:, 0]

    module = Second()
    with raises("output-shape"):
        wrap(module, vocab=letters, classes=("no", "yes"))
    logits = wrap(module, vocab=letters, classes=("no", "yes"), outputs="binary_logits")
    shares = wrap(nn.Sequential(module, nn.Sigmoid()), vocab=letters, classes=("no", "yes"), outputs="binary")
    np.testing.assert_allclose(logits.predict_proba(["a b"]), shares.predict_proba(["a b"]), atol=1e-6)


def test_a_module_without_weights_is_refused(letters):
    with raises("no-weights"):
        wrap(Base().to("meta"), vocab=letters, classes=CLASSES)
