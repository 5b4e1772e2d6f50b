"""Readers take what is sound and refuse the rest with the place."""

import gzip
import re
from pathlib import Path

import pandas as pd
import pytest

from tests.errors import raises
from wfalens.errors import InputError
from wfalens.text import read_corpus


def write(tmp_path, name, content, encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(content.encode(encoding))
    return path


def test_csv_with_quotes_newlines_and_byte_order_mark(tmp_path):
    path = write(tmp_path, "a.csv", '\ufefftext,label\n"a, ""b""\nc",x\nd,y\n')
    corpus = read_corpus(path)
    assert corpus.texts == ('a, "b"\nc', "d")
    assert corpus.class_names == ("x", "y")
    assert corpus.labels.tolist() == [0, 1]


def test_all_formats_read_the_same(tmp_path):
    frame = pd.DataFrame({"body": ["one, two", 'three "x"', "ünïcode 👍"], "class": ["b", "a", "b"]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "a.tsv", index=False, sep="\t")
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "a.parquet")
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes()))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress((tmp_path / "a.jsonl").read_bytes()))
    for name in ("a.csv", "a.tsv", "a.jsonl", "a.parquet", "b.csv.gz", "b.jsonl.gz"):
        corpus = read_corpus(tmp_path / name, text_column="body", label_column="class")
        assert corpus.texts == tuple(frame["body"]), name
        assert corpus.class_names == ("a", "b"), name
        assert corpus.labels.tolist() == [1, 0, 1], name


def test_folder_per_class(tmp_path):
    for label, text in (("neg", "bad"), ("pos", "good")):
        (tmp_path / label).mkdir()
        (tmp_path / label / "1.txt").write_text(text)
    corpus = read_corpus(tmp_path)
    assert corpus.texts == ("bad", "good")
    assert corpus.class_names == ("neg", "pos")


def test_without_label_column_the_corpus_is_unlabelled(tmp_path):
    assert read_corpus(write(tmp_path, "a.csv", "text\nhello\n")).labels is None


def test_numeric_labels_are_ordered_by_value(tmp_path):
    corpus = read_corpus(write(tmp_path, "a.csv", "text,label\na,10\nb,9\n"))
    assert corpus.class_names == ("9", "10")


def test_empty_texts_are_left_out_and_told(tmp_path):
    path = write(tmp_path, "a.csv", 'text,label\na,x\n"  ",y\n,x\nb,y\n')
    corpus = read_corpus(path)
    assert corpus.texts == ("a", "b")
    assert corpus.skipped == (f"{path}: row 3: empty text", f"{path}: row 4: empty text")


def test_latin_1_needs_its_encoding(tmp_path):
    path = write(tmp_path, "a.csv", "text,label\ncafé,x\n", "latin-1")
    with pytest.raises(InputError, match=r"byte 0xe9 is not utf-8.*encoding"):
        read_corpus(path)
    assert read_corpus(path, encoding="latin-1").texts == ("café",)


@pytest.mark.parametrize(
    ("name", "content", "code", "place"),
    [
        ("a.csv", "", "empty-file", ""),
        ("a.csv", "text,label\n", "empty-file", ""),
        ("a.csv", "text,label\na,x\nb,\n", "bad-row", "row 3"),
        ("a.csv", 'text,label\na,x\n"b,y\n', "bad-row", "row 3"),
        ("a.jsonl", '{"text": "a"}\n{oops\n', "bad-row", "line 2"),
        ("a.jsonl", '{"text": "a"}\n[1]\n', "bad-row", "line 2"),
        ("a.jsonl", '{"text": "a"}\n{"body": "b"}\n', "bad-row", "line 2"),
        ("a.jsonl", '{"text": "a", "label": 1}\n{"text": "b"}\n', "bad-row", "line 2"),
        ("a.parquet", "nonsense", "unreadable", ""),
        ("a.csv.gz", "nonsense", "unreadable", ""),
        ("a.jsonl", '{"text": ' + "9" * 5000 + "}\n", "bad-row", "line 1"),
        ("a.jsonl", '{"text": ' + "[" * 100_000 + "\n", "bad-row", "line 1"),
    ],
)
def test_bad_files_are_refused_with_the_place(tmp_path, name, content, code, place):
    with raises(code, match=place):
        read_corpus(write(tmp_path, name, content))


def test_damaged_gzip_and_wrong_encodings(tmp_path):
    blob = bytearray(gzip.compress(b"text,label\n" + b"some words,x\n" * 5000))
    blob[len(blob) // 2 : len(blob) // 2 + 20] = bytes(20)
    (tmp_path / "a.csv.gz").write_bytes(blob)
    with pytest.raises(InputError, match="damaged gzip file"):
        read_corpus(tmp_path / "a.csv.gz")
    path = write(tmp_path, "a.csv", "text\nx\n")
    with pytest.raises(InputError, match="utf-16"):
        read_corpus(path, encoding="utf-16")
    (tmp_path / "folder" / "pos").mkdir(parents=True)
    (tmp_path / "folder" / "pos" / "1.txt").write_text("good")
    with pytest.raises(InputError, match="unknown encoding"):
        read_corpus(tmp_path / "folder", encoding="klingon")


def test_texts_alone_need_no_labels(tmp_path):
    path = write(tmp_path, "a.csv", "text,label\ngood,\nbad,x\n")
    corpus = read_corpus(path, labels=False)
    assert corpus.texts == ("good", "bad")
    assert corpus.labels is None


def test_the_page_on_corpora_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "mail.csv", "text,label\nbuy now,spam\n,ham\nsee you,ham\n")
    page = Path(__file__).resolve().parents[2] / "docs" / "corpora.md"
    (example,) = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    exec(example, {})  # noqa: S102 - our own text
    assert capsys.readouterr().out.splitlines() == [
        "2 ('ham', 'spam') ('mail.csv: row 3: empty text',)",
        "0 2 ['spam', 'ham'] 1 []",
    ]


def test_missing_file_unknown_encoding_and_empty_folder(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_corpus(tmp_path / "none.csv")
    with pytest.raises(InputError, match="unknown encoding"):
        read_corpus(write(tmp_path, "a.csv", "text\nx\n"), encoding="klingon")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="one subfolder per class"):
        read_corpus(tmp_path / "folder")
