"""What the network may ask of the explorer: hosts, origins, sizes, bad requests, and the headers of every answer."""

import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from tests.report.server.conftest import TOKEN, visitor
from tests.studies import HOSTILE, SCRIPT
from wfalens.report import views
from wfalens.report.server.guard import MAX_BODY
from wfalens.report.server.web_app import MAX_TEXT, create_app

VIEWS = ("/", "/page.js", "/page.css", "/api/overview", "/api/words", "/api/job/fidelity")
NASTY = [
    *HOSTILE,
    '"><img src=x onerror=alert(1)>',
    "\u202e\u2066abc\u2069",
    "a\0b",
    "\x1b[31mred",
    "%s%n{0}${7*7}{{7*7}}",
    "'; drop table words; --",
    "../../etc/passwd",
    "__proto__",
    "\ufeff\uffff",
    "😀" * 50,
    "é" * 200,
    " ",
]


def assert_guarded(answer):
    """Every answer forbids scripts and styles from elsewhere, framing, guessing of types, and being kept."""
    policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["base-uri"] == policy["form-action"] == policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in answer.headers


def refused(answer, *statuses):
    """A refusal is one sentence as JSON, under the same headers, and tells nothing of the code."""
    assert answer.status_code in statuses, (answer.status_code, answer.text[:300])
    assert answer.headers["content-type"] == "application/json"
    assert list(answer.json()) == ["error"]
    assert answer.json()["error"]
    for trace in ("Traceback", 'File "', ".py", "site-packages"):
        assert trace not in answer.text
    assert_guarded(answer)
    return answer.json()["error"]


def trace(client, text, **given):
    return client.post("/api/trace", json={"text": text}, **given)


@pytest.mark.parametrize("path", VIEWS)
def test_every_view_is_guarded(client, path):
    answer = client.get(path)
    assert answer.status_code == 200
    assert_guarded(answer)


@pytest.fixture
def stranger(client):
    """Somebody on the same machine to whom nobody has told the token."""
    return TestClient(client.app, base_url="http://127.0.0.1", follow_redirects=False)


@pytest.mark.parametrize("path", [*VIEWS, "/api/job/fidelity/cancel", "/nothing"])
def test_without_the_token_nothing_is_answered(stranger, path):
    refused(stranger.get(path), 401)
    refused(stranger.post(path, json={"text": "a"}), 401)
    wrong = [TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "", "é", " "]
    for token in wrong:
        refused(stranger.get(path, params={"token": token}), 401)
        refused(stranger.get(path, headers={b"authorization": f"Bearer {token}".encode()}), 401)
    refused(stranger.get(path, headers={"authorization": f"Basic {TOKEN}"}), 401)
    refused(stranger.get(path, headers={"cookie": f"wfalens={TOKEN}"}), 401)


def test_the_first_visit_leaves_a_cookie_and_an_address_without_the_token(stranger):
    answer = stranger.get("/", params={"token": TOKEN})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert_guarded(answer)
    for path in VIEWS:
        assert stranger.get(path).status_code == 200
    assert trace(stranger, "the match").status_code == 200


def test_the_cookies_of_two_servers_of_one_machine_do_not_meet(study, stranger):
    other = TestClient(create_app(study, "another"), base_url="http://127.0.0.1", cookies=stranger.cookies)
    other.get("/", params={"token": "another"}, follow_redirects=False)
    stranger.get("/", params={"token": TOKEN})
    both = {**dict(other.cookies), **dict(stranger.cookies)}
    assert len(both) == 2
    for app in (other.app, stranger.app):
        assert TestClient(app, base_url="http://127.0.0.1", cookies=both).get("/api/overview").status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8000", "127.0.0.2", "", "[::2]:80", "["]
)
def test_foreign_hosts_are_refused(client, host):
    refused(client.get("/api/overview", headers={"host": host}), 421)
    refused(trace(client, "a", headers={"host": host}), 421)


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "LOCALHOST:1", "[::1]:8000"])
def test_this_machine_is_served(client, host):
    assert client.get("/api/overview", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://127.0.0.1:9",
        "https://127.0.0.1@evil.example",
        "http://[",
        "http://[::1",
        "",
    ],
)
def test_other_origins_are_refused(client, origin):
    refused(trace(client, "a", headers={"origin": origin}), 403)
    refused(client.get("/api/overview", headers={"origin": origin}), 403)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "anything"])
def test_requests_that_other_sites_send_are_refused(client, site):
    refused(trace(client, "a", headers={"sec-fetch-site": site}), 403)
    refused(client.get("/api/overview", headers={"sec-fetch-site": site}), 403)


def test_our_own_page_may_ask(client):
    ours = {"origin": "http://127.0.0.1", "sec-fetch-site": "same-origin"}
    assert trace(client, "the match", headers=ours).status_code == 200


def test_large_bodies_are_refused_whatever_they_say_of_their_length(client):
    body = json.dumps({"text": "a" * MAX_BODY})
    refused(client.post("/api/trace", content=body), 413)
    refused(client.post("/api/trace", content=(body[at : at + 4096].encode() for at in range(0, len(body), 4096))), 413)
    refused(client.post("/api/counterfactuals", content=json.dumps({"text": "a " * 500_000})), 413)
    small = json.dumps({"text": "the match"}).encode()
    parts = (part for part in (small[:5], small[5:]))
    assert client.post("/api/trace", content=parts, headers={"content-type": "application/json"}).status_code == 200


@pytest.mark.parametrize("length", ["-1", "x", "1e3", "\u00b2", "9" * 5000, str(MAX_BODY + 1)])
def test_lengths_that_are_none_or_too_large_are_refused(client, length):
    headers = {b"content-length": length.encode("latin-1")}
    refused(client.post("/api/trace", content=b"{}", headers=headers), 413)


def test_long_texts_and_words_are_refused(client):
    assert trace(client, "a" * MAX_TEXT).status_code == 200
    assert "10000" in refused(trace(client, "a" * (MAX_TEXT + 1)), 422)
    for path in ("/api/word?word=", "/api/words?query="):
        refused(client.get(path + "w" * 201), 422)
    refused(client.get("/api/words?query=" + "w" * 60_000), 422)
    refused(client.post("/api/trace", content=json.dumps({"text": "a" * 10**6})), 413)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"nothing",
        b"[]",
        b"null",
        b'"text"',
        b"{}",
        b'{"text": null}',
        b'{"text": 7}',
        b'{"text": ["a"]}',
        b'{"text": {"a": 1}}',
        b'{"text": NaN}',
        b'{"text": "\xff\xfe"}',
        b'{"text": "\\ud800"}',
        b"[" * 30_000,
        b'{"a":' * 10_000,
        b"\x00" * 100,
        b"9" * 10_000,
    ],
)
@pytest.mark.parametrize("path", ["/api/trace", "/api/counterfactuals"])
def test_bodies_that_are_no_sentence_are_refused(client, path, body):
    refused(client.post(path, content=body, headers={"content-type": "application/json"}), 400, 422)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "é"])
def test_forms_of_other_sites_cannot_be_sentences(client, kind):
    """What a form can send without a preflight is not read as JSON."""
    answer = client.post("/api/trace", content=b'{"text": "a"}', headers={b"content-type": kind.encode("latin-1")})
    refused(answer, 400, 415, 422)


@pytest.mark.parametrize(
    "path",
    [
        "/api/words?offset=-1",
        "/api/words?offset=x",
        "/api/words?limit=0",
        "/api/words?limit=501",
        "/api/words?limit=1e9",
        "/api/words?offset=" + "9" * 5000,
        "/api/words?min_count=-5",
        "/api/words?falling=perhaps",
        "/api/words?sort=nothing",
        "/api/words?sort=" + SCRIPT,
        "/api/word?word=neverseen",
        "/api/word",
        "/api/opinion",
    ],
)
def test_bad_parameters_are_refused(client, path):
    refused(client.get(path), 400, 422)


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/api",
        "/api/",
        "/api/trace/",
        "/docs",
        "/openapi.json",
        "/api/job/nothing",
        "/api/job/%00",
        "/api/job/__class__",
        "/static/../page.py",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//evil.example/",
        "/api/overview/",
    ],
)
def test_unknown_paths_are_told_as_such(client, path):
    refused(client.request("GET", f"http://127.0.0.1{path}", follow_redirects=False), 404)


@pytest.mark.parametrize(
    ("method", "path"), [("PUT", "/api/trace"), ("DELETE", "/"), ("GET", "/api/trace"), ("POST", "/")]
)
def test_other_methods_are_refused(client, method, path):
    refused(client.request(method, path), 405)


@pytest.mark.parametrize("text", NASTY)
def test_hostile_text_is_answered_as_text(client, study, text):
    """Either a refusal or the very words that were sent; what comes back is ASCII JSON."""
    sent = f"the match {text}"
    answer = client.post("/api/trace", content=json.dumps({"text": sent}), headers={"content-type": "application/json"})
    if "\ud800" in text:  # half a character
        refused(answer, 422)
        return
    assert answer.status_code == 200, answer.text
    assert answer.content.isascii()
    assert answer.json()["text"] == sent
    assert answer.json()["words"] == study.wfa.encoder.tokens(sent)
    assert_guarded(answer)


@pytest.mark.parametrize("word", [word for word in NASTY if "\ud800" not in word])
def test_hostile_words_are_answered_as_words(client, study, word):
    page = client.get("/api/word", params={"word": word})
    if word in study.influence.words:
        assert page.json()["word"] == word
    else:
        refused(page, 400)
    found = client.get("/api/words", params={"query": word})
    assert found.json()["total"] == sum(word.lower() in each.lower() for each in study.influence.words)
    refused(client.get("/api/opinion", params={"name": word}), 400)  # no class


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=300))
def test_any_text_is_played(client, text):
    answer = trace(client, text)
    assert answer.status_code == 200
    assert answer.json()["text"] == text


@given(st.binary(max_size=200), st.sampled_from(["/api/trace", "/api/counterfactuals"]))
def test_any_bytes_are_answered_or_refused(client, body, path):
    answer = client.post(path, content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (200, 400, 422)


@given(st.binary(max_size=60), st.sampled_from(["word", "words"]))
def test_any_query_is_answered_or_refused(client, query, path):
    raw = "".join(f"%{byte:02x}" for byte in query)
    for name in ("word", "query", "first", "sort", "offset"):
        answer = client.get(f"/api/{path}?{name}={raw}&second={raw}")
        assert answer.status_code in (200, 400, 422)


def test_a_defect_of_ours_is_told_in_the_log_only(client, monkeypatch, caplog):
    def broken(*_):
        raise RuntimeError("a secret of ours")

    monkeypatch.setattr(views, "trace", broken)
    with caplog.at_level(logging.ERROR):
        error = refused(trace(client, "a"), 500)
    assert "secret" not in error
    assert "a secret of ours" in caplog.text


def test_a_socket_is_closed_at_once(client):
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/"):
        pass


def test_names_that_are_told_are_served(study):
    with visitor(study, "lens.example", base_url="http://lens.example:8000") as client:
        assert client.get("/").status_code == 200
        assert client.get("/", headers={"host": "127.0.0.1"}).status_code == 421


def test_listening_everywhere_serves_addresses_but_no_foreign_names(study):
    client = visitor(study, "0.0.0.0", base_url="http://192.168.7.1:8000")  # noqa: S104
    assert client.get("/api/overview").status_code == 200
    assert client.get("/api/overview", headers={"host": "[fe80::1]:8000"}).status_code == 200
    refused(client.get("/api/overview", headers={"host": "evil.example"}), 421)
