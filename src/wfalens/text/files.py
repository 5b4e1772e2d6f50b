"""Files of texts as one corpus: which files, in which order, how each is read, in blocks or all into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from glob import glob, has_magic
from hashlib import sha256
from pathlib import Path
from typing import Any

from wfalens.errors import InputError
from wfalens.messages import printable
from wfalens.text import row_readers
from wfalens.text.blocks import BLOCK_BYTES, NO_LABEL, Block, Place, RowReader, cut_blocks
from wfalens.text.corpus import Corpus
from wfalens.text.row_readers import LABEL_COLUMN, TEXT_COLUMN, known_encoding

MISSING = "(missing)"
_FORMATS: dict[str, type[RowReader]] = {
    ".csv": row_readers.DelimitedRows,
    ".tsv": row_readers.TabRows,
    ".jsonl": row_readers.JsonRows,
    ".parquet": row_readers.ParquetRows,
    ".txt": row_readers.PlainRows,
}


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
    def sizes(self) -> list[int]:
        """Bytes of each file, about."""
        return [sum(file.stat().st_size for file in _files(Path(path))) for path in self.paths]

    @property
    def has_labels(self) -> bool:
        """Whether blocks carry labels."""
        return self.label_column is not None

    def identity(self) -> dict[str, Any]:
        """What distinguishes these files from others, or from themselves before a change, in JSON."""
        return {
            "files": [[path, _digest(Path(path))] for path in self.paths],
            "text_column": self.text_column,
            "label_column": self.label_column,
            "encoding": self.encoding,
            "block_bytes": self.block_bytes,
        }

    def blocks(self, file: int, start: Place | None = None, first: int = 0) -> Iterator[Block]:
        """The blocks of a file, from a place on where block `first` begins."""
        return cut_blocks(self.reader(file), file, start, first, self.block_bytes)

    def reader(self, file: int) -> RowReader:
        """How the rows of a file are read."""
        path = Path(self.paths[file])
        path.stat()  # a file that is missing may be on another machine
        kind = row_readers.FolderRows if path.is_dir() else _FORMATS[_suffix(path)]
        try:
            return kind(path, self.text_column, known_encoding(self.encoding), self.label_column)
        except PermissionError as error:
            raise InputError(f"{printable(str(path))}: cannot be read ({error.strerror})", code="unreadable") from None


def with_labels(files: TextFiles, column: str | None = None, *, required: bool = True) -> tuple[TextFiles, str]:
    """The same files with their column of labels, and why there is none where only some files have one.

    None takes the column `label` if all files have it. A column that is named must be in every file, which shows when
    the file is read, unless it is not `required`: it is then taken as `label` is.
    """
    if column is not None and required:
        return replace(files, label_column=column), ""
    column = column or LABEL_COLUMN
    found = {path: _columns(files, number) for number, path in enumerate(files.paths)}
    without = [path for path, columns in found.items() if columns and column not in columns]
    if not without and any(found.values()):
        return replace(files, label_column=column), ""
    if len(without) == len(found) or not without:
        return files, ""
    others = f" and {len(without) - 1:,} other files have" if len(without) > 1 else " has"
    return files, f"labels are not used: {printable(without[0])}{others} no column {column!r}"


def _columns(files: TextFiles, number: int) -> Sequence[str]:
    try:
        return files.reader(number).columns
    except InputError:
        return ()  # it cannot be read at all, which reading reports


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


def _files(path: Path) -> list[Path]:
    """The file itself, or the files in a folder of classes."""
    files = [path / file for file in row_readers.class_files(path)] if path.is_dir() else [path]
    return [file for file in files if file.is_file() or file == path]


def _digest(path: Path) -> str:
    """Of names, sizes and contents: a size and a time do not show every change."""
    digest = sha256()
    for file in _files(path):
        digest.update(f"{file.relative_to(path)}\0{file.stat().st_size}\0".encode("utf-8", "surrogateescape"))
        if file.stat().st_size:
            with file.open("rb") as handle:
                while part := handle.read(1 << 20):
                    digest.update(part)
    return digest.hexdigest()


def read_corpus(
    path: str | Path,
    *,
    text_column: str = TEXT_COLUMN,
    label_column: str | None = None,
    encoding: str = "utf-8",
    labels: bool | None = True,
) -> Corpus:
    """Read a corpus from files.

    Rows with an empty text are left out and listed in `Corpus.skipped`; a missing label is refused.

    Args:
        path: a file (csv, tsv, jsonl, parquet, or txt with a text on each line), a pattern of files, or a folder with
            one subfolder per class. Semicolons and tabs between values are recognised, and UTF-16 by its mark.
        text_column: column or field of the texts.
        label_column: of the labels; None: `label` where there is one, else the corpus is unlabelled.
        encoding: any name that Python knows.
        labels: False reads the texts alone; None: also where the files lack the column.

    Examples:
        >>> from wfalens import read_corpus
        >>> _ = Path("mail.csv").write_text("text,label\\nbuy now,spam\\nsee you at ten,ham\\n")
        >>> read_corpus("mail.csv").class_names
        ('ham', 'spam')
    """
    files = TextFiles.find(str(path), text_column, encoding)
    if labels is not False:
        files, remark = with_labels(files, label_column, required=labels is True)
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
            texts += block.texts
            names += block.labels or ()
            skipped += block.left_out(len(block.empty))
    if not texts:
        is_empty = not any(files.reader(file).columns for file in range(len(files.paths)))
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
