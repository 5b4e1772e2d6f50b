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
from wfalens.cli.streams import Shards
from wfalens.errors import InputError
from wfalens.models.opening import open_model
from wfalens.text.character_edits import reads_characters

if TYPE_CHECKING:
    import pandas as pd

    from wfalens.automaton import WFA
    from wfalens.models.contract import PrefixClassifier
    from wfalens.robustness.attack.outcome import Outcome
    from wfalens.text.corpus import Corpus

CONSTRAINTS, WORK = "Constraints", "Where it runs"
USUAL_RECIPES = ("strong", "random-order", "random-word", "guided", "random-tries")
CONTROLS = ("random-order", "random-word", "random-tries")
ONE_WORKER = Shards(engine="local", workers=1)


@dataclass(frozen=True)
class Attacked:
    """The texts that were attacked, and what each recipe reached."""

    texts: Corpus
    outcomes: list[Outcome]
    by: str  # what may be changed: words that are near in meaning by some vectors, or characters
    units: str = "words"  # what texts consist of


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
    from wfalens.robustness.attack.outcome import SUCCEEDED, summary_columns, summary_rows

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
    )
    write_csv(csv, lambda: _table(done.outcomes))
    write_html(html, f"{automaton.name}: attacks on {done.texts.name}", *(each.to_html() for each in done.outcomes))
    if as_json:
        print_json([outcome.to_json() for outcome in done.outcomes])
        return
    title = f"Success of attacks on {len(done.texts):,} texts of {done.texts.name}, {done.by}"
    print_table(title, summary_columns(done.units), summary_rows(done.outcomes))
    for example in [each for each in examples_of(done.outcomes).examples if each.status == SUCCEEDED][:examples]:
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
    weak: float | str = "q0.5",
    strong: float | str = "q1",
    min_transition: float | str = "q0.5",
    spare_stop_words: bool = False,
    same_tag: bool = False,
    budget: int | None = None,
    seed: int = 0,
    reader: Reader = USUAL,
    engine: Shards = ONE_WORKER,
) -> Attacked:
    """Attack a classifier by recipes that change up to `words` words of a text.

    `weak` and `strong` are the bounds on d_S of the weak recipe and of all others.
    """
    import numpy as np

    from wfalens.automaton import WFA
    from wfalens.explanation import nearness_of
    from wfalens.robustness.attack import RECIPES, AttackContext, run_attack
    from wfalens.robustness.attack.part_of_speech import installed_tagger

    for name in recipes:
        if name not in RECIPES:
            raise InputError(f"unknown recipe {name!r}; choose one of {', '.join(RECIPES)}")
    wfa = WFA.load(automaton)
    classifier = open_model(model, wfa.encoder)
    if wfa.encoder.vocabulary != classifier.encoder.vocabulary or wfa.class_names != tuple(classifier.class_names):
        raise InputError(
            f"{automaton} was extracted from a model with another vocabulary or other classes than {model}"
        )
    texts = _texts(corpus, classifier.class_names, limit, seed, reader)
    if reads_characters(wfa.encoder):
        return _by_edits(wfa, classifier, texts, recipes, words, budget, seed)
    known = open_vectors(vectors, wfa.encoder.vocabulary.words[2:])
    arsenal = AttackContext.prepare(
        wfa,
        nearness_of(wfa, known, spare_stop_words=spare_stop_words),
        weak,
        strong,
        min_transition,
        tag=installed_tagger() if same_tag else None,
        only=np.unique(wfa.encoder.encode(texts.texts).values),
    )
    if not arsenal.strong.has_any.any():
        raise InputError(
            f"no word of these texts has a replacement that is near in meaning ({known.source}) with "
            f"d_S ≤ {strong} and d_T ≥ {min_transition}; widen the bounds or give other --vectors"
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
                engine=place,
            )
            for name in recipes
        ]
    return Attacked(texts, outcomes, f"near words by {known.source}")


def examples_of(outcomes: Sequence[Outcome]) -> Outcome:
    """The outcome whose examples are shown: the last that is no random control."""
    return next((each for each in reversed(outcomes) if each.recipe not in CONTROLS), outcomes[-1])


def _by_edits(
    wfa: WFA,
    classifier: PrefixClassifier,
    texts: Corpus,
    recipes: Sequence[str],
    edits: int,
    budget: int | None,
    seed: int,
) -> Attacked:
    """Attack a classifier that reads characters: nothing but the text can be changed."""
    from wfalens.robustness.attack import EDIT_RECIPES, run_edit_attack

    chosen = [name for name in recipes if name in EDIT_RECIPES]
    if not chosen or (recipes != USUAL_RECIPES and len(chosen) < len(recipes)):
        raise InputError(f"texts of characters are attacked by edits; choose recipes among {', '.join(EDIT_RECIPES)}")
    outcomes = [run_edit_attack(name, edits, wfa, classifier, texts, budget=budget, seed=seed) for name in chosen]
    return Attacked(texts, outcomes, "by edits of characters", "characters")


def _texts(
    corpus: str,
    class_names: Sequence[str],
    limit: int | None,
    seed: int,
    reader: Reader,
) -> Corpus:
    """The texts to attack; of files that need not all be held, only those that are drawn."""
    from wfalens.robustness.attack import draw_texts
    from wfalens.text.sources.text_files import is_pattern

    many = dataset_of(corpus) is None and is_pattern(corpus)
    if limit is None and many:
        raise InputError(f"{corpus} stands for many files; tell with --limit how many of their texts to attack")
    alone = dataset_of(corpus) is None and Path(corpus).exists()
    if limit is not None and (many or alone):
        files = reader.files(corpus)
        return draw_texts(files, limit, class_names, label_column=reader.label_column, seed=seed)
    return reader.corpus(corpus, "test").sample(limit, seed)


def _table(outcomes: Sequence[Outcome]) -> pd.DataFrame:
    import pandas as pd

    return pd.concat([outcome.to_dataframe().assign(recipe=outcome.recipe, k=outcome.k) for outcome in outcomes])
