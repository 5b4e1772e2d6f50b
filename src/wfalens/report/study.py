"""What the views show: an automaton and, where they are given, its model, texts and word vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError, MissingDependencyError, naming_extras
from wfalens.explanation.embeddings import nearness_of
from wfalens.explanation.findings import Findings, findings
from wfalens.explanation.findings.interview import SEEN_DRAW
from wfalens.explanation.influence import Influence, influence, influence_of, words_seen
from wfalens.explanation.opinion_line import read_texts
from wfalens.messages import printable
from wfalens.models.contract import EmbeddingClassifier, PrefixClassifier, is_language_model, model_vectors
from wfalens.models.inference import asks_every_prefix
from wfalens.ragged import Ragged
from wfalens.text.corpus import Corpus, as_texts
from wfalens.text.similar_words import Nearness
from wfalens.text.word_vectors import WordVectors, read_vectors, wordllama_vectors

_USUAL_COUNT = 5  # below it, what is known of a word is mostly noise
SAMPLED_TEXTS = 1500  # that are traced for examples
_SAMPLED_TOKENS = 60_000


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """An automaton and what belongs to it. A view that needs something that is missing says so.

    Everything that views share is computed once, on first use.
    """

    name: str
    wfa: WFA
    model: PrefixClassifier | None = None
    corpus: Corpus | None = None
    vectors: WordVectors | None = None
    other: WFA | None = None  # an earlier one, to compare with
    other_name: str = ""
    other_model: PrefixClassifier | None = None
    seed: int = 0
    reference: Corpus | None = None  # the extraction texts, from which the bag of words learns
    reference_missing: str = ""  # why they are not there
    files: Mapping[str, str] = field(default_factory=dict)  # "automaton", "model" and "corpus" as commands take them

    def __repr__(self) -> str:
        return f"<Study of {printable(self.name)}: {self.wfa!r}>"

    def __post_init__(self) -> None:
        if self.model is not None and (
            self.model.encoder.vocabulary != self.wfa.encoder.vocabulary
            or tuple(self.model.class_names) != self.wfa.class_names
        ):
            raise InputError(
                f"{self.name} was extracted from a model with another vocabulary or other classes", code="other-model"
            )

    @property
    def texts(self) -> Corpus:
        if self.corpus is None:
            raise InputError("this view needs texts", code="no-texts")
        return self.corpus

    @property
    def classifier(self) -> PrefixClassifier:
        if self.model is None:
            raise InputError("this view needs the classifier itself", code="no-model")
        return self.model

    @property
    def meanings(self) -> WordVectors:
        if self.vectors is None:
            raise InputError("this view needs word vectors", code="no-vectors")
        return self.vectors

    @property
    def compared_models(self) -> tuple[PrefixClassifier | None, PrefixClassifier | None]:
        """Of the earlier automaton and of this one, if there are texts to run them on.

        Where both automata are copies of this one's model, it serves for both.
        """
        if self.corpus is None or self.other is None:
            return None, None
        earlier, made_from = self.other_model, self.other.provenance.get("model")
        if earlier is None and self.model is not None and isinstance(made_from, dict):
            earlier = self.model if made_from.get("fingerprint") == self.model.fingerprint else None
        return earlier, self.model

    @property
    def usual_count(self) -> int:
        """How often a word should have been seen to be shown as typical; less in tiny corpora."""
        return min(_USUAL_COUNT, int(self.wfa.word_counts[2:].max(initial=1)))

    @cached_property
    def findings(self) -> Findings:
        """What the network has learned and what not; needs it and texts."""
        found = findings(self.wfa, self.classifier, self.texts, train=self.reference, seed=self.seed)
        return found.with_files(self.named_files)

    @property
    def named_files(self) -> dict[str, str]:
        """What commands take, as far as it is known: "automaton", "model", "corpus" and "train"."""
        texts = {"corpus": self.corpus, "train": self.reference}
        named = {name: each.name for name, each in texts.items() if each is not None}
        return {"automaton": self.name, **named, **self.files}

    @cached_property
    def influence(self) -> Influence:
        """Of every word seen in extraction."""
        return influence(self.wfa, min_count=1)

    @cached_property
    def word_effects(self) -> WordEffects:
        """What every word seen in extraction changes, by the network where it was read often enough."""
        ids = words_seen(self.wfa, 1)
        changes = influence_of(self.wfa, ids, "probability")
        read, halves = np.zeros(len(ids), np.int64), np.full(changes.shape, np.nan)
        measurable = self.model is not None and self.corpus is not None and not is_language_model(self.wfa)
        if measurable and not asks_every_prefix(self.classifier):
            given = read_texts(self.classifier, self.texts, seed=self.seed)
            seen = [] if self.reference is None else [read_texts(self.classifier, self.reference, seed=SEEN_DRAW)]
            for reading in (*map(given.joined, seen), given):  # what the picture shows, as it shows it
                found = reading.pushes(len(self.wfa.encoder.vocabulary), range(len(self.wfa.class_names)))
                _, place, own = np.intersect1d(ids, found.ids, return_indices=True)
                read[place], changes[place], halves[place] = found.n[own], found.changes[own], found.halves[own]
        return WordEffects(changes, halves, read)

    @cached_property
    def nearness(self) -> Nearness:
        """Which words seen in extraction are near in meaning."""
        return nearness_of(self.wfa, self.meanings)

    @cached_property
    def sample(self) -> NDArray[np.int64]:
        """Indices of some texts with words in them, drawn at random, in rising order."""
        lengths = self.encoded.lengths
        order = np.random.default_rng(self.seed).permutation(np.flatnonzero(lengths))
        fitting = max(1, int(np.searchsorted(np.cumsum(lengths[order]), _SAMPLED_TOKENS, side="right")))
        return np.sort(order[: min(SAMPLED_TEXTS, fitting)])

    @cached_property
    def encoded(self) -> Ragged[np.int32]:
        """All texts as word ids."""
        return self.wfa.encoder.encode(self.texts.texts)

    def texts_with(self, word: int, limit: int) -> list[int]:
        """Indices of texts that hold the word, at most `limit`: of every label in turn."""
        start, text = self._occurrences
        found = np.unique(text[start[word] : start[word + 1]])
        if self.texts.labels is not None:
            labels = self.texts.labels[found]
            order = np.argsort(labels, kind="stable")
            turn = np.arange(len(found)) - np.searchsorted(labels[order], labels[order])  # the place in its label
            found = found[order[np.lexsort((labels[order], turn))]]
        return [int(at) for at in found[:limit]]

    @cached_property
    def truths(self) -> dict[str, str]:
        """The label of every text that has one; of equal texts, the last one's."""
        if self.corpus is None or self.corpus.labels is None:
            return {}
        labelled = self.corpus.relabelled(self.wfa.class_names)
        labels = () if labelled.labels is None else labelled.labels.tolist()
        return {text: self.wfa.class_names[label] for text, label in zip(labelled.texts, labels, strict=True)}

    @cached_property
    def _occurrences(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """An inverted index, the texts that contain each word: starts (V + 1,), texts (tokens,)"""
        ids = self.encoded
        text = np.repeat(np.arange(len(ids)), ids.lengths)
        counts = np.bincount(ids.values, minlength=len(self.wfa.encoder.vocabulary))
        return np.concatenate([[0], np.cumsum(counts)]), text[np.argsort(ids.values, kind="stable")]


@dataclass(frozen=True, eq=False)
class WordEffects:
    """The mean change of every class's probability by each word seen in extraction."""

    changes: NDArray[np.float64]  # (words, classes): the network's, else the automaton's
    halves: NDArray[np.float64]  # (words, classes): half of the 95 % interval; NaN: by the automaton
    read: NDArray[np.int64]  # times that the network read it while it was not sure; 0: by the automaton


def study_of(
    wfa: WFA,
    model: PrefixClassifier | None = None,
    texts: Any = None,
    *,
    name: str = "automaton",
    vectors: WordVectors | str | None = "wordllama",
    **fields: Any,
) -> Study:
    """An automaton and what belongs to it, for a report or the live page.

    Args:
        wfa: the automaton.
        model: the model that it was extracted from, which is then shown beside it.
        texts: texts to show: a corpus (best with labels), a list, a Series or an array.
        name: in titles.
        vectors: word vectors, "wordllama" (left out where that is not installed), "model" (its embedding), or a file.
        fields: `other` (an earlier automaton to compare with), `other_name`, `other_model`, `reference` (texts that the
            bag-of-words baseline is fitted on, best the extraction texts), `files` (names for commands to copy) and
            `seed` (of samples).
    """
    corpus = texts if texts is None or isinstance(texts, Corpus) else Corpus.of(list(as_texts(texts)))
    return Study(name, wfa, model, corpus, _vectors(vectors, wfa.encoder.vocabulary.words[2:], model), **fields)


def _vectors(
    vectors: WordVectors | str | None, words: Sequence[str], model: PrefixClassifier | None
) -> WordVectors | None:
    if vectors is None or isinstance(vectors, WordVectors):
        return vectors
    if vectors == "wordllama":
        try:
            with naming_extras():
                return wordllama_vectors(words)
        except MissingDependencyError as error:
            progress.say(f"there are no word vectors: {error}")
            return None
    if vectors == "model":
        if not isinstance(model, EmbeddingClassifier):
            raise InputError("this model has no embedding layer to take vectors from", code="no-vectors")
        return model_vectors(model)
    return read_vectors(vectors, words)


def short(values: NDArray[Any], digits: int = 4) -> Any:
    """An array as nested lists of short numbers, so that pages stay small."""
    return np.round(np.asarray(values, np.float64), digits).tolist()


def records(**columns: Iterable[Any]) -> list[dict[str, Any]]:
    """Columns of equal length as one dictionary per row."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def or_error(view: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """What a view returns, or `{"error": …}` with the reason why it cannot be made."""
    try:
        return view(*arguments, **options)
    except InputError as error:
        return {"error": str(error)}
