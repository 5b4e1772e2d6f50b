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
