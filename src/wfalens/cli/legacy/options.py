"""Options that commands share, by name: `corpus: opt.Corpus`. Panels group them in the help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

OUTPUT, TEXTS, WORDS, SHARDS = "Output", "Reading texts", "Choosing words", "Corpora larger than memory"
CORPUS_HELP = (
    "a data set by name (see `wfalens data list`), a .csv, .tsv, .jsonl (also .gz) or .parquet file, a .txt "
    "file with a text on each line and no labels, or a folder with one subfolder per class."
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
Vectors = Annotated[
    str, typer.Option("--vectors", metavar="VECTORS", help="Word vectors: wordllama, or a GloVe or word2vec file.")
]
MinCount = Annotated[
    int,
    typer.Option(
        "--min-count", metavar="N", min=1, help="Leave out words seen less often in extraction: their scores are noise."
    ),
]
SpareStopWords = Annotated[bool, flag("--spare-stop-words", help="Leave stop words alone.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of everything random.")]

# how texts are read
Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="FOLDER",
        envvar="WFALENS_DATA",
        help="The data folder: it holds the data sets that are not bundled (see `wfalens data list`).",
        rich_help_panel=TEXTS,
    ),
]
TextColumn = Annotated[
    str, typer.Option("--text-column", metavar="NAME", help="Column that holds the text.", rich_help_panel=TEXTS)
]
LabelColumn = Annotated[
    str | None,
    typer.Option(
        "--label-column",
        metavar="NAME",
        help="Column that holds the class.",
        show_default="label, if there is one",
        rich_help_panel=TEXTS,
    ),
]
Encoding = Annotated[
    str, typer.Option("--encoding", metavar="NAME", help="Encoding of text files.", rich_help_panel=TEXTS)
]

# what is written
Html = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Also write the result as a page.", rich_help_panel=OUTPUT),
]
Plot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Also draw the result (.png, .pdf or .svg).", rich_help_panel=OUTPUT),
]
Force = Annotated[bool, flag("--force", "-f", help="Overwrite files that exist.", panel=OUTPUT)]
Json = Annotated[bool, flag("--json", help="Print JSON instead of tables.", panel=OUTPUT)]

# which words
Words = Annotated[
    list[str] | None,
    typer.Option(
        "--words", "-w", metavar="WORDS", help="These words, with spaces (may be repeated).", rich_help_panel=WORDS
    ),
]
WordFile = Annotated[
    Path | None,
    typer.Option(
        "--word-file", metavar="FILE", help="Words, one on a line; unknown ones are left out.", rich_help_panel=WORDS
    ),
]
TopWords = Annotated[
    int | None,
    typer.Option(
        "--top", "-k", metavar="N", min=1, help="The words seen most often in extraction.", rich_help_panel=WORDS
    ),
]

# corpora in shards
STOP, SKIP = "stop", "skip"
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="Read the corpus in shards and stay below so much memory, such as 2GB. A pattern such as "
        "'texts/*.parquet' is always read in shards.",
        rich_help_panel=SHARDS,
    ),
]
Engine = Annotated[
    str | None,
    typer.Option(
        "--engine", metavar="NAME", help="Read the corpus in shards: local (here), or ray.", rich_help_panel=SHARDS
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        min=1,
        help="Shards worked on at a time.",
        show_default="one per core",
        rich_help_panel=SHARDS,
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="ADDRESS",
        help="A Ray cluster: auto, or HOST:PORT.",
        show_default="$RAY_ADDRESS, or a new local Ray",
        rich_help_panel=SHARDS,
    ),
]
Shard = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="SIZE",
        help="Text in a shard, such as 16MB: what is read again at most after a stop.",
        rich_help_panel=SHARDS,
    ),
]
OnBad = Annotated[
    str,
    typer.Option(
        "--on-bad",
        metavar="WHAT",
        help=f"At a row that cannot be read or a shard that fails: {STOP}, or {SKIP} and count it.",
        rich_help_panel=SHARDS,
    ),
]
Log = Annotated[
    Path | None,
    typer.Option(
        "--log",
        metavar="FILE",
        help="Append what happens to this file, one JSON object per line.",
        rich_help_panel=SHARDS,
    ),
]
