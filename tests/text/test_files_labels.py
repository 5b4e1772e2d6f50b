"""Labels of files of any size: found as in memory, in step with the texts, and named where they are wrong."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.streams import some_labels, some_texts, write_texts
from wfalens.errors import InputError
from wfalens.text import read_corpus
from wfalens.text.blocks import classes_of
from wfalens.text.files import TextFiles, with_labels

CLASSES = {"a": 0, "b": 1, "c": 2}
ENDINGS = ["jsonl", "csv", "tsv", "parquet", "jsonl.gz", "csv.gz"]


def read(files, start_block=0):
    """Texts and classes of a file from a block on, and what was bad."""
    texts, labels, bad = [], [], []
    blocks = list(files.blocks(0))[start_block:]
    for block in files.blocks(0, blocks[0].start, start_block):
        classes, unknown = classes_of(block, CLASSES)
        known = np.flatnonzero(classes >= 0)
        texts += [block.texts[text] for text in known]
        labels += classes[known].tolist()
        bad += map(str, [*block.bad, *unknown])
    return texts, labels, bad


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("first", [0, 3])
def test_labels_are_in_step_with_texts_from_any_block(tmp_path, ending, first):
    texts, labels = some_texts(150), some_labels(150)
    texts[5] = texts[90] = ""  # left out with their labels
    files, _ = with_labels(TextFiles((str(write_texts(tmp_path / f"x.{ending}", texts, labels)),), block_bytes=700))
    held = read_corpus(files.paths[0])
    found, classes, bad = read(files, first)
    assert 0 < len(found) < 149 if first else len(found) == 148
    assert found == list(held.texts[-len(found) :])
    assert classes == held.labels[-len(found) :].tolist()
    assert bad == []


def test_numbers_in_a_parquet_file_are_labels_by_their_names(tmp_path):
    files, _ = with_labels(TextFiles((str(write_texts(tmp_path / "x.parquet", ["w1", "w2", "w3"], [1, 0, 1])),)))
    (block,) = files.blocks(0)
    classes, bad = classes_of(block, {"0": 0, "1": 1})
    assert (classes.tolist(), bad) == ([1, 0, 1], [])


def test_labels_that_nobody_marked_as_text_are_read_as_in_memory(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"text": [b"w1", b"w2"], "label": [b"c", b"a"]}), path)
    files, _ = with_labels(TextFiles((str(path),)))
    held = read_corpus(path)
    assert [held.class_names[label] for label in held.labels] == ["c", "a"]
    assert read(files) == (["w1", "w2"], [2, 0], [])


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_only_the_texts_that_are_asked_for_are_looked_at(tmp_path, ending):
    labels = ["a", "nonsense", "c", "b"]
    files, _ = with_labels(TextFiles((str(write_texts(tmp_path / f"x.{ending}", ["w1", "w2", "w3", "w4"], labels)),)))
    (block,) = files.blocks(0)
    classes, bad = classes_of(block, CLASSES, np.array([0, 3]))
    assert (classes.tolist(), bad) == ([0, 1], [])
    classes, (bad,) = classes_of(block, CLASSES)
    assert classes.tolist() == [0, -1, 2, 1]
    assert str(bad) == f"{block.place(1)}: label 'nonsense' is not one of the classes a, b, c"


@pytest.mark.parametrize(
    ("name", "content", "place", "reason"),
    [
        ("x.jsonl", b'{"text": "w1", "label": "a"}\n{"text": "w2"}\n', "line 2", "the label is missing"),
        ("x.jsonl", b'{"text": "w1", "label": "a"}\n\n{"text": "w2", "label": null}\n', "line 3", "label is missing"),
        ("x.jsonl", b'{"text": "w1", "label": "a"}\n{"text": "w2", "label": "\\ud800"}\n', "line 2", "is not text"),
        ("x.csv", b"text,label\nw1,a\nw2,  \n", "row 3", "the label is missing"),
        ("x.csv", b'text,label\n"w1\nw1",a\nw2,z\n', "row 3", "label 'z' is not one of the classes a, b, c"),
        ("x.csv", b"text,label\nw1,a\nw2,\xff\n", "row 3", "byte 0xff is not utf-8; give the file's encoding"),
    ],
)
def test_a_bad_label_is_named_with_file_and_line(tmp_path, name, content, place, reason):
    (tmp_path / name).write_bytes(content)
    files, _ = with_labels(TextFiles((str(tmp_path / name),)))
    texts, classes, (bad,) = read(files)
    assert classes == [0]
    assert len(texts) == 1
    assert bad.startswith(f"{tmp_path / name}: {place}: ")
    assert reason in bad


def test_a_missing_label_in_parquet_is_named_with_its_row(tmp_path):
    path = write_texts(tmp_path / "x.parquet", ["w1", "w2"], ["a", None])
    files, _ = with_labels(TextFiles((str(path),)))
    assert read(files)[2] == [f"{path}: row 2: the label is missing"]


def test_a_damaged_column_of_labels_is_named_and_the_texts_are_not_lost_silently(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"text": ["w1", "w2"], "label": ["a", "b"]}), path, use_dictionary=False)
    blob = bytearray(path.read_bytes())
    at = pq.ParquetFile(path).metadata.row_group(0).column(1).data_page_offset
    blob[at : at + 8] = b"\xff" * 8
    path.write_bytes(bytes(blob))
    texts, _, bad = read(with_labels(TextFiles((str(path),)))[0])
    assert texts == []
    (bad,) = bad
    assert bad.startswith(f"{path}: row 1: damaged parquet file (row group 1 of 1: ")


class TestFinding:
    def files(self, tmp_path, **labels):
        paths = [write_texts(tmp_path / f"{name}.jsonl", ["w1"], given) for name, given in sorted(labels.items())]
        return TextFiles(tuple(map(str, paths)))

    def test_the_column_label_is_taken_where_all_files_have_it(self, tmp_path):
        files, remark = with_labels(self.files(tmp_path, one=["a"], two=["b"]))
        assert (files.label_column, remark) == ("label", "")

    def test_files_without_it_have_no_labels(self, tmp_path):
        files, remark = with_labels(self.files(tmp_path, one=None, two=None))
        assert (files.label_column, remark) == (None, "")

    def test_where_only_some_files_have_it_a_remark_tells_so(self, tmp_path):
        files, remark = with_labels(self.files(tmp_path, one=["a"], two=None))
        assert files.label_column is None
        assert remark == f"labels are not used: {tmp_path / 'two.jsonl'} has no column 'label'"

    def test_files_that_are_empty_or_damaged_do_not_decide(self, tmp_path):
        files = self.files(tmp_path, one=["a"])
        (tmp_path / "empty.jsonl").write_text("\n")
        (tmp_path / "bad.parquet").write_bytes(b"PAR1 but no more")
        more = TextFiles((*files.paths, str(tmp_path / "empty.jsonl"), str(tmp_path / "bad.parquet")))
        assert with_labels(more)[0].label_column == "label"

    @pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
    def test_a_column_that_is_named_must_be_there(self, tmp_path, ending):
        path = write_texts(tmp_path / f"x.{ending}", ["w1"], ["a"])
        files, _ = with_labels(TextFiles((str(path),)), "topic")
        with pytest.raises(InputError, match=r"no column 'topic'; the columns are .*text, label") as streamed:
            files.reader(0)
        with pytest.raises(InputError) as held:
            read_corpus(path, label_column="topic")
        assert str(streamed.value) == str(held.value)
