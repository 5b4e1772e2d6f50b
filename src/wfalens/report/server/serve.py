"""Serving the live page on this machine."""

from __future__ import annotations

import errno
import secrets
import socket
import sys
import webbrowser
from collections.abc import Callable
from typing import Any

from wfalens import progress
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError, naming_extras
from wfalens.models.contract import PrefixClassifier
from wfalens.report.study import Study, study_of

LOOPBACK: tuple[str, ...] = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - only if the user says so
_PORTS_TRIED, _LAST_PORT = 20, 65535


def serve(
    wfa: WFA,
    model: PrefixClassifier | None = None,
    texts: Any = None,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    browser: bool = False,
    **options: Any,
) -> None:
    """Serve the live page of an automaton until interrupted.

    Args:
        wfa: the automaton.
        model: the model that it was extracted from, which then answers beside it.
        texts: texts to show, best a corpus with labels.
        host: the address to listen on; others than 127.0.0.1 let other machines in.
        port: default: the first free one from 8000 on.
        browser: whether to open the page in a browser.
        options: further arguments of `study_of`.
    """

    def ready(address: str) -> None:
        progress.say(f"the page is at {address}")
        if browser:
            webbrowser.open(address)

    serve_study(study_of(wfa, model, texts, **options), host, port, ready)


def serve_study(study: Study, host: str, port: int | None, ready: Callable[[str], None]) -> None:
    """Answer until interrupted; `ready` is called with the address and its token once requests are answered."""
    if port is not None and not 1 <= port <= _LAST_PORT:
        raise InputError(f"a port lies between 1 and {_LAST_PORT}, not {port}", code="option-value")
    with naming_extras():
        import uvicorn

        from wfalens.report.server.connections import BACKLOG, LimitedProtocol, limit_logging
        from wfalens.report.server.web_app import create_app
    if "torch" in sys.modules:
        import torch

        torch.set_num_threads(1)  # many short texts: threads would only wait for each other
    bound = _bind(host, port)
    names = (*LOOPBACK, host, socket.gethostname()) if host not in LOOPBACK else LOOPBACK
    token = secrets.token_urlsafe(24)
    app = create_app(study, token, names)
    shown = socket.gethostname() if host in EVERYWHERE else f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{bound.getsockname()[1]}/?token={token}"

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready(address)

    limits: dict[str, Any] = {"http": LimitedProtocol, "ws": "none", "backlog": BACKLOG, "timeout_keep_alive": 30}
    limit_logging()
    Server(uvicorn.Config(app, log_level="warning", server_header=False, **limits)).run(sockets=[bound])


def _bind(host: str, port: int | None) -> socket.socket:
    """The port asked for, or the first free one from 8000 on."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in range(8000, 8000 + _PORTS_TRIED) if port is None else (port,):
        bound = socket.socket(family, socket.SOCK_STREAM)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((host, number))
        except OSError as error:
            bound.close()
            if port is not None or error.errno != errno.EADDRINUSE:
                raise InputError(f"cannot listen on {host}, port {number}: {error.strerror}", code="port") from None
        else:
            return bound
    raise InputError(f"no port from 8000 to {8000 + _PORTS_TRIED - 1} is free; choose another", code="port")
