"""Every benchmark loads and explains itself."""

import runpy
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"
NAMES = sorted(path.name for path in FOLDER.glob("*.py") if path.name != "common.py")


@pytest.mark.parametrize("name", NAMES)
def test_help(name, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    monkeypatch.syspath_prepend(str(FOLDER))
    with pytest.raises(SystemExit) as left:
        runpy.run_path(str(FOLDER / name), run_name="__main__")
    assert left.value.code == 0
    assert "--quick" in capsys.readouterr().out


def test_the_report_keeps_what_programs_print_and_names_what_failed(tmp_path, monkeypatch, capsys):
    report = runpy.run_path(str(FOLDER / "report.py"))
    (tmp_path / "good.py").write_text('"""Counts."""\nprint("| n |")\nprint(\'{"n": 3}\')\n')
    (tmp_path / "bad.py").write_text('"""Fails."""\nraise SystemExit("no data")\n')
    for name, value in {"FOLDER": tmp_path, "PAGE": tmp_path / "page.md", "KEPT": tmp_path / "kept"}.items():
        monkeypatch.setitem(report["main"].__globals__, name, value)
    assert report["main"](["--quick"]) == 1
    page = (tmp_path / "page.md").read_text()
    assert "## good\n\nCounts.\n\n*quick, 2" in page
    assert "```text\n| n |\n```" in page
    assert '"n": 3' not in page
    assert "**It failed**: `exit code 1: no data`" in page
    assert "Python 3." in page
    assert report["kept"](tmp_path / "kept")[1].figures == {"n": 3}
    assert "failed: bad" in capsys.readouterr().out
