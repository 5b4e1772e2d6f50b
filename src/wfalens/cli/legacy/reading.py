"""Remarks about how a model from elsewhere is read, and tokenizers that are code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wfalens import progress
from wfalens.cli.legacy.inputs import Reader
from wfalens.cli.legacy.options import TEXTS
from wfalens.cli.legacy.output import note
from wfalens.errors import InputError
from wfalens.text.tokenizers import allow_tokenizer, give_again, is_allowed, is_import_path

if TYPE_CHECKING:
    from wfalens.models.contract import PrefixClassifier
    from wfalens.text.corpus import Corpus


def allow_own(tokenizer: str | None) -> str | None:
    """Import a tokenizer that is given by its import path, from the working folder too; other names pass unchanged."""
    if tokenizer is not None and is_import_path(tokenizer) and not is_allowed(tokenizer):
        if str(Path.cwd()) not in sys.path:
            sys.path.insert(0, str(Path.cwd()))
        note(f"--tokenizer {tokenizer} runs the code of {tokenizer.partition(':')[0]}")
        allow_tokenizer(tokenizer)
    return tokenizer


def allow_own_only(tokenizer: str | None) -> None:
    """The same where words are known already, and nothing but a tokenizer of one's own is missing."""
    if tokenizer is not None and not is_import_path(tokenizer):
        raise InputError(f"--tokenizer takes package.module:function here, not {tokenizer!r}: words are known already")
    give_again(allow_own(tokenizer))


def _with_tokenizer(
    tokenizer: Annotated[
        str | None,
        typer.Option(
            "--tokenizer",
            metavar="PATH",
            help="A tokenizer of your own that the automaton or the model's card names, or that a file calls custom: "
            "package.module:function; its code is run.",
            expose_value=False,
            callback=allow_own_only,
            rich_help_panel=TEXTS,
        ),
    ] = None,
) -> None: ...


def own_tokenizer_option() -> Any:
    """`--tokenizer` for all commands that read texts with an automaton, which may name a tokenizer that is code."""
    alone = typer.Typer(add_completion=False)
    alone.command()(_with_tokenizer)
    return next(each for each in typer.main.get_command(alone).params if each.name == "tokenizer")


def labelled_texts(spec: str, reader: Reader, split: str) -> Corpus | None:
    """The texts with their labels, None where there are none that can be read."""
    try:
        corpus = reader.corpus(spec, split)
    except InputError:
        return None
    return None if corpus.labels is None else corpus


def say_reading(
    model: PrefixClassifier,
    texts: Corpus,
    labelled: Callable[[], Corpus | None],
) -> None:
    """Say if labels speak for another way to read a model, and how far its steps are from tables with all their pads.

    Labels are read only for a model that can be read in other ways.
    """
    from wfalens.models.preprocessing_check import Rereadable, check_preprocessing, steps_apart

    known = labelled() if isinstance(model, Rereadable) else None
    found = None if known is None else check_preprocessing(model, known)
    if found is not None:
        progress.say(str(found))
    apart = steps_apart(model, texts.texts)
    if apart is not None and apart.share > 0:
        progress.say(str(apart))
