"""A plan to repair a training set, training again with it, and what became better and worse.

The plan says what is dropped, relabelled and added, and why. Nothing is changed in place.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wfalens import progress as display
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.label_errors import LabelErrors, find_label_errors
from wfalens.explanation.moves import anatomy_and_names
from wfalens.extraction import Readable, extract
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.monitoring.features import reader_of
from wfalens.progress import shown
from wfalens.repair.blame import Blame, TurningWord, blame, errors_of
from wfalens.repair.repair_options import ACTIONS, ADD, DROP, POOL, RELABEL, SWAP, RepairOptions
from wfalens.results import Result
from wfalens.robustness.difference import Difference, compare
from wfalens.storage import write_atomically
from wfalens.text.corpus import Corpus

if TYPE_CHECKING:
    from wfalens.models.rnn.classifier import RNNClassifier

_OFTEN = 0.05  # share of the errors that turn on a word, from which on it is swapped
_TAUGHT = 2.0  # odds of the class in training texts that hold the word, against its odds in all of them
_COPIES = 4  # of texts of other classes with a spurious word, for each training text that taught it
_SHOWN = 20  # texts of a kind that are named


@dataclass(frozen=True)
class PlanStep:
    """One change of the training set."""

    action: str  # drop, relabel or add
    row: int | None  # of the training set; None: the text is new
    text: str
    label: str
    why: str


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """All changes of a training set, in order."""

    steps: tuple[PlanStep, ...]

    def __len__(self) -> int:
        return len(self.steps)

    def count(self, action: str) -> int:
        return sum(step.action == action for step in self.steps)

    def to_dict(self) -> dict[str, Any]:
        return {**{action: self.count(action) for action in ACTIONS}, "steps": self.rows()}

    def rows(self) -> list[dict[str, Any]]:
        """One row per step."""
        return [asdict(step) for step in self.steps]

    def summary(self) -> str:
        return ", ".join(f"{action} {self.count(action):,}" for action in ACTIONS) + " training texts"

    def apply(self, train: Corpus) -> Corpus:
        """The training set as the plan has it."""
        labels = train.labels_in(train.class_names).copy()
        dropped = {step.row for step in self.steps if step.action == DROP}
        added = [step for step in self.steps if step.action == ADD]
        for step in self.steps:
            if step.action == RELABEL and step.row is not None:
                labels[step.row] = train.class_names.index(step.label)
        kept = np.array([row for row in range(len(train)) if row not in dropped], np.int64)
        texts = (*(train.texts[row] for row in kept), *(step.text for step in added))
        new_labels = np.array([train.class_names.index(step.label) for step in added], np.int64)
        return Corpus(texts, np.append(labels[kept], new_labels), train.class_names, f"{train.name}, repaired")


def relabelled(suspects: LabelErrors, least_doubt: float) -> list[PlanStep]:
    """Take the likelier class where the doubt is large."""
    return [
        PlanStep(
            RELABEL, each.row, each.text, each.likelier, f"network, automaton and a bag of words doubt {each.label!r}"
        )
        for each in suspects
        if each.doubt >= least_doubt
    ]


def plan_for(
    found: Blame, model: PrefixClassifier, options: RepairOptions, *, pool: Corpus | None = None, seed: int = 0
) -> Plan:
    """What to do about blamed texts: drop them, swap the words on which errors turned, take texts from a pool.

    swap  blamed texts whose class hangs on the turning word alone are dropped, the others lose the word; texts of other
          classes are added that hold it, so that it says nothing any more
    """
    how, most = options.how, options.most
    if POOL in how and pool is None:
        raise InputError("give the pool of texts to add from", code="no-pool")
    rng = np.random.default_rng(seed)
    steps: list[PlanStep] = []
    if DROP in how:
        steps += [
            PlanStep(DROP, int(row), found.train.texts[row], found.label_of(int(row)), "it taught errors")
            for row in found.ranked()[:most].tolist()
        ]
    if SWAP in how:
        steps += _swaps(found, model, most, rng)
    if POOL in how and pool is not None:
        steps += _from_pool(found, model, pool.relabelled(found.train.class_names), most)
    unique = {(step.action, step.row, step.text): step for step in steps}
    return Plan(tuple(unique.values()))


def turning_phrases(found: Blame) -> list[tuple[str, str]]:
    """The words on which many errors turned and which the training set teaches, with the classes that they brought.

    A word that is as frequent in other classes, such as "in", is not to blame, however many errors turn on it.
    """
    least = max(1.0, _OFTEN * len(found.errors))
    often = [each for each in found.words if each.errors >= least]
    taught = {each.word for each in often if _favours(found.train, each)}
    return [(each.word, each.predicted) for each in often if each.word in taught]


def _favours(train: Corpus, turned: TurningWord) -> bool:
    """Whether training texts that hold the word are of the class that it brought more often than others are."""
    own = train.class_counts[turned.predicted]
    odds = (own + 0.5) / (len(train) - own + 0.5)
    return (turned.taught + 0.5) / (turned.others + 0.5) >= _TAUGHT * odds


def _swaps(found: Blame, model: PrefixClassifier, most: int, rng: np.random.Generator) -> list[PlanStep]:
    train, encoder = found.train, model.encoder
    labels, steps = train.labels_in(train.class_names), []
    by_class: dict[str, list[str]] = {}
    for word, predicted in turning_phrases(found):
        by_class.setdefault(predicted, []).append(word)
    for predicted, words in by_class.items():
        label, planted = train.class_names.index(predicted), set(words)
        rows = [row for row in found.ranked().tolist() if planted & set(encoder.tokens(train.texts[row]))][:most]
        tokens_of = [encoder.tokens(train.texts[row]) for row in rows]
        bare = [[word for word in tokens if word not in planted] for tokens in tokens_of]
        held = [[word for word in tokens if word in planted] for tokens in tokens_of]  # a phrase keeps its order
        outputs = final_outputs(model, encoder.vocabulary.encode(bare))
        phrase = " and ".join(map(repr, words))
        for row, left, output in zip(rows, bare, outputs, strict=True):
            if labels[row] != label:
                continue
            steps.append(
                PlanStep(DROP, row, train.texts[row], predicted, f"errors turned on {phrase}, which it taught")
            )
            if left and int(output.argmax()) == label:
                steps.append(PlanStep(ADD, None, " ".join(left), predicted, f"the same without {phrase}"))
        others = np.flatnonzero(labels != label)
        chosen = rng.choice(others, min(len(others), _COPIES * len(rows)), replace=False).tolist()
        for number, row in enumerate(chosen):
            tokens = encoder.tokens(train.texts[row])
            at = int(rng.integers(len(tokens) + 1))
            text = " ".join([*tokens[:at], *held[number % len(rows)], *tokens[at:]])
            name = train.class_names[int(labels[row])]
            steps.append(PlanStep(ADD, None, text, name, f"{phrase} in a text of another class than {predicted!r}"))
    return steps


def _from_pool(found: Blame, model: PrefixClassifier, pool: Corpus, most: int) -> list[PlanStep]:
    """Texts of a pool that hold a turning word and are of another class than it brought."""
    phrases, steps = turning_phrases(found), []
    for text, label in zip(pool.texts, pool.labels_in(pool.class_names), strict=True):
        name = pool.class_names[int(label)]
        others = {word for word, _ in phrases} - {word for word, predicted in phrases if predicted == name}
        held = [word for word in model.encoder.tokens(text) if word in others]
        if held:
            steps.append(PlanStep(ADD, None, text, name, f"{held[0]!r} in a text of another class"))
    return steps[:most]


@dataclass(frozen=True, repr=False)
class SliceChange(Result):
    """Errors on a set of texts before and after."""

    name: str
    texts: int
    errors_before: int
    errors_after: int
    better: tuple[str, ...]  # texts that are right now, some of them
    worse: tuple[str, ...]  # texts that are wrong now, some of them
    accuracy_before: float
    accuracy_after: float

    def summary(self) -> str:
        return (
            f"{self.name}: {self.errors_before:,} → {self.errors_after:,} errors on {self.texts:,} texts "
            f"(accuracy {self.accuracy_before:.3f} → {self.accuracy_after:.3f})"
        )


def retrain(
    model: PrefixClassifier, train: Corpus, plan: Plan, *, epochs: int = 4, learning_rate: float = 1e-3, seed: int = 0
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
    repaired = plan.apply(train.relabelled(model.class_names))
    trainer = Trainer(config=model.config, epochs=epochs, patience=epochs, learning_rate=learning_rate, seed=seed)
    return trainer.train(repaired, start=model).model


def compare_errors(before: PrefixClassifier, after: PrefixClassifier, corpus: Corpus, name: str) -> SliceChange:
    """Errors of two networks on labelled texts."""
    worded, ids = before.encoder.encode(corpus.texts).nonempty()
    truth = corpus.labels_in(tuple(before.class_names))[worded]
    wrong = [final_outputs(model, ids).argmax(1) != truth for model in (before, after)]

    def some(chosen: Any) -> tuple[str, ...]:
        return tuple(corpus.texts[int(worded[at])] for at in np.flatnonzero(chosen)[:_SHOWN])

    texts, old, new = len(worded), int(wrong[0].sum()), int(wrong[1].sum())
    better, worse = some(wrong[0] & ~wrong[1]), some(~wrong[0] & wrong[1])
    rates = 1 - old / max(1, texts), 1 - new / max(1, texts)
    return SliceChange(name, texts, old, new, better, worse, *rates)


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
    steps: list[PlanStep] = []
    if RELABEL in options.how:
        steps += relabelled(find_label_errors(wfa, model, train), options.least_doubt)[: options.most]
    others = set(options.how) - {RELABEL}
    if others:
        causes = blame(wfa, model, train, errors_of(model, texts))
        steps += plan_for(causes, model, options, pool=pool, seed=seed).steps
    if not steps:
        raise InputError(
            f"there is nothing to repair: no label is doubted by {options.least_doubt:g} or more, or no word that the "
            "training set teaches turned many of the errors; give errors of one kind, or another way to repair",
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
        train = train.relabelled(wfa.class_names)
        plan = plan_repair(wfa, model, train, texts, options, pool=pool, seed=seed)
        if folder is None:
            return RepairResult(plan)
        folder = _new_folder(folder)
        repaired = plan.apply(train)
        _write(folder / "plan.json", plan.to_dict())
        _write(folder / "repaired.csv", repaired)
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


def _write(path: Path, content: dict[str, Any] | Corpus) -> None:
    """As CSV or JSON."""
    import pandas as pd

    if isinstance(content, Corpus):
        labels = [content.class_names[label] for label in content.labels_in(content.class_names)]
        text = pd.DataFrame({"text": content.texts, "label": labels}).to_csv(index=False)
    else:
        text = json.dumps(content, indent=1, ensure_ascii=False)
    write_atomically(path, text.encode("utf-8", "replace"))
    display.say(f"wrote {path}")
