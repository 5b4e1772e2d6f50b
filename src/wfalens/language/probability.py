"""A language model, or an automaton of one, as a distribution over strings; prefixes and how they continue.

A prefix is continued from the saved state of a model that can be stepped, else by reading the prefix again. Strings are
drawn at random, symbol by symbol, or the most likely ones are found by best-first search.

No string is more likely than any of its prefixes. The search opens prefixes in falling order of their probability, a
batch at a time, until enough whole strings are known and no open prefix is as likely as the last of them: it is exact.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import Texts
from wfalens.errors import InputError
from wfalens.models.contract import Named, checked_probabilities, classes_of_symbols, end_class
from wfalens.ragged import Ragged, offsets_of
from wfalens.validation import Bounds, whole

_FLOATS_AT_ONCE = 1 << 23
_BATCH = 256
_COUNTS = Bounds(whole, 1, 10**7)


class NextSymbolModel(Named, Protocol):
    """What says, after every prefix, which symbol comes next: a model of the contract, or an automaton."""

    @property
    def initial_output(self) -> NDArray[Any]:
        """The distribution of the first symbol; (classes,)"""
        ...

    def trace(self, ids: Ragged[np.int32], /) -> Ragged[Any]: ...


@dataclass(frozen=True, eq=False)
class Language:
    """The distribution over strings that a next-symbol model stands for; a symbol is a word and a class.

    Args:
        model: gives a distribution over the next symbol for every prefix.
        announced: (V,) the class that announces each word, -1 for none.
        symbols: (classes,) the word that each class announces, -1 for the end.
        end: the class of the end.
        prior: (classes,) distribution of the first symbol.

    Examples:
        >>> from wfalens.language import Language
        >>> Language.of(letters).end == letters.class_names.index("<end>")
        True
    """

    model: NextSymbolModel
    announced: NDArray[np.int64]  # (V,): the class that announces each word, -1 for none
    symbols: NDArray[np.int32]  # (classes,): the word that each class announces, -1 for the end
    end: int  # the class of the end
    prior: NDArray[np.float64]  # (classes,): of the first symbol

    @classmethod
    def of(cls, model: NextSymbolModel) -> Language:
        """What a language model says of strings.

        Args:
            model: a network or an automaton that tells the next symbol (`task="next"`), and which comes first

        Examples:
            >>> len(Language.of(letters).ids(["anna"]).values)
            4
        """
        announced, end = classes_of_symbols(model), end_class(model)
        prior = getattr(model, "initial_output", None)
        if prior is None:
            raise InputError("the model does not tell which symbol comes first (`initial_output`)")
        checked_probabilities(np.asarray(prior)[None], 1, len(model.class_names), "the model's initial_output")
        symbols = np.full(len(model.class_names), -1, np.int32)
        known = np.flatnonzero(announced >= 0)
        symbols[announced[known]] = known
        return cls(model, announced, symbols, end, np.asarray(prior, np.float64))

    def rows(self, ids: Ragged[np.int32]) -> Ragged[np.float64]:
        """What comes next before every symbol of every text and before its end; -> (tokens + texts, classes)"""
        worded, read = ids.nonempty()
        offsets = offsets_of(ids.lengths + 1)
        rows = np.empty((int(offsets[-1]), len(self.prior)))
        rows[offsets[:-1]] = self.prior
        if len(worded):
            trace = self.model.trace(read).values
            checked_probabilities(trace, len(read.values), len(self.prior), "the model")
            later = np.ones(len(rows), bool)
            later[offsets[:-1]] = False
            rows[later] = trace
        return Ragged(rows, offsets)

    def targets(self, ids: Ragged[np.int32]) -> NDArray[np.int64]:
        """The class of every symbol and of the end of every text, in the order of `rows`; -> (tokens + texts,)"""
        classes = self.announced[ids.values]
        if len(classes) and classes.min() < 0:
            at = int(np.argmax(classes < 0))
            text = ids.item_of_value()[at]
            word = self.model.encoder.vocabulary.words[ids.values[at]]
            raise InputError(
                f"text {text + 1} has a symbol outside the alphabet of the language model (read as {word})"
            )
        found = np.full(len(classes) + len(ids), self.end)
        found[np.arange(len(classes)) + ids.item_of_value()] = classes
        return found

    def inside_alphabet(self, ids: Ragged[np.int32]) -> NDArray[np.int64]:
        """The numbers of the texts whose symbols are all in the alphabet."""
        foreign = np.unique(ids.item_of_value()[self.announced[ids.values] < 0])
        return np.setdiff1d(np.arange(len(ids)), foreign)

    def ids(self, texts: Texts) -> Ragged[np.int32]:
        encoder = self.model.encoder
        return encoder.checked(texts) if isinstance(texts, Ragged) else encoder.encode(texts)

    def parts(self, ids: Ragged[np.int32]) -> Iterator[Ragged[np.int32]]:
        """Neighbouring texts, as many as are worked on at a time."""
        size = max(1, _FLOATS_AT_ONCE // len(self.prior))
        starts = np.searchsorted(ids.offsets + np.arange(len(ids) + 1), np.arange(0, len(ids.values) + len(ids), size))
        cuts = np.unique([*starts, len(ids)])
        return (ids.between(first, last) for first, last in pairwise(cuts.tolist()))

    def log_probability(self, texts: Texts) -> NDArray[np.float64]:
        """ln P of every text, its end included; -inf where the model holds it to be impossible. -> (texts,)"""
        ids = self.ids(texts)
        found = [np.zeros(0)]
        for part in self.parts(ids):
            targets = self.targets(part)
            rows = self.rows(part)
            with np.errstate(divide="ignore"):
                steps = np.log(rows.values[np.arange(len(targets)), targets])
            found.append(np.add.reduceat(steps, rows.offsets[:-1]))
        return np.concatenate(found)

    def perplexity(self, texts: Texts) -> float:
        """exp of the mean surprise of a symbol, the ends of texts included."""
        ids = self.ids(texts)
        if len(ids) == 0:
            raise InputError("there is no text to measure the perplexity on")
        return float(np.exp(-self.log_probability(ids).sum() / (len(ids.values) + len(ids))))

    def spelled(self, ids: NDArray[np.int32]) -> str:
        """A string of symbols as a text that is read as these symbols again."""
        return self.model.encoder.joined(self.model.encoder.vocabulary.decode(ids))


def log_probability(model: NextSymbolModel, texts: Texts) -> NDArray[np.float64]:
    """ln P of every text under a language model or its automaton; -> (texts,)

    Args:
        model: a language model or its automaton.
        texts: strings, a corpus, or word ids.

    Examples:
        >>> from wfalens.language import log_probability
        >>> log_probability(letters, ["anna", "xyz"[:0]]).shape  # an empty string has a probability, too
        (2,)
    """
    return Language.of(model).log_probability(texts)


def perplexity(model: NextSymbolModel, texts: Texts) -> float:
    """exp of the mean surprise of a symbol under a language model or its automaton.

    Args:
        model: a language model or its automaton.
        texts: strings, a corpus, or word ids.

    Examples:
        >>> from wfalens.language import perplexity
        >>> perplexity(letters, ["anna", "otto"]) > 1
        True
    """
    return Language.of(model).perplexity(texts)


class Stepper:
    """Continues from states, one row per prefix; a model that cannot be stepped reads its prefixes again.

    Without steps a state is the prefix itself, of at most `longest` symbols.
    """

    def __init__(self, model: NextSymbolModel, longest: int) -> None:
        self._model: Any = model
        self._longest, self._classes = longest, len(model.class_names)
        self._has_steps = all(callable(getattr(model, name, None)) for name in ("initial_state", "step"))

    def initial_state(self, batch: int) -> NDArray[Any]:
        if self._has_steps:
            return np.asarray(self._model.initial_state(batch))
        return np.zeros((batch, self._longest), np.int32)  # padded with 0, which is no symbol

    def step(self, state: NDArray[Any], ids: NDArray[np.int32]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The states after one more symbol each, and what comes next, which must be probabilities."""
        if self._has_steps:
            after, outputs = self._model.step(state, ids)
        else:
            after, lengths = state.copy(), (state > 0).sum(1)
            after[np.arange(len(state)), lengths] = ids
            outputs = self._model.trace(Ragged.from_lengths(after[after > 0], lengths + 1)).last()
        checked_probabilities(outputs, len(ids), self._classes, "the model")
        return after, outputs


@dataclass(frozen=True, eq=False)
class Drawn:
    """Strings, and whether each has ended: one that has not was cut at the longest length."""

    ids: Ragged[np.int32]
    ended: NDArray[np.bool_]
    texts: tuple[str, ...]


def sample(model: NextSymbolModel, number: int, *, seed: int = 0, longest: int = 1000) -> Drawn:
    """Draw strings at random, symbol by symbol, all side by side.

    Args:
        model: a language model or its automaton.
        number: of strings.
        seed: equal seeds give equal strings.
        longest: symbols after which a string that has not ended is cut.

    Examples:
        >>> from wfalens.language import sample
        >>> len(sample(letters, 3, seed=1, longest=10).texts)
        3
    """
    language = Language.of(model)
    number, longest = _COUNTS.checked("number", number), _COUNTS.checked("longest", longest)
    rng, steps = np.random.default_rng(seed), Stepper(model, longest)
    table = np.zeros((number, longest), np.int32)
    lengths, ended = np.zeros(number, np.int64), np.zeros(number, bool)
    going, state = np.arange(number), steps.initial_state(number)
    outputs = np.tile(language.prior, (number, 1))
    for position in range(longest + 1):
        drawn = _drawn(outputs, rng)
        goes_on = drawn != language.end
        ended[going[~goes_on]] = True
        going, state = going[goes_on], state[goes_on]
        if len(going) == 0 or position == longest:
            break
        words = language.symbols[drawn[goes_on]]
        table[going, position] = words
        lengths[going] += 1
        state, outputs = steps.step(state, words)
    ids = Ragged.from_lengths(table[np.arange(longest) < lengths[:, None]], lengths)
    return Drawn(ids, ended, tuple(map(language.spelled, ids)))


def _drawn(outputs: NDArray[np.floating], rng: np.random.Generator) -> NDArray[np.int64]:
    """A class for every row, by its probability; (N, classes) -> (N,)"""
    sums = np.cumsum(outputs, axis=1, dtype=np.float64)
    return np.asarray((sums <= rng.random((len(sums), 1)) * sums[:, -1:]).sum(1))


class Likely(NamedTuple):
    """A string and the logarithm of its probability."""

    text: str
    ids: tuple[int, ...]
    log_probability: float


class _Open(NamedTuple):
    """A prefix that may be continued: sorted by falling probability, then by age."""

    cost: float  # −ln P of the prefix
    age: int
    ids: tuple[int, ...]
    before: NDArray[np.floating]  # the model's state before the last symbol


def most_likely(model: NextSymbolModel, number: int, *, most: int = 100_000, longest: int = 1000) -> list[Likely]:
    """The most likely strings, most likely first; the search is exact.

    Args:
        model: a language model or its automaton.
        number: of strings.
        most: prefixes after which the search gives up.
        longest: symbols of a prefix at which it gives up.

    Examples:
        >>> from wfalens.language import most_likely
        >>> best, second = most_likely(letters, 2)
        >>> best.log_probability >= second.log_probability
        True
    """
    language = Language.of(model)
    number, most, longest = (
        _COUNTS.checked(name, value) for name, value in (("number", number), ("most", most), ("longest", longest))
    )
    steps = Stepper(model, longest)
    found: list[tuple[float, tuple[int, ...]]] = []  # a heap with the least likely on top: (ln P, ids)
    frontier: list[_Open] = []
    age = opened = 0
    state, outputs = steps.initial_state(1), language.prior[None]
    batch = [_Open(0.0, 0, (), state[0])]
    while batch:
        with np.errstate(divide="ignore"):
            costs = np.array([each.cost for each in batch])[:, None] - np.log(outputs)
        for at, each in enumerate(batch):
            _keep(found, number, -costs[at, language.end], each.ids)
        least = _least(found, number)
        for at, label in zip(*np.nonzero(-costs > least), strict=True):
            if label != language.end:
                age += 1
                ids = (*batch[at].ids, int(language.symbols[label]))
                heapq.heappush(frontier, _Open(float(costs[at, label]), age, ids, state[at]))
        batch = []
        while frontier and len(batch) < _BATCH and -frontier[0].cost > _least(found, number):
            batch.append(heapq.heappop(frontier))
        opened += len(batch)
        if opened > most or any(len(each.ids) > longest for each in batch):
            raise InputError(
                f"the {number:,} most likely strings are not certain after {opened:,} prefixes of up to {longest:,} "
                "symbols; ask for fewer strings, or allow more prefixes"
            )
        if batch:
            words = np.array([each.ids[-1] for each in batch], np.int32)
            state, outputs = steps.step(np.array([each.before for each in batch]), words)
    return [
        Likely(language.spelled(np.array(ids, np.int32)), ids, score)
        for score, ids in sorted(found, key=lambda each: (-each[0], each[1]))
    ]


def _keep(found: list[tuple[float, tuple[int, ...]]], number: int, score: float, ids: tuple[int, ...]) -> None:
    if np.isfinite(score):
        heapq.heappush(found, (float(score), ids))
        if len(found) > number:
            heapq.heappop(found)


def _least(found: list[tuple[float, tuple[int, ...]]], number: int) -> float:
    """ln P that a string must exceed to be kept."""
    return found[0][0] if len(found) == number else -np.inf
