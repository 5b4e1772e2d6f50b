"""Running an attack against a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import last_outputs
from wfalens.ragged import Ragged
from wfalens.robustness.attack.attack_search import Search, Target
from wfalens.robustness.attack.outcome import FAILED, SKIPPED, SUCCEEDED, Example, Outcome
from wfalens.scale.engines.engine import Engine, ModelSource
from wfalens.scale.engines.local import SerialEngine
from wfalens.scale.map_blocks import Facts, Pass, run_pass
from wfalens.text.corpus import Corpus

_TEXTS_AT_ONCE = 512


def run_attack(
    name: str,
    k: int,
    search: Search,
    model: PrefixClassifier,
    corpus: Corpus,
    *,
    budget: int | None = None,
    seed: int = 0,
    engine: Engine | None = None,
) -> Outcome:
    """Attack every text that the model classifies correctly; the others are skipped.

    A text falls when the model's class is no longer the true one. In each round the proposals are tried in
    batches over all texts still standing; the one that hurts most is kept for the next round. `budget` bounds
    the model queries per text. Batches of texts run side by side on an engine; each batch draws its own
    random numbers, so that the outcome does not depend on the engine.
    """
    corpus = corpus.relabelled(model.class_names)
    if corpus.labels is None:
        raise InputError(f"{corpus.name} has no labels; an attack needs to know the true classes")
    worded, ids = model.encoder.encode(corpus.texts).nonempty()
    if len(worded) == 0:
        raise InputError(f"{corpus.name}: there is no text with a word in it")
    engine = engine or SerialEngine()
    jobs = []
    for number, start in enumerate(range(0, len(worded), _TEXTS_AT_ONCE)):
        batch = np.arange(start, min(start + _TEXTS_AT_ONCE, len(worded)))
        tokens = [tuple(model.encoder.tokens(corpus.texts[at])) for at in worded[batch]]
        jobs.append(_Batch(number, ids.take(batch), tokens, corpus.labels[worded[batch]]))
    found: dict[int, list[Example]] = {}
    counts = {SUCCEEDED: 0, FAILED: 0, SKIPPED: 0}

    def keep(batch: _Batch, examples: list[Example]) -> tuple[Facts, str]:
        found[batch.number] = examples
        for example in examples:
            counts[example.status] += 1
        so_far = " / ".join(str(value) for value in (*counts.values(), len(worded)))
        return {}, f"[succeeded / failed / skipped / total] {so_far}"

    work = Pass(
        title=f"attacking ({name}, k = {k})",
        event="attack",
        task=_AttackTask(search, engine.source(model, None), budget, seed),
        name=lambda batch: f"attacking texts of {corpus.name}, batch {batch.number + 1} of {len(jobs)}",
        keep=keep,
    )
    run_pass(work, jobs, engine)
    return Outcome(name, k, tuple(example for number in sorted(found) for example in found[number]))


class _Batch(NamedTuple):
    """Texts that are attacked together."""

    number: int
    ids: Ragged[np.int32]
    tokens: list[tuple[str, ...]]
    labels: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _AttackTask:
    """Attacks a batch of texts."""

    search: Search
    model: ModelSource
    budget: int | None
    seed: int

    def prepare(self) -> Callable[[_Batch], list[Example]]:
        model = self.model.open()

        def attacked(batch: _Batch) -> list[Example]:
            rng = np.random.default_rng([self.seed, batch.number])
            return _attack_batch(self.search, model, batch.ids, batch.tokens, batch.labels, self.budget, rng)

        return attacked


def _attack_batch(
    search: Search,
    model: PrefixClassifier,
    ids: Ragged[np.int32],
    tokens: list[tuple[str, ...]],
    labels: NDArray[np.int64],
    budget: int | None,
    rng: np.random.Generator,
) -> list[Example]:
    before = last_outputs(model, ids)
    after = before.copy()
    targets = [Target(ids[at].copy(), int(labels[at])) for at in range(len(ids))]
    standing = [at for at in range(len(ids)) if before[at].argmax() == labels[at]]
    correct = set(standing)
    for _ in range(search.rounds):
        left = {at: (budget - targets[at].queries if budget is not None else None) for at in standing}
        plans = {at: search.proposals(targets[at], rng)[: left[at]] for at in standing}
        tried = _try(model, targets, plans)
        standing = []
        for at, (changes, output) in tried.items():
            targets[at] = Target(
                targets[at].with_changes(changes),
                targets[at].label,
                tuple(sorted({*targets[at].changed, *(position for position, _ in changes)})),
                targets[at].queries,
            )
            after[at] = output
            if output.argmax() == labels[at]:
                standing.append(at)
    names, words = model.class_names, model.encoder.vocabulary.words
    return [
        Example(
            SKIPPED if at not in correct else FAILED if after[at].argmax() == labels[at] else SUCCEEDED,
            tokens[at],
            tuple(
                words[targets[at].ids[position]] if position in targets[at].changed else token
                for position, token in enumerate(tokens[at])
            ),
            targets[at].changed,
            names[labels[at]],
            names[int(before[at].argmax())],
            float(before[at].max()),
            names[int(after[at].argmax())],
            float(after[at].max()),
            targets[at].queries,
        )
        for at in range(len(ids))
    ]


def _try(
    model: PrefixClassifier, targets: list[Target], plans: dict[int, list[list[tuple[int, int]]]]
) -> dict[int, tuple[list[tuple[int, int]], NDArray[np.float32]]]:
    """Try proposals in turn, all texts side by side, until one fells its text; else the one that hurts most."""
    best: dict[int, tuple[list[tuple[int, int]], NDArray[np.float32]]] = {}
    fallen: set[int] = set()
    for turn in range(max((len(plan) for plan in plans.values()), default=0)):
        asked = [at for at, plan in plans.items() if turn < len(plan) and at not in fallen]
        if not asked:
            break
        texts = [targets[at].with_changes(plans[at][turn]) for at in asked]
        lengths = np.array([len(text) for text in texts])
        outputs = last_outputs(model, Ragged.from_lengths(np.concatenate(texts), lengths))
        for at, output in zip(asked, outputs, strict=True):
            label = targets[at].label
            targets[at].queries += 1
            if output.argmax() != label:
                fallen.add(at)
            if at not in best or at in fallen or output[label] < best[at][1][label]:
                best[at] = (plans[at][turn], output)
    return best
