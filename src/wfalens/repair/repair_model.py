"""Training again with a repaired training set, and what became better and worse."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wfalens import progress as display
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.moves import anatomy_and_names
from wfalens.extraction import Readable, extract
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.monitoring.walks import reader_of
from wfalens.progress import shown
from wfalens.repair.blame import blame, errors_of, label_suspects, with_labels
from wfalens.repair.plan import HOW, RELABEL, SWAP, Plan, Step, plan_for, relabelled
from wfalens.results import Result
from wfalens.robustness.compare.compare import compare
from wfalens.robustness.compare.difference import Difference
from wfalens.storage import write_atomically
from wfalens.text.corpus import Corpus
from wfalens.validation import Bounds, Options, check_choice, option, real, whole

if TYPE_CHECKING:
    from wfalens.models.rnn.classifier import RNNClassifier

_SHOWN = 20


@dataclass(frozen=True, repr=False)
class SliceChange(Result):
    """Errors on a set of texts before and after."""

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

    computed = ("accuracy_before", "accuracy_after")

    def summary(self) -> str:
        return (
            f"{self.name}: {self.errors_before:,} → {self.errors_after:,} errors on {self.texts:,} texts "
            f"(accuracy {self.accuracy_before:.3f} → {self.accuracy_after:.3f})"
        )


def retrain(
    model: PrefixClassifier,
    train: Corpus,
    plan: Plan,
    *,
    epochs: int = 4,
    learning_rate: float = 1e-3,
    seed: int = 0,
) -> RNNClassifier:
    """A network that continues training from this one with the repaired training set; this one is not changed."""
    from wfalens.models.rnn.classifier import RNNClassifier
    from wfalens.models.rnn.training import Trainer

    if not isinstance(model, RNNClassifier):
        raise InputError(
            "only built-in networks can be trained again; train yours on the repaired texts instead",
            code="not-trainable",
        )
    if len(plan) == 0:
        raise InputError("the plan changes nothing; give more errors, or another way to repair", code="empty-plan")
    repaired = plan.apply(with_labels(train, model.class_names))
    trainer = Trainer(config=model.config, epochs=epochs, patience=epochs, learning_rate=learning_rate, seed=seed)
    return trainer.train(repaired, start=model).model


def compare_errors(before: PrefixClassifier, after: PrefixClassifier, corpus: Corpus, name: str) -> SliceChange:
    """Errors of two networks on labelled texts."""
    labelled = with_labels(corpus, tuple(before.class_names))
    worded, ids = before.encoder.encode(labelled.texts).nonempty()
    assert labelled.labels is not None  # noqa: S101 - checked above
    truth = labelled.labels[worded]
    wrong = [final_outputs(model, ids).argmax(1) != truth for model in (before, after)]

    def some(chosen: Any) -> tuple[str, ...]:
        return tuple(labelled.texts[int(worded[at])] for at in np.flatnonzero(chosen)[:_SHOWN])

    return SliceChange(
        name,
        len(worded),
        int(wrong[0].sum()),
        int(wrong[1].sum()),
        some(wrong[0] & ~wrong[1]),
        some(~wrong[0] & wrong[1]),
    )


@dataclass(frozen=True, kw_only=True)
class RepairOptions(Options):
    """How a training set is repaired, and how the network is trained on it."""

    how: tuple[str, ...] = option((SWAP,), "Ways: drop, relabel, swap (words on which errors turned), pool.")
    most: int = option(1000, "Training texts to change at most.", Bounds(whole, 1, 10**9))
    least_doubt: float = option(2.0, "Log-odds from which on a label is changed.", Bounds(real, 0, 1000))
    epochs: int = option(4, "Epochs to train.", Bounds(whole, 1, 10**6))
    learning_rate: float = option(1e-3, "Of this training.", Bounds(real, 0, 10))

    def __post_init__(self) -> None:
        super().__post_init__()
        for each in self.how:
            check_choice("way to repair", each, HOW)


@dataclass(frozen=True, eq=False, repr=False)
class RepairResult(Result):
    """A plan and, unless it was only planned, what it did."""

    plan: Plan
    slices: tuple[SliceChange, ...] = ()
    difference: Difference | None = None  # between the automata before and after

    @property
    def title(self) -> str:
        return "Errors before and after the repair" if self.slices else "Planned changes of the training texts"

    def rows(self) -> list[dict[str, Any]]:
        """The sets of texts before and after, or the plan."""
        return [each.to_dict() for each in self.slices] or self.plan.rows()

    def summary(self) -> str:
        return "\n".join([self.plan.summary(), *(each.summary() for each in self.slices)])


def plan_repair(
    wfa: WFA,
    model: PrefixClassifier,
    train: Corpus,
    texts: Corpus,
    options: RepairOptions | None = None,
    *,
    pool: Corpus | None = None,
    seed: int = 0,
) -> Plan:
    """What to change in the training set so that errors like those on `texts` are not taught again."""
    options = RepairOptions() if options is None else options
    train = with_labels(train, wfa.class_names)
    steps: list[Step] = []
    if RELABEL in options.how:
        steps += relabelled(label_suspects(wfa, model, train), options.least_doubt)[: options.most]
    others = tuple(each for each in options.how if each != RELABEL)
    if others:
        causes = blame(wfa, model, train, errors_of(model, texts))
        steps += plan_for(causes, model, others, most=options.most, pool=pool, seed=seed).steps
    if not steps and not others:
        raise InputError(f"no label is doubted by {options.least_doubt:g} or more: lower it", code="empty-plan")
    if not steps:
        raise InputError(
            "there is nothing to repair: no word that the training set teaches turned many of the errors; give errors "
            "of one kind, or another way to repair",
            code="empty-plan",
        )
    return Plan(tuple(steps))


def repair(
    wfa: WFA,
    model: PrefixClassifier,
    train: Corpus,
    texts: Corpus,
    folder: str | Path | None = None,
    options: RepairOptions | None = None,
    *,
    pool: Corpus | None = None,
    test: Corpus | None = None,
    seed: int = 0,
    progress: bool = False,
) -> RepairResult:
    """Repair the training set where errors were taught, train again from the checkpoint, and show what changed.

    Nothing is overwritten: the plan, the repaired texts, the new network, its automaton and the difference to the old
    one are files of their own in a new folder. Without a folder, only the plan is made.

    Args:
        wfa: the automaton.
        model: the classifier, a built-in network.
        train: what it learned from, with labels.
        texts: labelled texts; those that the classifier gets wrong are to be repaired.
        folder: new or empty; None: plan only.
        options: how to repair, and how to train.
        pool: labelled texts to add from.
        test: labelled texts on which nothing should become worse.
        seed: of all random draws.
        progress: show a progress bar.
    """
    options = RepairOptions() if options is None else options
    with shown(progress):
        train = with_labels(train, wfa.class_names)
        plan = plan_repair(wfa, model, train, texts, options, pool=pool, seed=seed)
        if folder is None:
            return RepairResult(plan)
        folder = _new_folder(folder)
        repaired = plan.apply(train)
        _write(folder / "plan.json", plan.to_dict())
        _write_corpus(folder / "repaired.csv", repaired)
        network = retrain(model, train, plan, epochs=options.epochs, learning_rate=options.learning_rate, seed=seed)
        network.save(folder / "repaired.rnn")
        before = reader_of(wfa)
        clusters, states = anatomy_and_names(before)[0].visits.shape  # as large as before, to be compared
        after = extract(network, repaired, Readable(states=states - 1, clusters=clusters), seed=seed)
        after.save(folder / "repaired.wfa")
        named = [("the given texts", texts)] + ([] if test is None else [("the test texts", test)])
        slices = tuple(compare_errors(model, network, corpus, name) for name, corpus in named)
        difference = compare(before, after, texts if test is None else test, models=(model, network))
        _write(folder / "diff.json", {"slices": [each.to_dict() for each in slices], **difference.to_dict()})
    return RepairResult(plan, slices, difference)


def _new_folder(path: str | Path) -> Path:
    folder = Path(path)
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty; nothing is overwritten: give a new folder", code="folder")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _write(path: Path, content: dict[str, Any]) -> None:
    write_atomically(path, json.dumps(content, indent=1, ensure_ascii=False).encode("utf-8", "replace"))
    display.say(f"wrote {path}")


def _write_corpus(path: Path, corpus: Corpus) -> None:
    import pandas as pd

    labels = [] if corpus.labels is None else [corpus.class_names[label] for label in corpus.labels]
    table = pd.DataFrame({"text": corpus.texts, "label": labels})
    write_atomically(path, table.to_csv(index=False).encode("utf-8", "replace"))
    display.say(f"wrote {path}")
