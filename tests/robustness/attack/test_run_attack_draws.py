"""Texts to attack from files of any size: a fair draw, the same for equal seeds, of what is there."""

from collections import Counter

import pytest

from tests.errors import raises
from tests.streams import some_labels, some_texts, write_texts
from wfalens.errors import InputError
from wfalens.robustness.attack.run_attack import draw_texts
from wfalens.text import read_corpus
from wfalens.text.files import TextFiles

CLASSES = ("a", "b", "c")
ENDINGS = ("csv", "jsonl", "parquet")


@pytest.fixture
def files(tmp_path):
    """Texts that tell their files and positions; each label follows from its text."""
    paths = []
    for file, ending in enumerate(ENDINGS):
        texts = [f"t{file} n{at}" for at in range(100)]
        texts[7] = ""
        paths.append(write_texts(tmp_path / f"{file}.{ending}", texts, ["abc"[at % 3] for at in range(100)]))
    return TextFiles(tuple(map(str, paths)), name="texts", block_bytes=200)


def test_all_texts_are_drawn_in_their_order_where_there_are_not_more(files):
    drawn = draw_texts(files, 10**6, CLASSES)
    held = [read_corpus(path) for path in files.paths]
    assert drawn.texts == tuple(text for part in held for text in part.texts)
    assert drawn.labels.tolist() == [label for part in held for label in part.labels]
    assert (drawn.name, drawn.class_names) == ("texts", CLASSES)


def test_labels_stay_with_their_texts(files):
    drawn = draw_texts(files, 40, CLASSES, seed=3)
    assert len(drawn) == 40
    assert [int(text.split("n")[1]) % 3 for text in drawn.texts] == drawn.labels.tolist()
    positions = [tuple(int(part[1:]) for part in text.split()) for text in drawn.texts]
    assert positions == sorted(positions)


def test_equal_seeds_draw_equal_texts(files):
    first = draw_texts(files, 30, CLASSES, seed=1).texts
    assert first == draw_texts(files, 30, CLASSES, seed=1).texts
    assert first != draw_texts(files, 30, CLASSES, seed=2).texts


@pytest.mark.slow
def test_every_text_is_as_likely_as_any_other(files):
    draws, size = 200, 30
    drawn = Counter(text for seed in range(draws) for text in draw_texts(files, size, CLASSES, seed=seed).texts)
    expected = draws * size / 297  # 20.2, with a standard deviation of 4.3
    assert min(drawn.values()) > 3
    assert max(drawn.values()) < 42
    spread = sum((count - expected) ** 2 for count in drawn.values()) / expected
    assert 175 < spread < 360  # 297 · (1 − 30/297) = 267, give or take four of its standard deviations


def test_a_bad_row_that_is_drawn_is_named(tmp_path):
    path = write_texts(tmp_path / "x.jsonl", some_texts(3), ["a", "b", "z"])
    with pytest.raises(InputError, match=r"x\.jsonl: line 3: label 'z' is not one of the classes a, b, c"):
        draw_texts(TextFiles((str(path),)), 5, CLASSES)


def test_files_without_labels_or_texts_are_refused(tmp_path):
    bare = write_texts(tmp_path / "bare.csv", some_texts(3))
    labelled = write_texts(tmp_path / "labelled.csv", some_texts(3), some_labels(3))
    empty = write_texts(tmp_path / "empty.csv", ["", ""], ["a", "b"])
    with raises("no-labels"):
        draw_texts(TextFiles((str(bare),), name="texts"), 5, CLASSES)
    with raises("no-labels"):
        draw_texts(TextFiles((str(bare), str(labelled))), 5, CLASSES)
    with raises("no-texts"):
        draw_texts(TextFiles((str(empty),)), 5, CLASSES)
