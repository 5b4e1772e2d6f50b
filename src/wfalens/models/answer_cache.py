"""Answers of a model that were paid for, kept in a file, so that no text is asked twice.

Texts stand in the file as hashes only. Every batch is written before the next one is asked: what was answered before a
crash, Ctrl-C or a failing model is there when the work is done again.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.messages import printable, reason_of

_TABLE = """create table if not exists answers
    (model text, question blob, outputs blob, primary key (model, question)) without rowid"""
_AT_ONCE = 500  # questions in a statement
_PATIENCE = 60  # seconds that another process may hold the file


class AnswerCache:
    """Model outputs by the hash of a text, in an SQLite file that several models, commands and processes may share.

    Args:
        path: the file; made if it is missing.

    Examples:
        >>> from wfalens.models import AnswerCache
        >>> cache = AnswerCache("answers.sqlite")
        >>> cache.store("my model", ["a film"], np.array([[0.4, 0.6]], np.float32))
        >>> cache.find("my model", ["a film", "another"], classes=2)[0].tolist()
        [True, False]
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._run(_TABLE)

    def find(self, model: str, texts: Sequence[str], classes: int) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        """Which texts were asked, and their outputs (rows of the others are undefined); (texts,), (texts, classes)"""
        places: dict[bytes, list[int]] = {}
        for place, text in enumerate(texts):
            places.setdefault(_hash(text), []).append(place)
        known, outputs = np.zeros(len(texts), bool), np.empty((len(texts), classes), np.float32)
        hashes = list(places)
        for first in range(0, len(hashes), _AT_ONCE):
            some = hashes[first : first + _AT_ONCE]
            marks = ",".join("?" * len(some))
            query = f"select question, outputs from answers where model = ? and question in ({marks})"  # noqa: S608
            for question, answer in self._run(query, (model, *some)):
                is_row = question in places and isinstance(answer, bytes) and len(answer) == classes * outputs.itemsize
                row = np.frombuffer(answer if is_row else b"", np.float32)
                if is_row and np.all(np.isfinite(row)):  # else it is asked again
                    known[places[question]], outputs[places[question]] = True, row
        return known, outputs

    def store(self, model: str, texts: Sequence[str], outputs: NDArray[np.float32]) -> None:
        """Keep the outputs of texts; (texts, classes)"""
        rows = [(model, _hash(text), row.tobytes()) for text, row in zip(texts, outputs, strict=True)]
        self._run("insert or replace into answers values (?, ?, ?)", many=rows)

    def _run(
        self, statement: str, values: Sequence[object] = (), many: Sequence[Sequence[object]] | None = None
    ) -> list[tuple[bytes, bytes]]:
        try:
            with self._lock, closing(sqlite3.connect(self.path, timeout=_PATIENCE)) as database, database:
                if many is not None:
                    database.executemany(statement, many)
                    return []
                return database.execute(statement, values).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the second: of a message that names a damaged schema
            raise InputError(
                f"{printable(str(self.path))} cannot be used as a cache of answers ({reason_of(error)}); "
                "give another file",
                code="answer-cache",
            ) from None


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
