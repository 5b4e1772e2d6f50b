"""Odd files through both doors: read into memory, and read in blocks from any block on, they are the same."""

from __future__ import annotations

import gzip
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.errors import raises
from wfalens.errors import InputError
from wfalens.text import read_corpus, row_readers
from wfalens.text.blocks import classes_of
from wfalens.text.files import TextFiles, with_labels


@dataclass(frozen=True)
class Case:
    """A file, and what must come of it; `refused` is the code of the error, `place` the row that it names."""

    name: str
    content: bytes | Callable[[Path], None]
    texts: tuple[str, ...] = ()
    labels: tuple[str, ...] | None = None
    left_out: tuple[str, ...] = ()
    refused: str = ""
    place: str = ""
    encoding: str = "utf-8"

    def write(self, folder: Path) -> Path:
        path = folder / self.name
        if callable(self.content):
            self.content(path)
        else:
            path.write_bytes(self.content)
        return path


def parquet(**columns: Any) -> Callable[[Path], None]:
    return lambda path: pq.write_table(pa.table(columns), path, row_group_size=2)


def folder(**files: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        for name, text in files.items():
            file = path / name.replace("__", "/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    return write


def damaged(path: Path) -> None:
    parquet(text=["a a a", "b b b", "c c c", "d d d"])(path)
    blob = bytearray(path.read_bytes())
    at = pq.read_metadata(path).row_group(1).column(0).dictionary_page_offset
    blob[at : at + 12] = b"\xff" * 12
    path.write_bytes(blob)


def linked(path: Path) -> None:
    folder(pos__a="good")(path)
    (path / "neg").symlink_to(path / "gone")


def empty_class(path: Path) -> None:
    folder(pos__a="a")(path)
    (path / "neg").mkdir()


def link_in_class(path: Path) -> None:
    folder(pos__a="good")(path)
    (path / "pos" / "b").symlink_to(path / "gone")


def lines(*objects: object) -> bytes:
    return "".join(json.dumps(item) + "\n" for item in objects).encode()


ROWS = "text,label\na ä,x\nb,y\n"
JSON = '{"text": "a ä", "label": "x"}\n{"text": "b", "label": "y"}\n'
BOTH: dict[str, Any] = {"texts": ("a ä", "b"), "labels": ("x", "y")}
CASES = {
    "line ends of old": Case("x.csv", b"text,label\ra,x\r\rb,y\r", ("a", "b"), ("x", "y")),
    "mixed line ends": Case("x.csv", b'text\r\n"a\rb\r\nc"\n\rd\re\r\n', ("a\rb\r\nc", "d", "e")),
    "mixed line ends in JSON": Case("x.jsonl", b'{"text": "a"}\r{"text": "b"}\r\n\n{"text": "c"}', ("a", "b", "c")),
    "byte order mark": Case("x.csv", b"\xef\xbb\xbf" + ROWS.encode(), **BOTH),
    "byte order mark before a quote": Case("x.csv", b'\xef\xbb\xbf"text"\n"a\xef\xbb\xbf"\n', ("a\ufeff",)),
    "byte order mark in JSON": Case("x.jsonl", b"\xef\xbb\xbf" + JSON.encode(), **BOTH),
    "nothing but a byte order mark": Case("x.csv", b"\xef\xbb\xbf", refused="empty-file"),
    "utf-8-sig": Case("x.csv", b"\xef\xbb\xbf" + ROWS.encode(), encoding="utf-8-sig", **BOTH),
    "utf-8-sig without a mark": Case("x.jsonl", JSON.encode(), encoding="utf_8_sig", **BOTH),
    "utf-8-sig, a mark in a line": Case("x.csv", "text\na\n\ufeffb\n".encode(), ("a", "\ufeffb"), encoding="utf-8-sig"),
    "utf-16 of this machine": Case("x.csv", ROWS.encode("utf-16"), encoding="utf-16", **BOTH),
    "utf-16, big end first": Case("x.csv", b"\xfe\xff" + ROWS.encode("utf-16-be"), encoding="utf-16", **BOTH),
    "utf-16-le": Case("x.tsv", ROWS.replace(",", "\t").encode("utf-16-le"), encoding="utf-16-le", **BOTH),
    "utf-16-be in JSON": Case("x.jsonl", JSON.encode("utf-16-be"), encoding="utf-16-be", **BOTH),
    "utf-16-le with a mark": Case("x.csv", b"\xff\xfe" + ROWS.encode("utf-16-le"), encoding="utf-16-le", **BOTH),
    "utf-16 in an archive": Case("x.csv.gz", gzip.compress(ROWS.encode("utf-16")), encoding="utf-16", **BOTH),
    "utf-16 without a mark": Case(
        "x.csv",
        ROWS.encode("utf-16-be"),
        encoding="utf-16",
        refused="unreadable",
    ),
    "utf-16 that is cut off": Case(
        "x.csv",
        ROWS.encode("utf-16-le") + b"c",
        encoding="utf-16-le",
        refused="bad-row",
        place="row 4",
    ),
    "characters of a line end in utf-16": Case(
        "x.csv", "text\n\u0a0d\n".encode("utf-16"), ("\u0a0d",), encoding="utf-16"
    ),
    "utf-16 by its mark": Case("x.csv", ROWS.encode("utf-16"), **BOTH),
    "utf-16 by its mark, tabs": Case("x.tsv", ROWS.replace(",", "\t").encode("utf-16"), **BOTH),
    "latin-1": Case("x.csv", ROWS.encode("latin-1"), encoding="latin-1", **BOTH),
    "an encoding with states": Case(
        "x.csv", "text\n日本\n語\n".encode("iso2022-jp"), ("日本", "語"), encoding="iso2022-jp"
    ),
    "bytes below 128 in a wrong character": Case(
        "x.csv",
        b"text\na\n\x81\x20\n",
        encoding="gbk",
        refused="bad-row",
        place="row 3",
    ),
    "wrong bytes": Case(
        "x.csv",
        ROWS.encode("latin-1"),
        refused="bad-row",
        place="row 2",
    ),
    "wrong bytes in JSON": Case(
        "x.jsonl",
        JSON.encode("latin-1"),
        refused="bad-row",
        place="line 1",
    ),
    "wrong bytes that nobody reads": Case("x.csv", b"text,more\na,\xff\nb,b\n", ("a", "b")),
    "an encoding that nobody knows": Case("x.csv", b"text\na\n", encoding="klingon", refused="encoding"),
    "an archive without its ending": Case("x.csv", gzip.compress(ROWS.encode()), **BOTH),
    "an archive without its ending, JSON": Case("x.jsonl", gzip.compress(JSON.encode()), **BOTH),
    "no archive": Case("x.csv.gz", ROWS.encode(), refused="unreadable"),
    "an archive that is cut off": Case(
        "x.csv.gz",
        gzip.compress(b"text\na\nb\nc\n")[:-8],
        refused="bad-row",
        place="row 5",
    ),
    "NaN in csv": Case("x.csv", b"text,label\nNaN,nan\nnull,inf\n", ("NaN", "null"), ("nan", "inf")),
    "NaN in JSON": Case(
        "x.jsonl",
        b'{"text": NaN, "label": 1}\n{"text": "NaN", "label": "NaN"}\n',
        ("NaN",),
        ("NaN",),
        ("line 1: empty text",),
    ),
    "NaN as label in JSON": Case("x.jsonl", b'{"text": "a", "label": NaN}\n', refused="bad-row", place="line 1"),
    "NaN in parquet": Case("x.parquet", parquet(text=[1.5, float("nan")]), ("1.5",), None, ("row 2: empty text",)),
    "NaN as label in parquet": Case(
        "x.parquet", parquet(text=["a", "b"], label=[1.0, float("nan")]), refused="bad-row", place="row 2"
    ),
    "a list in JSON": Case("x.jsonl", lines({"text": "a"}, {"text": ["b"]}), refused="bad-row", place="line 2"),
    "an object in JSON": Case("x.jsonl", lines({"text": {"a": 1}}), refused="bad-row", place="line 1"),
    "a list as label": Case("x.jsonl", lines({"text": "a", "label": ["b"]}), refused="bad-row", place="line 1"),
    "lists in parquet": Case("x.parquet", parquet(text=[["a"]]), refused="column"),
    "structs in parquet": Case(
        "x.parquet",
        parquet(text=["a"], label=[{"a": 1}]),
        refused="column",
    ),
    "numbers in JSON": Case("x.jsonl", lines(*({"text": each} for each in (5, 1.5, True))), ("5", "1.5", "True")),
    "numbers in parquet": Case("x.parquet", parquet(text=[5, None, 7]), ("5", "7"), None, ("row 2: empty text",)),
    "truths in parquet": Case("x.parquet", parquet(text=[True], label=[False]), ("True",), ("False",)),
    "nothing in parquet": Case(
        "x.parquet", parquet(text=pa.nulls(1)), left_out=("row 1: empty text",), refused="empty-file"
    ),
    "bytes in parquet": Case("x.parquet", parquet(text=["ä".encode()], label=[b"x"]), ("ä",), ("x",)),
    "bytes of one size in parquet": Case("x.parquet", parquet(text=pa.array([b"ab"], pa.binary(2))), ("ab",)),
    "wrong bytes in parquet": Case("x.parquet", parquet(text=[b"a", b"\xff"]), refused="bad-row", place="row 2"),
    "a text twice": Case("x.jsonl", b'{"text": "a", "text": "b"}\n', refused="bad-row", place="line 1"),
    "a label twice": Case(
        "x.jsonl",
        b'{"text": "a", "label": 1}\n{"label": 1, "text": "a", "label": 1}\n',
        refused="bad-row",
        place="line 2",
    ),
    "something else twice": Case("x.jsonl", b'{"text": "a", "id": 1, "id": 2}\n', ("a",)),
    "a column twice": Case("x.csv", b"text,text\n", refused="column"),
    "a first object without a label": Case(
        "x.jsonl", lines({"text": "a"}, {"text": "b", "label": "x"}), refused="bad-row", place="line 1"
    ),
    "a first object without a text": Case(
        "x.jsonl", lines({"label": "x"}, {"text": "b", "label": "x"}), refused="bad-row", place="line 1"
    ),
    "no object with a text": Case("x.jsonl", lines({"body": "a"}), refused="column"),
    "no object": Case("x.jsonl", b"\n \n", refused="empty-file"),
    "half of a pair": Case(
        "x.jsonl",
        b'{"text": "a"}\n{"text": "\\udcff"}\n',
        refused="bad-row",
        place="line 2",
    ),
    "more than an object": Case("x.jsonl", b'{"text": "a"} {"text": "b"}\n', refused="bad-row", place="line 1"),
    "empty rows in csv": Case(
        "x.csv",
        b'text,label\n,x\n\na,x\n"  ",y\n"\n",\n',
        ("a",),
        ("x",),
        ("row 2: empty text", "row 4: empty text", "row 5: empty text"),
    ),
    "empty rows in JSON": Case(
        "x.jsonl",
        lines({"text": ""}, {"text": "a"}, {"text": None}, {"text": "\u3000\t"}),
        ("a",),
        None,
        ("line 1: empty text", "line 3: empty text", "line 4: empty text"),
    ),
    "empty rows in parquet": Case(
        "x.parquet",
        parquet(text=["", "a", None, "\u2028 \x1f\x85"], label=[None, "x", "y", "y"]),
        ("a",),
        ("x",),
        ("row 1: empty text", "row 3: empty text", "row 4: empty text"),
    ),
    "nothing but empty rows": Case(
        "x.csv",
        b'text,more\n,1\n" ",2\n',
        left_out=("row 2: empty text", "row 3: empty text"),
        refused="empty-file",
    ),
    "no rows": Case("x.csv", b"text\n", refused="empty-file"),
    "a missing label": Case("x.tsv", b"text\tlabel\na\tx\nb\t \n", refused="bad-row", place="row 3"),
    "a header twice": Case("x.csv", ROWS.encode() * 2, refused="bad-row", place="row 4"),
    "too few columns": Case("x.csv", b"text,label\na,x\nb\n", refused="bad-row", place="row 3"),
    "more behind a quote": Case("x.csv", b'text\na\n"b"c\nd\n', ("a", "bc", "d")),
    "quotes within a value": Case("x.csv", b'text,label\n5" pipe,x\na "b" c,y\n', ('5" pipe', 'a "b" c'), ("x", "y")),
    "semicolons": Case("x.csv", ROWS.replace(",", ";").encode(), **BOTH),
    "semicolons, quoted": Case("x.csv", b'"text";"label"\n"a; b, c";x\n"d\n;e";y\n', ("a; b, c", "d\n;e"), ("x", "y")),
    "tabs in a csv file": Case("x.csv", ROWS.replace(",", "\t").encode(), **BOTH),
    "commas in a tsv file": Case("x.tsv", ROWS.encode(), **BOTH),
    "commas within semicolons": Case("x.csv", b"text;label\na, b;x\nc,d;y\n", ("a, b", "c,d"), ("x", "y")),
    "a line of Excel's": Case("x.csv", b"sep=;\r\ntext;label\r\na;x\r\nb;y\r\n", ("a", "b"), ("x", "y")),
    "blanks in the header": Case("x.csv", b"text, label\na, x\nb, y\n", ("a", "b"), ("x", "y")),
    "blank lines before the header": Case("x.csv", b"\n\r\ntext\na\n", ("a",)),
    "ragged rows in another encoding": Case("x.csv", b"text,label\n\xe4,x,y\nb,y\n", refused="bad-row", place="row 2"),
    "quotes without an end": Case("x.csv", b'text\na\n"b\nc\n', refused="bad-row", place="row 3"),
    "a header without an end": Case("x.csv", b'"text\n', refused="empty-file"),
    "control characters in a header": Case("x.csv", b"\x1b[31mred\x07,b\x00\n1,2\n", refused="column"),
    "a folder": Case("x", folder(pos__b="b", pos__a="a", neg__c="c\r\nd"), ("c\nd", "a", "b"), ("neg", "pos", "pos")),
    "an empty file in a folder": Case(
        "x", folder(pos__a="a", pos__b=" ", neg__a=""), ("a",), ("pos",), ("neg/a: empty text", "pos/b: empty text")
    ),
    "files in the root of a folder": Case(
        "x", folder(pos__a="a", readme="b"), ("a",), ("pos",), ("readme: not in the folder of a class",)
    ),
    "files too deep in a folder": Case(
        "x", folder(pos__a="a", pos__b__c="c"), ("a",), ("pos",), ("pos/b: a folder within the folder of a class",)
    ),
    "hidden files": Case("x", folder(pos__a="a", **{".x": "b", "pos__.y": "c", ".git__z": "d"}), ("a",), ("pos",)),
    "a class without a file": Case(
        "x",
        empty_class,
        ("a",),
        ("pos",),
        ("neg: a class without a file",),
    ),
    "a folder without classes": Case(
        "x",
        folder(readme="b"),
        refused="folder",
    ),
    "a class that cannot be reached": Case("x", linked, refused="folder"),
    "a file that cannot be reached": Case("x", link_in_class, refused="bad-row", place="pos/b"),
    "a folder in another encoding": Case("x", folder(pos__a="ä"), encoding="ascii", refused="bad-row", place="pos/a"),
    "a damaged page": Case("x.parquet", damaged, refused="bad-row", place="row 3"),
    "no parquet": Case("x.parquet", b"PAR1 but no more", refused="unreadable"),
    "a pipe": Case("x.csv", os.mkfifo, refused="no-file"),
    "another format": Case("x.docx", b"a", refused="format"),
    "plain lines": Case("x.txt", 'one, text\r\n\n"täxt"\nlabel'.encode(), ("one, text", '"täxt"', "label")),
    "a word as its column is called": Case("x.csv", b"text\nthe\ntext\n", ("the", "text")),
    "plain lines in another encoding": Case(
        "x.txt",
        "a\nä\n".encode("latin-1"),
        refused="bad-row",
        place="line 2",
    ),
}


def through_memory(path: Path, encoding: str) -> tuple[Any, ...] | str:
    try:
        corpus = read_corpus(path, encoding=encoding)
    except InputError as error:
        return str(error)
    labels = None if corpus.labels is None else tuple(corpus.class_names[label] for label in corpus.labels)
    return corpus.texts, labels, corpus.skipped


def through_blocks(path: Path, encoding: str, block_bytes: int) -> tuple[Any, ...] | str:
    """The same of blocks; every block must be met again by a reader that begins there."""
    try:
        files, _ = with_labels(TextFiles((str(path),), encoding=encoding, block_bytes=block_bytes))
        blocks = list(files.blocks(0))
    except InputError as error:
        return str(error)
    for block in blocks:
        later = list(files.blocks(0, block.start, block.number))
        assert [shown(each) for each in later] == [shown(each) for each in blocks[block.number :]]
    bad = [str(each) for block in blocks for each in block.bad]
    if bad:
        return bad[0]
    texts = tuple(text for block in blocks for text in block.texts)
    labels = tuple(label for block in blocks for label in block.labels or ()) if files.has_labels else None
    left_out = [sentence for block in blocks for sentence in block.left_out(100)]
    assert len(left_out) == sum(len(block.empty) for block in blocks)
    return texts, labels, tuple(left_out)


def shown(block: Any) -> tuple[Any, ...]:
    places = [block.place(text) for text in range(len(block.texts))]
    labels = None if block.labels is None else list(block.labels)
    texts = list(block.texts)
    return block.number, block.start, texts, labels, block.size, block.left_out(100), block.bad, places


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_file_is_the_same_through_both_doors(tmp_path, monkeypatch, case):
    path = case.write(tmp_path)
    memory = through_memory(path, case.encoding)
    for chunk_bytes, block_bytes in ((1, 1), (1, 10**6), (4, 6), (1 << 19, 1), (1 << 19, 10**6)):
        monkeypatch.setattr("wfalens.text.row_readers._CHUNK", chunk_bytes)
        blocks = through_blocks(path, case.encoding, block_bytes)
        if blocks[0] == () and isinstance(memory, str):  # a stream may have files without any text
            assert case.refused == "empty-file"
            assert blocks[2] == tuple(f"{path}: {row}" for row in case.left_out)
        elif case.refused:
            assert memory.startswith(blocks)
        else:
            assert blocks == memory
    if case.refused:
        with raises(case.refused) as caught:
            read_corpus(path, encoding=case.encoding)
        assert str(caught.value) == memory
        assert memory.startswith(f"{path}: {case.place}" if case.place else str(path))
    else:
        left_out = tuple(f"{path}: {row}" for row in case.left_out)
        assert memory == (case.texts, case.labels, left_out)


def test_advice_in_an_error_works_when_it_is_followed(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("Comment;Sentiment\nschön;gut\nschlecht;\n".encode("latin-1"))
    with raises("column", match="the columns are Comment, Sentiment.*text_column="):
        read_corpus(path)
    with raises("bad-row", match='encoding="latin-1"'):
        read_corpus(path, text_column="Comment")
    assert read_corpus(path, text_column="Comment", encoding="latin-1").texts == ("schön", "schlecht")
    with raises("bad-row", match="labels=False"):
        read_corpus(path, text_column="Comment", label_column="Sentiment", encoding="latin-1")
    alone = read_corpus(path, text_column="Comment", label_column="Sentiment", encoding="latin-1", labels=False)
    assert alone.labels is None


def test_damage_in_parquet_is_named_with_its_row_group(tmp_path):
    path = CASES["a damaged page"].write(tmp_path)
    with pytest.raises(InputError, match=rf"{path}: row 3: damaged parquet file \(row group 2 of 2: .*\); the rest"):
        read_corpus(path)


def test_a_class_folder_that_cannot_be_listed_is_named(tmp_path, monkeypatch):
    folder(pos__a="good", neg__a="bad")(tmp_path / "x")
    listing = os.scandir

    def denied(path: Path) -> Any:
        if Path(path).name == "neg":
            raise PermissionError(13, "Permission denied", str(path))
        return listing(path)

    monkeypatch.setattr(os, "scandir", denied)
    memory = through_memory(tmp_path / "x", "utf-8")
    assert memory == f"{tmp_path / 'x' / 'neg'}: the folder cannot be read (Permission denied)"
    assert through_blocks(tmp_path / "x", "utf-8", 1) == memory


def test_a_pipe_within_a_class_folder_is_not_waited_for(tmp_path):
    folder(pos__a="good")(tmp_path / "x")
    os.mkfifo(tmp_path / "x" / "pos" / "b")
    memory = through_memory(tmp_path / "x", "utf-8")
    assert memory == f"{tmp_path / 'x'}: pos/b: not a file that can be read"
    assert stat.S_ISFIFO((tmp_path / "x" / "pos" / "b").stat().st_mode)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", ("a" * 10**5 + ",").encode() * 30 + b"b\n"),
        ("x.jsonl", lines({f"{at}" * 10**4: 1 for at in range(100)})),
        ("x.csv", b"text,label\na," + b"b" * 10**5 + b"\n" + b"c,c\n"),
        ("x.jsonl", b"[" * 10**5),
    ],
)
def test_sentences_are_printable_and_short(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    files, _ = with_labels(TextFiles((str(tmp_path / name),)))
    try:
        sentences = [str(bad) for block in files.blocks(0) for bad in (*block.bad, *classes_of(block, {"c": 0})[1])]
    except InputError as error:
        sentences = [str(error)]
    (sentence,) = sentences
    assert len(sentence) < 2000 + len(str(tmp_path))
    assert sentence.isprintable()


def test_control_characters_in_the_name_of_a_file_do_not_reach_the_terminal(tmp_path):
    path = tmp_path / "\x1b[31m.csv"
    path.write_bytes(b"text,label\n,a\nb\n")
    (block,) = TextFiles((str(path),)).blocks(0)
    assert str(block.bad[0]).isprintable()
    assert block.left_out(1)[0].isprintable()
    with pytest.raises(InputError) as refused:
        read_corpus(path, text_column="body")
    assert str(refused.value).isprintable()


def test_classes_that_spell_numbers_have_the_same_order_with_any_hash_seed(tmp_path):
    labels = ["nan", "10", "NaN", "inf", "9", "-inf", "x", "-nan", "1e1", "Infinity"]
    (tmp_path / "x.csv").write_text("text,label\n" + "".join(f"a,{label}\n" for label in labels))
    script = "import sys; from wfalens import read_corpus; print(read_corpus(sys.argv[1]).class_names)"
    found = {
        subprocess.run(
            [sys.executable, "-c", script, tmp_path / "x.csv"],
            env=os.environ | {"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2)
    }
    names = ("-inf", "9", "10", "1e1", "Infinity", "inf", "-nan", "NaN", "nan", "x")
    assert found == {f"{names}\n"}


def test_many_rows_without_text_are_counted_and_the_first_named(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"text": "a"}\n' + b'{"text": ""}\n' * 5000)
    (block,) = TextFiles((str(path),)).blocks(0)
    assert len(block.empty) == 5000
    assert block.left_out(20) == [f"{path}: line {line}: empty text" for line in range(2, 22)]
    assert len(read_corpus(path).skipped) == 5000


def test_a_file_in_which_nothing_can_be_read_ends_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr("wfalens.text.blocks._MAX_BAD", 3)
    (tmp_path / "x.csv").write_text("text\na\n" + "b,c\n" * 4)
    with pytest.raises(InputError, match=r"x\.csv: row 3: 2 columns .*; more than 3 rows near it cannot be read"):
        list(TextFiles((str(tmp_path / "x.csv"),)).blocks(0))


@pytest.mark.parametrize(
    ("name", "content", "encoding", "reason"),
    [
        ("x.jsonl", b'[{"text": "a"}, ' * 20_000, "utf-8", "line 1: a row of more than 0 MB"),
        ("x.csv", b'text\n"' + b"a\n" * 100_000, "utf-8", "row 2: a row of more than 0 MB"),
        ("x.csv", ("text\na\n" + "b" * 200_000).encode("utf-16"), "utf-16", "row 3: a row of more than 0 MB"),
    ],
)
def test_a_text_without_an_end_does_not_fill_the_memory(tmp_path, monkeypatch, name, content, encoding, reason):
    monkeypatch.setattr("wfalens.text.row_readers.LONGEST", 100_000)
    monkeypatch.setattr("wfalens.text.row_readers._CHUNK", 50_000)
    (tmp_path / name).write_bytes(content)
    memory = through_memory(tmp_path / name, encoding)
    assert memory.startswith(f"{tmp_path / name}: {reason}")
    assert through_blocks(tmp_path / name, encoding, 1) == memory


def test_a_pattern_for_any_depth_means_files(tmp_path):
    (tmp_path / "a" / "c").mkdir(parents=True)
    for name in ("x.csv", "a/y.csv", "a/c/z.csv"):
        (tmp_path / name).write_text(f"text\n{name}\n")
    assert read_corpus(tmp_path / "**").texts == ("a/c/z.csv", "a/y.csv", "x.csv")
    assert TextFiles.find(f"{tmp_path}/**").name == f"{tmp_path}/**"


def test_many_files_are_one_corpus(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\na,x\n,y\n")
    (tmp_path / "b.jsonl").write_bytes(lines({"text": "b", "label": "y"}))
    corpus = read_corpus(tmp_path / "*.*")
    assert (corpus.texts, corpus.class_names) == (("a", "b"), ("x", "y"))
    assert corpus.skipped == (f"{tmp_path / 'a.csv'}: row 3: empty text",)
    (tmp_path / "c.csv").write_text("text\nc\n")
    with pytest.raises(InputError, match=r"labels are not used: .*c\.csv has no column 'label'; name the column"):
        read_corpus(tmp_path / "*.*")
    assert read_corpus(tmp_path / "*.*", labels=False).texts == ("a", "b", "c")


@pytest.mark.slow
@pytest.mark.parametrize("line", ["\n", " \n", "x\n", "\r"])
def test_a_small_archive_of_many_lines_is_not_read_to_its_end(tmp_path, line):
    path = tmp_path / "lines.txt.gz"
    path.write_bytes(gzip.compress(line.encode() * (1 << 25), 9))
    with raises("bad-row", match="times its size"):
        read_corpus(path)


@pytest.mark.parametrize("ending", ["txt", "csv", "jsonl"])
def test_of_an_archive_of_blank_lines_at_most_fifty_times_its_size_is_decompressed(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(row_readers, "_LEAST_INFLATED", 0)
    path, read = tmp_path / f"lines.{ending}.gz", [0]
    path.write_bytes(gzip.compress(b'{"text": "x"}\n' + b"\n" * (1 << 25), 9))

    class Counted(gzip.GzipFile):
        def read1(self, size=-1):
            piece = super().read1(size)
            read[0] += len(piece)
            return piece

    monkeypatch.setattr(row_readers.gzip, "open", lambda path, mode: Counted(path, mode))
    blocks = list(TextFiles.find(str(path), "text" if ending != "csv" else '{"text": "x"}').blocks(0))
    assert "times its size" in blocks[-1].refused[-1][1]
    assert read[0] < 50 * path.stat().st_size + (1 << 21)  # the head of the file is read a second time


@pytest.mark.parametrize("header", ['text, "label"', '"text", "label"', 'text; "label"'])
def test_a_header_quoted_behind_a_blank_is_refused(tmp_path, header):
    path = tmp_path / "a.csv"
    path.write_text(f'{header}\n"a b", "x"\n"c d", "y"\n')
    with raises("column"):
        read_corpus(path)


def test_a_header_with_blanks_is_understood(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text, label\na b, x\nc d, y\n")
    corpus = read_corpus(path)
    assert (corpus.texts, corpus.class_names, corpus.labels.tolist()) == (("a b", "c d"), ("x", "y"), [0, 1])


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.jsonl"])
def test_lines_that_end_in_carriage_returns_are_the_same_in_blocks_of_any_size(tmp_path, name):
    rows = {"a.txt": ["a b", "c d"], "a.csv": ["text", "a b", "c d"], "a.jsonl": ['{"text": "a b"}', '{"text": "c d"}']}
    path = tmp_path / name
    path.write_bytes("\r".join([*rows[name], ""]).encode())
    assert read_corpus(path).texts == ("a b", "c d")
    files = TextFiles((str(path),), block_bytes=2)
    assert [text for block in files.blocks(0) for text in block.texts] == ["a b", "c d"]


def test_a_parquet_file_that_claims_more_rows_than_it_can_hold_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": pa.array(["same"] * (1 << 21)).dictionary_encode()}), path)
    with raises("unreadable"):
        read_corpus(path)


def test_the_systems_own_folders_are_read_to_an_end(tmp_path):
    """Their files have no size, and some of them no end."""
    (tmp_path / "self").symlink_to("/proc/self")
    with raises("bad-row"):
        read_corpus(tmp_path)
