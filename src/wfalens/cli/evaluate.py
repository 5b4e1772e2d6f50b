"""`wfalens evaluate`."""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wfalens.cli.app import app
from wfalens.cli.common import (
    MODEL_HELP,
    OUT,
    CorpusOption,
    DataOption,
    EncodingOption,
    JsonOption,
    LabelColumnOption,
    TerminalProgress,
    TextColumnOption,
    check_share,
    note,
    open_corpus,
    open_model,
    print_json,
    print_table,
    say,
)
from wfalens.cli.streams import (
    STOP,
    AddressOption,
    BadOption,
    EngineOption,
    LogOption,
    MemoryOption,
    ShardOption,
    WorkersOption,
    opened_engine,
    opened_stream,
    text_files,
    wants_stream,
)
from wfalens.errors import InputError
from wfalens.extraction.choice.tuning import Tuning
from wfalens.extraction.completion.queries import query_sentence

if TYPE_CHECKING:
    from wfalens.automaton import WFA
    from wfalens.evaluation import Agreement, Fidelity, Selection, Trust

_TOLD_COVERAGE = 0.8


@app.command()
def evaluate(
    automaton: Annotated[Path, typer.Argument(help="The automaton: a .wfa file.")],
    model: Annotated[
        str, typer.Option("--model", "-m", help=f"The classifier that it was extracted from: {MODEL_HELP}")
    ],
    corpus: CorpusOption,
    reference: Annotated[
        str | None,
        typer.Option("--reference", help="Texts to fit the bag-of-words stand-in on (best: the extraction texts)."),
    ] = None,
    min_cr: Annotated[
        float | None,
        typer.Option("--min-cr", help="Leave with exit code 1 if the consistency rate is lower."),
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option("--coverage", help="Tell the --min-confidence at which that share of the texts is answered."),
    ] = None,
    at_cr: Annotated[
        float | None,
        typer.Option(
            "--at-cr",
            help="Tell the lowest --min-confidence at which the answers reach that consistency rate (its lower bound).",
        ),
    ] = None,
    min_confidence: Annotated[
        float | None,
        typer.Option("--min-confidence", help="Tell what is answered, and how well, at that confidence and above."),
    ] = None,
    data: DataOption = None,
    text_column: TextColumnOption = "text",
    label_column: LabelColumnOption = None,
    encoding: EncodingOption = "utf-8",
    memory: MemoryOption = None,
    engine: EngineOption = None,
    workers: WorkersOption = None,
    address: AddressOption = None,
    shard: ShardOption = None,
    parts: Annotated[
        Path | None,
        typer.Option(
            "--parts",
            help="Folder that holds what is done of a corpus in shards, until the end (default: one beside the "
            "automaton).",
        ),
    ] = None,
    on_bad: BadOption = STOP,
    log: LogOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how faithful an automaton is: consistency rate and divergence, with 95 % intervals.

    CR is the share of texts on which automaton and classifier choose the same class; JSD is the mean
    Jensen-Shannon divergence of their outputs (0: equal, 0.69: opposite).

    Confidence is the automaton's margin between its two likeliest classes. A --min-confidence chosen by --coverage or
    --at-cr on some texts should be confirmed on others; `wfalens predict` takes it.

    A corpus that is larger than memory is read in shards with --memory, --engine or a pattern of files; the same
    command goes on after a stop. Stand-ins are then measured on a sample of the texts. Accuracy is told where all files
    have the column of labels.

    Examples: wfalens evaluate films.wfa --model films.rnn --corpus rotten_tomatoes:test

    Any size: wfalens evaluate news.wfa --model news.rnn -c 'held-out/*.parquet' --memory 2GB
    """
    from wfalens.automaton import WFA
    from wfalens.evaluation import measure_fidelity

    check_share("--min-cr", min_cr)
    check_share("--min-confidence", min_confidence)
    check_share("--at-cr", at_cr)
    if coverage is not None and not 0 < coverage <= 1:
        raise InputError(f"--coverage must be a share above 0 and at most 1, not {coverage}")
    files = text_files(corpus, text_column, encoding) if wants_stream(corpus, memory, engine) else None
    kept = _parts_folder(automaton, model, corpus) if parts is None else parts
    if files is not None and not os.access(kept.parent, os.W_OK):
        raise InputError(f"cannot write into {kept.parent}; name a folder for what is done with --parts")
    wfa = WFA.load(automaton)
    classifier = open_model(model, wfa.encoder)
    made_from = wfa.provenance.get("model")
    if not isinstance(made_from, dict) or made_from.get("fingerprint") != classifier.fingerprint:
        note(f"{automaton} was extracted from another model than {model}")
    fit_on = open_corpus(reference, "train", data, text_column, label_column, encoding) if reference else None
    if files is None:
        texts = open_corpus(corpus, "test", data, text_column, label_column, encoding)
        name = texts.name
        fidelity = measure_fidelity(wfa, classifier, texts, reference=fit_on, progress=TerminalProgress())
    else:
        name = files.name
        with (
            opened_engine(engine, workers, memory, address) as chosen,
            opened_stream(kept, chosen, memory, shard, on_bad, log, model) as run,
        ):
            source = replace(files, label_column=label_column)
            fidelity = measure_fidelity(wfa, classifier, source, reference=fit_on, run=run, progress=TerminalProgress())
    selected = _selected(fidelity.trust, coverage, at_cr, min_confidence)
    failed = min_cr is not None and fidelity.overall.cr.value < min_cr
    if as_json:
        tuning = wfa.provenance.get("tuning")
        told = {name: None if found is None else asdict(found) for name, (found, _) in selected.items()}
        print_json(
            {
                "automaton": str(automaton),
                "corpus": name,
                **fidelity.to_json(),
                "selected": told,
                "tuning": tuning,
                "queries": wfa.provenance.get("queries"),
            }
        )
    else:
        print_fidelity(f"{automaton.name} on {name}", fidelity)
        for _, sentence in selected.values():
            say(sentence)
        print_tuning(wfa)
        asked = query_sentence(wfa.provenance.get("queries"))
        if asked:
            say(asked)
        if failed:
            typer.echo(f"CR {fidelity.overall.cr.value:.3f} is below {min_cr:.3f}")
    if files is not None:
        shutil.rmtree(kept)
    if failed:
        raise typer.Exit(1)


def _parts_folder(automaton: Path, model: str, corpus: str) -> Path:
    """Where the same command finds what it has done; evaluations on other texts go elsewhere."""
    told = hashlib.sha256("\0".join((model, corpus)).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return automaton.with_name(f"{automaton.name}.evaluation-{told}")


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


def _selected(
    trust: Trust, coverage: float | None, at_cr: float | None, min_confidence: float | None
) -> dict[str, tuple[Selection | None, str]]:
    """What was asked for about answering only some texts, each with a sentence for people."""
    found: dict[str, tuple[Selection | None, str]] = {}
    if coverage is not None:
        chosen = trust.at_coverage(coverage)
        found["coverage"] = chosen, f"with --min-confidence {chosen.min_confidence:.9f} it {_answers(chosen)}"
    if at_cr is not None:
        reached = trust.at_rate(at_cr)
        found["at_cr"] = (
            reached,
            (
                f"no confidence makes the lower bound of CR reach {at_cr:g} on these texts"
                if reached is None
                else f"with --min-confidence {reached.min_confidence:.9f} it {_answers(reached)}"
            ),
        )
    if min_confidence is not None:
        above = trust.at_confidence(min_confidence)
        found["min_confidence"] = (
            above,
            (
                f"it answers no text at a confidence of {min_confidence:g}"
                if above is None
                else f"with --min-confidence {min_confidence:g} it {_answers(above)}"
            ),
        )
    return found


def _answers(chosen: Selection) -> str:
    return f"answers {chosen.coverage:.1%} of the texts at CR {chosen.cr:.3f}"


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
    deciles = [
        [
            {1: "least sure tenth", 10: "surest tenth"}.get(each.number, f"{each.number}"),
            f"{each.texts:,}",
            f"{each.confidence:.3f}",
            f"{each.cr:.3f}",
        ]
        for each in fidelity.trust.deciles
    ]
    print_table("By confidence", ["", "texts", "mean confidence", "CR [95 %]"], deciles)
    say(f"allowed to be unsure, it {_answers(fidelity.trust.at_coverage(_TOLD_COVERAGE))}")
    if fidelity.undecided:
        OUT.print(f"undecided on {fidelity.undecided:,} texts (all mass met missing rows)")
    if fidelity.model_accuracy and fidelity.automaton_accuracy:
        OUT.print(f"accuracy: model {fidelity.model_accuracy:.3f}, automaton {fidelity.automaton_accuracy:.3f}")
