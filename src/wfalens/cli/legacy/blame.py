"""`wfalens blame`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.files import check_outputs, write_csv, write_html
from wfalens.cli.legacy.inputs import USUAL, Reader, open_vectors
from wfalens.cli.legacy.output import print_json, print_table, say
from wfalens.messages import sentence
from wfalens.models.wrapping import wrap

if TYPE_CHECKING:
    from wfalens.repair import Diagnosis

Train = Annotated[
    str, typer.Option("--train", "-t", metavar="TEXTS", help=f"What the classifier learned from: {opt.CORPUS_HELP}")
]
Errors = Annotated[
    str,
    typer.Option(
        "--texts",
        "-e",
        metavar="TEXTS",
        help=f"Labelled texts; those that it gets wrong are looked at: {opt.CORPUS_HELP}",
    ),
]


def blame_cli(
    automaton: opt.Automaton,
    model: opt.Model,
    train: Train,
    texts: Errors,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Look at so many errors only, chosen at random.")
    ] = 1000,
    top: Annotated[int, typer.Option("--top", "-k", metavar="N", min=1, help="Texts and words to show.")] = 10,
    vectors: opt.Vectors = "wordllama",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write the blamed training texts as CSV.", rich_help_panel=opt.OUTPUT
        ),
    ] = None,
    seed: opt.Seed = 0,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    label_column: opt.LabelColumn = None,
    encoding: opt.Encoding = "utf-8",
    html: opt.Html = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Find the training texts that taught a classifier its errors, and say why.

    For every error, the classifier is asked without each word: where its decision turned, training texts of the wrong
    class that share the word, read in a like state, are to blame. Likely label errors, and words that speak for a class
    although words of like meaning do not, are listed beside them.

    Example:
      wfalens blame news.wfa --model news.rnn --train train.csv --texts test.csv
    """
    check_outputs(html, output, force=force)
    done = blame(
        automaton,
        model,
        train,
        texts,
        limit=limit,
        vectors=vectors,
        seed=seed,
        reader=Reader(data, text_column, label_column, encoding),
    )
    write_html(html, f"{automaton.name}: blame", done.to_html())
    write_csv(output, done.to_dataframe)
    if as_json:
        print_json(done.to_dict())
    else:
        show(done, top)


def blame(
    automaton: Path,
    model: str,
    train: str,
    texts: str,
    *,
    limit: int | None = 1000,
    vectors: str = "wordllama",
    seed: int = 0,
    reader: Reader = USUAL,
) -> Diagnosis:
    """Blame training texts for the errors of a classifier on labelled texts."""
    from wfalens.automaton import WFA
    from wfalens.repair import diagnose

    wfa = WFA.load(automaton)
    classifier = wrap(model, vocab=wfa.encoder)
    known = open_vectors(vectors, wfa.encoder.vocabulary.words[2:])
    taught, tested = reader.corpus(train, "train"), reader.corpus(texts, "test")
    return diagnose(wfa, classifier, taught, tested, limit=limit, vectors=known, seed=seed)


def show(done: Diagnosis, top: int) -> None:
    """Tables for people."""
    shown = 160  # characters of a text

    found = done.blame
    say(f"{len(found.errors):,} errors, {len(found.ranked()):,} training texts that share where they turned")
    rows = [
        [each.word, each.predicted, f"{each.errors:,}", f"{each.taught:,}", f"{each.others:,}"]
        for each in found.words[:top]
    ]
    columns = ["word", "brought", "errors", "training texts of that class", "of others"]
    print_table("Words on which errors turned", columns, rows)
    blamed = [[sentence(str(value), shown) for value in row.values()] for row in found.rows()[:top]]
    print_table(found.title, ["row", "share of the blame", "class", "training text", "because"], blamed)
    rows = [
        [each.label, each.likelier, f"{each.doubt:.1f}", sentence(each.text, shown)]
        for each in done.label_suspects[:top]
    ]
    print_table("Likely label errors", ["label", "likelier", "doubt", "training text"], rows)
    rows = [
        [
            each.word,
            each.class_name,
            f"{each.influence:+.2f}",
            f"{each.near_influence:+.2f}",
            f"{each.texts:,}",
            f"{each.share:.0%}",
        ]
        for each in done.spurious_words[:top]
    ]
    columns = ["word", "class", "influence", "of near words", "training texts", "of the class"]
    print_table("Words that favour a class unlike words of like meaning", columns, rows)
