"""What a command reads: texts, by the name of a data set or of a file, models, word vectors and lists of words."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wfalens import models, progress, text
from wfalens.cli.config import Reading
from wfalens.cli.library import automaton as automata
from wfalens.cli.library import evaluation, export, preprocessing_check, report
from wfalens.cli.output import note
from wfalens.errors import InputError
from wfalens.text.datasets.catalogue import DATASETS, Dataset, is_available, load_dataset
from wfalens.text.files import TextFiles, is_pattern, read_corpus, read_groups
from wfalens.text.tokenizers import allow_tokenizer, give_again, is_allowed, is_import_path
from wfalens.text.vocabulary import UNKNOWN_WORD

if TYPE_CHECKING:
    from wfalens.automaton import WFA
    from wfalens.report.study import Study
    from wfalens.scale import RunConfig
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


def open_groups(spec: str, column: str, corpus: Corpus, reading: Reading) -> list[str]:
    """What a column holds for every text; a data set has its labels only."""
    if column == "label" and corpus.labels is not None:
        return [corpus.class_names[label] for label in corpus.labels]
    if not Path(spec).exists():
        raise InputError(
            f"the data set {spec} has no column {column!r}; its texts have a 'label' only", code="no-column"
        )
    return read_groups(spec, column, text_column=reading.text_column, encoding=reading.encoding)


def beyond_memory(spec: str, run: Mapping[str, Any]) -> bool:
    """Whether a corpus is read in blocks: a pattern of files, or where the settings of [run] ask for it."""
    if dataset_of(spec) is None and is_pattern(spec):
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
def block_run(run: RunConfig, folder: Path, model: str) -> Iterator[RunConfig]:
    """How files are read in blocks; finished blocks are kept in the folder until the end."""
    kept = run.checkpoints or folder
    stored = Path(model) if Path(model).exists() else None
    with resumable(kept):
        yield replace(run, checkpoints=kept, engine=run.engine or "local", model_file=run.model_file or stored)
    if run.checkpoints is None:
        shutil.rmtree(kept, ignore_errors=True)


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
    return automata.WFA.load(path)


def open_model(spec: str | None, wfa: WFA | None = None) -> Any:
    """The classifier of a file or a Hugging Face name; it reads words as the automaton does."""
    return None if spec is None else models.wrap(spec, vocab=None if wfa is None else wfa.encoder)


def check_reading(model: Any, corpus: Corpus) -> None:
    """Say if labels speak for another way to read a model, and how far its steps are from padded batches."""
    checks = preprocessing_check
    if corpus.labels is not None and isinstance(model, checks.Rereadable):
        misread = checks.check_preprocessing(model, corpus)
        if misread is not None:
            progress.say(str(misread))
    apart = checks.steps_apart(model, corpus.texts)
    if apart is not None and apart.share > 0:
        progress.say(str(apart))


def open_study(
    automaton: Path, model: str | None, corpus: str | None, compare: Path | None, compare_model: str | None, config: Any
) -> Study:
    """An automaton and what belongs to it; texts of a known data set are found by themselves."""
    reading, seed = config.texts, config.common.seed
    wfa = open_wfa(automaton, reading)
    classifier = open_model(model, wfa)
    texts = _default_texts(wfa, reading) if corpus is None else open_corpus(corpus, reading)
    if texts is None:
        progress.say("without texts there are no sentences, and nothing can be measured; give --corpus")
    if classifier is None:
        progress.say("without --model the network is not shown beside the automaton")
    fit_on, missing = None, ""
    if classifier is not None and texts is not None:
        folders = (automaton.parent, *([] if corpus is None else [Path(corpus).parent]))
        fit_on, missing = evaluation.find_extraction_texts(wfa, folders, data=reading.data, seed=seed)
    spec = config.common.vectors
    vectors = None if spec == "none" else open_vectors(spec, wfa.encoder.vocabulary.words[2:], classifier)
    earlier = None if compare is None else open_wfa(compare, reading)
    return report.Study(
        automaton.name,
        wfa,
        classifier,
        texts,
        vectors,
        earlier,
        "" if compare is None else compare.name,
        open_model(compare_model, earlier),
        seed,
        fit_on,
        missing,
    )


def _default_texts(wfa: WFA, reading: Reading) -> Corpus | None:
    """The test texts of the data set that the automaton's provenance names, if it can be loaded here."""
    made_from = wfa.provenance.get("corpus")
    known = dataset_of(str(made_from.get("name", ""))) if isinstance(made_from, dict) else None
    if known is None or not is_available(known.name, reading.data):
        return None
    progress.say(f"texts: {known.name}:test")
    return open_corpus(f"{known.name}:test", reading)


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
    chosen: list[str] = []
    for spec in specs or ():
        if spec.startswith("@"):
            chosen += _listed(Path(spec[1:]), wfa, encoding)
        elif spec.startswith("top:") and spec[4:].isdecimal():
            chosen += export.frequent_words(wfa, int(spec[4:]))
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
