"""`wfalens diff`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.files import check_outputs, write_html
from wfalens.cli.legacy.inputs import USUAL, Reader, check_share
from wfalens.cli.legacy.output import print_json, print_table, say
from wfalens.errors import InputError
from wfalens.models.wrapping import wrap

if TYPE_CHECKING:
    from wfalens.automaton import WFA
    from wfalens.evaluation import Agreement
    from wfalens.robustness import Difference


@dataclass(frozen=True)
class Compared:
    """Two automata and their difference."""

    before: WFA
    after: WFA
    difference: Difference


def diff_cli(
    before: Annotated[Path, opt.argument("BEFORE", "The first automaton, a .wfa file.")],
    after: Annotated[Path, opt.argument("AFTER", "The second automaton, with the same classes.")],
    corpus: opt.SomeCorpus = None,
    model_a: Annotated[
        str | None,
        typer.Option(
            "--model-a", metavar="MODEL", help=f"The classifier of the first, to tell its fidelity: {opt.MODEL_HELP}"
        ),
    ] = None,
    model_b: Annotated[
        str | None, typer.Option("--model-b", metavar="MODEL", help="The classifier of the second.")
    ] = None,
    top: Annotated[int, typer.Option("--top", "-k", metavar="N", min=1, help="States, words and texts to show.")] = 10,
    min_count: opt.MinCount = 5,
    min_agreement: Annotated[
        float | None,
        typer.Option(
            "--min-agreement", metavar="SHARE", help="Exit with code 1 if they agree on a smaller share of the texts."
        ),
    ] = None,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    label_column: opt.LabelColumn = None,
    encoding: opt.Encoding = "utf-8",
    html: opt.Html = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Tell what changed between two automata: two checkpoints, two data sets, two ways to extract.

    Words by the change of their influence; with --corpus, the texts that the two read most differently; states
    matched by their centres; with --model-a and --model-b, how faithful each is to its classifier.

    Example:
      wfalens diff old.wfa new.wfa --corpus rotten_tomatoes
    """
    check_outputs(html, force=force)
    check_share("--min-agreement", min_agreement)
    if corpus is None and (min_agreement is not None or model_a is not None or model_b is not None):
        raise InputError("give --corpus too: agreement and fidelity are measured on texts")
    done = diff(
        before,
        after,
        corpus,
        models=(model_a, model_b),
        min_count=min_count,
        reader=Reader(data, text_column, label_column, encoding),
    )
    found, title = done.difference, f"{before.name} and {after.name}"
    write_html(html, title, found.to_html(top))
    if as_json:
        files: dict[str, Any] = {
            "before": {"file": str(before), **done.before.summary()},
            "after": {"file": str(after), **done.after.summary()},
        }
        print_json({**files, **found.to_dict(top)})
    else:
        _print(title, done, top)
    if min_agreement is not None and found.agreement is not None and found.agreement.cr.value < min_agreement:
        if not as_json:
            say(f"they agree on {found.agreement.cr.value:.3f} of the texts, below {min_agreement:.3f}")
        raise typer.Exit(1)


def diff(
    before: Path,
    after: Path,
    corpus: str | None = None,
    *,
    models: tuple[str | None, str | None] = (None, None),
    min_count: int = 5,
    reader: Reader = USUAL,
) -> Compared:
    """Compare two automata, on the texts of a corpus if one is given."""
    from wfalens.automaton import WFA
    from wfalens.robustness import compare

    first, second = WFA.load(before), WFA.load(after)
    texts = () if corpus is None else reader.corpus(corpus, "test")
    classifiers = (_opened(models[0], first), _opened(models[1], second))
    return Compared(first, second, compare(first, second, texts, models=classifiers, min_count=min_count))


def _opened(model: str | None, wfa: WFA) -> Any:
    return None if model is None else wrap(model, vocab=wfa.encoder)


def _print(title: str, done: Compared, top: int) -> None:
    def shown(item: Agreement | None) -> str:
        return "–" if item is None else f"CR {item.cr:.3f}, JSD {item.jsd:.3f}"

    first, second, found = done.before, done.after, done.difference
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
