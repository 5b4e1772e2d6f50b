"""`wfalens minimise`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.files import check_outputs
from wfalens.cli.legacy.inputs import USUAL, Reader
from wfalens.cli.legacy.output import print_json, print_table, say
from wfalens.errors import InputError
from wfalens.validation import check_choice

if TYPE_CHECKING:
    from wfalens.robustness import LearnedMachine

ASK = "lstar"
WAYS = (ASK, "likely", "kv")
_SHOWN_STATES = 20


@dataclass(frozen=True)
class Minimised:
    """A machine that was learned, its classes, and how the one of `--compare` differs, if it was given."""

    learned: LearnedMachine
    compared: Compared | None = None


@dataclass(frozen=True)
class Compared:
    """The shortest word that two machines read differently; None: they read all words alike."""

    difference: tuple[str, ...] | None


def minimise_cli(
    source: Annotated[str, opt.argument("FILE", f"An automaton (.wfa), or the classifier itself: {opt.MODEL_HELP}")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write the machine: .dot (Graphviz) or .json (all of it)."),
    ] = None,
    way: Annotated[
        str,
        typer.Option(
            metavar="WAY",
            help="lstar or kv: learn by queries (AALpy); likely: the likeliest state after every letter of a "
            "stochastic automaton.",
        ),
    ] = ASK,
    states: Annotated[int, typer.Option("--states", "-k", metavar="N", min=1, help="At most so many states.")] = 200,
    partial: Annotated[
        bool, opt.flag("--partial", help="Where more are needed, deliver a partial machine with its error.")
    ] = False,
    letters: Annotated[
        str | None,
        typer.Option(metavar="WORDS", help="The words it reads, with spaces.", show_default="all words, at most 100"),
    ] = None,
    corpus: opt.SomeCorpus = None,
    compare: Annotated[
        Path | None,
        typer.Option(
            "--compare",
            metavar="FILE",
            help="Another machine (.json): a word they read differently, and exit code 1 if there is one.",
        ),
    ] = None,
    samples: Annotated[
        int, typer.Option(metavar="N", min=10, help="Fresh words by which the machine is judged.")
    ] = 2000,
    seed: opt.Seed = 0,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    encoding: opt.Encoding = "utf-8",
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Make a minimal deterministic machine of an automaton or of a classifier.

    States are distinguished by the classes of their continuations. It ends with a statement: on how many words drawn
    like the sample the machine gives the same class, with 95 % confidence. With --corpus half of these words are texts
    of the corpus with a few letters changed; else all are random.

    Examples:
      wfalens minimise tomita.wfa -o tomita.dot
      wfalens minimise tomita.rnn --way kv --json
      wfalens minimise grammar.wfa --states 50 --partial -o small.json
    """
    check_outputs(out, force=force)
    done = minimise(
        source,
        out,
        way=way,
        states=states,
        partial=partial,
        letters=None if letters is None else letters.split(),
        corpus=corpus,
        compare=compare,
        samples=samples,
        seed=seed,
        reader=Reader(data, text_column, None, encoding),
    )
    if as_json:
        print_json(_told(source, out, done))
    else:
        _print(source, out, done)
    if done.compared is not None and done.compared.difference is not None:
        raise typer.Exit(1)


def minimise(
    source: str,
    out: Path | None = None,
    *,
    way: str = ASK,
    states: int = 200,
    partial: bool = False,
    letters: list[str] | None = None,
    corpus: str | None = None,
    compare: Path | None = None,
    samples: int = 2000,
    seed: int = 0,
    reader: Reader = USUAL,
) -> Minimised:
    """A minimal machine of what stands in a file; written to `out` if that is given."""
    check_choice("way", way, WAYS)
    check_outputs(out, force=True)
    if out is not None and out.suffix.lower() not in (".dot", ".json"):
        raise InputError(f"{out}: a machine is written as .dot or .json")
    from wfalens.automaton import WFA
    from wfalens.models.wrapping import wrap
    from wfalens.robustness import learn_machine, read_machine

    other = None if compare is None else read_machine(compare)[0]
    model = WFA.load(source) if Path(source).suffix.lower() == ".wfa" else wrap(source)
    texts = None
    if corpus is not None:
        read = reader.corpus(corpus, "train", labels=False)
        texts = model.encoder.encode(read.texts).nonempty()[1]
    learned = learn_machine(
        model, letters, algorithm=way, states=states, partial=partial, texts=texts, samples=samples, seed=seed
    )
    compared = None if other is None else Compared(learned.difference_to(other))
    if out is not None:
        learned.save(out, source=Path(source).name, algorithm=way)
    return Minimised(learned, compared)


def _told(source: str, out: Path | None, done: Minimised) -> dict[str, Any]:
    compared = done.compared
    return {
        "source": source,
        "out": None if out is None else str(out),
        **done.learned.to_dict(),
        "compared": None
        if compared is None
        else {
            "equal": compared.difference is None,
            "difference": None if compared.difference is None else list(compared.difference),
        },
    }


def _print(source: str, out: Path | None, done: Minimised) -> None:
    rows = done.learned.rows()
    if len(rows) <= _SHOWN_STATES:
        cells = [list(map(str, row.values())) for row in rows]
        print_table(f"{Path(source).name}: {done.learned.title}", list(rows[0]), cells)
    say(done.learned.summary())
    if done.compared is not None:
        found = done.compared.difference
        say("reads all words alike" if found is None else f"reads differently: {' '.join(found) or '(the empty word)'}")
    if out is not None:
        say(f"wrote {out}")
