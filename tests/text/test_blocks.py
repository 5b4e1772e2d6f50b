"""Blocks depend on the texts alone: not on the format, nor on what stands between, nor on where a reader begins."""

import csv
import gzip
import io
import json
import os
import pickle
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wfalens.text.files import TextFiles, with_labels

# no surrogates; a folder's files have \n for every line end, and no byte order mark
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\r\ufeff")
TEXTS = st.lists(st.text(CHARACTERS, max_size=12) | st.sampled_from(["", "  ", "a\n\nb", '"', ",\t", "\x85", "ä" * 9]))


def delimited(texts: list[str], mark: str) -> bytes:
    content = io.StringIO()
    writer = csv.writer(content, delimiter=mark, quoting=csv.QUOTE_ALL)
    writer.writerows([("id", "text", "label"), *((at, text, f"l{at % 3}") for at, text in enumerate(texts))])
    return content.getvalue().encode()


def json_lines(texts: list[str]) -> bytes:
    rows = ({"text": text, "label": f"l{at % 3}"} for at, text in enumerate(texts))
    return "".join(json.dumps(row, ensure_ascii=at % 2 == 0) + "\n" for at, row in enumerate(rows)).encode()


def sources(texts: list[str], folder: Path, block_bytes: int):
    """The same texts in every form; labels where the form lets them differ from text to text."""
    blobs = {
        "x.csv": delimited(texts, ","),
        "x.tsv": delimited(texts, "\t"),
        "x.jsonl": json_lines(texts),
        "y.csv.gz": gzip.compress(delimited(texts, ",")),
        "y.jsonl.gz": gzip.compress(json_lines(texts)),
    }
    for name, blob in blobs.items():
        (folder / name).write_bytes(blob)
    labels = [f"l{at % 3}" for at in range(len(texts))]
    pq.write_table(pa.table({"label": labels, "text": pa.array(texts, pa.string())}), folder / "x.parquet", 3)
    for name in (*blobs, "x.parquet"):
        yield with_labels(TextFiles((str(folder / name),), block_bytes=block_bytes))[0]
    yield TextFiles((str(folder / "x.csv"),), block_bytes=block_bytes)
    (folder / "class" / "a").mkdir(parents=True)
    for at, text in enumerate(texts):
        (folder / "class" / "a" / f"{at:04d}").write_text(text, newline="")
    if texts:
        yield TextFiles((str(folder / "class"),), block_bytes=block_bytes)


def expected(texts: list[str], block_bytes: int) -> list[list[str]]:
    """The rule, word by word."""
    blocks: list[list[str]] = []
    size = block_bytes
    for text in texts:
        if not text.strip():
            continue
        if size >= block_bytes:
            blocks.append([])
            size = 0
        blocks[-1].append(text)
        size += len(text.encode()) + 1
    return blocks


@given(TEXTS, st.integers(1, 60))
@example(["", "a", "", "b", " ", ""], 1)
@example([" "], 5)
@example([f"text {at}" for at in range(1100)], 1000)
def test_blocks_are_the_same_in_every_format(texts, block_bytes):
    wanted = expected(texts, block_bytes)
    with TemporaryDirectory() as folder:
        for source in sources(texts, Path(folder), block_bytes):
            blocks = list(source.blocks(0))
            if not wanted and blocks:
                (only,) = blocks
                assert list(only.texts) == []
            else:
                assert [list(block.texts) for block in blocks] == wanted
            assert [block.number for block in blocks] == list(range(len(blocks)))
            assert sum(len(block.empty) for block in blocks) == sum(not text.strip() for text in texts)
            for block in blocks:
                assert block.size == sum(len(text.encode()) + 1 for text in block.texts)
                assert (block.labels is not None) == source.has_labels


@settings(max_examples=20)
@given(TEXTS, st.integers(1, 60))
@example([f"text {at}" for at in range(1100)], 7000)
def test_a_reader_that_begins_at_a_block_finds_the_same_blocks(texts, block_bytes):
    def shown(block):
        return block.number, block.start, list(block.texts), block.labels, list(block.empty), list(block.rows)

    with TemporaryDirectory() as folder:
        for source in sources(texts, Path(folder), block_bytes):
            blocks = list(source.blocks(0))
            for block in blocks[:: max(1, len(blocks) // 5)]:
                later = list(source.blocks(0, block.start, block.number))
                assert [shown(each) for each in later] == [shown(each) for each in blocks[block.number :]]


@settings(max_examples=20)
@given(TEXTS, st.integers(1, 60))
def test_labels_stay_with_their_texts(texts, block_bytes):
    labels = [f"l{at % 3}" for at, text in enumerate(texts) if text.strip()]
    with TemporaryDirectory() as folder:
        for source in sources(texts, Path(folder), block_bytes):
            if source.has_labels:
                assert [label for block in source.blocks(0) for label in block.labels] == labels


def test_long_lines_and_large_files_are_read_in_many_chunks(tmp_path):
    rng = np.random.default_rng(0)
    texts = [" ".join(map(str, rng.integers(0, 99, size))) for size in [*rng.integers(1, 40, 5000), 10**5, 7]]
    (tmp_path / "x.csv").write_bytes(delimited(texts, ","))
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress(json_lines(texts)))
    for name in ("x.csv", "x.jsonl.gz"):
        files = TextFiles((str(tmp_path / name),), block_bytes=10**5)
        blocks = list(files.blocks(0))
        assert [list(block.texts) for block in blocks] == expected(texts, 10**5)
        later = files.blocks(0, blocks[-2].start, blocks[-2].number)
        assert [list(block.texts) for block in later] == [list(block.texts) for block in blocks[-2:]]


def test_sources_can_be_sent_to_other_processes():
    texts = [f"text {at}" for at in range(40)]
    with TemporaryDirectory() as folder:
        for source in sources(texts, Path(folder), 50):
            source.sizes  # noqa: B018 - what is kept of it must not stand in the way
            copy = pickle.loads(pickle.dumps(source))  # noqa: S301
            assert [list(block.texts) for block in copy.blocks(0)] == expected(texts, 50)
            assert copy.identity() == source.identity()


def test_names_and_sizes_of_sources(tmp_path):
    texts = ["a", "b ä"]
    found = {source.name: source for source in sources(texts, tmp_path, 50)}
    assert set(found) == {*(path.name for path in tmp_path.iterdir())}
    assert found["x.csv"].sizes == [(tmp_path / "x.csv").stat().st_size]
    assert found["class"].sizes == [5]
    pattern = str(tmp_path / "x.*")
    assert TextFiles.find(pattern).name == pattern
    assert TextFiles.find(str(tmp_path / "*.parquet")).name == "x.parquet"
    assert [found[name].reader(0).divisible for name in ("x.csv", "x.parquet", "y.csv.gz", "class")] == [
        True,
        True,
        False,
        True,
    ]


def test_an_identity_changes_with_the_texts(tmp_path):
    (tmp_path / "x" / "pos").mkdir(parents=True)
    (tmp_path / "x" / "pos" / "a").write_text("a")
    before = TextFiles((str(tmp_path / "x"),)).identity()
    (tmp_path / "x" / "pos" / "a").write_text("ab")
    assert TextFiles((str(tmp_path / "x"),)).identity() != before


def test_an_identity_changes_with_the_texts_although_size_and_time_do_not(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a good film\n")
    files, about = TextFiles((str(path),)), path.stat()
    before = files.identity()
    path.write_text("a poor film\n")
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert files.identity() != before
