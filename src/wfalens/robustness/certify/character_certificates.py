"""Certificates of texts of characters: every text within a few edits is read, by the automaton or by the network.

There is no bound that covers them all at once, so a proof is an enumeration: complete within the budget, or open.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.wfa import UNDECIDED, WFA
from wfalens.errors import InputError
from wfalens.evaluation.comparison import check_pair
from wfalens.messages import visible
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.ragged import Ragged
from wfalens.robustness.certify.certificate import BROKEN, CERTIFIED, OPEN, Certificates
from wfalens.text.character_edits import KINDS, edited_texts
from wfalens.validation import Bounds, whole

_CHANGES, _BUDGET = Bounds(whole, 1, 100), Bounds(whole, 2, 1 << 40)
Reader = Callable[[Ragged[np.int32]], NDArray[np.float64]]  # ids -> (texts, classes)


@dataclass(frozen=True)
class EditCertificate:
    """certified: no text within the edits is of another class; broken: `witness` is; open: the budget ended before."""

    text: str
    label: str
    status: str
    read: int  # texts within the edits that were read
    lowest: float  # the lowest probability of the class among them
    witness: str | None  # a text of another class
    witness_label: str | None

    def row(self) -> dict[str, Any]:
        return asdict(self)

    def sentence(self) -> str:
        start = f"{self.status}: {visible(self.text)} ({self.label}"
        if self.witness is not None:
            return f"{start}) --> {visible(self.witness)} ({self.witness_label})"
        return f"{start}, at least {self.lowest:.2f} on the {self.read:,} texts that were read)"


@dataclass(frozen=True, eq=False, repr=False)
class EditRobustness(Certificates):
    """Certificates of texts with at most `changes` edits of characters, of the automaton or of the network."""

    of: str
    changes: int
    certificates: tuple[EditCertificate, ...]
    undecided: int = 0

    @property
    def title(self) -> str:
        edits = f"{self.changes} edit{'s' if self.changes > 1 else ''} of characters"
        return f"Certificates of {len(self.certificates):,} texts under {edits}, on the {self.of}"

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"changes": self.changes}


def certify_edits(
    wfa: WFA,
    texts: Sequence[str],
    *,
    model: PrefixClassifier | None = None,
    changes: int = 1,
    kinds: Collection[str] = KINDS,
    budget: int = 20_000,
) -> EditRobustness:
    """Read every text within `changes` edits of each text: by the network if `model` is given, else by the automaton.

    budget  texts that are read for each of them at most; of too many, those that the automaton doubts most
    """
    changes, budget = _CHANGES.checked("changes", changes), _BUDGET.checked("budget", budget)
    if model is not None:
        check_pair(wfa, model)
    read: Reader = wfa.predict_proba if model is None else lambda ids: final_outputs(model, ids)
    worded = [text for text in texts if wfa.encoder.tokens(text)]
    if not worded:
        raise InputError("there is no text with a character in it", code="no-words")
    decided = wfa.decide(wfa.weights(worded)) != UNDECIDED if model is None else np.ones(len(worded), bool)
    certificates = []
    progress.start("certifying", int(decided.sum()))
    for text, sure in zip(worded, decided, strict=True):
        if sure:
            certificates.append(_certified(wfa, read, text, changes, kinds, budget))
            progress.advance(1, certificates[-1].status)
    progress.finish()
    if not certificates:
        raise InputError(
            "the automaton is undecided on all of the texts: there is no class to certify", code="automaton-undecided"
        )
    return EditRobustness(
        "automaton" if model is None else "network", changes, tuple(certificates), int((~decided).sum())
    )


def _certified(wfa: WFA, read: Reader, text: str, changes: int, kinds: Collection[str], budget: int) -> EditCertificate:
    """Breadth first: all texts at one edit, then those at one edit from them, the weakest first."""
    own = read(wfa.ids([text]))[0]
    label, lowest, count = int(own.argmax()), float(own.max()), 0
    seen, front, complete = {tuple(wfa.ids([text]).values.tolist())}, [text], True
    for _ in range(changes):
        reached: list[tuple[float, str]] = []
        for origin in front:
            found = edited_texts(wfa.encoder, origin, kinds)
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
