"""Training and checkpoints of the built-in networks."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from tests.files import contents, write_contents
from wfalens.errors import FormatError, InputError
from wfalens.evaluation.baselines import bag_of_words
from wfalens.models import RNNClassifier, RNNConfig, Trainer
from wfalens.models.inference import trace_padded
from wfalens.models.rnn.training import accuracy
from wfalens.progress import Progress, shown_on
from wfalens.text import Corpus, WordVectors, load_dataset
from wfalens.text.datasets import newsroom

SMALL = RNNConfig(embedding=8, hidden=8, dropout=0.1)


def test_it_learns_the_headlines(news_model, test_headlines):
    assert accuracy(news_model, test_headlines) > 0.85


def test_it_learns_negation_which_a_bag_of_words_cannot(opinions_model):
    train, test = load_dataset("opinions", "train"), load_dataset("opinions", "test")
    assert accuracy(opinions_model, test) >= 0.97
    encoder = opinions_model.encoder
    train_ids, test_ids = encoder.encode(train.texts), encoder.encode(test.texts)
    answers = bag_of_words(train_ids, np.eye(2)[train.labels], test_ids, len(encoder.vocabulary)).argmax(1)
    assert 0.55 < np.mean(answers == test.labels) < 0.8


def test_same_seed_same_weights(headlines):
    part = headlines.subset(np.arange(200))
    first, second = (Trainer(config=SMALL, epochs=2, seed=3).train(part).model for _ in range(2))
    assert first.fingerprint == second.fingerprint
    other = Trainer(config=SMALL, epochs=2, seed=4).train(part).model
    assert other.fingerprint != first.fingerprint


def test_the_best_epoch_is_kept_and_training_stops_early(headlines):
    training = Trainer(config=SMALL, epochs=40, patience=2, learning_rate=0.05).train(headlines.subset(np.arange(300)))
    scores = [epoch.validation_accuracy for epoch in training.epochs]
    assert scores[training.best_epoch - 1] == max(scores)
    assert len(scores) < 40
    assert len(scores) == training.best_epoch + 2


def test_interruption_keeps_the_best_so_far(headlines):
    class Impatient(Progress):
        def advance(self, units=1, note=""):
            self.epochs = getattr(self, "epochs", 0) + 1
            if self.epochs == 2:
                raise KeyboardInterrupt

    with shown_on(Impatient()):
        training = Trainer(config=SMALL, epochs=9).train(headlines.subset(np.arange(200)))
    assert training.interrupted
    assert len(training.epochs) == 2
    assert training.best_epoch in (1, 2)


def test_balanced_classes_help_the_rare_one():
    rng = np.random.default_rng(0)
    common = newsroom.generate(3000, rng)
    keep = np.flatnonzero((common.labels == 0) | ((common.labels == 1) & (rng.random(3000) < 0.06)))
    corpus = Corpus.of([common.texts[i] for i in keep], [common.class_names[common.labels[i]] for i in keep])
    rare = corpus.class_names.index("world")
    shares = [
        np.mean(
            Trainer(config=SMALL, epochs=3, balance_classes=balance)
            .train(corpus)
            .model.predict_proba(list(corpus.texts))
            .argmax(1)
            == rare
        )
        for balance in (False, True)
    ]
    assert shares[1] > shares[0]


def test_embeddings_start_from_vectors(letters):
    vectors = WordVectors(["b", "zz"], np.array([[1, 2], [3, 4]], np.float32))
    config = RNNConfig(embedding=2, hidden=3)
    model = RNNClassifier.untrained(config, letters, ("x", "y"), vectors=vectors)
    assert model.embedding[letters.vocabulary.id_of("b")].tolist() == [1, 2]
    with pytest.raises(InputError, match="2 wide, the embedding layer 3"):
        RNNClassifier.untrained(replace(config, embedding=3), letters, ("x", "y"), vectors=vectors)
    with pytest.raises(InputError, match="no vector for any word"):
        RNNClassifier.untrained(config, letters, ("x", "y"), vectors=vectors.restricted(["zz"]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epochs": 0}, "epochs must lie between 1 and 1,000,000"),
        ({"epochs": 2.5}, "epochs must lie between 1 and 1,000,000 as a whole number"),
        ({"learning_rate": 0}, r"learning_rate must lie between 0 and 10 \(0 excluded\)"),
        ({"learning_rate": 1e38}, "learning_rate must lie between 0 and 10"),
        ({"max_words": -3}, "max_words must lie between 1 and"),
        ({"tokenizer": "custom"}, "unknown tokenizer 'custom'"),
        ({"validation": 1.0}, r"validation must lie between 0 and 1 \(0 and 1 excluded\)"),
        ({"word_dropout": 1.0}, "word_dropout must lie"),
        ({"word_dropout": float("nan")}, "word_dropout must lie"),
        ({"weight_decay": -1}, "weight_decay must lie"),
        ({"clip": True}, "clip must lie"),
        ({"seed": -1}, "seed must lie between 0 and"),
        ({"max_length": 1 << 63}, "max_length must lie between 1 and"),
    ],
)
def test_bad_options_are_refused_at_once(options, message):
    with pytest.raises(InputError, match=message):
        Trainer(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cell": "transformer"}, "unknown cell 'transformer'; choose one of lstm, gru, elman"),
        ({"hidden": 0}, "hidden must lie between 1 and 65,536"),
        ({"hidden": 8.0}, "hidden must lie between 1 and 65,536 as a whole number"),
        ({"dropout": 1.0}, "dropout must lie"),
    ],
)
def test_bad_shapes_are_refused_at_once(options, message):
    with pytest.raises(InputError, match=message):
        RNNConfig(**options)


def test_unusable_corpora_are_refused():
    with pytest.raises(InputError, match="has no labels"):
        Trainer().train(Corpus.of(["a", "b"]))
    with pytest.raises(InputError, match=r"one class only \(x\)"):
        Trainer().train(Corpus.of(["a", "b"], ["x", "x"]))
    with pytest.raises(InputError, match="too few to hold some out"):
        Trainer().train(Corpus.of(["a", "b"], ["x", "y"]))
    with pytest.raises(InputError, match="no words are left"):
        Trainer(tokenizer=lambda text: []).train(Corpus.of(["a"] * 20, ["x", "y"] * 10))


@pytest.mark.parametrize("cell", ["lstm", "gru", "elman"])
def test_checkpoints_give_the_same_model_and_bytes(tmp_path, letters, cell):
    model = RNNClassifier.untrained(RNNConfig(cell=cell, embedding=4, hidden=5, layers=2), letters, ("x", "y"))
    model.save(tmp_path / "a.rnn")
    loaded = RNNClassifier.load(tmp_path / "a.rnn")
    assert loaded.fingerprint == model.fingerprint
    assert loaded.encoder == model.encoder
    assert loaded.config == model.config
    loaded.save(tmp_path / "b.rnn")
    assert (tmp_path / "a.rnn").read_bytes() == (tmp_path / "b.rnn").read_bytes()


def test_damaged_checkpoints_are_refused(tmp_path, letters):
    RNNClassifier.untrained(RNNConfig(embedding=4, hidden=5), letters, ("x", "y")).save(tmp_path / "a.rnn")
    tensors, header = contents(tmp_path / "a.rnn")

    def refused(message, **changes):
        changed = {"tensors": tensors, "header": header} | changes
        write_contents(tmp_path / "bad.rnn", **changed)
        with pytest.raises(FormatError, match=message):
            RNNClassifier.load(tmp_path / "bad.rnn")

    weight = "network.output.weight"
    refused("do not fit its configuration", tensors=tensors | {weight: tensors[weight][:1]})
    refused("NaN", tensors=tensors | {weight: np.full_like(tensors[weight], np.nan)})
    refused("configuration is not valid", header=header | {"config": {"cell": "lstm", "wings": 2}})
    refused("do not fit its configuration", header=header | {"config": header["config"] | {"hidden": 6}})
    for bad in ({"layers": 10**9}, {"layers": 1.0}, {"embedding": 10**30}, {"hidden": True}, {"dropout": "x"}):
        refused("configuration is not valid", header=header | {"config": header["config"] | bad})
    (tmp_path / "cut.rnn").write_bytes((tmp_path / "a.rnn").read_bytes()[:500])
    with pytest.raises(FormatError, match=r"cut\.rnn"):
        RNNClassifier.load(tmp_path / "cut.rnn")


def test_texts_without_words_get_the_prior(news_model):
    np.testing.assert_allclose(news_model.predict_proba([" "])[0], news_model.initial_output, atol=1e-6)


def test_batches_of_any_size_trace_alike(news_model, headlines, monkeypatch):
    ids = news_model.encoder.encode(headlines.texts[:200])
    whole = news_model.trace(ids).values
    monkeypatch.setattr("wfalens.models.rnn.classifier.trace_padded", partial(trace_padded, tokens=30))
    np.testing.assert_allclose(news_model.trace(ids).values, whole, atol=1e-5)
    assert not torch.is_inference_mode_enabled()


def test_options_from_arrays_are_kept_as_plain_numbers(tmp_path, letters):
    config = RNNConfig(embedding=np.int64(4), hidden=np.uint8(5), dropout=np.float32(0))
    assert config == RNNConfig(embedding=4, hidden=5, dropout=0.0)
    RNNClassifier.untrained(config, letters, ("x", "y")).save(tmp_path / "a.rnn")
    assert RNNClassifier.load(tmp_path / "a.rnn").config == config
