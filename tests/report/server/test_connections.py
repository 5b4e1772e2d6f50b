"""Slow and many connections, for real on the loopback device: each has a deadline, and a new one is always answered."""

import logging
import socket
import threading
from contextlib import ExitStack, contextmanager

import pytest

pytest.importorskip("uvicorn", reason="needs the explorer's packages: pip install 'wfalens[explore]'")

import uvicorn

from tests.report.server.conftest import TOKEN
from tests.waiting import wait_until
from wfalens.report.server import connections
from wfalens.report.server.connections import LimitedProtocol, LogLimit
from wfalens.report.server.web_app import create_app

PATIENCE = 60  # seconds: only a connection that stays open for good takes that long
HEAD = f"host: 127.0.0.1\r\nauthorization: Bearer {TOKEN}\r\n"
OVERVIEW = f"GET /api/overview HTTP/1.1\r\n{HEAD}\r\n".encode()
SLOW = {
    "silent": b"",
    "header": b"GET / HTTP/1.1\r\nhost: 127",
    "body": f"POST /api/trace HTTP/1.1\r\n{HEAD}content-length: 20\r\n\r\n{{".encode(),
    "next header": OVERVIEW + b"GET / HTTP/1.1\r\n",
}


@contextmanager
def running(study):
    """A server and its port."""
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    config = uvicorn.Config(
        create_app(study, TOKEN), http=LimitedProtocol, ws="none", log_level="warning", timeout_keep_alive=10**6
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    wait_until(lambda: server.started or not thread.is_alive())
    try:
        yield server, bound.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


def connected(port, sent=b""):
    client = socket.create_connection(("127.0.0.1", port), PATIENCE)
    client.sendall(sent)
    return client


def read_all(client):
    """What comes until the server closes; it may close with a reset."""
    parts = []
    try:
        while part := client.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


@pytest.mark.parametrize("kind", SLOW)
def test_a_slow_request_is_dropped(study, kind, monkeypatch, caplog):
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.3)
    with running(study) as (server, port), connected(port, SLOW[kind]) as client, caplog.at_level(logging.WARNING):
        answers = read_all(client)  # it ends
        wait_until(lambda: not server.server_state.connections)
    assert answers.count(b"200 OK") == (kind == "next header")
    assert "a request failed" not in caplog.text


def test_an_answer_that_nobody_reads_is_dropped(study, monkeypatch):
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 10**6)
    monkeypatch.setattr(connections, "ANSWER_SECONDS", 0.3)
    many = f"GET /page.js HTTP/1.1\r\n{HEAD}\r\n".encode() * 200  # more than the buffers of the system hold
    with running(study) as (server, port), connected(port, many):
        wait_until(lambda: server.server_state.total_requests > 0)
        wait_until(lambda: not server.server_state.connections)


def test_among_many_slow_connections_a_new_one_is_answered(study, monkeypatch):
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 4)
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 10**6)
    with running(study) as (server, port), ExitStack() as opened:
        clients = [opened.enter_context(connected(port, b"GET / HT")) for _ in range(12)]
        for client in clients[:8]:
            assert read_all(client) == b""  # the longest waiting ones have made room
        last = opened.enter_context(connected(port, OVERVIEW))
        assert last.recv(65536).startswith(b"HTTP/1.1 200 OK")
        assert len(server.server_state.connections) == 4


def test_little_is_logged_however_much_happens():
    now = 0.0
    limit = LogLimit(lambda: now)
    record = logging.LogRecord("uvicorn.error", logging.WARNING, "", 0, "Invalid HTTP request received.", None, None)
    assert 0 < sum(limit.filter(record) for _ in range(100_000)) <= 100
    now = 3600.0
    assert limit.filter(record)


def test_bad_requests_without_end_are_logged_a_few_times(study, caplog, monkeypatch):
    log = logging.getLogger("uvicorn.error")
    monkeypatch.setattr(connections, "_LOGGERS", (log.name,))
    monkeypatch.setattr(log, "filters", [])
    connections.limit_logging()
    with running(study) as (_, port):
        monkeypatch.setattr(log, "handlers", [caplog.handler])
        for _ in range(60):
            with connected(port, b"nonsense\r\n\r\n") as client:
                read_all(client)
    assert 0 < caplog.text.count("Invalid HTTP request") < 60
