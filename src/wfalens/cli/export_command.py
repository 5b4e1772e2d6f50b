"""`wfalens export`: an automaton for other tools, or as a minimal deterministic automaton."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from wfalens.cli import options as opt
from wfalens.cli.config import Reading, new_group, register
from wfalens.cli.inputs import chosen_words, open_corpus, open_model, open_wfa
from wfalens.cli.library import export, robustness
from wfalens.cli.output import check_outputs, print_result
from wfalens.errors import InputError
from wfalens.validation import Bounds, Options, option, real, whole

DFA = "dfa"
command = new_group()


@dataclass(frozen=True)
class ExportSettings(Options):
    """[export]: what is written."""

    states: str | None = option(None, "States to export, such as 0,3,7-12; state 0 is always among them.")
    threshold: float = option(0.0, "Leave out weights below this, and scale the rows up again.", Bounds(real, 0, 1))
    flows: int | None = option(None, "dot: how many flows to draw; 0: all.", Bounds(whole, 0, 1 << 40, (None,)))


@dataclass(frozen=True)
class DfaSettings(Options):
    """[dfa]: how a deterministic automaton is learned."""

    algorithm: str = option(
        "lstar",
        "lstar, kv: learn by queries (AALpy); likely: the likeliest state of a stochastic automaton after each letter.",
        ("lstar", "kv", "likely"),
    )
    states: int = option(200, "States at most.", Bounds(whole, 1, 1 << 30))
    partial: bool = option(False, "Where more are needed, write a partial automaton with its error.")
    corpus: str | None = option(None, "Texts from which half of the test words are made; else all are random.")
    samples: int = option(2000, "Fresh words on which it is tested.", Bounds(whole, 10, 1 << 30))


@register(command, "export", lambda: {"texts": Reading, "export": ExportSettings, "dfa": DfaSettings})
def export_automaton(
    source: Annotated[str, opt.argument("AUTOMATON", "The automaton, a .wfa file; for dfa also a classifier.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The file to write; others may be written beside it.")
    ],
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="dot, openfst, prism, drn, json, onnx or aalpy; dfa: a minimal deterministic automaton (.dot, .json).",
            show_default="by the ending of the file",
        ),
    ] = None,
    words: opt.Words = None,
    class_name: Annotated[
        str | None, typer.Option("--class", metavar="CLASS", help="openfst: the class whose weights are written.")
    ] = None,
    force: opt.Force = False,
    config: opt.Config = None,  # type: ignore[assignment]
    as_json: opt.Json = False,
) -> None:
    """Write an automaton for another tool: Graphviz, OpenFst, PRISM, Storm, onnxruntime, AALpy, or as JSON.

    Rows sum to 1 after writing: mass that null completion or a choice of words and states left without a target goes
    to an extra state "lost". A linear automaton goes to dot, json and onnx; formats of probabilities get its readable
    automaton instead. For model checkers, extract with --method stochastic.

    dfa makes a minimal deterministic automaton of an automaton or a classifier: states differ by the classes of their
    continuations. It reports on how many fresh words the two agree, with 95 % confidence.

    Examples:
      wfalens export films.wfa --words top:500 -o films.drn
      wfalens export tomita.wfa --format dfa -o tomita.dot
      wfalens export tomita.rnn --format dfa -o tomita.json -C dfa.algorithm=kv
    """
    check_outputs(out, force=force)
    if format_name == DFA:
        print_result(_learned(source, out, words, config), as_json, about={"out": str(out)})
        return
    name = format_name or export.format_of(out)
    wfa, settings = open_wfa(Path(source), config.texts), config.export
    options: dict[str, Any] = {"class_name": class_name, "flows": settings.flows or None}
    options = {key: value for key, value in options.items() if value is not None}
    if settings.flows == 0:
        options["flows"] = None
    made = export.export_files(
        wfa,
        out,
        name,
        words=chosen_words(words, wfa, config.texts.encoding),
        states=None if settings.states is None else _numbers(settings.states),
        threshold=settings.threshold,
        **options,
    )
    check_outputs(*made.files, force=force)
    print_result(made.write(), as_json)


def _learned(source: str, out: Path, words: list[str] | None, config: Any) -> Any:
    """A deterministic automaton of an automaton or a classifier, written to `out`."""
    settings: DfaSettings = config.dfa
    is_automaton = Path(source).suffix.lower() == ".wfa"
    model: Any = open_wfa(Path(source), config.texts) if is_automaton else open_model(source)
    texts = None if settings.corpus is None else open_corpus(settings.corpus, config.texts, "train", labels=False).texts
    learned = robustness.learn_machine(
        model,
        None if words is None else [word for some in words for word in some.split()],
        algorithm=settings.algorithm,
        states=settings.states,
        partial=settings.partial,
        texts=None if texts is None else model.encoder.encode(texts).nonempty()[1],
        samples=settings.samples,
        seed=config.common.seed,
    )
    learned.save(out, source=Path(source).name)
    return learned


def _numbers(spec: str) -> list[int]:
    """Numbers and ranges, such as 0,3,7-12."""
    numbers: list[int] = []
    for part in spec.split(","):
        found = re.fullmatch(r"\s*(\d{1,6})(?:-(\d{1,6}))?\s*", part)
        if not found:
            raise InputError(f"states are numbers and ranges such as 0,3,7-12, not {spec!r}", code="option-value")
        numbers += range(int(found[1]), int(found[2] or found[1]) + 1)
    return numbers
