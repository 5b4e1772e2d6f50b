"""Texts from files: csv, tsv, jsonl (each also gzipped), parquet, or a folder with one subfolder per class."""

from __future__ import annotations

import csv
import gzip
import json
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from wfalens.corpus.corpus import Corpus
from wfalens.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

TEXT_COLUMN, LABEL_COLUMN = "text", "label"
Row = tuple[str, Any, Any]  # where it stands, text, label


def read_corpus(
    path: str | Path,
    *,
    text_column: str = TEXT_COLUMN,
    label_column: str | None = None,
    encoding: str = "utf-8",
    labels: bool = True,
) -> Corpus:
    """Read a corpus; the format follows from the name.

    `label_column=None` takes the column `label` where there is one, else the corpus is unlabelled. Rows with
    an empty text are left out and listed in `Corpus.skipped`; a missing label is refused. `labels=False` reads
    the texts alone.
    """
    path = Path(path)
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    try:
        if path.is_dir():
            return _collect(path, _folder_rows(path, encoding), labels)
        suffix = suffix_of(path)
        if suffix not in _READERS:
            raise InputError(f"{path}: unknown format {suffix!r}; use one of {', '.join(_READERS)}, or a folder")
        rows, labelled = _READERS[suffix](path, text_column, label_column, encoding)
        return _collect(path, rows, labelled and labels)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: byte 0x{error.object[error.start]:02x} is not {error.encoding}; "
            "give the file's encoding (for example latin-1)"
        ) from None
    except csv.Error as error:
        raise InputError(f"{path}: line 1: broken header ({error})") from None
    except LookupError as error:  # an encoding that Python does not know
        raise InputError(f"{path}: {error}") from None
    except UnicodeError as error:
        raise InputError(f"{path}: not {encoding} text ({error})") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path}: damaged gzip file ({error})") from None


def _collect(path: Path, rows: Iterator[Row], labelled: bool) -> Corpus:
    texts: list[str] = []
    labels: list[str] = []
    skipped: list[str] = []
    for place, text, label in rows:
        if text is None or not str(text).strip():
            skipped.append(f"{place}: empty text")
            continue
        if any(is_broken(part) for part in (text, label)):
            raise InputError(f"{path}: {place}: half of a surrogate pair, which is not text")
        if labelled:
            if label is None or label != label or not str(label).strip():
                raise InputError(f"{path}: {place}: the label is missing")
            labels.append(str(label).strip())
        texts.append(str(text))
    if not texts:
        raise InputError(f"{path}: no text in it")
    return Corpus.of(texts, labels if labelled else None, name=path.name, skipped=skipped)


def is_broken(value: object) -> bool:
    """Whether a text holds a lone surrogate (JSON can spell one): it could be neither printed nor saved."""
    return isinstance(value, str) and not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value)


def _read_delimited(
    path: Path, text_column: str, label_column: str | None, encoding: str, delimiter: str
) -> tuple[Iterator[Row], bool]:
    with _open(path, encoding) as handle:
        header = next(csv.reader(handle, delimiter=delimiter, strict=True), None)
    if header is None:
        raise InputError(f"{path}: the file is empty")
    text_at, label_at = columns_of(path, header, text_column, label_column)

    def rows() -> Iterator[Row]:
        with _open(path, encoding) as handle:
            reader = csv.reader(handle, delimiter=delimiter, strict=True)
            try:
                next(reader)
                line = reader.line_num + 1
                for row in reader:
                    if row and row == header:
                        raise InputError(f"{path}: line {line}: the header stands here a second time")
                    if row and len(row) != len(header):
                        raise InputError(f"{path}: line {line}: {len(row)} columns where the header has {len(header)}")
                    if row:
                        yield f"line {line}", row[text_at], None if label_at is None else row[label_at]
                    line = reader.line_num + 1
            except csv.Error as error:
                raise InputError(f"{path}: line {reader.line_num}: broken quoting ({error})") from None

    return rows(), label_at is not None


def _read_csv(path: Path, text: str, label: str | None, encoding: str) -> tuple[Iterator[Row], bool]:
    return _read_delimited(path, text, label, encoding, ",")


def _read_tsv(path: Path, text: str, label: str | None, encoding: str) -> tuple[Iterator[Row], bool]:
    return _read_delimited(path, text, label, encoding, "\t")


def _read_jsonl(path: Path, text: str, label: str | None, encoding: str) -> tuple[Iterator[Row], bool]:
    def objects() -> Iterator[tuple[int, dict[str, Any]]]:
        with _open(path, encoding) as handle:
            for number, line in enumerate(handle, 1):
                if not line.strip():
                    continue
                try:
                    item = json.loads(line)
                except (ValueError, RecursionError) as error:
                    reason = str(error).partition(":")[0]
                    raise InputError(f"{path}: line {number}: not JSON ({reason})") from None
                if not isinstance(item, dict):
                    raise InputError(f"{path}: line {number}: expected an object with {text!r}")
                yield number, item

    first = next(objects(), None)
    if first is None:
        raise InputError(f"{path}: the file is empty")
    _, label_at = columns_of(path, list(first[1]), text, label)
    label_key = None if label_at is None else list(first[1])[label_at]

    def rows() -> Iterator[Row]:
        for number, item in objects():
            if text not in item:
                raise InputError(f"{path}: line {number}: no field {text!r}")
            yield f"line {number}", item[text], None if label_key is None else item.get(label_key)

    return rows(), label_key is not None


def _read_parquet(path: Path, text: str, label: str | None, _encoding: str) -> tuple[Iterator[Row], bool]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
        text_at, label_at = columns_of(path, table.column_names, text, label)
        texts = _values(table.column(text_at))
        labels = [None] * len(texts) if label_at is None else _values(table.column(label_at))
    except pa.ArrowException as error:
        raise InputError(f"{path}: not a readable parquet file ({str(error).splitlines()[0]})") from None
    places = (f"row {number}" for number in range(1, len(texts) + 1))
    return zip(places, texts, labels, strict=True), label_at is not None


def _values(column: pa.ChunkedArray) -> list[Any]:
    import pyarrow as pa

    return (column.cast(pa.large_string()) if is_bytes(column.type) else column).to_pylist()  # type: ignore[no-any-return]


def is_bytes(kind: pa.DataType) -> bool:
    """Whether a column holds texts that nobody has marked as such."""
    import pyarrow as pa

    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


_READERS = {".csv": _read_csv, ".tsv": _read_tsv, ".jsonl": _read_jsonl, ".parquet": _read_parquet}


def _folder_rows(path: Path, encoding: str) -> Iterator[Row]:
    files = sorted(file for file in path.glob("*/*") if file.is_file() and not file.name.startswith("."))
    if not files:
        raise InputError(f"{path}: expected one subfolder per class with text files in it")
    for file in files:
        try:
            yield str(file.relative_to(path)), file.read_text(encoding), file.parent.name
        except UnicodeDecodeError as error:
            raise InputError(f"{file}: not {error.encoding} text; give the files' encoding") from None


def columns_of(path: Path, header: list[str], text_column: str, label_column: str | None) -> tuple[int, int | None]:
    repeated = [name for name, count in Counter(header).items() if count > 1]
    if repeated:
        raise InputError(f"{path}: line 1: the column {repeated[0]!r} stands twice in the header")
    for wanted in (text_column, label_column):
        if wanted is not None and wanted not in header:
            raise InputError(f"{path}: no column {wanted!r}; the columns are {', '.join(header) or 'none'}")
    label = label_column if label_column is not None else LABEL_COLUMN
    return header.index(text_column), header.index(label) if label in header else None


def suffix_of(path: Path) -> str:
    parts = [suffix.lower() for suffix in path.suffixes]
    if parts and parts[-1] == ".gz":
        parts.pop()
    return parts[-1] if parts else ""


def _open(path: Path, encoding: str) -> IO[str]:
    csv.field_size_limit(sys.maxsize)
    if encoding.lower().replace("_", "-") in {"utf-8", "utf8"}:
        encoding = "utf-8-sig"  # a byte order mark is not part of the first column's name
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding=encoding, newline="")
    return path.open(encoding=encoding, newline="")
