"""What the commands share: options, corpora by name or file, output for people and for machines."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress
from rich.table import Table

from wfalens.corpus.corpus import Corpus
from wfalens.corpus.datasets import DATASETS, Dataset, load_dataset
from wfalens.corpus.readers import read_corpus
from wfalens.corpus.vectors import WordVectors, read_vectors, wordllama_vectors
from wfalens.errors import InputError
from wfalens.html import page_html
from wfalens.models.contract import EmbeddingClassifier, StepwiseClassifier
from wfalens.models.embedding import model_vectors
from wfalens.models.opening import open_model as open_model
from wfalens.progress import Progress
from wfalens.storage import write_atomically
from wfalens.text import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OUT = Console(highlight=False)
NOTES = Console(stderr=True, highlight=False)
_PLOTS = (".png", ".pdf", ".svg")
_PATIENCE = 1.0  # seconds of work before a progress bar appears

CORPUS_HELP = (
    "Texts: a data set by name (NAME or NAME:SPLIT, see `wfalens data list`), a .csv, .tsv, .jsonl (also .gz) or "
    ".parquet file, or a folder with one subfolder per class."
)
MODEL_HELP = (
    "a checkpoint written by `wfalens train` (.rnn), an ONNX graph (.onnx), or a Hugging Face classifier (hf:FOLDER, "
    "or hf:NAME for one of the hub)."
)
CorpusOption = Annotated[str, typer.Option("--corpus", "-c", help=CORPUS_HELP)]
DataOption = Annotated[
    Path | None,
    typer.Option("--data", envvar="WFALENS_DATA", help="Folder of the data sets that are not bundled."),
]
TextColumnOption = Annotated[str, typer.Option("--text-column", help="Column that holds the text.")]
LabelColumnOption = Annotated[
    str | None,
    typer.Option("--label-column", help="Column that holds the class (default: label, if there is one)."),
]
EncodingOption = Annotated[str, typer.Option("--encoding", help="Encoding of the text files.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
ForceOption = Annotated[bool, typer.Option("--force", "-f", help="Overwrite the output file if it exists.")]
HtmlOption = Annotated[Path | None, typer.Option("--html", help="Also write the result as a page to this file.")]
PlotOption = Annotated[
    Path | None, typer.Option("--plot", help="Also draw the result into this file (.png, .pdf or .svg).")
]
AutomatonArgument = Annotated[Path, typer.Argument(help="The automaton: a .wfa file.")]
VectorsOption = Annotated[str, typer.Option("--vectors", help="Word vectors: wordllama, or a GloVe or word2vec file.")]
MinCountOption = Annotated[
    int,
    typer.Option("--min-count", min=1, help="Leave out words seen less often in extraction: their scores are noise."),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything random.")]


class TerminalProgress(Progress):
    """Bars on stderr, only on a terminal and only for work that takes longer than a second."""

    def __init__(self) -> None:
        self._bar: RichProgress | None = None
        self._task, self._done, self._began = "", 0, 0.0
        self._total: int | None = None

    def start(self, task: str, total: int | None = None) -> None:
        self.finish()
        self._task, self._total, self._done, self._began = task, total, 0, time.monotonic()

    def advance(self, units: int = 1, note: str = "") -> None:
        self._done += units
        if self._bar is None:
            if not NOTES.is_terminal or time.monotonic() - self._began < _PATIENCE:
                return
            columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
            self._bar = RichProgress(*columns, TimeRemainingColumn(), console=NOTES, transient=True)
            self._bar.add_task(self._task, total=self._total)
            self._bar.start()
        label = f"{self._task} ({note})" if note else self._task
        self._bar.update(self._bar.task_ids[0], completed=self._done, description=label)

    def finish(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def say(self, message: str) -> None:
        note(message)


def note(message: str) -> None:
    """A remark for people, on stderr, so that stdout stays clean."""
    NOTES.print(f"note: {printable(message)}", markup=False, soft_wrap=True)


def dataset_of(spec: str) -> Dataset | None:
    return DATASETS.get(spec.partition(":")[0])


def open_corpus(
    spec: str,
    split: str,
    data: Path | None,
    text_column: str = "text",
    label_column: str | None = None,
    encoding: str = "utf-8",
    labels: bool = True,
) -> Corpus:
    """A corpus from a data set's name (with `split` unless the name says another) or from a file."""
    name, _, chosen = spec.partition(":")
    if name in DATASETS and not Path(spec).exists():
        corpus = load_dataset(name, chosen or split, data)
    else:
        if not Path(spec).exists():
            raise InputError(f"{spec}: no such file, and no data set of that name; known: {', '.join(DATASETS)}")
        corpus = read_corpus(spec, text_column=text_column, label_column=label_column, encoding=encoding, labels=labels)
    if corpus.skipped:
        shown = "; ".join(corpus.skipped[:3]) + ("; …" if len(corpus.skipped) > 3 else "")
        note(f"{corpus.name}: left out {len(corpus.skipped)} rows ({shown})")
    return corpus


def open_vectors(spec: str, words: tuple[str, ...], model: StepwiseClassifier | None = None) -> WordVectors:
    """Vectors by name (wordllama, model) or from a file."""
    if spec == "wordllama":
        return wordllama_vectors(words)
    if spec == "model":
        if not isinstance(model, EmbeddingClassifier):
            raise InputError("this model has no embedding layer to take vectors from")
        return model_vectors(model)
    return read_vectors(spec, words)


def check_share(option: str, value: float | None) -> None:
    if value is not None and not 0 <= value <= 1:
        raise InputError(f"{option} must lie between 0 and 1, not {value}")


def check_output(path: Path, force: bool) -> None:
    """Refuse before the work what would fail after it."""
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the name of a file")
    if path.exists() and not force:
        raise InputError(f"{path} exists; give --force to overwrite it")
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} does not exist")


def check_files(html: Path | None = None, plot: Path | None = None, csv: Path | None = None) -> None:
    """Refuse before the work side files that could not be written after it."""
    if plot is not None and plot.suffix.lower() not in _PLOTS:
        raise InputError(f"{plot}: a plot must end in {', '.join(_PLOTS)}")
    for path in (html, plot, csv):
        if path is not None:
            check_output(path, force=True)


def write_html(path: Path | None, title: str, *parts: str) -> None:
    """Write a page around parts that are HTML already; None writes nothing."""
    if path is not None:
        write_atomically(path, page_html(title, parts).encode("utf-8", "replace"))
        note(f"wrote {path}")


def write_plot(path: Path | None, draw: Callable[[], Figure]) -> None:
    """Draw into a file, whose ending decides the format; None draws nothing."""
    if path is None:
        return
    blob = BytesIO()
    draw().savefig(blob, format=path.suffix[1:].lower(), dpi=150)
    write_atomically(path, blob.getvalue())
    note(f"wrote {path}")


def print_json(result: Any) -> None:
    typer.echo(json.dumps(result, ensure_ascii=False, indent=2))


def print_table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    table = Table(title=_plain(title), title_justify="left", title_style="bold", header_style="bold")
    for number, column in enumerate(columns):
        table.add_column(_plain(column), justify="left" if number == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*(_plain(cell) for cell in row))
    OUT.print(table)


def say(text: str) -> None:
    """A line for people on stdout, printed as it is but for what a terminal must not see."""
    OUT.print("\n".join(map(printable, text.split("\n"))), markup=False)


def _plain(cell: str) -> str:
    return escape(printable(cell))
