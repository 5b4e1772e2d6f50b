"""How faithful automata are to models that other people trained and published.

Needs the packages of the extra `zoo` (install them with --no-deps), which are read and not imported; downloads nothing.
census, wiki, florida (ethnicolr) and dgaintel are Keras files, opened as `wfalens wrap` and `wfalens extract` would and
extracted with all defaults from 30,000 names, about what `extract` reads of larger files (300,000 words).
fin-sentiment, seeker, genderpred-in and profanity-protector are functions of strings that pay for every call, with
about ten calls a text. Texts are those of the data folder, else generated ones. All are measured on texts apart, as
they stand.

cr, jsd         automaton and model, on test texts
bag_cr          a bag of tokens that was fitted to the model's answers on the extraction texts
calls           of the model while extracting, where it pays for them
cr_exact        automaton and network with the pads of each text, where the automaton was extracted in steps
smallest_cr     on the texts of the class that the model chooses least often
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import numpy as np

from common import arguments, finish, show, zoo
from published_models import MODELS
from wfalens.automaton import WFA
from wfalens.evaluation import measure_fidelity
from wfalens.extraction import Linear, extract
from wfalens.models import wrap
from wfalens.models.inference import last_outputs

GOALS = {"census": 0.965, "wiki": 0.90, "florida": 0.90, "dgaintel": 0.91}
LEAST_TEXTS = 10  # of a class that a rate is told for
BAG = "bag of words"


def measure(name: str, options) -> dict[str, object]:
    model = zoo.published(name).open()
    sizes = (1_500, 500) if options.quick else (options.texts, options.texts // 4)
    train, test = (replace(part, labels=None) for part in zoo.published_texts(name, *sizes))
    wfa, cost = extracted(model, train, **extraction(options))
    return {
        **fidelity_of(wfa, model, train, test),
        **cost,
        "cr_exact": exact_rate(wfa, model, test.texts),
        "goal": GOALS[name],
    }


def measure_function(name: str, options) -> dict[str, object]:
    """The same of a function of strings."""
    published = MODELS[name]
    train, test = published.texts(options.data)
    queries = options.queries or published.queries
    if options.quick:
        train, test, queries = train.sample(100, 0), test.sample(200, 0), 500
    model = wrap(
        published.open(zoo.folder_of(published.package)),
        texts=train,
        classes=published.class_names,
        tokenizer=published.tokenizer,
        reads="text",
        name=name,
    )
    wfa, cost = extracted(model, train, **{**extraction(options), "queries": queries})
    return {**fidelity_of(wfa, model, train, test), **cost, "goal": published.goal}


def extracted(model, train, **how) -> tuple[WFA, dict[str, object]]:
    """An automaton, and what it cost."""
    asked, began = getattr(model, "queries", 0), time.process_time()
    wfa = extract(model, train, **how)
    return wfa, {"cpu_seconds": time.process_time() - began, "calls": getattr(model, "queries", 0) - asked}


def fidelity_of(wfa, model, train, test) -> dict[str, object]:
    fidelity = measure_fidelity(wfa, model, test, reference=train)
    known = {group: item for group, item in fidelity.by_class.items() if item.texts >= LEAST_TEXTS}
    smallest = min(known, key=lambda group: known[group].texts)
    return {
        "cr": fidelity.overall.cr.value,
        "jsd": fidelity.overall.jsd.value,
        "bag_cr": fidelity.baselines[BAG].cr.value,
        "smallest_class": smallest,
        "smallest_texts": known[smallest].texts,
        "smallest_cr": known[smallest].cr.value,
        "kind": wfa.kind,
        "texts": len(train),
        "test_texts": fidelity.overall.texts,
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
    parser.add_argument("--models", default=",".join([*zoo.PUBLISHED, *MODELS]), help="some of them, with commas")
    parser.add_argument("--queries", type=int, help="model calls at most")
    parser.add_argument("--balance", action="store_true", help="count every class alike")


def package_of(name: str) -> str:
    return MODELS[name].package if name in MODELS else zoo.PACKAGES[name]


def main() -> None:
    options = arguments(__doc__, options_of)
    result = {}
    for name in options.models.split(","):
        if zoo.folder_of(package_of(name)) is None:
            print(f"{name}: skipped, since the package {package_of(name)} is not installed", file=sys.stderr)
            continue
        result[name] = found = (measure_function if name in MODELS else measure)(name, options)
        columns = ["", "CR", "JSD", "bag of tokens", "calls", "smallest class", "its CR", "s", "goal"]
        shown = ["cr", "jsd", "bag_cr", "calls", "smallest_class", "smallest_cr", "cpu_seconds", "goal"]
        show(f"{name}: {found['kind']}", columns, [[name, *(found[key] for key in shown)]])
        sys.stdout.flush()
    if not result:
        sys.exit("no published model is installed: the extra `zoo` names their packages (pip install --no-deps …)")
    finish(options, result)


if __name__ == "__main__":
    main()
