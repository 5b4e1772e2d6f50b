"""`wfalens explain` and `wfalens neighbours`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wfalens.cli.app import app
from wfalens.cli.common import (
    OUT,
    AutomatonArgument,
    HtmlOption,
    JsonOption,
    MinCountOption,
    PlotOption,
    VectorsOption,
    check_files,
    note,
    open_vectors,
    print_json,
    print_table,
    say,
    write_html,
    write_plot,
)
from wfalens.errors import InputError
from wfalens.text import printable

_SIGNS = {True: "bold dark_orange3", False: "bold medium_purple3"}


@app.command()
def explain(
    automaton: AutomatonArgument,
    word: Annotated[list[str] | None, typer.Option("--word", help="Influence of this word (may be repeated).")] = None,
    phrase: Annotated[
        list[str] | None, typer.Option("--phrase", help="Influence of this phrase (may be repeated).")
    ] = None,
    text: Annotated[str | None, typer.Option("--text", help="Contributions of the words of this text.")] = None,
    top: Annotated[int, typer.Option("--top", "-k", min=1, help="Words per class.")] = 10,
    min_count: MinCountOption = 5,
    embeddings: Annotated[
        Path | None,
        typer.Option("--embeddings", help="Write the words' transition embeddings, reduced by PCA, as word2vec text."),
    ] = None,
    size: Annotated[int, typer.Option("--size", min=1, help="Width of the written embeddings.")] = 100,
    html: HtmlOption = None,
    plot: PlotOption = None,
    as_json: JsonOption = False,
) -> None:
    """Explain a classifier through its automaton: globally, or a word, a phrase or a text.

    Without --word, --phrase or --text: the words that speak most for each class. Influence is the mean change of
    the output over all states; contributions of a text's words add up exactly to its output minus the prior, and
    for each word the table tells what the output would be without it and which other word would lower it most.

    Example: wfalens explain films.wfa --text "a moving and funny film"
    """
    if sum(option is not None and option != [] for option in (word, phrase, text)) > 1:
        raise InputError("give one of --word, --phrase and --text")
    check_files(html, plot)
    import numpy as np

    from wfalens import plots
    from wfalens.automaton import WFA
    from wfalens.automaton.walk import row_kinds
    from wfalens.explanation import (
        TransitionEmbeddings,
        attribute,
        best_replacements,
        influence,
        phrase_influence,
    )

    wfa = WFA.load(automaton)
    if embeddings is not None:
        reduced = TransitionEmbeddings.of(wfa, min_count).reduced(size)
        reduced.save_word2vec(embeddings)
        note(f"wrote {embeddings}: {len(reduced.vectors):,} words, {reduced.explained.sum():.1%} of the variance")
    if text is not None:
        found = attribute(wfa, text)
        instead = best_replacements(wfa, text, min_count=min_count)
        write_html(html, f"{automaton.name}: {text}", found.to_html())
        write_plot(plot, lambda: plots.attribution_bars(found))
        if as_json:
            column = found.class_names.index(str(found.label))
            swaps = [{"word": item.new, "output": float(item.output[column])} for item in instead]
            print_json({**found.to_json(), "lowest_with": swaps})
            return
        _print_heat(list(found.words), list(map(float, found.of_class())), found.unit)
        label = str(found.label)  # an undecided text was refused above
        names = [label, *(name for name in found.class_names if name != label)][:4]
        columns = [found.class_names.index(name) for name in names]
        rows = [
            [
                shown,
                kind,
                *(f"{row[at]:+.3f}" for at in columns),
                f"{without[columns[0]]:.3f}",
                f"{swap.new} {swap.output[columns[0]]:.3f}",
            ]
            for shown, kind, row, without, swap in zip(
                found.words, row_kinds(found.shares), found.contributions, found.without, instead, strict=True
            )
        ]
        total = found.output - found.prior
        rows.append(["sum = output − prior", "", *(f"{total[at]:+.3f}" for at in columns), "", ""])
        title = f"{label} {found.output.max():.3f} ({found.unit})"
        print_table(title, ["word", "row", *names, f"{label} without it", "lowest with"], rows)
        shares = ", ".join(f"{name} {share:.0%}" for name, share in found.trust.items())
        say(f"trust: {'mass through rows' if found.unit == 'probability' else 'words by their rows:'} {shares}")
        return
    if phrase:
        scores = phrase_influence(wfa, phrase)
    else:
        everything = influence(wfa, min_count)
        scores = everything
        if word:
            unknown = [name for name in word if name not in everything.words]
            if unknown:
                raise InputError(
                    f"no influence score for {unknown[0]!r}: it was seen less than {min_count} times in extraction; "
                    "try a lower --min-count, or another word"
                )
            scores = everything.subset(np.array([everything.words.index(name) for name in word]))
    shown = word or phrase
    parts = [scores.to_html()] if shown else [_class_html(scores, name, top) for name in wfa.class_names]
    write_html(html, f"{automaton.name}: influence", *parts)
    write_plot(plot, lambda: plots.influence_bars(scores, list(shown)) if shown else plots.top_words(scores, top))
    if as_json:
        tops = {name: scores.top(name, top).to_json()["words"] for name in wfa.class_names}
        print_json(scores.to_json() if shown else {"unit": scores.unit, "top": tops})
        return
    if shown:
        rows = [
            [name, f"{count:,}", *(f"{value:+.3f}" for value in row)]
            for name, count, row in zip(scores.words, scores.counts, scores.scores, strict=True)
        ]
        print_table(f"Influence ({scores.unit})", ["", "seen", *wfa.class_names], rows)
        return
    rows = []
    for at, name in enumerate(wfa.class_names):
        best = scores.top(name, top)
        told = ", ".join(f"{shown} {value:+.2f}" for shown, value in zip(best.words, best.scores[:, at], strict=True))
        rows.append([name, told])
    print_table(f"Most influential words ({scores.unit}, seen at least {min_count} times)", ["class", "words"], rows)


@app.command()
def neighbours(
    automaton: AutomatonArgument,
    word: Annotated[str, typer.Argument(help="The word.")],
    vectors: VectorsOption = "wordllama",
    top: Annotated[int, typer.Option("--top", "-k", min=1, help="Number of neighbours.")] = 10,
    min_count: MinCountOption = 5,
    html: HtmlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Words that act most like a word, beside words that mean most the same.

    Example: wfalens neighbours films.wfa wonderful
    """
    from wfalens.automaton import WFA
    from wfalens.explanation import TransitionEmbeddings
    from wfalens.html import table_html

    check_files(html)
    wfa = WFA.load(automaton)
    acting = TransitionEmbeddings.of(wfa, min_count).nearest(word, top)
    known = open_vectors(vectors, wfa.encoder.vocabulary.words[2:])
    meaning = known.nearest(word, top) if word in known else []
    rows = [
        [
            str(rank + 1),
            *((acting[rank][0], f"{acting[rank][1]:.5f}") if rank < len(acting) else ("", "")),
            *((meaning[rank][0], f"{meaning[rank][1]:.3f}") if rank < len(meaning) else ("", "")),
        ]
        for rank in range(max(len(acting), len(meaning)))
    ]
    columns = ["", "acts alike", "d_T", f"means alike ({known.source})", "distance"]
    write_html(html, f"{automaton.name}: neighbours of {word}", table_html(word, columns, rows))
    if as_json:
        print_json({"word": word, "acts_alike": acting, "means_alike": meaning})
        return
    print_table(f"Neighbours of {word}", columns, rows)
    if not meaning:
        say(f"{known.source} has no vector for {word!r}")


def _class_html(scores, name: str, top: int) -> str:  # type: ignore[no-untyped-def]
    from wfalens.html import table_html

    best, at = scores.top(name, top), scores.class_names.index(name)
    rows = [
        [word, f"{count:,}", f"{value:+.3f}"]
        for word, count, value in zip(best.words, best.counts, best.scores[:, at], strict=True)
    ]
    return table_html(f"{name} ({scores.unit})", ["word", "seen", "influence"], rows)


def _print_heat(words: list[str], values: list[float], unit: str) -> None:
    """The text with its contributions: colour by sign, numbers for those who do not see colours."""
    from rich.text import Text

    line = Text()
    for word, value in zip(words, values, strict=True):
        line.append(printable(word), style=_SIGNS[value > 0] if abs(value) > 0.02 * max(map(abs, values)) else "")
        line.append(f"{value:+.2f} ", style="dim")
    OUT.print(line)
    OUT.print(Text.assemble(("orange: for", _SIGNS[True]), ", ", ("violet: against", _SIGNS[False]), f" ({unit})"))
