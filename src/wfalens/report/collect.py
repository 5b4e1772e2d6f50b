"""What a report carries: every view's data, sampled where there is too much of it, with notes on the sampling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from wfalens import progress
from wfalens.errors import InputError
from wfalens.report import views as inspection
from wfalens.report.views import StateMap, Study, WordTable


@dataclass(frozen=True)
class Extent:
    """How much is carried; the page grows with it."""

    sentences: int = 40  # of each sort: any, disagreeing, unsure
    words: int = 3000  # the most frequent
    strongest: int = 100  # words of each class in the table
    pages: int = 25  # words of each class with a page of their own, and whose moves are carried
    attacked: int = 400  # texts


USUAL = Extent()


def collect(
    study: Study,
    extent: Extent = USUAL,
) -> dict[str, Any]:
    """The data of all views; a view that lacks something carries the reason instead."""
    table = WordTable(study)
    state_map = _or_error(lambda: inspection.state_map(study))
    shown = state_map if isinstance(state_map, StateMap) else None
    chosen = [study.influence.words[at] for at in table.strongest(extent.pages, study.usual_count)]
    picked = _or_error(lambda: inspection.sentences(study, extent.sentences))
    texts = [] if "error" in picked else _texts(picked)
    contrast = _or_error(lambda: inspection.contrast(study))
    data = {
        "overview": inspection.overview(study),
        "fidelity": _or_error(lambda: inspection.fidelity(study)),
        "map": state_map if shown is None else shown.to_json(),
        "moves": {} if shown is None else {word: shown.word_moves(word) for word in chosen},
        "sentences": picked,
        "plays": {text: _or_error(partial(inspection.play, study, text)) for text in texts},
        "pocket": _or_error(lambda: inspection.pocket(study.wfa, shown)),
        "whys": {} if study.model is None else _each(texts, lambda text: _why(study, text), "asking the network why"),
        "flips": _each(texts, lambda text: inspection.flips(study, text), "looking for flips"),
        "words": carried_words(study, extent),
        "word_pages": dict(zip(chosen, inspection.word_pages(study, chosen), strict=True)),
        "wordmap": _or_error(lambda: inspection.word_map(study)),
        "contrast": contrast,
        "swaps": {} if "error" in contrast else _swaps(study, contrast),
        "attacks": _or_error(lambda: inspection.attacks(study, texts=extent.attacked)),
        "comparison": _or_error(lambda: inspection.comparison(study)),
        "texts": _or_error(lambda: inspection.texts(study)),
    }
    return {**data, "sampling": _sampling(study, data)}


def _or_error(make: Callable[[], Any]) -> Any:
    """What `make` returns, or `{"error": …}` with the reason why it cannot be made."""
    try:
        return make()
    except InputError as error:
        return {"error": str(error)}


def _texts(picked: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(item["text"] for sort in ("any", "disagree", "unsure") for item in picked[sort]))


def _each(
    keys: list[str],
    make: Callable[[str], dict[str, Any]],
    task: str,
) -> dict[str, dict[str, Any]]:
    progress.start(task, len(keys))
    found = {}
    for key in keys:
        found[key] = make(key)
        progress.advance()
    progress.finish()
    return found


def _why(study: Study, text: str) -> dict[str, Any]:
    found: dict[str, Any] = _or_error(lambda: inspection.why(study, text))
    return {name: value for name, value in found.items() if name != "text"}


def carried_words(study: Study, extent: Extent) -> dict[str, Any]:
    """Rows of the most frequent words and of the strongest of each class."""
    table = WordTable(study)
    frequent = np.argsort(-study.influence.counts, kind="stable")[: extent.words]
    chosen = np.union1d(frequent, table.strongest(extent.strongest, study.usual_count))
    return {"rows": table.rows(chosen), "of": len(study.influence.words)}


def _swaps(
    study: Study,
    contrast: dict[str, Any],
) -> dict[str, dict[str, Any]]:
    if study.model is None or study.corpus is None:
        return {}
    pairs = {
        f"{pair['first']}\n{pair['second']}": (pair["first"], pair["second"])
        for kind in ("adversarial", "collaborative")
        for pair in contrast[kind]["pairs"]
    }
    return _each(list(pairs), lambda key: inspection.swaps(study, *pairs[key]), "swapping pairs in texts")


def _sampling(study: Study, data: dict[str, Any]) -> dict[str, str]:
    """What is left out, for people."""
    notes = {
        "Words": f"{len(data['words']['rows']):,} of {data['words']['of']:,}: the most frequent, and the strongest of "
        f"each class; {len(data['word_pages']):,} have a page with neighbours and sentences",
        "Sentences": f"{len(data['plays']):,} to pick from, read by the automaton"
        + ("" if study.model is None else " and the network"),
        "Typing": _typing(data["pocket"]),
    }
    if study.corpus is not None:
        notes["Texts"] = (
            f"{len(study.corpus):,} of {study.corpus.name}; examples come from a sample of {len(study.sample):,}"
        )
    return notes


def _typing(pocket: dict[str, Any]) -> str:
    if "error" in pocket:
        return f"not possible here: {pocket['error']}; use wfalens explore"
    return (
        "what you type is read by the automaton alone, with rounded weights and its "
        f"{len(pocket['words']) - 1:,} commonest words ({pocket['share']:.1%} of the tokens in extraction); "
        "other words read as <unk>"
    )
