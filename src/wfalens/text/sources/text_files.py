"""Files of texts as one corpus that is never held in memory: which files, in which order, and how each is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from glob import glob, has_magic
from pathlib import Path
from stat import S_ISDIR
from typing import Any

from wfalens.errors import InputError
from wfalens.messages import printable
from wfalens.text.sources.blocks import BLOCK_BYTES, MOST_NAMED, Block, Place
from wfalens.text.sources.folders import FolderRows, class_folder
from wfalens.text.sources.lines import DelimitedRows, JsonRows, PlainRows
from wfalens.text.sources.parquet import ParquetRows
from wfalens.text.sources.row_blocks import LABEL_COLUMN, TEXT_COLUMN, RowReader, blocks_of
from wfalens.text.text_lines import known_encoding

_FORMATS: dict[str, Callable[[Path, str, str, str | None], RowReader]] = {
    ".csv": DelimitedRows,
    ".tsv": partial(DelimitedRows, delimiter="\t"),
    ".jsonl": JsonRows,
    ".parquet": ParquetRows,
    ".txt": PlainRows,
}


def is_pattern(spec: str) -> bool:
    """Whether a name stands for many files."""
    return has_magic(spec) and not Path(spec).exists()


@dataclass(frozen=True)
class TextFiles:
    """Files in the order of their names, or folders with one subfolder per class, each of which counts as one file.

    `label_column` holds the labels; None: they are not read (`with_labels` looks for them). Results may depend on
    `block_bytes` in the last bit, see `corpus.sources.blocks`; on how blocks are dealt out they do not. A block names
    the first `most_named` of its rows without text.

    Args:
        paths: of the files; `TextFiles.find` takes a pattern instead.
        text_column: column or field that holds the text.
        encoding: any name that Python knows.
        name: how messages and files call the corpus.
        block_bytes: text in a block, the unit in which models are asked. Results may depend on it in the last bit.
        label_column: column that holds the labels; None: they are not read (`with_labels` looks for them).
        most_named: rows without text that a block names at most.

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
    most_named: int = MOST_NAMED

    def __post_init__(self) -> None:
        if not self.paths:
            raise InputError("there is no file to read")
        for path in self.paths:
            _check(Path(path))
        try:
            known_encoding(self.encoding)
        except InputError as error:
            raise InputError(f"{printable(self.paths[0])}: {error}") from None
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
        wanted = [specs] if isinstance(specs, str) else list(specs)
        found: set[str] = set()
        for spec in wanted:
            matches = _matches(spec) if is_pattern(spec) else [spec]
            if not matches:
                raise InputError(f"no file matches {spec}")
            found.update(matches)
        return cls(tuple(sorted(found)), text_column, encoding, "" if len(found) == 1 else " ".join(wanted))

    @property
    def file_names(self) -> Sequence[str]:
        return self.paths

    @property
    def sizes(self) -> list[int]:
        paths = map(Path, self.paths)
        return [class_folder(path).size if path.is_dir() else path.stat().st_size for path in paths]

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
        return blocks_of(self.reader(file), file, start, first, self.block_bytes, self.most_named)

    def reader(self, file: int) -> RowReader:
        path = Path(self.paths[file])
        kind = FolderRows if S_ISDIR(path.stat().st_mode) else _FORMATS[_suffix(path)]
        try:
            return kind(path, self.text_column, known_encoding(self.encoding), self.label_column)
        except PermissionError as error:
            raise InputError(f"{printable(str(path))}: cannot be read ({error.strerror})") from None


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
        return []  # it cannot be read at all, and whoever reads it says so


def _matches(pattern: str) -> list[str]:
    """Files of a pattern, or folders of classes; `**` stands for the folders on the way too, which are not meant."""
    matches = glob(pattern, recursive=True)  # noqa: PTH207 - patterns may be absolute
    return [match for match in matches if not Path(match).is_dir()] if "**" in pattern else matches


def _check(path: Path) -> None:
    """Refuse what is no file that could be read twice."""
    if path.is_dir():
        return
    if not path.is_file():
        reason = "neither a file nor a folder; write its texts to a file first" if path.exists() else None
        raise InputError(f"{printable(str(path))}: {reason or 'no such file or folder'}")
    if _suffix(path) not in _FORMATS:
        raise InputError(
            f"{printable(str(path))}: unknown format {_suffix(path)!r}; use one of {', '.join(_FORMATS)}, or a folder"
        )


def _suffix(path: Path) -> str:
    endings = [suffix.lower() for suffix in path.suffixes]
    if endings and endings[-1] == ".gz":
        endings.pop()
    return endings[-1] if endings else ""


def _identity(path: Path) -> list[Any]:
    if path.is_dir():
        return class_folder(path).identity()
    stat = path.stat()
    return [str(path), stat.st_size, stat.st_mtime_ns]
