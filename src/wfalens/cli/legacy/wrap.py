"""`wfalens wrap`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wfalens import progress
from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.files import check_outputs
from wfalens.cli.legacy.inputs import USUAL, Reader
from wfalens.cli.legacy.output import print_json, print_table, say
from wfalens.cli.legacy.reading import allow_own
from wfalens.errors import InputError

if TYPE_CHECKING:
    from wfalens.models.contract import PrefixClassifier
    from wfalens.models.preprocessing import Preprocessing
    from wfalens.models.preprocessing_check import Misreading, StepsApart
    from wfalens.text.corpus import Corpus

WORDS, TABLES = "Words", "Tables of a fixed width"
_ENDINGS = (".h5", ".hdf5", ".keras", ".onnx")


@dataclass(frozen=True)
class Wrapped:
    """A card that was written, and what the checks found."""

    card: Path
    words: int
    classes: int
    steppable: bool
    accuracy: float | None  # agreement with labels, where there were some
    misreading: Misreading | None
    steps_apart: StepsApart | None


def wrap_cli(
    model: Annotated[Path, opt.argument("MODEL", "A Keras file (.h5, .keras) or an ONNX graph (.onnx).")],
    words: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="Its words in the order of its ids: one on a line, the first column of a .csv or .tsv with a head, or "
            "JSON (a list, or an object from words to ids).",
        ),
    ],
    classes: Annotated[
        str,
        typer.Option(metavar="NAMES", help="Its classes in the order of its outputs: a file like that, or a,b,c."),
    ],
    tokenizer: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="How a text becomes words: whitespace, basic_english, characters, bigrams, ngrams:N, after any of "
            "lower+, strip+, title+ and quotes+ (strip+title+bigrams), or package.module:function, whose code is run.",
            rich_help_panel=WORDS,
        ),
    ] = "basic_english",
    unknown: Annotated[
        str,
        typer.Option(metavar="WORD", help="The word that stands for all others.", rich_help_panel=WORDS),
    ] = "<unk>",
    closed: Annotated[
        bool, opt.flag("--closed", help="There are no other words: texts with one are refused.", panel=WORDS)
    ] = False,
    max_length: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Cut texts after so many words.",
            show_default="the width of its tables, else never",
            rich_help_panel=WORDS,
        ),
    ] = None,
    pad: Annotated[
        str | None,
        typer.Option(
            metavar="WORD", help="The word that pads.", show_default="<pad>, else --unknown", rich_help_panel=TABLES
        ),
    ] = None,
    padding: Annotated[
        str | None,
        typer.Option(
            metavar="SIDE",
            help="Where shorter texts are padded: right or left (pad_sequences: left).",
            show_default="where labels of --check agree best",
            rich_help_panel=TABLES,
        ),
    ] = None,
    cutting: Annotated[
        str,
        typer.Option(
            metavar="SIDE",
            help="Where longer texts lose words: right or left (pad_sequences: left).",
            rich_help_panel=TABLES,
        ),
    ] = "right",
    exact: Annotated[
        bool,
        opt.flag(
            "--exact",
            help="Ask for every prefix as a table with its own pads, also where the network could be stepped.",
            panel=TABLES,
        ),
    ] = False,
    pads: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="Pads before a text that is read in steps.",
            show_default="three quarters of the width",
            rich_help_panel=TABLES,
        ),
    ] = None,
    outputs: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What its last layer gives: probabilities, logits, or binary (of the second class).",
            show_default="as the model says",
        ),
    ] = None,
    check: Annotated[
        str | None,
        typer.Option(metavar="TEXTS", help=f"Labelled texts that tell a wrong reading: {opt.CORPUS_HELP}"),
    ] = None,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    label_column: opt.LabelColumn = None,
    encoding: opt.Encoding = "utf-8",
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Say how a model from elsewhere reads texts: writes its card, MODEL with the ending .json, beside it.

    The other commands then take the model like any other. The card is checked against the weights. With labelled texts
    (--check), both sides of padding and other ids of the words are tried too, and a wrong one is named.

    Example, after Keras' pad_sequences with its defaults:
      wfalens wrap names.h5 --words words.csv --classes classes.csv \\
        --unknown UNK --tokenizer strip+title+bigrams \\
        --padding left --cutting left --check names.csv
    """
    entries = {
        "tokenizer": tokenizer,
        "unknown": None if closed else unknown,
        "closed": closed,
        "max_length": max_length,
        "padding": pad,
        "padding_side": padding,
        "truncation_side": cutting,
        "reading": "exact" if exact else "steps",
        "pads": pads,
        "outputs": outputs,
    }
    done = wrap(
        model,
        words,
        classes,
        entries,
        check=check,
        reader=Reader(data, text_column, label_column, encoding),
        force=force,
    )
    if as_json:
        print_json({**asdict(done), "card": str(done.card)})
        return
    rows = [
        ["words", f"{done.words:,}"],
        ["classes", f"{done.classes}"],
        ["can be stepped", "yes" if done.steppable else "no: every prefix is asked as a text"],
    ]
    rows += [] if done.accuracy is None else [["agrees with labels", f"{done.accuracy:.3f}"]]
    print_table(f"Model {model.name}", ["", "value"], rows)
    say(f"wrote {done.card}; next: wfalens extract {model} --corpus … --out {model.with_suffix('.wfa').name}")


def wrap(
    model: Path,
    words: Path,
    classes: str,
    entries: dict[str, Any],
    *,
    check: str | None = None,
    reader: Reader = USUAL,
    force: bool = False,
) -> Wrapped:
    """Write the card of a model whose other `entries` are those of `Preprocessing`, after checking it."""
    from wfalens.models.contract import StatefulClassifier
    from wfalens.models.preprocessing import Preprocessing
    from wfalens.text.vocabulary import read_word_list

    if model.suffix.lower() not in _ENDINGS:
        raise InputError(f"{model}: only Keras files and ONNX graphs have cards ({', '.join(_ENDINGS)})")
    out = model.with_suffix(".json")
    check_outputs(out, force=force)
    allow_own(entries.get("tokenizer"))
    names = read_word_list(classes) if Path(classes).is_file() else tuple(classes.split(","))
    card = Preprocessing(words=read_word_list(words), class_names=names, **entries)
    labelled = None if check is None else reader.corpus(check, "test")
    card, classifier = _read_best(model, card, labelled)
    found = _checked(classifier, labelled)
    _say_untold_side(classifier, card)
    card.write(out)
    return Wrapped(out, len(card.words), len(names), isinstance(classifier, StatefulClassifier), *found)


def _read_best(
    model: Path,
    card: Preprocessing,
    labelled: Corpus | None,
) -> tuple[Preprocessing, PrefixClassifier]:
    """The model as the card tells; where that tells no side of padding, as labels speak for."""
    from wfalens.models.preprocessing_check import agreement
    from wfalens.models.wrapping import wrap as wrap_model

    if card.padding_side is not None or labelled is None or labelled.labels is None:
        return card, wrap_model(model, preprocessing=card)
    cards = {side: card.read_as(side) for side in ("left", "right")}
    opened = {side: wrap_model(model, preprocessing=each) for side, each in cards.items()}
    rates = {side: agreement(each, labelled) for side, each in opened.items()}
    if rates["left"] is None or rates["left"] == rates["right"]:  # nothing is padded, or labels do not tell
        return card, wrap_model(model, preprocessing=card)
    best = max(rates, key=lambda side: rates[side] or 0.0)
    told = ", ".join(f"{rate:.1%} on the {side}" for side, rate in rates.items())
    progress.say(f"padding on the {best}: agrees with labels on {told}")
    return cards[best], opened[best]


def _say_untold_side(
    classifier: PrefixClassifier,
    card: Preprocessing,
) -> None:
    from wfalens.models.preprocessing_check import Rereadable

    width = classifier.form.width if isinstance(classifier, Rereadable) else None
    if width is not None and card.padding_side is None:
        progress.say(
            f"the model reads tables of {width} words, and nothing tells on which side texts are padded, so it is the "
            "right one: give --padding, or labelled texts that tell it (--check)"
        )


def _checked(
    classifier: PrefixClassifier,
    labelled: Corpus | None,
) -> tuple[float | None, Misreading | None, StepsApart | None]:
    from wfalens.models.checks import unknown_words
    from wfalens.models.preprocessing_check import agreement, check_preprocessing, steps_apart

    if labelled is None:
        return None, None, None
    misread, apart = check_preprocessing(classifier, labelled), steps_apart(classifier, labelled.texts)
    for remark in (unknown_words(classifier.encoder, labelled.texts), misread, apart):
        if remark is not None:
            progress.say(str(remark))
    return agreement(classifier, labelled), misread, apart
