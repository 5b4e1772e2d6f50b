"""The paper's experiments again: `make paper`, or `python -m benchmarks.paper --help`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from wfalens.cli import options as opt
from wfalens.cli.files import check_folder
from wfalens.cli.output import print_json, say
from wfalens.cli.progress import TerminalProgress
from wfalens.cli.stopping import resumable
from wfalens.errors import InputError


_PAPERS = ("tagmynews", "jigsaw_toxic")


def reproduce_cli(
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FOLDER", help="For the page, figures, tables and measurements."),
    ] = Path("reproduction"),
    only: Annotated[
        str,
        typer.Option(
            metavar="SECTIONS", help="Sections to run, with commas: table1,table2,… (see above).", show_default="all"
        ),
    ] = "",
    dataset: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Data sets, with commas.",
            show_default="the paper's two where the data folder has them, else newsroom, which is generated",
        ),
    ] = "",
    seeds: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Seeds of everything random.", show_default="3; quick: 1"),
    ] = None,
    quick: Annotated[
        bool,
        opt.flag(
            "--quick",
            help="A small version of everything, in some minutes: it shows that the program works; do not cite it.",
        ),
    ] = False,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="DATASET=FILE", help="Take a trained model. Several for one data set are its seeds."),
    ] = None,
    data: opt.Data = None,
    as_json: opt.Json = False,
) -> None:
    """Run the paper's experiments again and set our figures beside the printed ones.

    Writes index.html, results.json, tables (csv, md) and figures (png, pdf). Every claim of the paper is checked and
    marked held or not held. May be stopped at any time (Ctrl-C, or worse): the same command goes on after the last
    network that was trained and the last figure that was measured.

    The paper's data are not bundled: --data or WFALENS_DATA names the folder that has tagmynews/train.csv and so on
    (docs/corpora.md). Without it, generated headlines are used, and the page says so. All sections on both data sets
    with three seeds took 84 minutes of processor time on our machine. It needs the extra demo (see the README).

    Sections: table1 (missing rows), table2 (context), table3 (augmentation), leak (the news titles in both splits),
    fig-beta, fig-alpha, fig-states, zipf (proposition 1), proposition2, words (influence), maps (t-SNE), pairs,
    pretraining, attacks, cost, beyond (probing and automatic choice).

    Example:
      wfalens reproduce --quick --only table1,fig-beta
    """
    from benchmarks.paper.result_folder import claims_sentence, measuring_sentence

    summary = reproduce(
        out,
        _listed(dataset),
        seeds=seeds,
        only=_listed(only),
        quick=quick,
        data=data,
        models=_models(model or []),
    )
    if as_json:
        print_json(summary)
        return
    for told in (*summary["caveats"], *summary["networks"]):
        say(told)
    for part in summary["parts"]:
        say(f"{part['part']}, {part['dataset']}" + (f": {part['missing']}" if part["missing"] else ""))
        for claim in part["claims"]:
            agree = f"; {claim['seeds']} seeds" if claim["seeds"] else ""
            say(f"  {'held    ' if claim['held'] else 'NOT HELD'} {claim['text']} ({claim['evidence']}{agree})")
    say(claims_sentence(summary))
    say(measuring_sentence(summary))
    say(f"wrote {out / 'index.html'}")


def reproduce(
    out: Path,
    datasets: Sequence[str] = (),
    *,
    seeds: int | None = None,
    only: Sequence[str] = (),
    quick: bool = False,
    data: Path | None = None,
    models: Mapping[str, Sequence[Path]] | None = None,
) -> dict[str, Any]:
    """Run the experiments, by default on the paper's data sets if they are here, and write the page to a folder."""
    from benchmarks.paper import FULL, QUICK
    from benchmarks.paper import reproduce as run

    from wfalens.text.datasets.catalogue import is_available

    names = list(datasets) or [name for name in _PAPERS if is_available(name, data)] or ["newsroom"]
    check_folder(out)
    with resumable(out):
        return run(
            out,
            names,
            seeds=seeds or (1 if quick else 3),
            only=only,
            scale=QUICK if quick else FULL,
            data=data,
            models=models,
        )


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


if __name__ == "__main__":
    typer.run(reproduce_cli)
