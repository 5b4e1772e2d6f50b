"""`wfalens monitor`: watch a stream of texts, measure coverage of a test set, detect attacked texts."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wfalens.cli import options as opt
from wfalens.cli.config import Settings, new_group, register
from wfalens.cli.inputs import default_texts, extraction_texts, open_corpus, open_model, open_vectors, open_wfa
from wfalens.cli.library import monitoring
from wfalens.cli.output import check_outputs, exit_below, note, print_result, print_rows, say, write_out
from wfalens.errors import InputError
from wfalens.validation import Bounds, Options, option, whole

if TYPE_CHECKING:
    from wfalens.automaton import WFA
    from wfalens.text import Corpus

_SHOWN = 10
Reference = Annotated[
    str | None,
    opt.value(
        "--reference",
        "TEXTS",
        f"Usual texts, best such that the classifier was not trained on: {opt.CORPUS_HELP}",
        show_default="test texts of a known data set, else the extraction texts",
    ),
]
command = new_group("Watch a classifier with its automaton: a stream of texts, the coverage of a test set, attacks.")


@register(command, "watch", ("watch.false_alarms",), watch=monitoring.Alarms)
def watch(
    settings: Settings,
    automaton: opt.Automaton,
    model: opt.Model,
    corpus: opt.SomeCorpus = None,
    reference: Reference = None,
    detector: Annotated[Path | None, opt.value("--detector", "FILE")] = None,
    summaries: Annotated[bool, opt.flag("--summaries", panel=opt.OUTPUT)] = False,
) -> None:
    """Watch texts on standard input, or of --corpus: for every text, one line of JSON is printed.

    A line has the classifier's class, a p-value that the text is a usual one, and what raises an alarm. After every
    watch.window texts (1,000) there is a summary: whether the window raises an alarm, and which words and classes have
    drifted. Usual texts, and windows of them, raise an alarm at the rate of --false-alarms. Exits with 1 if a window
    raised one. A line that cannot be read is reported and skipped.

    Example, at the end of a pipe such as `tail -f titles.txt |`:
      wfalens monitor watch news.wfa --model news.rnn --reference usual.csv

    Args:
        detector: A detector of `wfalens monitor detect`.
        summaries: Print the summaries only.
    """
    wfa = open_wfa(automaton, settings)
    network = open_model(model, wfa, settings.texts)
    usual, is_training_set = _usual_texts(wfa, automaton, reference, settings)
    stream = io.BytesIO() if sys.stdin is None else sys.stdin.buffer  # it is None where the caller has closed it
    texts = stream if corpus is None else open_corpus(corpus, settings, labels=False)
    found = None if detector is None else monitoring.Detector.load(detector)
    options: dict[str, Any] = {
        "reference": usual,
        "is_training_set": is_training_set,
        "detector": found,
        "text_column": settings.texts.text_column,
        "seed": settings.seed,
    }
    lines = bad = alarms = 0
    for each in monitoring.watch(wfa, network, texts, settings.watch, **options):
        lines += "line" in each
        bad += "error" in each
        alarms += bool(each.get("window", {}).get("alarm"))
        if "window" in each or not summaries:
            sys.stdout.write(json.dumps(each) + "\n")
            sys.stdout.flush()
    if bad:
        note(f"{bad:,} of {lines:,} lines could not be read")
    if alarms:
        note(f"windows that raised an alarm: {alarms:,}")
        raise typer.Exit(1)


def _usual_texts(wfa: WFA, automaton: Path, reference: str | None, settings: Settings) -> tuple[Corpus, bool]:
    """The texts that are named, the test texts of a known data set, or the extraction texts; whether it is the last."""
    if reference is not None:
        return open_corpus(reference, settings, "test", labels=False), False
    known = default_texts(wfa, settings)
    if known is not None:
        return known, False
    found, missing = extraction_texts(wfa, settings, (automaton.parent,))
    if found is None:
        raise InputError(f"usual texts are needed, and {missing}: give --reference", code="no-texts")
    note(f"usual texts: {found.name}, of the extraction; with --reference, the classifier's confidence counts too")
    return found, True


@dataclass(frozen=True)
class CoverageSettings(Options):
    """[coverage]: texts that are made.

    Args:
        fill: Texts to generate for what is missing, if there is a classifier.
    """

    fill: int = option(1000, allowed=Bounds(whole, 0, 1 << 30))


@register(command, "coverage", result=opt.RESULT_FILES, coverage=CoverageSettings)
def coverage(
    settings: Settings,
    automaton: opt.Automaton,
    corpus: opt.Corpus,
    model: opt.SomeModel = None,
) -> None:
    """Which states and transitions of the automaton a set of texts exercises, and which it misses.

    A transition is a word cluster read in a state. With --model, texts that fill the gaps are generated and given to
    the classifier; a finding is one on which it contradicts a confident automaton. Random texts are tried beside them.
    With --model, -o writes these texts; else it writes the coverage.

    Example:
      wfalens monitor coverage news.wfa --corpus tests.csv --model news.rnn -o gaps.csv
    """
    wfa = open_wfa(automaton, settings)
    texts = open_corpus(corpus, settings, labels=False).texts
    classifier, fill = open_model(model, wfa, settings.texts), settings.coverage.fill
    found = monitoring.coverage(wfa, texts, model=classifier, fill=fill, seed=settings.seed)
    write_out(settings.out, found.gaps or found, f"{automaton.name}: coverage")
    print_result(found, settings.as_json, _SHOWN, {"automaton": str(automaton)})
    if not settings.as_json:
        print_rows("Transitions that no text exercises", found.missing_rows(_SHOWN))
        for sentence in [] if found.gaps is None else found.gaps.findings()[:_SHOWN]:
            say(sentence)


@register(command, "detect", detect=monitoring.DetectOptions)
def detect(
    settings: Settings,
    automaton: opt.Automaton,
    model: opt.Model,
    corpus: opt.Corpus,
    limit: opt.Limit = 2000,
    min_auroc: Annotated[float | None, opt.value("--min-auroc", "SHARE", min=0, max=1)] = None,
    out: Annotated[Path | None, opt.value("--out -o", "FILE", rich_help_panel=opt.OUTPUT)] = None,
    force: opt.Force = False,
) -> None:
    """Train a detector of attacked texts, and test it on attacks of other kinds.

    Half of the texts (which need labels) are attacked to train on, the other half to test. The detector is a logistic
    regression on how surprising a text is to the automaton, how rare its words are, how far network and automaton
    differ, and how much depends on single words.

    Example:
      wfalens monitor detect news.wfa --model news.rnn --corpus tagmynews \\
        -o detector.json

    Args:
        min_auroc: Exit with 1 if it is lower on any kind of attack.
        out: Write the detector (JSON) for `monitor watch`.
    """
    check_outputs(out, force=force)
    wfa, seed = open_wfa(automaton, settings), settings.seed
    texts, vectors = open_corpus(corpus, settings).sample(limit, seed), open_vectors(settings, wfa)
    network = open_model(model, wfa, settings.texts)
    found = monitoring.detect(wfa, network, texts, settings.detect, vectors=vectors, seed=seed)
    if out is not None:
        found.detector.save(out)
        note(f"wrote {out}")
    print_result(found, settings.as_json)
    known = [value for value in found.auroc.values() if value is not None]
    exit_below("the lowest AUROC", min(known, default=0.0), min_auroc, settings.as_json)
