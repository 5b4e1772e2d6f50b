"""`wfalens serve`: the page in the browser, for any sentence."""

from __future__ import annotations

import webbrowser
from typing import Annotated

import typer

from wfalens.cli import options as opt
from wfalens.cli.config import Reading, new_group, register
from wfalens.cli.inputs import open_study
from wfalens.cli.library import server
from wfalens.cli.output import note, print_json, say
from wfalens.cli.report_command import Compare, ReportSettings

LOOPBACK = ("127.0.0.1", "localhost", "::1")
command = new_group()


@register(command, "serve", lambda: {"texts": Reading, "report": ReportSettings})
def serve(
    automaton: opt.Automaton,
    model: opt.SomeModel = None,
    corpus: opt.SomeCorpus = None,
    compare: Compare = None,
    host: Annotated[
        str,
        typer.Option("--host", metavar="ADDRESS", help="Where to listen; others than 127.0.0.1 let other machines in."),
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            "--port", metavar="N", min=1, max=65535, help="Port.", show_default="the first free one from 8000"
        ),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", metavar="", help="Open the page in a browser.")
    ] = True,
    config: opt.Config = None,  # type: ignore[assignment]
    as_json: opt.Json = False,
) -> None:
    """Look at an automaton in the browser: its map, any sentence you type, words, pairs, attacks.

    A local web application; nothing leaves this machine, nothing is fetched from elsewhere. With --model the network
    answers beside the automaton, with --corpus there are sentences. Stop it with Ctrl-C.

    Example:
      wfalens serve films.wfa --model films.rnn --corpus rotten_tomatoes
    """
    study = open_study(automaton, model, corpus, compare, config.report.compare_model, config)

    def ready(address: str) -> None:
        if as_json:
            print_json({"automaton": study.name, "address": address})
        else:
            say(f"{study.name} is at {address} (Ctrl-C stops it)")
        if browser:
            webbrowser.open(address)

    if host not in LOOPBACK:
        note(f"listening on {host}: whoever reaches this address can use the page; there is no password")
    server.serve_study(study, host, port, ready)
