"""`wfalens wrap`: describe how a model from elsewhere reads texts."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

from wfalens import models, text
from wfalens.cli import options as opt
from wfalens.cli.config import Settings, new_group, register
from wfalens.cli.inputs import allow_own, open_corpus
from wfalens.cli.library import wrapping
from wfalens.cli.output import check_outputs, print_json, print_rows, say
from wfalens.errors import InputError
from wfalens.models.preprocessing_options import PreprocessingOptions

_BY_LABELS = "where labels of --check agree best"
ENDINGS = (".h5", ".hdf5", ".keras", ".onnx")
Check = Annotated[
    str | None, opt.value("--check", "TEXTS", f"Labelled texts that reveal wrong settings: {opt.CORPUS_HELP}")
]
command = new_group()


@register(command, "wrap", preprocessing=PreprocessingOptions)
def wrap(
    settings: Settings,
    model: Annotated[Path, opt.argument("MODEL", "A Keras file (.h5, .keras) or an ONNX graph (.onnx).")],
    words: Annotated[Path, opt.value("--words", "FILE")],
    classes: Annotated[str, opt.value("--classes", "NAMES")],
    tokenizer: Annotated[str, opt.value("--tokenizer", "NAME")] = "basic_english",
    padding: Annotated[str | None, opt.value("--padding", "SIDE", show_default=_BY_LABELS)] = None,
    truncation: Annotated[str, opt.value("--truncation", "SIDE")] = "right",
    check: Check = None,
    force: opt.Force = False,
) -> None:
    """Describe how a model from elsewhere reads texts: writes MODEL with the ending .json beside it.

    The other commands then take the model like any other. The description is checked against the weights. With labelled
    texts (--check), both sides of padding and other ids of the words are tried too, and a wrong setting is named.

    Example, after Keras' pad_sequences with its defaults:
      wfalens wrap names.h5 --words words.csv --classes classes.csv \\
        -C unknown=UNK --tokenizer strip+title+bigrams \\
        --padding left --truncation left --check names.csv

    Args:
        words: Its words in the order of its ids: one on a line, the first column of a .csv or .tsv with a head, or JSON
            (a list, or an object from words to ids).
        classes: Its classes in the order of its outputs: a file like that, or a,b,c.
        tokenizer: How a text becomes words: whitespace, basic_english, characters, bigrams, ngrams:N, after any of
            lower+, strip+, title+ and quotes+ (strip+title+bigrams), or package.module:function, whose code is run.
        padding: Where shorter texts are padded: right or left (pad_sequences: left).
        truncation: Where longer texts lose words: right or left (pad_sequences: left).
    """
    if model.suffix.lower() not in ENDINGS:
        raise InputError(f"{model}: only Keras files and ONNX graphs ({', '.join(ENDINGS)})", code="model-kind")
    out = model.with_suffix(".json")
    check_outputs(out, force=force)
    allow_own(tokenizer)
    described = models.Preprocessing(
        words=text.read_word_list(words),
        class_names=text.read_word_list(classes) if Path(classes).is_file() else tuple(classes.split(",")),
        tokenizer=tokenizer,
        padding_side=padding,
        truncation_side=truncation,
        **settings.preprocessing.to_dict(),
    )
    labelled = None if check is None else open_corpus(check, settings)
    found = wrapping.describe_model(model, described, labelled)
    found.preprocessing.write(out, model)
    if settings.as_json:
        print_json({"preprocessing": str(out), **found.to_dict()})
    else:
        print_rows(f"Model {model.name}", found.rows())
        quoted = map(shlex.quote, (str(model), model.with_suffix(".wfa").name))
        say("wrote {}; next: wfalens extract {} --corpus … --out {}".format(out, *quoted))
