"""The common face of all weighted automata."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.doors import Doors
from wfalens.automaton.kernels import steps as kernels
from wfalens.automaton.walk import Walk
from wfalens.errors import InputError
from wfalens.messages import listed
from wfalens.ragged import Ragged
from wfalens.text.corpus import check_label, labels_of, likely_labels, named_classes
from wfalens.text.encoder import TextEncoder
from wfalens.text.tokenizers import Tokenizer
from wfalens.text.vocabulary import UNKNOWN

if TYPE_CHECKING:
    from wfalens.automaton.stochastic import StochasticWFA
    from wfalens.automaton.word_bigrams import WordBigrams

Texts = Sequence[str] | Ragged[np.int32]
UNDECIDED = -1
_FLOATS_AT_ONCE = 1 << 24  # of state vectors held while texts are read


class WFA(Doors, ABC):
    """A weighted finite automaton over words: `A(w) = I·Ê_w1·…·Ê_wL·F`. Immutable.

    A kind supplies the state vectors, the read-out and the matrices; everything else follows here.

    Args:
        encoder: how a text becomes words.
        class_names: C names.
        word_counts: (V,) occurrences in the extraction texts.
        provenance: how it was made: corpus, model, settings, queries, versions.

    Examples:
        >>> from wfalens import WFA
        >>> wfa.save("films.wfa")
        >>> copy = WFA.load("films.wfa")
        >>> list(copy.predict(["a good film", "a bad film"]))
        ['pos', 'neg']
    """

    kind: ClassVar[str]
    unit: ClassVar[str]  # what class weights and their differences are measured in: "probability" or "log-odds"
    attached_readable: StochasticWFA | None = None  # a readable automaton of the same model, stored in the same file
    bigrams: WordBigrams | None = None  # of the extraction texts, stored in the same file

    def __init__(
        self,
        encoder: TextEncoder,
        class_names: Sequence[str],
        word_counts: NDArray[np.int64],
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        if len(word_counts) != len(encoder.vocabulary):
            raise InputError("the word counts do not fit the alphabet")
        self.encoder = encoder
        self.class_names = named_classes(class_names)
        self.word_counts = frozen(np.array(word_counts, np.int64))  # (V,): occurrences in the extraction corpus
        self.provenance = dict(provenance or {})

    @property
    @abstractmethod
    def states(self) -> int:
        """n, the initial state included."""

    @property
    @abstractmethod
    def initial(self) -> NDArray[np.float64]:
        """I; (n,)"""

    @abstractmethod
    def state_vectors(self, ids: Ragged[np.int32], every: bool) -> NDArray[np.float64]:
        """`I·Ê_w1⋯` after every word, (tokens, n), or after the last word of each text, (texts, n)."""

    @abstractmethod
    def single_vectors(self, ids: Ragged[np.int32]) -> NDArray[np.floating]:
        """`I·Ê_w1⋯` after the last word of each text, in single precision where it does; (texts, n)"""

    @property
    @abstractmethod
    def final(self) -> NDArray[np.float64]:
        """F; (n, classes)"""

    def read_out(self, vectors: NDArray[np.floating]) -> NDArray[np.float64]:
        """Class weights of state vectors; (N, n) -> (N, classes)"""
        return kernels.product(vectors, self.final)

    @abstractmethod
    def probabilities(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Class distributions of class weights; (N, classes) -> (N, classes)"""

    def decide(self, weights: NDArray[np.float64]) -> NDArray[np.int64]:
        """Class indices of class weights, -1 for undecided; (N, classes) -> (N,)"""
        return np.asarray(weights.argmax(1))

    @abstractmethod
    def shown(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Class weights as a person should see them along a walk; (N, classes) -> (N, classes)"""

    @abstractmethod
    def advance(self, vectors: NDArray[np.float64], ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """`d·Êσ` for every word, from its own vector (N, n) or from a common one (1, n). ids: (N,) -> (N, n)"""

    @property
    @abstractmethod
    def state_frequencies(self) -> NDArray[np.float64]:
        """u: how often each state was visited in the extraction corpus, the initial one included; (n,)"""

    def row_shares(self, ids: NDArray[np.int32], vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        """Share of the mass that each word sends through observed, completed and unknown-word rows.

        Where words have no rows of their own, those seen in extraction count as observed, the other known words as
        completed. vectors: (words, n), the distribution before each word -> (words, 3)
        """
        shares = np.zeros((len(vectors), 3))
        kinds = np.where(ids <= UNKNOWN, 2, np.where(self.word_counts[ids] > 0, 0, 1))
        shares[np.arange(len(ids)), kinds] = 1
        return shares

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """What a person asks first about an automaton: its size and settings, as plain numbers and words."""

    def save(self, path: str | Path) -> None:
        """Write a `.wfa` file, atomically.

        Args:
            path: where; an existing file is replaced

        Examples:
            >>> wfa.save("films.wfa")
            >>> WFA.load("films.wfa").fingerprint == wfa.fingerprint
            True
        """
        from wfalens.automaton.wfa_file import save

        save(self, path)

    def __repr__(self) -> str:
        """Kind, states, words and classes in a line."""
        words, classes = f"{len(self.encoder.vocabulary):,} words", listed(self.class_names)
        return f"<{type(self).__name__}: {len(self.initial)} states, {words}, classes {classes}>"

    @property
    def initial_output(self) -> NDArray[np.float64]:
        """The class distribution before any word; (classes,)"""
        output: NDArray[np.float64] = self.probabilities(self.read_out(self.initial[None]))[0]
        return output

    def initial_state(self, batch: int) -> NDArray[np.float64]:
        """State vectors before any word, as a model that can be stepped has them; (batch, n)"""
        return np.tile(self.initial, (batch, 1))

    def step(
        self, state: NDArray[np.float64], ids: NDArray[np.int32]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Read one word per row: (batch, n), (batch,) -> new state vectors, class distributions (batch, classes)."""
        after = self.advance(np.ascontiguousarray(state), np.asarray(ids, np.int32))
        return after, self.probabilities(self.read_out(after))

    @property
    def readable(self) -> StochasticWFA | None:
        """The readable automaton that explains this one: the attached one, or this one itself if it is readable.

        Examples:
            >>> readable.readable is readable
            True
        """
        return self.attached_readable

    def with_readable(self, readable: StochasticWFA) -> Self:
        """An equal automaton with a readable automaton attached.

        Args:
            readable: a readable automaton of the same words and classes

        Examples:
            >>> wfa.with_readable(readable).readable is readable
            True
        """
        if readable.readable is not readable:
            raise InputError(
                "only an automaton whose words share rows can be attached as readable", code="not-readable"
            )
        if readable.encoder != self.encoder or readable.class_names != self.class_names:
            raise InputError("the readable automaton has other words or other classes", code="other-alphabet")
        carrier = copy(self)
        carrier.provenance, carrier.attached_readable = dict(self.provenance), readable
        return carrier

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of a model that gives each a probability of its own; none of a model that chooses a class."""
        return labels_of(self.class_names)

    def label(self, name: str) -> Self:
        """One label of several against the rest: the same states and transitions, with the read-out of this label.

        Args:
            name: one of `labels`

        Examples:
            >>> scores = lambda texts: [[0.9 * ("good" in text), 0.5] for text in texts]
            >>> several = wl.wrap(scores, corpus.texts, labels=("praise", "other"), reads="text")
            >>> tiny = wl.Linear(layers=1, width=4, factors=4, hidden=8, epochs=1)
            >>> wl.extract(several, corpus, tiny).label("praise").class_names
            ('not praise', 'praise')
        """
        columns = 2 * check_label(self.labels, name) + np.arange(2)
        part, several = self._read_out_by(columns, [self.class_names[at] for at in columns]), len(self.labels)
        part.provenance = {**self.provenance, "labels": list(self.labels)}
        if isinstance(error := part.provenance.get("residual_variance"), float):  # its columns sum to 1, not to 1/L
            part.provenance["residual_variance"] = min(1.0, error * several**2)
        part.bigrams = self.bigrams
        return part if self.attached_readable is None else part.with_readable(self.attached_readable.label(name))

    @abstractmethod
    def _read_out_by(self, columns: NDArray[np.int64], names: Sequence[str]) -> Self:
        """The same automaton with some of its classes only."""

    def label_probabilities(self, texts: Texts) -> NDArray[np.float64]:
        """The probability of every label, independent of the others. -> (texts, labels)

        Args:
            texts: texts, or their word ids as the encoder gives them

        Examples:
            >>> wfa.label_probabilities(["a good film"]).shape  # here the model chooses a class: there are no labels
            (1, 0)
        """
        pairs = self.predict_proba(texts)[:, : 2 * len(self.labels)]
        return np.asarray(pairs[:, 1::2] / (pairs[:, ::2] + pairs[:, 1::2]))

    @cached_property
    def fingerprint(self) -> str:
        """Tells this automaton from others; where it comes from and what it carries does not matter."""
        from wfalens.automaton.wfa_file import fingerprint

        return fingerprint(self)

    @staticmethod
    def load(path: str | Path, tokenizer: Tokenizer | None = None) -> WFA:
        """Read a `.wfa` file; everything in it is checked, nothing is executed.

        Args:
            path: a file that `save` wrote
            tokenizer: the model's own tokenizer, if it had one: files do not hold code

        Examples:
            >>> wfa.save("films.wfa")
            >>> WFA.load("films.wfa").class_names
            ('neg', 'pos')
        """
        from wfalens.automaton.wfa_file import load

        return load(path, tokenizer)

    def matrices(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """Êσ of words, context included; ids: (N,) -> (N, n, n)"""
        n = self.states
        return self.advance(np.tile(np.eye(n), (len(ids), 1)), np.repeat(ids, n)).reshape(-1, n, n)

    def matrix(self, word: str) -> NDArray[np.float64]:
        """Êσ of one word, context included. -> (n, n)

        Args:
            word: a word outside the alphabet reads as `<unk>`

        Examples:
            >>> wfa.matrix("good").shape == (wfa.states, wfa.states)
            True
        """
        matrix: NDArray[np.float64] = self.matrices(np.array([self.encoder.vocabulary.id_of(word)], np.int32))[0]
        return matrix

    def embedding(self, word: str) -> NDArray[np.float64]:
        """Transition matrix embedding: Êσ flattened row by row; (n²,)"""
        return self.matrix(word).ravel()

    def weights(self, texts: Texts) -> NDArray[np.float64]:
        """`A(w)` as it is; all zero where null completion lost the mass. -> (texts, classes)"""
        return self._weights_of(self.ids(texts), lambda part: self.state_vectors(part, every=False))

    def prediction_weights(self, texts: Texts) -> NDArray[np.float64]:
        """What predictions are made from: `weights`, from state vectors in single precision. -> (texts, classes)

        The same to the bit whatever else is read; explanations and certificates use `weights`.
        """
        return self._weights_of(self.ids(texts), self.single_vectors)

    def _weights_of(
        self, ids: Ragged[np.int32], last_vectors: Callable[[Ragged[np.int32]], NDArray[np.floating]]
    ) -> NDArray[np.float64]:
        step = max(1, _FLOATS_AT_ONCE // self.states)
        parts = [self.read_out(last_vectors(ids.between(first, first + step))) for first in range(0, len(ids), step)]
        return np.concatenate([np.zeros((0, len(self.class_names))), *parts])

    def predict_proba(self, texts: Texts) -> NDArray[np.float64]:
        """Class distributions; uniform where the automaton is undecided. -> (texts, classes)

        Args:
            texts: texts, or their word ids as the encoder gives them

        Examples:
            >>> wfa.predict_proba(["a good film", "a bad film"]).shape
            (2, 2)
        """
        return self.probabilities(self.prediction_weights(texts))

    def predict(self, texts: Texts, min_confidence: float = 0.0) -> NDArray[np.object_]:
        """Class names; None where the automaton is undecided, or less confident than it should be. -> (texts,)

        Of a model with several labels per text, a tuple of those that are likelier than not.

        Args:
            texts: texts, or their word ids as the encoder gives them
            min_confidence: the least probability of the most probable class, 0 to 1

        Examples:
            >>> list(wfa.predict(["a good film", "a bad film"]))
            ['pos', 'neg']
            >>> wfa.predict(["a good film"], min_confidence=1.0)
            array([None], dtype=object)
        """
        if self.labels:
            return likely_labels(self.labels, self.label_probabilities(texts))
        names = np.array([*self.class_names, None], object)  # the last one, at -1, is that of undecided texts
        return np.asarray(names[self.predict_indices(texts, min_confidence)])

    def predict_indices(self, texts: Texts, min_confidence: float = 0.0) -> NDArray[np.int64]:
        """Class indices; -1 (`UNDECIDED`) where `predict` gives None. -> (texts,)

        Args:
            texts: texts, or their word ids as the encoder gives them
            min_confidence: the least probability of the most probable class, 0 to 1

        Examples:
            >>> wfa.predict_indices(["a good film", "a bad film"])
            array([1, 0])
        """
        weights = self.prediction_weights(texts)
        return np.where(self.probabilities(weights).max(1) >= min_confidence, self.decide(weights), UNDECIDED)

    @property
    def classes_(self) -> NDArray[Any]:
        """The class names, in the order of the columns; (classes,)"""
        return np.array(self.class_names)

    def confidence(self, texts: Texts) -> NDArray[np.float64]:
        """The probability of the most probable class. -> (texts,)

        Args:
            texts: texts, or their word ids as the encoder gives them

        Examples:
            >>> bool(wfa.confidence(["a good film"])[0] > 0.5)
            True
        """
        return np.asarray(self.predict_proba(texts).max(1))

    def margin(self, texts: Texts) -> NDArray[np.float64]:
        """The difference of the two largest class probabilities, 0 if undecided. -> (texts,)

        Args:
            texts: texts, or their word ids as the encoder gives them

        Examples:
            >>> bool(wfa.margin(["a good film"])[0] > 0)
            True
        """
        return self.margins(self.prediction_weights(texts))

    def margins(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Between the two highest class probabilities of class weights; (N, classes) -> (N,)"""
        outputs = np.partition(self.probabilities(weights), -2, axis=1)
        return np.asarray(outputs[:, -1] - outputs[:, -2])

    def trace(self, texts: Texts) -> Ragged[np.float64]:
        """Class distributions of all prefixes; (tokens, classes).

        Args:
            texts: texts, or their word ids as the encoder gives them

        Examples:
            >>> outputs = wfa.trace(["a good film", "bad"])
            >>> outputs.values.shape, outputs.lengths
            ((4, 2), array([3, 1]))
        """
        ids = self.ids(texts)
        parts = [
            self.probabilities(self.read_out(self.state_vectors(part, every=True)))
            for part in ids.chunks(max(1, _FLOATS_AT_ONCE // max(self.states, len(self.class_names))))
        ]
        return Ragged(np.concatenate(parts) if parts else np.zeros((0, len(self.class_names))), ids.offsets)

    def walk(self, text: str) -> Walk:
        """Where the automaton is after every word of one text, and by which kind of rows it came there.

        Args:
            text: cut at the encoder's `max_length`, as all texts are

        Examples:
            >>> wfa.walk("not a good film").label
            'neg'
        """
        words = self.encoder.tokens(text)
        ids = self.encoder.encode([text])
        vectors = np.vstack([self.initial, self.state_vectors(ids, every=True)])
        weights = self.read_out(vectors)
        way = Walk(
            tuple(words),
            ids.values,
            self.class_names,
            vectors,
            weights,
            self.shown(weights),
            self.row_shares(ids.values, vectors[:-1]),
            self.unit,
            **self._names_along(ids.values),
        )
        return way if self.attached_readable is None else replace(way, readable=self.attached_readable.walk(text))

    def _names_along(self, ids: NDArray[np.int32]) -> dict[str, Any]:  # noqa: ARG002
        """Names of the states and of the classes of words for a walk, where there are any. ids: (words,)"""
        return {}

    def ids(self, texts: Texts) -> Ragged[np.int32]:
        """Word ids of texts; ids that are given already are checked."""
        return self.encoder.checked(texts) if isinstance(texts, Ragged) else self.encoder.encode(texts)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array
