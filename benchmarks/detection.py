"""Detectors of attacked texts, trained on one kind of attack and tested on all; how soon foreign texts are noticed.

The first half of the test texts is attacked to learn from, the second half to test. Foreign texts (toxic comments among
news titles) come in at 1 and at 10 % after a thousand usual texts; the delay is the number of texts from there to the
first window whose p-value for drift is below 0.001, against a reference of training texts.
"""

from __future__ import annotations

import json
import sys
import time
from io import BytesIO, StringIO

import numpy as np

from common import arguments, data_sets, finish, readable_automaton, show, trained_model, word_vectors
from wfalens.explanation import nearness_of
from wfalens.monitoring import (
    Detector,
    ReferenceStats,
    SynonymDefense,
    against_reference,
    auroc,
    text_features,
    watch,
)
from wfalens.robustness.attack import AttackContext
from wfalens.robustness.attack.run_attack import run_attack
from wfalens.text import Corpus, load_dataset
from wfalens.text.datasets.catalogue import is_available

KINDS = ("guided", "greedy", "random-word")
CHANGES = 3
WINDOW, SURE = 100, 0.001


class Attacked:
    """Features of clean texts and of those that attacks have felled."""

    def __init__(self, options, name: str, train: Corpus, test: Corpus, texts: int) -> None:
        self.model = trained_model(name, train, options.quick)
        self.wfa = readable_automaton(name, self.model, train, options.quick)
        self.stats = ReferenceStats(self.wfa)
        near = nearness_of(self.wfa, word_vectors(options, self.model))
        self.defense = SynonymDefense.of(self.wfa, near)
        some = test.sample(texts, 1)
        self.halves = some.split(0.5, np.random.default_rng(0))
        only = np.unique(self.model.encoder.encode(some.texts).values)
        self.context = AttackContext.prepare(self.wfa, near, only=only)

    def features(self, half: int, kind: str | None) -> np.ndarray:
        corpus = self.halves[half]
        ids = self.model.encoder.encode(corpus.texts)
        if kind is not None:
            outcome = run_attack(kind, CHANGES, self.context.recipe(kind, CHANGES), self.model, corpus)
            felled = [list(each.after) for each in outcome.examples if each.status == "succeeded"]
            ids = self.model.encoder.vocabulary.encode(felled)
        _, ids = ids.nonempty()
        return text_features(self.stats, self.model, ids, self.defense).features


def detection(made: Attacked, name: str) -> dict[str, object]:
    clean = [made.features(half, None) for half in (0, 1)]
    attacked = {kind: [made.features(half, kind) for half in (0, 1)] for kind in KINDS}
    found: dict[str, dict[str, float]] = {}
    for trained_on in KINDS:
        detector = Detector.trained(clean[0], attacked[trained_on][0], made.defense)
        scores = detector.scores(clean[1])
        found[trained_on] = {kind: auroc(scores, detector.scores(attacked[kind][1])) for kind in KINDS}
        print(f"{name}: trained on {trained_on}: {found[trained_on]}", file=sys.stderr)
    rows = [[kind, *(found[kind][other] for other in KINDS)] for kind in KINDS]
    show(f"{name}: AUROC", ["trained on", *(f"tested on {kind}" for kind in KINDS)], rows)
    numbers = {kind: len(attacked[kind][1]) for kind in KINDS}
    return {"auroc": found, "worst": min(min(row.values()) for row in found.values()), "attacked": numbers}


def delays(made: Attacked, train: Corpus, test: Corpus, foreign: Corpus, repeats: int) -> dict[str, object]:
    """Texts from the first foreign one to the first window that tells of drift; medians, and false alarms before."""
    encoder = made.model.encoder

    def surprise(corpus: Corpus) -> np.ndarray:
        _, ids = encoder.encode(corpus.texts).nonempty()
        return text_features(made.stats, made.model, ids)

    reference = surprise(train.sample(3000, 1)).surprise
    usual, strange = surprise(test.sample(4000, 2)), surprise(foreign.sample(1000, 3))
    result: dict[str, object] = {}
    for share in (0.01, 0.1):
        found, false = [], 0
        for repeat in range(repeats):
            rng = np.random.default_rng(repeat)
            for window in range(400):
                begun = window >= 10
                mixed = rng.random(WINDOW) < (share if begun else 0.0)
                seen = _mixed(usual, strange, mixed, rng)
                p = against_reference(reference, seen).p
                if p is not None and p < SURE:
                    if begun:
                        found.append((window - 9) * WINDOW)
                        break
                    false += 1
        result[f"{share:.0%}"] = {
            "delay": float(np.median(found)) if found else None,
            "told": len(found) / repeats,
            "false_windows": false / (10 * repeats),
        }
    show(
        "Foreign texts: delay in texts",
        ["share", "median delay", "told", "false alarms a window before"],
        [[share, *each.values()] for share, each in result.items()],
    )
    return result


def _mixed(usual, strange, mixed: np.ndarray, rng: np.random.Generator):
    from dataclasses import fields, replace

    rows = np.where(
        mixed, rng.integers(len(strange.label), size=len(mixed)), rng.integers(len(usual.label), size=len(mixed))
    )
    parts = {}
    for each in fields(usual):
        one, other = getattr(usual, each.name), getattr(strange, each.name)
        chosen = mixed if one.ndim == 1 else mixed[:, None]
        parts[each.name] = np.where(chosen, other[rows % len(other)], one[rows % len(one)])
    return replace(usual, **parts)


def throughput(made: Attacked, test: Corpus, texts: int) -> float:
    """Texts a minute that `watch` reads and tells of."""
    lines = "\n".join(test.texts[at % len(test)].replace("\n", " ") for at in range(texts)).encode()
    list(watch(made.wfa, made.model, BytesIO(b"warm up")))
    began, out = time.process_time(), StringIO()
    for each in watch(made.wfa, made.model, BytesIO(lines)):
        out.write(json.dumps(each) + "\n")
    rate = 60 * texts / (time.process_time() - began)
    print(f"watch: {rate:,.0f} texts a minute of processor time")
    return rate


def main() -> None:
    options = arguments(
        __doc__.splitlines()[0],
        lambda parser: parser.add_argument("--texts", type=int, help="of each set (default 2000; toxic: 1000)"),
    )
    result: dict[str, object] = {}
    for at, (name, train, test) in enumerate(data_sets(options)):
        usual = 200 if options.quick else {"jigsaw_toxic": 1000}.get(name, 2000)
        made = Attacked(options, name, train, test, options.texts or usual)
        result[name] = detection(made, name)
        if at == 0:
            result[name]["texts_a_minute"] = throughput(made, test, 2000 if options.quick else 20_000)
            if is_available("jigsaw_toxic", options.data):
                foreign = load_dataset("jigsaw_toxic", "test", options.data)
                result[name]["foreign"] = delays(made, train, test, foreign, 3 if options.quick else 20)
    finish(options, result)


if __name__ == "__main__":
    main()
