"""Shapley values of automata beside those of the LSTM itself, and beside the explainers of shap.

truth         the LSTM's own values from all coalitions of 200 texts of 6 to 9 words: Pearson, RMSE, and whether the
              top word is the same, or one whose value for the LSTM is nearly the highest
control       network_shapley at equal numbers of queries with and without the automaton: RMSE, variance ratio, coverage
shap          its Permutation, Partition and Kernel explainers on the LSTM at the same numbers of queries: RMSE and time
faithfulness  comprehensiveness and sufficiency on the LSTM, 500 texts, beside methods that ask the LSTM
speed         one text, a comment of 150 words, 10,000 texts

For every data set and LSTM one row is kept under benchmarks/.cache; remove it after a change.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from statistics import median

import numpy as np

from common import CACHE, arguments, finish, show, trained_model
from scorers import (
    automaton_scorer,
    integrated_gradients_scorer,
    leave_one_out_scorer,
    measure_faithfulness,
    random_scorer,
    shapley_scorer,
)
from wfalens.automaton import WFA
from wfalens.explanation import network_shapley, shapley_each
from wfalens.explanation.shapley.game import coalition_texts
from wfalens.extraction import Linear, Stochastic, extract
from wfalens.models.inference import final_outputs
from wfalens.ragged import Ragged
from wfalens.storage import write_atomically
from wfalens.text import load_dataset
from wfalens.text.datasets.catalogue import is_available

KINDS = ("fitted", "linear")
QUERIES = (30, 60, 120)  # 120: nine pairs of orders of a text of eight words
NEAR = 0.02  # of a probability, behind the highest value
SEEDS = {"tagmynews": 3, "jigsaw_toxic": 3}


def automaton(options, name: str, kind: str, model, train, seed: int) -> WFA:
    """Made once and kept: K = 80 with fitted rows, or the linear kind."""
    path = CACHE / f"shapley{'-quick' if options.quick else ''}-{name}-{kind}-{seed}.wfa"
    if not path.exists():
        quick = {"rounds": 4, "representatives": 3} if options.quick else {}
        made = {
            "fitted": lambda: Stochastic(states=80, completion="fit", **quick),
            "linear": lambda: Linear(**({"epochs": 4} if options.quick else {})),
        }[kind]()
        ids = model.encoder.encode(train.texts)
        ids = ids.take(np.flatnonzero(ids.lengths)[: 3000 if options.quick else None])
        extract(model, ids, made, seed=seed).save(path)
    return WFA.load(path)


def short_texts(model, test, count: int) -> list[str]:
    """Random test texts of 6 to 9 words, which can be enumerated."""
    texts = [test.texts[at] for at in np.random.default_rng(0).permutation(len(test))]
    return [text for text in texts if 6 <= len(model.encoder.tokens(text)) <= 9][:count]


def against_truth(wfa: WFA, truth) -> dict[str, float]:
    """Values of the automaton in probabilities beside the LSTM's, for the LSTM's class."""
    columns = [each.column() for each in truth]
    texts = [" ".join(each.words) for each in truth]
    found = shapley_each(wfa, texts, unit="probability")
    ours = [each.values[:, at] for each, at in zip(found, columns, strict=True)]
    theirs = [each.values[:, at] for each, at in zip(truth, columns, strict=True)]
    flat = np.concatenate(ours), np.concatenate(theirs)
    behind = np.array([two.max() - two[one.argmax()] for one, two in zip(ours, theirs, strict=True)])
    return {
        "pearson": float(np.corrcoef(*flat)[0, 1]),
        "top_word": float(np.mean(behind == 0)),
        "near_top_word": float(np.mean(behind <= NEAR)),
        "rmse": float(np.sqrt(np.mean((flat[0] - flat[1]) ** 2))),
    }


def sampling(model, wfa: WFA | None, truth, queries: int, seeds: int) -> dict[str, float]:
    """Errors, coverage and time of `network_shapley` at so many queries; texts that it could enumerate are left out."""
    squares, held, seconds, runs = [], [], 0.0, 0
    for each in truth:
        if 2 ** len(each.words) <= 2 * queries:
            continue
        column = each.column()
        for seed in range(seeds):
            began = time.perf_counter()
            found = network_shapley(model, wfa, " ".join(each.words), queries=queries, seed=seed)
            seconds += time.perf_counter() - began
            runs += 1
            squares.append((found.values[:, column] - each.values[:, column]) ** 2)
            low, high = found.interval()
            if found.pairs > 1:
                held.append(((low <= each.values + 1e-7) & (each.values - 1e-7 <= high))[:, column])
    return {
        "rmse": float(np.sqrt(np.mean(np.concatenate(squares)))),
        "coverage": float(np.mean(np.concatenate(held))) if held else None,
        "ms": 1000 * seconds / runs,
    }


class Words:
    """The LSTM's probability of a class as a function of rows of ones and zeros: a 0 deletes a word."""

    def __init__(self, model, each) -> None:
        self.model, self.column, self.queries = model, each.column(), 0
        self.ids = model.encoder.vocabulary.encode([each.words]).values

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        self.queries += len(rows)
        return final_outputs(self.model, coalition_texts(self.ids, rows > 0.5, "delete"))[:, self.column]


def shap_values(tool: str, words: Words, queries: int) -> np.ndarray:
    """Values by one of the explainers of shap, within about so many queries."""
    import shap

    length = len(words.ids)
    one, nothing = np.ones((1, length)), np.zeros((1, length))
    if tool == "Kernel":
        return shap.KernelExplainer(words, nothing).shap_values(one, nsamples=queries, silent=True)[0]
    if tool == "Partition":  # words that stand together are clustered, as in its masker of texts
        links = [[at + length - 1 if at else 0, at + 1, at + 1, at + 2] for at in range(length - 1)]
        masker = shap.maskers.Partition(nothing, clustering=np.array(links, float))
        explainer = shap.explainers.Partition(words, masker)
    else:
        explainer = shap.explainers.Permutation(words, shap.maskers.Independent(nothing), seed=0)
    return explainer(one, max_evals=max(queries, 2 * length + 1), silent=True).values[0]


def shap_explainers(model, truth, queries: int) -> dict[str, dict[str, float]]:
    rows = {}
    for tool in ("Permutation", "Partition", "Kernel"):
        squares, asked, seconds = [], [], []
        chosen = [each for each in truth if 2 ** len(each.words) > 2 * queries]
        for each in [chosen[0], *chosen]:  # the first one twice: shap compiles and loads at its first call
            words = Words(model, each)
            began = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                values = shap_values(tool, words, queries)
            seconds.append(time.perf_counter() - began)
            asked.append(words.queries)
            squares.append((values - each.values[:, words.column]) ** 2)
        squares, asked, seconds = squares[1:], asked[1:], seconds[1:]
        rmse = float(np.sqrt(np.mean(np.concatenate(squares))))
        rows[tool] = {"rmse": rmse, "ms": 1000 * float(np.mean(seconds)), "queries": float(np.mean(asked))}
    return rows


def faithfulness(options, model, wfas: dict[str, WFA], test) -> dict[str, dict[str, float]]:
    chosen = np.random.default_rng(0).permutation(len(test))[: 100 if options.quick else 500]
    ids = model.encoder.encode([test.texts[at] for at in chosen])
    ids = ids.take(np.flatnonzero(ids.lengths > 1))
    scorers = {
        "random": random_scorer(),
        "walk, fitted": automaton_scorer(wfas["fitted"]),
        "Shapley, fitted": shapley_scorer(wfas["fitted"]),
        "Shapley, linear, log-odds": shapley_scorer(wfas["linear"]),
        "Shapley, linear, probabilities": shapley_scorer(wfas["linear"], unit="probability", pairs=16),
        "integrated gradients on the LSTM": integrated_gradients_scorer(model),
        "leave-one-out on the LSTM": leave_one_out_scorer(model),
    }
    found = {name: measure_faithfulness(name, scorer, model, ids) for name, scorer in scorers.items()}
    return {
        name: {
            "comprehensiveness": each.comprehensiveness,
            "sufficiency": each.sufficiency,
            "passes": each.passes,
            "ms": each.ms,
        }
        for name, each in found.items()
    }


def processor_ms(function, *given) -> float:
    """Milliseconds of the processor: unlike those of the clock, they tell the same where others use the machine."""
    began = time.process_time()
    function(*given)
    return 1000 * (time.process_time() - began)


def speed(wfa: WFA, model, test) -> dict[str, float]:
    """Milliseconds for one text (median of 200) and for 150 words, seconds for 10,000 texts; all words and classes.

    One text is the work of one thread, 10,000 that of all cores. shap's Permutation explainer has 120 queries and gives
    the values of one class; it is timed on the same short texts.
    """
    ids = wfa.encoder.encode(test.texts)
    ids = ids.take(np.flatnonzero(ids.lengths))
    singles = [ids.take(np.array([at])) for at in range(min(200, len(ids)))]
    long = Ragged(np.resize(ids.values, 150), np.array([0, 150]))
    texts = short_texts(model, test, 50)
    short = [shapley_each(wfa, [text])[0] for text in texts]  # compiled code is loaded here
    asked = [Words(model, each) for each in short]
    shap_values("Permutation", asked[0], QUERIES[-1])
    many = ids.take(np.resize(np.arange(len(ids)), 10_000))
    began = time.perf_counter()
    processor = processor_ms(shapley_each, wfa, many) / 1000
    clock = time.perf_counter() - began
    ms_short = median(processor_ms(shapley_each, wfa, [text]) for text in texts)
    ms_short_shap = median(processor_ms(shap_values, "Permutation", words, QUERIES[-1]) for words in asked)
    return {
        "ms": median(processor_ms(shapley_each, wfa, single) for single in singles),
        "ms_150": min(processor_ms(shapley_each, wfa, long) for _ in range(10)),
        "s_10000": clock,
        "processor_s_10000": processor,
        "ms_short": ms_short,
        "ms_short_shap": ms_short_shap,
        "speedup_shap": ms_short_shap / ms_short,
    }


def speeds(options, name: str, seed: int) -> dict[str, dict[str, float]]:
    train, test = (load_dataset(name, split, options.data) for split in ("train", "test"))
    model = trained_model(name, train, options.quick, seed)
    return {kind: speed(automaton(options, name, kind, model, train, seed), model, test) for kind in KINDS}


def measure(options, name: str, seed: int) -> dict[str, object]:
    train, test = (load_dataset(name, split, options.data) for split in ("train", "test"))
    model = trained_model(name, train, options.quick, seed)
    wfas = {kind: automaton(options, name, kind, model, train, seed) for kind in KINDS}
    texts = short_texts(model, test, 30 if options.quick else 200)
    truth = [network_shapley(model, None, text, queries=1 << 10) for text in texts]
    budgets = QUERIES[:2] if options.quick else QUERIES
    plain = {q: sampling(model, None, truth, q, 1 if options.quick else 3) for q in budgets}
    shap = {q: shap_explainers(model, truth, q) for q in budgets}
    faithful = faithfulness(options, model, wfas, test)
    row: dict[str, object] = {"plain": plain, "shap": shap, "faithfulness": faithful}
    names = {"fitted": "Shapley, fitted", "linear": "Shapley, linear, probabilities"}
    for kind, wfa in wfas.items():
        with_copy = {q: sampling(model, wfa, truth, q, 1 if options.quick else 3) for q in budgets}
        ratios = {q: (plain[q]["rmse"] / with_copy[q]["rmse"]) ** 2 for q in budgets}
        row[kind] = {
            **against_truth(wfa, truth),
            "sampling": with_copy,
            "variance_ratios": ratios,
            "variance_ratio": ratios[budgets[-1]],
            "coverage": with_copy[budgets[-1]]["coverage"],
            "comprehensiveness": faithful[names[kind]]["comprehensiveness"],
            "sufficiency": faithful[names[kind]]["sufficiency"],
        }
    return row


def kept(options, name: str, seed: int) -> dict[str, object]:
    """A row from the cache, or measured now; speed by itself, for a time when the machine is quiet."""
    row = _kept(options, f"{name}-{seed}", lambda: measure(options, name, seed))
    for kind, found in _kept(options, f"speed-{name}-{seed}", lambda: speeds(options, name, seed)).items():
        row[kind] |= found
    return row


def _kept(options, what: str, make) -> dict:
    CACHE.mkdir(exist_ok=True)
    path = CACHE / f"shapley{'-quick' if options.quick else ''}-{what}.json"
    if not path.exists():
        write_atomically(path, json.dumps(make()).encode())
        print(f"{what} done", file=sys.stderr, flush=True)
    return json.loads(path.read_text())


def mean_of(rows: list) -> object:
    """The mean of equal nested tables, number by number."""
    if isinstance(rows[0], dict):
        return {key: mean_of([row[key] for row in rows]) for key in rows[0]}
    return None if any(row is None for row in rows) else float(np.mean(rows))


def tell(name: str, seeds: int, table: dict) -> None:
    keys = [key for key, value in table[KINDS[0]].items() if isinstance(value, float)]
    show(f"{name}: {seeds} LSTMs", ["", *KINDS], [[key, *(table[kind][key] for kind in KINDS)] for key in keys])
    rows = [
        [f"shap {tool}", q, one["queries"], one["rmse"], one["ms"], ""]
        for q, tools in table["shap"].items()
        for tool, one in tools.items()
    ]
    for label, found in (
        ("orders", table["plain"]),
        *((f"orders + {kind}", table[kind]["sampling"]) for kind in KINDS),
    ):
        rows += [[label, q, float(q), one["rmse"], one["ms"], one["coverage"] or ""] for q, one in found.items()]
    show(
        "the LSTM's own values",
        ["method", "budget", "queries", "rmse", "ms", "coverage"],
        sorted(rows, key=lambda row: int(row[1])),
    )
    show(
        "faithfulness to the LSTM",
        ["method", "comprehensiveness", "sufficiency", "model passes", "ms"],
        [[method, *one.values()] for method, one in table["faithfulness"].items()],
    )


def main() -> None:
    options = arguments(
        __doc__.splitlines()[0], lambda parser: parser.add_argument("--seeds", type=int, help="LSTMs of each set")
    )
    names = [name for name in SEEDS if is_available(name, options.data)] or ["newsroom"]
    if options.quick:
        names = names[:1]
    result = {}
    for name in names:
        seeds = options.seeds or (1 if options.quick else SEEDS.get(name, 1))
        result[name] = mean_of([kept(options, name, seed) for seed in range(seeds)])
        tell(name, seeds, result[name])
    finish(options, result)


if __name__ == "__main__":
    main()
