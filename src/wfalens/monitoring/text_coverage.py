"""Which states and transitions of an automaton a set of texts exercises, against the extraction texts.

A transition is a class of words read in a state; a pair is a transition and the one that follows it. Texts are followed
by their likeliest states. What the extraction texts visited is known from the automaton: a transition counts as *there*
if they read it at least once, and a pair if they can be expected to have read it at least once.

Gaps are filled by real texts that pass the state in question and get a word of the missing class there. Random texts of
the same lengths, drawn from the words of the set, are read beside them. A *finding* is a text on which the network
contradicts an automaton that is sure of its class: one of the two is wrong there.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.naming import Anatomy, Names
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA, Texts
from wfalens.evaluation.comparison import check_pair
from wfalens.explanation.moves import anatomy_and_names, require_readable, shown_name, shown_words
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.monitoring.features import Walks
from wfalens.ragged import Ragged
from wfalens.results import Result
from wfalens.text.encoder import require_words
from wfalens.text.vocabulary import UNKNOWN

_READ = 1.0  # times that the extraction texts read what counts as there
_SURE = 0.5  # the automaton's margin from which on a contradiction is a finding


@dataclass(frozen=True)
class GapText:
    """A text that exercises a transition which the set leaves out."""

    words: str
    at: int  # the position of the word that was put in
    state: str
    word_class: str
    label: str  # the network's class
    automaton_label: str
    finding: bool


@dataclass(frozen=True, repr=False)
class Gaps(Result):
    """Texts that fill gaps, and how many findings they bring beside random texts."""

    texts: tuple[GapText, ...]
    unreached: int  # missing transitions whose state no text passes
    per_thousand: float | None  # findings in 1,000 texts that fill gaps
    random_per_thousand: float | None  # the same of random texts of the same lengths

    def rows(self) -> list[dict[str, Any]]:
        """One row per text."""
        return [asdict(each) for each in self.texts]

    def summary(self) -> str:
        if not self.texts:
            return "no text passes a state with a missing transition: there is nothing to fill"
        return (
            f"{len(self.texts):,} texts that fill gaps: {self.per_thousand:.0f} findings in 1,000; "
            f"random texts of the same lengths: {self.random_per_thousand:.0f}"
        )

    def findings(self) -> list[str]:
        """Sentences about the texts on which the network contradicts the automaton."""
        return [
            f"the network: {each.label}, the automaton: {each.automaton_label}: "
            + " ".join(f"[[{word}]]" if at == each.at else word for at, word in enumerate(each.words.split(" ")))
            for each in self.texts
            if each.finding
        ]


@dataclass(frozen=True)
class Share:
    """How much of what is there a set of texts exercises."""

    there: int
    exercised: int

    @classmethod
    def of(cls, in_extraction: NDArray[Any], visits: NDArray[np.int64]) -> Share:
        there = in_extraction >= _READ
        return cls(int(there.sum()), int((there & (visits > 0)).sum()))

    @property
    def value(self) -> float:
        return self.exercised / max(1, self.there)


@dataclass(frozen=True, eq=False, repr=False)
class Coverage(Result):
    """What a set of texts exercises of an automaton."""

    wfa: StochasticWFA
    texts: int
    state_visits: NDArray[np.int64]  # (n,)
    transition_visits: NDArray[np.int64]  # (G, n)
    pair_visits: NDArray[np.int64]  # (G·n, G·n)
    remark: str | None = None
    gaps: Gaps | None = None  # texts for what is missing, where a network was asked

    @property
    def names(self) -> Names:
        return anatomy_and_names(self.wfa)[1]

    @property
    def states(self) -> Share:
        return Share.of(np.asarray(self.wfa.state_visits), self.state_visits)

    @property
    def transitions(self) -> Share:
        return Share.of(_anatomy(self.wfa).visits, self.transition_visits)

    @cached_property
    def pairs(self) -> Share:
        return Share.of(expected_pairs(_anatomy(self.wfa)), self.pair_visits)

    @cached_property
    def missing(self) -> list[tuple[int, int]]:
        """Transitions (class, state) that are there and not exercised, the most frequent in extraction first."""
        visits = _anatomy(self.wfa).visits
        open_ones = np.where((visits >= _READ) & (self.transition_visits == 0), visits, 0)
        order = np.argsort(-open_ones, axis=None, kind="stable")
        width = visits.shape[1]
        return [divmod(int(at), width) for at in order if open_ones.flat[at] > 0]

    def rows(self) -> list[dict[str, Any]]:
        """States, transitions and pairs: how many there are, and how many the texts exercise."""
        named = {"states": self.states, "transitions": self.transitions, "pairs of transitions": self.pairs}
        return [{"": name, **asdict(each), "share": each.value} for name, each in named.items()]

    def missing_rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Transitions that are not exercised, the most frequent in extraction first."""
        visits = _anatomy(self.wfa).visits
        return [
            {
                "state": shown_name(self.names.states[state]),
                "word class": shown_words(self.names.classes[group].words, 5),
                "read in extraction": round(float(visits[group, state])),
            }
            for group, state in self.missing[:top]
        ]

    def to_dict(self) -> dict[str, Any]:
        shares = {row.pop(""): row for row in self.rows()}
        gaps = None if self.gaps is None else self.gaps.to_dict()
        return {"texts": self.texts, **shares, "missing": self.missing_rows(), "remark": self.remark, "gaps": gaps}

    @property
    def title(self) -> str:
        return f"What {self.texts:,} texts exercise"

    def summary(self) -> str:
        shares = ", ".join(f"{row['exercised']:,} of {row['there']:,} {row['']}" for row in self.rows())
        lines = [f"{self.title}: {shares}"]
        lines += [] if self.gaps is None else [self.gaps.summary()]
        return "\n".join(lines + ([self.remark] if self.remark else []))


def coverage(
    wfa: WFA, texts: Texts, *, model: PrefixClassifier | None = None, fill: int = 1000, seed: int = 0
) -> Coverage:
    """What texts exercise of a readable automaton, or of the one that is attached to an automaton.

    Args:
        wfa: the automaton.
        texts: the texts, or their word ids.
        model: with a network, texts for what is missing are made and read by it.
        fill: how many such texts.
        seed: of their choice.

    Examples:
        >>> from wfalens.monitoring import coverage
        >>> coverage(readable, ["a good film"]).states.value <= 1
        True
    """
    readable, remark = require_readable(wfa)
    if model is not None:
        check_pair(wfa, model)
    _, ids = require_words(wfa.ids(texts))
    walks = Walks.of(readable, ids)
    groups, n = _anatomy(readable).visits.shape
    codes = walks.classes * n + walks.states
    follows = np.ones(len(codes), bool)
    follows[ids.offsets[:-1]] = False  # the first word of a text follows nothing
    behind = np.flatnonzero(follows)
    pairs = np.bincount(codes[behind - 1] * groups * n + codes[behind], minlength=(groups * n) ** 2)
    ends = walks.after[ids.offsets[1:] - 1].argmax(1)
    covered = Coverage(
        readable,
        len(ids),
        np.bincount(walks.states, minlength=n) + np.bincount(ends, minlength=n),
        np.bincount(codes, minlength=groups * n).reshape(groups, n),
        pairs.reshape(groups * n, groups * n),
        remark,
    )
    if model is None or fill == 0:
        return covered
    return replace(covered, gaps=fill_gaps(wfa, model, covered, ids, fill, seed))


def expected_pairs(anatomy: Anatomy) -> NDArray[np.float64]:
    """How often the extraction texts can be expected to have read each pair; (G·n, G·n)"""
    read = np.maximum(anatomy.visits.sum(0), 1e-300)
    share = anatomy.visits / read  # (G, n): of the words read in a state
    pairs = np.einsum("gij,hj->gihj", anatomy.flows, share)
    size = anatomy.visits.size
    return np.asarray(pairs.reshape(size, size))


def _anatomy(wfa: StochasticWFA) -> Anatomy:
    return anatomy_and_names(wfa)[0]


def fill_gaps(
    wfa: WFA, model: PrefixClassifier, covered: Coverage, ids: Ragged[np.int32], most: int, seed: int = 0
) -> Gaps:
    """Texts for the most frequent transitions that are missing, several for each where there are few.

    ids: the texts of the set, none of them empty
    """
    rng = np.random.default_rng(seed)
    walks = Walks.of(covered.wfa, ids)
    made, unreached = _made(covered, walks, most, rng)
    if not made:
        return Gaps((), unreached, None, None)
    texts = Ragged.from_lists([ids.tolist() for ids, *_ in made], np.int32)
    known = ids.values[ids.values > UNKNOWN]
    random = Ragged(rng.choice(known, len(texts.values)).astype(np.int32), texts.offsets)
    outputs = final_outputs(model, texts)
    weights = wfa.prediction_weights(texts)
    finding = _findings(wfa, weights, outputs)
    random_finding = _findings(wfa, wfa.prediction_weights(random), final_outputs(model, random))
    vocabulary, names = wfa.encoder.vocabulary, covered.names
    automaton_labels = wfa.probabilities(weights).argmax(1)
    found = tuple(
        GapText(
            " ".join(vocabulary.decode(text)),
            at,
            names.states[state],
            names.classes[group].name,
            wfa.class_names[int(outputs[number].argmax())],
            wfa.class_names[int(automaton_labels[number])],
            bool(finding[number]),
        )
        for number, (text, at, group, state) in enumerate(made)
    )
    return Gaps(found, unreached, 1000 * float(finding.mean()), 1000 * float(random_finding.mean()))


def _made(
    covered: Coverage, walks: Walks, most: int, rng: np.random.Generator
) -> tuple[list[tuple[NDArray[np.int32], int, int, int]], int]:
    """Texts with the position, class and state that they exercise, and the number of gaps that nothing reaches."""
    wfa, text_of, seen = covered.wfa, walks.ids.item_of_value(), np.flatnonzero(covered.wfa.word_counts)
    seen = seen[seen > UNKNOWN]
    words_of = {group: seen[wfa.row_set[seen] == group] for group, _ in covered.missing}
    places = {state: np.flatnonzero(walks.states == state) for _, state in covered.missing}
    reachable = [(group, state) for group, state in covered.missing if len(places[state]) and len(words_of[group])]
    made = []
    for number in range(most if reachable else 0):
        group, state = reachable[number % len(reachable)]
        token = int(rng.choice(places[state]))
        text = int(text_of[token])
        at = token - int(walks.ids.offsets[text])
        changed = walks.ids[text].copy()
        changed[at] = rng.choice(words_of[group])
        made.append((changed, at, group, state))
    return made, len(covered.missing) - len(reachable)


def _findings(wfa: WFA, weights: NDArray[np.float64], outputs: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray((wfa.margins(weights) >= _SURE) & (wfa.decide(weights) != outputs.argmax(1)))
