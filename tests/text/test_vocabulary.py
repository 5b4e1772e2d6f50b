"""Words and their ids."""

import pytest

from tests.errors import raises
from wfalens.errors import InputError
from wfalens.text import Vocabulary


def test_padding_and_unknown_are_different_ids():
    vocabulary = Vocabulary.build([["b", "a", "b"], ["c"]])
    assert vocabulary.words == ("<pad>", "<unk>", "b", "a", "c")
    assert vocabulary.id_of("<pad>") == vocabulary.id_of("zzz") == vocabulary.id_of("<unk>") == 1
    assert vocabulary.encode([["a", "zzz"], [], ["<pad>"]]).values.tolist() == [3, 1, 1]


def test_vocabulary_limits_and_refusals():
    assert Vocabulary.build([["a", "a", "b"]], min_count=2).words[2:] == ("a",)
    assert Vocabulary.build([["a", "a", "b", "c"]], max_size=1).words[2:] == ("a",)
    assert Vocabulary.of_words(["<unk>", "x"]).words == ("<pad>", "<unk>", "x")
    with pytest.raises(InputError, match="'x' stands twice"):
        Vocabulary.of_words(["x", "x"])
    with pytest.raises(InputError, match="starts with"):
        Vocabulary(["a"])


def test_a_dictionary_keeps_its_ids_and_swaps_nothing():
    vocabulary, ids = Vocabulary.from_ids({"<unk>": 0, "<pad>": 1, "film": 9, "good": 4})
    assert dict(zip(vocabulary.words, ids.tolist(), strict=True)) == {"<unk>": 0, "<pad>": 1, "film": 9, "good": 4}
    vocabulary, ids = Vocabulary.from_ids({"": 0, "[UNK]": 1, "a": 2})  # as Keras has it
    assert (vocabulary.words, ids.tolist()) == (("<pad>", "<unk>", "a"), [0, 1, 2])
    assert Vocabulary.from_ids({"a": 1}, closed=True)[1].tolist() == [0, 0, 1]
    for ids_of, code in (
        ({"a": 1, "b": 1, "<unk>": 0}, "ids"),
        ({"a": 0.5, "<unk>": 0}, "ids"),
        ({"a": -1}, "ids"),
        ({"a": 1}, "no-unknown-word"),
    ):
        with raises(code):
            Vocabulary.from_ids(ids_of)
    with raises("ids"):
        Vocabulary.of_words({"a": 2})
