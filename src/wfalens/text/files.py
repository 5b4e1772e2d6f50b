"""Files of texts as one corpus: which files, in which order, how each is read, in blocks or all into memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from glob import glob, has_magic
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from wfalens.errors import InputError
from wfalens.messages import printable
from wfalens.text.blocks import BLOCK_BYTES, MAX_NAMED, Block, Place, RowBatch, RowNames, RowReader, cut_blocks
from wfalens.text.corpus import Corpus
from wfalens.text.rows import (
    LABEL_COLUMN,
    NO_LABEL,
    TEXT_COLUMN,
    DelimitedRows,
    JsonRows,
    ParquetRows,
    PlainRows,
    RowValues,
    known_encoding,
)

MISSING = "(missing)"
_FORMATS: dict[str, Callable[[Path, str, str, str | None], RowReader]] = {
    ".csv": DelimitedRows,
    ".tsv": partial(DelimitedRows, delimiters="\t,;"),
    ".jsonl": JsonRows,
    ".parquet": ParquetRows,
    ".txt": PlainRows,
}
_ROWS, _BYTES = 1000, 1 << 18  # of a batch of files in a folder, about


def is_pattern(spec: str) -> bool:
    """Whether a name stands for many files."""
    return has_magic(spec) and not Path(spec).exists()


@dataclass(frozen=True)
class TextFiles:
    """Files in the order of their names, or folders with one subfolder per class, each of which counts as one file.

    Args:
        paths: of the files; `TextFiles.find` takes a pattern instead.
        text_column: column or field that holds the text.
        encoding: any name that Python knows; UTF-16 is recognised by its mark.
        name: how messages and files call the corpus.
        block_bytes: text in a block, the unit in which models are asked. Results may depend on it in the last bit.
        label_column: column that holds the labels; None: they are not read (`with_labels` looks for them).
        max_named: rows without text that a block names at most.

    Examples:
        >>> from wfalens import TextFiles
        >>> _ = Path("mail.csv").write_text("text\\nbuy now\\nsee you at ten\\n")
        >>> files = TextFiles.find("*.csv")
        >>> [text for block in files.blocks(0) for text in block.texts]
        ['buy now', 'see you at ten']
    """

    paths: tuple[str, ...]
    text_column: str = TEXT_COLUMN
    encoding: str = "utf-8"
    name: str = ""
    block_bytes: int = BLOCK_BYTES
    label_column: str | None = None
    max_named: int = MAX_NAMED

    def __post_init__(self) -> None:
        paths = (self.paths,) if isinstance(self.paths, str | Path) else self.paths
        object.__setattr__(self, "paths", tuple(map(str, paths)))
        if not self.paths:
            raise InputError("there is no file to read", code="no-file")
        for path in self.paths:
            _check(Path(path))
        try:
            known_encoding(self.encoding)
        except InputError as error:
            raise InputError(f"{printable(self.paths[0])}: {error}", code="encoding") from None
        if not self.name:
            object.__setattr__(self, "name", Path(self.paths[0]).resolve().name if len(self.paths) == 1 else "files")

    @classmethod
    def find(cls, specs: str | Sequence[str], text_column: str = TEXT_COLUMN, encoding: str = "utf-8") -> TextFiles:
        """Files by name or by pattern.

        Args:
            specs: a name or a pattern (`texts/*.parquet`, `**` for any depth), or several
            text_column: the column or key that holds the texts
            encoding: of text files

        Examples:
            >>> _ = Path("one.csv").write_text("text\\na good film\\n")
            >>> len(TextFiles.find("*.csv").sizes)
            1
        """
        specs = [specs] if isinstance(specs, str) else list(specs)
        found: set[str] = set()
        for spec in specs:
            matches = _matches(spec) if is_pattern(spec) else [spec]
            if not matches:
                raise InputError(f"no file matches {spec}", code="no-file")
            found.update(matches)
        return cls(tuple(sorted(found)), text_column, encoding, "" if len(found) == 1 else " ".join(specs))

    @property
    def file_names(self) -> Sequence[str]:
        return self.paths

    @property
    def sizes(self) -> list[int]:
        paths = map(Path, self.paths)
        return [_ClassFolder(path).size if path.is_dir() else path.stat().st_size for path in paths]

    @property
    def has_labels(self) -> bool:
        return self.label_column is not None

    def identity(self) -> dict[str, Any]:
        """Of each file name, size and time; of a folder name, number of files and a digest of the same."""
        return {
            "files": [_identity(Path(path)) for path in self.paths],
            "text_column": self.text_column,
            "label_column": self.label_column,
            "encoding": self.encoding,
            "block_bytes": self.block_bytes,
        }

    def is_divisible(self, file: int) -> bool:
        return self.reader(file).divisible

    def lead(self, file: int, start: Place) -> int:
        return self.reader(file).lead(start)

    def blocks(self, file: int, start: Place | None = None, first: int = 0) -> Iterator[Block]:
        return cut_blocks(self.reader(file), file, start, first, self.block_bytes, self.max_named)

    def reader(self, file: int) -> RowReader:
        path = Path(self.paths[file])
        path.stat()  # a file that is missing may be on another machine
        kind = FolderRows if path.is_dir() else _FORMATS[_suffix(path)]
        try:
            return kind(path, self.text_column, known_encoding(self.encoding), self.label_column)
        except PermissionError as error:
            raise InputError(f"{printable(str(path))}: cannot be read ({error.strerror})", code="unreadable") from None


def with_labels(files: TextFiles, column: str | None = None) -> tuple[TextFiles, str]:
    """The same files with their column of labels, and why there is none where only some files have one.

    None takes the column `label` if all files have it. A column that is named must be in every file, which shows when
    the file is read.
    """
    if column is not None:
        return replace(files, label_column=column), ""
    found = {path: _columns(files, number) for number, path in enumerate(files.paths)}
    without = [path for path, columns in found.items() if columns and LABEL_COLUMN not in columns]
    if not without and any(found.values()):
        return replace(files, label_column=LABEL_COLUMN), ""
    if len(without) == len(found) or not without:
        return files, ""
    others = f" and {len(without) - 1:,} other files have" if len(without) > 1 else " has"
    return files, f"labels are not used: {printable(without[0])}{others} no column {LABEL_COLUMN!r}"


def _columns(files: TextFiles, number: int) -> list[str]:
    try:
        return files.reader(number).columns()
    except InputError:
        return []  # it cannot be read at all, which reading reports


def _matches(pattern: str) -> list[str]:
    """Files of a pattern, or folders of classes; `**` stands for the folders on the way too, which are not meant."""
    matches = glob(pattern, recursive=True)  # noqa: PTH207 - patterns may be absolute
    return [match for match in matches if not Path(match).is_dir()] if "**" in pattern else matches


def _check(path: Path) -> None:
    """Refuse what is no file that could be read twice."""
    if path.is_dir():
        return
    name = printable(str(path))
    if not path.is_file():
        reason = "neither a file nor a folder; write its texts to a file first" if path.exists() else None
        raise InputError(f"{name}: {reason or 'no such file or folder'}", code="no-file")
    if _suffix(path) not in _FORMATS:
        known = ", ".join(_FORMATS)
        raise InputError(f"{name}: unknown format {_suffix(path)!r}; use one of {known}, or a folder", code="format")


def _suffix(path: Path) -> str:
    endings = [suffix.lower() for suffix in path.suffixes]
    if endings and endings[-1] == ".gz":
        endings.pop()
    return endings[-1] if endings else ""


def _identity(path: Path) -> list[Any]:
    if path.is_dir():
        return _ClassFolder(path).identity()
    stat = path.stat()
    return [str(path), stat.st_size, stat.st_mtime_ns]


class _ClassFolder:
    """What lies in a folder with one subfolder per class; names with a dot in front are hidden."""

    def __init__(self, path: Path) -> None:
        self.path = path
        found: dict[Path, str] = {}  # relative path -> why it is left out; "" if it is not
        for entry in _entries(path):
            found |= _inside(path, entry)
        if "" not in found.values():
            name = printable(str(path))
            raise InputError(
                f"{name}: expected one subfolder per class with text files in it; files side by side are given by a "
                f"pattern, for example '{name}/*.csv'",
                code="folder",
            )
        self.files = tuple(sorted(found))
        self.reasons = {number: found[file] for number, file in enumerate(self.files, 1) if found[file]}

    @property
    def size(self) -> int:
        """Bytes"""
        return sum(stat.st_size for _, stat in self._stats())

    def identity(self) -> list[Any]:
        """Name, number of files, and a digest of their names, sizes and times."""
        digest = sha256()
        for file, stat in self._stats():
            digest.update(b"%s\0%d\0%d\0" % (os.fsencode(file), stat.st_size, stat.st_mtime_ns))
        return [str(self.path), len(self.files), digest.hexdigest()]

    def _stats(self) -> Iterator[tuple[Path, os.stat_result]]:
        return ((file, (self.path / file).stat()) for file in self.files if (self.path / file).exists())


def _inside(path: Path, entry: os.DirEntry[str]) -> dict[Path, str]:
    """The files of a class folder; else the entry itself. Each with the reason why it is left out."""
    name = Path(entry.name)
    if entry.is_dir():
        files = _entries(path / name)
        return {
            name / file.name: "a folder within the folder of a class" if file.is_dir() else "" for file in files
        } or {name: "a class without a file"}
    if entry.is_file():
        return {name: "not in the folder of a class"}
    reason = "neither a class folder nor a file; is it a link to nothing?"
    raise InputError(f"{printable(str(path / name))}: {reason}", code="folder")


def _entries(path: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            return [entry for entry in entries if not entry.name.startswith(".")]
    except FileNotFoundError:
        raise  # it may be on another machine
    except OSError as error:
        reason = f"the folder cannot be read ({error.strerror or error})"
        raise InputError(f"{printable(str(path))}: {reason}", code="folder") from None


class FolderRows:
    """Rows of a folder with one subfolder per class: every file in a subfolder is a row."""

    start, divisible = Place(0, 1), True

    def __init__(self, path: Path, text_column: str, encoding: str, label_column: str | None = None) -> None:
        self.text_column, self.encoding, self.label_column = text_column, encoding, label_column
        self.folder = _ClassFolder(path)
        names = [printable(str(file)) for file in self.folder.files]
        self.naming = RowNames(printable(str(path)), "file", names, self.folder.reasons)

    def columns(self) -> list[str]:
        return [self.text_column, LABEL_COLUMN]

    def lead(self, start: Place) -> int:  # noqa: ARG002
        return 0

    def batches(self, start: Place) -> Iterator[RowBatch]:
        texts: list[object] = []
        first, size = start.offset, 0
        for at in range(first, len(self.folder.files)):
            texts.append(None if at + 1 in self.folder.reasons else self._text(self.folder.files[at]))
            size += len(text) if isinstance(text := texts[-1], str) else 0
            if len(texts) >= _ROWS or size >= _BYTES:
                yield self._batch(texts, first)
                texts, first, size = [], at + 1, 0
        yield self._batch(texts, first)

    def _batch(self, texts: list[object], first: int) -> RowBatch:
        files = self.folder.files[first : first + len(texts)]
        labels = None if self.label_column is None else [file.parent.name for file in files]
        return RowValues(texts, labels, len(texts)).numbered_batch(first)

    def _text(self, file: Path) -> str | InputError:
        """The content of a file, or why it cannot be read."""
        path = self.folder.path / file
        try:
            if not path.is_file():
                return InputError("not a file that can be read")  # a pipe, or a link to nothing
            return path.read_text(self.encoding).removeprefix("\ufeff")
        except UnicodeError:
            return InputError(f'not {self.encoding} text; give the files\' encoding, for example encoding="latin-1"')
        except PermissionError as error:
            return InputError(f"cannot be read ({error.strerror})")


def read_corpus(
    path: str | Path,
    *,
    text_column: str = TEXT_COLUMN,
    label_column: str | None = None,
    encoding: str = "utf-8",
    labels: bool = True,
) -> Corpus:
    """Read a corpus from files.

    Rows with an empty text are left out and listed in `Corpus.skipped`; a missing label is refused.

    Args:
        path: a file (csv, tsv, jsonl, parquet, or txt with a text on each line), a pattern of files, or a folder with
            one subfolder per class. Semicolons and tabs between values are recognised, and UTF-16 by its mark.
        text_column: column or field of the texts.
        label_column: of the labels; None: `label` where there is one, else the corpus is unlabelled.
        encoding: any name that Python knows.
        labels: False reads the texts alone.

    Examples:
        >>> from wfalens import read_corpus
        >>> _ = Path("mail.csv").write_text("text,label\\nbuy now,spam\\nsee you at ten,ham\\n")
        >>> read_corpus("mail.csv").class_names
        ('ham', 'spam')
    """
    files = replace(TextFiles.find(str(path), text_column, encoding), max_named=sys.maxsize)
    if labels:
        files, remark = with_labels(files, label_column)
        if remark:
            raise InputError(
                f"{remark}; name the column of labels with label_column=, or read the texts alone with labels=False",
                code="labels",
            )
    texts: list[str] = []
    names: list[str] = []
    skipped: list[str] = []
    for file in range(len(files.paths)):
        for block in files.blocks(file):
            for bad in block.bad:
                hint = "; read the texts alone with labels=False" if bad.reason == NO_LABEL else ""
                raise InputError(f"{bad}{hint}", code="bad-row")
            texts += cast(Sequence[str], block.texts)
            names += block.labels or ()
            skipped += block.empty.first
    if not texts:
        is_empty = not any(files.reader(file).columns() for file in range(len(files.paths)))
        where = files.paths[0] if len(files.paths) == 1 else files.name
        raise InputError(f"{where}: {'the file is empty' if is_empty else 'no text in it'}", code="empty-file")
    return Corpus.of(texts, names if files.has_labels else None, name=files.name, skipped=skipped)


def read_groups(path: str | Path, column: str, *, text_column: str = TEXT_COLUMN, encoding: str = "utf-8") -> list[str]:
    """What a column holds for every text of `read_corpus`; "(missing)" where it is empty.

    Args:
        path: as for `read_corpus`.
        column: that names the groups.
        text_column: column of the texts; rows without a text are left out here, too.
        encoding: any name that Python knows.

    Examples:
        >>> from wfalens.text import read_groups
        >>> _ = Path("mail.csv").write_text("text,country\\nbuy now,DE\\nsee you at ten,\\n")
        >>> read_groups("mail.csv", "country")
        ['DE', '(missing)']
    """
    plain = TextFiles.find(str(path), text_column, encoding)
    named = replace(plain, label_column=column)
    groups: list[str] = []
    for file in range(len(plain.paths)):
        held: dict[int, str] = {}
        for block in named.blocks(file):
            held |= zip(block.rows.tolist(), block.labels or (), strict=True)
        groups += [held.get(row, MISSING) for block in plain.blocks(file) for row in block.rows.tolist()]
    return groups
