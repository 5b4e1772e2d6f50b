"""Faithfulness of local explanations to the LSTM: comprehensiveness (more is better), sufficiency (less is better).

500 test texts of each data set; 10, 20, 30 and 50 % of the words are removed or kept. Empirical and probe automata of
the paper's sizes, beside random scores, leave-one-out and integrated gradients on the LSTM.
"""

from __future__ import annotations

import numpy as np

from common import arguments, data_sets, finish, show, trained_model
from scorers import (
    automaton_scorer,
    deletion_scorer,
    integrated_gradients_scorer,
    leave_one_out_scorer,
    measure_faithfulness,
    random_scorer,
)
from wfalens.extraction import Paper, Stochastic, extract
from wfalens.text import Corpus

SETTINGS = {"jigsaw_toxic": (20, 0.2)}


def compare(options, name: str, train: Corpus, test: Corpus) -> dict[str, dict[str, float]]:
    model = trained_model(name, train, options.quick)
    states, alpha = SETTINGS.get(name, (40, 0.4))
    probe = extract(model, train, Stochastic(states=states, completion="probe", alpha=0.0, abstraction="outputs"))
    empirical = extract(model, train, Paper(states=states, alpha=alpha, beta=0.3))
    chosen = np.random.default_rng(0).permutation(len(test))[: 100 if options.quick else 500]
    ids = model.encoder.encode([test.texts[at] for at in chosen])
    ids = ids.take(np.flatnonzero(ids.lengths > 1))
    scorers = {
        "random": random_scorer(),
        "automaton, additive (probe)": automaton_scorer(probe),
        "automaton, leave-one-out (probe)": deletion_scorer(probe),
        "automaton, additive (empirical)": automaton_scorer(empirical),
        "integrated gradients": integrated_gradients_scorer(model),
        "leave-one-out": leave_one_out_scorer(model),
    }
    found = [measure_faithfulness(key, scorer, model, ids) for key, scorer in scorers.items()]
    show(
        f"{name}: {len(ids)} texts",
        ["method", "comprehensiveness", "sufficiency", "model passes", "ms per text"],
        [[item.method, item.comprehensiveness, item.sufficiency, item.passes, item.ms] for item in found],
    )
    return {
        item.method: {
            "comprehensiveness": item.comprehensiveness,
            "sufficiency": item.sufficiency,
            "passes": item.passes,
            "ms": item.ms,
        }
        for item in found
    }


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    finish(options, {name: compare(options, name, train, test) for name, train, test in data_sets(options)})


if __name__ == "__main__":
    main()
