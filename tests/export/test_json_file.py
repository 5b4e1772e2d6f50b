"""JSON as anybody reads it, and as we do."""

import json
import math

import numpy as np
import pytest

from tests.automata import linear_sample, sample
from tests.export.conformance import ExporterConformance, by_matrices, write
from tests.readable import negation
from wfalens.errors import FormatError, InputError
from wfalens.export import read_json, subset, to_json


class TestJson(ExporterConformance):
    holds_linear = True

    def reading(self, wfa, folder, **choice):
        path = write(wfa, folder, "json", "model.json", **choice)
        document = json.loads(path.read_text("ascii"))  # by the page in the docs, without our reader
        assert (document["format"], document["version"]) == ("wfalens-automaton", 1)
        n, words, columns = len(document["states"]), document["words"], document["transitions"]
        matrices = np.zeros((len(words), n, n))
        matrices[columns["word"], columns["source"], columns["target"]] = columns["weight"]
        return by_matrices(words, matrices, np.array(document["initial"]), np.array(document["final"]))

    def test_our_reader_gives_back_what_was_written(self, tmp_path):
        for wfa in (sample("null", 0).wfa, linear_sample(0).wfa, negation().wfa):
            part, read = subset(wfa), read_json(write(wfa, tmp_path, "json", "model.json"))
            for name, value in vars(part).items():
                if isinstance(value, np.ndarray):
                    np.testing.assert_array_equal(getattr(read, name), value)
                    assert getattr(read, name).dtype == value.dtype
                else:
                    assert getattr(read, name) == value


def test_names_of_states_and_classes_of_words_stand_beside_the_numbers():
    wfa = negation().wfa
    document = json.loads(to_json(subset(wfa, states=[0, 1, 3])))
    assert document["state_names"] == [wfa.names.states[0], wfa.names.states[1], wfa.names.states[3], "lost"]
    for word, number in zip(document["words"], document["class_of_word"], strict=True):
        way = wfa.walk(word)
        assert way.word_classes == (document["word_classes"][number],)
    assert "state_names" not in json.loads(to_json(subset(sample("fit", 0).wfa)))


def test_names_that_do_not_fit_are_refused(tmp_path):
    whole = json.loads(to_json(subset(negation().wfa)))
    path = tmp_path / "model.json"
    for change, sentence in (
        ({"state_names": whole["state_names"][:-1]}, "does not name every state"),
        ({"class_of_word": [9] * len(whole["words"])}, 'the entry "class_of_word" holds a number'),
        ({"word_classes": None}, "not a list of texts"),
    ):
        path.write_text(json.dumps(whole | change))
        with pytest.raises(FormatError, match=sentence):
            read_json(path)


def damaged(change):
    document = json.loads(to_json(subset(sample("null", 0).wfa)))
    change(document)
    return json.dumps(document)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "Expecting property name"),
        ("[1]", 'no entry "format"'),
        ("[" * 100_000, "nested too deeply"),
        (damaged(lambda it: it.update(version=2)), "its version is 2, but this wfalens reads 1"),
        (damaged(lambda it: it.update(kind="deep")), "its kind must be one of stochastic, linear"),
        (damaged(lambda it: it.update(words=it["words"][:-1])), 'the entry "word" holds a number'),
        (damaged(lambda it: it.update(words=["a"] * len(it["words"]))), "stands twice"),
        (damaged(lambda it: it.update(class_names="ab")), "not a list of texts"),
        (damaged(lambda it: it["final"].pop()), 'the entry "final" does not hold the numbers'),
        (damaged(lambda it: it["final"][0].pop()), 'the entry "final" is ragged'),
        (damaged(lambda it: it.update(initial=["1"] * len(it["initial"]))), 'the entry "initial" does not hold'),
        (damaged(lambda it: it["initial"].__setitem__(0, math.nan)), 'the entry "initial" does not hold'),
        (damaged(lambda it: it.update(transitions=[])), "is not an object"),
        (damaged(lambda it: it["transitions"]["source"].pop()), "differ in length"),
        (damaged(lambda it: it["transitions"]["target"].__setitem__(0, -1)), 'the entry "target" holds a number'),
        (damaged(lambda it: it["transitions"]["source"].reverse()), "not sorted"),
        (damaged(lambda it: it["transitions"]["weight"].__setitem__(0, 0.001)), "not a distribution"),
        (damaged(lambda it: it["initial"].reverse()), "its initial state is not the first one"),
        (damaged(lambda it: it["states"].__setitem__(0, -1)), "lost state is not the last"),
    ],
)
def test_a_damaged_file_is_refused_in_one_sentence(tmp_path, text, sentence):
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(FormatError, match=sentence) as refused:
        read_json(path)
    assert str(refused.value).startswith(f"{path}: damaged or not made by wfalens: ")
    assert "\n" not in str(refused.value)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read_json(tmp_path / "none.json")
