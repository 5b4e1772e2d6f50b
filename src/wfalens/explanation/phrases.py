"""Phrases that decide by themselves: their effects in a random context, precision on texts, without redundant ones.

The output with the phrase is exact, `I·B^a·Ê_phrase·B^b·F`. B, the mean of Êσ over the words of the extraction corpus
by their frequency, is a random word. The numbers of words before and after the phrase, a and b, are independent,
each distributed as the number of words before a random word of the texts. With `u = Σ_a p(a)·I·B^a` and
`G = Σ_b p(b)·B^b·F` computed once, a phrase costs one step of the automaton per word. Its *effect* is the difference to
random words in its place, gap included: `u·Ê_phrase·G − u·B^m·G`. A gap is `Γ = (B + B² + … + B^g)/g`.

The regular expressions (Python's `re`, 3.11 or newer) find a phrase where the tokenizer finds it. Two differences
remain: a text that is truncated is searched to its end, and a `"` within a word, which `basic_english` drops, counts as
a border between words. No expression backtracks over a word, so that long texts cannot make one slow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.comparison import check_pair, wilson_bounds
from wfalens.explanation.attribution import AUTOMATON, NETWORK, PROBABILITY, class_column
from wfalens.explanation.opinion_line import points
from wfalens.explanation.phrase_candidates import GAP, Key, PhraseCandidates, frequent_phrases
from wfalens.explanation.shapley.background import mean_matrix
from wfalens.messages import percent
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import last_outputs
from wfalens.results import RowResult
from wfalens.text.corpus import Corpus
from wfalens.validation import Bounds, real, whole

GAP_SIGN = "…"
_SHARE = 0.25  # of the largest effect on a class: what a phrase must have to decide, by default
_OWN_SHARE = 0.2  # of the effect: what a phrase with `more_than_words` has of its own
_VECTOR_FLOATS = 1 << 22  # of phrases that are read at a time
_BOUNDS = {
    "min_support": Bounds(whole, 1, 10**9),
    "longest": Bounds(whole, 1, 4),
    "gap": Bounds(whole, 0, 20),
    "min_effect": Bounds(real, 0, 1e6, (None,)),
}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class DecidingPhrases(RowResult):
    """Words and phrases with their class; those whose effect exceeds that of their words come first."""

    per_row = ("words", "labels", "effects", "interactions", "support", "hits", "true_hits")

    words: tuple[tuple[str | None, ...], ...]  # (N,): None is a gap of one to `gap` words
    labels: NDArray[np.int64]  # (N,): the class that each phrase raises most
    effects: NDArray[np.float64]  # (N, C): in a random context, against random words in its place
    interactions: NDArray[np.float64]  # (N, C): effect minus the sum of the effects of its words
    support: NDArray[np.int64]  # (N,): texts that contain it
    hits: NDArray[np.int64]  # (N,): those of them to which the reference gives its class
    true_hits: NDArray[np.int64] | None  # (N,): those whose true class is its class, where that is known
    texts: int  # all that were searched
    base_rates: NDArray[np.float64]  # (C,): share of all texts to which the reference gives each class
    reference: str  # whose classes count: "network", or "automaton" where no network was given
    gap: int
    tokenizer: str  # its name
    class_names: tuple[str, ...]
    unit: str

    @property
    def phrases(self) -> tuple[str, ...]:
        return tuple(" ".join(GAP_SIGN if word is None else word for word in words) for words in self.words)

    @property
    def regexes(self) -> tuple[str | None, ...]:
        """For `re.search`, (N,); None where the tokenizer is not a built-in one."""
        return tuple(regular_expression(words, self.gap, self.tokenizer) for words in self.words)

    @property
    def effect(self) -> NDArray[np.float64]:
        """On the phrase's own class; (N,)"""
        return np.asarray(self.effects[np.arange(len(self)), self.labels])

    @property
    def interaction(self) -> NDArray[np.float64]:
        """On the phrase's own class; (N,)"""
        return np.asarray(self.interactions[np.arange(len(self)), self.labels])

    @property
    def more_than_words(self) -> NDArray[np.bool_]:
        """Whether a fifth of the effect or more is not in the single words, as in "not good"; (N,)"""
        return np.asarray(self.interaction >= _OWN_SHARE * self.effect)

    @property
    def precision(self) -> NDArray[np.float64]:
        """Share of the texts with the phrase to which the reference gives its class; (N,)"""
        return np.asarray(self.hits / self.support)

    @property
    def interval(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The ends of the 95 % intervals of the precisions (Wilson); (N,), (N,)"""
        return wilson_bounds(self.hits, self.support)

    @property
    def lift(self) -> NDArray[np.float64]:
        """Precision over the share of the class among all texts; (N,)"""
        return np.asarray(self.precision / self.base_rates[self.labels])

    @property
    def true_precision(self) -> NDArray[np.float64] | None:
        """Share of the texts with the phrase whose true class is its class; (N,)"""
        return None if self.true_hits is None else np.asarray(self.true_hits / self.support)

    def of_class(self, class_name: str) -> DecidingPhrases:
        return self.subset(np.flatnonzero(self.labels == class_column(self.class_names, class_name)))

    def top(self, k: int = 10) -> DecidingPhrases:
        """The first `k` of every class with `more_than_words`, and the first `k` others, in the same order."""
        group = self.labels * 2 + self.more_than_words
        rank = np.empty(len(self), np.int64)
        for each in np.unique(group):
            members = group == each
            rank[members] = np.arange(members.sum())
        return self.subset(np.flatnonzero(rank < k))

    @property
    def title(self) -> str:
        return (
            f"{len(self):,} deciding phrases in {self.texts:,} texts: effect in {self.unit}, "
            f"precision for the {self.reference} (95 %)"
        )

    def rows(self) -> list[dict[str, Any]]:
        low, high = self.interval
        columns: dict[str, Any] = {
            "phrase": self.phrases,
            "class": [self.class_names[label] for label in self.labels],
            "effect": self.effect.tolist(),
            "interaction": self.interaction.tolist(),
            "more than words": self.more_than_words.tolist(),
            "texts": self.support.tolist(),
            "precision": self.precision.tolist(),
            "precision low": low.tolist(),
            "precision high": high.tolist(),
            "lift": self.lift.tolist(),
            "regex": self.regexes,
        }
        if self.true_precision is not None:
            columns["true precision"] = self.true_precision.tolist()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def tables(self) -> dict[str, list[dict[str, str]]]:
        """What people read of it; it fits in a terminal of 80 columns."""
        in_points = self.unit == PROBABILITY
        shown: list[dict[str, str]] = []
        for row in self.rows():
            low, high = (f"{100 * row[f'precision {end}']:.0f}" for end in ("low", "high"))
            effect = points(row["effect"]) if in_points else f"{row['effect']:.2f}"
            cells = {"phrase": row["phrase"], "class": row["class"], "points" if in_points else self.unit: effect}
            cells |= {"texts": f"{row['texts']:,}", "precision": f"{percent(row['precision'])} ({low}–{high})"}
            shown.append(cells if self.true_precision is None else cells | {"labels": percent(row["true precision"])})
        return {self.title: shown}

    def to_dict(self) -> dict[str, Any]:
        base = dict(zip(self.class_names, self.base_rates.tolist(), strict=True))
        about = {"unit": self.unit, "reference": self.reference, "texts": self.texts, "gap": self.gap}
        return {**about, "base_rates": base, "phrases": self.rows()}


def deciding_phrases(
    wfa: WFA,
    corpus: Corpus | Sequence[str],
    model: PrefixClassifier | None = None,
    *,
    min_support: int = 10,
    longest: int = 4,
    gap: int = 3,
    min_effect: float | None = None,
) -> DecidingPhrases:
    """Words and phrases of up to `longest` words, with at most one gap of up to `gap` words, that decide by themselves.

    A phrase decides if its effect on a class in a random context is at least `min_effect` (default: a quarter of the
    largest effect of any phrase on that class), and if the model gives that class to significantly more of the texts
    with the phrase than of all texts. Without a model the automaton's own classes count.
    """
    given = {"min_support": min_support, "longest": longest, "gap": gap, "min_effect": min_effect}
    for name, bounds in _BOUNDS.items():
        bounds.checked(name, given[name])
    texts = corpus if isinstance(corpus, Corpus) else Corpus.of(list(corpus))
    if model is not None:
        check_pair(wfa, model)
    true = texts.relabelled(wfa.class_names).labels
    worded, ids = wfa.ids(texts.texts).nonempty()
    if len(ids) == 0:
        raise InputError(f"{texts.name} has no text with words", code="no-words")
    predicted = wfa.predict_indices(ids) if model is None else last_outputs(model, ids).argmax(1)
    levels = frequent_phrases(ids, min_support, longest, gap)
    keys = [key for level in levels for key in level.spelled()]
    classes, spelling = len(wfa.class_names), wfa.encoder.vocabulary.words
    effects, interactions = RandomContext.of(wfa, ids.lengths, gap).effects_of_levels(levels)
    labels = effects.argmax(1)

    def hits(of_texts: NDArray[np.int64]) -> NDArray[np.int64]:
        counts = np.concatenate([level.texts_by_class(of_texts, classes) for level in levels])
        return np.asarray(counts[np.arange(len(keys)), labels])

    table = DecidingPhrases(
        words=tuple(tuple(None if word == GAP else spelling[word] for word in key) for key in keys),
        labels=labels,
        effects=effects,
        interactions=interactions,
        support=np.concatenate([level.support for level in levels]),
        hits=hits(predicted),
        true_hits=None if true is None else hits(true[worded]),
        texts=len(ids),
        base_rates=np.bincount(predicted[predicted >= 0], minlength=classes) / len(ids),
        reference=AUTOMATON if model is None else NETWORK,
        gap=gap,
        tokenizer=wfa.encoder.tokenizer_name,
        class_names=wfa.class_names,
        unit=wfa.unit,
    )
    least = _SHARE * effects.max(0) if min_effect is None else np.full(classes, min_effect)
    found = table.subset(_deciding(keys, table, least))
    by_size = np.where(found.more_than_words, found.interaction, found.effect)
    return found.subset(np.lexsort((-by_size, ~found.more_than_words)))


def _deciding(keys: list[Key], table: DecidingPhrases, least: NDArray[np.float64]) -> NDArray[np.int64]:
    """The rows of the phrases that decide and are not redundant; least: (C,) -> (N,)"""
    (low, _), labels, effect, precision = table.interval, table.labels, table.effect, table.precision
    rows = np.flatnonzero((effect >= least[labels]) & (effect > 0) & (low > table.base_rates[labels]))
    scores = {keys[row]: Score(int(labels[row]), effect[row], precision[row], low[row]) for row in rows}
    effects = dict(zip(keys, table.effects.tolist(), strict=True))
    kept = set(without_redundant(scores, effects, table.gap, (least / 2).tolist()))
    return np.array([row for row in rows if keys[row] in kept], np.int64)


@dataclass(frozen=True, eq=False)
class RandomContext:
    """Random words around a phrase and in its gap."""

    wfa: WFA
    before: NDArray[np.float64]  # u: (n,)
    after: NDArray[np.float64]  # G: (n, C)
    mean: NDArray[np.float64]  # B: (n, n)
    gap: NDArray[np.float64]  # Γ: (n, n)

    @classmethod
    def of(cls, wfa: WFA, lengths: NDArray[np.int64], gap: int) -> RandomContext:
        """lengths: (texts,), the numbers of words of the texts"""
        mean = mean_matrix(wfa)
        longer = len(lengths) - np.cumsum(np.bincount(lengths))[:-1]  # texts with more than a words, a = 0, 1, …
        before, after = np.zeros(wfa.states), np.zeros((wfa.states, len(wfa.class_names)))
        row, columns = wfa.initial, wfa.final
        for share in longer / longer.sum():
            before, after = before + share * row, after + share * columns
            row, columns = row @ mean, mean @ columns
        powers = [np.linalg.matrix_power(mean, words) for words in range(1, gap + 1)]
        return cls(wfa, before, after, mean, np.mean(powers, 0) if powers else np.zeros_like(mean))

    def effects_of_levels(self, levels: Sequence[PhraseCandidates]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The effects of phrases of 1, 2, … words, and their interactions: minus those of their words; (P, C) each"""
        effects = [self.effects(level) for level in levels]
        words = np.zeros((len(self.wfa.word_counts), self.after.shape[1]))
        words[levels[0].words[:, 0]] = effects[0]
        alone = [words[level.words].sum(1) for level in levels]
        return np.concatenate(effects), np.concatenate(effects) - np.concatenate(alone)

    def effects(self, phrases: PhraseCandidates) -> NDArray[np.float64]:
        """The change of the class weights by each phrase; -> (P, C)"""
        step = max(1, _VECTOR_FLOATS // self.wfa.states)
        parts = [
            self._weights(phrases.words[at : at + step], phrases.gap_at[at : at + step])
            for at in range(0, len(phrases), step)
        ]
        plain, gapped = self._random_weights(phrases.words.shape[1])
        return np.asarray(np.concatenate(parts) - np.where(phrases.gap_at[:, None] > 0, gapped, plain))

    def _weights(self, words: NDArray[np.int32], gap_at: NDArray[np.int8]) -> NDArray[np.float64]:
        """`u·Ê_phrase·G`; (P, m), (P,) -> (P, C)"""
        vectors = self.wfa.advance(self.before[None], words[:, 0])
        for place in range(1, words.shape[1]):
            here = gap_at == place
            vectors[here] = vectors[here] @ self.gap
            vectors = self.wfa.advance(vectors, words[:, place])
        return np.asarray(vectors @ self.after)

    def _random_weights(self, words: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """`u·B^m·G` and `u·B^m·Γ·G`: random words in place of a phrase without and with a gap; -> (C,), (C,)"""
        row = self.before @ np.linalg.matrix_power(self.mean, words)
        return row @ self.after, row @ self.gap @ self.after


@dataclass(frozen=True)
class Score:
    """Effect and precision of a phrase for its class."""

    label: int
    effect: float
    precision: float
    low: float  # end of the interval of the precision


def without_redundant(
    deciding: Mapping[Key, Score], effects: Mapping[Key, list[float]], gap: int, margin: Sequence[float]
) -> list[Key]:
    """The phrases that add effect or significant precision to the shorter phrases within them.

    A longer phrase adds precision if the lower end of its interval lies above the precision of every shorter one of its
    class within it. It adds effect if it has more by the `margin` of its class than any shorter one, and than any two
    that make it up; then its precision must not be lower than theirs.
    """
    return [key for key, own in deciding.items() if _adds(key, own, deciding, effects, gap, margin)]


def _adds(
    key: Key,
    own: Score,
    deciding: Mapping[Key, Score],
    effects: Mapping[Key, list[float]],
    gap: int,
    margin: Sequence[float],
) -> bool:
    shorter = contained(key, gap)
    others = [deciding[each] for each in shorter if each in deciding and deciding[each].label == own.label]
    if not others or all(own.low > other.precision for other in others):
        return True
    explained = [effects[each][own.label] for each in shorter if each in effects]
    explained += [effects[first][own.label] + effects[second][own.label] for first, second in _halves(key)]
    more = own.effect >= max(explained) + margin[own.label]
    return more and own.precision >= max(other.precision for other in others)


def contained(key: Key, gap: int) -> set[Key]:
    """All shorter phrases that stand in every text that contains this one."""
    found: set[Key] = set()
    todo = [key]
    while todo:
        for each in _one_shorter(todo.pop(), gap):
            if each not in found:
                found.add(each)
                todo.append(each)
    return found


def _one_shorter(key: Key, gap: int) -> list[Key]:
    if len(key) == 1:
        return []
    shorter = [_trimmed(key[1:]), _trimmed(key[:-1])]
    if GAP not in key:  # leave out words in the middle, as far as a gap reaches
        inner = range(1, len(key) - 1)
        shorter += [(*key[:i], GAP, *key[j + 1 :]) for i in inner for j in inner if i <= j < i + gap]
    return shorter


def _halves(key: Key) -> list[tuple[Key, Key]]:
    """The ways to cut a phrase into two."""
    cuts = [at for at in range(1, len(key)) if key[at] != GAP]
    return [(_trimmed(key[:at]), key[at:]) for at in cuts]


def _trimmed(key: Key) -> Key:
    """Without a gap at an end."""
    return key[key[0] == GAP : len(key) - (key[-1] == GAP)]


Words = Sequence[str | None]  # None: the gap
_MARKS = frozenset(".,()!?'")  # words of their own for basic_english
_PART = r"""[^\s;:".,()!?']"""  # a character of any other word
_APART = r"""(?:[\s;:"]|<br />)*+"""
_BEGINS = rf"(?:(?<!{_PART})|(?<=<br />))(?!<br />|(?<=<br )/>)"  # and not within a line break, which is no word
_ENDS = r"""(?=[\s;:".,()!?']|<br />|\Z)"""
_TOKEN = rf"(?:[.,()!?']|(?:(?!<br />){_PART})++)"


def regular_expression(words: Words, gap: int, tokenizer: str) -> str | None:
    """The phrase for `re.search`; None where the tokenizer is not one of the built-in ones."""
    spell = _SPELLINGS.get(tokenizer)
    return None if spell is None else spell(words, gap)


def _whitespace(words: Words, gap: int) -> str:
    some = rf"\S++(?:\s++\S++){{0,{gap - 1}}}"
    spelled = r"\s++".join(some if word is None else re.escape(word) for word in words)
    return rf"(?<!\S){spelled}(?!\S)"


def _basic_english(words: Words, gap: int) -> str:
    some = rf"{_TOKEN}(?:{_APART}{_TOKEN}){{0,{gap - 1}}}"

    def spelled(word: str | None) -> str:
        if word is None:
            return some
        return re.escape(word) + ("" if word in _MARKS else _ENDS)

    return f"(?i){'' if words[0] in _MARKS else _BEGINS}{_APART.join(map(spelled, words))}"


def _characters(words: Words, gap: int) -> str:
    return f"(?s){''.join(f'.{{1,{gap}}}' if word is None else re.escape(word) for word in words)}"


_SPELLINGS: dict[str, Callable[[Words, int], str]] = {
    "whitespace": _whitespace,
    "basic_english": _basic_english,
    "characters": _characters,
}
