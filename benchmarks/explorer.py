"""The explorer under load: its first view, the answer to a keystroke with 50 visitors, and the size of the report.

The server is the real one in a process of its own. Visitors type: each sends a growing part of a title once a second
and waits for the answer. The first view is the time from the server's "ready" line to the overview in Chromium; where
there is no Chromium, until page, script, style and overview have been fetched.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from common import arguments, finish, news, show, trained_model
from wfalens.extraction import Stochastic, extract
from wfalens.report import Study, write_report
from wfalens.text import wordllama_vectors

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SWITCHES = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-sync"
CLIENTS = 50


@contextmanager
def explorer(folder: Path, name: str, options):
    """`wfalens serve` as a process; gives its address with the token, and when it was ready."""
    command = [sys.executable, "-m", "wfalens", "serve", "a.wfa", "--model", "a.rnn", "--corpus", f"{name}:test"]
    data = {"WFALENS_DATA": str(Path(options.data).resolve())} if options.data else {}
    # the visitors share this machine: what they use, the server cannot have
    with subprocess.Popen(
        [*command, "--no-browser", "--port", str(_free_port())],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **data, "PYTHONUNBUFFERED": "1"},
    ) as process:
        try:
            address = next(found[0] for line in process.stdout if (found := re.search(r"http://\S+", line)))
            yield address, time.perf_counter()
        finally:
            process.terminate()


def _free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]


@contextmanager
def open_browser():
    """A page that is open before the server is ready, so that the browser's own start is not counted; or None."""
    if CHROMIUM is None:
        yield None
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES.split())
        yield browser.new_page(viewport={"width": 1280, "height": 900})
        browser.close()


def first_view(page, address: str) -> None:
    if page is None:
        for part in ("", "page.js", "page.css", "api/overview"):
            with urllib.request.urlopen(asked(address, part)) as answer:  # noqa: S310 - our own address
                answer.read()
        return
    page.goto(address, wait_until="commit")
    page.wait_for_selector("main .answer")


def asked(address: str, path: str) -> urllib.request.Request:
    """A request with the token of the printed address."""
    place, _, token = address.partition("?token=")
    return urllib.request.Request(place + path, headers={"authorization": f"Bearer {token}"})  # noqa: S310 - our own


async def visitor(address: str, texts: list[str], seconds: float, delay: float, times: list[float], errors: list[str]):
    """One keystroke a second over one connection, as a browser would; a late answer delays the next keystroke."""
    place, _, token = address.removeprefix("http://").partition("/?token=")
    host, port = place.split(":")
    await asyncio.sleep(delay)
    reader, writer = await asyncio.open_connection(host, int(port))
    end = time.perf_counter() + seconds
    keystrokes = (text[:stop] for text in texts for stop in range(4, len(text) + 1, 3))
    while (began := time.perf_counter()) < end:
        try:
            await _ask(reader, writer, place, token, next(keystrokes))
            times.append(1000 * (time.perf_counter() - began))
        except (OSError, ValueError, asyncio.IncompleteReadError) as error:
            errors.append(str(error))
            reader, writer = await asyncio.open_connection(host, int(port))
        await asyncio.sleep(max(0.0, 1 - (time.perf_counter() - began)))
    writer.close()


async def _ask(reader, writer, host: str, token: str, text: str) -> None:
    body = json.dumps({"text": text}).encode()
    head = [
        f"host: {host}",
        f"authorization: Bearer {token}",
        "content-type: application/json",
        f"content-length: {len(body)}",
    ]
    writer.write("\r\n".join(["POST /api/trace HTTP/1.1", *head, "", ""]).encode() + body)
    await writer.drain()
    told = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    content = await reader.readexactly(int(re.search(r"content-length: (\d+)", told)[1]))
    if " 200 " not in told.split("\r\n", 1)[0] or json.loads(content)["text"] != text:
        raise ValueError(told.split("\r\n", 1)[0])


async def crowd(address: str, texts: list[str], seconds: float) -> tuple[list[float], list[str]]:
    times: list[float] = []
    errors: list[str] = []
    rng = np.random.default_rng(0)
    shares = [[texts[at] for at in rng.integers(len(texts), size=20)] for _ in range(CLIENTS)]
    await asyncio.gather(
        *(visitor(address, share, seconds, number / CLIENTS, times, errors) for number, share in enumerate(shares))
    )
    return times, errors


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    name, train, test = news(options)
    model = trained_model(name, train, options.quick)
    wfa = extract(
        model, train, Stochastic(states=40, completion="probe", alpha=0.0, representatives=5, abstraction="outputs")
    )
    seconds = 5 if options.quick else 20
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        model.save(folder / "a.rnn")
        wfa.save(folder / "a.wfa")
        vectors = wordllama_vectors(wfa.encoder.vocabulary.words[2:])
        began = time.perf_counter()
        size = write_report(Study("a.wfa", wfa, model, test, vectors), folder / "report.html")
        report_s = time.perf_counter() - began
        browser = ExitStack()
        page = browser.enter_context(open_browser())
        with explorer(folder, name, options) as (address, ready):
            with browser:  # it ends before the crowd comes
                first_view(page, address)
                first_view_s = time.perf_counter() - ready
            settle(address)
            times, errors = asyncio.run(crowd(address, list(test.texts[:2000]), seconds))
    p50, p95 = statistics.median(times), float(np.quantile(times, 0.95))
    show(
        f"{name}: {len(wfa.encoder.vocabulary):,} words × {wfa.states} states; {CLIENTS} visitors for {seconds} s",
        ["what", "value"],
        [
            [f"first view{'' if CHROMIUM else ' (fetched, not drawn)'}, s", first_view_s],
            [f"a keystroke, median of {len(times):,}, ms", p50],
            ["a keystroke, 95th percentile, ms", p95],
            ["errors", len(errors)],
            ["report, MB", size / 1e6],
            ["report, s to write", report_s],
        ],
    )
    finish(
        options,
        {
            "first_view_s": first_view_s,
            "p50_ms": p50,
            "p95_ms": p95,
            "requests": len(times),
            "errors": len(errors),
            "report_mb": size / 1e6,
            "report_s": report_s,
        },
    )


def settle(address: str) -> None:
    """Until the fidelity that the first view asks for has been measured: once, not at every keystroke."""
    while True:
        with urllib.request.urlopen(asked(address, "api/job/fidelity")) as answer:  # noqa: S310 - our own address
            if b'"working"' not in answer.read(200):
                return
        time.sleep(0.2)


if __name__ == "__main__":
    main()
