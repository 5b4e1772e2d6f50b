"""`wfalens predict`: classify texts with an automaton, or trace them word by word."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated, Any

from wfalens.cli import options as opt
from wfalens.cli.config import Settings, new_group, register
from wfalens.cli.inputs import open_corpus, open_model, open_wfa
from wfalens.cli.library import evaluation
from wfalens.cli.output import print_json, print_rows
from wfalens.errors import InputError
from wfalens.messages import shortened
from wfalens.validation import Options, option

_SHOWN = 60  # characters of a text in the table
command = new_group()


@dataclass(frozen=True)
class PredictSettings(Options):
    """[predict]: what is answered.

    Args:
        min_confidence: Below this confidence the answer is “unsure”.
        trace: Show the state and the output after every word.
    """

    min_confidence: float = option(0.0, allowed=opt.SHARE)
    trace: bool = option(False)


@register(command, "predict", ("predict.min_confidence", "predict.trace"), predict=PredictSettings)
def predict(
    settings: Settings,
    automaton: opt.Automaton,
    texts: Annotated[list[str] | None, opt.argument("TEXT", "Texts to classify; - reads one per line.")] = None,
    corpus: opt.SomeCorpus = None,
    model: opt.SomeModel = None,
) -> None:
    """Classify texts with an automaton alone; the network is not needed.

    Confidence is the probability of the predicted class. `wfalens evaluate -C coverage=0.8` reports which
    --min-confidence answers how many texts, and how often the network agrees on them.

    --trace reads texts word by word: the likely state, the output, and the kind of row that each word went through
    (observed: the word was seen in this state; completed: the rule for missing rows; unknown: a word never seen).
    With --model the network reads along, and the word is named after which the two disagree.

    Examples:
      wfalens predict films.wfa "a wonderful film" "a tired mess"
      wfalens predict films.wfa --corpus reviews.csv --json
      wfalens predict films.wfa "a wonderful film" --trace --model films.rnn
    """
    if corpus and texts:
        raise InputError("give texts or --corpus, not both", code="option-conflict")
    if model is not None and not settings.predict.trace:
        raise InputError("--model reads along with --trace; give that too", code="option-conflict")
    wfa = open_wfa(automaton, settings, several=not settings.predict.trace)
    if corpus:
        texts = list(open_corpus(corpus, settings, labels=False).texts)
    elif texts == ["-"]:
        texts = _read_stdin()
    if not texts:
        raise InputError("there is no text to classify; give texts, - for standard input, or --corpus", code="no-texts")
    if settings.predict.trace:
        network = open_model(model, wfa, settings.texts)
        walks = [evaluation.trace_text(wfa, text, network) for text in texts]
        if settings.as_json:
            print_json(walks)
        else:
            for title, rows in (table for walk in walks for table in walk.tables().items()):
                print_rows(title, rows)
        return
    found = _answers(wfa, texts, settings.predict.min_confidence)
    if settings.as_json:
        print_json(found)
        return
    for row in found:
        row["text"] = shortened(row["text"], _SHOWN)
        if not wfa.labels:
            del row["output"]
            unsure = row.pop("unsure")
            row["label"] = row["label"] or ("unsure" if unsure else "undecided")
    print_rows(f"{automaton.name}: {len(found):,} texts", found)


def _answers(wfa: Any, texts: list[str], min_confidence: float) -> list[dict[str, Any]]:
    """The class of every text with its probabilities, or the probability of every label."""
    if wfa.labels:
        shares = wfa.label_probabilities(texts).tolist()
        return [
            {"text": text, **dict(zip(wfa.labels, row, strict=True))} for text, row in zip(texts, shares, strict=True)
        ]
    probabilities, labels = wfa.predict_proba(texts), wfa.predict(texts, min_confidence)
    return [
        {
            "text": text,
            "label": label,
            "unsure": bool(row.max() < min_confidence),
            "confidence": float(row.max()),
            "output": dict(zip(wfa.class_names, row.tolist(), strict=True)),
        }
        for text, label, row in zip(texts, labels.tolist(), probabilities, strict=True)
    ]


def _read_stdin() -> list[str]:
    try:
        return [line.rstrip("\n") for line in sys.stdin]
    except UnicodeDecodeError:
        raise InputError(
            f"standard input is not {sys.stdin.encoding} text; write it to a file and name its encoding",
            code="encoding",
        ) from None
