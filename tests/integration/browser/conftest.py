"""A headless browser that watches: no error on any page, no dialog, and no request to anywhere else."""

import shutil
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import floor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("fastapi", reason="needs the explorer's packages: pip install 'wfalens[explore]'")
pytest.importorskip("playwright", reason="needs playwright")

from playwright.sync_api import expect, sync_playwright

from tests.studies import hostile_study
from tests.waiting import wait_until
from wfalens.report import Extent, write_report
from wfalens.report.server import web_app as application
from wfalens.report.server.web_app import create_app

TOKEN = "told-to-the-visitor"  # noqa: S105 - of these tests
PATIENCE = 120_000  # milliseconds: only a page that hangs takes that long, however busy the machine
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
EXTENT = Extent(sentences=12, words=150, strongest=10, pages=5, attacked=200)
SWITCHES = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


def pytest_collection_modifyitems(items):
    """All tests of this folder are slow."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def study():
    return hostile_study()


@pytest.fixture(scope="session")
def browser():
    if CHROMIUM is None:
        pytest.skip("needs Chromium (apt-get install chromium)")
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES.split())
        yield browser
        browser.close()


@contextmanager
def served(study):
    """The address of a running explorer."""
    import uvicorn

    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(application, "_QUICK", PATIENCE)
        patch.setattr(application, "_SLOW", PATIENCE)
        app = create_app(study, TOKEN)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    wait_until(lambda: server.started or not thread.is_alive())
    yield f"http://127.0.0.1:{bound.getsockname()[1]}/"
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="session")
def serving():
    return served


@pytest.fixture(scope="session")
def explorer(study):
    with served(study) as address:
        yield address


@pytest.fixture(scope="session")
def report(study, tmp_path_factory):
    """The address of a written report."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(study, path, EXTENT)
    return path.as_uri()


@dataclass
class Watch:
    """Everything that must not happen."""

    allowed: str  # the host that may be asked; "" for none
    seen: list[str] = field(default_factory=list)

    def over(self, page) -> None:
        page.on("console", lambda message: message.type == "error" and self.seen.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.seen.append(f"page: {error}"))
        page.on("dialog", lambda dialog: (self.seen.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: self._asked(request.url))

    def _asked(self, address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("data", "blob", "file") and parts.netloc != self.allowed:
            self.seen.append(f"request: {address}")


@pytest.fixture
def visit(browser):
    """visit(address, view) opens a view in a page that is watched to the end of the test."""
    opened, watches = [], []

    def open_view(address, view="overview", *, width=1280, dark=False):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light", accept_downloads=True
        )
        context.set_default_timeout(PATIENCE)
        if address.startswith("http:"):
            context.request.get(f"{address}?token={TOKEN}")  # leaves the cookie
        page = context.new_page()
        watch = Watch(urlsplit(address).netloc)
        watch.over(page)
        opened.append(context)
        watches.append(watch)
        go(page, address, view)
        return page

    yield open_view
    for context in opened:
        context.close()
    assert [fault for watch in watches for fault in watch.seen] == []


def go(page, address, view):
    """To another view of an open page; waits until it is drawn."""
    page.goto(f"{address}#{view}")
    page.wait_for_selector(f'[data-ready="{view.partition("?")[0]}"]')
    drawn(page)


def drawn(page):
    """Waits until what was changed is on the screen."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def as_points(change):
    """A change of probability without its sign, as the page shows it."""
    return str(abs(floor(100 * change + 0.5)))
