"""`wrap` as a new user calls it: what one guesses is there, and what is wrong is said in one sentence."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from torch import nn

import wfalens as wl
from tests.errors import raises
from tests.models.conformance import PrefixConformance
from wfalens.models import BlackBoxClassifier, adapter
from wfalens.progress import Progress, shown_on

TEXTS = ["a good film", "a bad film", "good , good fun", "bad and dull"]
CLASSES = ("bad", "good")
STOI = {"<unk>": 0, "<pad>": 1, "good": 7, "bad": 3, "film": 4}  # ids with gaps, <unk> before <pad>


def of_tokens(texts):
    return [[0.2, 0.8] if "good" in tokens else [0.7, 0.3] for tokens in texts]


def of_strings(texts):
    return np.array([[0.2, 0.8] if "good" in text.lower().split() else [0.7, 0.3] for text in texts])


class Net(nn.Module):
    def __init__(self, rows=8):
        super().__init__()
        torch.manual_seed(0)
        self.embedding = nn.Embedding(rows, 2)

    def forward(self, ids):
        return self.embedding(ids).cumsum(1)


def pipeline():
    return make_pipeline(CountVectorizer(), LogisticRegression()).fit(TEXTS, ["bad", "good", "good", "bad"])


MODELS = {
    "tokens": lambda: wl.wrap(of_tokens, texts=TEXTS, classes=CLASSES),
    "strings": lambda: wl.wrap(of_strings, texts=TEXTS, classes=CLASSES),
    "scikit-learn": lambda: wl.wrap(pipeline(), texts=TEXTS),
    "torch": lambda: wl.wrap(Net(), vocab=STOI, tokenizer=str.split, classes=CLASSES),
}


@pytest.mark.parametrize("kind", MODELS)
def test_every_model_predicts_as_in_scikit_learn(kind):
    model = MODELS[kind]()
    assert model.classes_.tolist() == list(CLASSES)
    rows = model.predict_proba(TEXTS)
    assert rows.shape == (4, 2)
    np.testing.assert_allclose(rows.sum(1), 1, atol=1e-5)
    assert model.predict(TEXTS).tolist() == [CLASSES[row] for row in rows.argmax(1)]
    for same in (pd.Series(TEXTS, index=[5, 6, 7, 8]), np.array(TEXTS), tuple(TEXTS)):
        np.testing.assert_array_equal(model.predict_proba(same), rows)


@pytest.mark.parametrize("kind", MODELS)
def test_a_text_without_words_gets_the_initial_output(kind):
    model = MODELS[kind]()
    rows = model.predict_proba(["a good film", "", "a bad film", " "])
    np.testing.assert_allclose(rows[[1, 3]], np.tile(model.initial_output, (2, 1)), atol=1e-6)
    np.testing.assert_array_equal(rows[[0, 2]], model.predict_proba(["a good film", "a bad film"]))
    np.testing.assert_allclose(model.predict_proba([""]), model.initial_output[None], atol=1e-6)
    assert model.predict_proba([]).shape == (0, 2)
    with raises("empty-text"):
        model.trace(model.encoder.encode(["a good film", ""])).last()


def test_a_dictionary_keeps_its_ids():
    module = Net()
    model = wl.wrap(module, vocab=STOI, tokenizer=str.split, classes=CLASSES)
    ids = torch.tensor([[7, 0, 4, 3]])  # "fun" is unknown
    expected = module(ids)[:, -1].softmax(-1).detach().numpy()
    np.testing.assert_allclose(model.predict_proba(["good fun film bad"]), expected, atol=1e-6)


def test_a_list_of_words_has_its_positions_as_ids():
    module, words = Net(5), ["good", "<pad>", "<unk>", "bad", "film"]
    model = wl.wrap(module, vocab=words, tokenizer=str.split, classes=CLASSES)
    expected = module(torch.tensor([[0, 3, 2]]))[:, -1].softmax(-1).detach().numpy()
    np.testing.assert_allclose(model.predict_proba(["good bad fun"]), expected, atol=1e-6)


class Messages(Progress):
    def __init__(self):
        self.lines = []

    def say(self, message):
        self.lines.append(message)


def test_a_function_that_formats_its_texts_reads_strings():
    model = wl.wrap(lambda texts: of_strings([f"{text}" for text in texts]), texts=TEXTS, classes=CLASSES)
    np.testing.assert_array_equal(model.predict_proba(TEXTS), np.asarray(of_strings(TEXTS), np.float32))


def test_what_a_function_reads_is_found_out_and_said():
    messages = Messages()
    with shown_on(messages):
        strings = wl.wrap(of_strings, texts=TEXTS, classes=CLASSES)
        tokens = wl.wrap(lambda texts: [[len(each) / 9, 1 - len(each) / 9] for each in texts], texts=TEXTS)
    assert any('reads="text"' in message for message in messages.lines)
    assert any('reads="tokens"' in message for message in messages.lines)
    assert strings.predict(["a good film"]).tolist() == ["good"]
    assert tokens.classes_.tolist() == ["0", "1"]
    np.testing.assert_allclose(tokens.predict_proba(["a good film"]), [[3 / 9, 6 / 9]], atol=1e-6)


def test_an_annotation_says_what_a_function_reads():
    def lengths(texts: list[str]) -> list[list[float]]:
        return [[1 / (1 + len(each)), 1 - 1 / (1 + len(each))] for each in texts]

    model = wl.wrap(lengths, texts=TEXTS, classes=CLASSES)
    np.testing.assert_allclose(model.predict_proba(["a good film"])[0, 0], 1 / 12, atol=1e-6)


def test_a_corpus_names_the_classes():
    corpus = wl.Corpus.of(TEXTS, ["bad", "good", "good", "bad"])
    assert wl.wrap(of_tokens, texts=corpus).class_names == ("bad", "good")


def test_a_wrapped_model_is_not_wrapped_again():
    model = wl.wrap(of_tokens, texts=TEXTS, classes=CLASSES)
    assert wl.wrap(model) is model


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: wl.wrap(of_tokens, texts=TEXTS, classes=6), "classes"),
        (lambda: wl.wrap(of_tokens, texts=TEXTS, classes="good"), "classes"),
        (lambda: wl.wrap(of_tokens, classes=CLASSES), "vocab-needed"),
        (lambda: wl.wrap(Net(), classes=CLASSES), "vocab-needed"),
        (lambda: wl.wrap(Net(), vocab=7, classes=CLASSES), "vocab"),
        (lambda: wl.wrap(Net(), vocab=STOI, tokenizer=7, classes=CLASSES), "tokenizer"),
        (lambda: wl.wrap(Net(), vocab={"good": 0, "bad": 1}, classes=CLASSES), "no-unknown-word"),
        (lambda: wl.wrap(Net(), vocab=STOI, classes=CLASSES, labelled=[1, 0]), "labelled"),
        (lambda: wl.wrap(Net(), vocab=STOI, classes=CLASSES, preprocessing=3), "preprocessing"),
        (lambda: wl.wrap(Net(), vocab=STOI, classes=CLASSES, batches=3), "unknown-option"),
        (lambda: wl.wrap(7, texts=TEXTS), "unknown-model"),
        (lambda: wl.wrap(TEXTS, texts=of_tokens), "unknown-model"),
        (lambda: wl.wrap(of_tokens, texts=7, classes=CLASSES), "texts"),
        (lambda: wl.wrap(of_tokens, texts=TEXTS, classes=CLASSES).predict([None]), "texts"),
        (lambda: wl.wrap(of_tokens, texts=TEXTS, classes=CLASSES).predict("a good film"), "texts"),
        (lambda: wl.wrap(lambda texts: 1 / 0, texts=TEXTS), "function-failed"),
        (lambda: wl.wrap(lambda texts: [[0.5, 0.5]] * 3, texts=TEXTS), "function-failed"),
        (lambda: wl.wrap("model.pkl"), "load-in-python"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(call, code):
    with raises(code) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_tokenizer_in_place_of_a_model_is_named():
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    tokenizer = BertTokenizer(
        {word: number for number, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good"])}
    )
    shape = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    network = BertForSequenceClassification(BertConfig(vocab_size=5, **shape))
    for wrong in (tokenizer, (tokenizer, network), network):
        with raises("transformer-pair"):
            wl.wrap(wrong, texts=TEXTS, classes=CLASSES)
    for right in ((network, tokenizer), {"model": network, "tokenizer": tokenizer}):
        given = (right["model"],) if isinstance(right, dict) else (right,)
        more = {"tokenizer": tokenizer} if isinstance(right, dict) else {}
        assert wl.wrap(*given, texts=TEXTS, classes=CLASSES, **more).predict_proba(TEXTS).shape == (4, 2)


# A worked example: a new kind of model is one class under `@adapter`, and one test class that inherits.


class Lexicon(dict):
    """A model of its own kind: the share of words that it calls good."""


class LexiconClassifier(BlackBoxClassifier):
    def __init__(self, lexicon, encoder, class_names):
        super().__init__(encoder, class_names, fingerprint=str(sorted(lexicon.items())))
        self._scores = np.array([lexicon.get(word, 0.4) for word in encoder.vocabulary.words])

    def answers(self, prefixes):
        shares = np.array([self._scores[prefix].mean() for prefix in prefixes])
        return np.stack([1 - shares, shares], 1)


@adapter
class LexiconAdapter:
    kind = "a lexicon"

    def accepts(self, model):
        return isinstance(model, Lexicon)

    def wrap(self, model, given):
        return LexiconClassifier(model, given.encoder("whitespace"), given.class_names(outputs=2))


class TestLexicon(PrefixConformance):
    @pytest.fixture
    def make(self):
        return lambda seed, encoder: wl.wrap(Lexicon(a=0.9 - seed / 10, b=0.1), vocab=encoder)


def test_a_function_may_return_tensors_with_gradients():
    def tensors(texts: list[str]):
        return torch.tensor(of_strings(texts), requires_grad=True)

    model = wl.wrap(tensors, TEXTS, classes=CLASSES)
    np.testing.assert_allclose(model.predict_proba(TEXTS), of_strings(TEXTS), atol=1e-6)


@pytest.mark.parametrize("column", [lambda rows: rows[:, 1], lambda rows: rows[:, 1:]])
def test_a_function_with_one_number_per_text_is_refused(column):
    with raises("output-shape"):
        wl.wrap(lambda texts: column(of_strings(texts)), TEXTS, classes=CLASSES, reads="text")


def test_a_pipeline_that_is_not_fitted_is_refused():
    with raises("function-failed"):
        wl.wrap(make_pipeline(CountVectorizer(), LogisticRegression()), TEXTS)


def test_arguments_in_another_order_are_refused():
    with raises("unknown-model"):
        wl.wrap(wl.TextEncoder.of_texts(TEXTS), of_strings)


def test_what_is_no_wrapped_model_is_refused():
    model = wl.wrap(of_strings, TEXTS, classes=CLASSES, reads="text")
    wfa = wl.extract(model, TEXTS, wl.Linear(layers=1, width=2, factors=2, hidden=2, epochs=1), queries=60)
    for use in (lambda: wfa.explain(TEXTS[0], model=of_strings), lambda: wfa.fidelity(of_strings, TEXTS)):
        with raises("model-type"):
            use()
    with raises("not-an-automaton"):
        wl.compare(wfa, model)


def test_classes_that_are_taken_from_the_texts_are_said():
    messages = Messages()
    with shown_on(messages):
        model = wl.wrap(of_strings, wl.Corpus.of(TEXTS, ["pos", "neg", "pos", "neg"]), reads="text")
    assert model.class_names == ("neg", "pos")
    assert any("neg, pos" in message for message in messages.lines)


def test_a_function_that_cannot_read_an_empty_text_begins_at_a_uniform_output():
    def fails(texts: list[str]):
        return of_strings([text or 1 / 0 for text in texts])

    model = wl.wrap(fails, TEXTS, classes=CLASSES)
    np.testing.assert_allclose(model.initial_output, [0.5, 0.5])
    wfa = wl.extract(model, TEXTS, wl.Linear(layers=1, width=2, factors=2, hidden=2, epochs=1), queries=60)
    assert wfa.explain(TEXTS[0], model).class_names == CLASSES


def test_a_function_that_fails_on_all_texts_has_no_output_before_any_word():
    down = []

    def fails(texts: list[str]):
        return of_strings([1 / 0 if down else text for text in texts])

    model = wl.wrap(fails, TEXTS, classes=CLASSES)
    down.append(True)
    with raises("model-fails"):
        _ = model.initial_output
