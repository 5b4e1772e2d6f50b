"""Running attacks against a model: replacements of words, or edits of characters, over batches of texts."""

from __future__ import annotations

from collections.abc import Callable, Collection
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
from wfalens.robustness.attack.attack_result import FAILED, SKIPPED, SUCCEEDED, Example, RecipeResult
from wfalens.robustness.attack.recipes import TRIES, Change, Search, Target
from wfalens.scale.map_blocks import BlockTask, map_jobs
from wfalens.scale.run_config import RunConfig
from wfalens.text.character_edits import KINDS, Edit, EditedTexts, edited_texts
from wfalens.text.corpus import Corpus
from wfalens.validation import check_choice

_TEXTS_AT_ONCE = 512
GUIDED, RANDOM_TRIES, GREEDY = EDIT_RECIPES = ("guided", "random-tries", "greedy")
_EDITED_AT_ONCE = 64  # texts whose edits are held together


def run_attack(
    name: str,
    k: int,
    search: Search,
    model: PrefixClassifier,
    corpus: Corpus,
    *,
    budget: int | None = None,
    seed: int = 0,
    run: RunConfig | None = None,
) -> RecipeResult:
    """Attack every text that the model classifies correctly by replacing words; the others are skipped.

    An attack succeeds when the model's class is no longer the true one. In each round the proposals are tried in
    batches over all texts that are still correct; the best one is kept for the next round. `budget` bounds
    the model queries per text. With a run, batches of texts run side by side; each batch draws its own
    random numbers, so that the result does not depend on the workers.
    """
    chosen = _prepare(model, corpus)
    batches = []
    for number, start in enumerate(range(0, len(chosen.texts), _TEXTS_AT_ONCE)):
        at = slice(start, start + _TEXTS_AT_ONCE)
        tokens = [tuple(model.encoder.tokens(text)) for text in chosen.texts[at]]
        ids = chosen.ids.take(np.arange(start, start + len(tokens)))
        batches.append(_Batch(number, ids, tokens, chosen.labels[at]))
    title, results = f"attacking ({name}, k = {k})", dict[int, list[Example]]()
    if run is None:
        progress.start(title, len(chosen.texts))
        for batch in batches:
            results[batch.number] = _attack_batch(search, model, batch, budget, seed)
            progress.advance(len(batch.tokens))
        progress.finish()
    else:
        work = BlockTask(
            title=title,
            task=_AttackTask(search, model, budget, seed),
            name=lambda batch: f"attacking texts of {corpus.name}, batch {batch.number + 1} of {len(batches)}",
        )
        results |= {batch.number: examples for batch, examples in map_jobs(work, batches, run)}
    return RecipeResult(name, k, tuple(example for number in sorted(results) for example in results[number]))


class _Chosen(NamedTuple):
    """The texts with a word in them, their ids and true classes."""

    texts: list[str]
    ids: Ragged[np.int32]
    labels: NDArray[np.int64]


def _prepare(model: PrefixClassifier, corpus: Corpus) -> _Chosen:
    corpus = corpus.relabelled(model.class_names)
    if corpus.labels is None:
        raise InputError(f"{corpus.name} has no labels; an attack needs to know the true classes", code="no-labels")
    worded, ids = model.encoder.encode(corpus.texts).nonempty()
    if len(worded) == 0:
        raise InputError(f"{corpus.name}: there is no text with a word in it", code="no-words")
    return _Chosen([corpus.texts[at] for at in worded], ids, corpus.labels[worded])


class _Batch(NamedTuple):
    """Texts that are attacked together."""

    number: int
    ids: Ragged[np.int32]
    tokens: list[tuple[str, ...]]
    labels: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _AttackTask:
    """Attacks batches of texts on a worker."""

    search: Search
    model: PrefixClassifier
    budget: int | None
    seed: int

    def prepare(self) -> Callable[[_Batch], list[Example]]:
        return lambda batch: _attack_batch(self.search, self.model, batch, self.budget, self.seed)


def _attack_batch(
    search: Search, model: PrefixClassifier, batch: _Batch, budget: int | None, seed: int
) -> list[Example]:
    ids, labels, rng = batch.ids, batch.labels, np.random.default_rng([seed, batch.number])
    before = last_outputs(model, ids)
    after = before.copy()
    targets = [Target(ids[at].copy(), int(labels[at])) for at in range(len(ids))]
    correct = before.argmax(1) == labels
    active = np.flatnonzero(correct).tolist()
    for _ in range(search.rounds):
        left = {at: (budget - targets[at].queries if budget is not None else None) for at in active}
        plans = {at: search.proposals(targets[at], rng)[: left[at]] for at in active}
        tried = _try(model, targets, plans)
        active = []
        for at, (changes, output) in tried.items():
            targets[at] = Target(
                targets[at].with_changes(changes),
                targets[at].label,
                tuple(sorted({*targets[at].changed, *(position for position, _ in changes)})),
                targets[at].queries,
            )
            after[at] = output
            if output.argmax() == labels[at]:
                active.append(at)
    words = model.encoder.vocabulary.words
    changed_texts = [
        tuple(words[target.ids[at]] if at in target.changed else token for at, token in enumerate(tokens))
        for target, tokens in zip(targets, batch.tokens, strict=True)
    ]
    return [
        _example(model, bool(correct[at]), (batch.tokens[at], changed_texts[at]), target, (before[at], after[at]))
        for at, target in enumerate(targets)
    ]


def _example(
    model: PrefixClassifier,
    correct: bool,
    texts: tuple[tuple[str, ...], tuple[str, ...]],
    target: Target | _EditTarget,
    outputs: tuple[NDArray[np.float32], NDArray[np.float32]],
    blank: str = " ",
) -> Example:
    """texts, outputs: before and after the attack"""
    names, (before, after) = model.class_names, outputs
    return Example(
        SKIPPED if not correct else FAILED if after.argmax() == target.label else SUCCEEDED,
        *texts,
        target.changed,
        names[target.label],
        names[int(before.argmax())],
        float(before.max()),
        names[int(after.argmax())],
        float(after.max()),
        target.queries,
        blank,
    )


def _try(
    model: PrefixClassifier, targets: list[Target], plans: dict[int, list[list[Change]]]
) -> dict[int, tuple[list[Change], NDArray[np.float32]]]:
    """Try proposals in turn, all texts side by side, until one changes the class; else keep the best one."""
    best: dict[int, tuple[list[Change], NDArray[np.float32]]] = {}
    succeeded: set[int] = set()
    for turn in range(max((len(plan) for plan in plans.values()), default=0)):
        asked = [at for at, plan in plans.items() if turn < len(plan) and at not in succeeded]
        if not asked:
            break
        texts = [targets[at].with_changes(plans[at][turn]) for at in asked]
        lengths = np.array([len(text) for text in texts])
        outputs = last_outputs(model, Ragged.from_lengths(np.concatenate(texts), lengths))
        for at, output in zip(asked, outputs, strict=True):
            label = targets[at].label
            targets[at].queries += 1
            if output.argmax() != label:
                succeeded.add(at)
            if at not in best or at in succeeded or output[label] < best[at][1][label]:
                best[at] = (plans[at][turn], output)
    return best


@dataclass
class _EditTarget:
    """A text as it is after the edits so far."""

    text: str
    label: int
    edits: list[Edit] = field(default_factory=list)
    queries: int = 0

    @property
    def changed(self) -> tuple[int, ...]:
        """The position of each edit when it was made."""
        return tuple(sorted({edit.position for edit in self.edits}))


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
) -> RecipeResult:
    """Attack every text that the model classifies correctly by up to `k` edits of characters; others are skipped.

    recipe  guided: edits ranked by what the automaton makes of the edited text, five tries a round; random-tries: the
            control, as many random edits; greedy: every edit tried on the model
    budget  queries of the model for each text at most
    """
    check_choice("recipe", recipe, EDIT_RECIPES)
    chosen = _prepare(model, corpus)
    attack = _EditAttack(recipe, k, wfa, model, kinds, budget, np.random.default_rng(seed))
    examples: list[Example] = []
    progress.start(f"attacking ({recipe}, k = {k})", len(chosen.texts))
    for start in range(0, len(chosen.texts), _EDITED_AT_ONCE):
        here = range(start, min(start + _EDITED_AT_ONCE, len(chosen.texts)))
        targets = [_EditTarget(chosen.texts[at], int(chosen.labels[at])) for at in here]
        examples += attack.run(targets, chosen.ids.take(np.array(here)))
        progress.advance(len(here))
    progress.finish()
    return RecipeResult(recipe, k, tuple(examples))


@dataclass(frozen=True, eq=False)
class _EditAttack:
    recipe: str
    k: int
    wfa: WFA
    model: PrefixClassifier
    kinds: Collection[str]
    budget: int | None
    rng: np.random.Generator

    def run(self, targets: list[_EditTarget], ids: Ragged[np.int32]) -> list[Example]:
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
            _example(
                self.model,
                at in correct,
                (tuple(original), tuple(target.text)),
                target,
                (before[at], after[at]),
                blank="",
            )
            for at, (original, target) in enumerate(zip(originals, targets, strict=True))
        ]

    def _round(self, targets: list[_EditTarget]) -> list[_Tried | None]:
        """The edit of each text that changes its class, else the best; None where there is none to try."""
        edited = [edited_texts(self.model.encoder, target.text, self.kinds) for target in targets]
        orders = self._orders(edited, targets)
        chosen = [each.ids.take(order) for each, order in zip(edited, orders, strict=True)]
        if not any(map(len, chosen)):
            return [None] * len(targets)
        outputs = last_outputs(self.model, concatenate([part for part in chosen if len(part)]))
        tried: list[_Tried | None] = []
        first = 0
        for target, each, order in zip(targets, edited, orders, strict=True):
            part = outputs[first : first + len(order)]
            first += len(order)
            tried.append(_first_success(target, each, order, part) if len(order) else None)
        return tried

    def _orders(self, edited: list[EditedTexts], targets: list[_EditTarget]) -> list[NDArray[np.int64]]:
        """The edits of each text that are tried, in their order."""
        tries = None if self.recipe == GREEDY else TRIES
        most = [None if self.budget is None else self.budget - target.queries for target in targets]
        if self.recipe == RANDOM_TRIES:
            orders = [self.rng.permutation(len(each)) for each in edited]
        else:
            orders = [self._ranked(each, target) for each, target in zip(edited, targets, strict=True)]
        return [order[:tries][:left] for order, left in zip(orders, most, strict=True)]

    def _ranked(self, edited: EditedTexts, target: _EditTarget) -> NDArray[np.int64]:
        """By the probability of the true class that the automaton expects, lowest first."""
        if len(edited) == 0:
            return np.zeros(0, np.int64)
        return np.argsort(self.wfa.predict_proba(edited.ids)[:, target.label], kind="stable")


def _first_success(
    target: _EditTarget, edited: EditedTexts, order: NDArray[np.int64], outputs: NDArray[np.float32]
) -> _Tried:
    """The first edit that changes the class, else the one with the lowest probability of the true class."""
    successes = np.flatnonzero(outputs.argmax(1) != target.label)
    at = int(successes[0]) if len(successes) else int(outputs[:, target.label].argmin())
    target.queries += int(successes[0]) + 1 if len(successes) else len(order)
    return _Tried(edited.edits[int(order[at])], outputs[at])
