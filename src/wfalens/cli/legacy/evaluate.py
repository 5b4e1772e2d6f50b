"""`wfalens evaluate`."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wfalens import progress
from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.evaluate_strings import evaluate_strings, print_strings
from wfalens.cli.legacy.groups import print_groups
from wfalens.cli.legacy.inputs import USUAL, Reader, check_share
from wfalens.cli.legacy.output import print_json, print_table, say
from wfalens.cli.legacy.reading import say_reading
from wfalens.cli.legacy.reference import Reference, extraction_texts
from wfalens.cli.legacy.streams import NO_SHARDS, Shards
from wfalens.errors import InputError
from wfalens.models.wrapping import wrap
from wfalens.storage import check_writable

if TYPE_CHECKING:
    from wfalens.automaton import WFA
    from wfalens.evaluation import Agreement, Fidelity, Selection, SelectiveFidelity

ANSWERS, GROUPS = "Answering only where it is sure", "Comparing groups"
_TOLD_COVERAGE = 0.8


@dataclass(frozen=True)
class Evaluated:
    """The fidelity of an automaton on a corpus; `parts` holds what was done in shards and may now be removed."""

    wfa: WFA
    corpus: str
    fidelity: Fidelity
    reference: Reference
    parts: Path | None = None


def evaluate_cli(
    automaton: opt.Automaton,
    model: opt.Model,
    corpus: opt.Corpus,
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            metavar="TEXTS",
            help="Texts to fit the bag-of-words stand-in on.",
            show_default="the extraction texts, if they are found",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="COLUMN",
            help="Compare the groups that a column of the texts names: agreement, and how often each class is chosen.",
            rich_help_panel=GROUPS,
        ),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(
            "--positive",
            metavar="CLASS",
            help="The class whose rates are compared.",
            show_default="of two the second, else all",
            rich_help_panel=GROUPS,
        ),
    ] = None,
    min_cr: Annotated[
        float | None,
        typer.Option("--min-cr", metavar="RATE", help="Exit with code 1 if the consistency rate is lower."),
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option(
            "--coverage",
            metavar="SHARE",
            help="Tell the --min-confidence at which that share of the texts is answered.",
            rich_help_panel=ANSWERS,
        ),
    ] = None,
    at_cr: Annotated[
        float | None,
        typer.Option(
            "--at-cr",
            metavar="RATE",
            help="Tell the lowest --min-confidence at which the answers reach that consistency rate (its lower bound).",
            rich_help_panel=ANSWERS,
        ),
    ] = None,
    min_confidence: Annotated[
        float | None,
        typer.Option(
            "--min-confidence",
            metavar="SHARE",
            help="Tell what is answered, and how well, at that confidence and above.",
            rich_help_panel=ANSWERS,
        ),
    ] = None,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    label_column: opt.LabelColumn = None,
    encoding: opt.Encoding = "utf-8",
    memory: opt.Memory = None,
    engine: opt.Engine = None,
    workers: opt.Workers = None,
    address: opt.Address = None,
    shard: opt.Shard = None,
    parts: Annotated[
        Path | None,
        typer.Option(
            "--parts",
            metavar="FOLDER",
            help="Holds what is done until the end.",
            show_default="one beside the automaton",
            rich_help_panel=opt.SHARDS,
        ),
    ] = None,
    on_bad: opt.OnBad = opt.STOP,
    log: opt.Log = None,
    as_json: opt.Json = False,
) -> None:
    """Measure how faithful an automaton is: consistency rate (CR) and divergence (JSD), each with its interval.

    CR is the share of texts on which automaton and classifier choose the same class; JSD is the mean Jensen-Shannon
    divergence of their outputs (0: equal, 0.69: opposite). A readable automaton in the file has a line of its own.

    Confidence is the probability of the automaton's likeliest class. A --min-confidence that was chosen by
    --coverage or --at-cr on some texts should be confirmed on others; `wfalens predict` takes it.

    With --by, agreement, selection rate, true- and false-positive rate of classifier and automaton are told for every
    value of a column (an empty one is a group of its own), with intervals, and the widest gaps first.

    An automaton of a language model is compared on all prefixes: divergence of the next symbols, perplexity, ranking,
    and the probabilities of whole texts, beside n-grams and the spectral method where --reference is given.

    A corpus that is larger than memory is read in shards with --memory, --engine or a pattern of files; the same
    command goes on after a stop. Stand-ins are then measured on a sample of the texts. Accuracy is told where all files
    have the column of labels.

    Examples:
      wfalens evaluate films.wfa -m films.rnn -c rotten_tomatoes --coverage 0.8
      wfalens evaluate mail.wfa -m mail.rnn -c mail_test.csv
      wfalens evaluate news.wfa -m news.rnn -c 'new/*.parquet' --memory 2GB
      wfalens evaluate mail.wfa -m mail.onnx -c mail.csv --by country
    """
    for option, value in (("--min-cr", min_cr), ("--min-confidence", min_confidence), ("--at-cr", at_cr)):
        check_share(option, value)
    if coverage is not None and not 0 < coverage <= 1:
        raise InputError(f"--coverage must be a share above 0 and at most 1, not {coverage}")
    reader = Reader(data, text_column, label_column, encoding)
    language = _of_language_model(automaton)
    if language is not None:
        if any(value is not None for value in (min_cr, coverage, at_cr, min_confidence, memory, engine)):
            raise InputError(
                "an automaton of a language model is measured on all prefixes: leave out --min-cr, --coverage, "
                "--at-cr, --min-confidence, --memory and --engine"
            )
        measured = evaluate_strings(language, model, corpus, reference=reference, reader=reader)
        if as_json:
            print_json(measured.to_json(automaton))
        else:
            print_strings(automaton.name, measured)
            _print_tuning(language)
        return
    done = evaluate(
        automaton,
        model,
        corpus,
        reference=reference,
        by=by,
        positive=positive,
        parts=parts,
        reader=reader,
        shards=Shards(
            memory=memory, engine=engine, workers=workers, address=address, shard=shard, on_bad=on_bad, log=log
        ),
    )
    selected = _selected(done.fidelity.selective, coverage, at_cr, min_confidence)
    rate = done.fidelity.overall.cr.value
    failed = min_cr is not None and rate < min_cr
    if as_json:
        print_json(_told(automaton, done, selected))
    else:
        _print(automaton.name, done, selected)
        if failed:
            say(f"CR {rate:.3f} is below {min_cr:.3f}")
    if done.parts is not None:
        shutil.rmtree(done.parts)
    if failed:
        raise typer.Exit(1)


def _of_language_model(automaton: Path) -> WFA | None:
    """The automaton, if it is one of a language model."""
    from wfalens.automaton import WFA
    from wfalens.models.contract import is_language_model

    wfa = WFA.load(automaton)
    return wfa if is_language_model(wfa) else None


def evaluate(
    automaton: Path,
    model: str,
    corpus: str,
    *,
    reference: str | None = None,
    by: str | None = None,
    positive: str | None = None,
    parts: Path | None = None,
    reader: Reader = USUAL,
    shards: Shards = NO_SHARDS,
) -> Evaluated:
    """Compare an automaton with a classifier on a corpus.

    The bag of words learns from the texts of `reference`, else from those that the automaton was extracted from. `by`
    names a column of the texts whose groups are compared, by the rates of the class `positive`.
    """
    from wfalens.automaton import WFA
    from wfalens.evaluation import measure_fidelity

    in_shards = shards.wanted_for(corpus)
    if positive is not None and by is None:
        raise InputError("--positive chooses the class whose rates are compared by group; name the groups with --by")
    if in_shards and by is not None:
        raise InputError("--by compares groups of texts in memory; leave out --memory and --engine, and give one file")
    kept = _parts_folder(automaton, model, corpus) if parts is None else parts
    if in_shards and not kept.exists():
        _check_parts(kept)
    wfa = WFA.load(automaton)
    classifier = wrap(model, vocab=wfa.encoder)
    made_from = wfa.provenance.get("model")
    if not isinstance(made_from, dict) or made_from.get("fingerprint") != classifier.fingerprint:
        progress.say(f"{automaton} was extracted from another model than {model}")
    fit_on = _reference(wfa, reference, (automaton.parent, Path(corpus).parent), reader)
    if in_shards:
        source = reader.source(corpus, "test")
        with shards.opened(kept, model) as run:
            fidelity = measure_fidelity(wfa, classifier, source, reference=fit_on.corpus, run=run)
        return Evaluated(wfa, source.name, fidelity, fit_on, kept)
    texts = reader.corpus(corpus, "test")
    say_reading(classifier, texts, lambda: texts)
    groups = None if by is None else reader.groups(corpus, by, texts)
    fidelity = measure_fidelity(
        wfa,
        classifier,
        texts,
        reference=fit_on.corpus,
        groups=groups,
        group_column=by or "",
        positive=positive,
    )
    return Evaluated(wfa, texts.name, fidelity, fit_on)


def _reference(
    wfa: WFA,
    named: str | None,
    beside: tuple[Path, ...],
    reader: Reader,
) -> Reference:
    if named is not None:
        return Reference.given(named, reader)
    return extraction_texts(wfa, reader, beside)


def print_fidelity(title: str, fidelity: Fidelity) -> None:
    """All that is known about a fidelity, in tables."""

    def row(name: str, item: Agreement) -> list[str]:
        return [name, f"{item.texts:,}", f"{item.cr:.3f}", f"{item.jsd:.3f}"]

    columns = ["", "texts", "CR [95 %]", "JSD [95 %]"]
    rows = [row("automaton, all texts", fidelity.overall)]
    rows += [] if fidelity.readable is None else [row("its readable automaton", fidelity.readable)]
    rows += [row(f"stand-in: {name}", item) for name, item in fidelity.baselines.items()]
    print_table(title, columns, rows)
    for name, groups in (
        ("By the model's class", fidelity.by_class),
        ("By length", fidelity.by_length),
        ("By rare words", fidelity.by_rare_words),
    ):
        print_table(name, columns, [row(group, item) for group, item in groups.items()])
    if fidelity.by_group is not None:
        print_groups(fidelity.by_group)
    deciles = [
        [
            {1: "least sure tenth", 10: "surest tenth"}.get(each.number, f"{each.number}"),
            f"{each.texts:,}",
            f"{each.confidence:.3f}",
            f"{each.cr:.3f}",
        ]
        for each in fidelity.selective.deciles
    ]
    print_table("By confidence", ["", "texts", "mean confidence", "CR [95 %]"], deciles)
    say(f"allowed to be unsure, it {_answers(fidelity.selective.at_coverage(_TOLD_COVERAGE))}")
    if fidelity.undecided:
        say(f"undecided on {fidelity.undecided:,} texts (all mass met missing rows)")
    if fidelity.model_accuracy and fidelity.automaton_accuracy:
        say(f"accuracy: model {fidelity.model_accuracy:.3f}, automaton {fidelity.automaton_accuracy:.3f}")


def _parts_folder(automaton: Path, model: str, corpus: str) -> Path:
    """Where the same command finds what it has done; evaluations on other texts go elsewhere."""
    told = hashlib.sha256("\0".join((model, corpus)).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return automaton.with_name(f"{automaton.name}.evaluation-{told}")


def _check_parts(folder: Path) -> None:
    try:
        check_writable(folder)
    except InputError:
        raise InputError(f"cannot write into {folder.parent}; name a folder for what is done with --parts") from None


def _told(automaton: Path, done: Evaluated, selected: dict[str, tuple[Selection | None, str]]) -> dict[str, Any]:
    return {
        "automaton": str(automaton),
        "corpus": done.corpus,
        "verdict": done.fidelity.verdict,
        **done.fidelity.to_dict(),
        "weak_stand_in": done.reference.missing or None,
        "selected": {name: None if found is None else asdict(found) for name, (found, _) in selected.items()},
        "choice": done.wfa.provenance.get("choice"),
        "tuning": done.wfa.provenance.get("tuning"),
        "queries": done.wfa.provenance.get("queries"),
    }


def _print(name: str, done: Evaluated, selected: dict[str, tuple[Selection | None, str]]) -> None:
    from wfalens.extraction.query_budget import query_sentence

    say(done.fidelity.verdict)
    print_fidelity(f"{name} on {done.corpus}", done.fidelity)
    if done.reference.missing:
        say(f"the bag of words is a weak opponent here: {done.reference.missing}; name texts with --reference")
    for _, sentence in selected.values():
        say(sentence)
    _print_tuning(done.wfa)
    asked = query_sentence(done.wfa.provenance.get("queries"))
    if asked:
        say(asked)


def _print_tuning(wfa: WFA) -> None:
    """The curve of an automatic choice: the best setting for every number of states that was tried."""
    from wfalens.extraction.stochastic.tuning import Tuning

    tuning = Tuning.from_dict(wfa.provenance.get("tuning"))
    if tuning is None:
        return
    rows = [
        [
            ("→ " if trial is tuning.chosen else "  ") + trial.abstraction,
            f"{trial.states}",
            f"{trial.alpha:g}",
            "" if trial.beta is None else f"{trial.beta:.2f}",
            f"{trial.cr:.3f}",
            f"{trial.jsd:.4f}",
            f"{trial.bytes / 1e6:.1f}",
        ]
        for trial in tuning.curve
    ]
    title = f"Chosen on {tuning.texts:,} held-out extraction texts: the best α and β for each K"
    print_table(title, ["abstraction", "K", "α", "β", "CR", "JSD", "MB (about)"], rows)


def _selected(
    selective: SelectiveFidelity, coverage: float | None, at_cr: float | None, min_confidence: float | None
) -> dict[str, tuple[Selection | None, str]]:
    """What was asked for about answering only some texts, each with a sentence for people."""
    found: dict[str, tuple[Selection | None, str]] = {}
    if coverage is not None:
        chosen = selective.at_coverage(coverage)
        found["coverage"] = chosen, f"with --min-confidence {chosen.min_confidence:.9f} it {_answers(chosen)}"
    if at_cr is not None:
        reached = selective.at_rate(at_cr)
        found["at_cr"] = (
            reached,
            (
                f"no confidence makes the lower bound of CR reach {at_cr:g} on these texts"
                if reached is None
                else f"with --min-confidence {reached.min_confidence:.9f} it {_answers(reached)}"
            ),
        )
    if min_confidence is not None:
        above = selective.at_confidence(min_confidence)
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
