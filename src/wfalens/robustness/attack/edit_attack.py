"""Attacks on models that read characters: edits of the text, read anew, so that every example is a text.

Each round makes one edit: of all texts at one edit from the text as it stands, a few are tried on the model.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import last_outputs
from wfalens.ragged import Ragged, concatenate
from wfalens.robustness.attack.attack_search import TRIES
from wfalens.robustness.attack.outcome import FAILED, SKIPPED, SUCCEEDED, Example, Outcome
from wfalens.text.character_edits import KINDS, Edit, EditedTexts, edited_texts
from wfalens.text.corpus import Corpus
from wfalens.validation import check_choice

GUIDED, RANDOM_TRIES, GREEDY = EDIT_RECIPES = ("guided", "random-tries", "greedy")
_TEXTS_AT_ONCE = 64  # whose edits are held together


@dataclass
class _Target:
    """A text under attack as it stands now."""

    text: str
    label: int
    edits: list[Edit] = field(default_factory=list)
    queries: int = 0


class _Tried(NamedTuple):
    edit: Edit
    output: NDArray[np.float32]


def run_edit_attack(
    recipe: str,
    k: int,
    wfa: WFA,
    model: PrefixClassifier,
    corpus: Corpus,
    *,
    kinds: Collection[str] = KINDS,
    budget: int | None = None,
    seed: int = 0,
) -> Outcome:
    """Attack every text that the model classifies correctly by up to `k` edits of characters; others are skipped.

    recipe  guided: edits ranked by what the automaton makes of the edited text, five tries a round; random-tries: the
            control, as many random edits; greedy: every edit tried on the model
    budget  queries of the model for each text at most
    """
    check_choice("recipe", recipe, EDIT_RECIPES)
    corpus = corpus.relabelled(model.class_names)
    if corpus.labels is None:
        raise InputError(f"{corpus.name} has no labels; an attack needs to know the true classes")
    worded, ids = model.encoder.encode(corpus.texts).nonempty()
    if len(worded) == 0:
        raise InputError(f"{corpus.name}: there is no text with a character in it")
    attack = _EditAttack(recipe, k, wfa, model, kinds, budget, np.random.default_rng(seed))
    examples: list[Example] = []
    progress.start(f"attacking ({recipe}, k = {k})", len(worded))
    for start in range(0, len(worded), _TEXTS_AT_ONCE):
        here = worded[start : start + _TEXTS_AT_ONCE]
        targets = [_Target(corpus.texts[at], int(corpus.labels[at])) for at in here]
        examples += attack.run(targets, ids.take(np.arange(start, start + len(here))))
        progress.advance(len(here))
    progress.finish()
    return Outcome(recipe, k, tuple(examples))


@dataclass(frozen=True, eq=False)
class _EditAttack:
    recipe: str
    k: int
    wfa: WFA
    model: PrefixClassifier
    kinds: Collection[str]
    budget: int | None
    rng: np.random.Generator

    def run(self, targets: list[_Target], ids: Ragged[np.int32]) -> list[Example]:
        """Attack texts side by side, so that automaton and model read in batches."""
        before = last_outputs(self.model, ids)
        after, originals = before.copy(), [target.text for target in targets]
        correct = [at for at, target in enumerate(targets) if before[at].argmax() == target.label]
        standing = correct
        for _ in range(self.k):
            still = []
            for at, tried in zip(standing, self._round([targets[at] for at in standing]), strict=True):
                if tried is None:
                    continue
                targets[at].text = tried.edit.text
                targets[at].edits.append(tried.edit)
                after[at] = tried.output
                if tried.output.argmax() == targets[at].label:
                    still.append(at)
            standing = still
        return [
            self._example(original, target, before[at], after[at], at in correct)
            for at, (original, target) in enumerate(zip(originals, targets, strict=True))
        ]

    def _round(self, targets: list[_Target]) -> list[_Tried | None]:
        """The edit of each text that fells it, else the one that hurts most; None where there is none to try."""
        edited = [edited_texts(self.model.encoder, target.text, self.kinds) for target in targets]
        orders = self._orders(edited, targets)
        chosen = [each.ids.take(order) for each, order in zip(edited, orders, strict=True)]
        if not any(map(len, chosen)):
            return [None] * len(targets)
        said = last_outputs(self.model, concatenate([part for part in chosen if len(part)]))
        found: list[_Tried | None] = []
        first = 0
        for target, each, order in zip(targets, edited, orders, strict=True):
            outputs = said[first : first + len(order)]
            first += len(order)
            found.append(_kept(target, each, order, outputs) if len(order) else None)
        return found

    def _orders(self, edited: list[EditedTexts], targets: list[_Target]) -> list[NDArray[np.int64]]:
        """The edits of each text that are tried, in their order."""
        tries = None if self.recipe == GREEDY else TRIES
        most = [None if self.budget is None else self.budget - target.queries for target in targets]
        if self.recipe == RANDOM_TRIES:
            orders = [self.rng.permutation(len(each)) for each in edited]
        else:
            orders = [self._ranked(each, target) for each, target in zip(edited, targets, strict=True)]
        return [order[:tries][:left] for order, left in zip(orders, most, strict=True)]

    def _ranked(self, edited: EditedTexts, target: _Target) -> NDArray[np.int64]:
        """By the probability of the true class that the automaton expects, lowest first."""
        if len(edited) == 0:
            return np.zeros(0, np.int64)
        return np.argsort(self.wfa.predict_proba(edited.ids)[:, target.label], kind="stable")

    def _example(
        self,
        original: str,
        target: _Target,
        before: NDArray[np.float32],
        after: NDArray[np.float32],
        attacked: bool,
    ) -> Example:
        names = self.model.class_names
        return Example(
            SKIPPED if not attacked else FAILED if after.argmax() == target.label else SUCCEEDED,
            tuple(original),
            tuple(target.text),
            tuple(sorted({edit.position for edit in target.edits})),
            names[target.label],
            names[int(before.argmax())],
            float(before.max()),
            names[int(after.argmax())],
            float(after.max()),
            target.queries,
            blank="",
        )


def _kept(target: _Target, edited: EditedTexts, order: NDArray[np.int64], outputs: NDArray[np.float32]) -> _Tried:
    """What trying edits in turn ends with: the first that fells the text, else the one that hurts most."""
    fells = np.flatnonzero(outputs.argmax(1) != target.label)
    at = int(fells[0]) if len(fells) else int(outputs[:, target.label].argmin())
    target.queries += int(fells[0]) + 1 if len(fells) else len(order)
    return _Tried(edited.edits[int(order[at])], outputs[at])
