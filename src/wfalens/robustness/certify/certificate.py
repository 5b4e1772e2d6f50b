"""Certified robustness: whether any change that is allowed changes the class that the automaton gives a text.

Backward induction (interval arithmetic where rows are not distributions) bounds the advantage of every other class over
the predicted one. If all bounds are below zero, no variant of the text has another class: the text is certified. The
cost grows with the sum of the numbers of options over the positions; the number of variants is their product.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import UNDECIDED, WFA, Texts
from wfalens.errors import InputError
from wfalens.evaluation.comparison import Estimate, wilson
from wfalens.results import Result, plain
from wfalens.robustness.certify.certify_options import CHANGES
from wfalens.robustness.certify.edits import Choices, Edits, count_variants, in_words, spelled
from wfalens.robustness.certify.induction import (
    Path,
    PathSearch,
    backward_induction,
    interval_values,
    text_positions,
)

CERTIFIED, BROKEN, OPEN = "certified", "broken", "open"
ROUNDING = 1e-9  # a bound so close to zero certifies nothing


class TextCertificate:
    """What the certificates of single texts share."""

    status: str

    def row(self) -> dict[str, Any]:
        """The certificate in a table, its words as texts."""
        shown = vars(self).items()
        texts = {name: " ".join(value) if isinstance(value, tuple) else value for name, value in shown}
        return {"text": texts.pop("words", None), **texts}

    def sentence(self) -> str:
        """The certificate for people."""
        raise NotImplementedError


@dataclass(frozen=True)
class Certificate(TextCertificate):
    """What is known of one perturbed text. Advantages are of the best other class over the predicted one, in the
    unit of the automaton's class weights."""

    words: tuple[str, ...]
    label: str
    status: str  # certified: no variant changes the class; broken: the witness does; open: neither is known
    bound: float  # no variant gives another class more advantage
    reached: float  # the advantage that the witness reaches
    lowest: float  # no variant gives the predicted class less probability
    witness: tuple[str, ...]  # the worst variant found
    witness_label: str | None
    variants: int  # how many texts the certificate covers, this one included

    def sentence(self) -> str:
        text = f"{self.status}: {' '.join(self.words)} ({self.label}"
        if self.status == CERTIFIED:
            return f"{text}, at least {self.lowest:.2f} by the automaton on all {self.variants:,} variants)"
        marked = [word if word in self.words else f"[[{word}]]" for word in self.witness]
        return f"{text}) --> {' '.join(marked)} ({self.witness_label or 'undecided'})"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Certificates(Result):
    """One certificate per text."""

    certificates: tuple[Any, ...]
    of: str  # automaton or network
    undecided: int = 0  # texts without a class to certify
    left_out: int = 0  # replacements that the certificates do not cover: the automaton does not know the words
    statuses: ClassVar[tuple[str, ...]] = (CERTIFIED, BROKEN, OPEN)
    proofs: ClassVar[tuple[str, ...]] = (CERTIFIED,)  # statuses that hold for all variants

    def with_status(self, status: str) -> list[Any]:
        """The certificates of one status."""
        return [each for each in self.certificates if each.status == status]

    def share(self, status: str) -> Estimate:
        """The share of the texts with a status, with its interval."""
        return wilson(len(self.with_status(status)), len(self.certificates))

    @property
    def certified(self) -> Estimate:
        """The share of the texts that are certified."""
        return self.share(self.statuses[0])

    @property
    def title(self) -> str:
        return f"Certificates of {len(self.certificates):,} texts, on the {self.of}"

    def summary(self) -> str:
        shares = (f"{each} {len(self.with_status(each)):,} ({self.share(each).value:.1%})" for each in self.statuses)
        lines = [f"{self.title}: {', '.join(shares)}"]
        if self.undecided:
            lines.append(f"left out {self.undecided:,} texts on which the automaton is undecided")
        if self.left_out:
            lines.append(f"{self.left_out:,} replacements are not covered: the automaton does not know the words")
        return "\n".join(lines)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row per text."""
        return (each.row() for each in self.certificates)

    def to_dict(self) -> dict[str, Any]:
        shares = {status: asdict(self.share(status)) for status in self.statuses}
        about = {"of": self.of, "shares": shares, "undecided": self.undecided, "left_out": self.left_out}
        more = {name: plain(getattr(self, name)) for name in self.computed}
        return {**about, "texts": list(self.rows()), **more}

    def examples(self, most: int) -> list[str]:
        """A sentence about some texts of each status; every proof says that replacements were left out."""
        limits = f" ({self.left_out:,} replacements left out)" if self.left_out else ""
        return [
            each.sentence() + (limits if status in self.proofs else "")
            for status in self.statuses
            for each in self.with_status(status)[:most]
        ]


def certify(wfa: WFA, text: str, edits: Edits, *, changes: int | None = None, effort: int = 0) -> Certificate:
    """Whether any change changes the class that the automaton gives to a text.

    Args:
        wfa: the automaton.
        text: whose class is to be proven.
        edits: what may be changed.
        changes: how many at most (None: any number).
        effort: prefixes that best-first search may expand where the bound alone does not decide.

    Examples:
        >>> from wfalens.robustness import Edits, Substitutes
        >>> from wfalens.robustness.certify.certificate import certify
        >>> edits = Edits(Substitutes.of(wfa, {"good": ["bad"]}))
        >>> certify(wfa, "a good film", edits).status
        'broken'
    """
    words = wfa.encoder.tokens(text)
    if not words:
        raise InputError("the text has no words", code="no-words")
    choices = edits.choices(wfa.encoder.encode_tokens([words]).values)
    return certify_choices(wfa, words, choices, changes=changes, effort=effort)


def certify_choices(
    wfa: WFA, words: list[str], choices: Choices, *, changes: int | None = None, effort: int = 0
) -> Certificate:
    """The same for given choices; `words` are the words of the text."""
    CHANGES.checked("changes", changes)
    label = class_of(wfa, choices)
    if label == UNDECIDED:
        raise InputError(
            "the automaton is undecided on this text: there is no class to certify", code="automaton-undecided"
        )
    steps, scores = text_positions(wfa, choices), wfa.read_out(np.eye(wfa.states))
    # the advantages of all other classes, and last the loss of the predicted one; (n, C)
    final = np.hstack([np.delete(scores, label, 1) - scores[:, [label]], -scores[:, [label]]])
    if isinstance(wfa, StochasticWFA):
        values = backward_induction(steps, final, changes)
    else:
        values = interval_values(steps, wfa.initial, final, changes)
    bounds = wfa.initial @ values[0][-1]
    search = PathSearch(steps, values, wfa.initial, is_limited=changes is not None)
    rival = int(bounds[:-1].argmax())
    bound, (reached, path) = float(bounds[rival]), search.greedy(rival)
    if bound >= -ROUNDING and effort:
        bound, reached, path = _refined(search, bounds[:-1], reached, path, effort)
    decision = class_of(wfa, choices, path)
    status = CERTIFIED if bound < -ROUNDING else BROKEN if decision != label else OPEN
    odds = bounds[:-1]  # of a linear automaton; no exponential of them overflows in this form
    lowest = float(-bounds[-1] if isinstance(wfa, StochasticWFA) else np.exp(-np.logaddexp.reduce([0.0, *odds])))
    return Certificate(
        tuple(words),
        wfa.class_names[label],
        status,
        bound,
        reached,
        max(lowest, 1 / len(wfa.class_names)) if status == CERTIFIED else lowest,  # the likeliest class has its share
        in_words(words, choices, path, wfa.encoder.vocabulary.words),
        None if decision == UNDECIDED else wfa.class_names[decision],
        count_variants(choices, changes),
    )


def decided_texts(wfa: WFA, texts: Texts) -> NDArray[np.int64]:
    """The positions of the texts to which the automaton gives a class; refused if there are none."""
    decided = np.flatnonzero(wfa.decide(wfa.weights(texts)) != UNDECIDED)
    if len(decided) == 0:
        raise InputError(
            "the automaton is undecided on all of the texts: there is no class to certify", code="automaton-undecided"
        )
    return decided


def nonempty_tokens(wfa: WFA, texts: Sequence[str]) -> list[list[str]]:
    """The words of the texts that have any; refused if none has."""
    tokens = [words for words in map(wfa.encoder.tokens, texts) if words]
    if not tokens:
        raise InputError("there is no text with a word in it", code="no-words")
    return tokens


def class_of(wfa: WFA, choices: Choices, path: Path | None = None) -> int:
    """What the automaton decides about a variant (None: the text itself)."""
    picks = np.array([(0,) * len(choices) if path is None else path], np.int16)
    return int(wfa.decide(wfa.weights(spelled(choices, picks)))[0])


def _refined(
    search: PathSearch, bounds: NDArray[np.float64], reached: float, path: Path, effort: int
) -> tuple[float, float, Path]:
    """The bound over all other classes, made tighter by following variants, and the worst of these."""
    bound = -np.inf
    for rival in np.argsort(-bounds, kind="stable"):
        found, worse = float(bounds[rival]), None
        if found >= -ROUNDING:
            found, worse, effort = search.best_first(int(rival), effort, -ROUNDING)
        bound = max(bound, found)
        if worse is not None and found > reached:
            reached, path = found, worse
    return bound, reached, path
