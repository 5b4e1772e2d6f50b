"""`wfalens compare`: what changed between two automata."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wfalens.cli import options as opt
from wfalens.cli.config import Settings, new_group, register
from wfalens.cli.inputs import open_corpus, open_model, open_wfa
from wfalens.cli.library import robustness
from wfalens.cli.output import exit_below, print_answer, print_result, write_out
from wfalens.errors import InputError
from wfalens.validation import Options, option

command = new_group()


@dataclass(frozen=True)
class CompareSettings(Options):
    """[compare]: the automata's classifiers, and what counts as a failure.

    Args:
        model: The classifier of the first automaton, and, given again, that of the second: reports fidelity.
        min_agreement: Exit with 1 if they agree on a smaller share.
    """

    model: tuple[str, ...] = option(())
    min_agreement: float | None = option(None, allowed=opt.SHARE)


@register(command, "compare", ("compare.model -m",), result=opt.RESULT_FILES, compare=CompareSettings)
def compare(
    settings: Settings,
    before: Annotated[Path, opt.argument("BEFORE", "The first automaton: .wfa, or .json of `export --format dfa`.")],
    after: Annotated[Path, opt.argument("AFTER", "The second automaton, with the same classes.")],
    corpus: opt.SomeCorpus = None,
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
    if {before.suffix.lower(), after.suffix.lower()} == {".json"}:
        _compare_dfas(before, after, settings)
        return
    models, least = settings.compare.model, settings.compare.min_agreement
    if corpus is None and (least is not None or models):
        raise InputError("give --corpus too: agreement and fidelity are measured on texts", code="option-conflict")
    if len(models) > 2:
        raise InputError(
            "--model is given twice at most: for the first automaton, and for the second", code="option-value"
        )
    first, second = (open_wfa(path, settings) for path in (before, after))
    texts = () if corpus is None else open_corpus(corpus, settings)
    names = [*models, None, None]
    found = robustness.compare(
        first,
        second,
        texts,
        models=(open_model(names[0], first, settings.texts), open_model(names[1], second, settings.texts)),
    )
    write_out(settings.out, found, f"{before.name} and {after.name}")
    print_result(found, settings.as_json, about={"before": str(before), "after": str(after)})
    if found.agreement is not None:
        exit_below("the share of texts on which they agree", found.agreement.cr.value, least, settings.as_json)


def _compare_dfas(before: Path, after: Path, settings: Settings) -> None:
    first, second = (robustness.read_machine(path)[0] for path in (before, after))
    word = robustness.shortest_difference(first, second)
    text = "they read all words alike" if word is None else f"read differently: {' '.join(word) or '(the empty word)'}"
    found = {"equal": word is None, "difference": None if word is None else list(word)}
    print_answer(found, text, settings.as_json)
    if word is not None:
        raise typer.Exit(1)
