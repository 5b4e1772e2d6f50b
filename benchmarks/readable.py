"""How faithful automata are that fit on a page, beside what people would read instead, on the same models.

tiny, page, poster  readable automata of at most 9 × 12, 13 × 32 and 25 × 64 states × classes of words
shared              shared rows at a size that nobody reads: 41 states × 256 classes
tree                a decision tree on words and word pairs, distilled from the model
sparse              an L1-regularised logistic regression on words, pairs and triples, distilled from the model
rules               RuleFit's recipe on words and pairs: rules from small boosted trees, weighted by an L1 regression
phrases             the deciding phrases of the page automaton (`wfalens phrases`), as regular expressions that vote by
                    the logarithm of their lift
bag                 a logistic regression on all words (for scale)

"numbers" counts what one has to read: entries of matrices above .01 and outputs of states; leaves and splits of a tree;
weights that are not zero; conditions of rules and their weights. The list of the words of each class comes on top.

Three LSTMs on tagmynews, jigsaw_toxic and rotten_tomatoes. Finished rows are kept under benchmarks/.cache.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from common import CACHE, arguments, finish, show, trained_model
from wfalens.evaluation import jensen_shannon
from wfalens.explanation import deciding_phrases
from wfalens.extraction import Readable, extract
from wfalens.storage import write_atomically
from wfalens.text import Corpus, load_dataset
from wfalens.text.datasets.catalogue import is_available

SIZES = {"tiny": (8, 12), "page": (12, 32), "poster": (24, 64)}
SHARED = (40, 256)
RIVALS = ("tree", "sparse", "rules", "bag")
PHRASES = "phrases"
SETS = ("rotten_tomatoes", "tagmynews", "jigsaw_toxic")
SEEDS = 3
LEAST_READ = 0.01  # a smaller weight need not be read


def readable(options, method: str) -> Readable:
    states, clusters = SIZES.get(method, SHARED)
    quick = {"start_epochs": 3, "epochs": 6, "final_epochs": 3} if options.quick else {}
    return Readable(states=states, clusters=clusters, **quick)


def automaton_row(options, method: str, model, ids, tests, wanted, seed: int) -> dict[str, float]:
    began = time.process_time()
    wfa = extract(model, ids, readable(options, method), seed=seed)
    seconds = time.process_time() - began
    with tempfile.TemporaryDirectory() as folder:
        wfa.save(Path(folder) / "a.wfa")
        size = (Path(folder) / "a.wfa").stat().st_size
    read = int((wfa.anatomy.matrices >= LEAST_READ).sum() + wfa.centres.size)
    return {**fidelity(wfa.predict_proba(tests), wanted), "bytes": size, "cpu_seconds": seconds, "numbers": read}


def rival_row(method: str, model, ids, tests, said, wanted) -> dict[str, float]:
    """A classifier of another kind, trained on what the model decides. said: its outputs on the extraction texts"""
    labels, spelled = said.argmax(1), [[" ".join(words(model, text)) for text in part] for part in (ids, tests)]
    longest = {"tree": 2, "sparse": 3, "rules": 2, "bag": 1}[method]
    grams = CountVectorizer(
        tokenizer=str.split,
        token_pattern=None,
        lowercase=False,
        ngram_range=(1, longest),
        min_df=1 if method == "bag" else 5,
        binary=True,
    )
    began = time.process_time()
    known, asked = grams.fit_transform(spelled[0]), grams.transform(spelled[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if method == "tree":
            rule = DecisionTreeClassifier(max_leaf_nodes=400, random_state=0).fit(known, labels)
            outputs, numbers = rule.predict_proba(asked), rule.tree_.node_count
        elif method == "sparse":
            rule = LogisticRegression(l1_ratio=1.0, solver="saga", C=0.3, max_iter=60).fit(known, labels)
            outputs, numbers = rule.predict_proba(asked), int((rule.coef_ != 0).sum())
        elif method == "bag":
            rule = LogisticRegression(max_iter=300).fit(known, labels)
            outputs, numbers = rule.predict_proba(asked), rule.coef_.size
        else:
            outputs, numbers = rule_fit(known, asked, labels)
    seconds = time.process_time() - began
    full = np.zeros((len(outputs), wanted.shape[1]))
    full[:, np.unique(labels)] = outputs
    return {**fidelity(full, wanted), "cpu_seconds": seconds, "numbers": int(numbers)}


def rule_fit(known, asked, labels) -> tuple[np.ndarray, int]:
    """Leaves of small boosted trees as rules, weighted by an L1 regression: (texts, classes) and what one reads."""
    few = np.argsort(-np.asarray(known.sum(0)).ravel())[:1500]  # the common n-grams
    boosted = GradientBoostingClassifier(n_estimators=60, max_depth=3, subsample=0.5, random_state=0)
    sample = np.random.default_rng(0).permutation(len(labels))[:6000]
    boosted.fit(known[sample][:, few], labels[sample])
    leaves = [boosted.apply(part[:, few]).reshape(part.shape[0], -1) for part in (known, asked)]
    codes = [np.unique(column) for column in leaves[0].T]
    rules = [np.hstack([(part[:, [at]] == code) for at, code in enumerate(codes)]) for part in leaves]
    chosen = LogisticRegression(l1_ratio=1.0, solver="saga", C=0.1, max_iter=60).fit(rules[0], labels)
    used = int((chosen.coef_ != 0).any(0).sum())
    return chosen.predict_proba(rules[1]), 3 * used + int((chosen.coef_ != 0).sum())  # three conditions a rule


def phrase_row(options, model, train, test, wanted, seed: int) -> dict[str, float]:
    """The phrase list as a classifier of raw texts."""
    ids = model.encoder.encode(train.texts).nonempty()[1]
    began = time.process_time()
    wfa = extract(
        model, ids.take(np.arange(min(3000, len(ids)))) if options.quick else ids, readable(options, "page"), seed=seed
    )
    found = deciding_phrases(wfa, Corpus.of(list(train.texts)), model)
    votes = np.tile(np.log(found.base_rates + 1e-3), (len(test.texts), 1))
    for rule, label, lift in zip(found.regexes, found.labels, found.lift, strict=True):
        search = re.compile(rule).search
        votes[[search(text) is not None for text in test.texts], label] += np.log(lift)
    seconds = time.process_time() - began
    said = np.exp(votes - votes.max(1, keepdims=True))
    said = (said / said.sum(1, keepdims=True))[model.encoder.encode(test.texts).lengths > 0]
    read = sum(len(words) for words in found.words) + 2 * len(found)  # words, class and lift
    return {**fidelity(said, wanted), "cpu_seconds": seconds, "numbers": read}


def words(model, ids) -> list[str]:
    return [word.replace(" ", "_") for word in model.encoder.vocabulary.decode(ids)]


def fidelity(said: np.ndarray, wanted: np.ndarray) -> dict[str, float]:
    agrees = said.argmax(1) == wanted.argmax(1)
    return {"cr": float(agrees.mean()), "jsd": float(jensen_shannon(said, wanted).mean())}


def measure(options, method: str, name: str, seed: int) -> dict[str, float]:
    train, test = (load_dataset(name, split, options.data) for split in ("train", "test"))
    model = trained_model(name, train, options.quick, seed)
    ids, tests = (model.encoder.encode(corpus.texts).nonempty()[1] for corpus in (train, test))
    if options.quick:
        ids = ids.take(np.arange(min(3000, len(ids))))
    wanted = model.trace(tests).last()
    if method == PHRASES:
        return phrase_row(options, model, train, test, wanted, seed)
    if method in RIVALS:
        return rival_row(method, model, ids, tests, model.trace(ids).last(), wanted)
    return automaton_row(options, method, model, ids, tests, wanted, seed)


def kept(options, method: str, name: str, seed: int) -> dict[str, float]:
    """A row from the cache, or measured now."""
    CACHE.mkdir(exist_ok=True)
    path = CACHE / f"readable{'-quick' if options.quick else ''}-{name}-{method}-{seed}.json"
    if not path.exists():
        row = measure(options, method, name, seed)
        write_atomically(path, json.dumps(row).encode())
        print(f"{name} {method} seed {seed}: CR {row['cr']:.4f} JSD {row['jsd']:.4f}", file=sys.stderr, flush=True)
    return json.loads(path.read_text())


def figure(result: dict[str, dict[str, dict[str, float]]], path: str) -> None:
    """CR against the numbers one has to read, a panel for each data set."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    canvas, panels = pyplot.subplots(1, len(result), figsize=(4.2 * len(result), 3.6), squeeze=False)
    for panel, (name, table) in zip(panels[0], result.items(), strict=True):
        ours = [table[method] for method in SIZES]
        panel.plot([row["numbers"] for row in ours], [row["cr"] for row in ours], "o-", label="readable automaton")
        for method, mark in zip((PHRASES, *RIVALS), "vsd^x", strict=True):
            if method in table:
                panel.plot(table[method]["numbers"], table[method]["cr"], mark, label=method)
        panel.set(xscale="log", xlabel="numbers to read", ylabel="agreement with the network", title=name)
        panel.grid(alpha=0.3)
    panels[0][0].legend(fontsize=8)
    canvas.tight_layout()
    canvas.savefig(path, dpi=130)


def main() -> None:
    options = arguments(
        __doc__.splitlines()[0],
        lambda parser: (
            parser.add_argument("--figure", help="write the figure to this file"),
            parser.add_argument(
                "--only", nargs="*", default=[*SIZES, "shared", PHRASES, *RIVALS], help="rows to measure"
            ),
            parser.add_argument("--sets", nargs="*", default=SETS, help="data sets to measure"),
            parser.add_argument("--seeds", type=int, default=SEEDS, help="LSTMs of each data set"),
        ),
    )
    names = [name for name in options.sets if is_available(name, options.data)]
    if options.quick:
        names = ["newsroom"]
    result: dict[str, dict[str, dict[str, float]]] = {}
    for name in names:
        result[name] = {}
        for method in options.only:
            runs = [kept(options, method, name, seed) for seed in range(1 if options.quick else options.seeds)]
            result[name][method] = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
        rows = [
            [
                method,
                *(f"{row[key]:.4f}" for key in ("cr", "jsd")),
                f"{row['numbers']:,.0f}",
                f"{row['bytes'] / 1e3:.0f}" if "bytes" in row else "",
                f"{row['cpu_seconds']:.0f}",
            ]
            for method, row in result[name].items()
        ]
        show(f"{name}, {options.seeds} LSTMs", ["", "CR", "JSD", "numbers to read", "kB", "processor s"], rows)
    if options.figure:
        figure(result, options.figure)
    finish(options, result)


if __name__ == "__main__":
    main()
