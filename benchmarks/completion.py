"""The paper's tables 1 to 3 on one LSTM: fidelity by completion, context and augmentation, and probing beside them.

News: K = 40, α = .4; toxic: K = 20, α = .2; β = .3. Augmentation takes its synonyms from GloVe where the data folder
has it, else from WordLlama.
"""

from __future__ import annotations

import sys
import time
from itertools import product

import numpy as np

from common import arguments, data_sets, finish, show, trained_model, word_vectors
from wfalens.evaluation import jensen_shannon
from wfalens.extraction import Augmentation, completion_method, extract
from wfalens.models.rnn.training import accuracy
from wfalens.text import Corpus

# isort: split
from benchmarks.paper.paper import printed  # `common` has put the project's root on the path


def table(options, name: str, train: Corpus, test: Corpus) -> dict[str, object]:
    model = trained_model(name, train, options.quick)
    paper = printed(name)
    states, context = paper.states, paper.alpha
    ids, tests = (model.encoder.encode(corpus.texts) for corpus in (train, test))
    ids, tests = (part.nonempty()[1] for part in (ids, tests))
    if options.quick:
        ids = ids.take(np.arange(min(4000, len(ids))))
    outputs = model.trace(tests).last()
    rule = Augmentation(vectors=word_vectors(options, model))
    rows, results = [], []
    for completion, augmented, in_context in product(
        ("null", "uniform", "empirical", "probe"), (False, True), (False, True)
    ):
        extractor = completion_method(
            completion,
            states=states,
            alpha=context if in_context else 0.0,
            augmentation=rule if augmented else None,
        )
        began = time.perf_counter()
        wfa = extract(model, ids, extractor)
        seconds = time.perf_counter() - began
        cr = float(np.mean(wfa.predict_indices(tests) == outputs.argmax(1)))
        jsd = float(jensen_shannon(wfa.predict_proba(tests), outputs).mean())
        theirs = paper.rows.get((completion, in_context, augmented), ("", ""))[:2]
        marks = ["yes" if flag else "" for flag in (in_context, augmented)]
        rows.append([completion, *marks, f"{cr:.3f}", f"{jsd:.3f}", seconds, *map(str, theirs)])
        results.append(
            {
                "completion": completion,
                "context": in_context,
                "augmentation": augmented,
                "cr": cr,
                "jsd": jsd,
                "seconds": seconds,
            }
        )
        print(f"{name}: {completion} {marks}", file=sys.stderr)
    tested = accuracy(model, test)
    columns = ["completion", "context", "augmented", "CR", "JSD", "seconds", "paper's CR", "JSD"]
    show(f"{name}: LSTM {tested:.1%} accurate, K = {states}, α = {context}, {len(tests):,} test texts", columns, rows)
    return {"accuracy": tested, "rows": results}


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    finish(options, {name: table(options, name, train, test) for name, train, test in data_sets(options)})


if __name__ == "__main__":
    main()
