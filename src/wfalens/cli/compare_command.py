"""`wfalens compare`: what changed between two automata."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from wfalens.cli import options as opt
from wfalens.cli.config import Reading, new_group, register
from wfalens.cli.inputs import open_corpus, open_model, open_wfa
from wfalens.cli.library import robustness
from wfalens.cli.output import check_out, print_json, print_rows, say, write_out
from wfalens.errors import InputError

_SHOWN = 10
command = new_group()


@register(command, "compare", lambda: {"texts": Reading})
def compare(
    before: Annotated[Path, opt.argument("BEFORE", "The first automaton: .wfa, or .json of `export --format dfa`.")],
    after: Annotated[Path, opt.argument("AFTER", "The second automaton, with the same classes.")],
    corpus: opt.SomeCorpus = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            "-m",
            metavar="MODEL",
            help="The classifier of the first automaton, and, given again, that of the second: reports fidelity.",
        ),
    ] = None,
    min_agreement: Annotated[
        float | None,
        typer.Option(
            "--min-agreement", metavar="SHARE", min=0, max=1, help="Exit with 1 if they agree on a smaller share."
        ),
    ] = None,
    out: opt.Out = None,
    force: opt.Force = False,
    config: opt.Config = None,  # type: ignore[assignment]
    as_json: opt.Json = False,
) -> None:
    """Report what changed between two automata: two checkpoints, two data sets, two methods.

    Words by the change of their influence; with --corpus, the texts that the two read most differently; states matched
    by their centres; with two --model, how faithful each is to its classifier.

    Of two deterministic automata (.json), the shortest word that they read differently is printed, and the exit code is
    1 if there is one.

    Examples:
      wfalens compare old.wfa new.wfa --corpus rotten_tomatoes
      wfalens compare old.wfa new.wfa -c test.csv -m old.rnn -m new.rnn
    """
    check_out(out, force)
    if {before.suffix.lower(), after.suffix.lower()} == {".json"}:
        _compare_dfas(before, after, as_json)
        return
    if corpus is None and (min_agreement is not None or model):
        raise InputError("give --corpus too: agreement and fidelity are measured on texts", code="option-conflict")
    if model and len(model) > 2:
        raise InputError(
            "--model is given twice at most: for the first automaton, and for the second", code="option-value"
        )
    first, second = (open_wfa(path, config.texts) for path in (before, after))
    names = [*(model or ()), None, None]
    found: Any = robustness.compare(
        first,
        second,
        () if corpus is None else open_corpus(corpus, config.texts),
        models=(open_model(names[0], first), open_model(names[1], second)),
    )
    write_out(out, found, f"{before.name} and {after.name}")
    if as_json:
        print_json({"before": str(before), "after": str(after), **found.to_dict()})
    else:
        _print(found)
    if min_agreement is not None and found.agreement is not None and found.agreement.cr.value < min_agreement:
        if not as_json:
            say(f"they agree on {found.agreement.cr.value:.3f} of the texts, below {min_agreement:.3f}")
        raise typer.Exit(1)


def _print(found: Any) -> None:
    tables = {f"Words whose influence changed most ({found.words.unit})": found.word_rows(_SHOWN)}
    if found.texts is not None:
        tables["Texts that they read most differently"] = found.text_rows(_SHOWN)
    if found.states is not None:
        tables["States, the farthest apart first"] = found.state_rows(_SHOWN)
    for title, (columns, rows) in tables.items():
        print_rows(title, [dict(zip(columns, row, strict=True)) for row in rows])
    for name, item in (("agreement", found.agreement), ("fidelity before", found.fidelity_before)):
        if item is not None:
            say(f"{name}: CR {item.cr:.3f}, JSD {item.jsd:.3f} on {item.texts:,} texts")
    if found.fidelity_after is not None:
        say(f"fidelity after: CR {found.fidelity_after.cr:.3f}, JSD {found.fidelity_after.jsd:.3f}")


def _compare_dfas(before: Path, after: Path, as_json: bool) -> None:
    first, second = (robustness.read_machine(path)[0] for path in (before, after))
    word = robustness.shortest_difference(first, second)
    if as_json:
        print_json({"equal": word is None, "difference": None if word is None else list(word)})
    else:
        say(
            "they read all words alike" if word is None else f"read differently: {' '.join(word) or '(the empty word)'}"
        )
    if word is not None:
        raise typer.Exit(1)
