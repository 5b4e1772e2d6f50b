"""Texts to attack, drawn at random from files of any size: each file is read once, what is not drawn is not kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from wfalens.corpus.corpus import Corpus
from wfalens.corpus.sources.blocks import Block, blocks_of_file
from wfalens.corpus.sources.files import TextFiles
from wfalens.corpus.sources.labels import LabelledTexts, labelled, with_labels
from wfalens.errors import InputError
from wfalens.passes.sampling import draws
from wfalens.progress import SILENT, Progress


class _Drawn(NamedTuple):
    """A text by its draw; `place` is (file, block, row)."""

    draw: int
    place: tuple[int, int, int]
    text: str
    label: int


def draw_texts(
    files: TextFiles,
    number: int,
    class_names: Sequence[str],
    *,
    label_column: str | None = None,
    seed: int = 0,
    progress: Progress = SILENT,
) -> Corpus:
    """So many labelled texts of all files (or all, if there are less), each as likely as any other, in their order.

    Rows that are not drawn are not looked at: a bad row among them stays unnoticed.
    """
    files, remark = with_labels(files, label_column)
    if files.label_column is None:
        raise InputError(remark or f"{files.name} has no labels; an attack needs to know the true classes")
    classes = {name: at for at, name in enumerate(class_names)}
    drawn: list[_Drawn] = []
    limit: int | None = None  # a draw that cannot get in any more
    progress.start("reading the files", len(files.paths))
    for file, path in enumerate(files.paths):
        for block in blocks_of_file(files, file):
            draw = draws(seed, file, block.number, len(block))
            rows = np.arange(len(draw)) if limit is None else np.flatnonzero(draw < np.uint64(limit))
            found = labelled(block, classes, rows.tolist())
            drawn += _checked(found, block, draw.tolist())
            if len(drawn) > 2 * number:
                drawn = sorted(drawn)[:number]
                limit = drawn[-1].draw
        progress.advance(1, Path(path).name)
    progress.finish()
    if not drawn:
        raise InputError(f"{files.name}: no text in it")
    chosen = sorted(sorted(drawn)[:number], key=lambda each: each.place)
    labels = np.array([each.label for each in chosen], np.int64)
    return Corpus(tuple(each.text for each in chosen), labels, tuple(class_names), files.name)


def _checked(found: LabelledTexts, block: Block, draw: list[int]) -> list[_Drawn]:
    if found.bad:
        raise InputError(str(found.bad[0]))
    return [
        _Drawn(draw[row], (block.file, block.number, row), text, label)
        for row, text, label in zip(found.rows, found.texts, found.classes, strict=True)
    ]
