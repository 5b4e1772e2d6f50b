"""The automaton that travels in a page."""

import numpy as np

from tests.automata import sample
from tests.errors import raises
from wfalens.report.embedded_runtime import embedded_runtime
from wfalens.text import TextEncoder, Vocabulary


def test_the_commonest_words_are_carried_within_the_limit(newsroom_wfa):
    whole, small = embedded_runtime(newsroom_wfa), embedded_runtime(newsroom_wfa, most_bytes=20_000)
    assert 1 < small["words"] < whole["words"]
    assert min(small["counts"].values()) >= max(
        count for word, count in whole["counts"].items() if word not in small["counts"]
    )
    assert sum(len(text) for _, text in small["tables"]["arrays"].values()) * 3 / 4 <= 20_000 + 100
    assert whole["share"] == 1
    assert 0 < small["share"] < 1


def test_an_automaton_that_does_not_fit_is_refused(newsroom_wfa):
    with raises("not-embeddable"):
        embedded_runtime(newsroom_wfa, most_bytes=100)


def test_words_that_read_as_unknown_ones_are_carried_too():
    wfa = sample("shared", 3).wfa
    seen = np.flatnonzero(wfa.word_counts[2:]) + 2
    assert set(embedded_runtime(wfa)["counts"]) == {wfa.encoder.vocabulary.words[at] for at in seen}


def test_a_tokenizer_of_ones_own_cannot_be_carried():
    wfa = sample("probe", 1).wfa
    wfa.encoder = TextEncoder(Vocabulary(wfa.encoder.vocabulary.words), str.split)
    with raises("tokenizer"):
        embedded_runtime(wfa)
