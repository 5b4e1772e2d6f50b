"""`wfalens explain`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.files import check_outputs, check_plot, write_html, write_plot
from wfalens.cli.legacy.output import UNITS, note, print_json, print_table, remark, say
from wfalens.cli.output import OUT
from wfalens.errors import InputError
from wfalens.messages import printable, visible

if TYPE_CHECKING:
    from wfalens.explanation import Attribution, Counterfactuals, Influence, ReducedEmbeddings, Replacement

_SIGNS = {True: "bold dark_orange3", False: "bold medium_purple3"}
_CLASSES_SHOWN, _EDITS_SHOWN = 4, 10
_WEAK = 0.1  # of the strongest contribution: what is less is not marked
_SHAPLEY = "shapley"


@dataclass(frozen=True)
class ExplainedText:
    """What the words of a text contribute, and for each the word that would lower the output most.

    Of texts of characters there are edits in place of other words: texts that would be of another class.
    """

    found: Attribution
    instead: Sequence[Replacement] = ()
    edits: Counterfactuals | None = None

    @property
    def label(self) -> str:
        return str(self.found.label)  # an undecided text is refused

    def to_json(self) -> dict[str, Any]:
        column = self.found.class_names.index(self.label)
        swaps = [{"word": item.new, "output": float(item.output[column])} for item in self.instead]
        told = {**self.found.to_dict(), "lowest_with": swaps}
        return told if self.edits is None else told | {"edits": self.edits.to_dict()}


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
            "“which words matter?” additive: what each word changed when it was read; how did the output evolve?",
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
    output over all states, at the moment when the word is read; later words may undo it (`wfalens phrases` tells what
    decides by itself). The contributions of a text's words (exact Shapley values, or what each word changed) add up to
    its output minus the prior; for each word the table tells what the output would be without it, and which other
    word would lower it most.

    Examples:
      wfalens explain films.wfa
      wfalens explain films.wfa --text "a moving and funny film"
      wfalens explain films.wfa --text "a moving and funny film" --method additive
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
    """The contributions of a text's words: Shapley values, or what each word changed."""
    from wfalens.automaton import WFA
    from wfalens.explanation import best_replacements, counterfactuals, explain
    from wfalens.text.character_edits import reads_characters

    wfa = WFA.load(automaton)
    if reads_characters(wfa.encoder):
        return ExplainedText(explain(wfa, text, method=method), edits=counterfactuals(wfa, text, most=_EDITS_SHOWN))
    return ExplainedText(explain(wfa, text, method=method), best_replacements(wfa, text, min_count=min_count).items)


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
    from wfalens.report import plots

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
    from wfalens.report import plots

    scores = explain(automaton, words, phrases, min_count)
    write_html(html, f"{automaton.name}: influence", scores.to_html())
    write_plot(plot, lambda: plots.influence_bars(scores, words or phrases))
    if as_json:
        print_json(scores.to_dict())
        return
    rows = [
        [name, f"{count:,}", *(f"{value:+.3f}" for value in row)]
        for name, count, row in zip(scores.words, scores.counts, scores.scores, strict=True)
    ]
    print_table(f"Influence ({scores.unit})", ["", "seen", *scores.class_names], rows)
    remark(UNITS.get(scores.unit))


def _explain_all(
    automaton: Path, top: int, min_count: int, html: Path | None, plot: Path | None, as_json: bool
) -> None:
    from wfalens.report import plots

    scores = explain(automaton, min_count=min_count)
    write_html(html, f"{automaton.name}: influence", *(_class_html(scores, name, top) for name in scores.class_names))
    write_plot(plot, lambda: plots.top_words(scores, top))
    if as_json:
        tops = {name: scores.top(name, top).rows() for name in scores.class_names}
        print_json({"unit": scores.unit, "top": tops})
        return
    rows = []
    for at, name in enumerate(scores.class_names):
        best = scores.top(name, top)
        told = ", ".join(f"{word} {value:+.2f}" for word, value in zip(best.words, best.scores[:, at], strict=True))
        rows.append([name, told])
    print_table(f"Most influential words ({scores.unit}, seen at least {min_count} times)", ["class", "words"], rows)
    remark(UNITS.get(scores.unit))


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
    _print_heat(list(found.words), list(map(float, found.of_class())), label, found.unit)
    names = found.ranking[:_CLASSES_SHOWN]
    assert found.row_shares is not None  # noqa: S101
    assert found.without is not None  # noqa: S101
    columns = [found.class_names.index(name) for name in names]
    swaps = [[f"{swap.new} {swap.output[columns[0]]:.3f}"] for swap in done.instead] or [[] for _ in found.words]
    rows = [
        [visible(word), kind, *(f"{row[at]:+.3f}" for at in columns), f"{without[columns[0]]:.3f}", *swap]
        for word, kind, row, without, swap in zip(
            found.words, row_kinds(found.row_shares), found.values, found.without, swaps, strict=True
        )
    ]
    total, last = found.output - found.base, ["lowest with"] if done.instead else []
    rows.append(["sum = output − base", "", *(f"{total[at]:+.3f}" for at in columns), "", *("" for _ in last)])
    title = f"{label} {found.output.max():.3f} ({found.unit}): {found.name}"
    what = "word" if done.edits is None else "characters"
    print_table(title, [what, "row", *names, f"{label} without it", *last], rows)
    remark(UNITS.get(found.unit))
    shares = ", ".join(f"{name} {share:.0%}" for name, share in (found.mean_row_shares or {}).items())
    say(f"{'mass through rows' if found.unit == 'probability' else 'words by their rows:'} {shares}")
    if done.edits is not None:
        _print_edits(done.edits)


def _print_edits(found: Counterfactuals) -> None:
    rows = [
        [visible(each.edit.text), each.edit.kind, each.label, f"{each.automaton.max():.3f}"] for each in found.items
    ]
    if rows:
        print_table(
            f"Of {found.tried:,} texts at one edit, the surest of another class", ["text", "edit", "class", ""], rows
        )
    else:
        say(f"none of the {found.tried:,} texts at one edit is of another class")


def _print_heat(words: list[str], values: list[float], label: str, unit: str) -> None:
    """The text with its contributions: words that matter stand in brackets with their numbers; colour is only more."""
    from rich.text import Text

    least = _WEAK * max(map(abs, values))
    line = Text()
    for word, value in zip(words, values, strict=True):
        strong = abs(value) > least
        shown = f"[{visible(word)} {value:+.2f}]" if strong else visible(word)
        line.append(shown, style=_SIGNS[value > 0] if strong else "")
        line.append(" ")
    OUT.print(line)
    speaks = Text.assemble(("[word +…]", _SIGNS[True]), " speaks for ", printable(label))
    OUT.print(Text.assemble(speaks, ", ", ("[word −…]", _SIGNS[False]), f" against it ({unit})"))
