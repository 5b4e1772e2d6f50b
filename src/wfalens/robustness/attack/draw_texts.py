"""Bottom-k sampling of the texts to attack: files of any size are read once, and only drawn texts are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.errors import InputError
from wfalens.scale.bottom_k import draws
from wfalens.text.corpus import Corpus
from wfalens.text.sources.blocks import Block, classes_of
from wfalens.text.sources.text_files import TextFiles, with_labels


class _Drawn(NamedTuple):
    """A text by its draw; `position` is (file, block, row)."""

    draw: int
    position: tuple[int, int, int]
    text: str
    label: int


def draw_texts(
    files: TextFiles,
    number: int,
    class_names: Sequence[str],
    *,
    label_column: str | None = None,
    seed: int = 0,
) -> Corpus:
    """Draw `number` labelled texts uniformly from all files (all texts, if there are fewer), in the order of the files.

    A row that cannot be read is refused; labels of texts that are not drawn are not looked at.
    """
    files, remark = with_labels(files, label_column)
    if files.label_column is None:
        raise InputError(remark or f"{files.name} has no labels; an attack needs to know the true classes")
    classes = {name: at for at, name in enumerate(class_names)}
    drawn: list[_Drawn] = []
    limit: int | None = None  # a text with this draw or a larger one is no longer among the k smallest
    progress.start("reading the files", len(files.paths))
    for file, path in enumerate(files.paths):
        for block in files.blocks(file):
            draw = draws(seed, file, block.number, len(block.texts))
            texts = np.arange(len(draw)) if limit is None else np.flatnonzero(draw < np.uint64(limit))
            drawn += _checked(block, classes, texts, draw)
            if len(drawn) > 2 * number:
                drawn = sorted(drawn)[:number]
                limit = drawn[-1].draw
        progress.advance(1, Path(path).name)
    progress.finish()
    if not drawn:
        raise InputError(f"{files.name}: no text in it")
    chosen = sorted(sorted(drawn)[:number], key=lambda each: each.position)
    labels = np.array([each.label for each in chosen], np.int64)
    return Corpus(tuple(each.text for each in chosen), labels, tuple(class_names), files.name)


def _checked(
    block: Block, classes: Mapping[str, int], texts: NDArray[np.int64], draw: NDArray[np.uint64]
) -> list[_Drawn]:
    labels, unknown = classes_of(block, classes, texts)
    for bad in (*block.bad, *unknown):
        raise InputError(str(bad))
    held = cast(Sequence[str], block.texts)
    return [
        _Drawn(int(draw[text]), (block.file, block.number, text), held[text], label)
        for text, label in zip(texts.tolist(), labels.tolist(), strict=True)
    ]
