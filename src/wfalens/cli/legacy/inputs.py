"""What a command reads: texts, by the name of a data set or of a file, and word vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from wfalens import progress
from wfalens.errors import InputError
from wfalens.text.datasets.catalogue import DATASETS, Dataset, load_dataset
from wfalens.text.files import is_pattern, read_corpus, read_groups

if TYPE_CHECKING:
    from wfalens.models.contract import PrefixClassifier
    from wfalens.text.corpus import Corpus
    from wfalens.text.files import TextFiles
    from wfalens.text.word_vectors import WordVectors

_TOLD_ROWS = 3


def dataset_of(spec: str) -> Dataset | None:
    """The data set that NAME or NAME:SPLIT stands for."""
    return DATASETS.get(spec.partition(":")[0])


def check_share(option: str, value: float | None) -> None:
    if value is not None and not 0 <= value <= 1:
        raise InputError(f"{option} must lie between 0 and 1, not {value}")


@dataclass(frozen=True)
class Reader:
    """How texts are read: the folder of data sets, the columns of tables, the encoding of files."""

    data: Path | None = None
    text_column: str = "text"
    label_column: str | None = None
    encoding: str = "utf-8"

    def corpus(
        self,
        spec: str,
        split: str,
        labels: bool = True,
    ) -> Corpus:
        """A corpus from a data set's name (with `split` unless the name says another) or from a file."""
        name, _, chosen = spec.partition(":")
        if name in DATASETS and not Path(spec).exists():
            corpus = load_dataset(name, chosen or split, self.data)
        elif not Path(spec).exists() and not is_pattern(spec):
            raise InputError(f"{spec}: no such file, and no data set of that name; known: {', '.join(DATASETS)}")
        else:
            corpus = read_corpus(
                spec,
                text_column=self.text_column,
                label_column=self.label_column,
                encoding=self.encoding,
                labels=labels,
            )
        if corpus.skipped:
            told = "; ".join(corpus.skipped[:_TOLD_ROWS]) + ("; …" if len(corpus.skipped) > _TOLD_ROWS else "")
            progress.say(f"left out {len(corpus.skipped)} rows ({told})")
        return corpus

    def groups(self, spec: str, column: str, corpus: Corpus) -> list[str]:
        """What a column holds for every text of a corpus that was read; of a data set there are its labels only."""
        if dataset_of(spec) is not None and not Path(spec).exists():
            if column != "label" or corpus.labels is None:
                raise InputError(f"the data set {spec} has no column {column!r}; its texts have a 'label' only")
            return [corpus.class_names[label] for label in corpus.labels]
        return read_groups(spec, column, text_column=self.text_column, encoding=self.encoding)

    def source(self, spec: str, split: str) -> Corpus | TextFiles:
        """A corpus that is read in shards: files, which are not held, or a data set by its name."""
        if dataset_of(spec) is not None and not Path(spec).exists():
            return self.corpus(spec, split)
        return self.files(spec)

    def files(self, spec: str) -> TextFiles:
        """A file, a pattern of files or a folder of classes, and the column of labels that was named."""
        from wfalens.text.files import TextFiles

        return replace(TextFiles.find(spec, self.text_column, self.encoding), label_column=self.label_column)


USUAL = Reader()


def open_vectors(spec: str, words: tuple[str, ...], model: PrefixClassifier | None = None) -> WordVectors:
    """Vectors by name (wordllama, model) or from a file."""
    from wfalens.models.contract import EmbeddingClassifier, model_vectors
    from wfalens.text import read_vectors, wordllama_vectors

    if spec == "wordllama":
        return wordllama_vectors(words)
    if spec == "model":
        if not isinstance(model, EmbeddingClassifier):
            raise InputError("this model has no embedding layer to take vectors from")
        return model_vectors(model)
    return read_vectors(spec, words)
