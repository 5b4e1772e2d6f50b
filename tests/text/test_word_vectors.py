"""Word vectors: formats, neighbours, refusals."""

import gzip
import os

import numpy as np
import pytest

from tests.errors import raises
from tests.files import little_memory
from wfalens.errors import InputError
from wfalens.text import WordVectors, read_vectors, wordllama_vectors

WORDS = ["king", "queen", "apple", "don't"]
MATRIX = np.array([[1, 0], [1, 0.1], [-1, 2], [5, 5]], np.float32)
LINES = "".join(f"{word} {x:g} {y:g}\n" for word, (x, y) in zip(WORDS, MATRIX, strict=True))


def binary() -> bytes:
    body = b"".join(
        word.encode() + b" " + row.astype("<f4").tobytes() + b"\n" for word, row in zip(WORDS, MATRIX, strict=True)
    )
    return b"4 2\n" + body


@pytest.mark.parametrize(
    ("name", "blob"),
    [
        ("glove.txt", LINES.encode()),
        ("glove.txt.gz", gzip.compress(LINES.encode(), mtime=0)),
        ("word2vec.txt", b"4 2\n" + LINES.encode()),
        ("word2vec.bin", binary()),
        ("word2vec.bin.gz", gzip.compress(binary(), mtime=0)),
    ],
)
def test_all_formats_read_the_same(tmp_path, name, blob):
    (tmp_path / name).write_bytes(blob)
    vectors = read_vectors(tmp_path / name)
    assert vectors.words == tuple(WORDS)
    np.testing.assert_allclose(vectors.matrix, MATRIX)
    assert read_vectors(tmp_path / name, ["apple", "pear"]).words == ("apple",)


@pytest.mark.parametrize(
    ("name", "blob", "message"),
    [
        ("a.txt", b"king 1 0\nqueen 1\n", "line 2: 1 numbers where 2 are expected"),
        ("a.txt", b"king\n", "line 1: 0 numbers"),
        ("a.txt", b"king 1 0\nqueen 1 x\n", "line 2: not a number in the vector of 'queen'"),
        ("a.txt", b"king 1 0\n\xff\xfe 1 0\n", "line 2: not UTF-8"),
        ("a.txt", b"", "no vector for any word"),
        ("a.txt.gz", b"nonsense", "damaged gzip"),
        ("a.txt", b"king 1 nan\n", "not finite"),
        ("a.bin", b"hello\n", "not a word2vec binary"),
        ("a.bin", binary()[:-6], "ends within word 4 of 4"),
    ],
)
def test_bad_files_are_refused_with_the_line(tmp_path, name, blob, message):
    (tmp_path / name).write_bytes(blob)
    with pytest.raises(InputError, match=message):
        read_vectors(tmp_path / name)


def test_tokens_with_blanks_and_blank_lines(tmp_path):
    (tmp_path / "a.txt").write_text("good 1 2\n. . . 3 4\n\nbad 5 6\n\n")
    vectors = read_vectors(tmp_path / "a.txt")
    assert vectors.words == ("good", ". . .", "bad")
    assert vectors[". . ."].tolist() == [3, 4]


def test_no_wanted_word_covered(tmp_path):
    (tmp_path / "a.txt").write_bytes(LINES.encode())
    with pytest.raises(InputError, match="any of the 1 words asked for"):
        read_vectors(tmp_path / "a.txt", ["zebra"])


def test_neighbours_equal_a_sort_of_all_distances():
    rng = np.random.default_rng(0)
    vectors = WordVectors([f"w{i}" for i in range(2500)], rng.normal(size=(2500, 8)).astype(np.float32))
    nearest, distances = vectors.neighbours(k=4)
    for row in range(0, 2500, 137):
        gaps = np.linalg.norm(vectors.matrix - vectors.matrix[row], axis=1)
        gaps[row] = np.inf
        expected = np.argsort(gaps)[:4]
        assert nearest[row].tolist() == expected.tolist()
        np.testing.assert_allclose(distances[row], gaps[expected], rtol=1e-5)
    assert vectors.nearest("w3", 2) == [(f"w{nearest[3, i]}", pytest.approx(float(distances[3, i]))) for i in range(2)]


def test_reduction_keeps_words_and_most_of_the_distances():
    rng = np.random.default_rng(0)
    matrix = (rng.normal(size=(50, 3)) @ rng.normal(size=(3, 8))).astype(np.float32)
    vectors = WordVectors([f"w{i}" for i in range(50)], matrix)
    small = vectors.reduced(3)
    assert (small.words, small.width) == (vectors.words, 3)
    assert small.nearest("w0", 3) == [(word, pytest.approx(gap, rel=1e-3)) for word, gap in vectors.nearest("w0", 3)]
    assert vectors.reduced(9) is vectors


def test_unknown_word_is_refused():
    with pytest.raises(InputError, match="no vector for 'zebra'"):
        WordVectors(WORDS, MATRIX)["zebra"]


def test_wordllama_knows_that_cats_are_like_dogs():
    vectors = wordllama_vectors(["cat", "dog", "bond", "stock"])
    assert vectors.nearest("cat", 1)[0][0] == "dog"
    assert vectors.width == 256


def test_special_files_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.txt")
    for path in ("/dev/zero", tmp_path / "pipe.txt", tmp_path):
        with raises("no-file"):
            read_vectors(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "blob"),
    [
        ("line.txt.gz", bytes(1 << 28)),
        ("blank.txt.gz", b"\n" * (1 << 26)),
        ("same.txt.gz", b"word 1 2 3\n" * (1 << 22)),
        ("words.bin.gz", b"9999999 100\n" + (b"w " + bytes(400)) * (1 << 17)),
    ],
)
def test_a_small_archive_does_not_fill_the_memory(tmp_path, name, blob):
    (tmp_path / name).write_bytes(gzip.compress(blob, 9))
    with raises("too-large"), little_memory(1 << 29):
        read_vectors(tmp_path / name, ["word"])


def test_vectors_wider_than_any_are_refused(tmp_path):
    (tmp_path / "wide.bin").write_bytes(b"1 99999999999\nw " + bytes(100))
    with pytest.raises(InputError), little_memory(1 << 29):
        read_vectors(tmp_path / "wide.bin")
