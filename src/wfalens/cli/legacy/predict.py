"""`wfalens predict`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.output import print_json, print_table
from wfalens.cli.legacy.quick import load_numba
from wfalens.errors import InputError

_SHOWN = 60  # characters of a text in the table


@dataclass(frozen=True)
class Prediction:
    """What the automaton says of a text; `label` is None where it is unsure or undecided."""

    text: str
    label: str | None
    unsure: bool
    confidence: float
    output: dict[str, float]


def predict_cli(
    automaton: opt.Automaton,
    texts: Annotated[list[str] | None, opt.argument("TEXT", "Texts to classify; - reads one per line.")] = None,
    corpus: opt.SomeCorpus = None,
    min_confidence: Annotated[
        float,
        typer.Option(
            metavar="SHARE", help='Say "unsure" where the likeliest class is less probable than this (0 to 1).'
        ),
    ] = 0.0,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    encoding: opt.Encoding = "utf-8",
    as_json: opt.Json = False,
) -> None:
    """Classify texts with an automaton alone; the network is not needed.

    With --min-confidence it answers only where it is sure enough; `wfalens evaluate --coverage` tells which value
    answers how many texts, and how often the network agrees there.

    Examples:
      wfalens predict films.wfa "a wonderful film" "a tired mess"
      wfalens predict films.wfa --corpus reviews.csv --json
    """
    from wfalens.cli.legacy.inputs import Reader, check_share

    check_share("--min-confidence", min_confidence)
    if corpus and texts:
        raise InputError("give texts or --corpus, not both")
    if corpus:
        reader = Reader(data, text_column, None, encoding)
        texts = list(reader.corpus(corpus, "test", labels=False).texts)
    elif texts == ["-"]:
        texts = _piped()
    load_numba()
    found = predict(automaton, texts or [], min_confidence)
    if as_json:
        print_json([asdict(each) for each in found])
        return
    print_table(
        f"{automaton.name}: {len(found)} texts",
        ["text", "class", "probability", "confidence"],
        [
            [
                each.text if len(each.text) <= _SHOWN else each.text[: _SHOWN - 1] + "…",
                each.label or ("unsure" if each.unsure else "undecided"),
                f"{max(each.output.values()):.3f}",
                f"{each.confidence:.3f}",
            ]
            for each in found
        ],
    )


def predict(automaton: Path, texts: Sequence[str], min_confidence: float = 0.0) -> list[Prediction]:
    """Classify texts; below `min_confidence` the automaton is unsure."""
    from wfalens.automaton import WFA
    from wfalens.automaton.wfa import UNDECIDED

    wfa = WFA.load(automaton)
    if not texts:
        raise InputError("there is no text to classify; give texts, - for standard input, or --corpus")
    weights = wfa.prediction_weights(texts)
    answers = zip(texts, wfa.decide(weights), wfa.probabilities(weights), strict=True)
    return [
        Prediction(
            text,
            None if label == UNDECIDED or output.max() < min_confidence else wfa.class_names[label],
            bool(output.max() < min_confidence),
            float(output.max()),
            dict(zip(wfa.class_names, map(float, output), strict=True)),
        )
        for text, label, output in answers
    ]


def _piped() -> list[str]:
    try:
        return [line.rstrip("\n") for line in sys.stdin]
    except UnicodeDecodeError:
        raise InputError(
            f"standard input is not {sys.stdin.encoding} text; write it to a file, give --encoding"
        ) from None
