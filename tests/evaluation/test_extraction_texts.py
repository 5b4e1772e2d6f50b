"""The extraction texts are found again by their plain name only, whatever the file of an automaton says."""

from contextlib import chdir

import pytest

from tests.automata import sample
from wfalens.evaluation import find_extraction_texts

WFA = sample("empirical", 0).wfa
TEXTS = "text\na b\nb c\n"
ABOUT = {"texts": 2, "tokens": 4}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "here").mkdir()
    for name in ("secret.csv", "here/texts.csv"):
        (tmp_path / name).write_text(TEXTS)
    return tmp_path


def found(folder, **about):
    WFA.provenance["corpus"] = ABOUT | about
    with chdir(folder / "here"):
        return find_extraction_texts(WFA)[0]


def test_a_plain_name_is_found(folder):
    assert found(folder, name="texts.csv").texts == ("a b", "b c")


@pytest.mark.parametrize("name", ["{}/secret.csv", "../secret.csv", "./texts.csv", "..", ".", "..\\secret.csv", "/"])
def test_no_other_name_is_opened(folder, name):
    assert found(folder, name=name.format(folder)) is None


@pytest.mark.parametrize(
    "about",
    [{"name": ["texts.csv"]}, {"name": 7}, {"texts": "two"}, {"texts": 1e400}, {"texts": [2]}, {"texts": None}],
)
def test_entries_of_the_wrong_kind_are_no_texts(folder, about):
    assert found(folder, **{"name": "texts.csv"} | about) is None


@pytest.mark.parametrize(("labels", "expected"), [(("c0", "c1"), ("c0", "c1")), (("c0", "other"), None)])
def test_columns_are_those_that_are_given_and_labels_are_read_if_they_are_classes(tmp_path, labels, expected):
    (tmp_path / "texts.csv").write_text(f"comment;verdict\na b;{labels[0]}\nb c;{labels[1]}\n")
    WFA.provenance["corpus"] = ABOUT | {"name": "texts.csv"}
    known, missing = find_extraction_texts(WFA, [tmp_path], text_column="comment", label_column="verdict")
    assert missing == ""
    assert known.texts == ("a b", "b c")
    assert (None if known.labels is None else known.class_names) == expected
