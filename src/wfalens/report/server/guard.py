"""Middleware of the live page: who may send requests, how large, and what a browser may do with the answers."""

from __future__ import annotations

import hashlib
import logging
import secrets
from ipaddress import ip_address

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wfalens.report.page import LIVE_POLICY, to_json
from wfalens.report.server.serve import EVERYWHERE, LOOPBACK

MAX_BODY = 64 * 1024
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
    send, requests without the token, and large bodies; sets the headers of every answer; and turns a defect of ours
    into a plain 500.

    The token comes with the first visit (`/?token=…`), which leaves it as a cookie, or as `Authorization: Bearer …`.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: tuple[str, ...] = LOOPBACK) -> None:
        self._app, self._hosts, self._token = app, frozenset(host.lower() for host in hosts), token
        # cookies are shared by all ports of a host: each server has a name of its own
        self._cookie = f"wfalens-{hashlib.sha256(token.encode()).hexdigest()[:12]}"
        self._everywhere = not self._hosts.isdisjoint(EVERYWHERE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._exchange(scope, receive, send)
        else:
            await send({"type": "websocket.close"})  # there is no websocket here

    async def _exchange(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def send_guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        request = Request(scope)
        status, reason = self._refusal(request) or (200, "")
        if not reason and request.url.path == "/" and "token" in request.query_params:
            await self._first_visit(scope, receive, send_guarded)
        elif not reason:
            try:
                await self._app(scope, await _within_limit(receive), send_guarded)
            except _TooLargeError:
                status, reason = 413, _TOO_LARGE
            except ClientDisconnect:
                return
            except Exception:
                _LOG.exception("a request failed")
                status, reason = 500, "this could not be answered; see the server's log"
        if reason and not started:
            answer = Response(to_json({"error": reason}), status, media_type="application/json")
            await answer(scope, receive, send_guarded)

    def _served(self, name: str) -> bool:
        """A name is served if it was given; an address also if we listen on all, since nobody can rebind an address."""
        return name in self._hosts or (self._everywhere and _is_address(name))

    async def _first_visit(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Keep the token in a cookie and lead to the page without it, so that it stays in no history."""
        answer = RedirectResponse("/", 303)
        answer.set_cookie(self._cookie, self._token, httponly=True, samesite="strict")
        await answer(scope, receive, send)

    def _has_token(self, request: Request) -> bool:
        kind, _, bearer = request.headers.get("authorization", "").partition(" ")
        given = [request.query_params.get("token"), request.cookies.get(self._cookie)]
        given += [bearer.strip()] if kind.lower() in ("bearer", "token") else []
        expected = self._token.encode()
        return any(secrets.compare_digest((each or "").encode("utf-8", "replace"), expected) for each in given)

    def _refusal(self, request: Request) -> tuple[int, str] | None:
        headers = request.headers
        host = headers.get("host", "")
        if not self._served(_name(host)):
            return 421, "this address is not served here; open the one that the command printed"
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        if origin not in (None, f"http://{host}", f"https://{host}") or site not in ("same-origin", "none"):
            return 403, "requests from other sites are refused"
        if not self._has_token(request):
            return 401, "open the address that the command printed: it holds a token"
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit() and len(length) < 10 and int(length) <= MAX_BODY):
            return 413, _TOO_LARGE
        return None


class _TooLargeError(Exception):
    """The body of a request is too large."""


async def _within_limit(receive: Receive) -> Receive:
    """All messages of a request, read before it is answered, because its stated length may be wrong."""
    read, size = [await receive()], 0
    while True:
        if read[-1]["type"] == "http.disconnect":
            raise ClientDisconnect
        size += len(read[-1].get("body", b""))
        if size > MAX_BODY:
            raise _TooLargeError
        if not read[-1].get("more_body"):
            break
        read.append(await receive())

    async def receive_again() -> Message:
        return read.pop(0) if read else await receive()

    return receive_again


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
