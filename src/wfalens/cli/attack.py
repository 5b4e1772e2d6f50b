"""`wfalens attack`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wfalens.cli import options as opt
from wfalens.cli.files import check_outputs, write_csv, write_html
from wfalens.cli.inputs import USUAL, Reader, dataset_of, open_vectors
from wfalens.cli.output import print_json, print_table, say
from wfalens.cli.progress import TerminalProgress
from wfalens.cli.streams import Shards
from wfalens.errors import InputError
from wfalens.models.opening import open_model
from wfalens.progress import SILENT, Progress

if TYPE_CHECKING:
    import pandas as pd

    from wfalens.attack.outcome import Outcome
    from wfalens.corpus.corpus import Corpus

CONSTRAINTS, WORK = "Constraints", "Where it runs"
USUAL_RECIPES = ("strong", "random-order", "random-word", "guided")
ONE_WORKER = Shards(engine="local", workers=1)


@dataclass(frozen=True)
class Attacked:
    """The texts that were attacked, and what each recipe reached."""

    texts: Corpus
    outcomes: list[Outcome]


def attack_cli(
    automaton: opt.Automaton,
    model: opt.Model,
    corpus: opt.Corpus,
    recipe: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="glove, weak, strong (the paper's), random-order, random-word (controls), guided, guided-once (ours), "
            "greedy; may be repeated.",
            show_default="strong, both controls, guided",
        ),
    ] = None,
    k: Annotated[int, typer.Option("--words", "-k", metavar="N", min=1, help="Words changed at most.")] = 1,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Attack only so many texts, chosen at random.")
    ] = None,
    seed: opt.Seed = 0,
    vectors: opt.Vectors = "wordllama",
    weak: Annotated[
        float | None,
        typer.Option(
            metavar="DISTANCE",
            help="Bound on d_S of the weak recipe.",
            show_default="of the data set",
            rich_help_panel=CONSTRAINTS,
        ),
    ] = None,
    strong: Annotated[
        float | None,
        typer.Option(
            metavar="DISTANCE",
            help="Bound on d_S of all others.",
            show_default="of the data set",
            rich_help_panel=CONSTRAINTS,
        ),
    ] = None,
    min_transition: Annotated[
        float, typer.Option(metavar="DISTANCE", help="Lower bound on d_T.", rich_help_panel=CONSTRAINTS)
    ] = 0.01,
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
    constraints, the share of words changed and the number of model queries. d_S is the distance of two words in
    meaning, d_T in what they do (see `wfalens pairs`).

    With --limit, files of any size and patterns of files are read through once, and only the texts that are drawn are
    held; without it, all texts must fit into memory.

    Examples:
      wfalens attack films.wfa -m films.rnn -c rotten_tomatoes --limit 500
      wfalens attack news.wfa -m news.rnn -c 'new/*.parquet' --limit 2000
    """
    from wfalens.attack.outcome import SUCCEEDED, SUMMARY_COLUMNS, summary_rows

    check_outputs(csv, html, force=force)
    done = attack(
        automaton,
        model,
        corpus,
        recipes=recipe or USUAL_RECIPES,
        words=k,
        limit=limit,
        vectors=vectors,
        weak=weak,
        strong=strong,
        min_transition=min_transition,
        spare_stop_words=stop_words,
        same_tag=same_tag,
        budget=budget,
        seed=seed,
        reader=Reader(data, text_column, label_column, encoding),
        engine=Shards(engine=engine, workers=workers, address=address),
        progress=TerminalProgress(),
    )
    write_csv(csv, lambda: _table(done.outcomes))
    write_html(html, f"{automaton.name}: attacks on {done.texts.name}", *(each.to_html() for each in done.outcomes))
    if as_json:
        print_json([outcome.to_json() for outcome in done.outcomes])
        return
    title = f"Success of attacks on {len(done.texts):,} texts of {done.texts.name}"
    print_table(title, SUMMARY_COLUMNS, summary_rows(done.outcomes))
    for example in [each for each in done.outcomes[-1].examples if each.status == SUCCEEDED][:examples]:
        say(f"{example}\n")


def attack(
    automaton: Path,
    model: str,
    corpus: str,
    *,
    recipes: Sequence[str] = USUAL_RECIPES,
    words: int = 1,
    limit: int | None = None,
    vectors: str = "wordllama",
    weak: float | None = None,
    strong: float | None = None,
    min_transition: float = 0.01,
    spare_stop_words: bool = False,
    same_tag: bool = False,
    budget: int | None = None,
    seed: int = 0,
    reader: Reader = USUAL,
    engine: Shards = ONE_WORKER,
    progress: Progress = SILENT,
) -> Attacked:
    """Attack a classifier by recipes that change up to `words` words of a text.

    `weak` and `strong` are the bounds on d_S of the weak recipe and of all others (None: those of the data set).
    """
    import numpy as np

    from wfalens.attack import RECIPES, Arsenal, run_attack
    from wfalens.attack.tagging import installed_tagger
    from wfalens.automaton import WFA

    for name in recipes:
        if name not in RECIPES:
            raise InputError(f"unknown recipe {name!r}; choose one of {', '.join(RECIPES)}")
    wfa = WFA.load(automaton)
    classifier = open_model(model, wfa.encoder)
    if wfa.encoder.vocabulary != classifier.encoder.vocabulary or wfa.class_names != tuple(classifier.class_names):
        raise InputError(
            f"{automaton} was extracted from a model with another vocabulary or other classes than {model}"
        )
    texts = _texts(corpus, classifier.class_names, limit, seed, reader, progress)
    weak, strong = _bounds(corpus, weak, strong)
    arsenal = Arsenal.prepare(
        wfa,
        open_vectors(vectors, wfa.encoder.vocabulary.words[2:]),
        weak=weak,
        strong=strong,
        min_transition=min_transition,
        spare_stop_words=spare_stop_words,
        tag=installed_tagger() if same_tag else None,
        only=np.unique(wfa.encoder.encode(texts.texts).values),
        progress=progress,
    )
    if not arsenal.strong.has_any.any():
        raise InputError(
            f"no word of these texts has a replacement within d_S ≤ {strong} and d_T ≥ {min_transition}; "
            "widen --strong or lower --min-transition"
        )
    with engine.opened_engine() as place:
        outcomes = [
            run_attack(
                name,
                words,
                arsenal.recipe(name, words),
                classifier,
                texts,
                budget=budget,
                seed=seed,
                progress=progress,
                engine=place,
            )
            for name in recipes
        ]
    return Attacked(texts, outcomes)


def _texts(
    corpus: str, class_names: Sequence[str], limit: int | None, seed: int, reader: Reader, progress: Progress
) -> Corpus:
    """The texts to attack; of files that need not all be held, only those that are drawn."""
    from wfalens.attack import draw_texts
    from wfalens.corpus.sources.files import is_pattern

    many = dataset_of(corpus) is None and is_pattern(corpus)
    if limit is None and many:
        raise InputError(f"{corpus} stands for many files; tell with --limit how many of their texts to attack")
    alone = dataset_of(corpus) is None and Path(corpus).exists()
    if limit is not None and (many or alone):
        files = reader.files(corpus)
        return draw_texts(files, limit, class_names, label_column=reader.label_column, seed=seed, progress=progress)
    return reader.corpus(corpus, "test", progress=progress).sample(limit, seed)


def _bounds(corpus: str, weak: float | None, strong: float | None) -> tuple[float, float]:
    """The usual bounds of the data set; one that was not given follows the one that was."""
    from wfalens.attack.recipes import DEFAULT_STRONG, DEFAULT_WEAK, STRONG, WEAK

    known = dataset_of(corpus)
    name = known.name if known else ""
    usual_weak, usual_strong = WEAK.get(name, DEFAULT_WEAK), STRONG.get(name, DEFAULT_STRONG)
    if strong is None:
        strong = usual_strong if weak is None else max(weak, usual_strong)
    return min(usual_weak, strong) if weak is None else weak, strong


def _table(outcomes: Sequence[Outcome]) -> pd.DataFrame:
    import pandas as pd

    return pd.concat([outcome.to_dataframe().assign(recipe=outcome.recipe, k=outcome.k) for outcome in outcomes])
