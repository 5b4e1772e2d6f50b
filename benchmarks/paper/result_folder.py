"""The result folder: index.html, figures, tables (csv and markdown) and one JSON file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

from benchmarks.paper.caveats import caveats, is_of_the_paper, network_sentence, title
from benchmarks.paper.experiment import Scale, Step
from benchmarks.paper.section import Claim, Results, Section, Shown
from matplotlib.figure import Figure

from wfalens import __version__
from wfalens.html import figure_html, page_html, text_html
from wfalens.storage import write_atomically

_FORMATS = ("png", "pdf")
_LONGEST_NUMBER = 20  # characters
_MINUTES_FROM = 120  # seconds; less is told in seconds


@dataclass(frozen=True)
class Chapter:
    """A section on one data set."""

    section: Section
    results: Results
    shown: Shown
    steps: list[Step]
    missing: str = ""  # why nothing is shown

    @property
    def anchor(self) -> str:
        return f"{self.section.name}-{self.results.dataset}"


def write_results(
    folder: Path, chapters: Sequence[Chapter], results: Sequence[Results], scale: Scale
) -> dict[str, Any]:
    """Write everything, the page last; -> what `results.json` holds."""
    for name in ("figures", "tables"):
        (folder / name).mkdir(exist_ok=True)
    for chapter in chapters:
        for picture in chapter.shown.pictures:
            for kind in _FORMATS:
                write_atomically(folder / "figures" / f"{picture.name}.{kind}", _drawn(picture.figure, kind))
        write_atomically(folder / "tables" / f"{chapter.anchor}.csv", _csv(chapter))
    summary = _summary(chapters, results, scale)
    write_atomically(
        folder / "results.json", json.dumps(summary, ensure_ascii=False, indent=1).encode("utf-8", "replace")
    )
    write_atomically(folder / "tables.md", _markdown(chapters, summary).encode("utf-8", "replace"))
    write_atomically(folder / "index.html", _page(chapters, summary).encode("utf-8", "replace"))
    return summary


def _summary(chapters: Sequence[Chapter], results: Sequence[Results], scale: Scale) -> dict[str, Any]:
    took = {}  # by experiment and step, each once
    for chapter in chapters:
        for seed, table in enumerate(chapter.results.seeds):
            for step in chapter.steps:
                took[chapter.results.dataset, seed, step] = table[step]["took"]
    datasets = [each.dataset for each in results]
    return {
        "version": __version__,
        "title": title(datasets, scale),
        "caveats": caveats(datasets, scale),
        "networks": [told for told in map(network_sentence, results) if told],
        "scale": asdict(scale),
        "seconds": sum(took.values()),
        "parts": [
            {
                "part": chapter.section.name,
                "dataset": chapter.results.dataset,
                "seeds": len(chapter.results.seeds),
                "missing": chapter.missing,
                "claims": [asdict(claim) for claim in chapter.shown.claims],
                "measurements": [
                    {
                        "measure": step.measure,
                        "variant": step.variant,
                        "parameters": dict(step.parameters),
                        "seed": seed,
                    }
                    | {"result": table[step]}
                    for seed, table in enumerate(chapter.results.seeds)
                    for step in chapter.steps
                ],
            }
            for chapter in chapters
        ],
    }


def _page(chapters: Sequence[Chapter], summary: dict[str, Any]) -> str:
    scale = {name.replace("_", " "): "all" if size is None else size for name, size in summary["scale"].items()}
    settings = ", ".join(f"{name}: {size}" for name, size in scale.items())
    blocks = [
        *(text_html(f"Note: {told}.") for told in (*summary["caveats"], *summary["networks"])),
        text_html(
            f"{claims_sentence(summary)}. Figures are means over seeds ± their standard deviation. An ordering "
            "is held if the means say so, other claims if most seeds do; the number of seeds stands beside each. "
            "Our own checks are marked. "
            f"{measuring_sentence(summary)} ({settings}; wfalens {summary['version']})."
        ),
        _wide_table_html(
            "Claims held, by section",
            ["section", "data set", "seeds", "held", "verdict"],
            [
                [
                    chapter.section.title,
                    chapter.results.dataset,
                    str(len(chapter.results.seeds)),
                    _held(chapter),
                    _verdict(chapter),
                ]
                for chapter in chapters
            ],
            links={row: f"#{chapter.anchor}" for row, chapter in enumerate(chapters)},
        ),
    ]
    for chapter in chapters:
        inner = [text_html(chapter.section.about), text_html(_verdict(chapter))]
        inner.append(
            _verdicts_html([(_text(claim), claim.held, claim.evidence, claim.seeds) for claim in chapter.shown.claims])
        )
        inner += [_wide_table_html(grid.title, grid.columns, grid.rows) for grid in chapter.shown.grids]
        inner += [
            figure_html(f"figures/{picture.name}.png", picture.caption, {"PDF": f"figures/{picture.name}.pdf"})
            for picture in chapter.shown.pictures
        ]
        blocks.append(_anchored_html(chapter.anchor, f"{chapter.section.title}: {chapter.results.dataset}", inner))
    return page_html(summary["title"], blocks)


def _markdown(chapters: Sequence[Chapter], summary: Mapping[str, Any]) -> str:
    """Claims and tables as text, for a document."""
    lines = [f"Note: {told}.\n" for told in (*summary["caveats"], *summary["networks"])]
    for chapter in chapters:
        lines.append(f"### {chapter.section.title}: {chapter.results.dataset}\n")
        lines += [
            f"* {'held' if claim.held else '**not held**'}: {_text(claim)} ({claim.evidence}"
            + (f"; {claim.seeds} seeds)" if claim.seeds else ")")
            for claim in chapter.shown.claims
        ]
        for grid in chapter.shown.grids:
            rows = [grid.columns, ["---"] * len(grid.columns), *grid.rows]
            lines.append(f"\n{grid.title}\n")
            lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
        lines.append("")
    return "\n".join(lines)


def claims_sentence(summary: Mapping[str, Any]) -> str:
    """How many claims held: the paper's on its own data, the same on other data, and our own."""
    counts = [
        _counted(summary, "claims of the paper held", lambda dataset, ours: is_of_the_paper(dataset) and not ours),
        _counted(
            summary,
            "statements of the paper held on other data than the paper's",
            lambda dataset, ours: not is_of_the_paper(dataset) and not ours,
        ),
        _counted(summary, "checks of our own held", lambda _, ours: ours),
    ]
    return ", ".join(count for count in counts if count) or "no claim was checked"


def measuring_sentence(summary: Mapping[str, Any]) -> str:
    """How long measuring took, and what that counts."""
    seconds = summary["seconds"]
    shown = f"{seconds:.0f} s" if seconds < _MINUTES_FROM else f"{seconds / 60:.0f} minutes"
    return (
        f"Measuring took {shown} by the clock: extraction, which the tables time, warming up and testing, without the "
        "training of the networks under study"
    )


def _counted(summary: Mapping[str, Any], what: str, chosen: Callable[[str, bool], bool]) -> str:
    held = [
        claim["held"]
        for section in summary["parts"]
        for claim in section["claims"]
        if chosen(section["dataset"], claim["ours"])
    ]
    return f"{sum(held)} of {len(held)} {what}" if held else ""


def _text(claim: Claim) -> str:
    return claim.text + (" (ours)" if claim.ours else "")


def _held(chapter: Chapter) -> str:
    return f"{sum(claim.held for claim in chapter.shown.claims)} of {len(chapter.shown.claims)}"


def _verdict(chapter: Chapter) -> str:
    failed = [claim.text for claim in chapter.shown.claims if not claim.held]
    if chapter.missing or not chapter.shown.claims:
        return chapter.missing or "No claim to check."
    if not failed:
        return "All claims held."
    return f"Not held: {'; '.join(failed)}."


def _drawn(figure: Figure, kind: str) -> bytes:
    blob = BytesIO()
    undated = {"CreationDate": None} if kind == "pdf" else {}  # equal results give equal bytes
    figure.savefig(blob, format=kind, dpi=150, metadata=undated)
    return blob.getvalue()


def _csv(chapter: Chapter) -> bytes:
    """One line per measurement: its parameters and its numbers."""
    import pandas as pd

    lines = [
        {"dataset": chapter.results.dataset, "seed": seed, "texts": step.variant, "measure": step.measure}
        | dict(step.parameters)
        | {f"result_{key}": value for key, value in table[step].items() if isinstance(value, int | float | str)}
        for seed, table in enumerate(chapter.results.seeds)
        for step in chapter.steps
    ]
    text = StringIO()
    pd.DataFrame(lines).to_csv(text, index=False)
    return text.getvalue().encode("utf-8", "replace")


def _wide_table_html(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], links: Mapping[int, str] | None = None
) -> str:
    """A table that scrolls on its own where the screen is narrow; `links` make the first cell of a row a link."""
    wordy = [any(len(row[at]) > _LONGEST_NUMBER for row in rows) for at in range(len(columns))]
    kinds = [' class="words"' if flag else "" for flag in wordy]  # words are set left, numbers right and in one line
    head = "".join(f'<th scope="col"{kind}>{escape(column)}</th>' for column, kind in zip(columns, kinds, strict=True))
    body = ""
    for number, row in enumerate(rows):
        first, *rest = (escape(cell) for cell in row)
        link = (links or {}).get(number)
        first = f'<a href="{escape(link)}">{first}</a>' if link else first
        cells = "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(rest, kinds[1:], strict=True))
        body += f'<tr><th scope="row">{first}</th>{cells}</tr>'
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(title)}">'
        f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _verdicts_html(verdicts: Sequence[tuple[str, bool, str, str]]) -> str:
    """A list of claims: what is claimed, whether it held, the evidence, and in how many seeds."""
    items = "".join(
        f'<li><span class="{"held" if held else "failed"}">{"held" if held else "not held"}</span>{escape(text)} '
        f"<small>{escape(evidence)}{escape(f'; {seeds} seeds' if seeds else '')}</small></li>"
        for text, held, evidence, seeds in verdicts
    )
    return f'<ul class="verdicts">{items}</ul>'


def _anchored_html(anchor: str, title: str, blocks: Sequence[str]) -> str:
    """A section that can be linked to, around blocks that are HTML already."""
    return f'<section id="{escape(anchor)}"><h2>{escape(title)}</h2>{"".join(blocks)}</section>'
