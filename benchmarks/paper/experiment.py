"""An experiment: one data set, one trained classifier, and the automata extracted from it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from benchmarks.paper.paper import Printed, printed
from benchmarks.paper.store import Result, Store, digest
from numpy.typing import NDArray

from wfalens.automaton.stochastic import StochasticWFA
from wfalens.extraction import Augmentation, completion_method, extract
from wfalens.extraction.stochastic.paper import StateMethod
from wfalens.ragged import Ragged
from wfalens.text import Corpus, WordVectors, read_vectors, wordllama_vectors
from wfalens.text.datasets import newsroom
from wfalens.text.datasets.catalogue import DATASETS, data_folder, load_dataset

if TYPE_CHECKING:
    from wfalens.models.rnn.classifier import RNNClassifier
    from wfalens.robustness.attack import AttackContext

_GLOVE = Path("glove") / "glove.6B.100d.subset.txt.gz"
_WARM_UP_TEXTS = 50
_SAMPLE_SEED = 0  # all seeds of a quick run share their texts
TRAIN, NO_LEAK = "train", "train_noleak"


@dataclass(frozen=True)
class Scale:
    """How much of everything is run; None: all of it."""

    train_texts: int | None = None
    test_texts: int | None = None
    epochs: int = 25
    pretraining_epochs: int = 8
    attack_texts: int = 1000
    augmentation_epochs: int = 5


FULL = Scale()
QUICK = Scale(2500, 800, 6, 2, 100, 2)


class Step(NamedTuple):
    """A measurement by name, its parameters, and the training texts it is for."""

    measure: str
    parameters: tuple[tuple[str, Any], ...]
    variant: str = TRAIN

    @classmethod
    def of(cls, measure: str, variant: str = TRAIN, **parameters: Any) -> Step:
        return cls(measure, tuple(sorted(parameters.items())), variant)

    def __str__(self) -> str:
        parameters = ", ".join(f"{name} = {value}" for name, value in self.parameters)
        return self.measure + (f" ({parameters})" if parameters else "")


@dataclass(eq=False)
class Experiment:
    """Everything is loaded, trained or extracted once, on first use."""

    dataset: str
    seed: int
    scale: Scale
    folder: Path
    data: Path | None = None
    variant: str = TRAIN
    given: Path | None = None  # a trained model to take instead of training one
    _automata: dict[Any, StochasticWFA] = field(default_factory=dict)
    _contexts: dict[Any, AttackContext] = field(default_factory=dict)

    @property
    def paper(self) -> Printed:
        return printed(self.dataset)

    @cached_property
    def train(self) -> Corpus:
        return load_dataset(self.dataset, self.variant, self.data).sample(self.scale.train_texts, _SAMPLE_SEED)

    @cached_property
    def test(self) -> Corpus:
        return load_dataset(self.dataset, "test", self.data).sample(self.scale.test_texts, _SAMPLE_SEED)

    @cached_property
    def model(self) -> RNNClassifier:
        """The classifier under study: given, kept from an earlier run, or trained now and kept."""
        from wfalens.models.rnn.classifier import RNNClassifier
        from wfalens.models.rnn.training import Trainer

        if self.given is not None:
            return RNNClassifier.load(self.given)
        known = DATASETS[self.dataset]
        made_from = {"texts": _digest_of(self.train), "epochs": self.scale.epochs, "seed": self.seed}
        path = self.folder / "models" / f"{self.dataset}-{self.variant}-{self.seed}-{digest(made_from)[:8]}.rnn"
        if not path.exists():
            trainer = Trainer(epochs=self.scale.epochs, max_length=known.max_length, seed=self.seed)
            path.parent.mkdir(parents=True, exist_ok=True)
            training = trainer.train(self.train)
            if training.interrupted:
                raise KeyboardInterrupt  # an unfinished model is not the one that the parameters name
            training.model.save(path)
        return RNNClassifier.load(path)

    @cached_property
    def ids(self) -> Ragged[np.int32]:
        return self.model.encoder.encode(self.train.texts).nonempty()[1]

    @cached_property
    def tests(self) -> Ragged[np.int32]:
        return self.model.encoder.encode(self.test.texts).nonempty()[1]

    @cached_property
    def wanted(self) -> NDArray[np.float32]:
        """What the model says of the test texts; (texts, classes)"""
        return self.model.trace(self.tests).last()

    @cached_property
    def vectors(self) -> WordVectors:
        """GloVe where the data folder has it; the planted ones of generated headlines; else WordLlama."""
        if self.dataset == "newsroom":
            return newsroom.vectors()
        words, folder = self.model.encoder.vocabulary.words[2:], data_folder(self.data)
        glove = folder / _GLOVE if folder else None
        return read_vectors(glove, words) if glove and glove.exists() else wordllama_vectors(words)

    def method(self, completion: str, *, context: bool = False, augmented: bool = False, **options: Any) -> StateMethod:
        """The paper's setting for this data set, unless `options` say otherwise."""
        settings: dict[str, Any] = {"states": self.paper.states, "alpha": self.paper.alpha if context else 0.0}
        augmentation = Augmentation(vectors=self.vectors, epochs=self.scale.augmentation_epochs) if augmented else None
        return completion_method(completion, **settings | {"augmentation": augmentation} | options)

    def warm_up(self, completion: str) -> None:
        """A tiny extraction before the clock starts: the first one of a process compiles and loads."""
        few = self.ids.take(np.arange(min(_WARM_UP_TEXTS, len(self.ids))))
        extract(self.model, few, self.method(completion, states=2)).predict(few)

    def automaton(self, completion: str, *, context: bool = False, augmented: bool = False) -> StochasticWFA:
        key = completion, context, augmented
        if key not in self._automata:
            method = self.method(completion, context=context, augmented=augmented)
            wfa = extract(self.model, self.ids, method, seed=self.seed)
            assert isinstance(wfa, StochasticWFA)
            self._automata[key] = wfa
        return self._automata[key]

    def context(self, completion: str, *, context: bool = False, augmented: bool = False) -> AttackContext:
        from benchmarks.paper.paper_attacks import paper_context

        key = completion, context, augmented
        if key not in self._contexts:
            wfa = self.automaton(completion, context=context, augmented=augmented)
            self._contexts[key] = paper_context(wfa, self.vectors, self.paper.weak, self.paper.strong)
        return self._contexts[key]

    @cached_property
    def identity(self) -> dict[str, Any]:
        """What every measurement of this experiment depends on."""
        return {
            "dataset": self.dataset,
            "variant": self.variant,
            "seed": self.seed,
            "scale": asdict(self.scale),
            "train": _digest_of(self.train),
            "test": _digest_of(self.test),
            "model": self.model.fingerprint,
            "vectors": self.vectors.source,
        }

    def measure(self, step: Step, measures: Mapping[str, Any], store: Store) -> Result:
        """The result of a step, from the store or measured now, with the seconds it took."""
        arguments = dict(step.parameters)
        parameters = {"study": self.identity, "measure": step.measure, "parameters": arguments}

        def timed() -> Result:
            began = time.perf_counter()
            result: Result = measures[step.measure](self, **arguments)
            return {**result, "took": time.perf_counter() - began}

        return store.keep(parameters, timed)


def _digest_of(corpus: Corpus) -> str:
    text = "\0".join(corpus.texts).encode("utf-8", "surrogatepass")
    labels = b"" if corpus.labels is None else corpus.labels.tobytes()
    return hashlib.sha256(text + labels).hexdigest()[:16]
