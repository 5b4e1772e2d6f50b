"""Attack success in the paper's layout, with controls, words changed and model queries.

ε of d_S: weak .15 / .12, strong .18 / .20 (news / toxic); d_T ≥ .01; K and α as in the paper, probe completion.
Success is given of all texts and of those classified correctly before the attack.
"""

from __future__ import annotations

import sys
from dataclasses import asdict

import numpy as np

from common import arguments, data_sets, finish, show, trained_model, word_vectors
from wfalens.extraction import Stochastic, extract
from wfalens.robustness.attack import RECIPES
from wfalens.robustness.attack.attack_result import AttackResult
from wfalens.robustness.attack.run_attack import Originals, run_attack
from wfalens.text import Corpus

# isort: split
from benchmarks.paper.paper_attacks import (  # `common` has put the project's root on the path
    DEFAULT_STRONG,
    DEFAULT_WEAK,
    STRONG,
    WEAK,
    paper_context,
)

STATES = {"jigsaw_toxic": 20}


def attacks(options, name: str, train: Corpus, test: Corpus, texts: int) -> dict[str, object]:
    model = trained_model(name, train, options.quick)
    vectors = word_vectors(options, model)
    wfa = extract(
        model, train, Stochastic(states=STATES.get(name, 40), completion="probe", alpha=0.0, abstraction="outputs")
    )
    context = paper_context(wfa, vectors, WEAK.get(name, DEFAULT_WEAK), STRONG.get(name, DEFAULT_STRONG))
    part = test.subset(np.sort(np.random.default_rng(0).permutation(len(test))[:texts]))
    outcomes, result = [], {}
    for recipe in RECIPES:
        for k in (1, 2):
            outcome = run_attack(recipe, k, context.recipe(recipe, k), Originals.of(model, part))
            outcomes.append(outcome)
            summary = asdict(outcome.rates)
            keys = ("asr_all", "asr_correct", "words_changed", "queries", "accuracy_before", "accuracy_after")
            result.setdefault(recipe, {})[str(k)] = {key: summary[key] for key in keys}
            print(f"{name}: {recipe} k={k} {summary['asr_correct']:.3f}", file=sys.stderr)
    rows = list(AttackResult(name, len(part), "near words", "words", tuple(outcomes)).rows())
    show(f"{name}: success on {len(part):,} test texts", list(rows[0]), [list(row.values()) for row in rows])
    guided = next(item for item in outcomes if item.recipe == "guided")
    for example in [item for item in guided.examples if item.status == "succeeded"][:3]:
        print(example)
    return result


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    texts = {"tagmynews": 2000, "jigsaw_toxic": 500}
    finish(
        options,
        {
            name: attacks(options, name, train, test, 200 if options.quick else texts.get(name, 1000))
            for name, train, test in data_sets(options)
        },
    )


if __name__ == "__main__":
    main()
