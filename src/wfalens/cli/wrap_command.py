"""`wfalens wrap`: describe how a model from elsewhere reads texts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from wfalens import models
from wfalens.cli import options as opt
from wfalens.cli.config import Reading, new_group, register
from wfalens.cli.inputs import allow_own, open_corpus
from wfalens.cli.library import model_description
from wfalens.cli.output import check_outputs, print_json, print_rows, say
from wfalens.errors import InputError
from wfalens.text.vocabulary import read_word_list
from wfalens.validation import Bounds, Options, option, whole

ENDINGS = (".h5", ".hdf5", ".keras", ".onnx")
command = new_group()


@dataclass(frozen=True)
class PreprocessingSettings(Options):
    """[preprocessing]: what few models need."""

    closed: bool = option(False, "There are no unknown words; a text with another word is refused.")
    padding: str | None = option(None, "The word that fills texts up to a fixed width (default: <pad>).")
    reading: str = option("steps", "A network that reads its padding: how it is asked.", ("steps", "exact"))
    pads: int | None = option(None, "Pads before every text (steps).", Bounds(whole, 0, 1 << 20, (None,)))
    max_length: int | None = option(None, "Words after which a text is truncated.", Bounds(whole, 1, 1 << 30, (None,)))
    outputs: str | None = option(None, "probabilities, logits or binary (default: by the name of the output).")
    state: dict[str, str] | None = option(None, "State inputs and the outputs with their new values (a TOML table).")
    initial_output: tuple[float, ...] | None = option(None, "The classes' probabilities before any word.")


@register(command, "wrap", lambda: {"preprocessing": PreprocessingSettings, "texts": Reading})
def wrap(
    model: Annotated[Path, opt.argument("MODEL", "A Keras file (.h5, .keras) or an ONNX graph (.onnx).")],
    words: Annotated[
        Path,
        typer.Option(
            "--words",
            metavar="FILE",
            help="Its words in the order of its ids: one on a line, the first column of a .csv or .tsv with a head, or "
            "JSON (a list, or an object from words to ids).",
        ),
    ],
    classes: Annotated[
        str,
        typer.Option(
            "--classes", metavar="NAMES", help="Its classes in the order of its outputs: a file like that, or a,b,c."
        ),
    ],
    tokenizer: Annotated[
        str,
        typer.Option(
            "--tokenizer",
            metavar="NAME",
            help="How a text becomes words: whitespace, basic_english, characters, bigrams, ngrams:N, after any of "
            "lower+, strip+, title+ and quotes+ (strip+title+bigrams), or package.module:function, whose code is run.",
        ),
    ] = "basic_english",
    unknown: Annotated[
        str | None,
        typer.Option("--unknown", metavar="WORD", help="The word for all others.", show_default="<unk>"),
    ] = None,
    padding: Annotated[
        str | None,
        typer.Option(
            "--padding",
            metavar="SIDE",
            help="Where shorter texts are padded: right or left (pad_sequences: left).",
            show_default="where labels of --check agree best",
        ),
    ] = None,
    truncation: Annotated[
        str,
        typer.Option(
            "--truncation", metavar="SIDE", help="Where longer texts lose words: right or left (pad_sequences: left)."
        ),
    ] = "right",
    check: Annotated[
        str | None,
        typer.Option("--check", metavar="TEXTS", help=f"Labelled texts that reveal wrong settings: {opt.CORPUS_HELP}"),
    ] = None,
    config: opt.Config = None,  # type: ignore[assignment]
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Describe how a model from elsewhere reads texts: writes MODEL with the ending .json beside it.

    The other commands then take the model like any other. The description is checked against the weights. With labelled
    texts (--check), both sides of padding and other ids of the words are tried too, and a wrong setting is named.

    Example, after Keras' pad_sequences with its defaults:
      wfalens wrap names.h5 --words words.csv --classes classes.csv \\
        --unknown UNK --tokenizer strip+title+bigrams \\
        --padding left --truncation left --check names.csv
    """
    if model.suffix.lower() not in ENDINGS:
        raise InputError(f"{model}: only Keras files and ONNX graphs ({', '.join(ENDINGS)})", code="model-kind")
    out = model.with_suffix(".json")
    check_outputs(out, force=force)
    allow_own(tokenizer)
    given = config.given("preprocessing")
    given.setdefault("unknown", None if given.get("closed") else unknown or "<unk>")
    names = read_word_list(classes) if Path(classes).is_file() else tuple(classes.split(","))
    described = models.Preprocessing(
        words=read_word_list(words),
        class_names=names,
        **{"tokenizer": tokenizer, "padding_side": padding, "truncation_side": truncation, **given},
    )
    labelled = None if check is None else open_corpus(check, config.texts)
    found = model_description.describe_model(model, described, labelled)
    found.preprocessing.write(out)
    _print(model, out, found, as_json)


def _print(model: Path, out: Path, found: Any, as_json: bool) -> None:
    if as_json:
        print_json({"preprocessing": str(out), **found.to_dict()})
        return
    print_rows(f"Model {model.name}", found.rows())
    say(f"wrote {out}; next: wfalens extract {model} --corpus … --out {model.with_suffix('.wfa').name}")
