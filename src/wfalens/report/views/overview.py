"""What was extracted from what, how large it is, how to make it again, and how faithful it is."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import numpy as np

from wfalens.automaton.serving import readable_summary, recorded
from wfalens.evaluation.language_models import measure_strings
from wfalens.evaluation.measure_fidelity import measure_fidelity
from wfalens.language.probability import Language
from wfalens.models.contract import is_language_model
from wfalens.ragged import Ragged
from wfalens.report.study import Study
from wfalens.report.views.readable_view import reading
from wfalens.text.corpus import Corpus

_OPTIONS = ("kind", "states", "abstraction", "completion", "alpha", "beta", "seed")
_OF_OTHER_KINDS = ("kind", "states", "seed")  # they take no others of these
_TOP_WORDS = 8
_KINDS = {
    "stochastic": "states are class distributions, rows are probabilities",
    "linear": "real weights, log-odds read out through a softmax",
}


def overview(study: Study) -> dict[str, Any]:
    """Everything that is known without a run of the model."""
    wfa = study.wfa
    seen, found = wfa.word_counts[2:], recorded(wfa.provenance)
    return {
        "name": study.name,
        "kind": wfa.kind,
        "about": _KINDS.get(wfa.kind, ""),
        "class_names": list(wfa.class_names),
        "next_symbol": is_language_model(wfa),  # of a language model: a class is what comes next
        "unit": wfa.unit,
        "summary": wfa.summary(),
        "readable": readable_summary(wfa),
        "words_seen": int((seen > 0).sum()),
        "tokens_seen": int(seen.sum()),
        "reading": reading(wfa),
        "recorded": None if found is None else {"cr": found.cr, "texts": found.texts},
        "top_words": _top_words(study),
        "largest": _largest(study),
        "provenance": wfa.provenance,
        "command": _command(study),
        "has": {
            "model": study.model is not None,
            "texts": None if study.corpus is None else [study.corpus.name, len(study.corpus)],
            "vectors": None if study.vectors is None else study.vectors.source,
            "other": study.other_name or None,
        },
    }


def fidelity(
    study: Study,
    texts: int | None = None,
) -> dict[str, Any]:
    """CR and JSD with intervals, by class and by confidence, on all texts or on some drawn at random.

    Of a language model also what holds on all beginnings of these texts ("strings").
    """
    corpus = study.texts.sample(texts, study.seed)
    measured = measure_fidelity(study.wfa, study.classifier, corpus, reference=study.reference, seed=study.seed)
    return {
        "corpus": corpus.name,
        "texts": len(corpus),
        "of": len(study.texts),
        **measured.to_json(),
        "weak_stand_in": None if study.reference else study.reference_missing or "the extraction texts were not given",
        "strings": _on_all_beginnings(study, corpus) if is_language_model(study.wfa) else None,
    }


def _on_all_beginnings(
    study: Study,
    corpus: Corpus,
) -> dict[str, Any] | None:
    """Of the texts whose symbols all have a probability; None if there is none."""
    network: Any = study.classifier
    language = Language.of(network)

    def spoken(texts: Sequence[str]) -> Ragged[np.int32]:
        ids = language.ids(texts)
        return ids.take(language.spoken(ids))

    ids = spoken(corpus.texts)
    known = None if study.reference is None else spoken(study.reference.texts)
    if len(ids) == 0:
        return None
    return measure_strings(study.wfa, network, ids, reference=known, seed=study.seed).to_json()


def _top_words(study: Study) -> list[list[str]]:
    """The words that speak most for each class, the strongest first."""
    scores = study.influence
    usual = np.flatnonzero(scores.counts >= study.usual_count)
    order = np.argsort(-scores.scores[usual], axis=0, kind="stable")[:_TOP_WORDS]
    kept = np.take_along_axis(scores.scores[usual], order, 0) > 0  # (top, classes)
    return [[scores.words[usual[at]] for at in order[kept[:, label], label]] for label in range(kept.shape[1])]


def _largest(study: Study) -> float:
    """The largest influence of a usual word on a class: the common scale of all bars."""
    scores = study.influence
    return round(float(np.abs(scores.scores[scores.counts >= study.usual_count]).max(initial=0)), 4)


def _command(study: Study) -> str:
    """The command that makes such an automaton, as far as its provenance says."""
    made = study.wfa.provenance
    parameters, corpus = made.get("parameters"), made.get("corpus")
    known = parameters if isinstance(parameters, dict) else {}
    source = corpus.get("name", "TEXTS") if isinstance(corpus, dict) else "TEXTS"
    if "choice" in made:
        known = {"seed": known.get("seed")}  # the kind and all that belongs to it were chosen
    names = _OPTIONS if known.get("kind", "stochastic") == "stochastic" else _OF_OTHER_KINDS
    options = [each for name in names if known.get(name) is not None for each in (f"--{name}", str(known[name]))]
    time = made.get("time")
    if isinstance(time, dict) and isinstance(time.get("limit"), int | float):
        options += ["--time", f"{time['limit']:g}s"]
    # names come from files that others made: in a shell each must be one word
    return shlex.join(["wfalens", "extract", "MODEL", "--corpus", str(source), *options, "--out", study.name])
