"""`wfalens explore`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy import study
from wfalens.cli.legacy.inputs import Reader
from wfalens.cli.legacy.output import note, say
from wfalens.errors import InputError

if TYPE_CHECKING:
    from wfalens.report import Study

SERVER = "Server"
_MOST_PORTS = 65535


def explore_cli(
    automaton: opt.Automaton,
    model: opt.SomeModel = None,
    corpus: study.Texts = None,
    vectors: study.Vectors = "wordllama",
    seed: opt.Seed = 0,
    compare: study.Compare = None,
    compare_model: study.CompareModel = None,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Where to listen; others than 127.0.0.1 let other machines in.",
            rich_help_panel=SERVER,
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Port to listen on.",
            show_default="the first free one from 8000",
            rich_help_panel=SERVER,
        ),
    ] = None,
    browser: Annotated[
        bool,
        typer.Option("--browser/--no-browser", metavar="", help="Open the page in a browser.", rich_help_panel=SERVER),
    ] = True,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    label_column: opt.LabelColumn = None,
    encoding: opt.Encoding = "utf-8",
) -> None:
    """Look at an automaton in the browser: its map, any sentence you type, words, pairs, attacks.

    A local web application; nothing leaves this machine, nothing is fetched from elsewhere. With --model the network
    answers beside the automaton, with --corpus there are sentences. Stop it with Ctrl-C.

    Example:
      wfalens explore films.wfa --model films.rnn --corpus rotten_tomatoes
    """
    if port is not None and not 1 <= port <= _MOST_PORTS:
        raise InputError(f"--port must lie between 1 and {_MOST_PORTS}, not {port}")
    shown = study.open_study(
        automaton,
        model,
        corpus,
        vectors=vectors,
        compare=compare,
        compare_model=compare_model,
        seed=seed,
        reader=Reader(data, text_column, label_column, encoding),
    )

    def ready(address: str) -> None:
        say(f"{shown.name} is at {address} (Ctrl-C stops it)")
        if browser:
            import webbrowser

            webbrowser.open(address)

    from wfalens.report.server.guard import LOOPBACK

    if host not in LOOPBACK:
        note(f"listening on {host}: whoever reaches this address can use the explorer; there is no password")
    explore(shown, host, port, ready)


def explore(
    shown: Study,
    host: str = "127.0.0.1",
    port: int | None = None,
    ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve a study until interrupted; `ready` is told the address."""
    from wfalens.report.server import serve_study

    serve_study(shown, host, port, ready)
