"""What a command reads: texts, by the name of a data set or of a file, models, word vectors and lists of words."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wfalens import automaton, models, progress, text
from wfalens.cli.config import Reading
from wfalens.cli.output import note
from wfalens.errors import InputError
from wfalens.text.datasets.catalogue import DATASETS, Dataset, load_dataset
from wfalens.text.readers import read_corpus
from wfalens.text.sources.text_files import TextFiles, is_pattern
from wfalens.text.tokenizers import allow_tokenizer, give_again, is_allowed, is_import_path
from wfalens.text.vocabulary import UNKNOWN_WORD

if TYPE_CHECKING:
    from wfalens.automaton import WFA
    from wfalens.text.corpus import Corpus
    from wfalens.text.word_vectors import WordVectors

_SKIPPED_SHOWN, _UNKNOWN_SHOWN = 3, 3


def dataset_of(spec: str) -> Dataset | None:
    """The data set that NAME or NAME:SPLIT stands for."""
    return None if Path(spec).exists() else DATASETS.get(spec.partition(":")[0])


def open_corpus(spec: str, reading: Reading, split: str = "test", labels: bool = True) -> Corpus:
    """A corpus from a data set's name (with `split` unless the name says another) or from files."""
    known = dataset_of(spec)
    if known is not None:
        return load_dataset(known.name, spec.partition(":")[2] or split, reading.data)
    if not Path(spec).exists() and not is_pattern(spec):
        known_names = ", ".join(DATASETS)
        raise InputError(f"{spec}: no such file, and no data set of that name; known: {known_names}", code="no-file")
    corpus = read_corpus(
        spec,
        text_column=reading.text_column,
        label_column=reading.label_column,
        encoding=reading.encoding,
        labels=labels,
    )
    if corpus.skipped:
        shown = "; ".join(corpus.skipped[:_SKIPPED_SHOWN]) + ("; …" if len(corpus.skipped) > _SKIPPED_SHOWN else "")
        progress.say(f"left out {len(corpus.skipped)} rows ({shown})")
    return corpus


def open_files(spec: str, reading: Reading) -> TextFiles:
    """A file, a pattern of files or a folder of classes, which are read block by block."""
    files = TextFiles.find(spec, reading.text_column, reading.encoding)
    return replace(files, label_column=reading.label_column)


def open_wfa(path: Path, reading: Reading) -> WFA:
    """An automaton; a tokenizer of the user's own is allowed first."""
    if reading.tokenizer is not None:
        if not is_import_path(reading.tokenizer):
            raise InputError(
                f"the setting texts.tokenizer is package.module:function, not {reading.tokenizer!r}: an automaton and "
                "a model know their words already",
                code="tokenizer",
            )
        give_again(allow_own(reading.tokenizer))
    return automaton.WFA.load(path)


def open_model(spec: str | None, wfa: WFA | None = None) -> Any:
    """The classifier of a file or a Hugging Face name; it reads words as the automaton does."""
    return None if spec is None else models.open_model(spec, None if wfa is None else wfa.encoder)


def open_vectors(spec: str, words: Sequence[str], model: Any = None) -> WordVectors:
    """Vectors by name (wordllama, model) or from a file."""
    if spec == "wordllama":
        return text.wordllama_vectors(words)
    if spec == "model":
        return models.model_vectors(model)
    return text.read_vectors(spec, words)


def allow_own(tokenizer: str | None) -> str | None:
    """Import a tokenizer that is given by its import path, from the working folder too; other names pass unchanged."""
    if tokenizer is not None and is_import_path(tokenizer) and not is_allowed(tokenizer):
        if str(Path.cwd()) not in sys.path:
            sys.path.insert(0, str(Path.cwd()))
        note(f"the tokenizer {tokenizer} runs the code of {tokenizer.partition(':')[0]}")
        allow_tokenizer(tokenizer)
    return tokenizer


def chosen_words(specs: Sequence[str] | None, wfa: WFA, encoding: str = "utf-8") -> list[str] | None:
    """The words that `--words` names, each once; None if nothing is chosen."""
    from wfalens.export import frequent_words

    chosen: list[str] = []
    for spec in specs or ():
        if spec.startswith("@"):
            chosen += _listed(Path(spec[1:]), wfa, encoding)
        elif spec.startswith("top:") and spec[4:].isdecimal():
            chosen += frequent_words(wfa, int(spec[4:]))
        else:
            chosen += spec.split()
    return list(dict.fromkeys(chosen)) if specs else None


def _listed(path: Path, wfa: WFA, encoding: str) -> list[str]:
    """The lines of a file that are words of the automaton."""
    try:
        content = path.read_text(encoding)
    except (UnicodeDecodeError, LookupError):
        raise InputError(f"{path}: not readable as {encoding}", code="encoding") from None
    listed = [line for line in (line.rstrip("\r") for line in content.split("\n")) if line]
    unknown = [word for word in listed if word not in wfa.encoder.vocabulary and word != UNKNOWN_WORD]
    if unknown:
        shown = ", ".join(unknown[:_UNKNOWN_SHOWN]) + (", …" if len(unknown) > _UNKNOWN_SHOWN else "")
        progress.say(f"{path}: left out {len(unknown)} words that are not in the automaton's alphabet ({shown})")
    return [word for word in listed if word not in set(unknown)]
