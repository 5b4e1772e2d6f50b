"""Labelled (or unlabelled) texts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.html import table_html
from wfalens.messages import listed, quoted
from wfalens.ragged import Ragged

_MOST_ROWS = 50  # of a table in a notebook


@dataclass(frozen=True, eq=False)
class Corpus:
    """Labelled or unlabelled texts in memory.

    Args:
        texts: as strings, in order.
        labels: (texts,) places in `class_names`; None for unlabelled text. `Corpus.of` takes names instead.
        class_names: the classes, in order.
        name: how messages and files call the corpus.
        skipped: what was left out in reading, a line for each row.

    Examples:
        >>> mail = Corpus.of(["buy now", "see you at ten"], ["spam", "ham"])
        >>> mail.class_names, mail.labels.tolist()
        (('ham', 'spam'), [1, 0])
    """

    texts: tuple[str, ...]
    labels: NDArray[np.int64] | None = None
    class_names: tuple[str, ...] = ()
    name: str = "corpus"
    skipped: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.labels is not None:
            if len(self.labels) != len(self.texts):
                raise InputError(f"{len(self.texts)} texts but {len(self.labels)} labels")
            if len(self.labels) and not 0 <= self.labels.min() <= self.labels.max() < len(self.class_names):
                raise InputError(f"labels must lie between 0 and {len(self.class_names) - 1}")

    @classmethod
    def of(
        cls,
        texts: Sequence[str],
        labels: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
        name: str = "corpus",
        skipped: Sequence[str] = (),
    ) -> Corpus:
        """From texts and the names of their labels.

        Args:
            texts: the texts
            labels: the name of a class for each; None: unlabelled
            class_names: all classes in their order; None: those of the labels, sorted (numbers by value)
            name: how messages and files call the corpus
            skipped: what was left out while reading, in a sentence each

        Examples:
            >>> Corpus.of(["a good film", "a bad film"], ["pos", "neg"]).class_names
            ('neg', 'pos')
        """
        texts = as_texts(texts)
        if labels is None:
            return cls(tuple(texts), None, tuple(class_names or ()), name, tuple(skipped))
        labels = as_labels(labels, len(texts))
        names = tuple(class_names) if class_names is not None else tuple(sorted(set(labels), key=_label_order))
        index = {label: position for position, label in enumerate(names)}
        try:
            ids = np.fromiter((index[label] for label in labels), np.int64, len(labels))
        except KeyError as error:
            raise InputError(
                f"label {quoted(error.args[0])} of {name} is not one of the classes {listed(names)}", code="labels"
            ) from None
        return cls(tuple(texts), ids, names, name, tuple(skipped))

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def class_counts(self) -> dict[str, int]:
        """How many texts each class has; empty without labels."""
        if self.labels is None:
            return {}
        counts = np.bincount(self.labels, minlength=len(self.class_names))
        return dict(zip(self.class_names, counts.tolist(), strict=True))

    def __repr__(self) -> str:
        """A line without the texts: notebooks store what they show."""
        counts = listed(f"{name} {count:,}" for name, count in self.class_counts.items())
        classes = f"{len(self.class_names)} classes ({counts})" if self.labels is not None else "no labels"
        skipped = f", {len(self.skipped):,} rows skipped" if self.skipped else ""
        return f"Corpus {quoted(self.name)}: {len(self):,} texts, {classes}{skipped}"

    def _repr_html_(self) -> str:
        rows = [["texts", f"{len(self):,}"], *([name, f"{count:,}"] for name, count in self.class_counts.items())]
        return table_html(self.name, ["", "number"], rows[:_MOST_ROWS])

    def subset(self, items: NDArray[np.int64]) -> Corpus:
        """The given texts with their labels, in the given order.

        Args:
            items: their positions

        Examples:
            >>> corpus.subset(np.array([1, 0])).texts
            ('a bad film', 'a good film')
        """
        return replace(
            self,
            texts=tuple(self.texts[item] for item in items),
            labels=None if self.labels is None else self.labels[items],
            skipped=(),
        )

    def sample(self, most: int | None, seed: int) -> Corpus:
        """At most so many texts, drawn at random, in their order.

        Args:
            most: how many; None: all
            seed: equal seeds draw the same texts

        Examples:
            >>> len(corpus.sample(5, seed=0))
            5
        """
        if most is None or most >= len(self):
            return self
        return self.subset(np.sort(np.random.default_rng(seed).permutation(len(self))[:most]))

    def split(self, share: float, rng: np.random.Generator | int = 0) -> tuple[Corpus, Corpus]:
        """Two disjoint parts, the second with about `share` of every class (of all texts if unlabelled).

        Args:
            share: of the texts, for the second part
            rng: a random generator, or a seed

        Examples:
            >>> train, test = corpus.split(0.2)
        """
        labels = np.zeros(len(self), np.int64) if self.labels is None else self.labels
        order = np.random.default_rng(rng).permutation(len(self))
        rank_in_class = np.empty(len(self), np.int64)
        for label in np.unique(labels):
            members = order[labels[order] == label]
            rank_in_class[members] = np.arange(len(members))
        size = np.bincount(labels)[labels]
        second = rank_in_class < np.floor(share * size + 0.5)
        return self.subset(np.flatnonzero(~second)), self.subset(np.flatnonzero(second))

    def labels_in(self, class_names: tuple[str, ...]) -> NDArray[np.int64]:
        """The labels as indices into a model's `class_names`; refused if there are none."""
        labels = self.relabelled(class_names).labels
        if labels is None:
            raise InputError(f"{self.name} has no labels; the true classes must be known", code="no-labels")
        return labels

    def relabelled(self, class_names: tuple[str, ...]) -> Corpus:
        """The same texts with labels as indices into another model's `class_names`."""
        if self.labels is None or self.class_names == class_names:
            return self
        return Corpus.of(
            self.texts,
            [self.class_names[label] for label in self.labels],
            class_names,
            self.name,
            self.skipped,
        )


def as_texts(given: Any, name: str = "texts") -> Sequence[str]:
    """Texts as a list, of whatever holds them; all else is refused in one sentence (code "texts").

    Args:
        given: a list, tuple or other iterable of strings, a pandas Series, a numpy array, or a Corpus
        name: how the sentence calls the argument

    Examples:
        >>> as_texts(np.array(["a good film", "a bad film"]))
        ['a good film', 'a bad film']
    """
    if isinstance(given, Corpus):
        return given.texts
    if isinstance(given, str | bytes):
        raise InputError(f"{name} must be a list of texts; put a single text into a list: [text]", code="texts")
    if isinstance(given, Mapping | Ragged) or not isinstance(given, Iterable) or hasattr(given, "predict_proba"):
        kind = type(given).__name__
        raise InputError(f"{name} must be a list of texts, not {kind}; are the arguments in order?", code="texts")
    texts = given if isinstance(given, Sequence) else _listed(given)
    if (axes := getattr(given, "ndim", 1)) != 1:
        raise InputError(f"{name} must be a list of texts, not an array of {axes} axes", code="texts")
    if not {*map(type, texts)} <= {str}:
        for number, text in enumerate(texts):
            if not isinstance(text, str):
                what = "is missing" if text is None or text != text else f"is of type {type(text).__name__}"
                raise InputError(f"{name}[{number}] {what}; every text must be a string", code="texts")
    return texts


def _listed(given: Any) -> list[Any]:
    """The items of a pandas Series, a numpy array or any other iterable, as Python has them."""
    return list(given.tolist() if hasattr(given, "tolist") else given)


def as_labels(given: Any, texts: int) -> list[str]:
    """The names of the labels of so many texts, of a list, pandas Series or numpy array; numbers become text."""
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise InputError(f"labels must be a list with a name for each text, not {type(given).__name__}", code="labels")
    labels = _listed(given)
    if len(labels) != texts:
        raise InputError(f"{texts} texts but {len(labels)} labels", code="labels")
    missing = next((at for at, label in enumerate(labels) if label is None or label != label), None)
    if missing is not None:
        raise InputError(f"labels[{missing}] is missing; every text needs a label", code="labels")
    return [str(label) for label in labels]


def named_classes(names: Iterable[object]) -> tuple[str, ...]:
    """Class names as text; at least two, all different."""
    if isinstance(names, str | bytes | Mapping) or not isinstance(names, Iterable):
        raise InputError(f"classes must be a list of names in the order of the outputs, not {names!r}", code="classes")
    classes = tuple(str(name) for name in names)
    if len(classes) < 2 or len(set(classes)) != len(classes):
        raise InputError(
            f"a classifier has at least two classes with different names, not {', '.join(classes) or 'none'}",
            code="classes",
        )
    return classes


_WITHOUT = "not "


def label_classes(labels: Iterable[object]) -> tuple[str, ...]:
    """The classes of a model that gives a text several labels: `not x` and `x` of each."""
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise InputError(f"labels must be a list of names, not {quoted(str(labels))}", code="labels")
    return tuple(name for label in labels for name in (f"{_WITHOUT}{label}", str(label)))


def labels_of(class_names: Sequence[str]) -> tuple[str, ...]:
    """The labels whose classes these are; none if they are the classes of a model that chooses one."""
    labels = tuple(class_names[1::2])
    return labels if len(labels) > 1 and tuple(class_names) == label_classes(labels) else ()


def check_label(labels: Sequence[str], name: str) -> int:
    """The place of a label; refused if there is none of that name."""
    if name not in labels:
        raise InputError(f"{quoted(str(name))} is not one of the labels {listed(labels)}", code="label")
    return labels.index(name)


def likely_labels(labels: Sequence[str], probabilities: NDArray[np.floating]) -> NDArray[np.object_]:
    """The labels of each text that are likelier than not; (texts, labels) -> (texts,)"""
    found = np.empty(len(probabilities), object)
    found[:] = [tuple(label for label, p in zip(labels, row, strict=True) if p > 1 / 2) for row in probabilities]
    return found


def _label_order(label: str) -> tuple[int, float, str]:
    """Numbers by value, then all other names, NaN among them."""
    try:
        value = float(label)
    except ValueError:
        value = math.nan
    return (1, 0.0, label) if math.isnan(value) else (0, value, label)
