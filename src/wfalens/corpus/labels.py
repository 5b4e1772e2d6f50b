"""Labels of files that are never held in memory: whether there are any, and those of a block's texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice, repeat
from typing import Any, NamedTuple

from wfalens.corpus.blocks import BadRow, Block
from wfalens.corpus.files import TextFiles
from wfalens.corpus.readers import LABEL_COLUMN
from wfalens.corpus.rows import Place
from wfalens.errors import InputError


class LabelledTexts(NamedTuple):
    """Texts with class indices, the rows in which they stand, and what could not be read."""

    texts: list[str]
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


def labels_of_file(files: TextFiles, file: int, start: Place | None = None) -> Iterator[Any]:
    """What stands in the label column of a file, row by row from a place on: what `labelled` takes."""
    source = files.source(file)
    return source.label_rows(source.start if start is None else start)


def labelled(
    block: Block, labels: Iterator[Any], classes: Mapping[str, int], rows: Iterable[int] | None = None
) -> LabelledTexts:
    """The texts of a block, or of some of its rows, with their classes; takes a label for every row of the block."""
    contents = list(islice(chain(labels, repeat(None)), len(block)))
    found = LabelledTexts([], [], [], [])
    for row in range(len(block)) if rows is None else rows:
        text = block.text(row)
        if isinstance(text, BadRow):
            found.bad.append(text)
        elif text is not None:
            try:
                found.classes.append(_class_of(block, contents[row], classes))
            except InputError as error:
                place = f"{block.source.unit} {block.lines[row]}"
                found.bad.append(BadRow(block.path, place, str(error)))
            else:
                found.texts.append(text)
                found.rows.append(row)
    return found


def _class_of(block: Block, content: Any, classes: Mapping[str, int]) -> int:
    label = block.source.label_of(content)
    if label not in classes:
        raise InputError(f"label {label!r} is not one of the classes {', '.join(classes)}")
    return classes[label]
