"""Hugging Face classifiers: tiny ones, built here from nothing."""

import sys

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    GPT2Config,
    GPT2ForSequenceClassification,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
    pipeline,
)

from tests.errors import raises
from tests.models.conformance import WholeTextConformance
from tests.models.toy import CLASSES as TOY_CLASSES
from tests.models.toy import ENCODER, extracted_fidelity, texts
from wfalens.errors import InputError, MissingDependencyError, ModelError
from wfalens.models import wrap

CLASSES = ("x", "y", "z")
SPECIAL = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}


def word_pieces(pieces, framed=True, **special):
    """A tokenizer that splits words into known pieces."""
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *pieces]
    inner = Tokenizer(
        models.WordPiece({word: number for number, word in enumerate(words)}, unk_token=SPECIAL["unk_token"])
    )
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if framed:
        frame = [("[CLS]", 2), ("[SEP]", 3)]
        inner.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=frame)
    return PreTrainedTokenizerFast(tokenizer_object=inner, **(SPECIAL | special))


LETTERS = word_pieces(list("abcdefgh"))


def small(width):
    return {"hidden_size": width, "num_attention_heads": 2, "intermediate_size": width}


def bert(seed, tokenizer, labels=CLASSES, **shape):
    torch.manual_seed(seed)
    usual = {"num_hidden_layers": 1, "max_position_embeddings": 24, "initializer_range": 0.5, **small(16)}
    config = BertConfig(vocab_size=len(tokenizer), id2label=dict(enumerate(labels)), **(usual | shape))
    return BertForSequenceClassification(config)


class TestTransformer(WholeTextConformance):
    @pytest.fixture
    def make(self):
        return lambda seed, encoder: wrap(
            (bert(seed, LETTERS), LETTERS), vocab=encoder, batch_size=50, tokens_per_batch=64
        )


@pytest.mark.parametrize("padding", [0, 1, None])
class TestDecoder(WholeTextConformance):
    """A decoder whose tokenizer frames nothing: an empty text has no sub-word.

    Where the unknown token (1) pads, the model would overlook it at the end, and unknown words are left out.
    """

    @pytest.fixture
    def make(self, padding):
        tokenizer = word_pieces(list("abcdefgh"), framed=False)

        def make(seed, encoder):
            torch.manual_seed(seed)
            config = GPT2Config(
                vocab_size=len(tokenizer),
                n_positions=220,
                n_embd=8,
                n_layer=1,
                n_head=2,
                initializer_range=0.5,
                num_labels=3,
                pad_token_id=padding,
                bos_token_id=2,
                eos_token_id=3,
            )
            return wrap((GPT2ForSequenceClassification(config), tokenizer), vocab=encoder)

        return make


def test_a_decoder_reads_all_prefixes_of_a_text_in_one_pass(letters):
    tokenizer = word_pieces(list("abcdefgh"), framed=False)
    torch.manual_seed(0)
    shape = {"n_positions": 40, "n_embd": 8, "n_layer": 2, "n_head": 2, "initializer_range": 0.5, "num_labels": 3}
    config = GPT2Config(vocab_size=len(tokenizer), pad_token_id=0, bos_token_id=2, eos_token_id=3, **shape)
    model = GPT2ForSequenceClassification(config)
    wrapped = wrap((model, tokenizer), vocab=letters)
    read = []
    model.transformer.register_forward_hook(lambda _, given, __: read.append(tuple(given[0].shape)))
    trace = wrapped.trace(letters.encode(["a b c d e", "a b c", "b a"]))
    assert sorted(read) == [(1, 2), (1, 5)]  # "a b c" begins the first text
    del read[:]
    for text, length in (("a", 1), ("a b c", 3), ("a b c d e", 5)):
        np.testing.assert_allclose(trace[0][length - 1], answer(model, tokenizer, text), atol=1e-5)
    np.testing.assert_allclose(trace[2][1], answer(model, tokenizer, "b a"), atol=1e-5)


def test_an_encoder_is_not_taken_for_a_causal_model(letters):
    from wfalens.models.adapters.transformer import SharedPassClassifier

    assert not isinstance(wrap((bert(0, LETTERS), LETTERS), vocab=letters), SharedPassClassifier)


@torch.inference_mode()
def answer(model, tokenizer, text):
    return model(**tokenizer(text, return_tensors="pt")).logits.softmax(-1).numpy()[0]


def test_every_prefix_is_read_as_sub_words_of_its_own(letters):
    from wfalens.text import TextEncoder, Vocabulary

    tokenizer = word_pieces(["new", "##s", "##y", "bad"])
    model = bert(0, tokenizer)
    encoder = TextEncoder(Vocabulary.of_words(["news", "newsy", "bad"]), "whitespace")
    wrapped = wrap((model, tokenizer), vocab=encoder)
    trace = wrapped.trace(encoder.encode(["newsy bad yonder news"]))[0]
    prefixes = ["newsy", "newsy bad", "newsy bad [UNK]", "newsy bad [UNK] news"]
    np.testing.assert_allclose(trace, [answer(model, tokenizer, prefix) for prefix in prefixes], atol=1e-6)
    np.testing.assert_allclose(wrapped.initial_output, answer(model, tokenizer, ""), atol=1e-6)
    assert wrapped.class_names == CLASSES


def test_a_transformer_is_extracted_faithfully():
    """Words are spelled in pieces: fine3 is fine + ##3."""
    tokenizer = word_pieces(["fine", "poor", "thing", *(f"##{number}" for number in range(5))])
    model = bert(0, tokenizer, TOY_CLASSES, initializer_range=0.1)
    train = texts(600, seed=0)
    optimiser = torch.optim.Adam(model.parameters(), 5e-3)
    rng = np.random.default_rng(0)
    for _ in range(120):
        chosen = rng.choice(len(train), 32)
        table = tokenizer([train.texts[at] for at in chosen], padding=True, return_tensors="pt")
        loss = model(**table, labels=torch.tensor(train.labels[chosen])).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    wrapped = wrap((model, tokenizer), vocab=ENCODER)
    cr, accuracy = extracted_fidelity(wrapped)
    assert accuracy > 0.9
    assert cr > 0.85


def test_equal_sub_words_are_read_once(letters):
    model = bert(0, LETTERS)
    read = []
    model.register_forward_hook(lambda _, __, kwargs, ___: read.extend(kwargs["input_ids"]), with_kwargs=True)
    wrapped = wrap((model, LETTERS), vocab=letters)
    wrapped.trace(letters.encode(["a b " * 50]))
    # 22 words fit beside [CLS] and [SEP]; longer prefixes are cut to the same sub-words
    assert len(read) == 22
    assert max(len(ids) for ids in read) == 24


def test_positions_that_are_kept_for_padding_are_not_read(letters):
    torch.manual_seed(0)
    shape = {"num_hidden_layers": 1, "max_position_embeddings": 14, "num_labels": 3, **small(8)}
    config = RobertaConfig(vocab_size=len(LETTERS), pad_token_id=0, **shape)
    wrapped = wrap((RobertaForSequenceClassification(config), LETTERS), vocab=letters)
    assert wrapped.trace(letters.encode(["a b " * 20])).values.shape == (40, 3)


def test_a_folder_is_read_as_it_was_written(letters, tmp_path):
    model = bert(0, LETTERS)
    model.save_pretrained(tmp_path)
    LETTERS.save_pretrained(tmp_path)
    loaded, wrapped = wrap("hf:" + str(tmp_path), vocab=letters), wrap((model, LETTERS), vocab=letters)
    ids = letters.encode(["a b c", "h g zebra"])
    np.testing.assert_allclose(loaded.trace(ids).values, wrapped.trace(ids).values, atol=1e-6)
    assert loaded.fingerprint == wrapped.fingerprint
    assert loaded.class_names == CLASSES


def test_the_fingerprint_covers_the_tokenizer(letters):
    model = bert(0, LETTERS)
    other = word_pieces(list("hgfedcba"))
    assert wrap((model, LETTERS), vocab=letters).fingerprint != wrap((model, other), vocab=letters).fingerprint


def test_a_folder_without_a_trained_head_is_refused(letters, tmp_path):
    BertModel(bert(0, LETTERS).config).save_pretrained(tmp_path)
    LETTERS.save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=r"not a trained classifier: it has no weights for classifier\.bias"):
        wrap("hf:" + str(tmp_path), vocab=letters)


def test_folders_of_other_things_are_refused_in_one_sentence(letters, tmp_path):
    with pytest.raises(InputError, match="cannot load a sequence classifier from there") as caught:
        wrap("hf:" + str(tmp_path), vocab=letters)
    assert "\n" not in str(caught.value)


def test_models_that_do_not_choose_a_class_are_refused(letters):
    with raises("not-single-label"):
        wrap((bert(0, LETTERS, problem_type="regression"), LETTERS), vocab=letters)
    with raises("not-single-label"):
        wrap((bert(0, LETTERS), LETTERS), vocab=letters, label="x")


@torch.inference_mode()
def own_probability(model, text, label):
    return float(model(**LETTERS(text, return_tensors="pt")).logits.sigmoid()[0, label])


class TestOneOfSeveralLabels(WholeTextConformance):
    @pytest.fixture
    def make(self):
        def make(seed, encoder):
            network = bert(seed, LETTERS, problem_type="multi_label_classification")
            return wrap((network, LETTERS), vocab=encoder, label="y")

        return make


def test_one_label_of_several_is_studied_against_the_rest(letters):
    network = bert(0, LETTERS, problem_type="multi_label_classification")
    models = {name: wrap((network, LETTERS), vocab=letters, label=name) for name in CLASSES}
    assert models["y"].class_names == ("not y", "y")
    assert len({model.fingerprint for model in models.values()}) == len(CLASSES)
    for number, name in enumerate(CLASSES):
        expected = own_probability(network, "a b c", number)
        np.testing.assert_allclose(models[name].predict_proba(["a b c"])[0], [1 - expected, expected], atol=1e-6)
    with raises("label", match="x, y, z"):
        wrap((network, LETTERS), vocab=letters, label="unheard")


def test_a_pipeline_that_applies_sigmoids_has_several_labels(letters):
    network = bert(0, LETTERS).eval()
    applied = pipeline("text-classification", model=network, tokenizer=LETTERS, function_to_apply="sigmoid")
    expected = own_probability(network, "a b", 2)
    several = wrap(applied, vocab=letters)
    assert several.labels == CLASSES
    assert several.label_probabilities(["a b"])[0, 2] == pytest.approx(expected, abs=1e-6)
    assert wrap(applied, vocab=letters, label="z").predict_proba(["a b"])[0, 1] == pytest.approx(expected, abs=1e-6)


def test_missing_transformers_names_the_extra(letters, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingDependencyError, match=r"transformers is not installed; .*'wfalens\[transformers\]'"):
        wrap("hf:" + str(tmp_path), vocab=letters)
