"""Middleware of the live page: who may send requests, how large, and what a browser may do with the answers."""

from __future__ import annotations

import logging
from ipaddress import ip_address

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wfalens.report.page import LIVE_POLICY, to_json

MAX_BODY = 64 * 1024
LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - only if the user says so
_TOO_LARGE = f"a request may have at most {MAX_BODY:,} bytes"
_LOG = logging.getLogger(__name__)
_HEADERS = {
    "content-security-policy": LIVE_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """Refuses foreign Host headers (a page elsewhere may have rebound its name to us), requests that other sites
    send, and large bodies; sets the headers of every answer; and turns a defect of ours into a plain 500.
    """

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...] = LOOPBACK) -> None:
        self._app, self._hosts = app, frozenset(host.lower() for host in hosts)
        self._everywhere = not self._hosts.isdisjoint(EVERYWHERE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._exchange(scope, receive, send)
        else:
            await send({"type": "websocket.close"})  # there is no websocket here

    async def _exchange(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer, body = _Answer(send), _Body(receive)

        async def unless_too_large(message: Message) -> None:
            if not body.too_large:  # else the application would answer half a body
                await answer.send(message)

        refusal = self._refusal(Headers(scope=scope))
        if refusal is not None:
            await answer.refuse(*refusal)
            return
        try:
            await self._app(scope, body, unless_too_large)
        except _TooLargeError:
            pass
        except Exception:
            _LOG.exception("a request failed")
            await answer.refuse(500, "this could not be answered; see the server's log")
        if body.too_large:
            await answer.refuse(413, _TOO_LARGE)

    def _served(self, name: str) -> bool:
        """A name is served if it was given; an address also if we listen on all, since nobody can rebind an address."""
        return name in self._hosts or (self._everywhere and _is_address(name))

    def _refusal(self, headers: Headers) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if not self._served(_name(host)):
            return 421, "this address is not served here; open the one that the command printed"
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        if origin not in (None, f"http://{host}", f"https://{host}") or site not in ("same-origin", "none"):
            return 403, "requests from other sites are refused"
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit() and len(length) < 10 and int(length) <= MAX_BODY):
            return 413, _TOO_LARGE
        return None


class _Answer:
    """Adds our headers to every answer; a refusal is sent only if nothing was sent before."""

    def __init__(self, send: Send) -> None:
        self._send, self._started = send, False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._started = True
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
        await self._send(message)

    async def refuse(self, status: int, error: str) -> None:
        if self._started:
            return
        content = to_json({"error": error}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": content})


class _TooLargeError(Exception):
    """The body of a request is too large."""


class _Body:
    """Counts the bytes that arrive, because the stated length of a request may be wrong."""

    def __init__(self, receive: Receive) -> None:
        self._receive, self._seen = receive, 0

    @property
    def too_large(self) -> bool:
        return self._seen > MAX_BODY

    async def __call__(self) -> Message:
        message = await self._receive()
        self._seen += len(message.get("body", b""))
        if self.too_large:
            raise _TooLargeError
        return message


def _name(host: str) -> str:
    """Of `name:port` or `[address]:port`."""
    host = host.lower()
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
