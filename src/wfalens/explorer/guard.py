"""What stands between the network and the explorer: who may ask, how much, and what a browser may do with answers."""

from __future__ import annotations

import logging
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wfalens.inspection.page import EXPLORER_POLICY, to_json

MAX_BODY = 64 * 1024
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_LOG = logging.getLogger(__name__)
_HEADERS = {
    "content-security-policy": EXPLORER_POLICY,
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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return  # nothing here speaks websocket
        started = False

        async def with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
            await send(message)

        headers = Headers(scope=scope)
        refusal = self._refusal(headers)
        if refusal:
            await _answer(with_headers, *refusal)
            return
        body = _Body(receive)
        try:
            await self._app(scope, body, with_headers)
        except _TooLargeError:
            if not started:
                await _answer(with_headers, 413, f"a request may have at most {MAX_BODY:,} bytes")
        except Exception:
            _LOG.exception("a request failed")
            if not started:
                await _answer(with_headers, 500, "this could not be answered; the server's log tells why")

    def _refusal(self, headers: Headers) -> tuple[int, str] | None:
        if _name(headers.get("host", "")) not in self._hosts:
            return 421, "this address is not served here; open the one that the command printed"
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != headers["host"]:
            return 403, "requests from other sites are refused"
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return 403, "requests from other sites are refused"
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > MAX_BODY:
            return 413, f"a request may have at most {MAX_BODY:,} bytes"
        return None


class _TooLargeError(Exception):
    """More was sent than a request may have."""


class _Body:
    """Counts what comes in, whatever the request said about its length."""

    def __init__(self, receive: Receive) -> None:
        self._receive, self._seen = receive, 0

    async def __call__(self) -> Message:
        message = await self._receive()
        self._seen += len(message.get("body", b""))
        if self._seen > MAX_BODY:
            raise _TooLargeError
        return message


def _name(host: str) -> str:
    """Of `name:port` or `[address]:port`."""
    host = host.lower()
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]


async def _answer(send: Send, status: int, error: str) -> None:
    body = to_json({"error": error}).encode()
    length = str(len(body)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", length)]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
