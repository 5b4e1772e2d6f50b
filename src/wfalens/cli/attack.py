"""`wfalens attack`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wfalens.cli.app import app
from wfalens.cli.common import (
    MODEL_HELP,
    AutomatonArgument,
    CorpusOption,
    DataOption,
    EncodingOption,
    HtmlOption,
    JsonOption,
    LabelColumnOption,
    SeedOption,
    TerminalProgress,
    TextColumnOption,
    VectorsOption,
    check_files,
    dataset_of,
    open_corpus,
    open_model,
    open_vectors,
    print_json,
    print_table,
    say,
    write_html,
)
from wfalens.cli.streams import AddressOption, opened_engine, text_files
from wfalens.corpus.sources.files import is_pattern
from wfalens.errors import InputError


@app.command()
def attack(
    automaton: AutomatonArgument,
    model: Annotated[str, typer.Option("--model", "-m", help=f"The classifier to attack: {MODEL_HELP}")],
    corpus: CorpusOption,
    recipe: Annotated[
        list[str] | None,
        typer.Option(
            help="glove, weak, strong (the paper's), random-order, random-word (controls), guided, guided-once (ours), "
            "greedy; may be repeated (default: strong, both controls, guided)."
        ),
    ] = None,
    k: Annotated[int, typer.Option("--words", "-k", min=1, help="Words changed at most.")] = 1,
    vectors: VectorsOption = "wordllama",
    weak: Annotated[
        float | None, typer.Option(help="Bound on d_S of the weak recipe (default: the data set's).")
    ] = None,
    strong: Annotated[float | None, typer.Option(help="Bound on d_S of all others (default: the data set's).")] = None,
    min_transition: Annotated[float, typer.Option(help="Lower bound on d_T.")] = 0.01,
    stop_words: Annotated[bool, typer.Option("--spare-stop-words", help="Leave stop words alone.")] = False,
    same_tag: Annotated[
        bool, typer.Option("--same-part-of-speech", help="Replace words only by such of the same kind (needs nltk).")
    ] = False,
    budget: Annotated[int | None, typer.Option(min=1, help="Model queries per text at most.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Attack only so many texts, chosen at random.")] = None,
    examples: Annotated[int, typer.Option(min=0, help="Successful examples to show.")] = 3,
    csv: Annotated[Path | None, typer.Option("--csv", help="Also write all examples to this file.")] = None,
    seed: SeedOption = 0,
    data: DataOption = None,
    text_column: TextColumnOption = "text",
    label_column: LabelColumnOption = None,
    encoding: EncodingOption = "utf-8",
    engine: Annotated[str, typer.Option("--engine", help="Where texts are attacked: local, or on ray.")] = "local",
    workers: Annotated[int, typer.Option("--workers", min=1, help="Parts of the texts attacked at a time.")] = 1,
    address: AddressOption = None,
    html: HtmlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Change a few words by similar ones so that the classifier errs; the automaton knows where to look.

    Success is given of all texts and of those that were classified correctly, beside random controls under the
    same constraints, the share of words changed and the number of model queries.

    With --limit, files of any size and patterns of files are read through once, and only the texts that are drawn are
    held; without it, all texts must fit into memory.

    Examples: wfalens attack films.wfa --model films.rnn --corpus rotten_tomatoes --limit 500

    Many files: wfalens attack news.wfa --model news.rnn -c 'held-out/*.parquet' --limit 2000
    """
    import numpy as np

    from wfalens.attack import RECIPES, Arsenal, draw_texts, run_attack
    from wfalens.attack.outcome import SUCCEEDED, SUMMARY_COLUMNS, summary_rows
    from wfalens.attack.recipes import DEFAULT_STRONG, DEFAULT_WEAK, STRONG, WEAK
    from wfalens.attack.tagging import installed_tagger
    from wfalens.automaton import WFA

    check_files(html, csv=csv)
    chosen = recipe or ["strong", "random-order", "random-word", "guided"]
    for name in chosen:
        if name not in RECIPES:
            raise InputError(f"unknown recipe {name!r}; choose one of {', '.join(RECIPES)}")
    wfa = WFA.load(automaton)
    classifier = open_model(model, wfa.encoder)
    if wfa.encoder.vocabulary != classifier.encoder.vocabulary or wfa.class_names != tuple(classifier.class_names):
        raise InputError(
            f"{automaton} was extracted from a model with another vocabulary or other classes than {model}"
        )
    progress = TerminalProgress()
    known = dataset_of(corpus)
    name = known.name if known else ""
    if limit is not None and _can_be_drawn_from(corpus):
        files = text_files(corpus, text_column, encoding)
        texts = draw_texts(
            files, limit, classifier.class_names, label_column=label_column, seed=seed, progress=progress
        )
    else:
        if known is None and is_pattern(corpus):
            raise InputError(f"{corpus} stands for many files; tell with --limit how many of their texts to attack")
        texts = open_corpus(corpus, "test", data, text_column, label_column, encoding).sample(limit, seed)
    weak, strong = _bounds(weak, strong, WEAK.get(name, DEFAULT_WEAK), STRONG.get(name, DEFAULT_STRONG))
    arsenal = Arsenal.prepare(
        wfa,
        open_vectors(vectors, wfa.encoder.vocabulary.words[2:]),
        weak=weak,
        strong=strong,
        min_transition=min_transition,
        spare_stop_words=stop_words,
        tag=installed_tagger() if same_tag else None,
        only=np.unique(wfa.encoder.encode(texts.texts).values),
        progress=progress,
    )
    if not arsenal.strong.has_any.any():
        raise InputError(
            f"no word of these texts has a replacement within d_S ≤ {strong} and d_T ≥ {min_transition}; "
            "widen --strong or lower --min-transition"
        )
    with opened_engine(engine, workers, None, address) as place:
        outcomes = [
            run_attack(
                name,
                k,
                arsenal.recipe(name, k),
                classifier,
                texts,
                budget=budget,
                seed=seed,
                progress=progress,
                engine=place,
            )
            for name in chosen
        ]
    if csv is not None:
        import pandas as pd

        tables = [outcome.to_dataframe().assign(recipe=outcome.recipe, k=outcome.k) for outcome in outcomes]
        pd.concat(tables).to_csv(csv, index=False)
    write_html(html, f"{automaton.name}: attacks on {texts.name}", *(outcome.to_html() for outcome in outcomes))
    if as_json:
        print_json([outcome.to_json() for outcome in outcomes])
        return
    print_table(f"Success of attacks on {len(texts):,} texts of {texts.name}", SUMMARY_COLUMNS, summary_rows(outcomes))
    won = [example for example in outcomes[-1].examples if example.status == SUCCEEDED][:examples]
    for example in won:
        say(f"{example}\n")


def _can_be_drawn_from(corpus: str) -> bool:
    """Whether a corpus is files whose texts need not all be held to draw some."""
    if dataset_of(corpus) is not None:
        return False
    return is_pattern(corpus) or Path(corpus).exists()


def _bounds(weak: float | None, strong: float | None, usual_weak: float, usual_strong: float) -> tuple[float, float]:
    """A bound that was not given follows the one that was."""
    if strong is None:
        strong = usual_strong if weak is None else max(weak, usual_strong)
    return min(usual_weak, strong) if weak is None else weak, strong
