"""Labels of files that are never held in memory: whether there are any, and those of a block's texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from wfalens.corpus.readers import LABEL_COLUMN
from wfalens.corpus.sources.blocks import BadRow, Block
from wfalens.corpus.sources.files import TextFiles
from wfalens.errors import InputError


class LabelledTexts(NamedTuple):
    """Texts with class indices, the rows in which they stand, and what could not be read."""

    texts: Sequence[str]
    classes: list[int]
    rows: list[int]
    bad: list[BadRow]


def with_labels(files: TextFiles, column: str | None = None) -> tuple[TextFiles, str]:
    """The same files with their column of labels, and why there is none where only some files have one.

    None takes the column `label` if all files have it, as `read_corpus` does with one file. A column that is named must
    be in every file, which shows when the file is read.
    """
    if column is not None:
        return replace(files, label_column=column), ""
    without = [path for number, path in enumerate(files.paths) if _lacks_labels(files, number)]
    if not without:
        return replace(files, label_column=LABEL_COLUMN), ""
    others = f" and {len(without) - 1:,} other files have" if len(without) > 1 else " has"
    partly = len(without) < len(files.paths)
    return files, f"labels are not used: {without[0]}{others} no column {LABEL_COLUMN!r}" if partly else ""


def _lacks_labels(files: TextFiles, number: int) -> bool:
    try:
        columns = files.source(number).columns()
    except InputError:
        return False  # it cannot be read at all, and whoever reads it says so
    return bool(columns) and LABEL_COLUMN not in columns


def labelled(block: Block, classes: Mapping[str, int], rows: Iterable[int] | None = None) -> LabelledTexts:
    """The texts of a block, or of some of its rows, with their classes."""
    if rows is None:
        quick = _packed(block, classes)
        if quick is not None:
            return quick
    texts: list[str] = []
    found = LabelledTexts(texts, [], [], [])
    for row in range(len(block)) if rows is None else rows:
        text = block.text(row)
        label = None if text is None or isinstance(text, BadRow) else _class_of(block, row, classes)
        if isinstance(text, str) and isinstance(label, int):
            texts.append(text)
            found.classes.append(label)
            found.rows.append(row)
        else:
            found.bad.extend(each for each in (text, label) if isinstance(each, BadRow))
    return found


def _packed(block: Block, classes: Mapping[str, int]) -> LabelledTexts | None:
    """All texts as they are packed, if no label is bad."""
    packed = block.rows.packed()
    if packed is None:
        return None
    texts, rows = packed[0], packed[1].tolist()
    labels = [_class_of(block, row, classes) for row in rows]
    known = [label for label in labels if isinstance(label, int)]
    return LabelledTexts(texts, known, rows, []) if len(known) == len(rows) else None


def _class_of(block: Block, row: int, classes: Mapping[str, int]) -> int | BadRow:
    try:
        label = block.rows.label(row)
    except InputError as error:
        return BadRow(block.path, block.rows.place(row), str(error))
    if label not in classes:
        reason = f"label {label!r} is not one of the classes {', '.join(classes)}"
        return BadRow(block.path, block.rows.place(row), reason)
    return classes[label]
