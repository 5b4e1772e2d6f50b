"""What was extracted from what, how large and faithful it is, how to make it again, and its readable automaton."""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np

from wfalens.automaton.naming import HARDLY, WordClass
from wfalens.automaton.serving import readable_summary, recorded
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.fidelity import measure_fidelity
from wfalens.evaluation.language_models import measure_language_model
from wfalens.explanation.description import describe
from wfalens.explanation.moves import MoveTable, anatomy_and_names, moves, require_readable
from wfalens.export.diagram import Diagram, rows_by_class
from wfalens.language.probability import Language
from wfalens.models.contract import is_language_model
from wfalens.report.study import Study, short
from wfalens.text.corpus import Corpus

_OPTIONS = ("kind", "states", "abstraction", "completion", "alpha", "beta", "seed")
_OF_OTHER_KINDS = ("kind", "states", "seed")  # they take no others of these
_TOP_WORDS = 8
_TYPICAL = 5  # words of a word cluster
_LEAST_MOVE = 1e-4  # of all words: rarer moves are left out
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
        **measured.to_dict(),
        "baseline_note": None if study.reference else study.reference_missing or "the extraction texts were not given",
        "strings": _on_all_beginnings(study, corpus) if is_language_model(study.wfa) else None,
    }


def _on_all_beginnings(
    study: Study,
    corpus: Corpus,
) -> dict[str, Any] | None:
    """Of the texts whose symbols all have a probability; None if there is none."""
    network: Any = study.classifier
    language = Language.of(network)

    if len(language.inside_alphabet(language.ids(corpus.texts))) == 0:
        return None
    return measure_language_model(study.wfa, network, corpus, reference=study.reference, seed=study.seed).to_dict()


def _top_words(study: Study) -> list[list[str]]:
    """The words with the largest influence on each class, the strongest first."""
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


def reading(wfa: WFA) -> dict[str, Any] | None:
    """The story, the states, the word clusters and the moves; None for automata that cannot be read on a page.

    Where the attached readable automaton is shown, the remark says so. On failure it holds the reason instead.
    """
    if wfa.readable is None:
        return None
    try:
        story, table = describe(wfa), moves(wfa)
        anatomy, _ = anatomy_and_names(require_readable(wfa).wfa)
    except InputError as error:
        return {"error": str(error)}
    found = recorded(wfa.readable.provenance)
    return {
        "story": [{"about": each.about, "text": each.text} for each in story.sentences],
        "remark": story.remark,
        "held_out": None if found is None else {"cr": found.cr, "texts": found.texts},
        "class_names": list(wfa.class_names),
        "states": _states(table),
        "clusters": [_cluster(each) for each in table.names.classes],
        "moves": _moves(table),
        "matrices": short(anatomy.matrices, 3),
    }


def _states(table: MoveTable) -> list[dict[str, Any]]:
    diagram = Diagram(table)
    columns = np.unique(diagram.levels, return_inverse=True)[1]
    rows = rows_by_class(table.centres, columns)
    return [
        {
            "name": name,
            "mix": short(table.centres[at]),
            "undecided": bool(diagram.undecided[at]),
            "read": round(float(table.read[at]), 4),
            "stays": round(float(table.rates[at, at]), 4),
            "level": int(diagram.levels[at]),
            "column": int(columns[at]),
            "row": round(float(rows[at] - rows.min()), 3),
        }
        for at, name in enumerate(table.names.states)
    ]


def _cluster(cluster: WordClass) -> dict[str, Any]:
    towards = cluster.moved >= HARDLY and cluster.effect.startswith("turns towards ")
    return {
        "words": list(cluster.words[:_TYPICAL]),
        "effect": cluster.effect,
        "size": cluster.size,
        "share": round(cluster.share, 4),
        "moved": round(cluster.moved, 4),
        "towards": int(cluster.change.argmax()) if towards else None,
    }


def _moves(table: MoveTable) -> list[dict[str, Any]]:
    """Between different states, each with the word clusters that stand out in it.

    First for every state the most frequent move that leads there, so that none stands alone in a drawing of the first
    few; then all others. Both by how often they are made.
    """
    diagram, strongest = Diagram(table), table.strongest()
    leading = set({target: (source, target) for source, target in reversed(strongest)}.values())
    order = sorted(strongest, key=lambda move: move not in leading)
    return [
        {
            "from": source,
            "to": target,
            "rate": round(float(table.rates[source, target]), 4),
            "share": round(float(table.shares[source, target]), 5),
            "words": diagram.edge(source, target).words,
            "clusters": [[each.word_class, round(each.share, 3)] for each in table.carriers(source, target)],
        }
        for source, target in order
        if table.shares[source, target] >= _LEAST_MOVE
    ]
