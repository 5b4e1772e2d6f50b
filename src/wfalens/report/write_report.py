"""Writing reports: one HTML page that carries all its data, or the card of the automaton as Markdown or JSON.

Every view's data is sampled where there is too much of it, with notes on the sampling.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from wfalens import progress
from wfalens.report import views
from wfalens.report.card import AutomatonCard
from wfalens.report.embedded_runtime import embedded_runtime
from wfalens.report.page import report_html, to_json
from wfalens.report.study import Study, or_error
from wfalens.report.views import WordTable
from wfalens.storage import write_atomically
from wfalens.validation import check_choice

FORMATS = ("html", "md", "json")


@dataclass(frozen=True)
class Extent:
    """How much is carried; the page grows with it."""

    sentences: int = 40  # of each sort: any, disagreeing, unsure
    words: int = 3000  # the most frequent
    strongest: int = 100  # words of each class in the table
    pages: int = 25  # words of each class with a page of their own
    attacked: int = 400  # texts

    def for_classes(self, classes: int) -> Extent:
        """Less for each class where there are many, so that the page stays small."""
        most = {"sentences": 800, "strongest": 3000, "pages": 400}
        return replace(self, **{name: min(getattr(self, name), max(2, all_ // classes)) for name, all_ in most.items()})


_DEFAULT = Extent()
_PARTS = 3  # that are made of single texts


def collect(study: Study, extent: Extent = _DEFAULT) -> dict[str, Any]:
    """The data of all views; a view that lacks something carries the reason instead."""
    table, extent = WordTable(study), extent.for_classes(len(study.wfa.class_names))
    options: dict[str, Any] = {"sentences": {"each": extent.sentences}, "attacks": {"texts": extent.attacked}}
    progress.say(f"collecting what the page shows: {', '.join(views.JOBS)}, then single texts and words")
    progress.start("collecting what the page shows", len(views.JOBS) + _PARTS)
    made: dict[str, Any] = {}
    for name, view in views.JOBS.items():
        progress.advance(0, name)
        made[name] = or_error(view, study, **options.get(name, {}))
        progress.advance()
    picked = [item["text"] for sort in ("any", "disagree", "unsure") for item in made["sentences"].get(sort, ())]
    claims = made["findings"].get("findings", ())
    picked += [example["text"] for each in claims for example in each["examples"] if example["text"].split()]
    texts = list(dict.fromkeys(picked))
    strongest = [study.influence.words[at] for at in table.strongest(extent.pages, study.usual_count)]
    chosen = [*dict.fromkeys([*strongest, *_named(study, made)])]
    data = {
        **made,
        "overview": views.overview(study),
        "traces": _each(views.trace, study, texts, "reading sentences"),
        "runtime": or_error(embedded_runtime, study.wfa),
        "attributions": {}
        if study.model is None
        else _each(views.attribution, study, texts, "Shapley values of the network"),
        "counterfactuals": _each(views.counterfactuals, study, texts, "searching counterfactuals"),
        "words": carried_words(study, extent),
        "word_pages": dict(zip(chosen, views.word_pages(study, chosen), strict=True)),
    }
    progress.finish()
    return {**data, "sampling": _sampling(study, data)}


def _named(study: Study, made: dict[str, Any]) -> list[str]:
    """The words of the picture and of findings: each opens its page."""
    sides = ("towards", "against", "idle")
    words = [push["word"] for line in made["opinion"].get("lines", ()) for side in sides for push in line[side]]
    words += [each["link"] for each in made["findings"].get("findings", ())]
    return sorted({*words} & {*study.influence.words})


def _each(view: Callable[..., dict[str, Any]], study: Study, texts: Sequence[str], task: str) -> dict[str, Any]:
    """A view of each of several texts."""
    progress.start(task, len(texts))
    found = {}
    for text in texts:
        found[text] = or_error(view, study, text)
        progress.advance()
    progress.finish()
    progress.advance()
    return found


def carried_words(study: Study, extent: Extent) -> dict[str, Any]:
    """Rows of the most frequent words and of the strongest of each class."""
    table = WordTable(study)
    frequent = np.argsort(-study.influence.counts, kind="stable")[: extent.words]
    chosen = np.union1d(frequent, table.strongest(extent.strongest, study.usual_count))
    return {"rows": table.rows(chosen), "of": len(study.influence.words)}


def _sampling(study: Study, data: dict[str, Any]) -> dict[str, str]:
    """What is left out, for people."""
    notes = {
        "Words": f"{len(data['words']['rows']):,} of {data['words']['of']:,}: the most frequent, and the strongest of "
        f"each class; {len(data['word_pages']):,} have a page with neighbours and sentences",
        "Sentences": f"{len(data['traces']):,}, the examples of findings among them, read by the automaton"
        + ("" if study.model is None else " and the network"),
        "Typing": _typing(data["runtime"]),
    }
    if study.corpus is not None:
        notes["Texts"] = (
            f"{len(study.corpus):,} of {study.corpus.name}; examples come from a sample of {len(study.sample):,}"
        )
    return notes


def _typing(runtime: dict[str, Any]) -> str:
    if "error" in runtime:
        return f"not possible here: {runtime['error']}; the live page can"
    return (
        "what you type is read by the automaton alone, with rounded weights and its "
        f"{runtime['words']:,} commonest words ({runtime['share']:.1%} of the tokens in extraction); "
        "other words read as <unk>"
    )


def write_report(
    study: Study, path: str | Path, extent: Extent = _DEFAULT, *, format: str | None = None, **groups: Any
) -> int:
    """Write the page, or the card, of a study; returns the size of the file in bytes.

    Args:
        study: the automaton with its model and texts.
        path: the file.
        extent: how much the page carries.
        format: "html" (the page), "md" or "json" (the card); by default by the ending of the path, else "html".
        groups: of the card: `groups`, `group_column` and `positive` of `wfa.fidelity`.
    """
    ending = Path(path).suffix[1:].lower()
    name = format or (ending if ending in FORMATS else "html")
    check_choice("format", name, FORMATS)
    if name == "html":
        return write_page(collect(study, extent), path)
    card = AutomatonCard.of_study(study, **groups)
    text = card.to_markdown() if name == "md" else to_json(card.to_dict()) + "\n"
    return _write(path, text.encode("utf-8", "replace"))


def write_page(data: dict[str, Any], path: str | Path) -> int:
    """Write the page of data that was collected already; returns its size in bytes."""
    return _write(path, report_html(f"{data['overview']['name']} – wfalens", data).encode())


def _write(path: str | Path, content: bytes) -> int:
    write_atomically(Path(path), content)
    return len(content)
