"""Training of the built-in classifiers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wfalens import progress
from wfalens.errors import InputError
from wfalens.messages import listed
from wfalens.models.contract import classes_of_symbols, end_class, symbol_classes
from wfalens.models.rnn.classifier import RNNClassifier, RNNNetwork
from wfalens.models.rnn.rnn_options import CLASS, NEXT, RNNConfig, TrainingConfig
from wfalens.progress import shown
from wfalens.ragged import Ragged, positions
from wfalens.results import Result
from wfalens.text.corpus import Corpus
from wfalens.text.encoder import TextEncoder
from wfalens.text.vocabulary import PADDING, Vocabulary
from wfalens.text.word_vectors import WordVectors
from wfalens.threads import model_threads_limited
from wfalens.validation import check_known

_LEAST = 1e-12  # probability
_IGNORED = -1  # no class: <unk> never comes next
_BATCHES_PER_BUCKET = 32  # texts of that many batches are sorted by length together


@dataclass(frozen=True)
class Epoch:
    """What one pass over the training texts reached."""

    loss: float
    accuracy: float
    validation_loss: float
    validation_accuracy: float


@dataclass(frozen=True, repr=False)
class Training(Result):
    """A trained model and its history.

    Args:
        model: with the weights of the best epoch.
        epochs: loss and accuracy of every epoch, on training and on held-out texts.
        best_epoch: counted from 1; 0: interrupted before the first epoch ended.
        interrupted: whether Ctrl-C ended it.

    Examples:
        >>> from wfalens import RNNConfig, train
        >>> training = train(corpus, config=RNNConfig(embedding=8, hidden=8), epochs=2)
        >>> 0 <= training.epochs[training.best_epoch - 1].validation_accuracy <= 1
        True
    """

    model: RNNClassifier = field(repr=False)
    epochs: tuple[Epoch, ...]
    best_epoch: int  # counted from 1; 0: interrupted before the first epoch ended
    interrupted: bool

    def rows(self) -> list[dict[str, Any]]:
        return [{"epoch": number, **asdict(epoch)} for number, epoch in enumerate(self.epochs, 1)]

    def summary(self) -> str:
        if self.best_epoch == 0:
            return "training was interrupted before the first epoch ended"
        best = self.epochs[self.best_epoch - 1]
        return (
            f"trained for {len(self.epochs)} epochs; the best is epoch {self.best_epoch} with an accuracy of "
            f"{best.validation_accuracy:.3f} on held-out texts"
        )


def train(
    corpus: Corpus,
    *,
    config: RNNConfig | None = None,
    init_from: RNNClassifier | WordVectors | None = None,
    held_out: Corpus | None = None,
    progress: bool = False,
    **options: Any,
) -> Training:
    """Train a built-in recurrent classifier, or a language model; Ctrl-C ends early and keeps the best epoch so far.

    Args:
        corpus: labelled texts (for `task="next"` any texts).
        config: shape of the network.
        init_from: a network to continue from, which is copied, or word vectors that the embedding starts with (such as
            an automaton's transition matrix embeddings: pretraining, paper §5.4).
        held_out: texts on which the best epoch is chosen (default: a share of the corpus).
        progress: whether to show a bar.
        options: fields of `Trainer`, such as `epochs`, `learning_rate`, `max_length`, `tokenizer`, `seed`.

    Examples:
        >>> import wfalens as wl
        >>> training = wl.train(corpus, config=wl.RNNConfig(embedding=8, hidden=8), epochs=2)
        >>> training.model.predict(["a good film"]).shape, len(training.epochs)
        ((1,), 2)
    """
    if not isinstance(corpus, Corpus):
        raise InputError(
            f"train takes a corpus, not {type(corpus).__name__}: Corpus.of(texts, labels) makes one of two lists",
            code="corpus",
        )
    check_known("train", options, [each.name for each in fields(Trainer)])
    start = init_from if isinstance(init_from, RNNClassifier) else None
    vectors = init_from if isinstance(init_from, WordVectors) else None
    if init_from is not None and start is None and vectors is None:
        raise InputError(f"init_from is a network or word vectors, not {type(init_from).__name__}", code="init-from")
    if config is None:
        config = RNNConfig() if start is None else start.config
        config = config if vectors is None else replace(config, embedding=vectors.width)
    with shown(progress):
        return Trainer(config=config, **options).train(corpus, vectors, held_out, start)


@dataclass(frozen=True, kw_only=True)
class Trainer(TrainingConfig):
    """Trains an RNN on the class after the last word, or on what comes next; the best epoch on held-out texts is kept.

    Every batch holds texts of similar length, so little is padded, and the loss is taken at each text's last real
    word: padding never reaches the network's state. Only a language model gets texts of any length in a batch, because
    equal lengths would show it where a text ends.

    Args:
        config: shape of the network.

    Examples:
        >>> from wfalens.models import Trainer
        >>> training = Trainer(config=small, epochs=1).train(corpus)
        >>> len(training.epochs)
        1
    """

    config: RNNConfig = field(default_factory=RNNConfig)

    @model_threads_limited()  # sums keep their order, so that equal seeds give equal bytes
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
            vectors: word vectors that the embedding starts with; None: random ones
            held_out: texts on which the best epoch is chosen; None: a share of the corpus, which is set aside
            start: a network to continue from, with its words and its shape; it is copied

        Examples:
            >>> training = Trainer(config=small, epochs=1).train(corpus)
            >>> training.model.class_names
            ('neg', 'pos')
        """
        rng = np.random.default_rng(self.seed)
        model, fit, held_out = self._prepared(corpus, vectors, held_out, start, rng)
        batches, tests = (self._task(model, each) for each in (fit, held_out))
        if len(batches.ids) == 0 or len(tests.ids) == 0:
            raise InputError(f"{corpus.name}: no words are left after tokenisation")
        optimiser = torch.optim.Adam(model.network.parameters(), self.learning_rate, weight_decay=self.weight_decay)
        history: list[Epoch] = []
        best, best_weights, interrupted = 0, _copy(model.network), False
        progress.start("training", self.epochs)
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            try:
                for number in range(1, self.epochs + 1):
                    done = self._epoch(model, batches, optimiser, rng)
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

    def _prepared(
        self,
        corpus: Corpus,
        vectors: WordVectors | None,
        held_out: Corpus | None,
        start: RNNClassifier | None,
        rng: np.random.Generator,
    ) -> tuple[RNNClassifier, Corpus, Corpus]:
        """The network before training, the texts to fit and the held-out ones."""
        if self.task == CLASS:
            present = np.unique(corpus.labels_in(corpus.class_names))
            if len(present) < 2:
                only = listed(corpus.class_names[label] for label in present)
                raise InputError(f"{corpus.name} has one class only ({only}); a classifier needs at least two")
        else:
            corpus = replace(corpus, labels=None, class_names=())
        if held_out is None:
            fit, held_out = corpus.split(self.validation, rng)
        else:
            fit = corpus
            held_out = held_out.relabelled(corpus.class_names) if self.task == CLASS else replace(held_out, labels=None)
        if len(held_out) == 0 or len(fit) == 0:
            raise InputError(f"{corpus.name} has {len(corpus)} texts: too few to hold some out for validation")
        encoder = self._encoder(fit) if start is None else start.encoder
        names = corpus.class_names if self.task == CLASS else symbol_classes(encoder.vocabulary)
        if start is not None:
            return _copied(start, names), fit, held_out
        return RNNClassifier.untrained(self.config, encoder, names, self.seed, vectors), fit, held_out

    def _encoder(self, corpus: Corpus) -> TextEncoder:
        tokenize = TextEncoder(Vocabulary.of_words([]), self.tokenizer, self.max_length).tokens
        vocabulary = Vocabulary.build(map(tokenize, corpus.texts), self.min_count, self.max_words)
        return TextEncoder(vocabulary, self.tokenizer, self.max_length)

    def _task(self, model: RNNClassifier, corpus: Corpus) -> TextClasses | NextSymbols:
        worded, ids = model.encoder.encode(corpus.texts).nonempty()
        if self.task == NEXT:
            return NextSymbols(ids, model)
        labels = corpus.labels_in(corpus.class_names)[worded]
        return TextClasses(ids, labels, len(model.class_names) if self.balance_classes else None)

    def _better(self, epoch: Epoch, best: Epoch) -> bool:
        """By accuracy, then by loss; a language model by its loss, as most of what comes next is anyone's guess."""
        if self.task == NEXT:
            return epoch.validation_loss < best.validation_loss
        return (epoch.validation_accuracy, -epoch.validation_loss) > (best.validation_accuracy, -best.validation_loss)

    def _epoch(
        self,
        model: RNNClassifier,
        batches: TextClasses | NextSymbols,
        optimiser: torch.optim.Optimizer,
        rng: np.random.Generator,
    ) -> tuple[float, float]:
        """One pass over the texts; -> mean loss and accuracy in training."""
        network = model.network.train()
        total, hits, answers = 0.0, 0, 0
        for batch in self._batches(batches.ids.lengths, rng):
            texts = batches.ids.take(batch)
            words = np.where(rng.random(len(texts.values)) < self.word_dropout, 1, texts.values).astype(np.int32)
            table = torch.from_numpy(Ragged(words, texts.offsets).padded(PADDING))
            logits, target = batches.logits_and_targets(network, table, batch)
            value = batches.loss(logits, target)
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


def unit_spread(vectors: WordVectors) -> WordVectors:
    """Vectors scaled to the spread of a random start, so that training begins with steps of the usual size."""
    spread = float(vectors.matrix.std()) or 1.0
    return WordVectors(vectors.words, vectors.matrix / np.float32(spread), vectors.source)


def accuracy(model: RNNClassifier, corpus: Corpus) -> float:
    """Share of texts whose label the model finds."""
    labels = corpus.labels_in(model.class_names)
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


def _copied(model: RNNClassifier, class_names: tuple[str, ...]) -> RNNClassifier:
    if class_names != model.class_names:
        raise InputError(
            f"the texts' classes ({listed(class_names)}) are not the network's ({listed(model.class_names)})"
        )
    return RNNClassifier(deepcopy(model.network).requires_grad_(), model.encoder, model.class_names)


def _copy(network: nn.Module) -> dict[str, torch.Tensor]:
    return {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}


class TextClasses:
    """The class of every text, after its last word. `balanced`: the number of classes, to weight them by their size."""

    def __init__(self, ids: Ragged[np.int32], labels: NDArray[np.int64], balanced: int | None) -> None:
        self.ids, self.labels = ids, labels
        self.loss = nn.CrossEntropyLoss(None if balanced is None else _class_weights(labels, balanced))

    def logits_and_targets(self, network: RNNNetwork, table: Tensor, batch: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        logits = network.last_logits(table, torch.from_numpy(self.ids.lengths[batch]))
        return logits, torch.from_numpy(self.labels[batch])

    def measured(self, model: RNNClassifier) -> tuple[float, float]:
        return _scores(model.trace(self.ids).last(), self.labels)


class NextSymbols:
    """The next symbol, or the end, after every prefix of every text, the empty one included."""

    def __init__(self, ids: Ragged[np.int32], model: RNNClassifier) -> None:
        self.ids, self.loss = ids, nn.CrossEntropyLoss()
        symbols = classes_of_symbols(model)[ids.values]
        self.first = symbols[ids.offsets[:-1]]  # (texts,): what comes before any symbol was read
        self.later = np.append(symbols[1:], _IGNORED)  # (tokens,): what comes after each symbol
        self.later[ids.offsets[1:] - 1] = end_class(model)

    def logits_and_targets(self, network: RNNNetwork, table: Tensor, batch: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        lengths = self.ids.lengths[batch]
        real = torch.from_numpy(np.arange(table.shape[1]) < lengths[:, None])
        logits = network.begun(table)
        right = np.concatenate([self.first[batch], self.later[positions(self.ids.offsets[batch], lengths)]])
        known = torch.from_numpy(np.flatnonzero(right != _IGNORED))
        return torch.cat([logits[:, 0], logits[:, 1:][real]])[known], torch.from_numpy(right)[known]

    def measured(self, model: RNNClassifier) -> tuple[float, float]:
        first = np.tile(model.initial_output, (len(self.ids), 1))
        right = np.concatenate([self.later, self.first])
        known = right != _IGNORED
        return _scores(np.concatenate([model.trace(self.ids).values, first])[known], right[known])


def _scores(outputs: NDArray[np.float32], right: NDArray[np.int64]) -> tuple[float, float]:
    """Mean loss and accuracy; (N, classes), (N,)"""
    chosen = outputs[np.arange(len(right)), right]
    return float(-np.log(np.maximum(chosen, _LEAST)).mean()), float(np.mean(outputs.argmax(1) == right))


def _class_weights(labels: NDArray[np.int64], classes: int) -> Tensor:
    counts = np.maximum(np.bincount(labels, minlength=classes), 1)
    return torch.from_numpy((len(labels) / (classes * counts)).astype(np.float32))
