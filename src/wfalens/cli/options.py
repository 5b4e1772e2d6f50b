"""Arguments and options that commands share, each declared once: `corpus: opt.Corpus`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from wfalens.text.datasets import NAMES
from wfalens.validation import Bounds, real, whole

OUTPUT = "Output"
CORPUS_HELP = (
    f"a data set by name ({', '.join(NAMES)}), a .csv, .tsv, .jsonl (also .gz) or .parquet file, a .txt file with a "
    "text on each line, a folder with one subfolder per class, or a pattern such as 'texts/*.parquet'."
)
MODEL_HELP = (
    "a .rnn file of `wfalens train`, an .onnx graph or a Keras file (.h5, .keras; see `wfalens wrap`), or hf:NAME or "
    "hf:FOLDER for a Hugging Face model, or package.module:function (its code is run)."
)
RESULT_FILES = (".html", ".csv", ".json")
PLOT_FILES = (*RESULT_FILES, ".png", ".pdf", ".svg")
SHARE = Bounds(real, 0, 1, (None,))
COUNT = Bounds(whole, 1, 1 << 40, (None,))


def flag(*names: str, help: str | None = None, panel: str | None = None) -> Any:
    """An option without a value; without help, the docstring of the command describes it."""
    return typer.Option(*names, metavar="", help=help, rich_help_panel=panel)


def argument(name: str, help: str | None = None) -> Any:
    return typer.Argument(metavar=name, help=help)


def value(names: str, metavar: str, help: str | None = None, **more: Any) -> Any:
    """An option with a value; names: such as "--out -o"."""
    return typer.Option(*names.split(), metavar=metavar, help=help, **more)


# what a command works on
Automaton = Annotated[Path, argument("AUTOMATON", "The automaton, a .wfa file.")]
Corpus = Annotated[str, value("--corpus -c", "TEXTS", f"The texts: {CORPUS_HELP}")]
SomeCorpus = Annotated[str | None, value("--corpus -c", "TEXTS", f"The texts: {CORPUS_HELP}")]
Model = Annotated[str, value("--model -m", "MODEL", f"The classifier: {MODEL_HELP}")]
SomeModel = Annotated[str | None, value("--model -m", "MODEL", f"The classifier: {MODEL_HELP}")]
Limit = Annotated[int | None, value("--limit", "N", "Take only so many texts, chosen at random.", min=1)]
Words = Annotated[
    list[str] | None,
    value(
        "--words -w",
        "WORDS",
        "Words with spaces between them, @FILE (one on a line), or top:N, the most frequent; may be repeated.",
    ),
]
ClassName = Annotated[str | None, value("--class", "CLASS", "The class that is asked about.")]
Top = Annotated[int, value("--top -k", "N", "How many to show.", min=1)]

# what every command has, and what is written
Config = Annotated[
    list[str] | None,
    value("--config -C", "FILE", "A TOML file of settings, or one setting as KEY=VALUE (may be repeated); see below."),
]
Json = Annotated[bool, flag("--json", help="Print JSON instead of tables.", panel=OUTPUT)]
Force = Annotated[bool, flag("--force", "-f", help="Overwrite files that exist.", panel=OUTPUT)]
Out = Annotated[
    list[Path] | None,
    value(
        "--out -o",
        "FILE",
        "Also write the result, by the ending: .html, .csv, .json, some also .png, .pdf or .svg (may be repeated).",
        rich_help_panel=OUTPUT,
    ),
]
RESULT = {"out": (Out, None), "force": (Force, False)}
