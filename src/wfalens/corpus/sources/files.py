"""Many text files as one corpus that is never held in memory: which files, in which order, and how each is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Any

from wfalens.corpus.readers import TEXT_COLUMN, suffix_of
from wfalens.corpus.sources.lines import DelimitedRows, JsonRows, RowSource
from wfalens.corpus.sources.parquet import ParquetRows
from wfalens.errors import InputError

_FORMATS: dict[str, Callable[[Path, str, str, str | None], RowSource]] = {
    ".csv": DelimitedRows,
    ".tsv": DelimitedRows,
    ".jsonl": JsonRows,
    ".parquet": ParquetRows,
}


BLOCK_BYTES = 1 << 18  # of a block: some ten thousand words, a good mouthful for a network


def is_pattern(spec: str) -> bool:
    """Whether a name stands for many files."""
    return has_magic(spec) and not Path(spec).exists()


def has_plain_lines(encoding: str) -> bool:
    """Whether bytes in an encoding can be cut into lines before they are decoded."""
    try:
        return "\n".encode(encoding) == b"\n"
    except LookupError as error:
        raise InputError(str(error)) from None


@dataclass(frozen=True)
class TextFiles:
    """Files in the order of their names; a text's place in the corpus is its file, its block and its row.

    `label_column` holds the labels; None: they are not read (`wfalens.corpus.sources.labels` looks for them).
    Results may depend on `block_bytes` in the last bit, see `corpus.sources.blocks`; on how blocks are dealt out
    they do not.
    """

    paths: tuple[str, ...]
    text_column: str = TEXT_COLUMN
    encoding: str = "utf-8"
    name: str = "files"
    block_bytes: int = BLOCK_BYTES
    label_column: str | None = None

    def __post_init__(self) -> None:
        if not self.paths:
            raise InputError("there is no file to read")
        for path in self.paths:
            if not Path(path).is_file():
                raise InputError(f"{path}: no such file")
            if suffix_of(Path(path)) not in _FORMATS:
                raise InputError(f"{path}: a stream reads {', '.join(_FORMATS)} (text files also as .gz)")
        if not has_plain_lines(self.encoding):
            raise InputError(f"a stream cannot be cut into lines in the encoding {self.encoding}; convert it to utf-8")

    @classmethod
    def find(cls, specs: str | Sequence[str], text_column: str = TEXT_COLUMN, encoding: str = "utf-8") -> TextFiles:
        """Files by name or by pattern (`texts/*.parquet`, `**` for any depth)."""
        wanted = [specs] if isinstance(specs, str) else list(specs)
        found: set[str] = set()
        for spec in wanted:
            matches = glob(spec, recursive=True) if is_pattern(spec) else [spec]  # noqa: PTH207 - patterns may be absolute
            if not matches:
                raise InputError(f"no file matches {spec}")
            found.update(matches)
        return cls(tuple(sorted(found)), text_column, encoding, " ".join(wanted))

    @property
    def sizes(self) -> list[int]:
        return [Path(path).stat().st_size for path in self.paths]

    def identity(self) -> list[list[Any]]:
        """What tells these files from others, or from themselves before a change: name, size and time."""
        return [[path, (stat := Path(path).stat()).st_size, stat.st_mtime_ns] for path in self.paths]

    def source(self, file: int) -> RowSource:
        path = Path(self.paths[file])
        return _FORMATS[suffix_of(path)](path, self.text_column, self.encoding, self.label_column)
