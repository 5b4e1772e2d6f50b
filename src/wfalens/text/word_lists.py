"""Lists of words or classes in the order of a model's ids, as other tools write them."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path

from wfalens.errors import FormatError, InputError
from wfalens.messages import quoted, reason_of
from wfalens.text.vocabulary import PADDING_WORD

_TABLES = {".csv": ",", ".tsv": "\t"}


def read_word_list(path: str | Path) -> tuple[str, ...]:
    """Words from a file, blanks and all: one on a line, the first column of a table, or JSON.

    A .csv or .tsv table has a head. JSON is a list, or an object from words to ids such as the `word_index` of a Keras
    tokenizer; if nothing has the id 0, that is `<pad>`.
    """
    path = Path(path)
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        raise FormatError(f"{path}: not UTF-8 text") from None
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    if path.suffix.lower() == ".json":
        return _from_json(text, path)
    if path.suffix.lower() in _TABLES:
        rows = list(csv.reader(text.splitlines(), delimiter=_TABLES[path.suffix.lower()]))
        return tuple(row[0] for row in rows[1:] if row)
    return tuple(text.removesuffix("\n").split("\n"))


def _from_json(text: str, path: Path) -> tuple[str, ...]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: not JSON ({reason_of(error)})") from None
    if isinstance(content, list) and all(isinstance(word, str) for word in content):
        return tuple(content)
    if isinstance(content, dict) and content and all(type(number) is int for number in content.values()):
        return _by_id(content, path)
    raise FormatError(f"{path}: neither a list of words nor an object from words to their ids")


def _by_id(ids: Mapping[str, int], path: Path) -> tuple[str, ...]:
    word_of: dict[int, str] = {}
    for word, number in ids.items():
        if number in word_of:
            raise FormatError(f"{path}: {quoted(word_of[number])} and {quoted(word)} have the same id, {number}")
        word_of[number] = word
    word_of.setdefault(0, PADDING_WORD)
    missing = next((number for number in range(len(word_of)) if number not in word_of), None)
    if missing is not None:
        raise FormatError(f"{path}: no word has the id {missing}, although others have higher ones")
    return tuple(word_of[number] for number in range(len(word_of)))
