"""What is measured in an experiment: each function takes one and returns plain numbers and words."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
from benchmarks.paper import paper
from benchmarks.paper.experiment import Experiment
from benchmarks.paper.store import Result
from numpy.typing import NDArray

from wfalens.models.inference import jensen_shannon

_TOP_WORDS, _PAIRS_PER_CLASS = 10, 3
_RANK_BINS = 30
_CHECKED_TEXTS = 200
_EXAMPLE = ("exercise helps her age swimmingly", "sports helps her age swimmingly")
_PAPERS_BEST: dict[str, Any] = {"completion": "empirical", "context": True, "augmented": True}
_AUTOMATA = {"paper's": _PAPERS_BEST, "probed": {"completion": "probe"}}


def accuracy(experiment: Experiment) -> Result:
    from wfalens.models.rnn.training import accuracy as measured

    return {
        "accuracy": measured(experiment.model, experiment.test),
        "train_texts": len(experiment.train),
        "test_texts": len(experiment.test),
        "words": len(experiment.model.encoder.vocabulary),
    }


def fidelity(experiment: Experiment, completion: str, **options: Any) -> Result:
    """CR and JSD on the test texts; the seconds run from the first output to the last prediction."""
    from wfalens.extraction import extract

    method = experiment.method(completion, **options)
    ids, tests, wanted = experiment.ids, experiment.tests, experiment.wanted
    experiment.warm_up(completion)
    began = time.perf_counter()
    wfa = extract(experiment.model, ids, method, seed=experiment.seed)
    weights = wfa.prediction_weights(tests)
    cr = float(np.mean(wfa.decide(weights) == wanted.argmax(1)))
    jsd = float(jensen_shannon(wfa.probabilities(weights), wanted).mean())
    return {
        "cr": cr,
        "jsd": jsd,
        "seconds": time.perf_counter() - began,
        "states": wfa.states - 1,
        **{name: wfa.summary()[name] for name in ("alpha", "beta")},
    }


def zipf(experiment: Experiment) -> Result:
    """Word counts by rank beside Zipf's law, and the share of missing rows (proposition 1)."""
    wfa = experiment.automaton("empirical")
    counts = np.bincount(experiment.ids.values, minlength=len(wfa.encoder.vocabulary))
    seen = np.flatnonzero(counts)
    order = seen[np.argsort(-counts[seen], kind="stable")]
    m, total = len(order), int(counts.sum())
    missing = 1 - np.diff(wfa.rows.row_start)[order] / wfa.states
    ranks = np.arange(1, m + 1)
    edges = np.unique(np.geomspace(1, m + 1, _RANK_BINS + 1).astype(int))
    bins = np.digitize(ranks, edges) - 1
    expected = total / (ranks * np.log(m))
    return {
        "words": m,
        "tokens": total,
        "median": float(np.median(counts[order])),
        "estimate": 2 * total / (m * np.log(m)),
        "missing_rows": float(missing.mean()),
        "missing_rows_of_rare_half": float(missing[m // 2 :].mean()),
        "rank": _binned(ranks, bins),
        "count": _binned(counts[order], bins),
        "zipf": _binned(expected, bins),
        "missing": _binned(missing, bins),
    }


def proposition2(experiment: Experiment, alpha: float) -> Result:
    """The largest difference between d_i and (1−α) Σ_k α^{i−k} Z_k + α^i I, over real texts (proposition 2)."""
    wfa = experiment.automaton("empirical")
    with_context, without = wfa.with_rule(alpha, wfa.completion), wfa.with_rule(0.0, wfa.completion)
    error, longest = 0.0, 0
    for text in list(experiment.tests)[:_CHECKED_TEXTS]:
        d = with_context.initial
        decisions: list[NDArray[np.float64]] = []
        for word in text:
            ids = np.array([word], np.int32)
            decisions.append(without.advance(d[None], ids)[0])
            d = with_context.advance(d[None], ids)[0]
            steps = len(decisions)
            shares = (1 - alpha) * alpha ** (steps - np.arange(1, steps + 1))
            expected = shares @ np.array(decisions) + alpha**steps * with_context.initial
            error = max(error, float(np.abs(d - expected).max()))
        longest = max(longest, len(text))
    return {"largest_error": error, "longest_text": longest}


def words(experiment: Experiment, automaton: str) -> Result:
    from wfalens.explanation import influence, phrase_influence

    wfa = experiment.automaton(**_AUTOMATA[automaton])
    scores = influence(wfa)
    known = [word for word in paper.FOUR_WORDS if word in wfa.encoder.vocabulary]
    four = phrase_influence(wfa, known)
    return {
        "class_names": list(wfa.class_names),
        "unit": wfa.unit,
        "top": {name: list(scores.top(name, _TOP_WORDS).words) for name in wfa.class_names},
        "four": {word: list(map(float, four.of(word))) for word in known},
        "typical_strength": float(np.median(scores.strength)),
        "strength": {word: float(np.linalg.norm(four.of(word))) for word in known},
    }


def maps(experiment: Experiment) -> Result:
    from wfalens.explanation import word_maps

    found = word_maps(experiment.automaton(**_PAPERS_BEST), experiment.vectors, seed=experiment.seed)
    return {
        "words": list(found.words),
        "classes": found.classes.tolist(),
        "class_names": list(found.class_names),
        "places": {space: np.round(points, 3).tolist() for space, points in found.points.items()},
        "purity": dict(found.purity),
    }


def pairs(experiment: Experiment, kind: str) -> Result:
    """The first pairs of each class within the paper's bounds, and whether the pairs it names are within them."""
    from wfalens.explanation import word_pairs

    wfa = experiment.automaton(**_PAPERS_BEST)
    epsilon, delta = paper.COLLABORATIVE if kind == "collaborative" else paper.ADVERSARIAL
    options = {"epsilon": epsilon, "delta": delta, "per_class": _PAIRS_PER_CLASS, "convention": "mean_square"}
    found = word_pairs(wfa, experiment.vectors, kind, **options)
    by_class = {
        name: [
            [pair.first, pair.second, pair.transition_distance, pair.semantic_distance] for pair in found.of_class(name)
        ]
        for name in wfa.class_names
    }
    named = {}
    for name, (first, second) in experiment.paper.pairs.get(kind, {}).items():
        if not all(word in wfa.encoder.vocabulary and word in experiment.vectors for word in (first, second)):
            continue
        d_t = float(np.square(wfa.embedding(first) - wfa.embedding(second)).mean())
        d_s = float(np.square(experiment.vectors[first] - experiment.vectors[second]).mean())
        held = d_t <= epsilon and d_s >= delta if kind == "collaborative" else d_t >= delta and d_s <= epsilon
        named[name] = {"first": first, "second": second, "d_t": d_t, "d_s": d_s, "held": bool(held)}
    return {
        "total": found.total,
        "words": found.words,
        "by_class": by_class,
        "named": named,
        "quantiles": {space: {f"{at:g}": value for at, value in row.items()} for space, row in found.quantiles.items()},
    }


def sentences(experiment: Experiment) -> Result:
    """The paper's pair of sentences through our model."""
    said = experiment.model.trace(experiment.model.encoder.encode(_EXAMPLE)).last()
    names = experiment.model.class_names
    return {text: dict(zip(names, map(float, row), strict=True)) for text, row in zip(_EXAMPLE, said, strict=True)}


def pretraining(experiment: Experiment, start: str) -> Result:
    """Test loss and accuracy after every epoch from one of three initial embeddings."""
    from benchmarks.paper.pretraining import compare_pretraining

    from wfalens.explanation import TransitionEmbeddings
    from wfalens.models.rnn.classifier import RNNConfig
    from wfalens.models.rnn.training import Trainer

    wfa = experiment.automaton(**_PAPERS_BEST)
    table = TransitionEmbeddings.of(wfa)
    width = min(RNNConfig().embedding, experiment.vectors.width, len(experiment.vectors), table.width, len(table))
    chosen = None
    if start == "transition embeddings":
        chosen = table.reduced(width).vectors
    elif start == "word vectors":
        chosen = experiment.vectors.reduced(width)
    trainer = Trainer(
        config=RNNConfig(embedding=width),
        epochs=experiment.scale.pretraining_epochs,
        max_length=wfa.encoder.max_length,
        tokenizer=wfa.encoder.tokenizer,
    )
    curve = compare_pretraining(experiment.train, experiment.test, {start: chosen}, trainer, [experiment.seed]).curves[
        0
    ]
    return {"loss": curve.loss[0].tolist(), "accuracy": curve.accuracy[0].tolist(), "width": width}


def attack(experiment: Experiment, automaton: str, recipe: str, k: int) -> Result:
    """Success of a recipe; as in the paper, a text without an allowed replacement counts as a failure."""
    from wfalens.robustness.attack.run_attack import Originals, run_attack

    context = experiment.context(**_AUTOMATA[automaton])
    texts = experiment.test.sample(experiment.scale.attack_texts, experiment.seed)
    outcome = run_attack(
        recipe, k, context.recipe(recipe, k), Originals.of(experiment.model, texts), seed=experiment.seed
    )
    summary = asdict(outcome.rates)
    return {name: summary[name] or 0.0 for name in ("asr_all", "asr_correct", "words_changed", "queries")} | {
        "texts": len(texts)
    }


def cost(experiment: Experiment, share: float, states: int, epochs: int) -> Result:
    """Seconds of one extraction from a share of the texts, with K states and t epochs of augmentation."""
    from wfalens.extraction import Augmentation, extract

    augmentation = Augmentation(vectors=experiment.vectors, epochs=epochs) if epochs else None
    method = experiment.method("empirical", context=True, states=states, augmentation=augmentation)
    ids = experiment.ids.take(np.arange(max(1, round(share * len(experiment.ids)))))
    experiment.warm_up("empirical")
    began = time.perf_counter()
    extract(experiment.model, ids, method, seed=experiment.seed)
    return {"seconds": time.perf_counter() - began, "tokens": len(ids.values)}


MEASURES: dict[str, Callable[..., Result]] = {
    measure.__name__: measure
    for measure in (
        accuracy,
        fidelity,
        zipf,
        proposition2,
        words,
        maps,
        pairs,
        sentences,
        pretraining,
        attack,
        cost,
    )
}


def _binned(values: NDArray[Any], bins: NDArray[np.int64]) -> list[float]:
    """The mean of the values in each bin that has any."""
    sums, sizes = np.bincount(bins, values), np.bincount(bins)
    return [float(total / size) for total, size in zip(sums, sizes, strict=True) if size]
