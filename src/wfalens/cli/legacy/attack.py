"""`wfalens attack`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.files import check_outputs, write_csv, write_html
from wfalens.cli.legacy.inputs import USUAL, Reader, dataset_of, open_vectors
from wfalens.cli.legacy.output import print_json, print_table, say
from wfalens.cli.legacy.streams import Shards
from wfalens.errors import InputError
from wfalens.models.wrapping import wrap
from wfalens.text.character_edits import reads_characters

if TYPE_CHECKING:
    import pandas as pd

    from wfalens.robustness.attack import AttackOptions, AttackResult
    from wfalens.text.corpus import Corpus
    from wfalens.text.files import TextFiles

CONSTRAINTS, WORK = "Constraints", "Where it runs"
ONE_WORKER = Shards(engine="local", workers=1)


def attack_cli(
    automaton: opt.Automaton,
    model: opt.Model,
    corpus: opt.Corpus,
    recipe: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="nearest, weak, strong (the paper's), with the controls random-order and random-word; guided (ours), "
            "with the control random-tries; guided-once, greedy. May be repeated.",
            show_default="strong, guided, and their controls",
        ),
    ] = None,
    k: Annotated[
        int,
        typer.Option(
            "--words", "-k", metavar="N", min=1, help="Words changed at most (edits, of texts of characters)."
        ),
    ] = 1,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Attack only so many texts, chosen at random.")
    ] = None,
    seed: opt.Seed = 0,
    vectors: opt.Vectors = "wordllama",
    weak: Annotated[
        str,
        typer.Option(
            metavar="BOUND",
            help="Bound on d_S of the weak recipe: a number, or a quantile over near words.",
            rich_help_panel=CONSTRAINTS,
        ),
    ] = "q0.5",
    strong: Annotated[
        str,
        typer.Option(
            metavar="BOUND",
            help="Bound on d_S of all others: a number, or a quantile over near words.",
            rich_help_panel=CONSTRAINTS,
        ),
    ] = "q1",
    min_transition: Annotated[
        str,
        typer.Option(
            metavar="BOUND",
            help="Lower bound on d_T: a number, or a quantile over near words.",
            rich_help_panel=CONSTRAINTS,
        ),
    ] = "q0.5",
    stop_words: opt.SpareStopWords = False,
    same_tag: Annotated[
        bool,
        opt.flag(
            "--same-part-of-speech",
            help="Replace words only by words of the same kind (needs nltk).",
            panel=CONSTRAINTS,
        ),
    ] = False,
    budget: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Model queries per text at most.", rich_help_panel=CONSTRAINTS),
    ] = None,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    label_column: opt.LabelColumn = None,
    encoding: opt.Encoding = "utf-8",
    engine: Annotated[
        str, typer.Option("--engine", metavar="NAME", help="local (here), or ray.", rich_help_panel=WORK)
    ] = "local",
    workers: Annotated[
        int,
        typer.Option("--workers", metavar="N", min=1, help="Parts attacked at a time.", rich_help_panel=WORK),
    ] = 1,
    address: Annotated[
        str | None,
        typer.Option(
            "--address",
            metavar="ADDRESS",
            help="A Ray cluster: auto, or HOST:PORT.",
            show_default="$RAY_ADDRESS, or a new local Ray",
            rich_help_panel=WORK,
        ),
    ] = None,
    examples: Annotated[
        int, typer.Option(metavar="N", min=0, help="Successful examples to show.", rich_help_panel=opt.OUTPUT)
    ] = 3,
    csv: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="Also write all examples.", rich_help_panel=opt.OUTPUT),
    ] = None,
    html: opt.Html = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Change a few words by similar ones so that the classifier errs; the automaton knows where to look.

    Success is given of all texts and of those that were classified correctly, beside random controls under the same
    constraints and with as many tries, the share of words changed and the number of tries. A word may be changed for
    one that is near in meaning (see `wfalens neighbours`). d_S is the cosine distance of two words, d_T their distance
    in what they do (see `wfalens pairs`); bounds such as q0.5 are quantiles over all pairs of near words.

    Where tokens are characters or runs of them, characters of the text are substituted, inserted, deleted or transposed
    instead (guided, with the control random-tries; greedy), and -k counts edits: every example is a text.

    With --limit, files of any size and patterns of files are read through once, and only the texts that are drawn are
    held; without it, all texts must fit into memory.

    Examples:
      wfalens attack films.wfa -m films.rnn -c rotten_tomatoes --limit 500
      wfalens attack news.wfa -m news.rnn -c 'new/*.parquet' --limit 2000
    """
    from wfalens.robustness.attack import DEFAULT_RECIPES, AttackOptions

    check_outputs(csv, html, force=force)
    done = attack(
        automaton,
        model,
        corpus,
        recipes=recipe or DEFAULT_RECIPES,
        options=AttackOptions(
            changes=k,
            weak=weak,
            strong=strong,
            min_transition=min_transition,
            spare_stop_words=stop_words,
            same_part_of_speech=same_tag,
            budget=budget,
        ),
        limit=limit,
        vectors=vectors,
        seed=seed,
        reader=Reader(data, text_column, label_column, encoding),
        engine=Shards(engine=engine, workers=workers, address=address),
    )
    write_csv(csv, lambda: _table(done))
    write_html(html, f"{automaton.name}: attacks on {done.corpus}", *(each.to_html() for each in done.recipes))
    if as_json:
        print_json([each.to_dict() for each in done.recipes])
        return
    rows = list(done.rows())
    print_table(done.title, list(rows[0]), [[_cell(value) for value in row.values()] for row in rows])
    for example in done.examples[:examples]:
        say(f"{example}\n")


def _cell(value: object) -> str:
    return "–" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def _table(done: AttackResult) -> pd.DataFrame:
    import pandas as pd

    return pd.concat([each.to_dataframe() for each in done.recipes])


def attack(
    automaton: Path,
    model: str,
    corpus: str,
    *,
    recipes: Sequence[str],
    options: AttackOptions,
    limit: int | None = None,
    vectors: str = "wordllama",
    seed: int = 0,
    reader: Reader = USUAL,
    engine: Shards = ONE_WORKER,
) -> AttackResult:
    """Attack a classifier by recipes."""
    from wfalens.automaton import WFA
    from wfalens.robustness.attack import attack as attack_model

    wfa = WFA.load(automaton)
    classifier = wrap(model, vocab=wfa.encoder)
    texts = _texts(corpus, limit, reader)
    known = None if reads_characters(wfa.encoder) else open_vectors(vectors, wfa.encoder.vocabulary.words[2:])
    run = engine.run_config()
    return attack_model(classifier, texts, wfa, recipes, options, vectors=known, limit=limit, seed=seed, run=run)


def _texts(corpus: str, limit: int | None, reader: Reader) -> Corpus | TextFiles:
    """The texts to attack; of files that need not all be held, only those that are drawn."""
    from wfalens.text.files import is_pattern, with_labels

    many = dataset_of(corpus) is None and is_pattern(corpus)
    if limit is None and many:
        raise InputError(f"{corpus} stands for many files; tell with --limit how many of their texts to attack")
    alone = dataset_of(corpus) is None and Path(corpus).exists()
    if limit is not None and (many or alone):
        files, remark = with_labels(reader.files(corpus), reader.label_column)
        if files.label_column is None:
            raise InputError(remark or f"{files.name} has no labels; an attack needs to know the true classes")
        return files
    return reader.corpus(corpus, "test")
