"""Is a model read as it was trained? Where texts have labels, other sides of padding, ids and class names are tried."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.errors import ModelError
from wfalens.models.checks import UnknownWordsWarning, unknown_words
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import last_outputs, text_outputs
from wfalens.models.padded import IdClassifier, PaddedForm
from wfalens.text.corpus import Corpus
from wfalens.text.encoder import LEFT, RIGHT, TextEncoder
from wfalens.text.vocabulary import PADDING, UNKNOWN

_FEWEST, _TRIED, _MOST = 30, 200, 500  # texts with a label: at least, to try other ways on, to measure a rate on
_WEIGHED = 1000  # texts on which the other side of padding is compared once more
_LEAST_GAIN, _LEAST_SURE = 0.05, 1e-3  # of accuracy, and how likely chance alone would bring it
_LEAST_RENAMED = 0.2  # of accuracy, that other class names must gain: they are fitted to labels
_LEAST_RIGHT = 0.4  # of the way from the largest class's share to 1, that the better way must have gone
_SHIFTS = (-2, -1, 1, 2)
_GOOD_ENOUGH = 0.9  # agreement with labels that raises no doubt, however large the largest class
_OTHER = {RIGHT: LEFT, LEFT: RIGHT}


class ReadingWarning(UserWarning):
    """Labels do not support the way in which a model is read."""


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
    better on the other end of long texts than on the one that it was trained on.) A way that is better but agrees with
    few labels is not named: then something else is wrong.

    Args:
        model: of one that reads ids (Keras, ONNX, torch) all is tried, of others the order of the class names.
        corpus: texts with labels.
        seed: of the texts that are drawn.

    Examples:
        >>> from wfalens.models import check_preprocessing
        >>> print(check_preprocessing(model, corpus))
        None
    """
    some = _sample(model, corpus, _TRIED, seed)
    if some is None:
        return None
    right = _right(model, some)
    best, how = right, ""
    for other, change, least in _other_ways(model, some):
        if other.sum() > best.sum() and _is_better(right, other, least):
            best, how = other, change
    if not how and isinstance(model, IdClassifier) and model.form.width is not None:
        some = _sample(model, corpus, _WEIGHED, seed) or some
        turned = replace(model.form, padding=_OTHER[model.form.padding])
        right, best = _right(model, some), _right(model.reread(turned, model.encoder.truncation_side), some)
        how = _padded(turned.padding) if _is_better(right, best) else ""
    largest = _largest_share(some)
    is_right = float(best.mean()) >= largest + _LEAST_RIGHT * (1 - largest)
    return Misreading(len(right), float(right.mean()), float(best.mean()), how) if how and is_right else None


def require_reading(model: PrefixClassifier, corpus: Corpus) -> None:
    """Refuse a model that agrees much better with labels when it is read otherwise; warn of many unknown words."""
    unknown = unknown_words(model.encoder, corpus.texts)
    if unknown is not None:
        warnings.warn(unknown, UnknownWordsWarning, stacklevel=3)
    found = check_preprocessing(model, corpus)
    if found is not None:
        raise ModelError(str(found), code="misread")
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
    some = _sample(model, corpus, _MOST, 0)
    if some is None:
        return None
    right, largest = float(_right(model, some).mean()), _largest_share(some)
    if right >= largest + _LEAST_GAIN or right >= _GOOD_ENOUGH:
        return None
    return (
        f"the model agrees with {right:.0%} of {len(some)} labels, hardly more than always naming the largest class "
        f"would ({largest:.0%}): are its word ids, classes and texts those that it was trained with?"
    )


def agreement(model: PrefixClassifier, corpus: Corpus, seed: int = 0) -> float | None:
    """The share of some labelled texts on which a model agrees with the label; None where too few are its classes."""
    some = _sample(model, corpus, _MOST, seed)
    return None if some is None else float(_right(model, some).mean())


def _sample(model: PrefixClassifier, corpus: Corpus, most: int, seed: int) -> Corpus | None:
    """Some texts with words whose labels are classes of the model; None if there are too few."""
    if corpus.labels is None:
        return None
    known = np.array([name in model.class_names for name in corpus.class_names], bool)
    items = np.flatnonzero(known[corpus.labels])
    if len(items) < _FEWEST:
        return None
    some = corpus.subset(items).relabelled(model.class_names).sample(most, seed)
    worded, _ = model.encoder.encode(some.texts).nonempty()
    return some.subset(worded) if len(worded) else None


def _largest_share(corpus: Corpus) -> float:
    """Of texts whose label is the most frequent one."""
    return float(np.bincount(_labels(corpus)).max() / len(corpus))


def _labels(corpus: Corpus) -> NDArray[np.int64]:
    return np.asarray(corpus.labels, np.int64)


def _chosen(model: PrefixClassifier, corpus: Corpus) -> NDArray[np.int64]:
    """The class that the model chooses; -> (texts,)"""
    ids = model.encoder.encode(corpus.texts)
    return np.asarray(text_outputs(model, corpus.texts, np.arange(len(corpus)), ids).argmax(1), np.int64)


def _right(model: PrefixClassifier, corpus: Corpus) -> NDArray[np.bool_]:
    """On which texts the model agrees with the label; -> (texts,)"""
    return np.asarray(_chosen(model, corpus) == _labels(corpus), bool)


def _best_names(chosen: NDArray[np.int64], labels: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """The label that each class of a model stands for, one to one, so that most texts agree. (texts,) -> (classes,)"""
    from scipy.optimize import linear_sum_assignment

    counts = 0.5 * np.eye(classes)  # a class without texts keeps its name if it can
    np.add.at(counts, (chosen, labels), 1)
    return np.asarray(linear_sum_assignment(counts, maximize=True)[1], np.int64)


def _is_better(right: NDArray[np.bool_], other: NDArray[np.bool_], least: float = 0.0) -> bool:
    """Whether another way gains so much, and beyond chance, by the texts on which they differ (McNemar's test)."""
    from scipy.stats import binomtest

    gained, lost = int(np.sum(other & ~right)), int(np.sum(right & ~other))
    if gained <= lost or gained - lost < least * len(right):
        return False
    return bool(binomtest(gained, gained + lost, alternative="greater").pvalue < _LEAST_SURE)


def _padded(side: str) -> str:
    return f'texts are padded on the {side} (padding_side="{side}")'


def _other_ways(model: PrefixClassifier, corpus: Corpus) -> Iterator[tuple[NDArray[np.bool_], str, float]]:
    """Where the model is right if it is read otherwise (texts,), what is changed, and what that must gain at least."""
    if isinstance(model, IdClassifier):
        for form, side, change in _other_forms(model):
            yield _right(model.reread(form, side), corpus), change, _LEAST_GAIN
    # classes are renamed as one half of the texts suggests, and tried on the other
    chosen, labels, classes = _chosen(model, corpus), _labels(corpus), len(model.class_names)
    half, right = np.arange(len(corpus)) % 2 == 0, np.zeros(len(corpus), bool)
    for fitted in (half, ~half):
        names = _best_names(chosen[fitted], labels[fitted], classes)
        right[~fitted] = names[chosen[~fitted]] == labels[~fitted]
    order = ", ".join(model.class_names[name] for name in _best_names(chosen, labels, classes))
    yield right, f"its class names stand in the order {order} (classes)", _LEAST_RENAMED


def _other_forms(model: IdClassifier) -> Iterator[tuple[PaddedForm, str, str]]:
    """Other padding, truncation and ids, each with what is changed."""
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
    pads, exact = getattr(model, "pads", 0), getattr(model, "exact", None)
    if not pads or exact is None:
        return None
    chosen = np.random.default_rng(seed).permutation(len(texts))[:_MOST]
    _, ids = model.encoder.encode([texts[item] for item in chosen]).nonempty()
    if len(ids) == 0:
        return None
    differ = last_outputs(model, ids).argmax(1) != last_outputs(exact(), ids).argmax(1)
    return StepsApart(len(ids), float(differ.mean()), pads)


def say_misreading(model: PrefixClassifier, corpus: Corpus) -> tuple[Misreading | None, StepsApart | None]:
    """Say, and return, what labels say of another way to read a model, and how far its steps are from padding."""
    misread, apart = check_preprocessing(model, corpus), steps_apart(model, corpus.texts)
    for remark in (misread or _doubtful(model, corpus), apart if apart is not None and apart.share else None):
        if remark is not None:
            progress.say(str(remark))
    return misread, apart
