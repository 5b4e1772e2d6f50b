"""Serving the explorer on this machine."""

from __future__ import annotations

import errno
import socket
import sys
from collections.abc import Callable

from wfalens.errors import InputError, MissingDependencyError
from wfalens.report.server.guard import EVERYWHERE, LOOPBACK
from wfalens.report.views import Study

_PORTS_TRIED = 20


def serve(study: Study, host: str, port: int | None, ready: Callable[[str], None]) -> None:
    """Answer until interrupted; `ready` is called with the address once requests are answered."""
    try:
        import uvicorn

        from wfalens.report.server.app import create_app
    except ImportError as error:
        raise MissingDependencyError(error.name or "fastapi", "explore") from None
    if "torch" in sys.modules:
        import torch

        torch.set_num_threads(1)  # many short texts: threads would only wait for each other
    bound = _bind(host, port)
    names = (*LOOPBACK, host, socket.gethostname()) if host not in LOOPBACK else LOOPBACK
    app = create_app(study, names)
    shown = socket.gethostname() if host in EVERYWHERE else f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{bound.getsockname()[1]}/"

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready(address)

    config = uvicorn.Config(app, log_level="warning", server_header=False, timeout_keep_alive=30)
    Server(config).run(sockets=[bound])


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
                raise InputError(f"cannot listen on {host}, port {number}: {error.strerror}") from None
        else:
            return bound
    raise InputError(f"no port from 8000 to {8000 + _PORTS_TRIED - 1} is free; choose one with --port")
