"""`wfalens watch`."""

from __future__ import annotations

import json
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.inputs import Reader
from wfalens.cli.legacy.output import note
from wfalens.errors import InputError
from wfalens.models.wrapping import wrap

if TYPE_CHECKING:
    from wfalens.monitoring import Alarms, Watcher

_LINES_AT_ONCE, _BYTES_AT_ONCE = 1024, 1 << 20
_REFERENCE_TEXTS = 5000


def watch_cli(
    automaton: opt.Automaton,
    model: opt.Model,
    window: Annotated[int, typer.Option("--window", metavar="N", min=1, help="Texts of a summary.")] = 1000,
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            metavar="TEXTS",
            help=f"Usual texts, against which drift is told: {opt.CORPUS_HELP}",
            show_default="the extraction texts' mean surprise",
        ),
    ] = None,
    detector: Annotated[
        Path | None, typer.Option("--detector", metavar="FILE", help="A detector of `wfalens detect`.")
    ] = None,
    deviations: Annotated[
        float,
        typer.Option(
            "--deviations", metavar="N", min=0, help="Raise an alarm so many standard errors above the usual surprise."
        ),
    ] = 4.0,
    unseen: Annotated[
        float,
        typer.Option(
            "--unseen", metavar="SHARE", min=0, max=1, help="Raise an alarm if more of the words were never seen."
        ),
    ] = 0.5,
    quiet: Annotated[bool, opt.flag("--summaries", help="Print the summaries only.", panel=opt.OUTPUT)] = False,
    seed: opt.Seed = 0,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    encoding: opt.Encoding = "utf-8",
    as_json: opt.Json = True,  # noqa: ARG001 - every line is JSON; the option is there as in all commands
) -> None:
    """Watch texts on standard input: for every line, one line of JSON goes out.

    A line tells the classifier's class, how surprising the text is to the automaton, how far it may be trusted, whether
    the two agree, and what raises an alarm. After every --window texts there is a summary with a p-value for drift. A
    line that cannot be read is told and passed over.

    Example, at the end of a pipe such as `tail -f titles.txt |`:
      wfalens watch news.wfa --model news.rnn
    """
    from wfalens.monitoring import Alarms

    made = watcher(
        automaton,
        model,
        alarms=Alarms(window=window, deviations=deviations, unseen=unseen),
        detector=detector,
        reference=reference,
        seed=seed,
        reader=Reader(data, text_column, None, encoding),
    )
    watch(made, sys.stdin.buffer, sys.stdout, only_summaries=quiet)
    if made.bad:
        note(f"{made.bad:,} of {made.lines:,} lines could not be read")


def watcher(
    automaton: Path,
    model: str,
    *,
    alarms: Alarms,
    detector: Path | None = None,
    reference: str | None = None,
    seed: int = 0,
    reader: Reader,
) -> Watcher:
    """A watcher over an automaton and its network."""
    from wfalens.automaton import WFA
    from wfalens.monitoring import Detector, ReferenceStats, Watcher, read

    wfa = WFA.load(automaton)
    classifier = wrap(model, vocab=wfa.encoder)
    known = None if detector is None else Detector.load(detector)
    usual = None
    if reference is not None:
        texts = reader.corpus(reference, "train", labels=False).sample(_REFERENCE_TEXTS, seed).texts
        _, ids = wfa.ids(texts).nonempty()
        if len(ids) == 0:
            raise InputError(f"{reference}: there is no text with a word in it")
        usual = read(ReferenceStats(wfa), classifier, ids).surprise
    return Watcher(wfa, classifier, alarms, known, usual)


def watch(made: Watcher, lines: IO[bytes], out: IO[str], only_summaries: bool = False) -> None:
    """Read lines until there are no more, and write a line of JSON for each."""
    for batch in _batches(lines):
        _write(out, made.read(batch), only_summaries)
    if made.lines == 0:
        raise InputError("the stream is empty: give texts on standard input, one per line")
    rest = made.rest()
    if rest is not None:
        _write(out, [{"window": rest}], only_summaries)


def _write(out: IO[str], results: list[dict[str, Any]], only_summaries: bool) -> None:
    shown = [each for each in results if "window" in each] if only_summaries else results
    out.write("".join(json.dumps(each) + "\n" for each in shown))
    out.flush()


def _batches(lines: IO[bytes]) -> Iterator[list[bytes]]:
    """What has arrived, so that a slow stream is answered at once and a quick one in large batches."""
    arrived: queue.Queue[bytes | None] = queue.Queue(4 * _LINES_AT_ONCE)
    threading.Thread(target=_fetch, args=(lines, arrived.put), daemon=True).start()
    while True:
        batch, size = [arrived.get()], 0
        while batch[-1] is not None and len(batch) < _LINES_AT_ONCE:
            size += len(batch[-1])
            if size >= _BYTES_AT_ONCE:
                break
            try:
                batch.append(arrived.get_nowait())
            except queue.Empty:
                break
        yield [line for line in batch if line is not None]
        if batch[-1] is None:
            return


def _fetch(lines: IO[bytes], put: Callable[[bytes | None], None]) -> None:
    """Lines, each cut a little beyond the longest that is read."""
    from wfalens.monitoring.watching import LONGEST_LINE

    try:
        while line := lines.readline(LONGEST_LINE + 1):
            end = line
            while not end.endswith(b"\n") and (end := lines.readline(LONGEST_LINE)):
                pass  # the rest of a line that is too long
            put(line.rstrip(b"\r\n") if len(line) <= LONGEST_LINE else line)
    finally:
        put(None)
