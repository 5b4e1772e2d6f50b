"""Rows of parquet files as packed bytes: whatever the type of the column, the texts are those of a plain reader."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.errors import raises
from wfalens.text.blocks import Place
from wfalens.text.files import TextFiles, read_corpus
from wfalens.text.packed import PackedTexts

TEXTS = ["plain words", None, "ünïcode", "", "  \t", "\u3000", "the last", "日本 語"] * 40
KINDS = {
    "string": pa.string(),
    "large": pa.large_string(),
    "view": pa.string_view(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
    "bytes": pa.binary(),
}


def written(path, column, **options):
    pq.write_table(pa.table({"text": column}), path, **options)
    return TextFiles((str(path),), block_bytes=300)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_text_column_gives_its_texts(tmp_path, kind):
    files = written(tmp_path / "all.parquet", pa.array(TEXTS, pa.string()).cast(KINDS[kind]), row_group_size=70)
    blocks = list(files.blocks(0))
    found = [text for block in blocks for text in block.texts]
    assert found == [text for text in TEXTS if text and not text.isspace()]
    assert found == list(read_corpus(files.paths[0]).texts)
    assert all(isinstance(block.texts, PackedTexts) for block in blocks)
    places = [block.place(text) for block in blocks for text in range(len(block.texts))]
    rows = [row for row, text in enumerate(TEXTS, 1) if text and not text.isspace()]
    assert places == [f"{files.paths[0]}: row {row}" for row in rows]
    assert sum(len(block.empty) for block in blocks) == len(TEXTS) - len(rows)
    assert all(block.size >= 300 for block in blocks[:-1])


@pytest.mark.parametrize("first", [0, 1, 69, 70, 71, 200])
def test_a_file_is_read_from_any_row_on(tmp_path, first):
    files = written(tmp_path / "all.parquet", [f"text {row}" for row in range(201)], row_group_size=70)
    found = [text for block in files.blocks(0, Place(first, first + 1)) for text in block.texts]
    assert found == [f"text {row}" for row in range(first, 201)]


def test_numbers_are_texts_too(tmp_path):
    files = written(tmp_path / "numbers.parquet", [22, None, 7])
    (block,) = files.blocks(0)
    assert (list(block.texts), block.bad) == (["22", "7"], [])
    assert read_corpus(files.paths[0]).texts == ("22", "7")


def test_bytes_that_are_not_text_are_named_by_their_row(tmp_path):
    raw = pa.array([b"good", b"\xff\xfe", b"also good"], pa.binary())
    files = written(tmp_path / "broken.parquet", pa.Array.from_buffers(pa.string(), 3, raw.buffers()))
    (block,) = files.blocks(0)
    (bad,) = block.bad
    assert list(block.texts) == ["good", "also good"]
    assert str(bad) == f"{files.paths[0]}: row 2: byte 0xff is not utf-8"


def test_a_name_of_a_column_that_is_no_text_is_refused(tmp_path):
    written(tmp_path / "names.parquet", ["good", "bad"])
    blob = (tmp_path / "names.parquet").read_bytes()
    (tmp_path / "names.parquet").write_bytes(blob.replace(b"text", b"te\xfft"))
    with raises("unreadable"):
        read_corpus(tmp_path / "names.parquet")


def test_rows_before_the_damage_are_read_and_the_damage_is_named(tmp_path):
    path = tmp_path / "cut.parquet"
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(list("abcdefgh"), 30)) for _ in range(300)]
    files = written(path, texts, row_group_size=100, compression="none", use_dictionary=False)
    blob = bytearray(path.read_bytes())
    middle = pq.read_metadata(path).row_group(1).column(0).data_page_offset
    blob[middle : middle + 40] = b"\xff" * 40
    path.write_bytes(blob)
    found = list(files.blocks(0))
    assert [text for block in found for text in block.texts] == texts[:100]
    ((bad,),) = [block.bad for block in found if block.bad]
    assert bad.place == "row 101"
    assert bad.reason.startswith("damaged parquet file (row group 2 of 3: ")
    later = list(files.blocks(0, Place(50, 51)))
    assert [text for block in later for text in block.texts] == texts[50:100]
    assert [each for block in later for each in block.bad] == [bad]


@given(st.lists(st.text(max_size=6), max_size=20))
def test_packed_texts_are_a_list_of_texts(texts):
    packed = PackedTexts.of(texts)
    assert list(packed) == texts
    assert packed[2:9:2] == texts[2:9:2]
    assert packed.is_ascii().tolist() == [text.isascii() for text in texts]
    assert list(packed.take(np.arange(len(texts))[::-1])) == texts[::-1]
