"""`wfalens explore`."""

from __future__ import annotations

from typing import Annotated

import typer

from wfalens.cli.app import app
from wfalens.cli.common import (
    AutomatonArgument,
    DataOption,
    EncodingOption,
    LabelColumnOption,
    SeedOption,
    TextColumnOption,
    note,
    say,
)
from wfalens.cli.study import CompareModelOption, CompareOption, ModelOption, TextsOption, VectorsOption, open_study


@app.command()
def explore(
    automaton: AutomatonArgument,
    model: ModelOption = None,
    corpus: TextsOption = None,
    vectors: VectorsOption = "wordllama",
    compare: CompareOption = None,
    compare_model: CompareModelOption = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; others than 127.0.0.1 let other machines in.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port to listen on (default: the first free one from 8000).")
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    seed: SeedOption = 0,
    data: DataOption = None,
    text_column: TextColumnOption = "text",
    label_column: LabelColumnOption = None,
    encoding: EncodingOption = "utf-8",
) -> None:
    """Look at an automaton in the browser: its map, any sentence you type, words, pairs, attacks.

    A local web application; nothing leaves this machine, nothing is fetched from elsewhere. With --model the network
    answers beside the automaton, with --corpus there are sentences. Stop it with Ctrl-C.

    Example: wfalens explore films.wfa --model films.rnn --corpus rotten_tomatoes
    """
    from wfalens.explorer import serve
    from wfalens.explorer.guard import LOOPBACK

    study = open_study(
        automaton, model, corpus, vectors, compare, compare_model, seed, data, text_column, label_column, encoding
    )
    if host not in LOOPBACK:
        note(f"listening on {host}: whoever reaches this address can use the explorer; there is no password")

    def ready(address: str) -> None:
        say(f"{study.name} is at {address} (Ctrl-C stops it)")
        if browser:
            import webbrowser

            webbrowser.open(address)

    serve(study, host, port, ready)
