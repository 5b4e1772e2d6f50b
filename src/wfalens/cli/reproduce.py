"""`wfalens reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wfalens.cli.app import app
from wfalens.cli.common import DataOption, JsonOption, TerminalProgress, print_json, say
from wfalens.corpus.datasets import is_available
from wfalens.errors import InputError

_PAPERS = ("tagmynews", "jigsaw_toxic")
_STOPPED = 130


@app.command()
def reproduce(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for the page, figures, tables and measurements.")
    ] = Path("reproduction"),
    only: Annotated[
        str, typer.Option(help="Sections to run, with commas: table1,table2,…; see below (default: all).")
    ] = "",
    dataset: Annotated[
        str,
        typer.Option(
            help="Data sets, with commas (default: the paper's two where the data folder has them, else newsroom)."
        ),
    ] = "",
    seeds: Annotated[int | None, typer.Option(min=1, help="Seeds of everything random (default: 3; quick: 1).")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A small version of everything, in five minutes.")] = False,
    model: Annotated[
        list[str] | None,
        typer.Option(help="Take a trained model: DATASET=FILE. Several for one data set are its seeds."),
    ] = None,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run the paper's experiments again and set our figures beside the printed ones.

    Writes index.html, results.json, tables (csv, md) and figures (png, pdf). Every claim of the paper is checked and
    marked held or not held. May be stopped at any time (Ctrl-C, or worse): the same command goes on where it was.

    Sections: table1 (missing rows), table2 (context), table3 (augmentation), leak (the news titles in both splits),
    fig-beta, fig-alpha, fig-states, zipf (proposition 1), proposition2, words (influence), maps (t-SNE), pairs,
    pretraining, attacks, cost, beyond (probing and automatic choice).

    Example: wfalens reproduce --quick --only table1,fig-beta
    """
    from wfalens.reproduction import FULL, QUICK
    from wfalens.reproduction import reproduce as run
    from wfalens.reproduction.result_folder import claims_sentence

    names = _listed(dataset) or [name for name in _PAPERS if is_available(name, data)] or ["newsroom"]
    try:
        summary = run(
            out,
            names,
            seeds=seeds or (1 if quick else 3),
            only=_listed(only),
            scale=QUICK if quick else FULL,
            data=data,
            models=_models(model or []),
            progress=TerminalProgress(),
        )
    except KeyboardInterrupt:
        typer.echo(f"stopped; what is finished is kept in {out}, and the same command goes on from there", err=True)
        raise typer.Exit(_STOPPED) from None
    if as_json:
        print_json(summary)
        return
    for section in summary["parts"]:
        say(f"{section['part']}, {section['dataset']}" + (f": {section['missing']}" if section["missing"] else ""))
        for claim in section["claims"]:
            agree = f"; {claim['seeds']} seeds" if claim["seeds"] else ""
            say(f"  {'held    ' if claim['held'] else 'NOT HELD'} {claim['text']} ({claim['evidence']}{agree})")
    say(f"{claims_sentence(summary)}; {summary['seconds'] / 60:.0f} minutes of measuring")
    say(f"wrote {out / 'index.html'}")


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _models(given: list[str]) -> dict[str, list[Path]]:
    models: dict[str, list[Path]] = {}
    for item in given:
        name, sign, path = item.partition("=")
        if not (name and sign and path):
            raise InputError(f"--model must be DATASET=FILE, not {item!r}")
        models.setdefault(name, []).append(Path(path).expanduser())
    return models
