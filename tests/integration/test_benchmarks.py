"""Every benchmark loads and explains itself, and the documentation shows what they measured."""

import json
import re
import runpy
import sys
from pathlib import Path

import jsonschema
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
NAMES = sorted(
    path.name
    for path in FOLDER.glob("*.py")
    if path.name not in ("common.py", "published_models.py", "report_results.py", "scorers.py")
)
RESULTS = sorted((FOLDER / "results").rglob("*.json"))
TEXT = {"type": "string"}
SCHEMA = {
    "type": "object",
    "properties": {
        "name": TEXT,
        "about": TEXT,
        "quick": {"type": "boolean"},
        "ended": {"type": "string", "pattern": r"^20\d\d-\d\d-\d\d \d\d:\d\d UTC$"},
        "seconds": {"type": ["number", "null"]},
        "machine": TEXT,
        "versions": {"type": "object", "required": ["wfalens"], "additionalProperties": TEXT},
        "printed": TEXT,
        "figures": {"type": ["object", "null"]},
        "failure": {"type": ["string", "null"]},
        "note": {"type": ["string", "null"]},
    },
    "additionalProperties": False,
}
SCHEMA["required"] = list(SCHEMA["properties"])


@pytest.mark.parametrize("name", NAMES)
def test_help(name, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    monkeypatch.syspath_prepend(str(FOLDER))
    with pytest.raises(SystemExit) as left:
        runpy.run_path(str(FOLDER / name), run_name="__main__")
    assert left.value.code == 0
    assert "--quick" in capsys.readouterr().out


@pytest.fixture
def report(monkeypatch):
    """The program `report.py`, whose helpers are modules beside it."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return runpy.run_path(str(FOLDER / "report.py"))


@pytest.fixture
def at(report, monkeypatch, tmp_path):
    """The same at work in an empty folder, with a README and two programs."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "extraction.py").write_text('"""Counts."""\nprint("| n |")\nprint(\'{"n": 3}\')\n')
    (tmp_path / "bad.py").write_text('"""Fails."""\nraise SystemExit("no data")\n')
    places = {"FOLDER": tmp_path, "ROOT": tmp_path, "PAGE": tmp_path / "docs" / "benchmarks.md"}
    for name, value in places.items():
        monkeypatch.setitem(report["main"].__globals__, name, value)
    return lambda *given: report["main"]([*given, "--results", str(tmp_path / "results")])


def test_the_report_keeps_what_programs_print_and_names_what_failed(at, tmp_path, capsys):
    assert at("--quick") == 1
    page = (tmp_path / "docs" / "benchmarks.md").read_text()
    assert "## extraction\n\nCounts.\n\n*quick, 2" in page
    assert "```text\n| n |\n```" in page
    assert '"n": 3' not in page
    assert "**It failed**: `exit code 1: no data`" in page
    assert "Python 3." in page
    assert json.loads((tmp_path / "results" / "quick" / "extraction.json").read_text())["figures"] == {"n": 3}
    assert "failed: bad (exit code 1: no data)" in capsys.readouterr().out


def test_a_quick_run_never_takes_the_place_of_a_full_one(at, tmp_path):
    at("--only", "extraction")
    at("--only", "extraction", "--quick")
    assert "*full, 2" in (tmp_path / "docs" / "benchmarks.md").read_text()
    assert not json.loads((tmp_path / "results" / "extraction.json").read_text())["quick"]


def test_a_run_that_failed_does_not_take_the_place_of_one_that_did_not(at, tmp_path):
    at("--only", "extraction")
    (tmp_path / "extraction.py").write_text('"""Counts."""\nraise SystemExit("no data")\n')
    assert at("--only", "extraction") == 1
    assert json.loads((tmp_path / "results" / "extraction.json").read_text())["figures"] == {"n": 3}


def test_outputs_of_earlier_runs_are_taken_and_written_into_the_pages(at, tmp_path):
    figures = {"speedup": 50.0, "memory_ratio": 0.1, "cr": 0.5, "cr_plain": 0.5, "peak_mb": {"plain": 400, "fast": 40}}
    (tmp_path / "one.json").write_text("a table\n" + json.dumps(figures))
    (tmp_path / "two.json").write_text(json.dumps({"seconds": {"total": 1.0}, "seconds_plain": {"total": 50.0}}))
    (tmp_path / "README.md").write_text("# It\n\n<!-- figures: extraction -->\n<!-- end of figures -->\n\nend\n")
    at("--take", "extraction", str(tmp_path / "one.json"), str(tmp_path / "two.json"), "--note", "by hand")
    text = (tmp_path / "README.md").read_text()
    assert "| ratio | **50 ×** | **1 / 10.0** | equal |" in text
    assert re.search(r"`extraction.py`, 20\S+, wfalens .*see the note there", text)
    assert text.endswith("<!-- end of figures -->\n\nend\n")
    before = text.replace("**50 ×**", "**500 ×**")
    (tmp_path / "README.md").write_text(before)
    at("--tables")
    assert (tmp_path / "README.md").read_text() == text


def test_a_file_without_figures_is_not_taken(at, tmp_path):
    (tmp_path / "one.json").write_text("a table\n")
    with pytest.raises(SystemExit, match="run the program with --json"):
        at("--take", "extraction", str(tmp_path / "one.json"))


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: str(path.relative_to(FOLDER / "results")))
def test_a_stored_result_has_all_entries_and_stands_where_it_belongs(path):
    result = json.loads(path.read_text())
    jsonschema.validate(result, SCHEMA)
    assert result["name"] == path.stem
    assert (FOLDER / f"{path.stem}.py").exists()
    assert result["quick"] == (path.parent.name == "quick")
    assert result["figures"] or result["failure"]
    assert not re.search(r"/work/|/home/|/tmp/", path.read_text())


def test_tables_in_the_documentation_are_those_of_the_stored_results(report):
    """Nobody types figures: `python benchmarks/report.py --tables` writes them."""
    known = report["main"].__globals__
    results, root = known["full_results"](FOLDER / "results"), FOLDER.parent
    pages = known["pages_with_tables"](root)
    assert {"README.md", "performance.md", "explanation.md", "robustness.md"} <= {page.name for page in pages}
    for page in pages:
        assert known["rewritten"](page, page.read_text(), results, root) == page.read_text(), page.name


def test_the_page_of_benchmarks_is_that_of_the_stored_results(report):
    known = report["main"].__globals__
    results = known["best_results"](FOLDER / "results")
    absent = [name for name in known["programs"]() if name not in {each.name for each in results}]
    assert known["page"](results, absent) == (FOLDER.parent / "docs" / "benchmarks.md").read_text()
