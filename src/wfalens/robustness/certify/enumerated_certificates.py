"""Proofs by reading all variants of a text, those most likely to break it first: about the network itself.

The automaton gives what each single change does to its class weights, exactly and without queries. Variants go to
the network in the order that follows, in growing batches with shared beginnings, so that a break is found early. What
the network answers corrects the order of the rest. If every variant keeps the class, that is proven of the network.
Where there are more variants than the budget allows, the likeliest to break it are tried, and a proof may still hold on
the automaton. Of texts of characters, every text within a few edits is read, by the automaton or by the network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.comparison import check_pair
from wfalens.messages import visible
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.ragged import Ragged
from wfalens.robustness.certify.certificate import (
    CERTIFIED,
    Certificates,
    TextCertificate,
    certify_choices,
    class_of,
    decided_texts,
    nonempty_tokens,
)
from wfalens.robustness.certify.certify_options import BUDGET, CHANGES
from wfalens.robustness.certify.edits import (
    Choices,
    Edits,
    Picks,
    count_variants,
    every_pick,
    in_words,
    random_picks,
    spelled,
)
from wfalens.robustness.certify.induction import ChangeEffects
from wfalens.text.character_edits import edited_texts
from wfalens.validation import Bounds, whole

STATUSES = PROVEN, BROKEN, COPY_ONLY, OPEN = ("proven", "broken", "proven on the automaton", "open")
_BUDGETS = Bounds(whole, 2, 10**9)
_CHANGES, _EDIT_BUDGET = Bounds(whole, 1, 100), Bounds(whole, 2, 1 << 40)
Reader = Callable[[Ragged[np.int32]], NDArray[np.float64]]  # ids -> (texts, classes)
_MOST = 4096  # variants asked at a time
_CLOSE = 1e-5  # a margin so narrow may be rounding: the text is read again by itself
_BEAM = 64  # single changes that are combined where there are too many variants
_EFFORT = 1000


@dataclass(frozen=True)
class NetworkCertificate(TextCertificate):
    """What is known of one perturbed text, about the network."""

    words: tuple[str, ...]
    label: str  # the network's class
    status: str  # proven, broken, proven on the automaton (and tried on the network), or open
    variants: int
    tried: int  # variants other than the text itself that the network has read
    margin: float  # the least advantage of the class over all others among them
    witness: tuple[str, ...] | None  # the text that breaks it
    witness_label: str | None

    @property
    def conclusion(self) -> str:
        """The status as a sentence about the network."""
        if self.status == PROVEN:
            return f"proven on the network: all {self.variants:,} variants are {self.label}"
        if self.status == BROKEN:
            return f"broken: {' '.join(self.witness or ())!r} is {self.witness_label}"
        if self.status == COPY_ONLY:
            return f"proven on the automaton, tried on {self.tried:,} variants of the network"
        return f"open: tried on {self.tried:,} of {self.variants:,} variants of the network, none broke it"

    def sentence(self) -> str:
        return f"{' '.join(self.words)} ({self.label}): {self.conclusion}"

    def row(self) -> dict[str, Any]:
        return {**super().row(), "conclusion": self.conclusion}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class NetworkRobustness(Certificates):
    """One certificate per text, about the network."""

    of: str = "network"
    statuses = STATUSES
    proofs = (PROVEN, COPY_ONLY)
    computed = ("unchangeable", "queries", "queries_broken")

    @property
    def unchangeable(self) -> int:
        """Texts that no allowed change changes: proven by themselves."""
        return sum(each.variants == 1 for each in self.certificates)

    @property
    def queries(self) -> float:
        """Variants that the network read, mean over the texts."""
        return float(np.mean([each.tried for each in self.certificates]))

    @property
    def queries_broken(self) -> float | None:
        """The same over broken texts."""
        broken = [each.tried for each in self.with_status(BROKEN)]
        return float(np.mean(broken)) if broken else None

    def summary(self) -> str:
        lines = [super().summary(), f"the network read {self.queries:,.0f} variants per text"]
        if self.queries_broken is not None:
            lines.append(f"a text of another class was found after {self.queries_broken:,.0f}")
        if self.unchangeable:
            lines.append(f"{self.unchangeable:,} texts have no word that may change: they count as proven")
        return "\n".join(lines)


def certify_network(
    wfa: WFA,
    model: PrefixClassifier,
    texts: Sequence[str],
    edits: Edits,
    *,
    changes: int | None = 1,
    budget: int = BUDGET,
    guided: bool = True,
    seed: int = 0,
) -> NetworkRobustness:
    """Prove of the network that no allowed change changes the class of a text, or find one that does.

    Args:
        wfa: its automaton, which orders what is tried.
        model: the network.
        texts: whose classes are to be proven.
        edits: what may be changed.
        changes: how many at most (None: any number).
        budget: variants of a text that the network may read at most.
        guided: ask in the order of the automaton; else variants with few changes first.
        seed: of random draws.

    Examples:
        >>> from wfalens.robustness import Edits, Substitutes, certify_network
        >>> edits = Edits(Substitutes.of(wfa, {"film": ["a"]}))
        >>> certify_network(wfa, model, ["a good film"], edits).certified.value
        1.0
    """
    check_pair(wfa, model)
    budget = _BUDGETS.checked("the budget", budget)
    CHANGES.checked("changes", changes)
    tokens = nonempty_tokens(wfa, texts)
    rng = np.random.default_rng(seed)
    found = []
    for words in progress.track(tokens, "certifying the network"):
        choices = edits.choices(wfa.encoder.encode_tokens([words]).values)
        found.append(network_certificate(wfa, model, words, choices, changes, budget, rng, guided=guided))
    return NetworkRobustness(certificates=tuple(found), left_out=edits.substitutes.left_out)


def network_certificate(
    wfa: WFA,
    model: PrefixClassifier,
    words: list[str],
    choices: Choices,
    changes: int | None,
    budget: int,
    rng: np.random.Generator,
    *,
    guided: bool = True,
) -> NetworkCertificate:
    """What the network does with given choices; `words` are the words of the text."""
    output = final_outputs(model, spelled(choices, np.zeros((1, len(choices)), np.int16)))
    label, variants = int(output[0].argmax()), count_variants(choices, changes)
    effects = ChangeEffects.of(wfa, choices, label, output[0])
    if variants <= budget:
        picks = every_pick(choices, changes)[1:]
    else:
        picks = _likeliest(choices, effects, budget - 1, changes, rng)
    tried, margin, breaking = 0, float(_margin(output, label)[0]), None
    while tried < len(picks) and breaking is None:
        if guided:
            picks = np.vstack([picks[:tried], effects.ordered(picks[tried:])])
        size = min(tried + 1, _MOST)  # it doubles: a break that comes early costs few queries, a proof few calls
        batch = picks[tried : tried + size]
        outputs, margins = _queried(model, choices, batch, label)
        tried, margin = tried + len(batch), min(margin, float(margins.min()))
        effects = effects.updated(batch, outputs) if guided else effects
        if margins.min() <= 0:
            breaking = batch[[int(margins.argmin())]]
    witness, witness_label, status = None, None, PROVEN if variants <= budget else OPEN
    if breaking is not None:
        status, witness = BROKEN, in_words(words, choices, breaking[0].tolist(), wfa.encoder.vocabulary.words)
        witness_label = wfa.class_names[int(final_outputs(model, spelled(choices, breaking))[0].argmax())]
    elif status == OPEN and class_of(wfa, choices) == label:
        copy = certify_choices(wfa, words, choices, changes=changes, effort=_EFFORT)
        status = COPY_ONLY if copy.status == CERTIFIED else OPEN
    return NetworkCertificate(
        tuple(words), wfa.class_names[label], status, variants, tried, margin, witness, witness_label
    )


def _likeliest(
    choices: Choices, effects: ChangeEffects, number: int, changes: int | None, rng: np.random.Generator
) -> Picks:
    """Variants to try where there are too many: combine changes with large effects, then random ones."""
    length = len(choices)
    singles = every_pick(choices, 1)[1:]
    first = effects.ordered(singles)[:_BEAM]
    rows = [*first, *effects.greedy(changes)]
    if changes is None or changes > 1:
        pairs = (np.where(one > 0, one, other) for one, other in product(first, repeat=2))
        rows += [pair for pair in pairs if np.count_nonzero(pair) > 1]
    drawn = random_picks(choices, max(0, number - len(rows)), rng, changes)
    picks = np.unique(np.vstack([np.array(rows, np.int16).reshape(-1, length), drawn]), axis=0)
    return effects.ordered(picks[picks.any(1)])[:number]


def _queried(
    model: PrefixClassifier, choices: Choices, picks: Picks, label: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The network's outputs on variants, and the margins of the class; what is close to zero is read by itself.

    -> (variants, C), (variants,)
    """
    texts = spelled(choices, picks)
    outputs = final_outputs(model, texts)
    margins = _margin(outputs, label)
    for at in np.flatnonzero(np.abs(margins) < _CLOSE):
        margins[at] = _margin(final_outputs(model, texts.take(np.array([at]))), label)[0]
    return outputs, margins


def _margin(outputs: NDArray[np.float64], label: int) -> NDArray[np.float64]:
    """The class' lead over the best other; 0 if a class before it is as likely, as then that one is chosen."""
    others = np.delete(outputs, label, axis=1)
    lead = outputs[:, label] - others.max(1)
    return np.asarray(np.where((lead == 0) & (outputs.argmax(1) == label), np.finfo(float).tiny, lead))


@dataclass(frozen=True)
class EditCertificate(TextCertificate):
    """certified: no text within the edits is of another class; broken: `witness` is; open: the budget ended before."""

    text: str
    label: str
    status: str
    read: int  # texts within the edits that were read
    lowest: float  # the lowest probability of the class among them
    witness: str | None  # a text of another class
    witness_label: str | None

    def sentence(self) -> str:
        start = f"{self.status}: {visible(self.text)} ({self.label}"
        if self.witness is not None:
            return f"{start}) --> {visible(self.witness)} ({self.witness_label})"
        return f"{start}, at least {self.lowest:.2f} on the {self.read:,} texts that were read)"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EditRobustness(Certificates):
    """Certificates of texts with at most `changes` edits of characters, of the automaton or of the network."""

    changes: int
    computed = ("changes",)

    @property
    def title(self) -> str:
        edits = f"{self.changes} edit{'s' if self.changes > 1 else ''} of characters"
        return f"Certificates of {len(self.certificates):,} texts under {edits}, on the {self.of}"


def certify_edits(
    wfa: WFA,
    texts: Sequence[str],
    *,
    model: PrefixClassifier | None = None,
    changes: int = 1,
    budget: int = 20_000,
) -> EditRobustness:
    """Read every text within `changes` edits of each text: by the network if `model` is given, else by the automaton.

    budget  texts that are read for each of them at most; of too many, those that the automaton doubts most
    """
    changes, budget = _CHANGES.checked("changes", changes), _EDIT_BUDGET.checked("budget", budget)
    check_pair(wfa, model)
    read: Reader = wfa.predict_proba if model is None else lambda ids: final_outputs(model, ids)
    worded = [text for text in texts if wfa.encoder.tokens(text)]
    if not worded:
        raise InputError("there is no text with a character in it", code="no-words")
    of, decided = ("automaton", decided_texts(wfa, worded)) if model is None else ("network", np.arange(len(worded)))
    tracked = progress.track(decided.tolist(), "certifying")
    certificates = tuple(_read_edits(wfa, read, worded[at], changes, budget) for at in tracked)
    return EditRobustness(certificates=certificates, of=of, changes=changes, undecided=len(worded) - len(decided))


def _read_edits(wfa: WFA, read: Reader, text: str, changes: int, budget: int) -> EditCertificate:
    """Breadth first: all texts at one edit, then those at one edit from them, the weakest first."""
    own = read(wfa.ids([text]))[0]
    label, lowest, count = int(own.argmax()), float(own.max()), 0
    seen, front, complete = {tuple(wfa.ids([text]).values.tolist())}, [text], True
    for _ in range(changes):
        reached: list[tuple[float, str]] = []
        for origin in front:
            found = edited_texts(wfa.encoder, origin)
            keys = [tuple(ids.tolist()) for ids in found.ids]
            fresh = [at for at, key in enumerate(keys) if key not in seen]
            seen.update(keys)
            if len(fresh) > budget - count:
                doubt = wfa.predict_proba(found.ids.take(np.array(fresh)))[:, label]
                fresh = [fresh[at] for at in np.argsort(doubt, kind="stable")[: budget - count]]
                complete = False
            if not fresh:
                continue
            outputs = read(found.ids.take(np.array(fresh)))
            count += len(fresh)
            lowest = min(lowest, float(outputs[:, label].min()))
            broken = np.flatnonzero(outputs.argmax(1) != label)
            if len(broken):
                at = int(broken[outputs[broken, label].argmin()])
                witness, to = found.edits[fresh[at]].text, wfa.class_names[int(outputs[at].argmax())]
                return EditCertificate(text, wfa.class_names[label], BROKEN, count, lowest, witness, to)
            reached += zip(outputs[:, label].tolist(), (found.edits[at].text for at in fresh), strict=True)
        front = [each for _, each in sorted(reached)]
    return EditCertificate(text, wfa.class_names[label], CERTIFIED if complete else OPEN, count, lowest, None, None)
