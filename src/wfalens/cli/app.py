"""The command line's root and its exit codes: 0 done, 1 a failure that was asked about, 2 bad usage or input."""

from __future__ import annotations

from typing import Annotated

import typer

from wfalens import __version__

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="See what a sequence classifier has learned: train one or bring your own, extract a weighted finite "
    "automaton from it, and measure how faithful the copy is.\n\nStart with: wfalens demo",
)


class Settings:
    """What the options before the command say."""

    debug = False


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"wfalens {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error.")] = False,
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    Settings.debug = debug
