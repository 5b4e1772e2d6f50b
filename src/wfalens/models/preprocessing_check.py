"""Is a model read as it was trained? Where texts have labels, other sides of padding, ids and class names are tried."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import ModelError
from wfalens.models.checks import UnknownWordsWarning, unknown_words
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import last_outputs
from wfalens.models.padded import PaddedForm
from wfalens.text.corpus import Corpus
from wfalens.text.encoder import LEFT, RIGHT, TextEncoder
from wfalens.text.vocabulary import PADDING, UNKNOWN

_FEWEST, _TRIED, _MOST = 30, 200, 500  # texts with a label: at least, to try other ways on, to measure a rate on
_WEIGHED = 1000  # texts on which the other side of padding is compared once more
_LEAST_GAIN, _LEAST_SURE = 0.05, 1e-3  # of accuracy, and how likely chance alone would bring it
_LEAST_RENAMED = 0.2  # of accuracy, that other class names must gain: they are fitted to labels
_SHIFTS = (-2, -1, 1, 2)
_GOOD_ENOUGH = 0.9  # agreement with labels that raises no doubt, however large the largest class
_OTHER = {RIGHT: LEFT, LEFT: RIGHT}


class ReadingWarning(UserWarning):
    """Labels do not support the way in which a model is read."""


@runtime_checkable
class Rereadable(PrefixClassifier, Protocol):
    """A model of padded batches that may be read in another way."""

    form: PaddedForm

    def reread(self, form: PaddedForm, truncation_side: str) -> PrefixClassifier: ...


@dataclass(frozen=True)
class Misreading:
    """Another way to read a model, in which it agrees much better with labels."""

    texts: int
    accuracy: float
    better: float
    how: str

    def __str__(self) -> str:
        digits = 0 if self.better - self.accuracy >= _LEAST_GAIN else 1
        return (
            f"as it is read now, the model agrees with {self.accuracy:.{digits}%} of {self.texts:,} labels, but with "
            f"{self.better:.{digits}%} if {self.how}: probably it was trained so"
        )


def check_preprocessing(model: PrefixClassifier, corpus: Corpus, seed: int = 0) -> Misreading | None:
    """The best other way to read a model, if labels clearly support it; None also where too few labels are known.

    All other ways are tried on 200 texts, where they must gain five points; class names in another order, twenty. The
    order is found on one half of the texts and tried on the other. The other side of padding is tried on 1,000
    texts too, where any gain counts that is no chance. (The other side of cutting is not: a model may do a little
    better on the other end of long texts than on the one that it was trained on.)

    Args:
        model: one that reads ids (Keras, ONNX, torch); others cannot be misread.
        corpus: texts with labels.
        seed: of the texts that are drawn.

    Examples:
        >>> from wfalens.models import check_preprocessing
        >>> print(check_preprocessing(model, corpus))  # a function has no padding that could be wrong
        None
    """
    if not isinstance(model, Rereadable):
        return None
    known = _labelled(corpus, model.class_names)
    if known is None:
        return None
    some = known.sample(_TRIED, seed)
    right = _right(model, some)
    best, how = right, ""
    for form, side, change in _other_ways(model):
        other = _right(model.reread(form, side), some)
        if other.sum() > best.sum() and _is_clear(right, other):
            best, how = other, change
    renamed = _renamed(model, some)
    if renamed.sum() > best.sum() and renamed.mean() - right.mean() >= _LEAST_RENAMED and _is_clear(right, renamed):
        best, how = renamed, _named_otherwise(model, some)
    if how:
        return Misreading(len(some), float(right.mean()), float(best.mean()), how)
    if model.form.width is None:
        return None
    turned = replace(model.form, padding=_OTHER[model.form.padding])
    reread = model.reread(turned, model.encoder.truncation_side)
    return _slight_misreading(model, reread, turned.padding, known.sample(_WEIGHED, seed))


def _slight_misreading(
    model: PrefixClassifier, reread: PrefixClassifier, side: str, corpus: Corpus
) -> Misreading | None:
    """The other side of padding, if it is better by more than chance."""
    now, then = (_right(each, corpus) for each in (model, reread))
    if not _is_no_chance(now, then):
        return None
    return Misreading(len(corpus), float(now.mean()), float(then.mean()), _padded(side))


def require_reading(model: PrefixClassifier, corpus: Corpus) -> None:
    """Refuse a model that agrees much better with labels when it is read otherwise; warn of many unknown words."""
    unknown = unknown_words(model.encoder, corpus.texts)
    if unknown is not None:
        warnings.warn(unknown, UnknownWordsWarning, stacklevel=3)
    found = check_preprocessing(model, corpus)
    if found is not None:
        raise ModelError(str(found))
    doubt = _doubtful(model, corpus)
    if doubt is not None:
        warnings.warn(doubt, ReadingWarning, stacklevel=3)


def _doubtful(model: PrefixClassifier, corpus: Corpus) -> str | None:
    """Why labels make one doubt that a model is read as it was trained; None if they do not."""
    if corpus.labels is None or len(corpus) < _FEWEST:
        return None
    if not set(corpus.class_names) & set(model.class_names):
        named = " and ".join(", ".join(names) for names in (corpus.class_names, model.class_names))
        return f"no label is a class of the model ({named}): nothing shows whether it is read as it was trained"
    known = _labelled(corpus, model.class_names)
    if known is None:
        return None
    some = known.sample(_MOST, 0)
    if some.labels is None:
        return None
    right, largest = float(_right(model, some).mean()), np.bincount(some.labels).max() / len(some)
    if right >= largest + _LEAST_GAIN or right >= _GOOD_ENOUGH:
        return None
    return (
        f"the model agrees with {right:.0%} of {len(some)} labels, hardly more than always naming the largest class "
        f"would ({largest:.0%}): are its word ids, classes and texts those that it was trained with?"
    )


def agreement(model: PrefixClassifier, corpus: Corpus, seed: int = 0) -> float | None:
    """The share of some labelled texts on which a model agrees with the label; None where too few are its classes."""
    known = _labelled(corpus, model.class_names)
    return None if known is None else float(_right(model, known.sample(_MOST, seed)).mean())


def _labelled(corpus: Corpus, class_names: tuple[str, ...]) -> Corpus | None:
    """The texts whose labels are classes of the model, if there are enough."""
    if corpus.labels is None:
        return None
    known = np.array([name in class_names for name in corpus.class_names], bool)
    items = np.flatnonzero(known[corpus.labels])
    return corpus.subset(items).relabelled(class_names) if len(items) >= _FEWEST else None


def _right(model: PrefixClassifier, corpus: Corpus) -> NDArray[np.bool_]:
    """On which texts the model agrees with the label; -> (texts,)"""
    return np.asarray(_chosen(model, corpus) == corpus.labels, bool)


def _chosen(model: PrefixClassifier, corpus: Corpus) -> NDArray[np.int64]:
    """The class that the model chooses, -1 of a text without words; -> (texts,)"""
    worded, ids = model.encoder.encode(corpus.texts).nonempty()
    chosen = np.full(len(corpus), -1, np.int64)
    if len(worded):
        chosen[worded] = last_outputs(model, ids).argmax(1)
    return chosen


def _renamed(model: PrefixClassifier, corpus: Corpus) -> NDArray[np.bool_]:
    """On which texts the model agrees with the label if its classes are renamed, as the other half suggests.

    -> (texts,)
    """
    chosen, labels = _chosen(model, corpus), np.asarray(corpus.labels, np.int64)
    half, right = np.arange(len(corpus)) % 2 == 0, np.zeros(len(corpus), bool)
    for fitted in (half, ~half):
        names = _best_names(chosen[fitted], labels[fitted], len(model.class_names))
        right[~fitted] = (chosen[~fitted] >= 0) & (names[chosen[~fitted]] == labels[~fitted])
    return right


def _best_names(chosen: NDArray[np.int64], labels: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """The label that each class of a model stands for, one to one, so that most texts agree. (texts,) -> (classes,)"""
    from scipy.optimize import linear_sum_assignment

    worded = chosen >= 0
    counts = 0.5 * np.eye(classes)  # a class without texts keeps its name if it can
    np.add.at(counts, (chosen[worded], labels[worded]), 1)
    return np.asarray(linear_sum_assignment(counts, maximize=True)[1], np.int64)


def _named_otherwise(model: PrefixClassifier, corpus: Corpus) -> str:
    names = _best_names(_chosen(model, corpus), np.asarray(corpus.labels, np.int64), len(model.class_names))
    return f"its class names stand in the order {', '.join(model.class_names[name] for name in names)} (classes)"


def _is_clear(right: NDArray[np.bool_], other: NDArray[np.bool_]) -> bool:
    """Whether the gain is large, and no chance."""
    return bool(other.sum() - right.sum() >= _LEAST_GAIN * len(right) and _is_no_chance(right, other))


def _is_no_chance(right: NDArray[np.bool_], other: NDArray[np.bool_]) -> bool:
    """Whether the other way is better beyond chance, by the texts on which they differ (McNemar's exact test)."""
    from scipy.stats import binomtest

    gained, lost = int(np.sum(other & ~right)), int(np.sum(right & ~other))
    return gained > lost and bool(binomtest(gained, gained + lost, alternative="greater").pvalue < _LEAST_SURE)


def _padded(side: str) -> str:
    return f'texts are padded on the {side} (padding_side="{side}")'


def _other_ways(model: Rereadable) -> Iterator[tuple[PaddedForm, str, str]]:
    form, side = model.form, model.encoder.truncation_side
    other = replace(form, padding=_OTHER[form.padding])
    padded = _padded(other.padding)
    if form.width is not None:
        yield other, side, padded
        cut = f'long texts lose their words on the {_OTHER[side]} (truncation_side="{_OTHER[side]}")'
        yield form, _OTHER[side], cut
        yield other, _OTHER[side], f"{padded}, and {cut}"
    for shift in _SHIFTS:
        for ids, change in _other_ids(form, shift, model.encoder):
            yield replace(form, word_ids=ids), side, change
            if form.width is not None:
                yield replace(other, word_ids=ids), side, f"{padded}, and {change}"


def _other_ids(form: PaddedForm, shift: int, encoder: TextEncoder) -> Iterator[tuple[NDArray[np.int64], str]]:
    """All words moved up or down in the list of ids: without padding and `<unk>`, with both, or with `<unk>` alone."""
    ids = np.arange(len(encoder.vocabulary)) if form.word_ids is None else form.word_ids.astype(np.int64)
    moved = (ids + shift) % (int(ids.max()) + 1)
    change = f"the ids of all words are {abs(shift)} {'higher' if shift > 0 else 'lower'} (vocab)"
    yield np.concatenate([ids[: UNKNOWN + 1], moved[UNKNOWN + 1 :]]), change
    yield moved, f"{change}, those that pad and stand for unknown words too"
    if moved[PADDING] and form.width is not None:
        yield np.concatenate([[0], moved[PADDING + 1 :]]), f"{change}, and padding has the id 0"


@runtime_checkable
class PaddedSteps(Protocol):
    """A model whose steps start after a fixed number of pads, although it was made for as many as a text lacks."""

    encoder: TextEncoder
    pads: int

    def exact(self) -> PrefixClassifier: ...


@dataclass(frozen=True)
class StepsApart:
    """On how many texts the steps of a network choose another class than padded texts."""

    texts: int
    share: float
    pads: int

    def __str__(self) -> str:
        return (
            f"the network reads its padding: in steps that start after {self.pads} pads it chooses another class on "
            f'{self.share:.1%} of {self.texts} texts than with the pads of each text ("reading": "exact" in its '
            "preprocessing asks for those, and costs a model call per prefix)"
        )


def steps_apart(model: PrefixClassifier, texts: Sequence[str], seed: int = 0) -> StepsApart | None:
    """Compare both ways to read a network that reads its padding, on some texts; None for other models."""
    if not isinstance(model, PaddedSteps) or not model.pads:
        return None
    chosen = np.random.default_rng(seed).permutation(len(texts))[:_MOST]
    _, ids = model.encoder.encode([texts[item] for item in chosen]).nonempty()
    if len(ids) == 0:
        return None
    differ = last_outputs(model, ids).argmax(1) != last_outputs(model.exact(), ids).argmax(1)
    return StepsApart(len(ids), float(differ.mean()), model.pads)
