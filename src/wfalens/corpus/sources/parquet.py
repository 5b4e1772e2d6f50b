"""Rows of a parquet file: stretches of its text column as they lie in memory, without a Python string for each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.corpus.packed import PackedTexts
from wfalens.corpus.readers import columns_of, is_bytes
from wfalens.corpus.sources.lines import Place, RowRun, checked_label, checked_text
from wfalens.errors import InputError
from wfalens.ragged import Ragged

if TYPE_CHECKING:
    import pyarrow as pa

_AT_ONCE = 4096  # rows that are decoded


@dataclass(frozen=True)
class ColumnRun:
    """Neighbouring texts with their labels, and why there are no more where the file is damaged."""

    values: pa.ChunkedArray
    size: int
    first: int  # row, counted from 1
    labels: list[Any] | None  # one for each row, where labels are read
    damage: InputError | None = None

    @property
    def behind(self) -> Place:
        return Place(self.first + len(self.values) - 1, self.first + len(self.values))

    def __len__(self) -> int:
        return len(self.values) + (self.damage is not None)

    def place(self, row: int) -> str:
        return f"row {self.first + row}"

    def text(self, row: int) -> str | None:
        if self.damage is not None and row == len(self.values):
            raise self.damage
        try:
            return checked_text(self.values[row].as_py())
        except UnicodeDecodeError as error:
            raise InputError(f"byte 0x{error.object[error.start]:02x} is not {error.encoding}") from None

    def label(self, row: int) -> str:
        label = None if self.labels is None else self.labels[row]
        if isinstance(label, InputError):
            raise label
        return checked_label(label)

    def packed(self, rows: NDArray[np.int64] | None = None) -> tuple[PackedTexts, NDArray[np.int64]] | None:
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.damage is not None or not pa.types.is_large_string(self.values.type):
            return None
        values = self.values.combine_chunks()
        if rows is None:
            rows = np.arange(len(values))
        else:
            values = values.take(pa.array(rows))
        try:
            values.validate(full=True)
        except pa.ArrowInvalid:
            return None  # not UTF-8: row by row, it turns out where
        blank = pc.fill_null(pc.or_(pc.utf8_is_space(values), pc.equal(pc.binary_length(values), 0)), True)
        if pc.any(blank).as_py():
            values, rows = values.filter(pc.invert(blank)), rows[~np.asarray(blank)]
        _, offsets, content = values.buffers()
        places = np.frombuffer(offsets, np.int64)[values.offset : values.offset + len(values) + 1]
        bytes_ = np.frombuffer(content or b"", np.uint8)[places[0] : places[-1]]
        return PackedTexts(Ragged(bytes_, places - places[0])), rows


class ParquetRows:
    """The text column of a parquet file, and that of the labels, decoded a few thousand rows at a time."""

    start, divisible = Place(0, 1), True

    def __init__(self, path: Path, text_column: str, _encoding: str, label_column: str | None = None) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.path, self.text_column, self.label_column = path, text_column, label_column
        try:
            with pq.ParquetFile(path) as file:
                self._names = list(file.schema_arrow.names)
                columns_of(path, self._names, text_column, label_column)
                groups = [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
        except FileNotFoundError:
            raise  # as for other files: it may be another machine's
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{path}: not a readable parquet file ({str(error).splitlines()[0]})") from None
        self._groups = groups

    def columns(self) -> list[str]:
        return self._names

    def lead(self, start: Place) -> int:
        """Rows of its group before a place: they are decoded too."""
        ends = np.cumsum(self._groups)
        group = int(np.searchsorted(ends, start.offset, side="right"))
        return start.offset - (int(ends[group - 1]) if group else 0)

    def runs(self, start: Place, enough: int) -> Iterator[RowRun]:
        import pyarrow as pa

        held: list[pa.Array] = []
        total, first = 0, start.offset + 1
        damage = None
        columns, labels = self._column(self.text_column, start.offset), self._labels(start.offset)
        while True:
            try:
                values = next(columns, None)
            except (pa.ArrowException, OSError) as error:
                damage = InputError(f"damaged parquet file ({str(error).splitlines()[0]}); the rest is not read")
                values = None
            if values is None:
                break
            ends = np.cumsum(_sizes(values))
            done = used = 0
            while (last := int(np.searchsorted(ends, used + enough - total))) < len(values):
                held.append(values.slice(done, last + 1 - done))
                texts = pa.chunked_array(held)
                yield ColumnRun(texts, total + int(ends[last]) - used, first, _next(labels, len(texts)))
                held, total, first = [], 0, first + len(texts)
                done, used = last + 1, int(ends[last])
            if done < len(values):
                held.append(values.slice(done))
                total += int(ends[-1]) - used
        if held or damage is not None:
            texts = pa.chunked_array(held, None if held else pa.large_string())
            yield ColumnRun(texts, total, first, _next(labels, len(texts)), damage)

    def _labels(self, row: int) -> Iterator[Any] | None:
        """What stands in the label column from a row on; where it is damaged, why."""
        import pyarrow as pa

        def values(column: str) -> Iterator[Any]:
            try:
                for piece in self._column(column, row):
                    yield from piece.to_pylist()
            except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
                yield from repeat(InputError(f"the label cannot be read ({str(error).splitlines()[0]})"))

        return None if self.label_column is None else values(self.label_column)

    def _column(self, name: str, row: int) -> Iterator[pa.Array]:
        """A column from a row on, a piece at a time.

        Pieces end with their row group, so that damage hides the same rows wherever reading began.
        """
        import pyarrow.parquet as pq

        before = 0
        with pq.ParquetFile(self.path) as file:
            for group, rows in enumerate(self._groups):
                if before + rows <= row:
                    before += rows
                    continue
                for batch in file.iter_batches(_AT_ONCE, row_groups=[group], columns=[name], use_threads=False):
                    values = batch.column(0).slice(min(len(batch), max(0, row - before)))
                    before += len(batch)
                    yield _as_text(values)


def _as_text(values: pa.Array) -> pa.Array:
    """Texts of any kind as large strings, not checked; what is not a text as it is."""
    import pyarrow as pa

    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if is_bytes(kind):
        return values.cast(pa.large_binary()).view(pa.large_string())
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return values.cast(pa.large_string()) if is_text else values


def _next(labels: Iterator[Any] | None, number: int) -> list[Any] | None:
    return None if labels is None else list(islice(labels, number))


def _sizes(values: pa.Array) -> NDArray[np.int64]:
    """Bytes of every row and of its end; of what is not a text, one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_large_string(values.type):
        return np.ones(len(values), np.int64)
    sizes: NDArray[np.int64] = pc.fill_null(pc.binary_length(values), 0).to_numpy() + 1
    return sizes
