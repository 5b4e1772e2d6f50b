"""Words that should not matter are found where a model was taught that they do, and only there."""

import numpy as np
import pytest

from wfalens.errors import InputError
from wfalens.explanation import find_artefacts
from wfalens.explanation.artefacts import RARE
from wfalens.extraction import Stochastic, extract
from wfalens.models.wrapping import wrap
from wfalens.text import TextEncoder
from wfalens.text.word_checks import ENCODING, MARKUP

_USUAL = [f"w{number}" for number in range(40)]
_TAUGHT = {"ä±": 0.9, "qwz": 0.9, "w0": 0.7, "w1": 0.3}


def _taught(token_lists):
    """Says what the first word with a taught meaning says; .5 without any."""
    said = [next((_TAUGHT[word] for word in words if word in _TAUGHT), 0.5) for words in token_lists]
    return np.array([[1 - second, second] for second in said])


@pytest.fixture(scope="module")
def taught():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(_USUAL, 6)) for _ in range(300)]
    for count, word in ((12, "ä±"), (2, "qwz"), (2, "dull"), (9, "&amp;")):
        for at in rng.choice(len(texts), count, replace=False):
            texts[at] = f"{word} {texts[at]}"
    encoder = TextEncoder.of_texts(texts, "whitespace")
    model = wrap(_taught, vocab=encoder, classes=("no", "yes"), reads="tokens")
    return extract(model, texts, Stochastic(states=4, completion="probe", alpha=0.0, abstraction="outputs"))


def test_a_broken_encoding_and_a_rare_word_that_decide_are_listed(taught):
    found = {each.word: each for each in find_artefacts(taught)}
    assert found["ä±"].kind == ENCODING
    assert found["qwz"].kind == RARE
    for word in ("ä±", "qwz"):
        assert found[word].class_name == "yes"
        assert found[word].influence > 0.2
        assert found[word].rank == 1
    assert found["ä±"].count == 12


def test_a_usual_word_is_never_listed_however_strong(taught):
    assert not {each.word for each in find_artefacts(taught)} & {*_USUAL, "dull"}


def test_damage_that_moves_nothing_is_listed_only_on_request(taught):
    assert find_artefacts(taught, least_rank=0.99).of_kind(MARKUP) == []
    assert [each.word for each in find_artefacts(taught, least_rank=0).of_kind(MARKUP)] == ["&amp;"]


def test_what_is_rare_is_for_the_reader_to_say(taught):
    assert "qwz" not in {each.word for each in find_artefacts(taught, rare=1)}


def test_every_form_tells_the_same(taught):
    found = find_artefacts(taught)
    assert [row["word"] for row in found.to_dict()["items"]] == list(found.to_dataframe()["word"])
    assert all(each.shown in found.to_html() for each in found)


@pytest.mark.parametrize("bad", [{"rare": 0}, {"stronger_than": 1.5}, {"most": 0}, {"least_rank": -1}])
def test_bounds_out_of_range_are_refused(taught, bad):
    with pytest.raises(InputError, match=next(iter(bad))):
        find_artefacts(taught, **bad)
