"""No request blocks the others: lanes with limits, jobs in the background, a port of one's own."""

import errno
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.errors import raises
from tests.report.server.conftest import visitor
from tests.waiting import wait_until
from wfalens import progress
from wfalens.errors import InputError
from wfalens.report import views
from wfalens.report.server import web_app as application
from wfalens.report.server.jobs import Jobs
from wfalens.report.server.serve import _bind


class Gate(threading.Event):
    """Opened at the latest when its block is left, so that nothing waits for ever when a test fails."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.set()


@pytest.fixture
def held(monkeypatch):
    """Flips that take until the gate is opened."""
    gate = Gate()

    def slow(_study, text):
        gate.wait()
        return {"text": text, "counterfactuals": []}

    monkeypatch.setattr(views, "counterfactuals", slow)
    return gate


def opened(study):
    return visitor(study)


def trace(client, text="the match"):
    return client.post("/api/trace", json={"text": text})


def counterfactuals(client, text="the match"):
    return client.post("/api/counterfactuals", json={"text": text})


def wait_for(jobs, name, event):
    """Wait for what a job does; a job that fails instead fails the test at once."""

    def happened():
        answer = jobs.answer(name)
        assert answer["state"] != "failed", answer
        return event.is_set()

    wait_until(happened)


def finished(jobs, name):
    """The result of a job; a job that fails fails the test at once."""
    wait_until(lambda: jobs.answer(name)["state"] != "working")
    answer = jobs.answer(name)
    assert answer["state"] == "done", answer
    return answer["result"]


def test_slow_requests_do_not_block_others(study, held):
    with opened(study) as client, ThreadPoolExecutor(8) as pool, held:
        slow = [pool.submit(counterfactuals, client, f"text {number}") for number in range(8)]
        for path in ("/", "/api/overview", "/api/words", "/api/job/fidelity"):
            assert client.get(path).status_code == 200
        assert trace(client).status_code == 200
        assert not any(each.done() for each in slow)
        held.set()
        assert [each.result().json()["text"] for each in slow] == [f"text {number}" for number in range(8)]


def test_what_takes_too_long_is_given_up(study, held, monkeypatch):
    monkeypatch.setattr(application, "_SLOW", 0.2)
    with opened(study) as client, held:
        answer = counterfactuals(client)
        assert answer.status_code == 503
        assert "too long" in answer.json()["error"]
        assert trace(client).status_code == 200


def test_work_that_was_given_up_keeps_its_place_until_it_ends(study, monkeypatch):
    """Else a patient visitor could have any number of threads running."""
    running, most, lock, gate = [0], [0], threading.Lock(), Gate()

    def slow(_study, _text):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        gate.wait()
        with lock:
            running[0] -= 1
        return {}

    monkeypatch.setattr(views, "counterfactuals", slow)
    monkeypatch.setattr(application, "_SLOW", 0.1)
    with opened(study) as client, gate:
        assert [counterfactuals(client).status_code for _ in range(5)] == [503] * 5
        assert most[0] == 1
        gate.set()
        wait_until(lambda: running[0] == 0)
        monkeypatch.setattr(views, "counterfactuals", lambda _study, text: {"text": text})
        wait_until(lambda: counterfactuals(client).status_code == 200)


def test_too_many_that_wait_are_sent_away(study, held, monkeypatch):
    monkeypatch.setattr(application, "_WAITING", 3)
    with opened(study) as client, ThreadPoolExecutor(12) as pool, held:
        asked = [pool.submit(counterfactuals, client) for _ in range(12)]
        wait_until(lambda: sum(each.done() for each in asked) == 9)
        sent_away = [each.result() for each in asked if each.done()]
        assert {answer.status_code for answer in sent_away} == {503}
        assert "too many" in sent_away[0].json()["error"]
        assert trace(client).status_code == 200  # it has a lane of its own
        held.set()
        assert sorted(each.result().status_code for each in asked) == [200] * 3 + [503] * 9


def test_a_job_runs_once_and_tells_how_far_it_is():
    go, begun, runs = Gate(), threading.Event(), []

    def task():
        runs.append(1)
        progress.start("reading", 4)
        progress.advance(3)
        begun.set()
        go.wait()
        return {"found": 7}

    jobs = Jobs({"view": task})
    with go:
        wait_for(jobs, "view", begun)
        assert jobs.answer("view") == {"state": "working", "task": "reading", "share": 0.75}
    assert finished(jobs, "view") == {"found": 7}
    assert len(runs) == 1
    jobs.close()


def test_a_job_that_fails_tells_a_sentence_and_the_next_one_runs(caplog):
    def refuse():
        raise InputError("this view needs texts")

    def broken():
        raise RuntimeError("a secret of ours")

    jobs = Jobs({"refused": refuse, "broken": broken, "fine": lambda: {"found": 1}})
    for name in jobs.tasks:
        jobs.begin(name)
    assert finished(jobs, "fine") == {"found": 1}
    assert jobs.answer("refused") == {"state": "failed", "error": "this view needs texts"}
    assert "secret" not in jobs.answer("broken")["error"]
    assert "a secret of ours" in caplog.text
    jobs.close()


def test_a_job_does_not_outlive_the_server():
    begun, ended = threading.Event(), threading.Event()

    def endless():
        try:
            while True:
                progress.advance()
                begun.set()
        finally:
            ended.set()

    jobs = Jobs({"endless": endless})
    wait_for(jobs, "endless", begun)
    jobs.close()
    wait_until(ended.is_set)


def test_views_that_take_seconds_are_jobs(study):
    names = ("fidelity", "sentences", "opinion", "findings", "attacks", "comparison")
    with opened(study) as client:
        for name in names:
            wait_until(lambda name=name: client.get(f"/api/job/{name}").json()["state"] != "working")
        found = {name: client.get(f"/api/job/{name}").json() for name in names}
    assert {data["state"] for data in found.values()} == {"done"}, found
    assert found["fidelity"]["result"]["texts"] == len(study.corpus)
    assert found["comparison"]["result"]["words"]


def test_a_port_that_is_taken_is_told_and_a_free_one_is_found():
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    port = taken.getsockname()[1]
    with taken, raises("port"):
        _bind("127.0.0.1", port)
    with _bind("127.0.0.1", None) as first:
        first.listen()
        with _bind("127.0.0.1", None) as second:
            assert second.getsockname()[1] > first.getsockname()[1] >= 8000
            assert second.getsockname()[0] == "127.0.0.1"
    with raises("port"):
        _bind("no such host", 8000)


def test_when_no_port_is_free_it_is_told(monkeypatch):
    def bind(*_):
        raise OSError(errno.EADDRINUSE, "in use")

    monkeypatch.setattr(socket.socket, "bind", bind)
    with raises("port"):
        _bind("127.0.0.1", None)


def test_a_job_can_be_cancelled_and_started_again():
    runs, begun, gate = [], threading.Event(), Gate()

    def work():
        runs.append(len(runs))
        begun.set()
        progress.start("counting", 2)
        gate.wait()
        progress.advance()
        return {"run": len(runs)}

    jobs = Jobs({"counting": work, "other": lambda: {"run": "other"}})
    try:
        with gate:
            wait_for(jobs, "counting", begun)
            assert jobs.answer("counting")["state"] == "working"
            jobs.cancel("counting")
            assert jobs.answer("other")["state"] == "working"  # the cancelled one has not noticed yet
        assert finished(jobs, "other") == {"run": "other"}
        assert finished(jobs, "counting") == {"run": 2}
        jobs.cancel("counting")  # what is done stays
        assert jobs.answer("counting")["state"] == "done"
    finally:
        jobs.close()


def test_the_page_may_cancel_a_job(study):
    with opened(study) as client:
        assert client.post("/api/job/attacks/cancel").json() == {"state": "cancelled"}
        assert client.post("/api/job/nothing/cancel").status_code == 404
