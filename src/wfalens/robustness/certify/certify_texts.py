"""Certificates of many texts, tested on the automaton and on its model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.wfa import UNDECIDED, WFA
from wfalens.errors import InputError
from wfalens.evaluation.agreement import Estimate, wilson
from wfalens.evaluation.comparison import check_pair
from wfalens.html import table_html
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.robustness.certify.certificate import BROKEN, CERTIFIED, OPEN, Certificate, certify_choices
from wfalens.robustness.certify.danger import Danger
from wfalens.robustness.certify.edits import Choices, Edits, some_picks, spelled

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Trial:
    """Variants of one text, read by the automaton and by the model where there is one."""

    variants: int
    exhaustive: bool  # all there are; else as many at random, and the greedy ones
    automaton_changed: int  # variants to which the automaton gives another class
    model_agrees: bool | None  # whether the model gives the text the automaton's class to begin with
    model_changed: int | None  # variants to which the model gives another class than to the text


@dataclass(frozen=True)
class Kept:
    """How often the model keeps its class, over texts of one status on which it agrees with the automaton."""

    texts: int
    never_changed: Estimate | None  # share of the texts on which no variant changed the model's class
    variants_kept: float | None  # share of the variants


@dataclass(frozen=True)
class RobustnessSummary:
    texts: int
    certified: int
    broken: int
    open: int
    share_certified: Estimate
    violations: int  # certified texts that a variant changed on the automaton: there can be none
    tried: int  # variants of certified texts
    exhaustive: int  # certified texts of which all variants were tried
    model: dict[str, Kept] | None  # by status


@dataclass(frozen=True, eq=False)
class Robustness:
    """One certificate and one trial per text."""

    certificates: tuple[Certificate, ...]
    trials: tuple[Trial, ...]
    undecided: int  # texts without a class to certify
    left_out: int = 0  # replacements of which the certificates do not speak

    @cached_property
    def summary(self) -> RobustnessSummary:
        count = {
            status: sum(each.status == status for each in self.certificates) for status in (CERTIFIED, BROKEN, OPEN)
        }
        certified = self._trials(CERTIFIED)
        return RobustnessSummary(
            texts=len(self.certificates),
            certified=count[CERTIFIED],
            broken=count[BROKEN],
            open=count[OPEN],
            share_certified=wilson(count[CERTIFIED], len(self.certificates)),
            violations=sum(trial.automaton_changed > 0 for trial in certified),
            tried=sum(trial.variants for trial in certified),
            exhaustive=sum(trial.exhaustive for trial in certified),
            model=None
            if any(trial.model_changed is None for trial in self.trials)
            else {status: _kept(self._trials(status)) for status in (CERTIFIED, BROKEN, OPEN)},
        )

    def _trials(self, status: str) -> list[Trial]:
        pairs = zip(self.certificates, self.trials, strict=True)
        return [trial for certificate, trial in pairs if certificate.status == status]

    def to_json(self) -> dict[str, Any]:
        texts = [
            {**certificate.to_json(), "trial": asdict(trial)}
            for certificate, trial in zip(self.certificates, self.trials, strict=True)
        ]
        return {"summary": asdict(self.summary), "undecided": self.undecided, "left_out": self.left_out, "texts": texts}

    def to_dataframe(self) -> pd.DataFrame:
        import pandas as pd

        pairs = zip(self.certificates, self.trials, strict=True)
        return pd.DataFrame([{**certificate.to_json(), **asdict(trial)} for certificate, trial in pairs])

    def to_html(self) -> str:
        rows = [
            [
                each.status,
                each.label,
                f"{each.bound:+.3f}",
                f"{each.reached:+.3f}",
                " ".join(each.words),
                " ".join(each.witness),
            ]
            for each in self.certificates
        ]
        title = "Certificates on the automaton" + without(self.left_out)
        return table_html(title, ["status", "class", "bound", "reached", "text", "worst variant found"], rows)

    def _repr_html_(self) -> str:
        return self.to_html()


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
    tokens = worded(wfa, texts)
    ids = wfa.encoder.vocabulary.encode(tokens)
    decided = np.flatnonzero(wfa.predict_indices(ids) != UNDECIDED)
    if len(decided) == 0:
        raise InputError("the automaton is undecided on all of the texts: there is no class to certify")
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


def without(left_out: int) -> str:
    """What a certificate adds where it does not speak of some replacements."""
    return f" ({left_out:,} replacements left out)" if left_out else ""


def worded(wfa: WFA, texts: Sequence[str]) -> list[list[str]]:
    """The words of the texts that have any; refused if none has."""
    tokens = [words for words in map(wfa.encoder.tokens, texts) if words]
    if not tokens:
        raise InputError("there is no text with a word in it")
    return tokens


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
    greedy = [] if exhaustive else [Danger.of(wfa, choices, label).greedy(changes)]
    rows = np.vstack([np.zeros(len(choices), np.int16), np.array(certificate.picks, np.int16), *greedy, picks])
    texts = spelled(choices, rows)
    decisions = wfa.decide(wfa.weights(texts))
    said: NDArray[np.int64] | None = None if model is None else final_outputs(model, texts).argmax(1)
    return Trial(
        len(rows) - 2,
        exhaustive,
        int(np.sum(decisions != label)),
        None if said is None else bool(said[0] == label),
        None if said is None else int(np.sum(said[1:] != said[0])),
    )


def _kept(trials: list[Trial]) -> Kept:
    agreeing = [trial for trial in trials if trial.model_agrees]
    changed = [trial.model_changed or 0 for trial in agreeing]
    if not agreeing:
        return Kept(0, None, None)
    tried = sum(trial.variants + 1 for trial in agreeing)
    return Kept(len(agreeing), wilson(sum(number == 0 for number in changed), len(changed)), 1 - sum(changed) / tried)
