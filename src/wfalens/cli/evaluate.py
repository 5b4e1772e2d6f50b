"""`wfalens evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wfalens.cli.app import app
from wfalens.cli.common import (
    OUT,
    CorpusOption,
    DataOption,
    EncodingOption,
    JsonOption,
    LabelColumnOption,
    TerminalProgress,
    TextColumnOption,
    note,
    open_corpus,
    open_model,
    print_json,
    print_table,
)
from wfalens.errors import InputError
from wfalens.extraction.tuning import Tuning

if TYPE_CHECKING:
    from wfalens.automaton import WFA
    from wfalens.evaluation import Agreement, Fidelity


@app.command()
def evaluate(
    automaton: Annotated[Path, typer.Argument(help="The automaton: a .wfa file.")],
    model: Annotated[Path, typer.Option("--model", "-m", help="The classifier that it was extracted from.")],
    corpus: CorpusOption,
    reference: Annotated[
        str | None,
        typer.Option("--reference", help="Texts to fit the bag-of-words stand-in on (best: the extraction texts)."),
    ] = None,
    min_cr: Annotated[
        float | None,
        typer.Option("--min-cr", help="Leave with exit code 1 if the consistency rate is lower."),
    ] = None,
    data: DataOption = None,
    text_column: TextColumnOption = "text",
    label_column: LabelColumnOption = None,
    encoding: EncodingOption = "utf-8",
    as_json: JsonOption = False,
) -> None:
    """Measure how faithful an automaton is: consistency rate and divergence, with 95 % intervals.

    CR is the share of texts on which automaton and classifier choose the same class; JSD is the mean
    Jensen-Shannon divergence of their outputs (0: equal, 0.69: opposite).

    Example: wfalens evaluate films.wfa --model films.rnn --corpus rotten_tomatoes:test
    """
    from wfalens.automaton import WFA
    from wfalens.evaluation import measure_fidelity

    if min_cr is not None and not 0 <= min_cr <= 1:
        raise InputError(f"--min-cr must lie between 0 and 1, not {min_cr}")
    wfa = WFA.load(automaton)
    classifier = open_model(model)
    made_from = wfa.provenance.get("model")
    if not isinstance(made_from, dict) or made_from.get("fingerprint") != classifier.fingerprint:
        note(f"{automaton} was extracted from another model than {model}")
    texts = open_corpus(corpus, "test", data, text_column, label_column, encoding)
    fit_on = open_corpus(reference, "train", data, text_column, label_column, encoding) if reference else None
    fidelity = measure_fidelity(wfa, classifier, texts, reference=fit_on, progress=TerminalProgress())
    failed = min_cr is not None and fidelity.overall.cr.value < min_cr
    if as_json:
        tuning = wfa.provenance.get("tuning")
        print_json({"automaton": str(automaton), "corpus": texts.name, **fidelity.to_json(), "tuning": tuning})
    else:
        print_fidelity(f"{automaton.name} on {texts.name}", fidelity)
        print_tuning(wfa)
        if failed:
            typer.echo(f"CR {fidelity.overall.cr.value:.3f} is below {min_cr:.3f}")
    if failed:
        raise typer.Exit(1)


def print_tuning(wfa: WFA) -> None:
    """The curve of an automatic choice: the best setting for every number of states that was tried."""
    tuning = Tuning.from_json(wfa.provenance.get("tuning"))
    if tuning is None:
        return
    rows = [
        [
            ("→ " if trial is tuning.chosen else "  ") + trial.abstraction,
            f"{trial.states}",
            f"{trial.alpha:g}",
            "" if trial.beta is None else f"{trial.beta:.2f}",
            f"{trial.cr:.3f}",
            f"{trial.jsd:.3f}",
            f"{trial.bytes / 1e6:.1f}",
        ]
        for trial in tuning.curve
    ]
    title = f"Chosen on {tuning.texts:,} held-out extraction texts: the best α and β for each K"
    print_table(title, ["abstraction", "K", "α", "β", "CR", "JSD", "MB (about)"], rows)


def print_fidelity(title: str, fidelity: Fidelity) -> None:
    def row(name: str, item: Agreement) -> list[str]:
        return [name, f"{item.texts:,}", f"{item.cr:.3f}", f"{item.jsd:.3f}"]

    columns = ["", "texts", "CR [95 %]", "JSD [95 %]"]
    rows = [row("automaton, all texts", fidelity.overall)]
    rows += [row(f"stand-in: {name}", item) for name, item in fidelity.stand_ins.items()]
    print_table(title, columns, rows)
    for name, groups in (
        ("By the model's class", fidelity.by_class),
        ("By length", fidelity.by_length),
        ("By rare words", fidelity.by_rare_words),
    ):
        print_table(name, columns, [row(group, item) for group, item in groups.items()])
    if fidelity.undecided:
        OUT.print(f"undecided on {fidelity.undecided:,} texts (all mass met missing rows)")
    if fidelity.model_accuracy and fidelity.automaton_accuracy:
        OUT.print(f"accuracy: model {fidelity.model_accuracy:.3f}, automaton {fidelity.automaton_accuracy:.3f}")
