"""`wfalens phrases`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.files import check_outputs, write_csv, write_html
from wfalens.cli.legacy.inputs import USUAL, Reader
from wfalens.cli.legacy.output import print_json, print_table, say

if TYPE_CHECKING:
    from wfalens.explanation import DecidingPhrases

SEARCH = "What is searched"


def phrases_cli(
    automaton: opt.Automaton,
    corpus: opt.Corpus,
    model: opt.SomeModel = None,
    top: Annotated[
        int, typer.Option("--top", "-k", metavar="N", min=1, help="Phrases of each kind to show per class.")
    ] = 10,
    min_support: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="Texts that must contain a phrase.", rich_help_panel=SEARCH),
    ] = 10,
    longest: Annotated[
        int, typer.Option(metavar="N", min=1, max=4, help="Words in a phrase at most.", rich_help_panel=SEARCH)
    ] = 4,
    gap: Annotated[
        int,
        typer.Option(metavar="N", min=0, max=20, help="Words in a gap … at most; 0: no gaps.", rich_help_panel=SEARCH),
    ] = 3,
    min_effect: Annotated[
        float | None,
        typer.Option(
            metavar="EFFECT",
            min=0,
            help="Effect of a phrase that decides.",
            show_default="a quarter of the largest on its class",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    label_column: opt.LabelColumn = None,
    encoding: opt.Encoding = "utf-8",
    csv: Annotated[
        Path | None,
        typer.Option(
            "--csv",
            "-o",
            metavar="FILE",
            help="Write all phrases, with their regular expressions.",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = None,
    html: opt.Html = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Find the words and phrases that decide by themselves, such as "not good" or "too … to".

    The effect of a phrase is what it changes in a random context, against random words in its place; it follows exactly
    from the automaton. Interaction is the effect minus the sum of the effects of its words: phrases that say more than
    their words come first. A gap … stands for one to three other words.

    Texts and classifier are then asked how far that is true: how many texts contain the phrase, and to how many of
    them the classifier gives its class (precision, and lift over the share of the class), beside the true labels, if
    there are any. Without --model the automaton's own answers are counted.

    A longer phrase is left out if it adds neither effect nor precision to a shorter one within it. With -o and --json
    each phrase comes with a regular expression that finds it in raw text (Python's re).

    Examples:
      wfalens phrases films.wfa -m films.rnn -c rotten_tomatoes
      wfalens phrases news.wfa -m news.rnn -c news.csv --top 20 -o phrases.csv
    """
    check_outputs(csv, html, force=force)
    found = phrases(
        automaton,
        model,
        corpus,
        min_support=min_support,
        longest=longest,
        gap=gap,
        min_effect=min_effect,
        reader=Reader(data, text_column, label_column, encoding),
    )
    write_csv(csv, found.to_dataframe)
    write_html(html, f"{automaton.name}: deciding phrases", found.to_html())
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found, top)


def phrases(
    automaton: Path,
    model: str | None,
    corpus: str,
    *,
    min_support: int = 10,
    longest: int = 4,
    gap: int = 3,
    min_effect: float | None = None,
    reader: Reader = USUAL,
) -> DecidingPhrases:
    """The phrases of a corpus that decide by themselves; without a model, the automaton is the judge."""
    from wfalens.automaton import WFA
    from wfalens.explanation import deciding_phrases
    from wfalens.models.wrapping import wrap

    wfa = WFA.load(automaton)
    return deciding_phrases(
        wfa,
        reader.corpus(corpus, "test"),
        None if model is None else wrap(model, vocab=wfa.encoder),
        min_support=min_support,
        longest=longest,
        gap=gap,
        min_effect=min_effect,
    )


_COLUMNS = ("phrase", "class", "effect", "interaction", "texts", "precision", "precision low", "lift")


def _cell(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else f"{value:.2f}"


def _print(found: DecidingPhrases, top: int) -> None:
    import numpy as np

    shown = found.top(top)
    kinds = {"Phrases that say more than their words": shown.more_than_words}
    kinds["Words and phrases that decide by themselves"] = ~shown.more_than_words
    for title, chosen in kinds.items():
        if chosen.any():
            rows = shown.subset(np.flatnonzero(chosen)).rows()
            print_table(
                f"{title} (effect in {found.unit})", _COLUMNS, [[_cell(row[key]) for key in _COLUMNS] for row in rows]
            )
    if len(found) == 0:
        say("no phrase decides by itself; lower --min-support or --min-effect")
        return
    counts = f"{len(shown):,} of {len(found):,} phrases shown"
    say(f"precision: for the {found.reference}, in {found.texts:,} texts; {counts}")
