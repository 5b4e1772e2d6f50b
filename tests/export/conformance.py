"""What every exporter must keep: one class of promises, inherited by the tests of each format.

A subclass writes an automaton, lets the other tool read the files, and hands back a `Reading`: what the tool says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.automata import linear_samples, sample, samples
from tests.errors import raises
from wfalens.automaton import LinearWFA, StochasticWFA
from wfalens.export import export_files, subset, unescape
from wfalens.text import Vocabulary

# every format runs the same promises as a class of its own: examples found for one are not those of another
promise = settings(
    max_examples=12, database=None, suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow]
)
NASTY = [
    *(
        "don't",
        "22",
        '"',
        "\\",
        "{",
        "}",
        "[",
        "%",
        "&lt;",
        "<br/>",
        "=",
        ":",
        ";",
        "#",
        "//",
        "_",
        "__",
        "w_a",
        "<eps>",
    ),
    *(
        "👩‍👩‍👧",
        "e\u0301",
        "a b",
        " ",
        "\t",
        "\n",
        "",
        "שלום",
        "\u202eabc",
        "\ud800",
        "\0",
        "label",
        "s0",
        "start",
        "1e5",
    ),
]


@dataclass
class Reading:
    """What another tool makes of the files."""

    words: Sequence[str]
    matrices: np.ndarray | None  # (words, n, n); None for a linear automaton that is held as factors
    weights: Callable[[Sequence[Sequence[str]]], np.ndarray]  # of texts, given as lists of words -> (texts, classes)


def by_matrices(words, matrices, initial, final) -> Reading:
    """A reading of a tool that shows matrices, but multiplies no vectors itself."""
    place = {word: number for number, word in enumerate(words)}

    def weights(texts):
        vectors = []
        for text in texts:
            vector = initial
            for word in text:
                vector = vector @ matrices[place[word]]
            vectors.append(vector)
        return np.array(vectors) @ final

    return Reading(list(words), matrices, weights)


def write(wfa, folder, name, file, **choice):
    """The files of a format, as `wfa.export` writes them; the path of the one that was named."""
    export_files(wfa, folder / file, name, **choice).write()
    return folder / file


def symbol_words(path):
    """The words of a symbol table in the order of their numbers."""
    names, numbers = zip(*(line.split("\t") for line in path.read_text("ascii").splitlines()), strict=True)
    assert (names[0], [int(number) for number in numbers]) == ("<eps>", list(range(len(names))))
    return tuple(map(unescape, names[1:]))


def renamed(wfa, words, class_names=None):
    """The same automaton over other words and classes."""
    fields = {
        StochasticWFA: ("centres", "rows", "completion", "alpha", "state_visits"),
        LinearWFA: ("factors", "mean_state"),
    }[type(wfa)]
    encoder = replace(wfa.encoder, vocabulary=Vocabulary.of_words(words))
    kept = {name: getattr(wfa, name) for name in ("word_counts", "provenance", *fields)}
    return type(wfa)(encoder=encoder, class_names=class_names or wfa.class_names, **kept)


def texts_of(words, seed, number=8):
    rng = np.random.default_rng(seed)
    return [[words[at] for at in rng.integers(0, len(words), rng.integers(0, 6))] for _ in range(number)]


def our_weights(wfa, texts):
    return wfa.weights(wfa.encoder.vocabulary.encode(texts))


class ExporterConformance:
    """Subclasses give `reading(wfa, folder, **choice) -> Reading`; choices are those of `subset`."""

    holds_linear = False
    tolerance = 1e-12

    def reading(self, wfa, folder, **choice) -> Reading:
        raise NotImplementedError

    @promise
    @given(item=samples(), seed=st.integers(0, 10**6))
    def test_the_other_tool_gives_every_text_our_weights(self, tmp_path_factory, item, seed):
        found = self.reading(item.wfa, tmp_path_factory.mktemp("export"))
        texts = texts_of(item.wfa.encoder.vocabulary.words[1:], seed)
        np.testing.assert_allclose(found.weights(texts), our_weights(item.wfa, texts), atol=self.tolerance)

    @promise
    @given(item=samples())
    def test_rows_sum_to_one_as_the_other_tool_reads_them(self, tmp_path_factory, item):
        found = self.reading(item.wfa, tmp_path_factory.mktemp("export"))
        assert (found.matrices >= 0).all()
        np.testing.assert_allclose(found.matrices.sum(2), 1, atol=1e-15 * len(found.matrices[0]))

    @pytest.mark.parametrize("completion", ["null", "fit", "shared"])
    def test_any_word_survives(self, tmp_path, completion):
        wfa = renamed(sample(completion, 3, words=len(NASTY) + 2).wfa, NASTY)
        found = self.reading(wfa, tmp_path)
        assert list(found.words) == ["<unk>", *NASTY]
        texts = [*([word] for word in NASTY), *texts_of(NASTY, 0)]
        np.testing.assert_allclose(found.weights(texts), our_weights(wfa, texts), atol=self.tolerance)

    @promise
    @given(item=samples(), seed=st.integers(0, 10**6))
    def test_a_part_is_read_as_it_was_chosen(self, tmp_path_factory, item, seed):
        rng = np.random.default_rng(seed)
        names = item.wfa.encoder.vocabulary.words[1:]
        choice = {
            "words": [names[at] for at in rng.permutation(len(names))[: rng.integers(1, len(names) + 1)]],
            "states": rng.permutation(item.wfa.states)[: rng.integers(1, item.wfa.states + 1)].tolist(),
            "threshold": float(rng.choice([0, 0.1, 0.5])),
        }
        found = self.reading(item.wfa, tmp_path_factory.mktemp("export"), **choice)
        texts = texts_of(choice["words"], seed)
        expected = subset(item.wfa, **choice).weights(texts)
        np.testing.assert_allclose(found.weights(texts), expected, atol=self.tolerance)

    @promise
    @given(item=linear_samples(), seed=st.integers(0, 10**6))
    def test_real_weights_are_held_or_refused_with_the_reason(self, tmp_path_factory, item, seed):
        folder = tmp_path_factory.mktemp("export")
        if not self.holds_linear:
            with raises("real-weights"):
                self.reading(item.wfa, folder)
            return
        found = self.reading(item.wfa, folder)
        texts = texts_of(item.wfa.encoder.vocabulary.words[1:], seed)
        expected = our_weights(item.wfa, texts)
        np.testing.assert_allclose(found.weights(texts), expected, atol=1e-9 * max(1, np.abs(expected).max()))
