"""A corpus in memory: the blocks of its files, collected."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from wfalens.errors import InputError
from wfalens.text.corpus import Corpus
from wfalens.text.sources.row_blocks import TEXT_COLUMN
from wfalens.text.sources.text_files import TextFiles, with_labels

MISSING = "(missing)"


def read_corpus(
    path: str | Path,
    *,
    text_column: str = TEXT_COLUMN,
    label_column: str | None = None,
    encoding: str = "utf-8",
    labels: bool = True,
) -> Corpus:
    """Read a corpus from files.

    Rows with an empty text are left out and listed in `Corpus.skipped`; a missing label is refused.

    Args:
        path: a file (csv, tsv, jsonl, parquet, or txt with a text on each line), a pattern of files, or a folder with
            one subfolder per class.
        text_column: column or field of the texts.
        label_column: of the labels; None: `label` where there is one, else the corpus is unlabelled.
        encoding: any name that Python knows.
        labels: False reads the texts alone.

    Examples:
        >>> from wfalens import read_corpus
        >>> _ = Path("mail.csv").write_text("text,label\\nbuy now,spam\\nsee you at ten,ham\\n")
        >>> read_corpus("mail.csv").class_names
        ('ham', 'spam')
    """
    files = replace(TextFiles.find(str(path), text_column, encoding), most_named=sys.maxsize)
    if labels:
        files, remark = with_labels(files, label_column)
        if remark:
            raise InputError(f"{remark}; name the column of labels, or read the texts alone")
    return _collected(files)


def _collected(files: TextFiles) -> Corpus:
    texts: list[str] = []
    labels: list[str] = []
    skipped: list[str] = []
    for file in range(len(files.paths)):
        for block in files.blocks(file):
            if block.bad:
                raise InputError(str(block.bad[0]))
            texts += cast(Sequence[str], block.texts)
            labels += block.labels or ()
            skipped += block.empty.first
    if not texts:
        is_empty = not any(files.reader(file).columns() for file in range(len(files.paths)))
        raise InputError(f"{path_of(files)}: {'the file is empty' if is_empty else 'no text in it'}")
    return Corpus.of(texts, labels if files.label_column is not None else None, name=files.name, skipped=skipped)


def read_groups(path: str | Path, column: str, *, text_column: str = TEXT_COLUMN, encoding: str = "utf-8") -> list[str]:
    """What a column holds for every text of `read_corpus`; "(missing)" where it is empty.

    Args:
        path: as for `read_corpus`.
        column: that names the groups.
        text_column: column of the texts; rows without a text are left out here, too.
        encoding: any name that Python knows.

    Examples:
        >>> from wfalens import read_groups
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


def path_of(files: TextFiles) -> str:
    return files.paths[0] if len(files.paths) == 1 else files.name
