"""Counterexample refinement: agreement against queries, beside adding random texts; and whether its bound holds.

On TAYSIR's network 1.9 (where the data folder has it) and on news titles. Agreement is measured on fresh texts (edited
and random) and on edited texts that no extraction has seen. The bound is proved 20 times from fresh samples and held
against the agreement on a sample many times as large: it may fail in one of twenty.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from scipy.stats import binom

from common import arguments, finish, news, show, trained_model
from wfalens.automaton import WFA
from wfalens.extraction import Refinement, Stochastic, extract
from wfalens.extraction.refinement.refine import Refiner, Splitting
from wfalens.models import PrefixClassifier, wrap
from wfalens.ragged import Ragged, concatenate
from wfalens.text.datasets.catalogue import data_folder

REPETITIONS, LARGE = 20, 20_000
ALLOWED = 0.05


Studied = tuple[PrefixClassifier, Ragged[np.int32], Stochastic]  # a network, texts, and how it is extracted


def competition(options: argparse.Namespace) -> Studied | None:
    """TAYSIR's network 1.9, where the data folder has it."""
    folder = data_folder(options.data)
    network = None if folder is None else Path(folder) / "taysir" / "1.9"
    if network is None or not (network / "net.json").exists():
        return None
    model = wrap(network)
    lines = (network / "words").read_text().splitlines()[1:]
    words = [line.split()[2:-1] for line in lines[len(lines) // 2 :]]
    ids = model.encoder.vocabulary.encode([word for word in words if word])
    how = Stochastic(states=200, abstraction="lookahead", completion="probe", alpha=0.0)
    return model, ids, how


def titles(options: argparse.Namespace) -> Studied:
    name, train, _ = news(options)
    model = trained_model(name, train, options.quick)
    _, ids = model.encoder.encode(train.texts[: 2000 if options.quick else options.titles]).nonempty()
    return model, ids, Stochastic(states=40, abstraction="lookahead", completion="probe", alpha=0.0)


STUDIED = {"1.9": competition, "news": titles}


def measured(refiner: Refiner, wfa: WFA, number: int) -> dict[str, float]:
    """Agreement on texts that nothing was extracted from."""
    rng = np.random.default_rng(77)
    fresh = refiner.ask(refiner.source.drawn(number, rng))
    base = refiner.base.take(rng.integers(0, len(refiner.base), number))
    edited = refiner.ask(refiner.source.edited(base, rng))
    return {"fresh": float(fresh.agrees(wfa).mean()), "edited": float(edited.agrees(wfa).mean())}


def studied_course(model, ids, extractor, how: Refinement, number: int, grows: bool) -> list[dict[str, float]]:  # type: ignore[no-untyped-def]
    """After every round: the queries so far, agreement of asking back, and of adding as many random texts.

    Where the number of states grows, automata of random texts have as many as the refined one.
    """
    splitting = Splitting(model, extractor, lambda method, known: extract(model, known, method), ids, how.most_states)

    def again(known: Ragged[np.int32], states: int | None) -> WFA:
        return splitting.extract(known, states)

    start, added = again(ids, extractor.states), ids
    refiner = Refiner(model, ids, again, how, 0, grows, split=splitting.split if grows else None)
    course = []

    def note(refined: WFA, random: WFA, rounds: int) -> None:
        course.append(
            {"queries": rounds * how.texts, "states": refined.states}
            | {f"asking_{name}": value for name, value in measured(refiner, refined, number).items()}
            | {f"random_{name}": value for name, value in measured(refiner, random, number).items()}
        )
        print(json.dumps(course[-1]), file=sys.stderr, flush=True)

    note(start, start, 0)
    for rounds, refined in enumerate(refiner.rounds(start), 1):
        added = concatenate([added, refiner.source.drawn(how.texts, np.random.default_rng([5, rounds]))])
        note(refined, again(added, refined.states - 1), rounds)
    return course


def bound_check(model, ids, extractor, large: int) -> dict[str, object]:  # type: ignore[no-untyped-def]
    """How often the bound of a fresh sample exceeds the agreement on a large one."""
    wfa = extract(model, ids, extractor)
    refiner = Refiner(model, ids, lambda known, states: wfa, Refinement(samples=1000), 0, False)
    truth = measured(refiner, wfa, large)["fresh"]
    bounds = [refiner.proof(wfa, repetition).bound for repetition in range(REPETITIONS)]
    failed = sum(bound > truth for bound in bounds)
    most = int(binom.ppf(0.95, REPETITIONS, ALLOWED))
    return {"agreement": truth, "bounds": bounds, "failed": failed, "allowed": most, "holds": failed <= most}


def own_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", choices=STUDIED, help="one of the two networks")
    parser.add_argument("--grow", action="store_true", help="states may be split and doubled")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--texts", type=int, default=3000, help="asked in a round")
    parser.add_argument("--titles", type=int, default=8000, help="news that are extracted from")


def main() -> None:
    options = arguments(__doc__.splitlines()[0], own_options)
    how = Refinement(rounds=2, texts=500) if options.quick else Refinement(rounds=options.rounds, texts=options.texts)
    number, large = (500, 2000) if options.quick else (4000, LARGE)
    result: dict[str, object] = {}
    for name, study in STUDIED.items():
        found = None if options.only not in (None, name) else study(options)
        if found is None:
            continue
        course = studied_course(*found, how, number, options.grow)
        proof = bound_check(*found, large)
        result[f"{name}, growing" if options.grow else name] = {"course": course, "bound": proof}
        rows = [[f"{row['queries']:,}", row["states"], *(f"{row[key]:.4f}" for key in list(row)[2:])] for row in course]
        show(f"{name}: agreement with the network", list(course[0]), rows)
        print(f"  bound exceeded in {proof['failed']} of {REPETITIONS} samples (allowed by chance: {proof['allowed']})")
    finish(options, result)


if __name__ == "__main__":
    main()
