"""Training of the built-in classifiers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from wfalens import progress
from wfalens.errors import InputError
from wfalens.models.contract import symbol_classes
from wfalens.models.rnn.classifier import RNNClassifier, RNNConfig
from wfalens.models.rnn.training_tasks import CLASS, NEXT, TASKS, NextSymbols, TextClasses, TrainingBatches
from wfalens.ragged import Ragged
from wfalens.text.corpus import Corpus
from wfalens.text.encoder import LENGTHS, TextEncoder
from wfalens.text.tokenizers import CUSTOM, KNOWN, Tokenizer
from wfalens.text.vocabulary import PADDING, Vocabulary
from wfalens.text.word_vectors import WordVectors
from wfalens.validation import Bounds, check_choice, check_numbers, real, whole

_BOUNDS = {
    "epochs": Bounds(whole, 1, 10**6),
    "batch_size": Bounds(whole, 1, 10**6),
    "learning_rate": Bounds(real, 0, 10, excluded=(0,)),
    "weight_decay": Bounds(real, 0, 10),
    "word_dropout": Bounds(real, 0, 1, excluded=(1,)),
    "clip": Bounds(real, 0, math.inf, excluded=(0,)),
    "validation": Bounds(real, 0, 1, excluded=(0, 1)),
    "patience": Bounds(whole, 1, 10**6),
    "min_count": Bounds(whole, 1, 10**9),
    "max_words": Bounds(whole, 1, 10**9, (None,)),
    "max_length": LENGTHS,
    "seed": Bounds(whole, 0, (1 << 64) - 1),
}
_BATCHES_PER_BUCKET = 32  # texts of that many batches are sorted by length together


@dataclass(frozen=True)
class Epoch:
    """What one pass over the training texts reached."""

    loss: float
    accuracy: float
    validation_loss: float
    validation_accuracy: float


@dataclass(frozen=True)
class Training:
    """A trained model and how it came about.

    Args:
        model: with the weights of the best epoch.
        epochs: loss and accuracy of every epoch, on training and on held-out texts.
        best_epoch: counted from 1; 0: interrupted before the first epoch ended.
        interrupted: whether Ctrl-C ended it.

    Examples:
        >>> from wfalens import RNNConfig, Trainer
        >>> training = Trainer(config=RNNConfig(embedding=8, hidden=8), epochs=2).train(corpus)
        >>> 0 <= training.epochs[training.best_epoch - 1].validation_accuracy <= 1
        True
    """

    model: RNNClassifier
    epochs: tuple[Epoch, ...]
    best_epoch: int  # counted from 1; 0: interrupted before the first epoch ended
    interrupted: bool


@dataclass(frozen=True, kw_only=True)
class Trainer:
    """Trains an RNN on the class after the last word, or on what comes next; the best epoch on held-out texts is kept.

    Every batch holds texts of similar length, so little is padded, and the loss is taken at each text's last real
    word: padding never reaches the network's state. Only a language model gets texts of any length in a batch, because
    equal lengths would tell it where a text ends.

    Args:
        config: shape of the network.
        task: class (default), or next: a language model, whose classes are the words and the end of the text.
            Labels are then not needed, and accuracy is that of the next symbol.
        epochs: passes over the texts at most.
        batch_size: texts in a step of training (Adam).
        learning_rate: of Adam.
        weight_decay: of Adam.
        word_dropout: share of words that become `<unk>` in training, which teaches what an unknown word means.
        clip: largest norm of the gradient.
        validation: share of the texts that is held out to choose the best epoch.
        patience: epochs without a gain on them before training ends.
        balance_classes: small classes count as much as large ones.
        min_count: occurrences that a word needs to be in the vocabulary.
        max_words: in the vocabulary, the most frequent ones (None: all).
        max_length: words after which texts are cut (None: never).
        tokenizer: see `TextEncoder`.
        seed: of everything random.

    Examples:
        >>> from wfalens import RNNConfig, Trainer
        >>> training = Trainer(config=RNNConfig(embedding=8, hidden=8), epochs=2).train(corpus)
        >>> training.model.class_names, len(training.epochs)
        (('neg', 'pos'), 2)
    """

    config: RNNConfig = field(default_factory=RNNConfig)
    task: str = CLASS
    epochs: int = 25
    batch_size: int = 64
    learning_rate: float = 2e-3
    weight_decay: float = 0.0
    word_dropout: float = 0.02
    clip: float = 1.0
    validation: float = 0.1
    patience: int = 4
    balance_classes: bool = False
    min_count: int = 1
    max_words: int | None = None
    max_length: int | None = None
    tokenizer: str | Tokenizer = "basic_english"
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("task", self.task, TASKS)
        check_numbers(self, _BOUNDS)
        if self.task == NEXT and self.balance_classes:
            raise InputError("balance_classes weights the classes of texts, which a language model has none of")
        if self.tokenizer == CUSTOM:
            raise InputError(f"unknown tokenizer {CUSTOM!r}; choose one of {KNOWN}, or give a callable")

    def train(
        self,
        corpus: Corpus,
        vectors: WordVectors | None = None,
        held_out: Corpus | None = None,
        start: RNNClassifier | None = None,
    ) -> Training:
        """Train on a corpus; Ctrl-C ends early and keeps the best epoch so far.

        Args:
            corpus: labelled texts (for `task="next"` any texts)
            vectors: word vectors that the embedding begins with; None: random ones
            held_out: texts on which the best epoch is chosen; None: a share of the corpus, which is set aside
            start: a network to go on from, with its words and its shape; it is copied

        Examples:
            >>> training = Trainer(config=small, epochs=1).train(corpus)
            >>> training.model.class_names
            ('neg', 'pos')
        """
        if self.task == CLASS:
            _checked_labels(corpus)
        else:
            corpus = replace(corpus, labels=None, class_names=())
        rng = np.random.default_rng(self.seed)
        if held_out is None:
            fit, held_out = corpus.split(self.validation, rng)
        else:
            fit = corpus
            held_out = held_out.relabelled(corpus.class_names) if self.task == CLASS else replace(held_out, labels=None)
        if len(held_out) == 0 or len(fit) == 0:
            raise InputError(f"{corpus.name} has {len(corpus)} texts: too few to hold some out for validation")
        if start is None:
            encoder = self._encoder(fit)
            names = corpus.class_names if self.task == CLASS else symbol_classes(encoder.vocabulary)
            model = RNNClassifier.untrained(self.config, encoder, names, self.seed, vectors)
        else:
            model = _copied(
                start, corpus.class_names if self.task == CLASS else symbol_classes(start.encoder.vocabulary)
            )
        lessons, tests = (self._lessons(model, each) for each in (fit, held_out))
        if len(lessons.ids) == 0 or len(tests.ids) == 0:
            raise InputError(f"{corpus.name}: no words are left after tokenisation")
        optimiser = torch.optim.Adam(model.network.parameters(), self.learning_rate, weight_decay=self.weight_decay)
        history: list[Epoch] = []
        best, best_weights, interrupted = 0, _copy(model.network), False
        progress.start("training", self.epochs)
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            try:
                for number in range(1, self.epochs + 1):
                    done = self._epoch(model, lessons, optimiser, rng)
                    epoch = Epoch(*done, *tests.measured(model))
                    history.append(epoch)
                    if best == 0 or self._better(epoch, history[best - 1]):
                        best, best_weights = number, _copy(model.network)
                    progress.advance(1, f"loss {epoch.loss:.3f}, held-out accuracy {epoch.validation_accuracy:.3f}")
                    if number - best >= self.patience:
                        break
            except KeyboardInterrupt:
                interrupted = True
        progress.finish()
        model.network.load_state_dict(best_weights)
        model.network.eval()
        return Training(model, tuple(history), best, interrupted)

    def _encoder(self, corpus: Corpus) -> TextEncoder:
        tokenize = TextEncoder(Vocabulary.of_words([]), self.tokenizer, self.max_length).tokens
        vocabulary = Vocabulary.build(map(tokenize, corpus.texts), self.min_count, self.max_words)
        return TextEncoder(vocabulary, self.tokenizer, self.max_length)

    def _lessons(self, model: RNNClassifier, corpus: Corpus) -> TrainingBatches:
        ids = model.encoder.encode(corpus.texts)
        if self.task == NEXT:
            return NextSymbols(ids.nonempty()[1], model)
        ids, labels = _without_empty(ids, corpus.labels)
        return TextClasses(ids, labels, len(model.class_names) if self.balance_classes else None)

    def _better(self, epoch: Epoch, best: Epoch) -> bool:
        """By accuracy, then by loss; a language model by its loss, as most of what comes next is anyone's guess."""
        if self.task == NEXT:
            return epoch.validation_loss < best.validation_loss
        return (epoch.validation_accuracy, -epoch.validation_loss) > (best.validation_accuracy, -best.validation_loss)

    def _epoch(
        self,
        model: RNNClassifier,
        lessons: TrainingBatches,
        optimiser: torch.optim.Optimizer,
        rng: np.random.Generator,
    ) -> tuple[float, float]:
        """One pass over the texts; -> mean loss and accuracy in training."""
        network = model.network.train()
        total, hits, answers = 0.0, 0, 0
        for batch in self._batches(lessons.ids.lengths, rng):
            texts = lessons.ids.take(batch)
            words = np.where(rng.random(len(texts.values)) < self.word_dropout, 1, texts.values).astype(np.int32)
            table = torch.from_numpy(Ragged(words, texts.offsets).padded(PADDING))
            logits, target = lessons.asked(network, table, batch)
            value = lessons.loss(logits, target)
            optimiser.zero_grad(set_to_none=True)
            value.backward()
            nn.utils.clip_grad_norm_(network.parameters(), self.clip)
            optimiser.step()
            total += float(value.detach()) * len(target)
            if not math.isfinite(total):
                raise InputError("training diverged: the loss is no longer finite; lower the learning rate")
            hits += int((logits.detach().argmax(1) == target).sum())
            answers += len(target)
        network.eval()
        return total / answers, hits / answers

    def _batches(self, lengths: NDArray[np.int64], rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        """All items once, in random batches."""
        if self.task == NEXT:
            order = rng.permutation(len(lengths))
            return (order[at : at + self.batch_size] for at in range(0, len(order), self.batch_size))
        return _bucketed(lengths, self.batch_size, rng)


def accuracy(model: RNNClassifier, corpus: Corpus) -> float:
    """Share of texts whose label the model finds."""
    labels = _labels(corpus.relabelled(model.class_names))
    return float(np.mean(model.predict_proba(list(corpus.texts)).argmax(1) == labels))


def _bucketed(lengths: NDArray[np.int64], batch_size: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """All items once, in random batches of similar length."""
    order = rng.permutation(len(lengths))
    step = batch_size * _BATCHES_PER_BUCKET
    batches = []
    for start in range(0, len(order), step):
        bucket = order[start : start + step]
        bucket = bucket[np.argsort(lengths[bucket], kind="stable")]
        batches += [bucket[at : at + batch_size] for at in range(0, len(bucket), batch_size)]
    return (batches[at] for at in rng.permutation(len(batches)))


def _labels(corpus: Corpus) -> NDArray[np.int64]:
    if corpus.labels is None:
        raise InputError(f"{corpus.name} has no labels; a classifier needs a column with the classes")
    return corpus.labels


def _checked_labels(corpus: Corpus) -> NDArray[np.int64]:
    present = np.unique(_labels(corpus))
    if len(present) < 2:
        only = corpus.class_names[present[0]] if len(present) else "none"
        raise InputError(f"{corpus.name} has one class only ({only}); a classifier needs at least two")
    return _labels(corpus)


def _without_empty(
    ids: Ragged[np.int32], labels: NDArray[np.int64] | None
) -> tuple[Ragged[np.int32], NDArray[np.int64]]:
    worded, ids = ids.nonempty()
    assert labels is not None  # noqa: S101 - checked at the border
    return ids, labels[worded]


def _copied(model: RNNClassifier, class_names: tuple[str, ...]) -> RNNClassifier:
    if class_names != model.class_names:
        raise InputError(
            f"the texts' classes ({', '.join(class_names)}) are not the network's ({', '.join(model.class_names)})"
        )
    return RNNClassifier(deepcopy(model.network).requires_grad_(), model.encoder, model.class_names)


def _copy(network: nn.Module) -> dict[str, torch.Tensor]:
    return {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}
