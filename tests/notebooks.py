"""Runs notebooks of the documentation; `python -m tests.notebooks docs/tutorials/NAME.ipynb` stores their output."""

from __future__ import annotations

import ast
import io
import json
import sys
from contextlib import chdir, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


def read_cells(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def outputs_of(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Run one cell in the namespace `names`; what it prints and shows, as a notebook stores it."""
    *before, last = ast.parse(source).body
    shown = isinstance(last, ast.Expr)
    printed, value = io.StringIO(), None
    with redirect_stdout(printed):
        exec(compile(ast.Module([*before, *([] if shown else [last])], []), "cell", "exec"), names)  # noqa: S102
        if shown:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307 - our own text
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append(
            {"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)}
        )
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            data = {"text/html": value._repr_html_().splitlines(keepends=True)}
        outputs.append({"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return outputs


def run(path: Path) -> list[list[dict[str, Any]]]:
    """Run a notebook from top to bottom in the working folder; -> the outputs of each code cell"""
    names: dict[str, Any] = {"__name__": "tutorial"}
    return [outputs_of("".join(cell["source"]), names) for cell in read_cells(path) if cell["cell_type"] == "code"]


def store(path: Path) -> None:
    """Run a notebook in an empty folder and keep its output in the file."""
    with TemporaryDirectory() as folder, chdir(folder):
        outputs = iter(run(path))
    book = json.loads(path.read_text(encoding="utf-8"))
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = next(outputs)
    path.write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        store(Path(name).resolve())
