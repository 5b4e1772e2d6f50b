"""A plan to repair a training set: what is dropped, relabelled and added, and why. Nothing is changed in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.repair.blame import Blame, LabelSuspect, TurningWord
from wfalens.results import Result
from wfalens.text.corpus import Corpus
from wfalens.validation import check_choice

ACTIONS = ("drop", "relabel", "add")
HOW = DROP, RELABEL, SWAP, POOL = ("drop", "relabel", "swap", "pool")
_OFTEN = 0.05  # share of the errors that turn on a word, from which on it is swapped
_TAUGHT = 2.0  # odds of the class in training texts that hold the word, against its odds in all of them
_COPIES = 4  # of texts of other classes with a spurious word, for each training text that taught it


@dataclass(frozen=True)
class Step:
    """One change of the training set."""

    action: str  # drop, relabel or add
    row: int | None  # of the training set; None: the text is new
    text: str
    label: str
    why: str


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """All changes of a training set, in order."""

    steps: tuple[Step, ...]

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
        if train.labels is None:
            raise InputError(f"{train.name} has no labels", code="no-labels")
        labels: NDArray[np.int64] = train.labels.copy()
        dropped = {step.row for step in self.steps if step.action == DROP}
        added = [step for step in self.steps if step.action == "add"]
        for step in self.steps:
            if step.action == RELABEL and step.row is not None:
                labels[step.row] = train.class_names.index(step.label)
        kept = np.array([row for row in range(len(train)) if row not in dropped], np.int64)
        return replace(
            train,
            texts=(*(train.texts[row] for row in kept), *(step.text for step in added)),
            labels=np.concatenate([labels[kept], [train.class_names.index(step.label) for step in added]]).astype(
                np.int64
            ),
            name=f"{train.name}, repaired",
            skipped=(),
        )


def relabelled(suspects: Sequence[LabelSuspect], least_doubt: float) -> list[Step]:
    """Take the likelier class where the doubt is large."""
    return [
        Step(RELABEL, each.row, each.text, each.likelier, f"network, automaton and a bag of words doubt {each.label!r}")
        for each in suspects
        if each.doubt >= least_doubt
    ]


def plan_for(
    found: Blame,
    model: PrefixClassifier,
    how: Sequence[str],
    *,
    most: int = 1000,
    pool: Corpus | None = None,
    seed: int = 0,
) -> Plan:
    """What to do about blamed texts: drop them, swap the words on which errors turned, take texts from a pool.

    swap  blamed texts whose class hangs on the turning word alone are dropped, the others lose the word; texts of other
          classes are added that hold it, so that it says nothing any more
    """
    for each in how:
        check_choice("way to repair", each, HOW)
    if POOL in how and pool is None:
        raise InputError("give the pool of texts to add from", code="no-pool")
    rng = np.random.default_rng(seed)
    steps: list[Step] = []
    if DROP in how:
        steps += [
            Step(DROP, int(row), found.train.texts[row], found.label_of(int(row)), "it taught errors")
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
    return (turned.taught + 0.5) / (turned.others + 0.5) >= _TAUGHT * _odds(train, turned.predicted)


def _odds(train: Corpus, class_name: str) -> float:
    assert train.labels is not None  # noqa: S101 - checked at the border
    own = int((train.labels == train.class_names.index(class_name)).sum())
    return (own + 0.5) / (len(train) - own + 0.5)


def _swaps(found: Blame, model: PrefixClassifier, most: int, rng: np.random.Generator) -> list[Step]:
    train, encoder = found.train, model.encoder
    assert train.labels is not None  # noqa: S101 - checked at the border
    steps = []
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
            if train.labels[row] != label:
                continue
            steps.append(Step(DROP, row, train.texts[row], predicted, f"errors turned on {phrase}, which it taught"))
            if left and int(output.argmax()) == label:
                steps.append(Step("add", None, " ".join(left), predicted, f"the same without {phrase}"))
        others = np.flatnonzero(train.labels != label)
        chosen = rng.choice(others, min(len(others), _COPIES * len(rows)), replace=False).tolist()
        for number, row in enumerate(chosen):
            tokens = encoder.tokens(train.texts[row])
            at = int(rng.integers(len(tokens) + 1))
            text = " ".join([*tokens[:at], *held[number % len(rows)], *tokens[at:]])
            name = train.class_names[int(train.labels[row])]
            steps.append(Step("add", None, text, name, f"{phrase} in a text of another class than {predicted!r}"))
    return steps


def _from_pool(found: Blame, model: PrefixClassifier, pool: Corpus, most: int) -> list[Step]:
    """Texts of a pool that hold a turning word and are of another class than it brought."""
    if pool.labels is None:
        raise InputError(f"{pool.name} has no labels; texts to add need classes", code="no-labels")
    brought: dict[str, set[str]] = {}
    for word, predicted in turning_phrases(found):
        brought.setdefault(word, set()).add(predicted)
    steps = []
    for text, label in zip(pool.texts, pool.labels, strict=True):
        name = pool.class_names[int(label)]
        held = [word for word in model.encoder.tokens(text) if word in brought and name not in brought[word]]
        if held:
            steps.append(Step("add", None, text, name, f"{held[0]!r} in a text of another class"))
    return steps[:most]
