"""`wfalens neighbours`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.files import check_outputs, write_html
from wfalens.cli.legacy.inputs import open_vectors
from wfalens.cli.legacy.output import print_json, print_table, say


@dataclass(frozen=True)
class Neighbours:
    """Words that act most like a word and words that are near in meaning, each with its distance."""

    acting: list[tuple[str, float]]
    meaning: list[tuple[str, float]]
    vectors: str  # where the meaning comes from

    @property
    def columns(self) -> list[str]:
        return ["", "acts alike", "d_T", f"means alike ({self.vectors})", "1 − cosine"]

    @property
    def rows(self) -> list[list[str]]:
        return [
            [
                str(rank + 1),
                *((self.acting[rank][0], f"{self.acting[rank][1]:.5f}") if rank < len(self.acting) else ("", "")),
                *((self.meaning[rank][0], f"{self.meaning[rank][1]:.3f}") if rank < len(self.meaning) else ("", "")),
            ]
            for rank in range(max(len(self.acting), len(self.meaning)))
        ]


def neighbours_cli(
    automaton: opt.Automaton,
    word: Annotated[str, opt.argument("WORD", "The word.")],
    vectors: opt.Vectors = "wordllama",
    top: Annotated[int, typer.Option("--top", "-k", metavar="N", min=1, help="Number of neighbours.")] = 10,
    min_count: opt.MinCount = 5,
    html: opt.Html = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Words that act most like a word, beside words that are near in meaning.

    Words act alike if the automaton moves alike under them (d_T). Words are near in meaning if each is among the
    other's ten nearest by the cosine of their vectors, and nearer than all but 1 in 1,000 random pairs. Numbers and
    rests of words are near to nothing, stop words only to stop words.

    Example:
      wfalens neighbours films.wfa wonderful
    """
    from wfalens.html import table_html

    check_outputs(html, force=force)
    found = neighbours(automaton, word, vectors, top, min_count)
    write_html(html, f"{automaton.name}: neighbours of {word}", table_html(word, found.columns, found.rows))
    if as_json:
        print_json({"word": word, "acts_alike": found.acting, "means_alike": found.meaning, "vectors": found.vectors})
        return
    print_table(f"Neighbours of {word}", found.columns, found.rows)
    if not found.meaning:
        say(f"no word is near {word!r} in meaning by the vectors of {found.vectors}")


def neighbours(automaton: Path, word: str, vectors: str = "wordllama", top: int = 10, min_count: int = 5) -> Neighbours:
    """The nearest words of a word, by what they do and by what they mean."""
    from wfalens.automaton import WFA
    from wfalens.explanation import TransitionEmbeddings, nearness_of

    wfa = WFA.load(automaton)
    acting = TransitionEmbeddings.of(wfa, min_count).nearest(word, top)
    known = open_vectors(vectors, wfa.encoder.vocabulary.words[2:])
    return Neighbours(acting, nearness_of(wfa, known).nearest(word, top), known.source)
