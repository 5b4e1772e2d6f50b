"""`wfalens certify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.files import check_outputs, write_html
from wfalens.cli.legacy.inputs import Reader, check_share, open_vectors
from wfalens.cli.legacy.output import print_json, say
from wfalens.errors import InputError
from wfalens.models.wrapping import wrap
from wfalens.text.character_edits import reads_characters
from wfalens.validation import check_choice

CHANGES, EFFORT = "Allowed changes", "Effort"
OF = AUTOMATON, READABLE, NETWORK = ("automaton", "readable", "network")


def certify_cli(
    automaton: opt.Automaton,
    corpus: opt.SomeCorpus = None,
    text: Annotated[
        list[str] | None, typer.Option("--text", metavar="TEXT", help="Certify this text (may be repeated).")
    ] = None,
    of: Annotated[
        str,
        typer.Option(
            "--of",
            metavar="WHAT",
            help="Whose class is proven: automaton, readable (the readable automaton that it carries), or network "
            "(every variant is read; needs --model).",
        ),
    ] = AUTOMATON,
    model: opt.SomeModel = None,
    substitutes: Annotated[
        int | None,
        typer.Option(
            "--substitutes",
            "-s",
            metavar="N",
            min=1,
            help="Words that may stand for a word: the nearest of those that are near in meaning, or the first listed.",
            show_default="5; all of a list",
            rich_help_panel=CHANGES,
        ),
    ] = None,
    neighbours: Annotated[
        Path | None,
        typer.Option(
            "--neighbours",
            metavar="FILE",
            help="What may replace what, in place of --vectors: JSON (word to list of words, such as counter-fitted "
            "neighbours), or lines of text, each a word and its substitutes.",
            rich_help_panel=CHANGES,
        ),
    ] = None,
    max_semantic: Annotated[
        str | None,
        typer.Option(
            "--max-semantic",
            metavar="BOUND",
            help="Only words whose cosine distance is at most this: a number, or a quantile over random pairs.",
            show_default="q0.001",
            rich_help_panel=CHANGES,
        ),
    ] = None,
    delete: Annotated[bool, opt.flag("--delete", help="Any word may be left out.", panel=CHANGES)] = False,
    duplicate: Annotated[bool, opt.flag("--duplicate", help="Any word may be doubled.", panel=CHANGES)] = False,
    swap: Annotated[bool, opt.flag("--swap", help="Neighbouring words may change places.", panel=CHANGES)] = False,
    insert: Annotated[
        str | None,
        typer.Option(
            "--insert", metavar="WORDS", help="Any of these words may be put in anywhere.", rich_help_panel=CHANGES
        ),
    ] = None,
    changes: Annotated[
        int | None,
        typer.Option(
            "--changes",
            metavar="N",
            min=0,
            help="Changes at most, of whatever kind.",
            show_default="any number",
            rich_help_panel=CHANGES,
        ),
    ] = None,
    stop_words: opt.SpareStopWords = False,
    vectors: opt.Vectors = "wordllama",
    budget: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=2,
            help="Variants of a text that the network may read (--of network).",
            rich_help_panel=EFFORT,
        ),
    ] = 20_000,
    effort: Annotated[
        int,
        typer.Option(
            "--effort",
            metavar="N",
            min=0,
            help="Beginnings to follow in a text that the bound leaves open.",
            rich_help_panel=EFFORT,
        ),
    ] = 1000,
    samples: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="Variants of each text to try; all where they are fewer.",
            show_default="200",
            rich_help_panel=EFFORT,
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Certify only so many texts, chosen at random.")
    ] = None,
    min_certified: Annotated[
        float | None,
        typer.Option("--min-certified", metavar="SHARE", help="Exit with code 1 if a smaller share is certified."),
    ] = None,
    seed: opt.Seed = 0,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    encoding: opt.Encoding = "utf-8",
    examples: Annotated[
        int, typer.Option(metavar="N", min=0, help="Texts of each status to show.", rich_help_panel=opt.OUTPUT)
    ] = 3,
    html: opt.Html = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Prove that no change of words changes a text's class, or show one that does.

    On the automaton (or its readable one) a bound covers all variants: certified, broken (the shown variant is of
    another class), or open. With --model, the classifier reads some of them too.

    On the network, all variants with few changes are read, the most dangerous first: proven on the network, broken, or,
    where --budget does not suffice for all, proven on the automaton and tried on the network.

    Where tokens are characters, --changes counts edits (default 1): characters substituted, inserted, deleted or
    transposed. Every text within them is read, by the automaton or, with --of network, by the network.

    Examples:
      wfalens certify films.wfa --text "a dull but honest film"
      wfalens certify films.wfa -c rotten_tomatoes --of network -m films.rnn \\
        --changes 2 --limit 500
    """
    check_outputs(html, force=force)
    check_share("--min-certified", min_certified)
    check_choice("--of", of, OF)
    if (corpus is None) == (not text):
        raise InputError("give either --corpus or --text")
    if of == NETWORK and model is None:
        raise InputError(f"--of {of} needs the network: give --model too")
    if corpus is not None:
        reader = Reader(data, text_column, None, encoding)
        text = list(reader.corpus(corpus, "test", labels=False).sample(limit, seed).texts)
    from wfalens.automaton import WFA
    from wfalens.robustness import CertifyOptions, certify_model, read_lists

    options = CertifyOptions(
        of=of,
        substitutes=substitutes,
        max_semantic=max_semantic,
        spare_stop_words=stop_words,
        delete=delete,
        duplicate=duplicate,
        swap=swap,
        insert=tuple((insert or "").split()),
        changes=changes,
        budget=budget,
        effort=effort,
        samples=200 if samples is None else samples,
    )
    wfa = WFA.load(automaton)
    listed = None if neighbours is None else read_lists(neighbours)
    by_characters = reads_characters(wfa.encoder)
    near = by_characters or listed is not None
    found = certify_model(
        wfa,
        text or [],
        options,
        model=None if model is None else wrap(model, vocab=wfa.encoder),
        neighbours=listed,
        vectors=None if near else open_vectors(vectors, wfa.encoder.vocabulary.words[2:]),
        seed=seed,
    )
    share = found.certified.value
    failed = min_certified is not None and share < min_certified
    write_html(html, f"{automaton.name}: certificates", found.to_html())
    if as_json:
        print_json({"automaton": str(automaton), "changes": changes, **found.to_dict()})
    else:
        say(found.summary())
        for each in found.examples(examples):
            say(each)
        if failed:
            say(f"{share:.3f} are certified, below {min_certified:.3f}")
    if failed:
        raise typer.Exit(1)
