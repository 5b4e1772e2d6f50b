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

from wfalens.errors import InputError
from wfalens.text import read_corpus
from wfalens.text.sources import TextFiles, classes_of, with_labels


@dataclass(frozen=True)
class Case:
    """A file, and what must come of it; `refused` is the end of the sentence."""

    name: str
    content: bytes | Callable[[Path], None]
    texts: tuple[str, ...] = ()
    labels: tuple[str, ...] | None = None
    left_out: tuple[str, ...] = ()
    refused: str = ""
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
    "nothing but a byte order mark": Case("x.csv", b"\xef\xbb\xbf", refused="the file is empty"),
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
        refused="not utf-16 text (UTF-16 stream does not start with BOM)",
    ),
    "utf-16 that is cut off": Case(
        "x.csv",
        ROWS.encode("utf-16-le") + b"c",
        encoding="utf-16-le",
        refused="line 4: byte 0x63 is not utf-16-le; give the file's encoding (for example latin-1)",
    ),
    "characters of a line end in utf-16": Case(
        "x.csv", "text\n\u0a0d\n".encode("utf-16"), ("\u0a0d",), encoding="utf-16"
    ),
    "utf-16 that is taken for utf-8": Case(
        "x.csv",
        ROWS.encode("utf-16"),
        refused="line 1: byte 0xff is not utf-8; give the file's encoding (for example latin-1)",
    ),
    "latin-1": Case("x.csv", ROWS.encode("latin-1"), encoding="latin-1", **BOTH),
    "an encoding with states": Case(
        "x.csv", "text\n日本\n語\n".encode("iso2022-jp"), ("日本", "語"), encoding="iso2022-jp"
    ),
    "bytes below 128 in a wrong character": Case(
        "x.csv",
        b"text\na\n\x81\x20\n",
        encoding="gbk",
        refused="line 3: byte 0x81 is not gbk; give the file's encoding (for example latin-1)",
    ),
    "wrong bytes": Case(
        "x.csv",
        ROWS.encode("latin-1"),
        refused="line 2: byte 0xe4 is not utf-8; give the file's encoding (for example latin-1)",
    ),
    "wrong bytes in JSON": Case(
        "x.jsonl",
        JSON.encode("latin-1"),
        refused="line 1: byte 0xe4 is not utf-8; give the file's encoding (for example latin-1)",
    ),
    "wrong bytes that nobody reads": Case("x.csv", b"text,more\na,\xff\nb,b\n", ("a", "b")),
    "an encoding that nobody knows": Case(
        "x.csv", b"text\na\n", encoding="klingon", refused="unknown encoding: klingon"
    ),
    "an archive without its ending": Case("x.csv", gzip.compress(ROWS.encode()), **BOTH),
    "an archive without its ending, JSON": Case("x.jsonl", gzip.compress(JSON.encode()), **BOTH),
    "no archive": Case(
        "x.csv.gz", ROWS.encode(), refused="damaged gzip file (Not a gzipped file (b'te')); the rest is not read"
    ),
    "an archive that is cut off": Case(
        "x.csv.gz",
        gzip.compress(b"text\na\nb\nc\n")[:-8],
        refused="line 5: damaged gzip file (Compressed file ended before the end-of-stream marker was reached); "
        "the rest is not read",
    ),
    "NaN in csv": Case("x.csv", b"text,label\nNaN,nan\nnull,inf\n", ("NaN", "null"), ("nan", "inf")),
    "NaN in JSON": Case(
        "x.jsonl",
        b'{"text": NaN, "label": 1}\n{"text": "NaN", "label": "NaN"}\n',
        ("NaN",),
        ("NaN",),
        ("line 1: empty text",),
    ),
    "NaN as label in JSON": Case("x.jsonl", b'{"text": "a", "label": NaN}\n', refused="line 1: the label is missing"),
    "NaN in parquet": Case("x.parquet", parquet(text=[1.5, float("nan")]), ("1.5",), None, ("row 2: empty text",)),
    "NaN as label in parquet": Case(
        "x.parquet", parquet(text=["a", "b"], label=[1.0, float("nan")]), refused="row 2: the label is missing"
    ),
    "a list in JSON": Case(
        "x.jsonl", lines({"text": "a"}, {"text": ["b"]}), refused="line 2: the text is a list, not a text"
    ),
    "an object in JSON": Case(
        "x.jsonl", lines({"text": {"a": 1}}), refused="line 1: the text is an object, not a text"
    ),
    "a list as label": Case(
        "x.jsonl", lines({"text": "a", "label": ["b"]}), refused="line 1: the label is a list, not a text"
    ),
    "lists in parquet": Case(
        "x.parquet", parquet(text=[["a"]]), refused="the column 'text' holds list<element: string>, not texts"
    ),
    "structs in parquet": Case(
        "x.parquet",
        parquet(text=["a"], label=[{"a": 1}]),
        refused="the column 'label' holds struct<a: int64>, not texts",
    ),
    "numbers in JSON": Case("x.jsonl", lines(*({"text": each} for each in (5, 1.5, True))), ("5", "1.5", "True")),
    "numbers in parquet": Case("x.parquet", parquet(text=[5, None, 7]), ("5", "7"), None, ("row 2: empty text",)),
    "truths in parquet": Case("x.parquet", parquet(text=[True], label=[False]), ("True",), ("False",)),
    "nothing in parquet": Case(
        "x.parquet", parquet(text=pa.nulls(1)), left_out=("row 1: empty text",), refused="no text in it"
    ),
    "bytes in parquet": Case("x.parquet", parquet(text=["ä".encode()], label=[b"x"]), ("ä",), ("x",)),
    "bytes of one size in parquet": Case("x.parquet", parquet(text=pa.array([b"ab"], pa.binary(2))), ("ab",)),
    "wrong bytes in parquet": Case("x.parquet", parquet(text=[b"a", b"\xff"]), refused="row 2: byte 0xff is not utf-8"),
    "a text twice": Case("x.jsonl", b'{"text": "a", "text": "b"}\n', refused="line 1: the field 'text' stands twice"),
    "a label twice": Case(
        "x.jsonl",
        b'{"text": "a", "label": 1}\n{"label": 1, "text": "a", "label": 1}\n',
        refused="line 2: the field 'label' stands twice",
    ),
    "something else twice": Case("x.jsonl", b'{"text": "a", "id": 1, "id": 2}\n', ("a",)),
    "a column twice": Case("x.csv", b"text,text\n", refused="line 1: the column 'text' stands twice in the header"),
    "a first object without a label": Case(
        "x.jsonl", lines({"text": "a"}, {"text": "b", "label": "x"}), refused="line 1: the label is missing"
    ),
    "a first object without a text": Case(
        "x.jsonl", lines({"label": "x"}, {"text": "b", "label": "x"}), refused="line 1: no field 'text'"
    ),
    "no object with a text": Case("x.jsonl", lines({"body": "a"}), refused="no column 'text'; the columns are body"),
    "no object": Case("x.jsonl", b"\n \n", refused="the file is empty"),
    "half of a pair": Case(
        "x.jsonl",
        b'{"text": "a"}\n{"text": "\\udcff"}\n',
        refused="line 2: half of a surrogate pair, which is not text",
    ),
    "more than an object": Case("x.jsonl", b'{"text": "a"} {"text": "b"}\n', refused="line 1: not JSON (Extra data)"),
    "empty rows in csv": Case(
        "x.csv",
        b'text,label\n,x\n\na,x\n"  ",y\n"\n",\n',
        ("a",),
        ("x",),
        ("line 2: empty text", "line 5: empty text", "line 6: empty text"),
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
        left_out=("line 2: empty text", "line 3: empty text"),
        refused="no text in it",
    ),
    "no rows": Case("x.csv", b"text\n", refused="no text in it"),
    "a missing label": Case("x.tsv", b"text\tlabel\na\tx\nb\t \n", refused="line 3: the label is missing"),
    "a header twice": Case("x.csv", ROWS.encode() * 2, refused="line 4: the header stands here a second time"),
    "too few columns": Case("x.csv", b"text,label\na,x\nb\n", refused="line 3: 1 columns where the header has 2"),
    "broken quotes": Case(
        "x.csv", b'text\na\n"b"c\nd\n', refused="line 3: broken quoting (',' expected after '\"'); the rest is not read"
    ),
    "quotes without an end": Case(
        "x.csv", b'text\na\n"b\nc\n', refused="line 3: broken quoting (unexpected end of data); the rest is not read"
    ),
    "a header without an end": Case("x.csv", b'"text\n', refused="line 1: broken header (unexpected end of data)"),
    "control characters in a header": Case(
        "x.csv", b"\x1b[31mred\x07,b\x00\n1,2\n", refused="no column 'text'; the columns are �[31mred�, b�"
    ),
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
        refused="expected one subfolder per class with text files in it; files side by side are given by a pattern, "
        "for example 'PATH/*.csv'",
    ),
    "a class that cannot be reached": Case(
        "x", linked, refused="neither a class folder nor a file; is it a link to nothing?"
    ),
    "a file that cannot be reached": Case("x", link_in_class, refused="pos/b: not a file that can be read"),
    "a folder in another encoding": Case(
        "x", folder(pos__a="ä"), encoding="ascii", refused="pos/a: not ascii text; give the files' encoding"
    ),
    "a damaged page": Case("x.parquet", damaged, refused="; the rest is not read"),
    "no parquet": Case("x.parquet", b"PAR1 but no more", refused=")"),
    "a pipe": Case("x.csv", os.mkfifo, refused="neither a file nor a folder; write its texts to a file first"),
    "another format": Case(
        "x.docx", b"a", refused="unknown format '.docx'; use one of .csv, .tsv, .jsonl, .parquet, .txt, or a folder"
    ),
    "plain lines": Case("x.txt", 'one, text\r\n\n"täxt"\nlabel'.encode(), ("one, text", '"täxt"', "label")),
    "a word as its column is called": Case("x.csv", b"text\nthe\ntext\n", ("the", "text")),
    "plain lines in another encoding": Case(
        "x.txt",
        "a\nä\n".encode("latin-1"),
        refused="line 2: byte 0xe4 is not utf-8; give the file's encoding (for example latin-1)",
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
    left_out = [sentence for block in blocks for sentence in block.empty.first]
    assert len(left_out) == sum(block.empty.number for block in blocks)
    return texts, labels, tuple(left_out)


def shown(block: Any) -> tuple[Any, ...]:
    places = [block.place(text) for text in range(len(block.texts))]
    labels = None if block.labels is None else list(block.labels)
    texts = list(block.texts)
    return block.number, block.start, block.behind, texts, labels, block.size, block.empty, block.bad, places


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_file_is_the_same_through_both_doors(tmp_path, case):
    path = case.write(tmp_path)
    memory = through_memory(path, case.encoding)
    for block_bytes in (1, 6, 10**6):
        blocks = through_blocks(path, case.encoding, block_bytes)
        if blocks[0] == () and isinstance(memory, str):  # a stream may have files without any text
            assert memory == f"{path}: {case.refused}"
            assert blocks[2] == tuple(f"{path}: {row}" for row in case.left_out)
        else:
            assert blocks == memory
    if case.refused:
        assert isinstance(memory, str)
        assert memory.startswith(str(path))
        assert memory.endswith(case.refused.replace("PATH", str(path)))
    else:
        left_out = tuple(f"{path}: {row}" for row in case.left_out)
        assert memory == (case.texts, case.labels, left_out)


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
        ("x.csv", b'text\n"a"' + b"b" * 10**5),
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
    assert block.empty.first[0].isprintable()
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
        for seed in (1, 2, 3)
    }
    names = ("-inf", "9", "10", "1e1", "Infinity", "inf", "-nan", "NaN", "nan", "x")
    assert found == {f"{names}\n"}


def test_many_rows_without_text_are_counted_and_the_first_named(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"text": "a"}\n' + b'{"text": ""}\n' * 5000)
    (block,) = TextFiles((str(path),)).blocks(0)
    assert block.empty.number == 5000
    assert block.empty.first == tuple(f"{path}: line {line}: empty text" for line in range(2, 22))
    assert len(read_corpus(path).skipped) == 5000


def test_a_file_in_which_nothing_can_be_read_ends_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr("wfalens.text.sources.row_blocks._MOST_BAD", 3)
    (tmp_path / "x.csv").write_text("text\na\n" + "b,c\n" * 4)
    with pytest.raises(InputError, match=r"x\.csv: line 3: 2 columns .*; more than 3 rows near it cannot be read"):
        list(TextFiles((str(tmp_path / "x.csv"),)).blocks(0))


@pytest.mark.parametrize(
    ("name", "content", "encoding", "reason"),
    [
        ("x.jsonl", b'[{"text": "a"}, ' * 20_000, "utf-8", "line 1: a line of more than 0 MB; the rest is not"),
        ("x.csv", b'text\n"' + b"a\n" * 100_000, "utf-8", "line 2: broken quoting (field larger than field limit"),
        ("x.csv", ("text\na\n" + "b" * 200_000).encode("utf-16"), "utf-16", "line 3: a line of more than"),
    ],
)
def test_a_text_without_an_end_does_not_fill_the_memory(tmp_path, monkeypatch, name, content, encoding, reason):
    monkeypatch.setattr("wfalens.text.text_lines.LONGEST", 100_000)
    monkeypatch.setattr("wfalens.text.sources.lines.LONGEST", 100_000)
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
    assert corpus.skipped == (f"{tmp_path / 'a.csv'}: line 3: empty text",)
    (tmp_path / "c.csv").write_text("text\nc\n")
    with pytest.raises(InputError, match=r"labels are not used: .*c\.csv has no column 'label'; name the column"):
        read_corpus(tmp_path / "*.*")
    assert read_corpus(tmp_path / "*.*", labels=False).texts == ("a", "b", "c")
