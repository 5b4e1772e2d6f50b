"""What a command reads: texts, by the name of a data set or of a file, models, word vectors and lists of words."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from wfalens import models, progress, text
from wfalens.cli.config import Reading, Settings
from wfalens.cli.library import automaton as automata
from wfalens.cli.library import evaluation, export, report, scale
from wfalens.cli.output import note
from wfalens.errors import InputError
from wfalens.messages import listed
from wfalens.text.tokenizers import allow_tokenizer, imported, is_allowed, is_import_path, tokenizer_named

HUGGING_FACE = "hf:"
COLUMNS = ("text_column", "label_column")
_SKIPPED_SHOWN = 3


def dataset_of(spec: str) -> text.Dataset | None:
    """The data set that NAME or NAME:SPLIT stands for."""
    return None if Path(spec).exists() else text.DATASETS.get(spec.partition(":")[0])


def open_corpus(spec: str, settings: Settings, split: str = "test", labels: bool = True) -> text.Corpus:
    """A corpus from a data set's name (with `split` unless the name says another) or from files."""
    reading = settings.texts
    known = dataset_of(spec)
    if known is not None:
        return text.load_dataset(known.name, spec.partition(":")[2] or split, reading.data)
    if not Path(spec).exists() and not text.is_pattern(spec):
        known_names = ", ".join(text.DATASETS)
        raise InputError(f"{spec}: no such file, and no data set of that name; known: {known_names}", code="no-file")
    corpus = text.read_corpus(
        spec,
        text_column=reading.text_column,
        label_column=reading.label_column,
        encoding=reading.encoding,
        labels=None if labels and _remembers_labels(settings) else labels,
    )
    if corpus.skipped:
        shown = "; ".join(corpus.skipped[:_SKIPPED_SHOWN]) + ("; …" if len(corpus.skipped) > _SKIPPED_SHOWN else "")
        progress.say(f"left out {len(corpus.skipped)} rows ({shown})")
    return corpus


def open_groups(spec: str, column: str, corpus: text.Corpus, settings: Settings) -> list[str]:
    """What a column holds for every text; a data set has its labels only."""
    if column == "label" and corpus.labels is not None:
        return [corpus.class_names[label] for label in corpus.labels]
    if not Path(spec).exists():
        raise InputError(
            f"the data set {spec} has no column {column!r}; its texts have a 'label' only", code="no-column"
        )
    reading = settings.texts
    return text.read_groups(spec, column, text_column=reading.text_column, encoding=reading.encoding)


def beyond_memory(spec: str, run: Mapping[str, Any]) -> bool:
    """Whether a corpus is read in blocks: a pattern of files, or where the settings of [run] ask for it."""
    if dataset_of(spec) is None and text.is_pattern(spec):
        return True
    if "memory" in run or "engine" in run:
        return True
    if run:
        raise InputError(
            f"run.{next(iter(run))} is about reading in blocks; set run.memory too", code="option-conflict"
        )
    return False


@contextmanager
def resumable(kept: Path | None) -> Iterator[None]:
    """If the work is stopped, say that the same command continues from `kept`, provided that something is there."""
    try:
        yield
    except KeyboardInterrupt:
        if kept is None or not any(each.is_file() for each in (kept, *kept.rglob("*"))):
            raise
        raise KeyboardInterrupt(f"finished work is kept in {kept}; the same command continues from there") from None


@contextmanager
def block_run(run: scale.RunConfig, folder: Path, model: str) -> Iterator[scale.RunConfig]:
    """How files are read in blocks; finished blocks are kept in the folder until the end."""
    kept = run.checkpoints or folder
    stored = Path(model) if Path(model).exists() else None
    with resumable(kept):
        yield replace(run, checkpoints=kept, engine=run.engine or "local", model_file=run.model_file or stored)
    if run.checkpoints is None:
        shutil.rmtree(kept, ignore_errors=True)


def open_files(spec: str, settings: Settings) -> text.TextFiles:
    """A file, a pattern of files or a folder of classes, which are read block by block."""
    reading = settings.texts
    files = text.TextFiles.find(spec, reading.text_column, reading.encoding)
    if _remembers_labels(settings):
        return text.with_labels(files, reading.label_column, required=False)[0]
    return replace(files, label_column=reading.label_column)


def _remembers_labels(settings: Settings) -> bool:
    """Whether the automaton names the column of labels, not the user; texts without it have no labels then."""
    return settings.texts.label_column is not None and "label_column" not in settings.given("texts")


def open_wfa(path: Path, settings: Settings, several: bool = False) -> automata.WFA:
    """An automaton; a tokenizer of the user's own is allowed first. Unless `several`, it is of one label.

    Columns that the extraction was given hold for all texts, unless the settings name others.
    """
    reading, own = settings.texts, None
    if reading.tokenizer is not None:
        if not is_import_path(reading.tokenizer):
            raise InputError(
                f"the setting texts.tokenizer is package.module:function, not {reading.tokenizer!r}: an automaton and "
                "a model know their words already",
                code="tokenizer",
            )
        allow_own(reading.tokenizer)
        own = tokenizer_named(reading.tokenizer)
    wfa = automata.WFA.load(path, own)
    read = wfa.provenance.get("corpus")
    columns = read.get("columns") if isinstance(read, dict) else None
    if isinstance(columns, dict):
        settings.fill("texts", {name: columns[name] for name in COLUMNS if isinstance(columns.get(name), str)})
    if reading.label is not None:
        return wfa.label(reading.label)
    if wfa.labels and not several:
        raise InputError(
            f"{path} is of several labels, and this command is about one: name it (-C label=…), one of "
            f"{listed(wfa.labels)}",
            code="label-needed",
        )
    return wfa


def open_model(spec: str | None, wfa: automata.WFA | None = None, reading: Reading | None = None) -> Any:
    """The classifier of a file, a Hugging Face name or an import path; it reads words as the automaton does."""
    if spec is None:
        return None
    given: dict[str, Any] = {} if wfa is None else {"vocab": wfa.encoder}
    if wfa is not None and is_function(spec):
        every = wfa.provenance.get("labels")  # of an automaton of one label; the function gives them all
        given |= {"classes": wfa.class_names} if every is None else {"labels": every}
    if reading is not None:
        given |= {"cache": reading.cache, "tokenizer": reading.tokenizer}
    model = models.wrap(function_of(spec), **given)
    names, labels = () if wfa is None else wfa.class_names, getattr(model, "labels", ())
    return model.label(names[1]) if len(names) == 2 and names[1] in labels else model


def is_function(spec: str) -> bool:
    """Whether a model is a function by its import path."""
    return is_import_path(spec) and not spec.startswith(HUGGING_FACE) and not Path(spec).exists()


def function_of(spec: str) -> Any:
    """A function by its import path, from the working folder too; other names of models pass unchanged."""
    if not is_function(spec):
        return spec
    _find_in_working_folder()
    note(f"the model {spec} runs the code of {spec.partition(':')[0]}")
    return imported(spec, "the model")


def open_study(automaton: Path, model: str | None, corpus: str | None, settings: Settings) -> report.Study:
    """An automaton and what belongs to it; texts of a known data set are found by themselves."""
    seed, compare = settings.seed, settings.report.compare
    wfa = open_wfa(automaton, settings)
    classifier = open_model(model, wfa, settings.texts)
    texts = default_texts(wfa, settings) if corpus is None else open_corpus(corpus, settings)
    if texts is None:
        progress.say("without texts there are no sentences, and nothing can be measured; give --corpus")
    if classifier is None:
        progress.say("without --model the network is not shown beside the automaton")
    fit_on, missing = None, ""
    if classifier is not None and texts is not None:
        folders = (automaton.parent, *([] if corpus is None else [Path(corpus).parent]))
        fit_on, missing = extraction_texts(wfa, settings, folders, seed)
    spec = settings.common.vectors
    vectors = None if spec == "none" else read_vectors(spec, wfa.encoder.vocabulary.words[2:], classifier)
    earlier = None if compare is None else open_wfa(compare, settings)
    earlier_model = open_model(settings.report.compare_model, earlier, settings.texts)
    compared = earlier, "" if compare is None else compare.name, earlier_model
    files = {"automaton": str(automaton), "model": model, "corpus": corpus}
    known = {name: file for name, file in files.items() if file is not None}
    return report.Study(automaton.name, wfa, classifier, texts, vectors, *compared, seed, fit_on, missing, known)


def extraction_texts(
    wfa: automata.WFA, settings: Settings, folders: Sequence[Path], seed: int = 0
) -> tuple[text.Corpus | None, str]:
    """The texts that an automaton was extracted from, if they are in one of the folders, or why there are none."""
    columns = {name: getattr(settings.texts, name) for name in ("data", *COLUMNS, "encoding")}
    return evaluation.find_extraction_texts(wfa, folders, **columns, seed=seed)


def open_texts(wfa: automata.WFA, corpus: str | None, settings: Settings) -> text.Corpus:
    """The texts that are named, else the test texts of the data set that the automaton was extracted from."""
    texts = default_texts(wfa, settings) if corpus is None else open_corpus(corpus, settings)
    if texts is None:
        raise InputError("the network is measured on texts; give --corpus", code="no-texts")
    return texts


def default_texts(wfa: automata.WFA, settings: Settings) -> text.Corpus | None:
    """The test texts of the data set that the automaton's provenance names, if it can be loaded here."""
    made_from = wfa.provenance.get("corpus")
    known = dataset_of(str(made_from.get("name", ""))) if isinstance(made_from, dict) else None
    if known is None or not text.is_available(known.name, settings.texts.data):
        return None
    progress.say(f"texts: {known.name}:test")
    return open_corpus(f"{known.name}:test", settings)


def open_vectors(settings: Settings, wfa: automata.WFA) -> text.WordVectors:
    """The vectors of the automaton's words that the setting `vectors` names."""
    return read_vectors(settings.common.vectors, wfa.encoder.vocabulary.words[2:])


def read_vectors(spec: str, words: Sequence[str], model: Any = None) -> text.WordVectors:
    """Vectors by name (wordllama, model) or from a file."""
    if spec == "wordllama":
        return text.wordllama_vectors(words)
    if spec == "model":
        return models.model_vectors(model)
    return text.read_vectors(spec, words)


def allow_own(tokenizer: str | None) -> str | None:
    """Import a tokenizer that is given by its import path, from the working folder too; other names pass unchanged."""
    if tokenizer is not None and is_import_path(tokenizer) and not is_allowed(tokenizer):
        _find_in_working_folder()
        note(f"the tokenizer {tokenizer} runs the code of {tokenizer.partition(':')[0]}")
        allow_tokenizer(tokenizer)
    return tokenizer


def _find_in_working_folder() -> None:
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))


def chosen_words(specs: Sequence[str] | None, wfa: automata.WFA) -> list[str] | None:
    """The words that `--words` names, each once; None if nothing is chosen."""
    chosen: list[str] = []
    for spec in specs or ():
        if spec.startswith("@"):
            chosen += _words_in(Path(spec[1:]), wfa)
        elif spec.startswith("top:") and spec[4:].isdecimal():
            chosen += export.frequent_words(wfa, int(spec[4:]))
        else:
            chosen += spec.split()
    return list(dict.fromkeys(chosen)) if specs else None


def _words_in(path: Path, wfa: automata.WFA) -> list[str]:
    """The words in a file that are words of the automaton."""
    listed_words = [word for word in text.read_word_list(path) if word]
    unknown = [word for word in listed_words if word not in wfa.encoder.vocabulary and word != text.UNKNOWN_WORD]
    if unknown:
        progress.say(
            f"{path}: left out {len(unknown)} words that are not in the automaton's alphabet ({listed(unknown)})"
        )
    return [word for word in listed_words if word not in set(unknown)]
