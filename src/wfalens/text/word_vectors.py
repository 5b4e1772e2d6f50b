"""Pretrained word vectors and their nearest neighbours."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property, partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.text.row_readers import inflation_limit
from wfalens.text.word_checks import ENDINGS

_LONGEST_LINE, _WIDEST = 1 << 20, 1 << 16  # bytes of a line, numbers of a vector
_BLOCK = 1024  # rows of the distance table held at a time


class WordVectors:
    """Word vectors, one row per word.

    Args:
        words: one for each row.
        matrix: (words, width), finite numbers.
        source: how messages call them.

    Examples:
        >>> from wfalens import WordVectors
        >>> vectors = WordVectors(["good", "bad"], np.array([[1, 0], [0, 1]], np.float32))
        >>> vectors["bad"].tolist(), vectors.width
        ([0.0, 1.0], 2)
    """

    def __init__(self, words: Sequence[str], matrix: NDArray[np.float32], source: str = "vectors") -> None:
        if matrix.ndim != 2 or len(words) != len(matrix):
            raise InputError(f"{len(words)} words but a matrix of shape {matrix.shape}")
        if not np.all(np.isfinite(matrix)):
            raise InputError(f"{source}: the vectors hold values that are not finite")
        self.words = tuple(words)
        self.matrix = np.ascontiguousarray(matrix, np.float32)
        self.source = source

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._rows

    def __getitem__(self, word: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self.matrix[self.row_of(word)]
        return vector

    def row_of(self, word: str) -> int:
        if word not in self._rows:
            raise InputError(f"no vector for {word!r} in {self.source}")
        return self._rows[word]

    @property
    def width(self) -> int:
        return int(self.matrix.shape[1])

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    def restricted(self, words: Sequence[str]) -> WordVectors:
        """Only the given words, in their order; words without a vector are left out."""
        kept = [word for word in words if word in self._rows]
        return WordVectors(kept, self.matrix[[self._rows[word] for word in kept]], self.source)

    def reduced(self, size: int) -> WordVectors:
        """PCA to `size` dimensions; unchanged if they are not wider."""
        if size >= self.width:
            return self
        from sklearn.decomposition import PCA

        matrix = PCA(size, random_state=0).fit_transform(self.matrix)
        return WordVectors(self.words, matrix.astype(np.float32), self.source)

    def nearest(self, word: str, k: int = 5) -> list[tuple[str, float]]:
        """The `k` nearest other words with their Euclidean distances."""
        neighbours, distances = self.neighbours(np.array([self.row_of(word)]), k)
        pairs = zip(neighbours[0], distances[0], strict=True)
        return [(self.words[row], float(distance)) for row, distance in pairs]

    def neighbours(
        self, rows: NDArray[np.int64] | None = None, k: int = 5
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Rows and distances of the `k` nearest other words of each given row (default: of all), nearest first.

        One matrix product per block of rows; ties go to the lower row.
        """
        # -> (rows, k), (rows, k)
        rows = np.arange(len(self)) if rows is None else np.asarray(rows, np.int64)
        k = min(k, len(self) - 1)
        if k < 1:
            raise InputError(f"{self.source} has too few words for neighbours")
        squares = np.einsum("ij,ij->i", self.matrix, self.matrix)
        nearest = np.empty((len(rows), k), np.int64)
        distances = np.empty((len(rows), k), np.float32)
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            gap = self.matrix[block] @ self.matrix.T
            gap *= -2
            gap += squares  # squared distance up to a constant per row
            gap[np.arange(len(block)), block] = np.inf
            candidates = np.argpartition(gap, k - 1, axis=1)[:, :k]
            candidates.sort(axis=1)
            order = np.argsort(np.take_along_axis(gap, candidates, 1), axis=1, kind="stable")
            chosen = np.take_along_axis(candidates, order, 1)
            nearest[start : start + len(block)] = chosen
            difference = self.matrix[block][:, None] - self.matrix[chosen]
            distances[start : start + len(block)] = np.sqrt(np.square(difference).sum(2))
        return nearest, distances


def read_vectors(path: str | Path, words: Collection[str] | None = None) -> WordVectors:
    """Word vectors from a file.

    Args:
        path: GloVe text or word2vec text (both plain or .gz), or word2vec binary (.bin).
        words: whose vectors are read (None: all).

    Examples:
        >>> from wfalens import read_vectors
        >>> _ = Path("small.txt").write_text("good 1 0\\nbad 0 1\\n")
        >>> read_vectors("small.txt", ["bad"]).words
        ('bad',)
    """
    path = Path(path)
    if not path.is_file():
        reason = "neither a file nor a link to one" if path.exists() else "no such file"
        raise InputError(f"{path}: {reason}", code="no-file")
    selected = None if words is None else frozenset(words)
    entries = _binary_entries if ".bin" in map(str.lower, path.suffixes) else _text_entries
    found = dict[str, NDArray[np.float32]]()
    with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb") as handle:
        try:
            for word, vector in entries(handle, path, selected):
                found.setdefault(word, vector)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InputError(f"{path}: damaged gzip file ({error})") from None
    if not found:
        which = "any word" if selected is None else f"any of the {len(selected)} words asked for"
        raise InputError(f"{path}: no vector for {which}")
    return WordVectors(list(found), np.stack(list(found.values())), path.name)


def _check_inflation(handle: IO[bytes] | gzip.GzipFile, path: Path) -> None:
    if isinstance(handle, gzip.GzipFile) and handle.tell() > inflation_limit(path):
        raise InputError(f"{path}: it holds far more than its size when it is decompressed", code="too-large")


def _text_entries(
    handle: IO[bytes] | gzip.GzipFile, path: Path, selected: frozenset[str] | None
) -> Iterator[tuple[str, NDArray[np.float32]]]:
    width = 0
    try:
        for number, raw in enumerate(iter(partial(handle.readline, _LONGEST_LINE), b""), 1):
            line = raw.decode("utf-8").rstrip()
            if len(raw) == _LONGEST_LINE:
                raise InputError(f"{path}: line {number}: more than {_LONGEST_LINE:,} bytes", code="too-large")
            if number % _BLOCK == 0:
                _check_inflation(handle, path)
            if not line:
                continue
            parts = line.split(" ")
            if number == 1 and len(parts) == 2 and all(part.isdigit() for part in parts):
                width = int(parts[1])  # the word2vec header: number of words, width
                continue
            width = width or len(parts) - 1
            # a few tokens of GloVe hold blanks themselves: the vector is the last part
            word, fields = " ".join(parts[:-width]), parts[-width:] if width else []
            if not word or not fields:
                raise InputError(f"{path}: line {number}: {len(parts) - 1} numbers where {width} are expected")
            if selected is not None and word not in selected:
                continue
            try:
                yield word, np.array(fields, np.float32)
            except ValueError:
                raise InputError(f"{path}: line {number}: not a number in the vector of {word!r}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: line {number}: not UTF-8 text; a word2vec binary must end in .bin") from None


def _binary_entries(
    handle: IO[bytes] | gzip.GzipFile, path: Path, selected: frozenset[str] | None
) -> Iterator[tuple[str, NDArray[np.float32]]]:
    header = handle.readline(100).split()
    if len(header) != 2 or not all(part.isdigit() for part in header):
        raise InputError(f"{path}: not a word2vec binary: its first line must be the number of words and the width")
    count, width = map(int, header)
    if not 0 < width <= _WIDEST:
        raise InputError(f"{path}: vectors of {width:.6g} numbers; at most {_WIDEST:,} are read")
    for number in range(1, count + 1):
        word = bytearray()
        while (byte := handle.read(1)) != b" ":
            if not byte or len(word) > 10_000:
                raise InputError(f"{path}: ends or breaks at word {number} of {count}")
            if byte != b"\n":
                word += byte
        _check_inflation(handle, path)
        raw = handle.read(4 * width)
        if len(raw) != 4 * width:
            raise InputError(f"{path}: ends within word {number} of {count}")
        name = word.decode("utf-8", errors="replace")
        if selected is None or name in selected:
            yield name, np.frombuffer(raw, "<f4").copy()


NAME = "wordllama"
_WORD_START = "▁"
_SPELLINGS = (str, str.capitalize, str.upper)  # "peru" is two pieces, "Peru" is one
_SHORTEST_STEM = 4  # letters; what shorter pieces mean depends on what follows


def wordllama_vectors(words: Sequence[str]) -> WordVectors:
    """Vectors of the words that WordLlama knows: as one piece, or as a stem with an English ending.

    Other words have no vector. The mean of arbitrary pieces says how a word is spelt, not what it means: it would place
    "so" and "x" near "sox".
    """
    from wordllama import WordLlama

    words = [word for word in words if word.strip()]
    if not words:
        raise InputError("there is no word to look up vectors for")
    with as_file(files("wordllama")) as folder:
        model = WordLlama.load(cache_dir=folder, disable_download=True)
    model.tokenizer.no_padding()
    spelt = [
        model.tokenizer.encode_batch([spelling(word) for word in words], add_special_tokens=False)
        for spelling in _SPELLINGS
    ]
    split = [min(same, key=lambda pieces: len(pieces.ids)) for same in zip(*spelt, strict=True)]
    asked = frozenset(words)
    known = [at for at, pieces in enumerate(split) if _have_meaning(pieces.tokens, asked)]
    vectors = np.zeros((len(known), model.embedding.shape[1]), np.float32)
    for row, at in enumerate(known):  # the mean of the pieces, each by its letters
        letters = np.array([len(token.removeprefix(_WORD_START)) for token in split[at].tokens], np.float32)
        vectors[row] = letters @ model.embedding[split[at].ids] / letters.sum()
    return WordVectors([words[at] for at in known], vectors, NAME)


def _have_meaning(pieces: Sequence[str], words: Collection[str]) -> bool:
    """Whether a word is one piece, or a stem that is itself one of the words, with an ending: not "feder" and "er"."""
    stem = pieces[0].removeprefix(_WORD_START) if pieces else ""
    if len(pieces) == 1:
        return bool(stem)
    known = len(stem) >= _SHORTEST_STEM and stem.lower() in words
    return known and "".join(pieces[1:]).lower() in ENDINGS
