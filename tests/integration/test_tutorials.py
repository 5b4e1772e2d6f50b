"""The notebooks of the documentation run from top to bottom, and show what was stored in them."""

import json
import runpy
from pathlib import Path

import pytest

from tests import notebooks

TUTORIALS = Path(__file__).resolve().parents[2] / "docs" / "tutorials"
NOTEBOOKS = sorted(TUTORIALS.glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_tutorial_runs_from_an_empty_folder(path, tmp_path, monkeypatch):
    if path.stem == "keras_file":
        pytest.importorskip("keras", reason="the tutorial trains a Keras model")
        monkeypatch.setenv("KERAS_BACKEND", "torch")
    monkeypatch.chdir(tmp_path)
    assert sum(map(len, notebooks.run(path))) >= 5


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_tutorial_shows_its_output_and_no_path_of_a_machine(path):
    outputs = [output for cell in notebooks.read_cells(path) for output in cell.get("outputs", ())]
    assert len(outputs) >= 5
    assert not any(output["output_type"] == "error" for output in outputs)
    text = json.dumps(outputs)
    assert "/home/" not in text
    assert "/tmp" not in text  # noqa: S108


def test_a_notebook_becomes_a_page_with_code_and_output(tmp_path):
    page = runpy.run_path(str(TUTORIALS.parent / "site_hooks.py"))["notebook_page"]
    cell = {"cell_type": "code", "source": ["1 + 1"], "outputs": [{"data": {"text/plain": ["2"]}}]}
    words = {"cell_type": "markdown", "source": ["# Sum\n", "See [next](other.ipynb)."]}
    (tmp_path / "sum.ipynb").write_text(json.dumps({"cells": [words, cell]}))
    text = page(tmp_path / "sum.ipynb")
    assert text.startswith("# Sum\nSee [next](other.md).")
    assert "```python\n1 + 1\n```\n\n```text\n2\n```" in text
    assert "(sum.ipynb)" in text
