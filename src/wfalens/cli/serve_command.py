"""`wfalens serve`: the page in the browser, for any sentence."""

from __future__ import annotations

import webbrowser
from typing import Annotated

from wfalens.cli import options as opt
from wfalens.cli.config import Settings, new_group, register
from wfalens.cli.inputs import open_study
from wfalens.cli.library import server
from wfalens.cli.output import note, print_answer
from wfalens.cli.report_command import ReportSettings

_FREE_PORT = "the first free one from 8000"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
command = new_group()


@register(command, "serve", report=ReportSettings)
def serve(
    settings: Settings,
    automaton: opt.Automaton,
    model: opt.SomeModel = None,
    corpus: opt.SomeCorpus = None,
    host: Annotated[str, opt.value("--host", "ADDRESS")] = "127.0.0.1",
    port: Annotated[int | None, opt.value("--port", "N", min=1, max=65535, show_default=_FREE_PORT)] = None,
    browser: Annotated[bool, opt.flag("--browser/--no-browser")] = True,
) -> None:
    """Look at an automaton in the browser: its map, any sentence you type, words, pairs, attacks.

    A local web application; nothing leaves this machine, nothing is fetched from elsewhere. The printed address holds
    a token; without it nothing is answered. With --model the network
    answers beside the automaton, with --corpus there are sentences. Stop it with Ctrl-C.

    Example:
      wfalens serve films.wfa --model films.rnn --corpus rotten_tomatoes

    Args:
        host: Where to listen; others than 127.0.0.1 let other machines in.
        port: Port.
        browser: Open the page in a browser.
    """
    study = open_study(automaton, model, corpus, settings)

    def ready(address: str) -> None:
        found = {"automaton": study.name, "address": address}
        print_answer(found, f"{study.name} is at {address} (Ctrl-C stops it)", settings.as_json)
        if browser:
            webbrowser.open(address)

    if host not in LOOPBACK:
        note(f"listening on {host}: other machines can reach the page; only the token protects it, without encryption")
    server.serve_study(study, host, port, ready)
