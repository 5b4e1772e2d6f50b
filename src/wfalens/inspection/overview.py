"""What was extracted from what, how large it is, how to make it again, and how faithful it is."""

from __future__ import annotations

import shlex
from typing import Any

from wfalens.evaluation.measuring import measure_fidelity
from wfalens.inspection.study import Study
from wfalens.progress import SILENT, Progress

_OPTIONS = ("kind", "states", "abstraction", "completion", "alpha", "beta", "seed")
_KINDS = {
    "stochastic": "states are class distributions, rows are probabilities",
    "linear": "real weights, log-odds read out through a softmax",
}


def overview(study: Study) -> dict[str, Any]:
    """Everything that is known without a run of the model."""
    wfa = study.wfa
    seen = wfa.word_counts[2:]
    return {
        "name": study.name,
        "kind": wfa.kind,
        "about": _KINDS.get(wfa.kind, ""),
        "class_names": list(wfa.class_names),
        "unit": wfa.unit,
        "summary": wfa.summary(),
        "words_seen": int((seen > 0).sum()),
        "tokens_seen": int(seen.sum()),
        "reading": study.reading,
        "provenance": wfa.provenance,
        "command": _command(study),
        "has": {
            "model": study.model is not None,
            "texts": None if study.corpus is None else [study.corpus.name, len(study.corpus)],
            "vectors": None if study.vectors is None else study.vectors.source,
            "other": study.other_name or None,
        },
    }


def fidelity(study: Study, texts: int | None = None, progress: Progress = SILENT) -> dict[str, Any]:
    """CR and JSD with intervals, by class and by confidence, on all texts or on some drawn at random."""
    corpus = study.texts.sample(texts, study.seed)
    measured = measure_fidelity(study.wfa, study.classifier, corpus, seed=study.seed, progress=progress)
    return {"corpus": corpus.name, "texts": len(corpus), "of": len(study.texts), **measured.to_json()}


def _command(study: Study) -> str:
    """The command that makes such an automaton, as far as its provenance says."""
    made = study.wfa.provenance
    parameters, corpus = made.get("parameters"), made.get("corpus")
    known = parameters if isinstance(parameters, dict) else {}
    source = corpus.get("name", "TEXTS") if isinstance(corpus, dict) else "TEXTS"
    options = [each for name in _OPTIONS if known.get(name) is not None for each in (f"--{name}", str(known[name]))]
    # names come from files that others made: in a shell each must be one word
    return shlex.join(["wfalens", "extract", "MODEL", "--corpus", str(source), *options, "--out", study.name])
