"""What was extracted from what, how large and faithful it is, and what to do next."""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np

from wfalens.automaton.serving import readable_summary, recorded
from wfalens.evaluation.fidelity import measure_fidelity
from wfalens.evaluation.language_models import measure_language_model
from wfalens.language.probability import Language
from wfalens.models.contract import is_language_model
from wfalens.report.study import Study

_TOP_WORDS = 8
_KINDS = {
    "stochastic": "states are class distributions, rows are probabilities",
    "linear": "real weights, log-odds read out through a softmax",
}


def overview(study: Study) -> dict[str, Any]:
    """Everything that is known without a run of the model."""
    wfa = study.wfa
    seen, found = wfa.word_counts[2:], recorded(wfa.provenance)
    usual = study.influence.subset(np.flatnonzero(study.influence.counts >= study.usual_count))
    return {
        "name": study.name,
        "kind": "readable" if wfa.readable is wfa else wfa.kind,
        "about": _KINDS.get(wfa.kind, ""),
        "class_names": list(wfa.class_names),
        "next_symbol": is_language_model(wfa),  # of a language model: a class is what comes next
        "unit": wfa.unit,
        "summary": wfa.summary(),
        "readable": readable_summary(wfa),
        "words_seen": int((seen > 0).sum()),
        "tokens_seen": int(seen.sum()),
        "recorded": None if found is None else {"cr": found.cr, "texts": found.texts},
        # the words with the largest influence on each class, the strongest first
        "top_words": [
            [word for word, score in zip(each.words, each.scores[:, label], strict=True) if score > 0]
            for label, each in enumerate(usual.top(name, _TOP_WORDS) for name in wfa.class_names)
        ],
        "provenance": wfa.provenance,
        "arguments": _arguments(study),
        "next": _next_steps(_arguments(study)),
        "has": {
            "model": study.model is not None,
            "texts": None if study.corpus is None else [study.corpus.name, len(study.corpus)],
            "vectors": None if study.vectors is None else study.vectors.source,
            "other": study.other_name or None,
        },
    }


def fidelity(study: Study, texts: int | None = None) -> dict[str, Any]:
    """CR and JSD with intervals, by class and by confidence, on all texts or on some drawn at random.

    Of a language model also what holds on all beginnings of these texts ("strings"), if their symbols have a
    probability.
    """
    corpus = study.texts.sample(texts, study.seed)
    network: Any = study.classifier
    options: dict[str, Any] = {"reference": study.reference, "seed": study.seed}
    found = {
        "corpus": corpus.name,
        "texts": len(corpus),
        "of": len(study.texts),
        **measure_fidelity(study.wfa, network, corpus, **options).to_dict(),
        "baseline_note": None if study.reference else study.reference_missing or "the extraction texts were not given",
        "strings": None,
    }
    if is_language_model(study.wfa):
        language = Language.of(network)
        if len(language.inside_alphabet(language.ids(corpus.texts))):
            found["strings"] = measure_language_model(study.wfa, network, corpus, **options).to_dict()
    return found


def _arguments(study: Study) -> str:
    """What a command about this automaton takes; a file that is not known has a name in capitals."""
    named = {name: shlex.quote(file) for name, file in ({"model": "MODEL"} | study.named_files).items()}
    options = [f"--{name} {named[name]}" for name in ("model", "corpus") if name in named]
    return " ".join([named["automaton"], *options])


def _next_steps(given: str) -> list[list[str]]:
    """What to try now: why, and the command."""
    return [
        ["Ask the network about any text", f"wfalens serve {given}"],
        ["Change a word so that the network errs", f"wfalens attack {given}"],
        ["Take this picture to a talk", f"wfalens show {given} --talk -o opinion.png"],
    ]
