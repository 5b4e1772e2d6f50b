"""What the commands share about corpora that are read in shards: options, engines and the log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wfalens.cli.common import dataset_of
from wfalens.corpus.sources.files import TextFiles, is_pattern
from wfalens.errors import InputError
from wfalens.journal import NO_JOURNAL, FileJournal
from wfalens.memory import parse_size
from wfalens.models.opening import reads_texts

if TYPE_CHECKING:
    from wfalens.passes.engines import Engine
    from wfalens.passes.run import Run

STOP, SKIP = "stop", "skip"
_STOPPED = 130
MemoryOption = Annotated[
    str | None,
    typer.Option(
        "--memory",
        help="Read the corpus in shards and stay below so much memory, for example 2GB (a pattern such as "
        "'texts/*.parquet' is always read so).",
    ),
]
EngineOption = Annotated[
    str | None, typer.Option("--engine", help="Read the corpus in shards: on this machine (local) or on ray.")
]
WorkersOption = Annotated[
    int | None, typer.Option("--workers", min=1, help="Parts worked on at a time (default: one for each core).")
]
AddressOption = Annotated[
    str | None,
    typer.Option(
        "--address", help="A Ray cluster: auto, or HOST:PORT (default: $RAY_ADDRESS, else a Ray of this machine's own)."
    ),
]
ShardOption = Annotated[
    str | None,
    typer.Option("--shard", help="Text in a shard, for example 16MB: how much is read again after a stop at most."),
]
BadOption = Annotated[
    str,
    typer.Option("--on-bad", help="At a row that cannot be read, or a shard that fails: stop, or skip and count it."),
]
LogOption = Annotated[
    Path | None, typer.Option("--log", help="Append what happens to this file, one JSON object on a line.")
]


def wants_stream(corpus: str, memory: str | None, engine: str | None) -> bool:
    """Whether a corpus is to be read in shards."""
    return memory is not None or engine is not None or (dataset_of(corpus) is None and is_pattern(corpus))


def stream_files(model: str, corpus: str, text_column: str, encoding: str) -> TextFiles:
    """The files of a corpus that an automaton is to be extracted from."""
    if reads_texts(model):
        raise InputError(
            f"{model} takes its words from the corpus, which must then fit into memory; give a single file"
        )
    return text_files(corpus, text_column, encoding)


def text_files(corpus: str, text_column: str, encoding: str) -> TextFiles:
    if dataset_of(corpus) is not None and not Path(corpus).exists():
        raise InputError(f"{corpus} is a data set by name; --memory and --engine are for files and patterns of files")
    return TextFiles.find(corpus, text_column, encoding)


@contextmanager
def opened_engine(engine: str | None, workers: int | None, memory: str | None, address: str | None) -> Iterator[Engine]:
    """The engine of the options; call it when the model is loaded."""
    from wfalens.passes.engines import open_engine
    from wfalens.passes.run import DEFAULT_MEMORY

    chosen = open_engine(engine or "local", workers, _bytes(memory, DEFAULT_MEMORY), address)
    try:
        yield chosen
    finally:
        chosen.close()


@contextmanager
def opened_stream(
    folder: Path,
    engine: Engine,
    memory: str | None,
    shard: str | None,
    on_bad: str,
    log: Path | None,
    model: str,
) -> Iterator[Run]:
    from wfalens.passes.run import Run

    journal = NO_JOURNAL if log is None else FileJournal(log)
    try:
        yield Run(
            parts=folder,
            engine=engine,
            memory=memory,
            shard_bytes=shard,
            on_bad=on_bad,
            model_file=None if reads_texts(model) else Path(model),
            journal=journal,
        )
    except KeyboardInterrupt:
        typer.echo(f"stopped; what is done is kept in {folder}, and the same command goes on from there", err=True)
        raise typer.Exit(_STOPPED) from None
    finally:
        journal.close()


def _bytes(text: str | None, usual: int) -> int:
    return usual if text is None else parse_size(text)
