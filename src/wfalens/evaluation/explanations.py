"""How good are explanations of texts? The six measures that ferret (Attanasio et al. 2023) gathers.

Faithful to the model (DeYoung et al. 2020; τ: Jain and Wallace 2019):
  comprehensiveness  how far the model's probability falls when the highest words are removed (high is good)
  sufficiency        how far it falls when only they are kept (low is good); both: means over several shares (AOPC)
  tau_loo            Kendall's τ-b of the scores and of the falls when one word is left out (high is good)
Plausible to people, where their rationales are given (DeYoung et al. 2020; high is good):
  auprc              area under the precision-recall curve of the scores
  token_f1           F1 of the k words with the highest scores; k is the mean length of a rationale
  token_iou          their intersection with the rationale over the union
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wfalens import progress
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.comparison import Estimate, check_pair, mean_estimate
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.ragged import Ragged
from wfalens.results import Result
from wfalens.text.corpus import Corpus, as_texts
from wfalens.text.encoder import TextEncoder
from wfalens.validation import check_choice

SHARES = (0.1, 0.2, 0.3, 0.5)  # of the words that are removed or kept
FAITHFULNESS = ("comprehensiveness", "sufficiency", "tau_loo")
PLAUSIBILITY = ("auprc", "token_f1", "token_iou")
TextScorer = Callable[[str], ArrayLike]  # a text -> a score for every word, or for every word and class
Scores = Sequence[NDArray[np.float64]]  # of every text: (words,)


@dataclass(frozen=True, eq=False, repr=False)
class ExplanationScores(Result):
    """Every measure of every method on every text; NaN where a measure is not defined."""

    methods: tuple[str, ...]
    measures: tuple[str, ...]
    values: NDArray[np.float64]  # (methods, measures, texts)
    ms: NDArray[np.float64]  # (methods,): mean milliseconds for a text
    seed: int

    def estimate(self, method: str, measure: str) -> Estimate | None:
        """The mean with its 95 % interval over the texts where the measure is defined; None where it never is."""
        values = self._values(method, measure)
        return mean_estimate(values, np.random.default_rng(self.seed)) if len(values) else None

    def defined(self, method: str, measure: str) -> int:
        """On how many texts a measure is defined."""
        return len(self._values(method, measure))

    def _values(self, method: str, measure: str) -> NDArray[np.float64]:
        """Of the texts on which the measure is defined."""
        check_choice("method", method, self.methods)
        check_choice("measure", measure, self.measures)
        values: NDArray[np.float64] = self.values[self.methods.index(method), self.measures.index(measure)]
        return np.asarray(values[~np.isnan(values)])

    def rows(self) -> list[dict[str, Any]]:
        """One row per method and measure."""
        return [
            {
                "method": method,
                "measure": measure,
                **(dict.fromkeys(("value", "low", "high")) if mean is None else asdict(mean)),
                "texts": self.defined(method, measure),
            }
            for method in self.methods
            for measure in self.measures
            for mean in [self.estimate(method, measure)]
        ]

    def to_dict(self) -> dict[str, Any]:
        """By method and measure: the mean, its interval, and on how many texts it is defined."""
        found: dict[str, Any] = {method: {} for method in self.methods}
        for row in self.rows():
            method, measure = row.pop("method"), row.pop("measure")
            found[method][measure] = None if row["value"] is None else row
        for method, ms in zip(self.methods, self.ms, strict=True):
            found[method]["ms"] = float(ms)
        return found

    @property
    def title(self) -> str:
        return f"Explanations of {self.values.shape[2]:,} texts"

    def summary(self) -> str:
        lines = [self.title]
        for method in self.methods:
            means = {measure: self.estimate(method, measure) for measure in self.measures}
            shown = (f"{name} {'–' if mean is None else format(mean, '.3f')}" for name, mean in means.items())
            lines.append(f"{method}: {', '.join(shown)}")
        return "\n".join(lines)


def evaluate_explanations(
    scorers: Mapping[str, TextScorer],
    model: PrefixClassifier,
    texts: Sequence[str],
    *,
    rationales: Sequence[Sequence[int]] | None = None,
    shares: Sequence[float] | None = SHARES,
    seed: int = 0,
) -> ExplanationScores:
    """Compare methods that explain the class that a model chooses.

    Args:
        model: whose classes are explained.
        texts: to explain.
        scorers: by name: any function from a text to a score for every word that the model reads, or for every word
            and class (the column of the model's class is then taken).
        rationales: what people marked: for every text a 0 or 1 for every word.
        shares: of the words that are removed or kept; None: every number of words, as ferret does.
        seed: of intervals.

    Examples:
        >>> from wfalens.evaluation import evaluate_explanations
        >>> from wfalens.explanation import shapley
        >>> scorers = {"Shapley": lambda text: shapley(wfa, text).values}
        >>> measured = evaluate_explanations(scorers, model, ["a good film", "not a bad film"])
    """
    texts = as_texts(texts)
    if not scorers or len(texts) == 0:
        raise InputError("an evaluation needs at least one scorer and one text")
    words = [model.encoder.tokens(text) for text in texts]
    ids = model.encoder.vocabulary.encode(words)
    if np.any(ids.lengths == 0):
        raise InputError(f"text {int(np.argmin(ids.lengths))} has no words")
    marked = None if rationales is None else _checked_rationales(rationales, ids.lengths)
    outputs = final_outputs(model, ids)
    labels = outputs.argmax(1)
    alone = [falls[:, label] for falls, label in zip(leave_one_out(model, ids, outputs), labels, strict=True)]
    rows, times = [], []
    for name, scorer in scorers.items():
        scores, ms = _scored(name, scorer, texts, ids.lengths, labels)
        measures = [*erasure(model, ids, scores, labels, outputs, shares), rank_agreement(scores, alone)]
        if marked is not None:
            measures += plausibility(scores, marked)
        rows.append(np.stack(measures))
        times.append(ms)
    names = FAITHFULNESS + (PLAUSIBILITY if marked is not None else ())
    return ExplanationScores(tuple(scorers), names, np.stack(rows), np.array(times), seed)


def compare_explanations(
    wfa: WFA, model: PrefixClassifier, texts: Corpus | Sequence[str], *, limit: int = 200, seed: int = 0
) -> ExplanationScores:
    """Evaluate the explanations at hand on texts drawn at random.

    These are the automaton's Shapley values and additive contributions, which do not ask the model, and
    leave-one-out on the model and random scores.

    Args:
        wfa: the automaton.
        model: the model that it was extracted from.
        texts: to draw from; those without words are left out.
        limit: texts at most.
        seed: of the draw, of the random scores and of intervals.

    Examples:
        >>> from wfalens.evaluation import compare_explanations
        >>> len(compare_explanations(wfa, model, ["a good film", "not a bad film"]).methods)
        4
    """
    check_pair(wfa, model)
    every = as_texts(texts)
    order = np.random.default_rng(seed).permutation(len(every))
    worded = (every[at] for at in order if model.encoder.tokens(every[at]))
    drawn = list(itertools.islice(worded, limit))
    if not drawn:
        raise InputError("there is no text with a word in it", code="no-words")
    rng = np.random.default_rng(seed)
    scorers: dict[str, TextScorer] = {
        "Shapley values of the automaton": lambda text: wfa.explain(text, unit=wfa.unit).values,
        "additive contributions of the automaton": lambda text: (
            wfa.explain(text, method="additive", unit=wfa.unit).values
        ),
        "leave-one-out on the classifier": lambda text: leave_one_out_scores(model, text),
        "random": lambda text: rng.random(len(model.encoder.tokens(text))),
    }
    return evaluate_explanations(scorers, model, drawn, seed=seed)


def erasure(
    model: PrefixClassifier,
    ids: Ragged[np.int32],
    scores: Scores,
    labels: NDArray[np.int64],
    outputs: NDArray[np.float64],
    shares: Sequence[float] | None = SHARES,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Comprehensiveness and sufficiency of every text, all its variants in one batch; -> (texts,), (texts,)"""
    removed, kept, owner = [], [], []
    for at, (text, own) in enumerate(zip(ids, scores, strict=True)):
        order = np.argsort(-own, kind="stable")
        for count in _counts(len(text), shares):
            top = np.sort(order[:count])
            removed.append(np.delete(text, top))
            kept.append(text[top])
            owner.append(at)
    variants, rows = _joined([*removed, *kept]), np.tile(owner, 2)
    before = outputs[np.arange(len(ids)), labels]
    falls = before[rows] - final_outputs(model, variants)[np.arange(len(rows)), labels[rows]]
    without, only = np.split(falls, 2)
    number = np.bincount(owner, minlength=len(ids))
    return np.bincount(owner, without) / number, np.bincount(owner, only) / number


def _counts(length: int, shares: Sequence[float] | None) -> list[int]:
    """How many of the highest words are removed or kept, again and again."""
    if shares is None:
        return list(range(1, length + 1))
    return [min(length, max(1, round(share * length))) for share in shares]


def leave_one_out(model: PrefixClassifier, ids: Ragged[np.int32], outputs: NDArray[np.float64]) -> Ragged[np.float64]:
    """The fall of every class when a word is left out; outputs: the model's on the whole texts -> (tokens, classes)"""
    texts = [np.delete(text, position) for text in ids for position in range(len(text))]
    return Ragged(outputs[ids.item_of_value()] - final_outputs(model, _joined(texts)), ids.offsets)


def leave_one_out_scores(model: PrefixClassifier, text: str) -> NDArray[np.float64]:
    """A scorer: the fall of every class when a word is left out; -> (words, classes)"""
    ids = model.encoder.vocabulary.encode([model.encoder.tokens(text)])
    return leave_one_out(model, ids, final_outputs(model, ids)).values


def _joined(texts: Sequence[NDArray[np.int32]]) -> Ragged[np.int32]:
    return Ragged.from_lengths(np.concatenate(texts), np.array([len(text) for text in texts]))


def rank_agreement(scores: Scores, others: Scores) -> NDArray[np.float64]:
    """Kendall's τ-b, text by text; NaN where all scores of a text are equal. -> (texts,)"""
    from scipy.stats import kendalltau

    found = [
        kendalltau(one, other).statistic if len(one) > 1 else np.nan for one, other in zip(scores, others, strict=True)
    ]
    return np.array(found, np.float64)


def plausibility(scores: Scores, rationales: Sequence[NDArray[np.bool_]]) -> list[NDArray[np.float64]]:
    """AUPRC, F1 and IoU of the tokens; NaN where people marked no word. -> (texts,) each"""
    mean_length = float(np.mean([marked.sum() for marked in rationales if marked.any()] or [1]))
    k = max(1, round(mean_length))
    found = np.full((3, len(scores)), np.nan)
    for at, (own, marked) in enumerate(zip(scores, rationales, strict=True)):
        if marked.any():
            chosen = np.zeros(len(own), bool)
            chosen[np.argsort(-own, kind="stable")[:k]] = True
            both = int((chosen & marked).sum())
            found[:, at] = (
                area_under_precision_recall(own, marked),
                2 * both / int(chosen.sum() + marked.sum()),
                both / int((chosen | marked).sum()),
            )
    return list(found)


def marked_words(encoder: TextEncoder, text: str, characters: Iterable[int]) -> list[int]:
    """A rationale of words from the numbers of the characters that people marked: 1 where a letter of a word is marked.

    Examples:
        >>> from wfalens.evaluation.explanations import marked_words
        >>> marked_words(encoder, "A bad film!", range(2, 5))
        [0, 1, 0, 0]
    """
    marked, found, start = set(characters), [], 0
    pieces = encoder.pieces(text)
    if not text.startswith("".join(pieces)):
        raise InputError("the words of the text cannot be found in it, so that nothing is marked", code="rationale")
    for piece in pieces:
        letters = [at for at, sign in enumerate(piece, start) if sign.isalnum()]
        letters = letters or [at for at, sign in enumerate(piece, start) if not sign.isspace()]
        found.append(int(not marked.isdisjoint(letters)))
        start += len(piece)
    return found


def area_under_precision_recall(scores: NDArray[np.float64], marked: NDArray[np.bool_]) -> float:
    """By trapezoids, as ERASER and ferret have it."""
    from sklearn.metrics import auc, precision_recall_curve

    precision, recall, _ = precision_recall_curve(marked, scores)
    return float(auc(recall, precision))


def _scored(
    name: str,
    scorer: TextScorer,
    texts: Sequence[str],
    lengths: NDArray[np.int64],
    labels: NDArray[np.int64],
) -> tuple[Scores, float]:
    """The scores of every text for the model's class, and the mean milliseconds for a text."""
    scores, seconds = [], 0.0
    asked = list(zip(texts, lengths, labels, strict=True))
    for text, length, label in progress.track(asked, f"explaining ({name})"):
        began = time.perf_counter()
        found = np.asarray(scorer(text), np.float64)
        seconds += time.perf_counter() - began
        if found.ndim not in (1, 2) or len(found) != length or (found.ndim == 2 and found.shape[1] <= label):
            raise InputError(f"{name} returned scores of the shape {found.shape} for a text of {length} words")
        if not np.all(np.isfinite(found)):
            raise InputError(f"{name} returned scores that are not numbers")
        scores.append(found if found.ndim == 1 else found[:, label])
    return scores, 1000 * seconds / len(texts)


def _checked_rationales(rationales: Sequence[Sequence[int]], lengths: NDArray[np.int64]) -> list[NDArray[np.bool_]]:
    if len(rationales) != len(lengths):
        raise InputError(f"there are {len(rationales)} rationales for {len(lengths)} texts")
    marked = [np.asarray(each) for each in rationales]
    for at, (each, length) in enumerate(zip(marked, lengths, strict=True)):
        if each.shape != (length,) or not np.all((each == 0) | (each == 1)):
            raise InputError(f"rationale {at} must be a 0 or 1 for each of the {length} words that the model reads")
    return [each.astype(bool) for each in marked]
