"""Training on with a mended training set, and what became better and worse."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wfalens.errors import InputError
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.repair.blame import with_labels
from wfalens.repair.plan import Plan
from wfalens.text.corpus import Corpus

if TYPE_CHECKING:
    from wfalens.models.rnn.classifier import RNNClassifier

_SHOWN = 20


@dataclass(frozen=True)
class Slice:
    """A set of texts before and after."""

    name: str
    texts: int
    errors_before: int
    errors_after: int
    better: tuple[str, ...]  # texts that are right now, some of them
    worse: tuple[str, ...]  # texts that are wrong now, some of them

    @property
    def accuracy_before(self) -> float:
        return 1 - self.errors_before / max(1, self.texts)

    @property
    def accuracy_after(self) -> float:
        return 1 - self.errors_after / max(1, self.texts)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "accuracy_before": self.accuracy_before, "accuracy_after": self.accuracy_after}


def repair(
    model: PrefixClassifier,
    train: Corpus,
    plan: Plan,
    *,
    epochs: int = 4,
    learning_rate: float = 1e-3,
    seed: int = 0,
) -> RNNClassifier:
    """A network that goes on from this one with the mended training set; this one stays as it is."""
    from wfalens.models.rnn.classifier import RNNClassifier
    from wfalens.models.rnn.training import Trainer

    if not isinstance(model, RNNClassifier):
        raise InputError("only networks of `wfalens train` can be trained on; train yours on the mended texts instead")
    if len(plan) == 0:
        raise InputError("the plan changes nothing; give more errors, or another way to repair")
    mended = plan.mended(with_labels(train, model.class_names))
    trainer = Trainer(config=model.config, epochs=epochs, patience=epochs, learning_rate=learning_rate, seed=seed)
    return trainer.train(mended, start=model).model


def compared(before: PrefixClassifier, after: PrefixClassifier, corpus: Corpus, name: str) -> Slice:
    """Errors of two networks on labelled texts."""
    labelled = with_labels(corpus, tuple(before.class_names))
    worded, ids = before.encoder.encode(labelled.texts).nonempty()
    assert labelled.labels is not None  # noqa: S101 - checked above
    truth = labelled.labels[worded]
    wrong = [final_outputs(model, ids).argmax(1) != truth for model in (before, after)]

    def some(chosen: Any) -> tuple[str, ...]:
        return tuple(labelled.texts[int(worded[at])] for at in np.flatnonzero(chosen)[:_SHOWN])

    return Slice(
        name,
        len(worded),
        int(wrong[0].sum()),
        int(wrong[1].sum()),
        some(wrong[0] & ~wrong[1]),
        some(~wrong[0] & wrong[1]),
    )
