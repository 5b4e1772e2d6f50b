"""How faithful automata are, kind by kind, on the same models, beside the paper's method.

paper   empirical completion, context and augmentation, with the paper's K, α and β
k40     stochastic, rows fitted, K = 40 (toxic comments: 20), the abstraction chosen on held-out texts
auto    stochastic, rows fitted, K and the abstraction chosen on held-out texts: `wfalens extract` without options
linear  real weights trained against the model: `wfalens extract --kind linear`

Three seeds of the LSTM and of extraction on tagmynews and jigsaw_toxic, one on rotten_tomatoes and clickbait.
Finished rows are kept under benchmarks/.cache, so that a long run may be stopped; remove them after a change.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from common import CACHE, arguments, finish, show, trained_model, word_vectors
from wfalens.corpus import load_dataset
from wfalens.corpus.datasets import is_available
from wfalens.evaluation import jensen_shannon
from wfalens.extraction import Augmentation, Distillation, Extractor, Fitting
from wfalens.writing import write_atomically

SETTINGS = {"jigsaw_toxic": (20, 0.2)}  # K, α; else 40, .4
SEEDS = {"tagmynews": 3, "jigsaw_toxic": 3}
METHODS = ("paper", "k40", "auto", "linear")
COVERAGE = 0.8


def extractor(options, method: str, name: str, model, seed: int) -> Extractor:
    states, alpha = SETTINGS.get(name, (40, 0.4))
    quick = {"fitting": Fitting(rounds=4), "representatives": 3} if options.quick else {}
    if method == "paper":
        rule = Augmentation(vectors=word_vectors(options, model))
        return Extractor.paper(states=states, alpha=alpha, augmentation=rule, seed=seed)
    if method == "linear":
        rule = Distillation(epochs=4) if options.quick else Distillation()
        return Extractor(kind="linear", distillation=rule, seed=seed)
    chosen = states if method == "k40" else "auto"
    return Extractor(states=chosen, seed=seed, **quick)


def measure(options, method: str, name: str, seed: int) -> dict[str, float]:
    train, test = (load_dataset(name, split, options.data) for split in ("train", "test"))
    model = trained_model(name, train, options.quick, seed)
    ids, tests = (model.encoder.encode(corpus.texts) for corpus in (train, test))
    ids, tests = (part.nonempty()[1] for part in (ids, tests))
    if options.quick:
        ids = ids.take(np.arange(min(3000, len(ids))))
    wanted = model.trace(tests).last()
    began = time.perf_counter(), time.process_time()
    wfa = extractor(options, method, name, model, seed).extract(model, ids)
    seconds, processor = time.perf_counter() - began[0], time.process_time() - began[1]
    said = wfa.predict_proba(tests)
    agrees = wfa.predict(tests) == wanted.argmax(1)
    ranked = np.sort(said, 1)
    surest = np.argsort(-(ranked[:, -1] - ranked[:, -2]), kind="stable")[: int(COVERAGE * len(tests))]
    with tempfile.TemporaryDirectory() as folder:
        wfa.save(Path(folder) / "a.wfa")
        size = (Path(folder) / "a.wfa").stat().st_size
    return {
        "cr": float(agrees.mean()),
        "jsd": float(jensen_shannon(said, wanted).mean()),
        "selective_cr": float(agrees[surest].mean()),
        "bytes": size,
        "seconds": seconds,
        "processor_seconds": processor,
        "states": wfa.states,
        "accuracy": float(np.mean(wanted.argmax(1) == test.labels[model.encoder.encode(test.texts).lengths > 0])),
    }


def kept(options, method: str, name: str, seed: int) -> dict[str, float]:
    """A row from the cache, or measured now."""
    CACHE.mkdir(exist_ok=True)
    path = CACHE / f"fidelity{'-quick' if options.quick else ''}-{name}-{method}-{seed}.json"
    if not path.exists():
        row = measure(options, method, name, seed)
        write_atomically(path, json.dumps(row).encode())
        print(f"{name} {method} seed {seed}: CR {row['cr']:.4f} JSD {row['jsd']:.4f}", file=sys.stderr, flush=True)
    return json.loads(path.read_text())


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    names = ["tagmynews", "jigsaw_toxic", "rotten_tomatoes", "clickbait"]
    names = [name for name in names if is_available(name, options.data)]
    if options.quick:
        names = names[:1] if "tagmynews" in names else ["newsroom"]
    result: dict[str, object] = {}
    for name in names:
        seeds = 1 if options.quick else SEEDS.get(name, 1)
        table, rows = {}, []
        for method in METHODS:
            runs = [kept(options, method, name, seed) for seed in range(seeds)]
            table[method] = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
            spread = float(np.std([run["cr"] for run in runs], ddof=1)) if seeds > 1 else 0.0
            one, paper = table[method], table["paper"]
            rows.append(
                [
                    method,
                    f"{one['cr']:.4f} ± {spread:.4f}",
                    f"{one['jsd']:.4f}",
                    f"{one['selective_cr']:.4f}",
                    f"{one['states']:.0f}",
                    f"{one['bytes'] / 1e6:.1f} ({one['bytes'] / paper['bytes']:.1f} ×)",
                    f"{one['seconds']:.0f} ({one['seconds'] / paper['seconds']:.1f} ×)",
                    f"{one['processor_seconds']:.0f}",
                ]
            )
        columns = ["", "CR", "JSD", f"CR on the surest {COVERAGE:.0%}", "states", "MB", "seconds", "processor s"]
        show(f"{name}: {seeds} LSTMs, {table['paper']['accuracy']:.1%} accurate", columns, rows)
        result[name] = table
    finish(options, result)


if __name__ == "__main__":
    main()
