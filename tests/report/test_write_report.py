"""The report: one file that carries everything, says what it leaves out, and works whatever is missing."""

import importlib
import json
import re
import sys
from dataclasses import replace

import pytest

from tests.automata import linear_sample, sample
from tests.studies import hostile_study
from wfalens.progress import Progress, shown_on
from wfalens.report import Extent, Study, collect, views, write_report
from wfalens.text import Corpus

SMALL = Extent(sentences=5, words=40, strongest=3, pages=2, attacked=60)
WHOLE = ("overview", "opinion", "findings", "fidelity", "sentences", "attacks", "comparison", "texts")


@pytest.fixture(scope="module")
def study():
    return hostile_study()


@pytest.fixture(scope="module")
def carried(study):
    return collect(study, SMALL)


def test_what_is_being_done_is_said_before_it_is_done(study):
    class Ear(Progress):
        def __init__(self):
            self.heard = []

        def say(self, message):
            self.heard.append(message)

        def start(self, task, total=None):
            self.heard.append(task)

        def advance(self, units=1, note=""):
            self.heard.append(note)

    ear = Ear()
    with shown_on(ear):
        collect(study, SMALL)
    assert ear.heard[0].startswith("collecting what the page shows: opinion, findings")
    assert ear.heard[2] == "opinion"  # the first view, before it is made
    assert ear.heard.index("findings") < ear.heard.index("texts") < ear.heard.index("comparison")


def read(path):
    """The data and the rest of a written page."""
    text = path.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(found[1]), text.replace(found[1], "")


@pytest.mark.parametrize("missing", ["starlette", "fastapi", "uvicorn", "matplotlib"])
def test_reports_need_no_extra_that_only_the_server_or_plots_need(missing, monkeypatch):
    for name in [missing, *sys.modules]:
        if name.startswith("wfalens.report"):
            monkeypatch.delitem(sys.modules, name)
        elif name.partition(".")[0] == missing:
            monkeypatch.setitem(sys.modules, name, None)
    assert importlib.import_module("wfalens.report").write_report


def test_a_page_carries_all_its_data_and_asks_nobody(study, carried, tmp_path):
    path = tmp_path / "report.html"
    size = write_report(study, path, SMALL)
    assert size == path.stat().st_size < 1_500_000
    data, page = read(path)
    assert data["overview"] == json.loads(json.dumps(carried["overview"]))
    assert data["traces"].keys() == carried["traces"].keys()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)[1]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    for outside in ('src="', "<iframe", "@import", "url("):
        assert outside not in page.replace('"data:,"', "")
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", page)


def test_a_text_too_long_for_shapley_values_tells_so_and_the_others_are_carried():
    wfa = sample("fit", 5).wfa
    found = collect(Study("a.wfa", wfa, corpus=Corpus(("w1 w2", "w1 " * 20_001))), SMALL)
    errors = {len(text.split()): play.get("error") for text, play in found["traces"].items()}
    assert errors[2] is None
    assert "a text of 20,001 words is too long" in errors[20_001]


def test_every_view_is_carried(carried):
    for name in WHOLE:
        assert "error" not in carried[name], name


def test_sentences_that_can_be_picked_and_examples_of_findings_can_be_played(study, carried):
    texts = {item["text"] for sort in ("any", "disagree", "unsure") for item in carried["sentences"][sort]}
    examples = [example["text"] for each in carried["findings"]["findings"] for example in each["examples"]]
    assert examples
    texts |= {text for text in examples if text.split()}
    assert texts == carried["traces"].keys() == carried["counterfactuals"].keys()
    for text in texts:
        assert carried["traces"][text] == views.trace(study, text)


def test_words_are_the_frequent_and_the_strong(study, carried):
    words = {row[0] for row in carried["words"]["rows"]}
    by_count = sorted(zip(study.influence.counts, study.influence.words, strict=True), reverse=True)
    least = by_count[39][0]
    assert words >= {word for count, word in by_count if count > least}
    for name in study.wfa.class_names:
        rows = views.WordTable(study).find(towards=name, min_count=study.usual_count, limit=3)["rows"]
        assert words >= {row[0] for row in rows}


def test_what_is_left_out_is_told_as_it_is(study, carried):
    data = carried["sampling"]
    rows, pages, plays = len(carried["words"]["rows"]), len(carried["word_pages"]), len(carried["traces"])
    assert data["Words"].startswith(f"{rows:,} of {len(study.influence.words):,}")
    assert f"{pages:,} have a page" in data["Words"]
    assert data["Sentences"].startswith(f"{plays:,}, the examples")
    assert f"{carried['runtime']['words']:,} commonest words" in data["Typing"]
    assert data["Texts"].startswith(f"{len(study.corpus):,} of {study.corpus.name}")


@pytest.mark.parametrize("missing", ["model", "corpus", "vectors", "other"])
def test_a_report_without_a_part_says_why(study, missing):
    part = replace(study, **{missing: None})
    data = collect(part, SMALL)
    lacking = {name for name in WHOLE if "error" in data[name]}
    assert (
        lacking
        == {
            "model": {"opinion", "findings", "fidelity", "attacks"},
            "corpus": {"opinion", "findings", "fidelity", "sentences", "attacks", "texts"},
            "vectors": {"attacks"},
            "other": {"comparison"},
        }[missing]
    )
    assert all(" " in data[name]["error"] for name in lacking)  # a sentence


@pytest.mark.parametrize("wfa", [sample("null", 4).wfa, linear_sample(4).wfa], ids=["stochastic", "linear"])
def test_an_automaton_alone_has_a_report(wfa, tmp_path):
    write_report(Study("alone.wfa", wfa), tmp_path / "report.html", SMALL)
    data, _ = read(tmp_path / "report.html")
    assert data["overview"]["kind"] == wfa.kind
    assert data["words"]["rows"]
    assert "too many to read" in data["states"]["error"]


def test_equal_studies_give_equal_pages(study, tmp_path):
    for name in ("a.html", "b.html"):
        write_report(replace(study, vectors=None), tmp_path / name, SMALL)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
