"""Comparing two automata: of two checkpoints, of two data sets, or extracted in two ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import UNDECIDED, WFA
from wfalens.errors import InputError
from wfalens.evaluation.comparison import Agreement, Estimate, agreement, check_pair, wilson
from wfalens.explanation.attribution import PROBABILITY
from wfalens.explanation.influence import influence_of
from wfalens.explanation.opinion_line import points
from wfalens.html import text_html
from wfalens.messages import listed
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import jensen_shannon, last_outputs
from wfalens.ragged import Ragged
from wfalens.results import Result, RowResult, plain
from wfalens.text.corpus import Corpus
from wfalens.text.vocabulary import UNKNOWN

BOTH, BEFORE, AFTER = "both", "before", "after"
_SHOWN = 20  # rows of a table for people
_POINT = 0.005  # of influence: less is no point of probability
_NO_STATES = (
    "states are matched between two stochastic automata: those of a linear one are directions, without a centre"
)
Models = tuple[PrefixClassifier | None, PrefixClassifier | None]


@dataclass(frozen=True)
class StateMatch:
    """A state and its counterpart; None where the larger automaton has one that is left over."""

    before: int | None
    after: int | None
    label_before: str | None
    label_after: str | None
    share_before: float | None  # how often the state was visited in extraction
    share_after: float | None
    distance: float | None  # Euclidean, between the two centres


class _Changes(RowResult):
    """Words or texts with their properties, the largest change first."""

    def top(self, k: int | None) -> Self:
        return self.subset(np.arange(len(self))[:k])


@dataclass(frozen=True, eq=False, repr=False)
class WordChanges(_Changes):
    """Influence of words in both automata, the largest change first.

    A word that one of them has never seen reads there as `<unk>`, as it would in a text.
    """

    words: tuple[str, ...]
    where: NDArray[np.str_]  # (words,): which of the two has seen it: both, before, after
    counts: NDArray[np.int64]  # (words, 2)
    before: NDArray[np.float64]  # (words, classes)
    after: NDArray[np.float64]  # (words, classes)
    class_names: tuple[str, ...]
    per_row = ("words", "where", "counts", "before", "after")

    @property
    def change(self) -> NDArray[np.float64]:
        """‖IS_after(σ) − IS_before(σ)‖₂; (words,)"""
        return np.asarray(np.linalg.norm(self.after - self.before, axis=1))

    def rows(self) -> list[dict[str, Any]]:
        return [
            {
                "word": word,
                "seen_by": str(self.where[at]),
                "count_before": int(self.counts[at, 0]),
                "count_after": int(self.counts[at, 1]),
                "change": float(change),
                "influence_before": _by_class(self.class_names, self.before[at]),
                "influence_after": _by_class(self.class_names, self.after[at]),
            }
            for at, (word, change) in enumerate(zip(self.words, self.change, strict=True))
        ]


@dataclass(frozen=True, eq=False, repr=False)
class TextChanges(_Changes):
    """Outputs of both automata on texts, the largest divergence first; those of their models where they are known."""

    texts: tuple[str, ...]
    divergence: NDArray[np.float64]  # (texts,): Jensen-Shannon, between the automata
    before: NDArray[np.float64]  # (texts, classes)
    after: NDArray[np.float64]  # (texts, classes)
    model_before: NDArray[np.float64] | None  # (texts, classes)
    model_after: NDArray[np.float64] | None  # (texts, classes)
    truth: NDArray[np.int64] | None  # (texts,)
    class_names: tuple[str, ...]
    per_row = ("texts", "divergence", "before", "after", "model_before", "model_after", "truth")

    def rows(self) -> list[dict[str, Any]]:
        names, rows = self.class_names, []
        for at, text in enumerate(self.texts):
            truth = None if self.truth is None else names[self.truth[at]]
            row: dict[str, Any] = {"text": text, "divergence": float(self.divergence[at]), "truth": truth}
            for side, outputs in self.sides():
                row[f"label_{side}"] = _label_of(names, outputs[at])
                row[f"output_{side}"] = _by_class(names, outputs[at])
            rows.append(row)
        return rows

    def sides(self) -> list[tuple[str, NDArray[np.float64]]]:
        """The outputs of both automata and of their models where they are known, by name."""
        names = (BEFORE, AFTER, "model_before", "model_after")
        return [(name, getattr(self, name)) for name in names if getattr(self, name) is not None]


def _by_class(names: Sequence[str], output: NDArray[np.float64]) -> dict[str, float]:
    return dict(zip(names, output.tolist(), strict=True))


def _label_of(names: Sequence[str], output: NDArray[np.float64]) -> str | None:
    """The likeliest class; None where all are equally likely: the automaton was undecided."""
    return None if output.max() == output.min() else names[int(output.argmax())]


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Result):
    """What changed from one automaton to another. What was not asked for is None."""

    class_names: tuple[str, ...]
    states: tuple[StateMatch, ...] | None  # the farthest apart first; None for linear automata
    words: WordChanges
    texts: TextChanges | None = None
    agreement: Agreement | None = None  # between the automata, on the texts
    fidelity_before: Agreement | None = None  # of each to its own model, on the texts
    fidelity_after: Agreement | None = None
    accuracy_before: Estimate | None = None
    accuracy_after: Estimate | None = None

    @property
    def states_note(self) -> str | None:
        """Why no states were matched."""
        return _NO_STATES if self.states is None else None

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Everything, or the first `top` states, words and texts."""
        found = {
            "classes": self.class_names,
            "agreement": self.agreement,
            "fidelity": {"before": self.fidelity_before, "after": self.fidelity_after},
            "accuracy": {"before": self.accuracy_before, "after": self.accuracy_after},
            "states": None if self.states is None else self.states[:top],
            "states_note": self.states_note,
            "unit": PROBABILITY,
            "words": self.words.top(top).rows(),
            "texts": None if self.texts is None else self.texts.top(top).rows(),
        }
        return {name: plain(value) for name, value in found.items()}

    def rows(self) -> list[dict[str, Any]]:
        """The words, one row each; `texts` has rows of its own."""
        return self.words.rows()

    def summary(self) -> str:
        words = ", ".join(repr(str(row["word"])) for row in self._word_table()[:5])
        lines = [f"words whose influence changed most: {words or 'none'}"]
        if self.agreement is not None:
            lines.append(
                f"on {self.agreement.texts:,} texts they choose the same class on {self.agreement.cr:.3f}, at a "
                f"divergence of {self.agreement.jsd:.3f}"
            )
        for name, each in (("before", self.fidelity_before), ("after", self.fidelity_after)):
            lines += [] if each is None else [f"fidelity {name}: {each}"]
        return "\n".join(lines)

    def tables(self) -> dict[str, list[Mapping[str, Any]]]:
        """The first words, texts and states, as people read them."""
        tables = {"Words whose influence changed most (points of probability)": self._word_table()}
        if self.texts is not None:
            tables["Texts that they read most differently"] = [
                _shown_text(row, [side for side, _ in self.texts.sides()]) for row in self.texts.top(_SHOWN).rows()
            ]
        if self.states is not None:
            tables["States, the farthest apart first"] = [asdict(state) for state in self.states[:_SHOWN]]
        return tables

    def to_html(self) -> str:
        return super().to_html() + (text_html(_NO_STATES) if self.states is None else "")

    def _word_table(self) -> list[Mapping[str, Any]]:
        """Each word that moved by a point with the two classes between which it moved most."""
        rows = list[Mapping[str, Any]]()
        for row in self.words.top(min(_SHOWN, int(np.sum(self.words.change >= _POINT)))).rows():
            before, after = row["influence_before"], row["influence_after"]
            classes = sorted(self.class_names, key=lambda name: after[name] - before[name])
            lost, gained = (
                f"{name} {points(before[name])} → {points(after[name])}" for name in (classes[0], classes[-1])
            )
            seen = f"{row['count_before']:,} / {row['count_after']:,}"
            shown = {"word": row["word"], "seen before / after": seen, "change": round(100 * row["change"])}
            rows.append({**shown, "most gained": gained, "most lost": lost})
        return rows


def _shown_text(row: dict[str, Any], sides: Sequence[str]) -> dict[str, Any]:
    """A text with what each side makes of it."""
    shown = {"text": row["text"], "divergence": row["divergence"]}
    for side in sides:
        label, output = row[f"label_{side}"], row[f"output_{side}"]
        shown[side.replace("_", " ")] = f"{label or 'undecided'} {max(output.values()):.2f}"
    return shown if row["truth"] is None else {**shown, "truth": row["truth"]}


def compare(
    before: WFA,
    after: WFA,
    texts: Sequence[str] | Corpus = (),
    *,
    models: Models = (None, None),
    min_count: int = 5,
    seed: int = 0,
) -> Difference:
    """What changed from `before` to `after`: states, words, and how both read `texts`.

    Args:
        before: one automaton.
        after: another one, with the same classes.
        texts: that both read; without them, only states and words are compared.
        models: those that the automata were extracted from, to tell the fidelity of each and what they say
            themselves.
        min_count: words that both saw less often are left out.
        seed: of intervals.

    Examples:
        >>> from wfalens.robustness import compare
        >>> compare(wfa, wfa, corpus.texts).agreement.cr.value  # an automaton and itself
        1.0
    """
    if not (isinstance(before, WFA) and isinstance(after, WFA)):
        kinds = " and ".join(type(each).__name__ for each in (before, after))
        raise InputError(f"compare(before, after) takes two automata, not {kinds}", code="not-an-automaton")
    if set(before.class_names) != set(after.class_names):
        raise InputError(
            f"only automata of the same classes can be compared, not {listed(before.class_names)} and "
            f"{listed(after.class_names)}",
            code="other-classes",
        )
    for wfa, model in zip((before, after), models, strict=True):
        check_pair(wfa, model)
    states = None
    if isinstance(before, StochasticWFA) and isinstance(after, StochasticWFA):
        states = match_states(before, after)
    corpus = texts if isinstance(texts, Corpus) else Corpus.of(list(texts), name="texts")
    words = _word_changes(before, after, min_count)
    if len(corpus) == 0:
        if any(model is not None for model in models):
            raise InputError("give texts too: the fidelity to a model is measured on them", code="no-texts")
        return Difference(before.class_names, states, words)
    ids = [wfa.encoder.encode(corpus.texts) for wfa in (before, after)]
    worded = np.flatnonzero((ids[0].lengths > 0) & (ids[1].lengths > 0))
    if len(worded) == 0:
        raise InputError(f"{corpus.name}: there is no text with a word in it", code="no-words")
    corpus, names, rng = corpus.subset(worded), before.class_names, np.random.default_rng(seed)
    first, second = (
        _Reading(wfa, model, each.take(worded), names)
        for wfa, model, each in zip((before, after), models, ids, strict=True)
    )
    divergence = jensen_shannon(first.outputs, second.outputs)
    agrees = (first.decisions == second.decisions) & (first.decisions != UNDECIDED)
    truth = corpus.relabelled(names).labels
    _, once = np.unique(np.array(corpus.texts, object).astype(str), return_index=True)
    outputs = (first.outputs, second.outputs, first.model_outputs, second.model_outputs)
    changes = TextChanges(tuple(corpus.texts), divergence, *outputs, truth, names)
    return Difference(
        names,
        states,
        words,
        changes.subset(once[np.argsort(-divergence[once], kind="stable")]),  # every different text once
        agreement(agrees, divergence, rng),
        first.fidelity(rng),
        second.fidelity(rng),
        first.accuracy(truth),
        second.accuracy(truth),
    )


def match_states(before: StochasticWFA, after: StochasticWFA) -> tuple[StateMatch, ...]:
    """Linear sum assignment: the pairs with the smallest sum of distances between centres; start goes with start.

    States that are left over come first, then the pairs, the farthest apart first.
    """
    from scipy.optimize import linear_sum_assignment

    first, second = before.centres, after.centres[:, _columns(after, before.class_names)]
    gap = np.linalg.norm(first[:, None] - second[None], axis=2)
    left, right = (np.append(0, matched + 1) for matched in linear_sum_assignment(gap[1:, 1:]))

    def side(wfa: StochasticWFA, centres: NDArray[np.float64], state: int | None) -> tuple[str | None, float | None]:
        """The class and the share of a state."""
        if state is None:
            return None, None
        return before.class_names[int(centres[state].argmax())], float(wfa.state_frequencies[state])

    def match(a: int | None, b: int | None) -> StateMatch:
        (label, share), (other_label, other_share) = side(before, first, a), side(after, second, b)
        distance = None if a is None or b is None else float(gap[a, b])
        return StateMatch(a, b, label, other_label, share, other_share, distance)

    farthest = np.argsort(-gap[left, right], kind="stable")
    pairs = [match(int(left[at]), int(right[at])) for at in farthest]
    lone = [match(int(a), None) for a in np.setdiff1d(np.arange(before.states), left)]
    lone += [match(None, int(b)) for b in np.setdiff1d(np.arange(after.states), right)]
    return (*lone, *pairs)


def _columns(wfa: WFA, class_names: Sequence[str]) -> list[int]:
    """Where an automaton has the classes of another."""
    return [wfa.class_names.index(name) for name in class_names]


def _word_changes(before: WFA, after: WFA, min_count: int) -> WordChanges:
    """All words that one of the two has seen `min_count` times, by the change of their influence."""
    both = before, after
    words = sorted(
        {
            wfa.encoder.vocabulary.words[at]
            for wfa in both
            for at in np.flatnonzero(wfa.word_counts >= max(1, min_count))
            if at > UNKNOWN
        }
    )
    if not words:
        raise InputError(f"no word was seen {min_count} times in extraction; lower the minimum count")
    ids = [np.array([wfa.encoder.vocabulary.id_of(word) for word in words], np.int32) for wfa in both]
    counts = np.column_stack(
        [np.where(each == UNKNOWN, 0, wfa.word_counts[each]) for wfa, each in zip(both, ids, strict=True)]
    )
    names = before.class_names
    scores = [
        influence_of(wfa, each, PROBABILITY)[:, _columns(wfa, names)] for wfa, each in zip(both, ids, strict=True)
    ]
    where = np.where(counts[:, 1] == 0, BEFORE, np.where(counts[:, 0] == 0, AFTER, BOTH))
    changes = WordChanges(tuple(words), where, counts, scores[0], scores[1], names)
    return changes.largest(changes.change, None)


class _Reading:
    """What an automaton, and its model where there is one, make of texts; classes in the order of `class_names`."""

    def __init__(
        self, wfa: WFA, model: PrefixClassifier | None, ids: Ragged[np.int32], class_names: tuple[str, ...]
    ) -> None:
        weights, columns = wfa.prediction_weights(ids), _columns(wfa, class_names)
        decisions = wfa.decide(weights)
        self.outputs = wfa.probabilities(weights)[:, columns]
        self.decisions = np.where(decisions == UNDECIDED, UNDECIDED, np.argsort(columns)[decisions])
        self.model_outputs = None if model is None else last_outputs(model, ids).astype(np.float64)[:, columns]

    def fidelity(self, rng: np.random.Generator) -> Agreement | None:
        if self.model_outputs is None:
            return None
        agrees = self.decisions == self.model_outputs.argmax(1)
        return agreement(agrees, jensen_shannon(self.outputs, self.model_outputs), rng)

    def accuracy(self, truth: NDArray[np.int64] | None) -> Estimate | None:
        return None if truth is None else wilson(int(np.sum(self.decisions == truth)), len(truth))
