"""`wfalens explain`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wfalens.cli import options as opt
from wfalens.cli.files import check_outputs, check_plot, write_html, write_plot
from wfalens.cli.output import OUT, note, print_json, print_table, say
from wfalens.errors import InputError
from wfalens.text import printable

if TYPE_CHECKING:
    from wfalens.explanation import Attribution, Influence, ReducedEmbeddings, Replacement

_SIGNS = {True: "bold dark_orange3", False: "bold medium_purple3"}
_CLASSES_SHOWN = 4
_SHAPLEY = "shapley"


@dataclass(frozen=True)
class ExplainedText:
    """What the words of a text contribute, and for each the word that would lower the output most."""

    found: Attribution
    instead: Sequence[Replacement]

    @property
    def label(self) -> str:
        return str(self.found.label)  # an undecided text is refused

    def to_json(self) -> dict[str, Any]:
        column = self.found.class_names.index(self.label)
        swaps = [{"word": item.new, "output": float(item.output[column])} for item in self.instead]
        return {**self.found.to_json(), "lowest_with": swaps}


def explain_cli(
    automaton: opt.Automaton,
    text: Annotated[
        str | None, typer.Option("--text", metavar="TEXT", help="Contributions of the words of this text.")
    ] = None,
    word: Annotated[
        list[str] | None, typer.Option("--word", metavar="WORD", help="Influence of this word (may be repeated).")
    ] = None,
    phrase: Annotated[
        list[str] | None,
        typer.Option("--phrase", metavar="WORDS", help="Influence of this phrase (may be repeated)."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            metavar="NAME",
            show_default=_SHAPLEY,
            help="How --text shares out the output. shapley: the mean change over all orders of the words; right for "
            "“which words matter?” walk: what each word changed when it was read; right for “how did the decision come "
            "about?”",
        ),
    ] = None,
    top: Annotated[int, typer.Option("--top", "-k", metavar="N", min=1, help="Words per class.")] = 10,
    min_count: opt.MinCount = 5,
    embeddings: Annotated[
        Path | None,
        typer.Option(
            "--embeddings",
            metavar="FILE",
            help="Write the words' transition embeddings, reduced by PCA, as word2vec text.",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = None,
    size: Annotated[
        int,
        typer.Option("--size", metavar="N", min=1, help="Width of these embeddings.", rich_help_panel=opt.OUTPUT),
    ] = 100,
    html: opt.Html = None,
    plot: opt.Plot = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Explain a classifier by its automaton: all words, a word, a phrase or a text.

    Without --text, --word or --phrase: the words that speak most for each class. Influence is the mean change of the
    output over all states. The contributions of a text's words (exact Shapley values, or those of the walk) add up to
    its output minus the prior; for each word the table tells what the output would be without it, and which other
    word would lower it most.

    Examples:
      wfalens explain films.wfa
      wfalens explain films.wfa --text "a moving and funny film"
      wfalens explain films.wfa --text "a moving and funny film" --method walk
    """
    if sum(bool(option) or option == "" for option in (word, phrase, text)) > 1:
        raise InputError("give one of --word, --phrase and --text")
    if method is not None and text is None:
        raise InputError("--method tells how the words of a --text are explained; give a --text, or no --method")
    check_plot(plot)
    check_outputs(embeddings, html, plot, force=force)
    if embeddings is not None:
        written = write_embeddings(automaton, embeddings, size, min_count)
        note(f"wrote {embeddings}: {len(written.vectors):,} words, {written.explained.sum():.1%} of the variance")
    if text is not None:
        _explain_text(automaton, text, method or _SHAPLEY, min_count, html, plot, as_json)
    elif word or phrase:
        _explain_words(automaton, word or [], phrase or [], min_count, html, plot, as_json)
    else:
        _explain_all(automaton, top, min_count, html, plot, as_json)


def explain(automaton: Path, words: Sequence[str] = (), phrases: Sequence[str] = (), min_count: int = 5) -> Influence:
    """The influence of phrases, of words, or of all words that were seen often enough."""
    import numpy as np

    from wfalens.automaton import WFA
    from wfalens.explanation import influence, phrase_influence

    wfa = WFA.load(automaton)
    if phrases:
        return phrase_influence(wfa, list(phrases))
    scores = influence(wfa, min_count)
    if not words:
        return scores
    unknown = [name for name in words if name not in scores.words]
    if unknown:
        raise InputError(
            f"no influence score for {unknown[0]!r}: it was seen less than {min_count} times in extraction; "
            "try a lower --min-count, or another word"
        )
    return scores.subset(np.array([scores.words.index(name) for name in words]))


def explain_text(automaton: Path, text: str, method: str = _SHAPLEY, min_count: int = 5) -> ExplainedText:
    """The contributions of a text's words: Shapley values, or those of the walk."""
    from wfalens.automaton import WFA
    from wfalens.explanation import attribute, best_replacements

    wfa = WFA.load(automaton)
    return ExplainedText(attribute(wfa, text, method), best_replacements(wfa, text, min_count=min_count))


def write_embeddings(automaton: Path, path: Path, size: int = 100, min_count: int = 5) -> ReducedEmbeddings:
    """Write the transition embeddings of words, reduced to `size` numbers each, as word2vec text."""
    from wfalens.automaton import WFA
    from wfalens.explanation import TransitionEmbeddings

    reduced = TransitionEmbeddings.of(WFA.load(automaton), min_count).reduced(size)
    reduced.save_word2vec(path)
    return reduced


def _explain_text(
    automaton: Path, text: str, method: str, min_count: int, html: Path | None, plot: Path | None, as_json: bool
) -> None:
    from wfalens import plots

    done = explain_text(automaton, text, method, min_count)
    write_html(html, f"{automaton.name}: {text}", done.found.to_html())
    write_plot(plot, lambda: plots.attribution_bars(done.found))
    if as_json:
        print_json(done.to_json())
    else:
        _print_text(done)


def _explain_words(
    automaton: Path,
    words: list[str],
    phrases: list[str],
    min_count: int,
    html: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    from wfalens import plots

    scores = explain(automaton, words, phrases, min_count)
    write_html(html, f"{automaton.name}: influence", scores.to_html())
    write_plot(plot, lambda: plots.influence_bars(scores, words or phrases))
    if as_json:
        print_json(scores.to_json())
        return
    rows = [
        [name, f"{count:,}", *(f"{value:+.3f}" for value in row)]
        for name, count, row in zip(scores.words, scores.counts, scores.scores, strict=True)
    ]
    print_table(f"Influence ({scores.unit})", ["", "seen", *scores.class_names], rows)


def _explain_all(
    automaton: Path, top: int, min_count: int, html: Path | None, plot: Path | None, as_json: bool
) -> None:
    from wfalens import plots

    scores = explain(automaton, min_count=min_count)
    write_html(html, f"{automaton.name}: influence", *(_class_html(scores, name, top) for name in scores.class_names))
    write_plot(plot, lambda: plots.top_words(scores, top))
    if as_json:
        tops = {name: scores.top(name, top).to_json()["words"] for name in scores.class_names}
        print_json({"unit": scores.unit, "top": tops})
        return
    rows = []
    for at, name in enumerate(scores.class_names):
        best = scores.top(name, top)
        told = ", ".join(f"{word} {value:+.2f}" for word, value in zip(best.words, best.scores[:, at], strict=True))
        rows.append([name, told])
    print_table(f"Most influential words ({scores.unit}, seen at least {min_count} times)", ["class", "words"], rows)


def _class_html(scores: Influence, name: str, top: int) -> str:
    from wfalens.html import table_html

    best, at = scores.top(name, top), scores.class_names.index(name)
    rows = [
        [word, f"{count:,}", f"{value:+.3f}"]
        for word, count, value in zip(best.words, best.counts, best.scores[:, at], strict=True)
    ]
    return table_html(f"{name} ({scores.unit})", ["word", "seen", "influence"], rows)


def _print_text(done: ExplainedText) -> None:
    from wfalens.automaton.walk import row_kinds

    found, label = done.found, done.label
    _print_heat(list(found.words), list(map(float, found.of_class())), found.unit)
    names = [label, *(name for name in found.class_names if name != label)][:_CLASSES_SHOWN]
    columns = [found.class_names.index(name) for name in names]
    rows = [
        [
            word,
            kind,
            *(f"{row[at]:+.3f}" for at in columns),
            f"{without[columns[0]]:.3f}",
            f"{swap.new} {swap.output[columns[0]]:.3f}",
        ]
        for word, kind, row, without, swap in zip(
            found.words, row_kinds(found.shares), found.contributions, found.without, done.instead, strict=True
        )
    ]
    total = found.output - found.prior
    rows.append(["sum = output − prior", "", *(f"{total[at]:+.3f}" for at in columns), "", ""])
    title = f"{label} {found.output.max():.3f} ({found.unit}): {found.title}"
    print_table(title, ["word", "row", *names, f"{label} without it", "lowest with"], rows)
    shares = ", ".join(f"{name} {share:.0%}" for name, share in found.trust.items())
    say(f"trust: {'mass through rows' if found.unit == 'probability' else 'words by their rows:'} {shares}")


def _print_heat(words: list[str], values: list[float], unit: str) -> None:
    """The text with its contributions: colour by sign, numbers for those who do not see colours."""
    from rich.text import Text

    line = Text()
    for word, value in zip(words, values, strict=True):
        line.append(printable(word), style=_SIGNS[value > 0] if abs(value) > 0.02 * max(map(abs, values)) else "")
        line.append(f"{value:+.2f} ", style="dim")
    OUT.print(line)
    OUT.print(Text.assemble(("orange: for", _SIGNS[True]), ", ", ("violet: against", _SIGNS[False]), f" ({unit})"))
