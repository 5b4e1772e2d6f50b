"""How faithful the default automaton is to networks that other people trained and published.

Needs the packages of the extra `zoo` (ethnicolr==0.14.0, dgaintel), which are read and not imported; downloads nothing.
census, wiki and florida read character bigrams of names and their padding; dgaintel reads the characters of domains and
cannot be stepped. Each is opened as `wfalens wrap` and `wfalens extract` would, and measured on texts apart.
30,000 names are about what `extract` reads of larger files (300,000 words). dgaintel is asked 4,000,000 times, about
five minutes of its own.

cr, jsd         automaton and network, on test texts
bag_cr          a bag of tokens that was fitted to the network's answers on the extraction texts
cr_exact        automaton and network with the pads of each text, where the automaton was extracted in steps
smallest_cr     on the texts of the class that the network chooses least often
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import numpy as np

from common import arguments, finish, show, zoo
from wfalens.evaluation import measure_fidelity
from wfalens.extraction import Linear, extract
from wfalens.models.inference import last_outputs

GOALS = {"census": 0.965, "wiki": 0.90, "florida": 0.90, "dgaintel": 0.91}
LEAST_TEXTS = 10  # of a class that a rate is told for
BAG = "bag of words"


def measure(name: str, options) -> dict[str, object]:
    model = zoo.published(name).open()
    sizes = (1_500, 500) if options.quick else (options.texts, options.texts // 4)
    train, test = (replace(part, labels=None) for part in zoo.published_texts(name, *sizes))
    began = time.process_time()
    wfa = extract(model, train, **extraction(options))
    seconds = time.process_time() - began
    fidelity = measure_fidelity(wfa, model, test, reference=train)
    known = {group: item for group, item in fidelity.by_class.items() if item.texts >= LEAST_TEXTS}
    smallest = min(known, key=lambda group: known[group].texts)
    return {
        "cr": fidelity.overall.cr.value,
        "jsd": fidelity.overall.jsd.value,
        "bag_cr": fidelity.baselines[BAG].cr.value,
        "cpu_seconds": seconds,
        "cr_exact": exact_rate(wfa, model, test.texts),
        "smallest_class": smallest,
        "smallest_texts": known[smallest].texts,
        "smallest_cr": known[smallest].cr.value,
        "kind": wfa.kind,
        "texts": len(train),
        "test_texts": fidelity.overall.texts,
        "goal": GOALS[name],
    }


def extraction(options) -> dict[str, object]:
    """Method and bounds of an extraction."""
    method = Linear(epochs=2) if options.quick else None
    return {"method": method, "queries": options.queries, "balance": "predicted" if options.balance else None}


def exact_rate(wfa, model, texts) -> float:
    """CR against the network whose tables have the pads that its makers gave them."""
    exact = model.exact() if hasattr(model, "exact") else model
    _, ids = model.encoder.encode(texts).nonempty()
    return float(np.mean(wfa.predict_indices(ids) == last_outputs(exact, ids).argmax(1)))


def options_of(parser) -> None:
    parser.add_argument("--texts", type=int, default=30_000, help="to extract on; a quarter as many are for the test")
    parser.add_argument("--models", default=",".join(zoo.PUBLISHED), help="some of them, with commas")
    parser.add_argument("--queries", type=int, help="prefixes to ask for beyond the texts, at most")
    parser.add_argument("--balance", action="store_true", help="count every class alike")


def main() -> None:
    options = arguments(__doc__, options_of)
    names = [name for name in options.models.split(",") if zoo.is_installed(name)]
    for name in set(zoo.PUBLISHED) - set(names):
        print(f"{name}: left out, or {zoo.PACKAGES[name]} is not installed", file=sys.stderr)
    if not names:
        sys.exit("no published network is installed: pip install --no-deps ethnicolr==0.14.0 dgaintel")
    result = {}
    for name in names:
        result[name] = found = measure(name, options)
        columns = ["", "CR", "JSD", "bag of tokens", "CR, exact pads", "smallest class", "its CR", "s", "goal"]
        shown = ["cr", "jsd", "bag_cr", "cr_exact", "smallest_class", "smallest_cr", "cpu_seconds", "goal"]
        show(f"{name}: {found['kind']}", columns, [[name, *(found[key] for key in shown)]])
        sys.stdout.flush()
    finish(options, result)


if __name__ == "__main__":
    main()
