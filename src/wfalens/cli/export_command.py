"""`wfalens export`: an automaton for other tools, or as a minimal deterministic automaton."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from wfalens.cli import options as opt
from wfalens.cli.config import Settings, new_group, register
from wfalens.cli.inputs import chosen_words, open_corpus, open_model, open_wfa
from wfalens.cli.library import export, robustness
from wfalens.cli.output import check_outputs, print_result
from wfalens.errors import InputError
from wfalens.validation import Bounds, Options, option, real, whole

DFA = "dfa"
command = new_group()


@dataclass(frozen=True)
class ExportSettings(Options):
    """[export]: what is written.

    Args:
        states: States to export, such as 0,3,7-12; state 0 is always among them.
        class_name: openfst: the class whose weights are written.
        threshold: Leave out weights below this, and scale the rows up again.
        flows: dot: how many flows to draw; 0: all.
        bits: js, c: bits of a weight, 8, 16 or 32.
        max_bytes: js, c: size at most, such as 64k; words that matter least are left out, and of a linear automaton
            the readable one may be written.
        texts: js, c: texts on which the cost of rounding is measured; else random words of the extraction texts.
    """

    states: str | None = option(None)
    class_name: str | None = option(None)
    threshold: float = option(0.0, allowed=Bounds(real, 0, 1))
    flows: int | None = option(None, allowed=Bounds(whole, 0, 1 << 40, (None,)))
    bits: int | None = option(None, allowed=Bounds(whole, 8, 32, (None,)))
    max_bytes: str | None = option(None)
    texts: str | None = option(None)


@dataclass(frozen=True)
class DfaSettings(Options):
    """[dfa]: how a deterministic automaton is learned.

    Args:
        algorithm: lstar, kv: learn by queries (AALpy); likely: the likeliest state of a stochastic automaton
            after each letter.
        states: States at most.
        partial: Where more are needed, write a partial automaton with its error.
        corpus: Texts from which half of the test words are made; else all are random.
        samples: Fresh words on which it is tested.
    """

    algorithm: str = option("lstar", allowed=("lstar", "kv", "likely"))
    states: int = option(200, allowed=Bounds(whole, 1, 1 << 30))
    partial: bool = option(False)
    corpus: str | None = option(None)
    samples: int = option(2000, allowed=Bounds(whole, 10, 1 << 30))


@register(command, "export", ("export.bits", "export.max_bytes"), export=ExportSettings, dfa=DfaSettings)
def export_automaton(
    settings: Settings,
    source: Annotated[str, opt.argument("AUTOMATON", "The automaton, a .wfa file; for dfa also a classifier.")],
    out: Annotated[Path, opt.value("--out -o", "FILE", "The file to write; others may be written beside it.")],
    format_name: Annotated[str | None, opt.value("--format", "NAME", show_default="by the ending of the file")] = None,
    words: opt.Words = None,
    force: opt.Force = False,
) -> None:
    """Write an automaton for another tool: Graphviz, OpenFst, PRISM, Storm, onnxruntime, AALpy, JSON, JavaScript or C.

    Rows sum to 1 after writing: mass that null completion or a choice of words and states left without a target goes
    to an extra state "lost". A linear automaton goes to dot, json and onnx; formats of probabilities get its readable
    automaton instead. For model checkers, extract with --method stochastic.

    js and c are programs: a module or a C99 file that predicts and explains texts without anything else.

    dfa makes a minimal deterministic automaton of an automaton or a classifier: states differ by the classes of their
    continuations. It reports on how many fresh words the two agree, with 95 % confidence.

    Examples:
      wfalens export films.wfa --words top:500 -o films.drn
      wfalens export films.wfa -o films.js -C export.bits=8 -C export.max_bytes=64k
      wfalens export tomita.wfa --format dfa -o tomita.dot
      wfalens export tomita.rnn --format dfa -o tomita.json -C dfa.algorithm=kv

    Args:
        format_name: dot, openfst, prism, drn, json, onnx, aalpy, js or c; dfa: a minimal deterministic automaton (.dot,
            .json).
    """
    check_outputs(out, force=force)
    if format_name == DFA:
        print_result(_learned(source, out, words, settings), settings.as_json, about={"out": str(out)})
        return
    wfa, how = open_wfa(Path(source), settings), settings.export
    given = {"class_name": how.class_name, "bits": how.bits, "max_bytes": how.max_bytes}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if how.texts is not None:
        options["texts"] = open_corpus(how.texts, settings, "test", labels=False).texts
    if how.flows is not None:
        options["flows"] = how.flows or None  # 0: all
    made = export.export_files(
        wfa,
        out,
        format_name or export.format_of(out),
        words=chosen_words(words, wfa),
        states=None if how.states is None else _numbers(how.states),
        threshold=how.threshold,
        **options,
    )
    check_outputs(*made.files, force=force)
    print_result(made.write(), settings.as_json)


def _learned(source: str, out: Path, words: list[str] | None, settings: Settings) -> Any:
    """A deterministic automaton of an automaton or a classifier, written to `out`."""
    how, is_automaton = settings.dfa.to_dict(), Path(source).suffix.lower() == ".wfa"
    model: Any = open_wfa(Path(source), settings) if is_automaton else open_model(source)
    corpus = how.pop("corpus")
    texts = None if corpus is None else open_corpus(corpus, settings, "train", labels=False).texts
    learned = robustness.learn_machine(
        model,
        None if words is None else [word for some in words for word in some.split()],
        texts=None if texts is None else model.encoder.encode(texts).nonempty()[1],
        seed=settings.seed,
        **how,
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
