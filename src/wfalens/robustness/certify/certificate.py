"""Certified robustness: whether any change that is allowed changes the class that the automaton gives a text.

Backward induction (interval arithmetic where rows are not distributions) bounds the advantage of every other class over
the predicted one. If all bounds are below zero, no variant of the text has another class: the text is certified. The
cost grows with the sum of the numbers of options over the positions; the number of variants is their product.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import UNDECIDED, WFA
from wfalens.errors import InputError
from wfalens.evaluation.agreement import Estimate, wilson
from wfalens.evaluation.comparison import check_pair
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.results import Result
from wfalens.robustness.certify.change_effects import ChangeEffects
from wfalens.robustness.certify.edits import Choices, Edits, count_variants, in_words, some_picks, spelled
from wfalens.robustness.certify.induction import (
    Path,
    PathSearch,
    TextSteps,
    Values,
    backward_induction,
    interval_values,
)

CERTIFIED, BROKEN, OPEN = "certified", "broken", "open"
ROUNDING = 1e-9  # a bound so close to zero certifies nothing


@dataclass(frozen=True)
class Certificate:
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
    picks: Path  # the options that make the worst variant

    def row(self) -> dict[str, Any]:
        row = {**asdict(self), "text": " ".join(self.words), "witness": " ".join(self.witness)}
        return {name: row[name] for name in ("text", *row) if name not in ("words", "picks")}

    def sentence(self) -> str:
        text = f"{self.status}: {' '.join(self.words)} ({self.label}"
        if self.status == CERTIFIED:
            return f"{text}, at least {self.lowest:.2f} by the automaton on all {self.variants:,} variants)"
        marked = [word if word in self.words else f"[[{word}]]" for word in self.witness]
        return f"{text}) --> {' '.join(marked)} ({self.witness_label or 'undecided'})"


class Certificates(Result):
    """What results with one certificate per text share."""

    statuses: tuple[str, ...] = (CERTIFIED, BROKEN, OPEN)
    proofs: tuple[str, ...] = (CERTIFIED,)  # statuses that hold for all variants
    certificates: tuple[Any, ...]
    of: str  # automaton or network
    undecided: int = 0  # texts without a class to certify
    left_out: int = 0  # replacements that the certificates do not cover: the automaton does not know the words

    def with_status(self, status: str) -> list[Any]:
        """The certificates of one status."""
        return [each for each in self.certificates if each.status == status]

    def share(self, status: str | None = None) -> Estimate:
        """The share of the texts with a status (by default: certified), with its interval."""
        return wilson(len(self.with_status(status or self.statuses[0])), len(self.certificates))

    @property
    def certified(self) -> Estimate:
        """The share of the texts that are certified."""
        return self.share()

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
        return {**about, "texts": list(self.rows())}

    def examples(self, most: int) -> list[str]:
        """A sentence about some texts of each status; every proof says that replacements were left out."""
        limits = f" ({self.left_out:,} replacements left out)" if self.left_out else ""
        return [
            each.sentence() + (limits if status in self.proofs else "")
            for status in self.statuses
            for each in self.with_status(status)[:most]
        ]


@dataclass(frozen=True)
class Trial:
    """Variants of one text, read by the automaton and by the model where there is one."""

    variants: int
    exhaustive: bool  # all there are; else as many at random, and the greedy ones
    automaton_changed: int  # variants to which the automaton gives another class
    model_agrees: bool | None  # whether the model gives the text the automaton's class to begin with
    model_changed: int | None  # variants to which the model gives another class than to the text


@dataclass(frozen=True)
class ModelStability:
    """How often the model keeps its class, over texts of one status on which it agrees with the automaton."""

    texts: int
    never_changed: Estimate | None  # share of the texts on which no variant changed the model's class
    variants_kept: float | None  # share of the variants

    @classmethod
    def of(cls, trials: list[Trial]) -> ModelStability:
        agreeing = [trial for trial in trials if trial.model_agrees]
        changed = [trial.model_changed or 0 for trial in agreeing]
        if not agreeing:
            return cls(0, None, None)
        tried = sum(trial.variants + 1 for trial in agreeing)
        unchanged = wilson(sum(number == 0 for number in changed), len(changed))
        return cls(len(agreeing), unchanged, 1 - sum(changed) / tried)


@dataclass(frozen=True)
class TrialTotals:
    """Certified texts tried on the automaton, and all texts on the model."""

    violations: int  # certified texts that a variant changed on the automaton: there can be none
    tried: int  # variants of certified texts
    exhaustive: int  # certified texts of which all variants were tried
    model: dict[str, ModelStability] | None  # by status


@dataclass(frozen=True, eq=False, repr=False)
class Robustness(Certificates):
    """One certificate and one trial per text, on the automaton."""

    certificates: tuple[Certificate, ...]
    trials: tuple[Trial, ...]
    undecided: int = 0
    left_out: int = 0
    of: str = "automaton"

    @cached_property
    def totals(self) -> TrialTotals:
        certified = self._trials(CERTIFIED)
        asked = all(trial.model_changed is not None for trial in self.trials)
        return TrialTotals(
            violations=sum(trial.automaton_changed > 0 for trial in certified),
            tried=sum(trial.variants for trial in certified),
            exhaustive=sum(trial.exhaustive for trial in certified),
            model={status: ModelStability.of(self._trials(status)) for status in self.statuses} if asked else None,
        )

    def _trials(self, status: str) -> list[Trial]:
        pairs = zip(self.certificates, self.trials, strict=True)
        return [trial for certificate, trial in pairs if certificate.status == status]

    def rows(self) -> Iterator[dict[str, Any]]:
        for certificate, trial in zip(self.certificates, self.trials, strict=True):
            yield certificate.row() | {f"trial_{name}": value for name, value in asdict(trial).items()}

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"totals": asdict(self.totals)}

    def summary(self) -> str:
        total = self.totals
        lines = [super().summary()]
        lines.append(
            f"tried {total.tried:,} variants of the certified texts (all of them on {total.exhaustive:,}): "
            f"the automaton changed its class on {total.violations}"
        )
        for status, kept in (total.model or {}).items():
            if kept.never_changed is not None:
                lines.append(
                    f"{status}: where the model agrees ({kept.texts:,} texts), no variant changed its class on "
                    f"{kept.never_changed:.3f}; it kept its class on {kept.variants_kept:.4f} of the variants"
                )
        return "\n".join(lines)


def certify(wfa: WFA, text: str, edits: Edits, *, changes: int | None = None, effort: int = 0) -> Certificate:
    """Whether any change changes the class that the automaton gives to a text.

    Args:
        wfa: the automaton.
        text: whose class is to be proven.
        edits: what may be changed.
        changes: how many at most (None: any number).
        effort: prefixes that best-first search may expand where the bound alone does not decide.

    Examples:
        >>> from wfalens.robustness import Edits, Substitutes, certify
        >>> edits = Edits(Substitutes.of(wfa, {"good": ["bad"]}))
        >>> certify(wfa, "a good film", edits).status
        'broken'
    """
    words = wfa.encoder.tokens(text)
    if not words:
        raise InputError("the text has no words", code="no-words")
    choices = edits.choices(wfa.encoder.vocabulary.encode([words]).values)
    return certify_choices(wfa, words, choices, changes=changes, effort=effort)


def certify_choices(
    wfa: WFA, words: list[str], choices: Choices, *, changes: int | None = None, effort: int = 0
) -> Certificate:
    """The same for given choices; `words` are the words of the text."""
    if changes is not None and changes < 0:
        raise InputError(f"the number of changes must be at least 0, not {changes}", code="option-value")
    label = _decision(wfa, choices, (0,) * len(choices))
    if label == UNDECIDED:
        raise InputError(
            "the automaton is undecided on this text: there is no class to certify", code="automaton-undecided"
        )
    steps = TextSteps(wfa, choices)
    values = _values(steps, label, changes)
    bounds = wfa.initial @ values[0][-1]
    search = PathSearch(steps, values, wfa.initial, changes=changes)
    rival = int(bounds[:-1].argmax())
    bound, (reached, path) = float(bounds[rival]), search.greedy(rival)
    if bound >= -ROUNDING and effort:
        bound, reached, path = _refined(search, bounds[:-1], reached, path, effort)
    decision = _decision(wfa, choices, path)
    status = CERTIFIED if bound < -ROUNDING else BROKEN if decision != label else OPEN
    return Certificate(
        tuple(words),
        wfa.class_names[label],
        status,
        bound,
        reached,
        float(-bounds[-1]) if isinstance(wfa, StochasticWFA) else float(1 / (1 + np.exp(bounds[:-1]).sum())),
        in_words(words, choices, path, wfa.encoder.vocabulary.words),
        None if decision == UNDECIDED else wfa.class_names[decision],
        count_variants(choices, changes),
        path,
    )


def certify_texts(
    wfa: WFA,
    texts: Sequence[str],
    edits: Edits,
    *,
    model: PrefixClassifier | None = None,
    changes: int | None = None,
    effort: int = 0,
    samples: int = 200,
    seed: int = 0,
) -> Robustness:
    """Certify texts, and try each certificate: all variants if there are at most `samples`, else that many at random.

    Beside random ones, the greedy variants for every other class are tried, and always the worst that the search found.
    changes, effort: see `certify`.
    """
    if model is not None:
        check_pair(wfa, model)
    tokens = nonempty_tokens(wfa, texts)
    ids = wfa.encoder.vocabulary.encode(tokens)
    decided = np.flatnonzero(wfa.decide(wfa.weights(ids)) != UNDECIDED)
    if len(decided) == 0:
        raise InputError(
            "the automaton is undecided on all of the texts: there is no class to certify", code="automaton-undecided"
        )
    rng = np.random.default_rng(seed)
    certificates, trials = [], []
    progress.start("certifying", len(decided))
    for at in decided.tolist():
        choices = edits.choices(ids[at])
        certificate = certify_choices(wfa, tokens[at], choices, changes=changes, effort=effort)
        certificates.append(certificate)
        trials.append(_try(wfa, model, certificate, choices, samples, rng, changes))
        progress.advance(1, certificate.status)
    progress.finish()
    undecided = len(tokens) - len(decided)
    return Robustness(tuple(certificates), tuple(trials), undecided, edits.substitutes.left_out)


def nonempty_tokens(wfa: WFA, texts: Sequence[str]) -> list[list[str]]:
    """The words of the texts that have any; refused if none has."""
    tokens = [words for words in map(wfa.encoder.tokens, texts) if words]
    if not tokens:
        raise InputError("there is no text with a word in it", code="no-words")
    return tokens


def _decision(wfa: WFA, choices: Choices, path: Path) -> int:
    return int(wfa.decide(wfa.weights(spelled(choices, np.array([path], np.int16))))[0])


def _values(steps: TextSteps, label: int, changes: int | None) -> Values:
    """Of the advantages of all other classes, and last of the loss of the predicted one; L + 1 × (levels, n, C)"""
    wfa = steps.wfa
    scores = wfa.read_out(np.eye(wfa.states))
    final = np.hstack([np.delete(scores, label, 1) - scores[:, [label]], -scores[:, [label]]])
    if isinstance(wfa, StochasticWFA):
        return backward_induction(steps, final, changes)
    return interval_values(steps, wfa.initial, final, changes)


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


def _try(
    wfa: WFA,
    model: PrefixClassifier | None,
    certificate: Certificate,
    choices: Choices,
    samples: int,
    rng: np.random.Generator,
    changes: int | None,
) -> Trial:
    label = wfa.class_names.index(certificate.label)
    picks, exhaustive = some_picks(choices, samples, rng, changes)
    greedy = [] if exhaustive else [ChangeEffects.of(wfa, choices, label).greedy(changes)]
    rows = np.vstack([np.zeros(len(choices), np.int16), np.array(certificate.picks, np.int16), *greedy, picks])
    texts = spelled(choices, rows)
    decisions = wfa.decide(wfa.weights(texts))
    classes: NDArray[np.int64] | None = None if model is None else final_outputs(model, texts).argmax(1)
    return Trial(
        len(rows) - 2,
        exhaustive,
        int(np.sum(decisions != label)),
        None if classes is None else bool(classes[0] == label),
        None if classes is None else int(np.sum(classes[1:] != classes[0])),
    )
