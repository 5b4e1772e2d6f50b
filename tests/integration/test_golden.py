"""Today's numbers, frozen: every figure is worked out anew and compared with the one in `tests/golden/expected`.

The automata and models stand in `tests/golden` as raw arrays (`tests/golden/build.py`). The library is called in the
adapter functions of the first half of this file alone, one for each capability: they return plain numbers, arrays and
words, so that a renamed API needs other adapters but no other numbers. `tests/golden/regenerate.py` writes the
expected figures anew.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.golden import build
from wfalens import (
    Augmentation,
    Linear,
    Readable,
    Refinement,
    Stochastic,
    evaluation,
    explanation,
    export,
    extract,
    monitoring,
)
from wfalens import language as strings
from wfalens import refine as refine_extraction
from wfalens import robustness as verification
from wfalens.extraction import completion_method
from wfalens.robustness import attack
from wfalens.robustness.attack.run_attack import Originals, run_attack
from wfalens.robustness.certify.certificate import certify

EXPECTED = Path(__file__).parent.parent / "golden" / "expected"

# adapters: the automaton ---------------------------------------------------------------------------------------------


def class_weights(wfa, texts):
    return wfa.weights(texts)


def predict_proba(wfa, texts):
    return wfa.predict_proba(texts)


def predictions(wfa, texts, min_margin=0.0):
    """By the margin, as the figures were taken: 0.2 called it the confidence."""
    return np.where(wfa.margin(texts) >= min_margin, wfa.predict_indices(texts), -1)


def margins(wfa, texts):
    return wfa.margin(texts)


def trace(wfa, texts):
    outputs = wfa.trace(texts)
    return {"rows": outputs.values, "lengths": outputs.lengths}


def walk(wfa, text):
    way = wfa.walk(text)
    return {"states": way.states, "weights": way.weights, "shares": way.shares, "words": list(way.words)}


def matrices(wfa, words):
    """TME: the transition matrix of each word, context included."""
    return [wfa.matrix(word) for word in words]


def start(wfa):
    """The output before any word, and how often states were visited."""
    return {"output": wfa.initial_output, "frequencies": wfa.state_frequencies}


def stepped(wfa, text):
    """The outputs of single steps, as a model that can be stepped gives them."""
    state, outputs = wfa.initial_state(1), []
    for word in wfa.encoder.encode([text])[0]:
        state, output = wfa.step(state, np.array([word]))
        outputs.append(output[0])
    return outputs


def worked_example(alpha):
    return build.stochastic(build.stored("automata")["worked"], alpha).matrix("a")


def written_and_read(wfa, texts, folder):
    wfa.save(folder / "golden.wfa")
    return type(wfa).load(folder / "golden.wfa").predict_proba(texts)


# adapters: words -----------------------------------------------------------------------------------------------------


def nearest_words(wfa, word):
    """d_T from a word to all others."""
    return dict(explanation.TransitionEmbeddings.of(wfa).nearest(word, 20))


def explained_variance(wfa, size):
    return explanation.TransitionEmbeddings.of(wfa).reduced(size).explained


def influence_scores(wfa):
    found = explanation.influence(wfa, min_count=1)
    return dict(zip(found.words, found.scores, strict=True))


def phrase_influence(wfa, phrases):
    return explanation.phrase_influence(wfa, phrases).scores


def contrast(wfa, kind, convention):
    options = {"min_count": 1, "convention": convention, "per_class": 100}
    bounds = explanation.word_pairs(wfa, build.word_vectors(), kind, epsilon="q0.5", delta="q0.3", **options)
    # beside the quantiles, which are the distances of some pairs
    options |= {"epsilon": 1.001 * bounds.epsilon, "delta": 0.999 * bounds.delta}
    found = explanation.word_pairs(wfa, build.word_vectors(), kind, **options)
    pairs = {
        " ".join(sorted((each.first, each.second))): [each.transition_distance, each.semantic_distance]
        for each in found.pairs
    }
    return {"total": found.total, "epsilon": bounds.epsilon, "delta": bounds.delta, "pairs": pairs}


def word_importance(wfa, texts, pairs=False):
    find = explanation.pair_importance if pairs else explanation.word_importance
    found = find(wfa, texts, min_count=5)
    rows = zip(found.names, found.counts, found.mean, found.size, strict=True)
    return {name: [count, mean, size] for name, count, mean, size in rows}


def phrases(wfa, model=None):
    found = explanation.deciding_phrases(wfa, build.texts_of("corpus"), model, min_support=5, longest=3, gap=1)
    rows = zip(found.phrases, found.labels, found.effects, found.interactions, found.support, found.hits, strict=True)
    return {"base": found.base_rates, "phrases": {phrase: row for phrase, *row in rows}}


# adapters: texts -----------------------------------------------------------------------------------------------------


def shapley_values(wfa, text, absence, unit=None):
    found = explanation.shapley(wfa, text, absence=absence, unit=unit, tolerance=0)
    return {"base": found.base, "output": found.output, "values": found.values}


def banzhaf_values(wfa, text, absence):
    return explanation.banzhaf(wfa, text, absence=absence).values


def interactions(wfa, text, absence):
    found = explanation.interactions(wfa, text, absence=absence)
    table = np.zeros((len(found.words), len(found.words), len(found.class_names)))
    for (one, two), value in zip(found.subsets, found.values, strict=True):
        table[one, two] = table[two, one] = value
    return table


def local_attribution(wfa, text, method):
    found = explanation.explain(wfa, text, method=method, unit=wfa.unit)
    return {"contributions": found.values, "without": found.without, "shares": found.row_shares}


def replacements(wfa, text, class_name):
    found = explanation.best_replacements(wfa, text, class_name, min_count=1)
    return [[each.position, each.output] for each in found.items]  # words of one kind tie


def network_shapley(model, wfa, text, queries):
    """The network's own values, by regression on the automaton's residual."""
    found = explanation.network_shapley(model, wfa, text, queries=queries, seed=3)
    return {"values": found.values, "queries": found.queries, "error": found.standard_error}


def captum_values(wfa, texts, target):
    ids = [list(each) for each in wfa.encoder.encode(texts)]
    table = np.array([each + [0] * (max(map(len, ids)) - len(each)) for each in ids])
    return explanation.WFAExplainer(wfa, unit=wfa.unit).attribute(table, target)


def lime_list(wfa, text):
    return dict(explanation.WFAExplainer(wfa, unit=wfa.unit).explain_instance(text).as_list())


def explanation_scores(wfa, model, texts):
    scorers = {
        "shapley": lambda text: explanation.shapley(wfa, text).values,
        "walk": lambda text: explanation.explain(wfa, text, method="additive", unit=wfa.unit).values,
    }
    rationales = [[int(word in ("good", "bad", "not")) for word in text.split()] for text in texts]
    found = evaluation.evaluate_explanations(scorers, model, texts, rationales=rationales)
    estimates = {(method, name): found.estimate(method, name) for method in found.methods for name in found.measures}
    return {f"{method} {name}": each and interval(each) for (method, name), each in estimates.items()}


def counterfactuals(wfa, text):
    found = explanation.counterfactuals(wfa, text)
    return {"tried": found.tried, "edits": sorted([each.edit.text, each.label, each.automaton] for each in found.items)}


# adapters: readable automata -----------------------------------------------------------------------------------------


def names(wfa):
    found = wfa.readable.names
    return {
        "states": list(found.states),
        "kinds": [[list(each.words), each.change] for each in found.classes],
    }


def moves(wfa):
    found = explanation.moves(wfa)
    return {"shares": found.shares, "rates": found.rates}


# adapters: certificates and questions --------------------------------------------------------------------------------


SUBSTITUTES = {"good": ["fine", "dull"], "bad": ["dull"], "film": ["plot", "the"], "not": ["very"]}


def edits_of(wfa, edits):
    listed = verification.Substitutes.of(wfa, SUBSTITUTES if edits != "edits" else {"good": ["fine"]})
    if edits != "edits":
        return verification.Edits(listed)
    inserted = (wfa.encoder.vocabulary.id_of("very"),)
    return verification.Edits(listed, delete=True, duplicate=True, swap=True, insert=inserted)


def certificate(wfa, text, edits, changes, effort):
    found = certify(wfa, text, edits_of(wfa, edits), changes=changes, effort=effort)
    told = {"status": found.status, "label": found.label, "variants": found.variants, "witness": list(found.witness)}
    return told | {"bound": found.bound, "reached": found.reached, "lowest": found.lowest}


def certificates(wfa, model, texts):
    found = verification.certify_texts(wfa, texts, edits_of(wfa, "substitutions"), model=model, samples=50)
    counts = [len(found.with_status(status)) for status in found.statuses]
    return [*counts, interval(found.certified)]


def network_certificates(wfa, model, texts, edits):
    found = verification.certify_network(wfa, model, texts, edits_of(wfa, edits), changes=2, budget=60)
    return [[each.status, each.label, each.variants, each.tried, each.margin] for each in found.certificates]


def character_certificates(wfa, texts, changes):
    found = verification.certify_edits(wfa, texts, changes=changes)
    return [[each.status, each.label, each.read, each.lowest, each.witness] for each in found.certificates]


def model_check(wfa, name, class_name, count):
    words = ["good", "bad", "not", "film"]
    found = verification.check(wfa, verification.Question(name, class_name, count), words, "the film")
    told = {"value": found.value, "own": found.value, "by_words": found.by_words}
    return told | {"witness": list(found.witness.words), "reached": found.witness.value}


def likeliest_machine(wfa):
    found = verification.learn_machine(wfa, algorithm="likely").machine
    return {"transitions": found.transitions, "outputs": found.outputs}


def difference(before, after, texts):
    found = verification.compare(before, after, texts, min_count=1)
    changes = {
        word: [old, new]
        for word, old, new in zip(found.words.words, found.words.before, found.words.after, strict=True)
    }
    divergence = dict(zip(found.texts.texts, found.texts.divergence, strict=True))
    states = None if found.states is None else {f"{each.before} → {each.after}": each.distance for each in found.states}
    return {"agreement": agreement(found.agreement), "words": changes, "texts": divergence, "states": states}


# adapters: fidelity --------------------------------------------------------------------------------------------------


def interval(estimate):
    return [estimate.value, estimate.low, estimate.high]


def agreement(found):
    return {"texts": found.texts, "cr": interval(found.cr), "jsd": interval(found.jsd)}


@cache
def measured(wfa, model):
    corpus, groups = build.texts_of(), build.stored("model")["groups"]
    return evaluation.measure_fidelity(wfa, model, corpus, reference=build.texts_of("corpus"), groups=groups)


def fidelity(wfa, model):
    found = measured(wfa, model)
    parts = {"class": found.by_class, "length": found.by_length, "rare": found.by_rare_words}
    told = {by: {name: agreement(each) for name, each in part.items()} for by, part in parts.items()}
    accuracies = [interval(found.model_accuracy), interval(found.automaton_accuracy)]
    return {"overall": agreement(found.overall), "undecided": found.undecided, "accuracy": accuracies, **told}


def baselines(wfa, model):
    """Majority class and bag of words, fitted to the extraction texts."""
    return {name: agreement(each) for name, each in measured(wfa, model).baselines.items()}


def readable_fidelity(wfa, model):
    return agreement(measured(wfa, model).readable)


def groups(wfa, model):
    found = measured(wfa, model).by_group
    told = {each.name: [agreement(each.agreement), each.rates["automaton"]["pos"]] for each in found.groups}
    rates = {name: [both, interval(pos.selected), interval(pos.true_positive)] for name, (both, pos) in told.items()}
    return {
        "groups": rates,
        "widest": [[each.measure, each.high, each.low, interval(each.difference)] for each in found.gaps[:3]],
    }


def selective(wfa, model):
    """By the margin, as the figures were taken: 0.2 called it the confidence."""
    ids = model.encoder.encode(build.texts_of().texts).nonempty()[1]
    agrees = wfa.predict_indices(ids) == model.trace(ids).last().argmax(1)
    found = evaluation.SelectiveFidelity.of(wfa.margin(ids), agrees)
    curve = [[each.min_confidence, each.coverage, interval(each.cr)] for each in found.curve]
    return {"curve": curve, "deciles": [[each.texts, each.confidence, interval(each.cr)] for each in found.deciles]}


# adapters: language models -------------------------------------------------------------------------------------------


def log_probability(model, texts):
    return strings.log_probability(model, texts)


def perplexity(model, texts):
    return strings.perplexity(model, texts)


def most_likely(model, number):
    return [[each.text, each.log_probability] for each in strings.most_likely(model, number)]


def drawn(model, number):
    found = strings.sample(model, number, seed=5, longest=12)
    return [list(found.texts), found.ended]


def string_fidelity(wfa, model):
    texts = build.stored("grammar")
    found = evaluation.measure_language_model(wfa, model, texts["held_out"])
    names = ("agreement", "ndcg", "mse", "perplexity", "perplexity_ratio", "wer")
    own = {"kl": interval(found.automaton.kl), **{name: getattr(found.automaton, name) for name in names}}
    return {"prefixes": found.prefixes, "model": [found.model_perplexity, found.model_wer], "automaton": own}


def string_baselines(wfa, model):
    """The divergence of n-grams and of the spectral method."""
    texts = build.stored("grammar")
    found = evaluation.measure_language_model(wfa, model, texts["held_out"], reference=texts["corpus"])
    return {name: each.kl.value for name, each in found.baselines.items()}


# adapters: watching --------------------------------------------------------------------------------------------------


def coverage(wfa, texts):
    found = monitoring.coverage(wfa, texts)
    shares = [[each.there, each.exercised] for each in (found.states, found.transitions, found.pairs)]
    return {
        "shares": shares,
        "states": found.state_visits,
        "transitions": found.transition_visits,
        "missing": found.missing,
    }


def gaps(wfa, model, texts):
    ids = wfa.encoder.encode(texts)
    found = monitoring.fill_gaps(wfa, model, monitoring.coverage(wfa, texts), ids, 4, seed=2)
    return [found.unreached, len(found.texts)]


def habits(wfa):
    found = monitoring.ReferenceStats(wfa)
    return {"table": found.surprise}


def features(wfa, model, texts):
    """All features of unusual texts, surprise first."""
    return monitoring.text_features(monitoring.ReferenceStats(wfa), model, wfa.encoder.encode(texts))


def watched(wfa, model, texts):
    usual = monitoring.UsualTexts.of(wfa, model, build.stored("model")["corpus"])
    found = monitoring.Watcher(wfa, model, usual, monitoring.Alarms(window=20, false_alarms=0.1)).read(texts)
    texts = [
        [each["class"], each["p"], each["known_words"], each["agrees"], each["alarm"]]
        for each in found
        if "class" in each
    ]
    windows = [each["window"] for each in found if "window" in each]
    return {"texts": texts, "windows": [[each["agreement"], each["alarms"], each["alarm"]] for each in windows]}


def detection(wfa, model):
    """AUROC of a detector that tells the texts of another distribution from held-out ones (trained, so loose)."""
    clean, odd = (features(wfa, model, texts) for texts in (build.stored("model")["held_out"], ODD))
    found = monitoring.Detector.trained(
        clean, odd, monitoring.SynonymDefense(np.arange(len(wfa.word_counts), dtype=np.int32))
    )
    return monitoring.auroc(found.scores(clean), found.scores(odd))


# adapters: attacks ---------------------------------------------------------------------------------------------------


ALLOWED = [("good", "fine", 0.2), ("fine", "good", 0.2), ("bad", "dull", 0.3), ("dull", "bad", 0.3)]
ALLOWED += [("good", "dull", 0.6), ("bad", "fine", 0.6), ("film", "plot", 0.1), ("plot", "film", 0.1)]


def attacked(wfa, model, recipe):
    """Words that may replace each other are given with d_S; weak recipes may use the nearer half of them."""
    first, second = (np.array([wfa.encoder.vocabulary.id_of(pair[at]) for pair in ALLOWED], np.int32) for at in (0, 1))
    near = attack.Candidates.of_pairs(wfa, first, second, np.array([pair[2] for pair in ALLOWED], np.float32))
    arsenal = attack.AttackContext(wfa, near.only_best(near.semantic), near.within(0.25), near.within(1.0))
    found = run_attack(recipe, 2, arsenal.recipe(recipe, 2), Originals.of(model, build.texts_of()), seed=4)
    return outcome(found)


def attacked_by_edits(wfa, model, recipe):
    texts = [text.replace("<end>", "") for text in LETTERS]
    labels = model.predict(texts).tolist()
    corpus = build.Corpus.of(texts, labels, model.class_names)
    return outcome(run_attack(recipe, 2, attack.EDIT_RECIPES[recipe](wfa, 2), Originals.of(model, corpus), seed=4))


def outcome(found):
    sums = found.rates
    changed = [[each.queries, " ".join(each.after)] for each in found.examples if each.status == "succeeded"]
    return {"sums": [sums.succeeded, sums.failed, sums.skipped, sums.asr_correct, sums.queries], "texts": changed}


# adapters: exports ---------------------------------------------------------------------------------------------------


EXPORTED = ["good", "not"]


def exported(wfa, form):
    """The files of a format by their endings, as text."""
    options = {"openfst": {"class_name": "pos"}, "dot": {"flows": None}}.get(form, {})
    found = export.export_files(wfa, Path("golden.out"), form, words=EXPORTED, **options)
    return {path.name: content.decode() for path, content in found.files.items()}


def exported_onnx(wfa, ids):
    """What onnxruntime makes of the exported graph; ids: (texts, words)"""
    onnxruntime = pytest.importorskip("onnxruntime")
    return onnxruntime.InferenceSession(export.to_onnx(wfa)).run(["weights"], {"ids": np.array(ids)})[0]


def exported_graph(wfa):
    graph = export.to_networkx(export.subset(wfa, EXPORTED))
    return sorted([int(a), int(b), data["word"], data["weight"]] for a, b, data in graph.edges(data=True))


# adapters: extraction ------------------------------------------------------------------------------------------------


def paper_extraction(model, states, **options):
    """The paper's method, end to end, from the formula model: what was learned and what it says."""
    augmentation = options.pop("augmentation", None)
    if augmentation:
        options["augmentation"] = Augmentation(vectors=build.word_vectors(), **augmentation)
    return extract(
        model,
        build.texts_of("corpus"),
        completion_method(**{"completion": "empirical", "states": states} | options),
        seed=1,
    )


def learned(wfa):
    told = {"centres": wfa.centres, "alpha": wfa.alpha, "beta": getattr(wfa.completion, "beta", None)}
    words = wfa.encoder.vocabulary.words[1:]
    return told | {"visits": wfa.state_visits, "counts": wfa.word_counts, "matrices": matrices(wfa, words)}


def extraction_of_language(model):
    return extract(
        model,
        build.stored("grammar")["corpus"],
        Stochastic(states=3, completion="probe", alpha=0.0, abstraction="lookahead"),
        seed=1,
    )


def trained_extraction(kind, model):
    """Kinds that are trained: only how faithful they are is pinned."""
    quick = {
        "fit": Stochastic(states=8, rounds=6),
        "shared": Readable(states=8, clusters=8, **QUICK_READABLE),
        "readable": Readable(states=6, clusters=6, **QUICK_READABLE),
        "linear": Linear(
            layers=2, width=8, epochs=12, batch=256, temperature=3.0, clean=0.1, following=0.2, random=0.0
        ),
    }
    return extract(model, build.texts_of("corpus"), quick[kind])


QUICK_READABLE = {"start_epochs": 2, "epochs": 5, "final_epochs": 3, "tokens": 2000, "batch": 400}


def consistency_rate(wfa, model):
    return evaluation.measure_fidelity(wfa, model, build.texts_of()).overall.cr.value


def refined(model):
    """Counterexample refinement: agreed on, texts and lower bound of the guarantee."""
    how = Refinement(rounds=2, texts=60, samples=200)
    wfa = refine_extraction(
        Stochastic(states=6, completion="probe", alpha=0.0, abstraction="outputs"), model, build.texts_of("corpus"), how
    )
    return wfa.provenance["guarantee"]


# the figures ---------------------------------------------------------------------------------------------------------


STOCHASTIC = ("null", "uniform", "empirical", "squared", "probe", "fit", "shared", "readable")
LINEAR = ("linear", "linear_plain")
ALL = (*STOCHASTIC, *LINEAR)
SURE = tuple(name for name in ALL if name != "null")  # null completion loses mass: no class to certify or compare
LETTERS = ["abba", "cab", "dd", "abcd", "a", "bcaab"]
SHORT, TEXT, LONG = "not good", "the plot never dull very fine film", "good film not bad the very dull " * 2
TEXTS = ["the film good", SHORT, TEXT, "bad", "good good bad not not", "the zebra film", "<pad> fine", "", LONG.strip()]
READ = [text for text in TEXTS if text]
ODD = ["plot plot plot", "zebra never never", "dull dull zebra", "never plot never plot"] * 5
ABSENCES = ("delete", "unknown", "background")
ASKED = [("raise", "pos", 2), ("lower", "pos", 3), ("push", "pos", 3), ("push", "pos", None)]
Figure = Callable[[], Any]


def figures_of(name: str) -> dict[str, Figure]:
    """All figures of one automaton of words."""
    wfa = partial(build.automaton, name)
    words = [*build.stored("model")["words"], "<unk>"]
    found: dict[str, Figure] = {
        "class weights": lambda: class_weights(wfa(), TEXTS),
        "probabilities": lambda: predict_proba(wfa(), TEXTS),
        "predictions": lambda: [predictions(wfa(), TEXTS), predictions(wfa(), TEXTS, 0.1)],
        "margins": lambda: margins(wfa(), TEXTS),
        "trace": lambda: trace(wfa(), TEXTS),
        "walk": lambda: walk(wfa(), "the zebra not good plot"),
        "matrices": lambda: matrices(wfa(), words),
        "start": lambda: start(wfa()),
        "steps": lambda: stepped(wfa(), TEXT),
        "nearest words": lambda: nearest_words(wfa(), "good"),
        "explained variance": lambda: explained_variance(wfa(), 3),
        "influence": lambda: influence_scores(wfa()),
        "influence of phrases": lambda: phrase_influence(wfa(), ["not good", "not very good", "the film"]),
        "importance of words": lambda: word_importance(wfa(), build.stored("model")["held_out"]),
        "phrases": lambda: phrases(wfa()),
        "replacements": lambda: replacements(wfa(), "the film good", "pos"),
        "as captum": lambda: captum_values(wfa(), ["the film good", "bad"], 1),
        "as lime": lambda: lime_list(wfa(), "the film good"),
    }
    for absence in ABSENCES:
        found |= {
            f"shapley, {absence}": lambda each=absence: [
                shapley_values(wfa(), text, each) for text in (SHORT, TEXT, LONG)
            ],
            f"banzhaf, {absence}": lambda each=absence: [banzhaf_values(wfa(), text, each) for text in (SHORT, TEXT)],
            f"interactions, {absence}": lambda each=absence: interactions(wfa(), "the plot not very good", each),
        }
        if name in LINEAR:
            found[f"shapley of probabilities, {absence}"] = lambda each=absence: shapley_values(
                wfa(), TEXT, each, "probability"
            )
    for method in ("shapley", "additive"):
        found[f"attribution, {method}"] = lambda each=method: local_attribution(wfa(), "the zebra not good plot", each)
    for kind in ("collaborative", "adversarial"):
        found[f"contrast, {kind}"] = lambda each=kind: contrast(wfa(), each, "mean_square")
    if name in SURE:
        for edits, changes, effort in (
            ("substitutions", None, 0),
            ("substitutions", 1, 0),
            ("edits", 2, 0),
            ("edits", 2, 200),
        ):
            found[f"certificate, {edits}, {changes} changes, effort {effort}"] = (
                lambda edits=edits, changes=changes, effort=effort: [
                    certificate(wfa(), text, edits, changes, effort) for text in ("the film good", "not bad film")
                ]
            )
    return found


def figures_with_the_model(name: str) -> dict[str, Figure]:
    """Figures of an automaton of words beside the formula model."""
    wfa, model = partial(build.automaton, name), build.formula_model
    found: dict[str, Figure] = {
        "fidelity": lambda: fidelity(wfa(), model()),
        "fidelity by group": lambda: groups(wfa(), model()),
        "selective fidelity": lambda: selective(wfa(), model()),
        "phrases of the network": lambda: phrases(wfa(), model()),
        "network's shapley, exact": lambda: network_shapley(model(), wfa(), TEXT, 500),
        "network's shapley, sampled": lambda: network_shapley(model(), wfa(), TEXT + " good bad not", 60),
        "scores of explanations": lambda: explanation_scores(wfa(), model(), build.stored("model")["held_out"][:12]),
        "certificates": lambda: certificates(wfa(), model(), READ),
        "certificates of the network": lambda: [
            network_certificates(wfa(), model(), READ, edits) for edits in ("substitutions", "edits")
        ],
    }
    if name == "linear_plain":
        found["fidelity of the readable automaton"] = lambda: readable_fidelity(wfa(), model())
    return found


def figures_of_readable() -> dict[str, Figure]:
    wfa, model = partial(build.automaton, "readable"), build.formula_model
    held = build.stored("model")["held_out"]
    return {
        "names": lambda: names(wfa()),
        "moves": lambda: moves(wfa()),
        "coverage": lambda: coverage(wfa(), held[:6]),
        "gaps": lambda: gaps(wfa(), model(), held[:6]),
        "habits": lambda: habits(wfa()),
        "surprise and other features": lambda: features(wfa(), model(), READ),
        "watch": lambda: watched(wfa(), model(), held[:30] + ODD[:4] + [""]),
        **{
            f"check {name} {label} {count}": lambda name=name, label=label, count=count: model_check(
                wfa(), name, label, count
            )
            for name, label, count in ASKED
        },
    }


def figures_of_exports() -> dict[str, Figure]:
    forms = dict.fromkeys(("null", "empirical"), ("dot", "openfst", "prism", "drn", "json", "aalpy"))
    forms |= {"readable": ("dot", "json", "drn"), "linear": ("dot", "json"), "linear_plain": ("prism",)}
    found = {
        f"{form} of {name}": lambda name=name, form=form: exported(build.automaton(name), form)
        for name, chosen in forms.items()
        for form in chosen
    }
    ids = [[8, 9, 2, 0, 0], [6, 2, 0, 0, 0], [1, 3, 11, 5, 4]]
    found |= {f"onnx of {name}": lambda name=name: exported_onnx(build.automaton(name), ids) for name in ALL}
    return found | {"networkx of null": lambda: exported_graph(build.automaton("null"))}


def figures_of_letters() -> dict[str, Figure]:
    wfa = partial(build.automaton, "letters")
    return {
        "probabilities": lambda: predict_proba(wfa(), LETTERS),
        "counterfactuals": lambda: [counterfactuals(wfa(), text) for text in LETTERS[:4]],
        "certificates, 1 edit": lambda: character_certificates(wfa(), LETTERS, 1),
        "certificates, 2 edits": lambda: character_certificates(wfa(), ["abba", "dd"], 2),
        "machine by likely states": lambda: likeliest_machine(wfa()),
        **{
            f"attack {each}": lambda each=each: attacked_by_edits(wfa(), wfa(), each)
            for each in ("guided", "greedy", "random-tries")
        },
    }


def figures_of_language() -> dict[str, Figure]:
    texts = ["", "a", "abc", "cabbac", "bbbbbbb"]
    both = {"automaton": partial(build.automaton, "language"), "model": build.language_model}
    found: dict[str, Figure] = {}
    for name, made in both.items():
        found |= {
            f"log-probability, {name}": lambda made=made: log_probability(made(), texts),
            f"perplexity, {name}": lambda made=made: perplexity(made(), build.stored("grammar")["held_out"]),
            f"most likely, {name}": lambda made=made: most_likely(made(), 12),
            f"drawn, {name}": lambda made=made: drawn(made(), 8),
        }
    found |= {
        "trace": lambda: trace(build.automaton("language"), texts),
        "fidelity": lambda: string_fidelity(build.automaton("language"), build.language_model()),
        "learned from the model": lambda: learned(extraction_of_language(build.language_model())),
    }
    return found


def figures_of_differences() -> dict[str, Figure]:
    pairs = [("empirical", "probe"), ("fit", "readable"), ("linear", "linear_plain"), ("uniform", "linear")]
    return {
        f"{before} and {after}": lambda before=before, after=after: difference(
            build.automaton(before), build.automaton(after), build.stored("model")["held_out"][:25]
        )
        for before, after in pairs
    }


def figures_of_attacks() -> dict[str, Figure]:
    recipes = (
        "nearest",
        "weak",
        "strong",
        "random-order",
        "random-word",
        "guided-once",
        "guided",
        "random-tries",
        "greedy",
    )
    return {
        f"{recipe} by {name}": lambda recipe=recipe, name=name: attacked(
            build.automaton(name), build.formula_model(), recipe
        )
        for recipe in recipes
        for name in ("readable", "linear")
    }


PAPER: dict[str, dict[str, Any]] = {
    "null": {"completion": "null", "alpha": 0.0},
    "uniform": {"completion": "uniform", "alpha": 0.0},
    "uniform and context": {"completion": "uniform", "alpha": 0.4},
    "empirical": {"alpha": 0.0, "beta": 0.3},
    "empirical and context": {"alpha": 0.4, "beta": 0.3},
    "beta of the corpus": {"alpha": 0.2, "beta": "corpus"},
    "squared distance, uniform start": {"alpha": 0.2, "beta": 0.5, "distance": "squared", "initial": "uniform"},
    "augmentation": {
        "alpha": 0.4,
        "beta": 0.3,
        "augmentation": {"epochs": 2, "neighbours": 3, "drop": 0.2, "weight": 0.5},
    },
    "automatic alpha and beta": {"alpha": "auto", "beta": "auto"},
    "probe": {"completion": "probe", "alpha": 0.0, "representatives": 4, "strength": 1.0},
}


@cache
def paper_automaton(name: str):
    model = build.formula_model() if name == "probe" else build.black_box()
    return paper_extraction(model, 6, **dict(PAPER[name]))


def figures_of_the_paper() -> dict[str, Figure]:
    found: dict[str, Figure] = {
        "worked example, alpha 0": lambda: worked_example(0.0),
        "worked example, alpha .2": lambda: worked_example(0.2),
        "outputs of the model": lambda: trace(build.formula_model(), build.formula_model().encoder.encode(READ)),
    }
    for name in PAPER:
        found[f"learned, {name}"] = lambda name=name: learned(paper_automaton(name))
        found[f"probabilities, {name}"] = lambda name=name: predict_proba(paper_automaton(name), TEXTS)
        found[f"fidelity, {name}"] = lambda name=name: fidelity(paper_automaton(name), build.formula_model())["overall"]
    return found


SUBJECTS: dict[str, Callable[[], dict[str, Figure]]] = {
    **{name: partial(figures_of, name) for name in ALL},
    **{
        f"{name} beside the model": partial(figures_with_the_model, name)
        for name in ("probe", "readable", "linear_plain")
    },
    "reading": figures_of_readable,
    "exports": figures_of_exports,
    "letters": figures_of_letters,
    "language": figures_of_language,
    "differences": figures_of_differences,
    "attacks": figures_of_attacks,
    "paper": figures_of_the_paper,
}
CASES = [(subject, figure) for subject, figures in SUBJECTS.items() for figure in figures()]


# comparing -----------------------------------------------------------------------------------------------------------


TOLERANCE = 1e-6
_NUMBER = re.compile(r"[-+]?\d+\.\d+(?:[eE][-+]?\d+)?|[-+]?\d+[eE][-+]?\d+|\d+")


def plain(value: Any) -> Any:
    """As JSON holds it: lists, dictionaries with text keys, numbers with seven decimals."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    return round(value, 7) + 0.0 if isinstance(value, float) else value  # no −0


def differences(expected: Any, found: Any, path: str = "") -> list[str]:
    """Where two plain values differ; numbers, also those within texts, may differ by the tolerance."""
    if isinstance(expected, dict) and isinstance(found, dict):
        if expected.keys() != found.keys():
            return [f"{path}: {sorted(expected)} became {sorted(found)}"]
        return [each for key in expected for each in differences(expected[key], found[key], f"{path}/{key}")]
    if isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            return [f"{path}: {len(expected)} items became {len(found)}"]
        pairs = enumerate(zip(expected, found, strict=True))
        return [each for at, pair in pairs for each in differences(*pair, f"{path}/{at}")]
    if isinstance(expected, str) and isinstance(found, str) and expected != found:
        if _NUMBER.split(expected) != _NUMBER.split(found):
            return [f"{path}: {expected!r} became {found!r}"]
        numbers = [[float(each) for each in _NUMBER.findall(text)] for text in (expected, found)]
        return differences(*numbers, path)
    is_number = [isinstance(each, int | float) and not isinstance(each, bool) for each in (expected, found)]
    alike = expected == found and type(expected) is type(found)
    if all(is_number):
        alike = math.isclose(expected, found, rel_tol=TOLERANCE, abs_tol=TOLERANCE) or (
            expected != expected and found != found
        )
    return [] if alike else [f"{path}: {expected!r} became {found!r}"]


@cache
def expected_figures(subject: str) -> dict[str, Any]:
    return json.loads((EXPECTED / f"{subject.replace(' ', '_')}.json").read_text("utf-8"))


@pytest.mark.parametrize(("subject", "figure"), CASES, ids=[f"{subject}: {figure}" for subject, figure in CASES])
def test_figure_is_what_it_was(subject, figure):
    found = plain(SUBJECTS[subject]()[figure]())
    assert differences(expected_figures(subject)[figure], found) == []


@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_stored_figure_is_worked_out(subject):
    assert sorted(expected_figures(subject)) == sorted(SUBJECTS[subject]())


def test_a_changed_number_is_noticed():
    assert differences({"a": [1.0, "x 0.25"]}, {"a": [1.0 + 5e-7, "x 0.2500001"]}) == []
    assert differences({"a": [1.0]}, {"a": [1.00001]})
    assert differences("x 0.25 y", "x 0.251 y")
    assert differences("x 0.25 y", "z 0.25 y")
    assert differences([1], [1, 2])
    assert differences({"a": 1}, {"b": 1})
    assert differences(True, 1)
    assert differences(None, 0.0)


@pytest.mark.parametrize("name", [*ALL, "letters", "language"])
def test_a_file_gives_the_same_automaton(name, tmp_path):
    wfa = build.automaton(name)
    texts = READ if name in ALL else ["abc", "cab"]
    np.testing.assert_array_equal(written_and_read(wfa, texts, tmp_path), predict_proba(wfa, texts))


def test_both_doors_to_the_formula_give_the_same_automaton():
    stepped_one = paper_extraction(build.formula_model(), 6, alpha=0.4, beta=0.3)
    assert differences(plain(learned(paper_automaton("empirical and context"))), plain(learned(stepped_one))) == []


# what is trained or drawn, only roughly ------------------------------------------------------------------------------


# with seeds 0 to 3 version 0.2 had at least .883, .917, .867 and .933 on the 60 held-out texts
@pytest.mark.slow
@pytest.mark.parametrize(("kind", "least"), [("fit", 0.83), ("shared", 0.86), ("readable", 0.81), ("linear", 0.88)])
def test_trained_kinds_are_faithful(kind, least):
    model = build.formula_model()
    assert consistency_rate(trained_extraction(kind, model), model) >= least


def test_refinement_proves_a_bound():
    found = refined(build.formula_model())
    assert found["texts"] == 200
    assert found["bound"] >= 0.65  # version 0.2: .705 to .770 with several seeds and sizes


def test_baselines_are_what_they_were():
    found = baselines(build.automaton("probe"), build.formula_model())
    assert found["majority class"]["cr"][0] == pytest.approx(25 / 60)
    assert found["majority class"]["jsd"][0] == pytest.approx(0.134552, abs=1e-5)
    assert found["bag of words"]["cr"][0] == pytest.approx(37 / 60, abs=2 / 60)
    assert found["bag of words"]["jsd"][0] == pytest.approx(0.0785, abs=2e-3)


def test_string_baselines_are_what_they_were():
    found = string_baselines(build.automaton("language"), build.language_model())
    assert found["last symbol"] == pytest.approx(0.084558, abs=1e-4)
    assert found["5-gram"] == pytest.approx(0.009567, abs=1e-4)
    assert found["spectral"] == pytest.approx(0, abs=1e-4)
    assert found["n-gram of the texts"] == pytest.approx(0.4092, abs=1e-2)


def test_detection_tells_odd_texts():
    assert detection(build.automaton("readable"), build.formula_model()) >= 0.95
