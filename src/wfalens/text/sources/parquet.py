"""Rows of a parquet file: stretches of its text column as they lie in memory, without a Python string for each."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.messages import listed, printable, quoted, reason_of
from wfalens.ragged import Ragged
from wfalens.text.packed import PackedTexts
from wfalens.text.sources.blocks import Naming, Place
from wfalens.text.sources.row_blocks import Row, Stretch, columns_of, label_of, taken_apart

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS, _BYTES = 4096, 8 << 20  # that are decoded at a time, at most


class ParquetRows:
    """The text column of a parquet file, and that of the labels, decoded a few thousand rows at a time."""

    start, divisible = Place(0, 1), True

    def __init__(self, path: Path, text_column: str, _encoding: str, label_column: str | None = None) -> None:
        import pyarrow as pa

        self.naming = Naming(printable(str(path)), "row")
        self.path, self.text_column, self.label_column = path, text_column, label_column
        stat = path.stat()  # a file that is missing may be on another machine
        try:
            schema, self._groups, self._at_once = _layout(str(path), stat.st_size, stat.st_mtime_ns)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{self.naming.path}: not a readable parquet file ({reason_of(error)})") from None
        self._names = list(schema.names)
        columns_of(self.naming.path, self._names, text_column, label_column)
        for column in (text_column, label_column):
            if column is not None and pa.types.is_nested(kind := schema.field(column).type):
                raise InputError(
                    f"{self.naming.path}: the column {quoted(column)} holds {listed([str(kind)])}, not texts"
                )

    def columns(self) -> list[str]:
        return self._names

    def lead(self, start: Place) -> int:
        """Rows of its group before a place: they are decoded too."""
        ends = np.cumsum(self._groups)
        group = int(np.searchsorted(ends, start.offset, side="right"))
        return start.offset - (int(ends[group - 1]) if group else 0)

    def stretches(self, start: Place) -> Iterator[Stretch]:
        """Stretches end with their row group, so that damage hides the same rows wherever reading begins."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = [self.text_column] if self.label_column is None else [self.text_column, self.label_column]
        row = before = 0  # the first row of a batch, of a group
        with pq.ParquetFile(self.path) as file:
            for group, rows in enumerate(self._groups):
                before, row = before + rows, before
                if before <= start.offset:
                    continue
                try:
                    for batch in file.iter_batches(
                        self._at_once[group], row_groups=[group], columns=columns, use_threads=False
                    ):
                        skipped = min(len(batch), max(0, start.offset - row))
                        yield self._stretch(batch.slice(skipped), row + skipped)
                        row += len(batch)
                except (pa.ArrowException, OSError) as error:
                    row = max(row, start.offset)
                    where = f"row group {group + 1} of {len(self._groups)}"
                    reason = InputError(f"damaged parquet file ({where}: {reason_of(error)}); the rest is not read")
                    yield self._taken_apart([(row, row + 1, reason, None)], row)
                    return

    def _stretch(self, batch: pa.RecordBatch, first: int) -> Stretch:
        import pyarrow as pa

        texts = _as_text(batch.column(self.text_column))
        labels = None if self.label_column is None else _as_text(batch.column(self.label_column))
        if pa.types.is_large_string(texts.type) and _is_valid(texts) and (labels is None or _is_valid(labels)):
            found = _packed(texts, None if labels is None else labels.to_pylist(), first)
            if found is not None:
                return found
        return self._one_by_one(texts, labels, first)

    def _one_by_one(self, texts: pa.Array, labels: pa.Array | None, first: int) -> Stretch:
        """Where a row is bad, or the column holds no texts."""
        rows: list[Row] = []
        for row in range(len(texts)):
            text, label = _value(texts[row]), None if labels is None else _value(labels[row])
            rows.append((first + row, first + row + 1, text, label))
        return self._taken_apart(rows, first + len(texts))

    def _taken_apart(self, rows: list[Row], behind: int) -> Stretch:
        return taken_apart(rows, Place(behind, behind + 1), self.label_column is not None, packed=True)


def _value(scalar: pa.Scalar) -> object:
    """A value as Python has it, or why it is none."""
    try:
        return scalar.as_py()
    except UnicodeDecodeError as error:
        return InputError(f"byte 0x{error.object[error.start]:02x} is not {error.encoding}")


@lru_cache(maxsize=64)
def _layout(path: str, _size: int, _changed: int) -> tuple[pa.Schema, tuple[int, ...], tuple[int, ...]]:
    """The columns of a file, the number of rows in each group, and how many of them are decoded at a time."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        groups = [file.metadata.row_group(group) for group in range(file.metadata.num_row_groups)]
        rows = tuple(group.num_rows for group in groups)
        at_once = (_BYTES * group.num_rows // max(1, group.total_byte_size) for group in groups)
        return file.schema_arrow, rows, tuple(min(_ROWS, max(1, number)) for number in at_once)


def _as_text(values: pa.Array) -> pa.Array:
    """Texts of any kind as large strings, not checked; what is not a text as it is."""
    import pyarrow as pa

    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if kind in (pa.binary(), pa.large_binary(), pa.binary_view()) or pa.types.is_fixed_size_binary(kind):
        return values.cast(pa.large_binary()).view(pa.large_string())
    return values.cast(pa.large_string()) if kind in (pa.string(), pa.large_string(), pa.string_view()) else values


def _is_valid(values: pa.Array) -> bool:
    """Whether texts are UTF-8."""
    import pyarrow as pa

    try:
        values.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _packed(values: pa.Array, labels: list[Any] | None, first: int) -> Stretch | None:
    """Texts as they lie in memory; None where a label is missing."""
    import pyarrow.compute as pc

    rows, empty = np.arange(first + 1, first + len(values) + 1), np.zeros(0, np.int64)
    behind = Place(first + len(values), first + len(values) + 1)
    blank = pc.fill_null(pc.or_(pc.utf8_is_space(values), pc.equal(pc.binary_length(values), 0)), True)
    if pc.any(blank).as_py():
        left_out = np.asarray(blank)
        values, rows, empty = values.filter(pc.invert(blank)), rows[~left_out], rows[left_out]
    if labels is not None:
        try:
            labels = [label_of(labels[row]) for row in (rows - first - 1).tolist()]
        except InputError:
            return None
    _, places, content = values.buffers()
    offsets: NDArray[np.int64] = np.frombuffer(places, np.int64)[values.offset : values.offset + len(values) + 1]
    bytes_ = np.frombuffer(content or b"", np.uint8)[offsets[0] : offsets[-1]]
    texts = PackedTexts(Ragged(bytes_, offsets - offsets[0]))
    return Stretch(texts, labels, texts.content.lengths + 1, rows - 1, rows, empty.tolist(), [], behind)
