"""Shapley values over a corpus: means by word and by pair of words, over texts or over all texts of a bigram model.

Sums over texts are whole numbers, so that they add up to the same figures in any order: in memory, or over the blocks
of files, on any number of workers. A block with a checkpoint is not read again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA, Texts
from wfalens.errors import InputError
from wfalens.explanation.attribution import class_column
from wfalens.explanation.influence import Influence
from wfalens.explanation.shapley.game import checked_absence
from wfalens.explanation.shapley.network_values import check_network_game, residual_values
from wfalens.explanation.shapley.population import population_values
from wfalens.explanation.shapley.quadrature import exact_interactions, exact_shapley
from wfalens.explanation.shapley.shapley_values import MOST_PAIRED, MOST_WORDS, check_length
from wfalens.models.contract import PrefixClassifier
from wfalens.ragged import Ragged
from wfalens.results import RowResult
from wfalens.scale.block_jobs import BlockJob, RowCounts, encoded
from wfalens.scale.file_run import open_run
from wfalens.scale.map_blocks import BlockTask, map_blocks
from wfalens.scale.run_config import RunConfig
from wfalens.scale.sample import scan_files
from wfalens.storage import StoredFile
from wfalens.text.corpus import Corpus
from wfalens.text.files import TextFiles

WORDS, PAIRS = "words", "pairs"
_TOKENS_AT_ONCE = 1 << 15
_NO_SAMPLE = 1  # words: a scan draws a sample, which nothing here looks at
_Z = 1.959963984540054  # of a two-sided 95 % interval
_UNITS = np.array([1 << 30, 1 << 30, 1 << 24])  # sums of φ, |φ| and φ² are whole multiples of one over these
_LARGEST = 1e3  # value, so that the sums of a block of texts cannot overflow


@dataclass(frozen=True, eq=False)
class KeyedSums:
    """Sums of values by key, sorted. Whole numbers make addition exactly associative and commutative."""

    keys: NDArray[np.int64]  # (K,)
    counts: NDArray[np.int64]  # (K,)
    sums: NDArray[np.int64]  # (K, C, 3): of φ, |φ| and φ²

    @classmethod
    def nothing(cls, classes: int) -> KeyedSums:
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, classes, 3), np.int64))

    @classmethod
    def of(cls, keys: NDArray[np.integer], values: NDArray[np.float64]) -> KeyedSums:
        # (N,), (N, C)
        if np.abs(values).max(initial=0) > _LARGEST:
            raise InputError(f"values beyond ±{_LARGEST:,.0f} cannot be added up")
        moments = np.stack([values, np.abs(values), values**2], 2)
        whole = np.rint(moments * _UNITS).astype(np.int64)
        return cls(keys.astype(np.int64), np.ones(len(keys), np.int64), whole)._collected()

    def __add__(self, other: KeyedSums) -> KeyedSums:
        parts = zip(vars(self).values(), vars(other).values(), strict=True)
        total = KeyedSums(*map(np.concatenate, parts))._collected()
        if np.any(total.sums[..., 1:] < 0):  # sums of |φ| and φ² that passed 2^63
            raise InputError("there are too many texts, or values too large, to be added up")
        return total

    def _collected(self) -> KeyedSums:
        """With every key once, in their order."""
        if len(self.keys) == 0:
            return self
        order = np.argsort(self.keys, kind="stable")
        starts = np.flatnonzero(np.diff(self.keys[order], prepend=-1))
        counts, sums = (np.add.reduceat(each[order], starts) for each in (self.counts, self.sums))
        return KeyedSums(self.keys[order][starts], counts, sums)

    def frequent(self, min_count: int) -> KeyedSums:
        """What occurs so often; refused if nothing does."""
        often = self.counts >= max(1, min_count)
        if not often.any():
            raise InputError(f"nothing occurs {min_count} times in these texts; lower the minimum count")
        return KeyedSums(self.keys[often], self.counts[often], self.sums[often])

    def means(self) -> NDArray[np.float64]:
        """Of φ, |φ| and φ²; -> (K, C, 3)"""
        return np.asarray(self.sums / _UNITS / self.counts[:, None, None])


def word_sums(wfa: WFA, ids: Ragged[np.int32], absence: str) -> KeyedSums:
    """The values of all words of a block of texts, by word id."""
    check_length(ids, MOST_WORDS, "explained word by word")
    values, _ = exact_shapley(wfa, ids, absence)
    return KeyedSums.of(ids.values, values.values)


def pair_sums(wfa: WFA, ids: Ragged[np.int32], absence: str) -> KeyedSums:
    """The interactions of all pairs of words in a block of texts, by `first · V + second`, the earlier word first."""
    check_length(ids, MOST_PAIRED, "explained by pairs of words")
    keys, values = [np.zeros(0, np.int64)], [np.zeros((0, len(wfa.class_names)))]
    for text, table in zip(ids, exact_interactions(wfa, ids, absence), strict=True):
        first, second = np.triu_indices(len(text), 1)
        keys.append(text[first].astype(np.int64) * len(wfa.encoder.vocabulary) + text[second])
        values.append(table[first, second])
    return KeyedSums.of(np.concatenate(keys), np.concatenate(values))


def _text_sums(wfa: WFA, ids: Ragged[np.int32], of: str, absence: str) -> KeyedSums:
    total, sums = KeyedSums.nothing(len(wfa.class_names)), word_sums if of == WORDS else pair_sums
    for part in ids.chunks(_TOKENS_AT_ONCE):
        total += sums(wfa, part, absence)
    return total


def _sums(wfa: WFA, texts: Texts | Corpus | TextFiles, of: str, absence: str, run: RunConfig | None) -> KeyedSums:
    """Of texts in memory, here; of files, block by block."""
    absence = checked_absence(absence)
    if isinstance(texts, TextFiles):
        return _file_sums(wfa, texts, of, absence, run or RunConfig())
    _, ids = wfa.ids(texts.texts if isinstance(texts, Corpus) else texts).nonempty()
    if len(ids) == 0:
        raise InputError("there is no text with a word in it", code="no-words")
    return _text_sums(wfa, ids, of, absence)


BlockSums = tuple[KeyedSums, RowCounts]  # all that is kept of a block


@dataclass(frozen=True, eq=False)
class SumTask:
    """Adds up the values of a block's words or pairs."""

    source: TextFiles
    wfa: WFA
    of: str  # WORDS or PAIRS
    absence: str
    skips_errors: bool

    def prepare(self) -> Callable[[BlockJob], BlockSums]:
        return self.summed

    def summed(self, job: BlockJob) -> BlockSums:
        total, rows = KeyedSums.nothing(len(self.wfa.class_names)), list[RowCounts]()
        for block in job.read(self.source):
            found = encoded(block, self.wfa.encoder, skips_errors=self.skips_errors)
            rows.append(found.rows)
            total += _text_sums(self.wfa, found.ids, self.of, self.absence)
        return total, RowCounts.of(rows)


def _file_sums(wfa: WFA, source: TextFiles, of: str, absence: str, run: RunConfig) -> KeyedSums:
    about = {"automaton": wfa.fingerprint, "sums": of, "absence": absence}
    total = nothing = KeyedSums.nothing(len(wfa.class_names))
    with open_run(run, source, about, _NO_SAMPLE) as opened:
        scan = scan_files(opened, wfa.encoder, seed=0)
        work = BlockTask(
            title="explaining texts",
            task=SumTask(source, wfa, of, absence, opened.skips_errors),
            name=lambda job: job.named(source),
            kind="sums",
            number=lambda job: job.number,
            stored=lambda found: ({"rows": found[1].to_dict()}, dict(vars(found[0]))),
            restored=_restored,
            skipped=(lambda job, reason: (nothing, job.skipped(reason))) if opened.skips_errors else None,
        )
        rows = [scan.unreadable]
        for _, (sums, counts) in map_blocks(work, scan.jobs, opened):
            held = sum(array.nbytes for each in (total, sums) for array in vars(each).values())
            opened.check_memory(2 * held, "adding up the values")
            total += sums
            rows.append(counts)
        read = RowCounts.of(rows)
        read.say_left_out()
        if read.texts == 0:
            raise InputError(f"{source.name}: there is no text with a word in it", code="no-words")
        opened.record("finish", texts=read.texts, tokens=read.tokens, left_out=read.left_out)
    return total


def _restored(file: StoredFile) -> BlockSums:
    sums = KeyedSums(file.tensor("keys", "i"), file.tensor("counts", "i"), file.tensor("sums", "i", 3))
    return sums, RowCounts.stored(file)


@dataclass(frozen=True, eq=False, repr=False)
class Importance(RowResult):
    """Means over a corpus for words, or for pairs of words "first × second"."""

    per_row = ("names", "counts", "mean", "size", "mean_error", "size_error", "correction", "correction_error")

    names: tuple[str, ...]
    counts: NDArray[np.int64]  # (names,): occurrences
    mean: NDArray[np.float64]  # (names, classes): of φ
    size: NDArray[np.float64]  # (names, classes): of |φ|
    mean_error: NDArray[np.float64]  # (names, classes): standard errors; NaN for what occurred once
    size_error: NDArray[np.float64]
    class_names: tuple[str, ...]
    unit: str
    absence: str
    error: float = 0.0  # of quadrature, in every mean at most
    correction: NDArray[np.float64] | None = None  # (names, classes): mean of φ(network) − φ(automaton)
    correction_error: NDArray[np.float64] | None = None  # (names, classes): its standard error

    @classmethod
    def of_sums(cls, wfa: WFA, names: Sequence[str], sums: KeyedSums, absence: str) -> Importance:
        mean, size, square = np.moveaxis(sums.means(), 2, 0)
        counts = sums.counts[:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            mean_error, size_error = (
                np.where(counts > 1, np.sqrt(np.maximum(square - part**2, 0) / (counts - 1)), np.nan)
                for part in (mean, size)
            )
        return cls(tuple(names), sums.counts, mean, size, mean_error, size_error, wfa.class_names, wfa.unit, absence)

    def of(self, name: str) -> Importance:
        """One word, or one pair "first × second"."""
        if name not in self.names:
            message = f"no values for {name!r}: it does not occur often enough in these texts"
            raise InputError(message, code="word-without-score")
        return self.subset(np.array([self.names.index(name)]))

    def top(self, class_name: str, k: int = 10) -> Importance:
        """The `k` that matter most for a class: by mean |φ|."""
        return self.largest(self.size[:, class_column(self.class_names, class_name)], k)

    @property
    def title(self) -> str:
        return f"Mean φ and |φ| of {len(self):,} names by class, with 95 % half-widths ({self.unit})"

    def rows(self) -> list[dict[str, Any]]:
        parts = {"mean": self.mean, "mean ±": _Z * self.mean_error}
        parts |= {"size": self.size, "size ±": _Z * self.size_error}
        if self.correction is not None and self.correction_error is not None:
            parts |= {"correction": self.correction, "correction ±": _Z * self.correction_error}
        return [
            {"name": name, "count": int(self.counts[row])}
            | {
                f"{label} {part}": float(values[row, at])
                for at, label in enumerate(self.class_names)
                for part, values in parts.items()
            }
            for row, name in enumerate(self.names)
        ]


def word_importance(
    wfa: WFA,
    texts: Texts | Corpus | TextFiles,
    *,
    absence: str = "delete",
    min_count: int = 5,
    run: RunConfig | None = None,
) -> Importance:
    """Mean φ and |φ| of every word that occurs `min_count` times in the texts; without a query of the model.

    `texts` are in memory, or `TextFiles` of any size. `run` says how files are read (workers,
    checkpoints); it has no effect on the figures.
    """
    sums = _sums(wfa, texts, WORDS, absence, run).frequent(min_count)
    return Importance.of_sums(wfa, wfa.encoder.vocabulary.decode(sums.keys.astype(np.int32)), sums, absence)


def pair_importance(
    wfa: WFA,
    texts: Texts | Corpus | TextFiles,
    *,
    absence: str = "delete",
    min_count: int = 5,
    run: RunConfig | None = None,
) -> Importance:
    """Mean interaction of every pair of words that occurs `min_count` times in a text, the earlier word first.

    `texts` and `run` are those of `word_importance`.
    """
    sums = _sums(wfa, texts, PAIRS, absence, run).frequent(min_count)
    words = wfa.encoder.vocabulary.words
    names = [f"{words[key // len(words)]} × {words[key % len(words)]}" for key in sums.keys]
    return Importance.of_sums(wfa, names, sums, absence)


def population_importance(
    wfa: WFA,
    model: PrefixClassifier | None = None,
    texts: Sequence[str] = (),
    *,
    absence: str = "delete",
    min_count: int = 5,
    contexts: int = 32,
    queries: int = 32,
    seed: int = 0,
) -> Importance:
    """Means of every word that occurs `min_count` times in extraction, over all texts of the corpus's bigram model.

    No text is sampled for mean φ: it is a sum over clusters of words × automaton states. |φ| is not linear in the
    automaton, so its mean is over random contexts of each word, with a standard error; φ is exact in each of them.
    With the model, `texts` are sampled texts on which the network is asked for some coalitions; what the automaton gets
    wrong there is the correction of their words, NaN for other words.

    Args:
        wfa: the automaton, extracted by this version: its file has the bigrams.
        model: the network; None: no correction.
        texts: with a model: texts to ask it about, as the corpus has them.
        absence: what an absent word is: "delete", "unknown" or, without a model, "background".
        min_count: words that were seen less often are left out.
        contexts: in which |φ| is measured, for each cluster of words.
        queries: coalitions of each text that the model is asked for.
        seed: of contexts and coalitions.
    """
    ids = np.flatnonzero(wfa.word_counts >= max(1, min_count)).astype(np.int32)
    if len(ids) == 0:
        raise InputError(f"no word occurs {min_count} times in the extraction texts; lower the minimum count")
    if contexts < 3:
        raise InputError(f"a standard error needs at least 3 contexts, not {contexts}", code="option-value")
    means = population_values(wfa, ids, absence, contexts, np.random.default_rng(seed))
    names, counts = tuple(wfa.encoder.vocabulary.decode(ids)), wfa.word_counts[ids]
    found = Importance(names, counts, **means, class_names=wfa.class_names, unit=wfa.unit, absence=absence)
    if model is None:
        return found
    check_network_game(model, wfa, absence)
    sums = KeyedSums.nothing(len(wfa.class_names))
    for text in texts:
        sums += KeyedSums.of(*residual_values(wfa, model, text, absence, queries, seed))
    asked = Importance.of_sums(wfa, [""] * len(sums.keys), sums, absence)
    correction, deviation = np.full_like(found.mean, np.nan), np.full_like(found.mean, np.nan)
    _, rows, places = np.intersect1d(ids, sums.keys, return_indices=True)
    correction[rows], deviation[rows] = asked.mean[places], asked.mean_error[places]
    return replace(found, correction=correction, correction_error=deviation)


def rank_correlation(importance: Importance, influence: Influence) -> dict[str, float]:
    """Spearman's ρ of mean φ and the paper's influence score over the words of both, class by class."""
    from scipy.stats import spearmanr

    known = set(influence.words)
    rows = [at for at, name in enumerate(importance.names) if name in known]
    if len(rows) < 2:
        raise InputError("a rank correlation needs at least two words that have both scores", code="few-words")
    scores = influence.chosen([importance.names[row] for row in rows]).scores
    return {
        name: float(spearmanr(importance.mean[rows, at], scores[:, influence.class_names.index(name)]).statistic)
        for at, name in enumerate(importance.class_names)
    }


@dataclass(frozen=True, eq=False, repr=False)
class Occurrences(RowResult):
    """Every occurrence of a word in some texts, with its context and its Shapley values."""

    per_row = ("contexts", "texts", "positions", "values")

    word: str
    contexts: tuple[str, ...]  # (N,): the words around it
    texts: NDArray[np.int64]  # (N,): number of the text
    positions: NDArray[np.int64]  # (N,)
    values: NDArray[np.float64]  # (N, classes)
    class_names: tuple[str, ...]
    unit: str

    def extremes(self, class_name: str, k: int = 5) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
        """Contexts in which the word lowers a class most, and in which it raises it most, with the values."""
        column = self.values[:, class_column(self.class_names, class_name)]
        order = np.argsort(column, kind="stable")
        low, high = (
            [(self.contexts[at], float(column[at])) for at in places] for places in (order[:k], order[::-1][:k])
        )
        return low, high

    @property
    def title(self) -> str:
        return f"{len(self):,} occurrences of {self.word} ({self.unit})"

    def rows(self) -> list[dict[str, Any]]:
        places = zip(self.texts.tolist(), self.positions.tolist(), self.contexts, self.values.tolist(), strict=True)
        return [
            {"text": text, "position": at, "context": context, **dict(zip(self.class_names, values, strict=True))}
            for text, at, context, values in places
        ]


def word_occurrences(wfa: WFA, texts: Texts, word: str, *, absence: str = "delete", around: int = 4) -> Occurrences:
    """All occurrences of one word, with `around` words to each side."""
    vocabulary = wfa.encoder.vocabulary
    if word not in vocabulary:
        raise InputError(f"the automaton does not know the word {word!r}", code="unknown-word")
    ids, code = wfa.ids(texts), vocabulary.id_of(word)
    containing = np.unique(ids.item_of_value()[ids.values == code])
    if len(containing) == 0:
        raise InputError(f"the word {word!r} does not occur in these texts", code="unknown-word")
    chosen = ids.take(containing)
    check_length(chosen, MOST_WORDS, "explained word by word")
    values, _ = exact_shapley(wfa, chosen, checked_absence(absence))
    places = np.flatnonzero(chosen.values == code)
    item = chosen.item_of_value()[places]
    positions = places - chosen.offsets[item]
    contexts = tuple(
        " ".join(vocabulary.decode(chosen[text][max(0, at - around) : at + around + 1]))
        for text, at in zip(item, positions, strict=True)
    )
    found = values.values[places]
    return Occurrences(word, contexts, containing[item], positions, found, wfa.class_names, wfa.unit)
