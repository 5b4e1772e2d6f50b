"""Which measure of confidence orders agreement best, and whether thresholds chosen on some texts hold on others.

Measures are compared, and thresholds chosen, on a tenth of the training texts that extraction does not see; the test
texts only confirm. The network was trained on that tenth too, so the choice is a little too sure of itself.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score

from common import arguments, data_sets, finish, show, trained_model
from wfalens.automaton import WFA
from wfalens.evaluation import SelectiveFidelity
from wfalens.extraction import completion_method, extract
from wfalens.models import RNNClassifier
from wfalens.ragged import Ragged
from wfalens.text import Corpus, load_dataset

FILMS = "rotten_tomatoes"
STATES = {"jigsaw_toxic": 20, FILMS: 20}
SETTINGS = (("empirical", 0.4), ("empirical", 0.0), ("uniform", 0.4), ("null", 0.4), ("probe", 0.0))
COVERAGES = (0.95, 0.9, 0.8, 0.7, 0.5)
_TOKENS = 1 << 14


def compare(options: argparse.Namespace, name: str, train: Corpus, test: Corpus) -> dict[str, Any]:
    model = trained_model(name, train, options.quick)
    order = np.random.default_rng(7).permutation(min(len(train), 4000 if options.quick else len(train)))
    held = len(order) // 10
    kept_out, fit = train.subset(np.sort(order[:held])), train.subset(np.sort(order[held:]))
    ids, fresh = worded(model, kept_out), worded(model, test)
    areas, automata = {}, {}
    for completion, alpha in SETTINGS:
        wfa = extract(model, fit, completion_method(completion, states=STATES.get(name, 40), alpha=alpha))
        agrees = agreement(wfa, model, ids)
        measures = {key: float(roc_auc_score(agrees, value)) for key, value in confidences(wfa, ids).items()}
        areas[f"{completion}, α = {alpha:g}"] = {"cr": float(agrees.mean()), **measures}
        automata[completion] = wfa
    rows = [[setting, *found.values()] for setting, found in areas.items()]
    show(f"{name}: area under the ROC curve, {len(ids):,} texts", ["", *next(iter(areas.values()))], rows)
    return {"areas": areas, "thresholds": thresholds(name, automata["probe"], model, ids, fresh)}


def thresholds(
    name: str, wfa: WFA, model: RNNClassifier, ids: Ragged[np.int32], fresh: Ragged[np.int32]
) -> list[dict[str, Any]]:
    chosen_on, confirmed_on = (
        SelectiveFidelity.of(wfa.confidence(part), agreement(wfa, model, part)) for part in (ids, fresh)
    )
    found = []
    for coverage in COVERAGES:
        chosen = chosen_on.select(coverage=coverage)
        seen = confirmed_on.select(min_confidence=chosen.min_confidence)
        found.append(
            {
                "wanted": coverage,
                "threshold": chosen.min_confidence,
                "cr": f"{chosen.cr:.3f}",
                "test coverage": seen.coverage if seen else 0.0,
                "test cr": f"{seen.cr:.3f}" if seen else "",
            }
        )
    show(f"{name}, probed: chosen on kept-out texts, confirmed on test", list(found[0]), [[*f.values()] for f in found])
    tenths = [[each.number, each.texts, each.confidence, f"{each.cr:.3f}"] for each in confirmed_on.deciles]
    show(f"{name}, probed: test texts by confidence", ["tenth", "texts", "mean confidence", "CR"], tenths)
    return found


def confidences(wfa: WFA, ids: Ragged[np.int32]) -> dict[str, NDArray[np.float64]]:
    """The measures that were considered, each (texts,)."""
    outputs, margin, observed = wfa.predict_proba(ids), wfa.margin(ids), observed_share(wfa, ids)
    frequent = (wfa.word_counts[ids.values] > 5).astype(float)
    known = np.add.reduceat(frequent, ids.offsets[:-1]) / ids.lengths
    return {
        "margin": margin,
        "top": outputs.max(1),
        "−entropy": (outputs * np.log(np.maximum(outputs, 1e-12))).sum(1),
        "observed": observed,
        "margin·observed": margin * observed,
        "margin·√observed": margin * np.sqrt(observed),
        "ranks": rankdata(margin) + rankdata(observed),
        "margin·known": margin * known,
    }


def observed_share(wfa: WFA, ids: Ragged[np.int32]) -> NDArray[np.float64]:
    """Share of the mass that went through observed rows, over each text; (texts,)"""
    parts = []
    for part in ids.chunks(_TOKENS):
        before = np.vstack([wfa.initial, wfa.state_vectors(part, every=True)[:-1]])
        before[part.offsets[:-1]] = wfa.initial
        share = wfa.row_shares(part.values, before)[:, 0]
        parts.append(np.add.reduceat(share, part.offsets[:-1]) / part.lengths)
    return np.concatenate(parts)


def agreement(wfa: WFA, model: RNNClassifier, ids: Ragged[np.int32]) -> NDArray[np.bool_]:
    return np.asarray(wfa.predict_indices(ids) == model.trace(ids).last().argmax(1))


def worded(model: RNNClassifier, corpus: Corpus) -> Ragged[np.int32]:
    ids = model.encoder.encode(corpus.texts)
    return ids.take(np.flatnonzero(ids.lengths))


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    chosen = [*data_sets(options)]
    if not options.quick:
        chosen.append((FILMS, load_dataset(FILMS, "train"), load_dataset(FILMS, "test")))
    finish(options, {name: compare(options, name, train, test) for name, train, test in chosen})


if __name__ == "__main__":
    main()
