"""`wfalens predict`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from wfalens.cli.app import app
from wfalens.cli.common import (
    CORPUS_HELP,
    DataOption,
    EncodingOption,
    JsonOption,
    TextColumnOption,
    check_share,
    open_corpus,
    print_json,
    print_table,
)
from wfalens.errors import InputError

_SHOWN = 60  # characters of a text in the table


@app.command()
def predict(
    automaton: Annotated[Path, typer.Argument(help="The automaton: a .wfa file.")],
    texts: Annotated[list[str] | None, typer.Argument(help="Texts to classify; - reads one per line.")] = None,
    corpus: Annotated[str | None, typer.Option("--corpus", "-c", help=CORPUS_HELP)] = None,
    min_confidence: Annotated[
        float,
        typer.Option(help='Say "unsure" below this margin between the two likeliest classes (0 to 1).'),
    ] = 0.0,
    data: DataOption = None,
    text_column: TextColumnOption = "text",
    encoding: EncodingOption = "utf-8",
    as_json: JsonOption = False,
) -> None:
    """Classify texts with an automaton alone; the network is not needed.

    With --min-confidence it answers only where it is sure enough; `wfalens evaluate --coverage` tells which value
    answers how many texts, and how often the network agrees there.

    Example: wfalens predict films.wfa "a wonderful film" "a tired mess"
    """
    from wfalens.automaton import WFA
    from wfalens.automaton.wfa import UNDECIDED

    check_share("--min-confidence", min_confidence)
    wfa = WFA.load(automaton)
    if corpus and texts:
        raise InputError("give texts or --corpus, not both")
    if corpus:
        texts = list(open_corpus(corpus, "test", data, text_column, None, encoding, labels=False).texts)
    elif texts == ["-"]:
        texts = [line.rstrip("\n") for line in sys.stdin]
    if not texts:
        raise InputError("there is no text to classify; give texts, - for standard input, or --corpus")
    weights = wfa.weights(texts)
    labels, outputs = wfa.decide(weights), wfa.probabilities(weights)
    margins = wfa.margins(weights)
    unsure = margins < min_confidence
    names = [
        None if label == UNDECIDED or silent else wfa.class_names[label]
        for label, silent in zip(labels, unsure, strict=True)
    ]
    if as_json:
        print_json(
            [
                {
                    "text": text,
                    "label": name,
                    "unsure": bool(silent),
                    "confidence": float(margin),
                    "output": dict(zip(wfa.class_names, map(float, output), strict=True)),
                }
                for text, name, silent, margin, output in zip(texts, names, unsure, margins, outputs, strict=True)
            ]
        )
        return
    print_table(
        f"{automaton.name}: {len(texts)} texts",
        ["text", "class", "probability", "confidence"],
        [
            [
                text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…",
                name or ("unsure" if silent else "undecided"),
                f"{output.max():.3f}",
                f"{margin:.3f}",
            ]
            for text, name, silent, margin, output in zip(texts, names, unsure, margins, outputs, strict=True)
        ],
    )
