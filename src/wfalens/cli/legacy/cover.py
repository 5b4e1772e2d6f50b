"""`wfalens cover`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.files import check_outputs, write_csv, write_html
from wfalens.cli.legacy.inputs import USUAL, Reader
from wfalens.cli.legacy.output import print_json, print_table, remark, say
from wfalens.errors import InputError
from wfalens.models.wrapping import wrap

if TYPE_CHECKING:
    from wfalens.monitoring import Coverage, Gaps


@dataclass(frozen=True)
class Covered:
    """What a corpus exercises and, where a network was asked, texts for what it leaves out."""

    coverage: Coverage
    gaps: Gaps | None


def cover_cli(
    automaton: opt.Automaton,
    corpus: opt.Corpus,
    model: opt.SomeModel = None,
    fill: Annotated[
        int, typer.Option("--fill", metavar="N", min=0, help="Texts to make for what is missing (with --model).")
    ] = 1000,
    top: Annotated[int, typer.Option("--top", "-k", metavar="N", min=1, help="Gaps and findings to show.")] = 10,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write the texts that fill gaps as CSV.", rich_help_panel=opt.OUTPUT
        ),
    ] = None,
    seed: opt.Seed = 0,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    encoding: opt.Encoding = "utf-8",
    html: opt.Html = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Which states and transitions of the automaton a set of texts exercises, and which it leaves out.

    A transition is a class of words read in a state. With --model, texts that fill the gaps are made and asked of the
    classifier; a finding is one on which it contradicts an automaton that is sure. Random texts are asked beside them.

    Example:
      wfalens cover news.wfa --corpus tests.csv --model news.rnn -o gaps.csv
    """
    check_outputs(html, output, force=force)
    if output is not None and model is None:
        raise InputError("--output is for texts that fill gaps, which the network must read: give --model too")
    done = cover(
        automaton,
        corpus,
        model=model,
        fill=fill,
        seed=seed,
        reader=Reader(data, text_column, None, encoding),
    )
    write_html(html, f"{automaton.name}: coverage", done.coverage.to_html(top))
    if done.gaps is not None:
        write_csv(output, done.gaps.to_dataframe)
    if as_json:
        filled = None if done.gaps is None else done.gaps.to_json()
        print_json({"automaton": str(automaton), **done.coverage.to_json(), "gaps": filled})
    else:
        _print(automaton.name, done, top)


def cover(
    automaton: Path,
    corpus: str,
    *,
    model: str | None = None,
    fill: int = 1000,
    seed: int = 0,
    reader: Reader = USUAL,
) -> Covered:
    """What a corpus exercises of an automaton; with a network, texts for what it leaves out are asked of it."""
    from wfalens.automaton import WFA
    from wfalens.evaluation.comparison import check_pair
    from wfalens.monitoring import cover as covered
    from wfalens.monitoring import fill_gaps

    wfa = WFA.load(automaton)
    texts = reader.corpus(corpus, "test", labels=False).texts
    found = covered(wfa, texts)
    if model is None or fill == 0:
        return Covered(found, None)
    classifier = wrap(model, vocab=wfa.encoder)
    check_pair(wfa, classifier)
    _, ids = wfa.ids(texts).nonempty()
    return Covered(found, fill_gaps(wfa, classifier, found, ids, fill, seed))


def _print(name: str, done: Covered, top: int) -> None:
    from wfalens.monitoring.coverage import COLUMNS, MISSING_COLUMNS

    found = done.coverage
    print_table(f"{name}: what {found.texts:,} texts exercise", COLUMNS, found.rows())
    if found.missing:
        print_table("Transitions that no text exercises", MISSING_COLUMNS, found.missing_rows(top))
    else:
        say("the texts exercise every transition that the extraction texts did")
    remark(found.remark)
    if done.gaps is None:
        return
    if not done.gaps.texts:
        say("no text passes a state with a missing transition: there is nothing to fill")
        return
    say(
        f"{len(done.gaps.texts):,} texts that fill gaps: {done.gaps.per_thousand:.0f} findings in 1,000; "
        f"random texts of the same lengths: {done.gaps.random_per_thousand:.0f}"
    )
    for each in [text for text in done.gaps.texts if text.finding][:top]:
        marked = " ".join(f"[[{word}]]" if at == each.at else word for at, word in enumerate(each.words))
        say(f"the network says {each.label}, the automaton {each.copy_label}: {marked}")
