"""`wfalens diff`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wfalens.cli.app import app
from wfalens.cli.common import (
    CORPUS_HELP,
    MODEL_HELP,
    DataOption,
    EncodingOption,
    HtmlOption,
    JsonOption,
    LabelColumnOption,
    MinCountOption,
    TerminalProgress,
    TextColumnOption,
    check_files,
    check_share,
    open_corpus,
    open_model,
    print_json,
    print_table,
    say,
    write_html,
)
from wfalens.errors import InputError

if TYPE_CHECKING:
    from wfalens.automaton import WFA
    from wfalens.evaluation import Agreement
    from wfalens.verification import Difference


@app.command()
def diff(
    before: Annotated[Path, typer.Argument(help="The first automaton: a .wfa file.")],
    after: Annotated[Path, typer.Argument(help="The second automaton, with the same classes.")],
    corpus: Annotated[str | None, typer.Option("--corpus", "-c", help=f"Read these with both. {CORPUS_HELP}")] = None,
    model_a: Annotated[
        str | None,
        typer.Option("--model-a", help=f"The classifier of the first, to tell its fidelity on the texts: {MODEL_HELP}"),
    ] = None,
    model_b: Annotated[str | None, typer.Option("--model-b", help="The classifier of the second.")] = None,
    top: Annotated[int, typer.Option("--top", "-k", min=1, help="States, words and texts to show.")] = 10,
    min_count: MinCountOption = 5,
    min_agreement: Annotated[
        float | None,
        typer.Option("--min-agreement", help="Leave with exit code 1 if they agree on a smaller share of the texts."),
    ] = None,
    data: DataOption = None,
    text_column: TextColumnOption = "text",
    label_column: LabelColumnOption = None,
    encoding: EncodingOption = "utf-8",
    html: HtmlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell what changed between two automata: two checkpoints, two data sets, two ways to extract.

    Words by the change of their influence; with --corpus, the texts that the two read most differently; states
    matched by their centres; with --model-a and --model-b, how faithful each is to its classifier.

    Example: wfalens diff old.wfa new.wfa --corpus rotten_tomatoes
    """
    from wfalens.automaton import WFA
    from wfalens.verification import compare

    check_files(html)
    check_share("--min-agreement", min_agreement)
    if corpus is None and (min_agreement is not None or model_a is not None or model_b is not None):
        raise InputError("give --corpus too: agreement and fidelity are measured on texts")
    first, second = WFA.load(before), WFA.load(after)
    texts = () if corpus is None else open_corpus(corpus, "test", data, text_column, label_column, encoding)
    models = tuple(
        None if model is None else open_model(model, wfa.encoder)
        for model, wfa in ((model_a, first), (model_b, second))
    )
    found = compare(
        first, second, texts, models=(models[0], models[1]), min_count=min_count, progress=TerminalProgress()
    )
    failed = min_agreement is not None and found.agreement is not None and found.agreement.cr.value < min_agreement
    write_html(html, f"{before.name} and {after.name}", found.to_html(top))
    if as_json:
        told = {"before": {"file": str(before), **first.summary()}, "after": {"file": str(after), **second.summary()}}
        print_json({**told, **found.to_json(top)})
    else:
        _print(f"{before.name} and {after.name}", first, second, found, top)
        if failed and found.agreement is not None:
            typer.echo(f"they agree on {found.agreement.cr.value:.3f} of the texts, below {min_agreement:.3f}")
    if failed:
        raise typer.Exit(1)


def _print(title: str, first: WFA, second: WFA, found: Difference, top: int) -> None:
    def shown(item: Agreement | None) -> str:
        return "–" if item is None else f"CR {item.cr:.3f}, JSD {item.jsd:.3f}"

    rows = [
        ["kind", first.kind, second.kind],
        ["states", f"{first.states}", f"{second.states}"],
        ["words", f"{len(first.encoder.vocabulary):,}", f"{len(second.encoder.vocabulary):,}"],
    ]
    if found.fidelity_before or found.fidelity_after:
        rows.append(["fidelity to its model", shown(found.fidelity_before), shown(found.fidelity_after)])
    if found.accuracy_before and found.accuracy_after:
        rows.append(["accuracy", f"{found.accuracy_before:.3f}", f"{found.accuracy_after:.3f}"])
    print_table(title, ["", "before", "after"], rows)
    if found.agreement is not None:
        say(
            f"on {found.agreement.texts:,} texts they choose the same class on {found.agreement.cr:.3f}, "
            f"at a divergence of {found.agreement.jsd:.3f}"
        )
    print_table(f"Words whose influence changed most ({found.words.unit})", *found.word_rows(top))
    if found.texts is not None:
        print_table("Texts that they read most differently", *found.text_rows(top))
    if found.states is None:
        say(str(found.states_note))
    else:
        print_table("States, the farthest apart first", *found.state_rows(top))
