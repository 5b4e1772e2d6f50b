"""Arguments and options that commands share, each declared once: `corpus: opt.Corpus`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wfalens.text.datasets.catalogue import DATASETS

if TYPE_CHECKING:
    from wfalens.cli.config import Settings

OUTPUT = "Output"
CORPUS_HELP = (
    f"a data set by name ({', '.join(DATASETS)}), a .csv, .tsv, .jsonl (also .gz) or .parquet file, a .txt file with a "
    "text on each line, a folder with one subfolder per class, or a pattern such as 'texts/*.parquet'."
)
MODEL_HELP = (
    "a .rnn file of `wfalens train`, an .onnx graph or a Keras file (.h5, .keras; see `wfalens wrap`), or hf:NAME or "
    "hf:FOLDER for a Hugging Face model."
)


def flag(*names: str, help: str, panel: str | None = None) -> Any:
    """An option without a value."""
    return typer.Option(*names, metavar="", help=help, rich_help_panel=panel)


def argument(name: str, help: str) -> Any:
    return typer.Argument(metavar=name, help=help)


# what a command works on
Automaton = Annotated[Path, argument("AUTOMATON", "The automaton, a .wfa file.")]
Corpus = Annotated[str, typer.Option("--corpus", "-c", metavar="TEXTS", help=f"The texts: {CORPUS_HELP}")]
SomeCorpus = Annotated[str | None, typer.Option("--corpus", "-c", metavar="TEXTS", help=f"The texts: {CORPUS_HELP}")]
Model = Annotated[str, typer.Option("--model", "-m", metavar="MODEL", help=f"The classifier: {MODEL_HELP}")]
SomeModel = Annotated[str | None, typer.Option("--model", "-m", metavar="MODEL", help=f"The classifier: {MODEL_HELP}")]
Seed = Annotated[
    int | None, typer.Option("--seed", metavar="N", min=0, help="Seed of everything random.", show_default="0")
]
Limit = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=1, help="Take only so many texts, chosen at random.")
]
Words = Annotated[
    list[str] | None,
    typer.Option(
        "--words",
        "-w",
        metavar="WORDS",
        help="Words with spaces between them, @FILE (one on a line), or top:N, the most frequent; may be repeated.",
    ),
]
ClassName = Annotated[str | None, typer.Option("--class", metavar="CLASS", help="The class that is asked about.")]
Top = Annotated[int, typer.Option("--top", "-k", metavar="N", min=1, help="How many to show.")]

# what is written
Out = Annotated[
    list[Path] | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Also write the result, by the ending: .html, .csv, .json, .png, .pdf or .svg (may be repeated).",
        rich_help_panel=OUTPUT,
    ),
]
Force = Annotated[bool, flag("--force", "-f", help="Overwrite files that exist.", panel=OUTPUT)]
Json = Annotated[bool, flag("--json", help="Print JSON instead of tables.", panel=OUTPUT)]

if TYPE_CHECKING:  # commands get the settings that were read
    Config = Settings
else:
    Config = Annotated[
        list[str] | None,
        typer.Option(
            "--config",
            "-C",
            metavar="FILE",
            help="A TOML file of settings, or one setting as KEY=VALUE (may be repeated); see below.",
        ),
    ]
