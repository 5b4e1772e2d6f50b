from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wfalens.errors import InputError
from wfalens.text import WordVectors, wordllama_vectors
from wfalens.text.datasets import newsroom
from wfalens.text.similar_words import Nearness, begin_alike, is_piece, is_word


def spelt(number):
    """A word for a number, with a beginning of its own: one with digits would be none."""
    return "".join(chr(ord("a") + int(digit)) for digit in reversed(str(number))) + "word"


def random_vectors(seed, words=40, width=6, scales=True):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(words, width))
    if scales:
        matrix *= rng.uniform(1, 20, size=(words, 1))
    return WordVectors([spelt(at) for at in range(words)], matrix.astype(np.float32), "random")


def by_hand(vectors, reach):
    """Mutual neighbours by the cosine of every pair."""
    units = vectors.matrix / np.linalg.norm(vectors.matrix, axis=1)[:, None]
    gaps = 1 - units @ units.T
    np.fill_diagonal(gaps, np.inf)
    nearest = [set(np.argsort(row)[:reach]) for row in gaps]
    return {
        (one, other): gaps[one, other] for one in range(len(vectors)) for other in nearest[one] if one in nearest[other]
    }


@given(st.integers(0, 10**6), st.integers(1, 8))
def test_near_words_are_mutual_neighbours_by_cosine(seed, reach):
    vectors = random_vectors(seed)
    near = replace(Nearness.among(vectors, vectors.words), reach=reach)
    found = near.pairs(within=2)
    expected = by_hand(vectors, reach)
    assert set(zip(found.first.tolist(), found.second.tolist(), strict=True)) == set(expected)
    for one, other, distance in zip(*found, strict=True):
        assert distance == pytest.approx(expected[one, other], abs=1e-5)


@given(st.integers(0, 10**6))
def test_nearness_is_symmetric_and_does_not_depend_on_the_length_of_vectors(seed):
    vectors = random_vectors(seed)
    near = Nearness.among(vectors, vectors.words)
    pairs = set(zip(*near.pairs(within=2)[:2], strict=True))
    assert pairs == {(other, one) for one, other in pairs}
    stretched = WordVectors(vectors.words, vectors.matrix * 7.5, "stretched")
    assert set(zip(*Nearness.among(stretched, stretched.words).pairs(within=2)[:2], strict=True)) == pairs


def test_asking_for_some_words_gives_their_part_of_all_pairs():
    vectors = random_vectors(3, words=300)
    near = replace(Nearness.among(vectors, vectors.words), reach=5)
    some = [spelt(at) for at in range(0, 300, 7)]
    everything = near.pairs()
    expected = everything.only(np.isin(everything.first, np.arange(0, 300, 7)))
    for found, column in zip(near.pairs(some), expected, strict=True):
        np.testing.assert_array_equal(found, column)


@pytest.mark.parametrize("token", ["91-minute", "2011", "'s", "n't", "##ing", ".", "a", "", "co-", "didn"])
def test_numbers_and_rests_of_words_are_no_words(token):
    assert not is_word(token)


@pytest.mark.parametrize("token", ["film", "not", "well-made", "o'neill", "überraschend"])
def test_words_are_words(token):
    assert is_word(token)


@pytest.mark.parametrize(("one", "other"), [("al", "alabama"), ("sony", "son"), ("man", "manchester")])
def test_pieces_of_words_are_not_near_to_them(one, other):
    matrix = np.array([[1, 0], [1, 0.01], [0.9, 0.1]], np.float32)
    near = Nearness.among(WordVectors([one, other, "film"], matrix), [one, other, "film"])
    found = near.pairs([one], within=2)
    assert [near.words[row] for row in found.second] == ["film"]


@pytest.mark.parametrize(("one", "other"), [("car", "cars"), ("film", "filmmaker"), ("red", "blue")])
def test_forms_of_a_word_and_other_words_may_be_near(one, other):
    assert not is_piece(one, other)
    assert not is_piece(other, one)


def test_stop_words_are_near_to_stop_words_only():
    matrix = np.array([[1, 0], [1, 0.01], [1, 0.02], [0.9, 0.1]], np.float32)
    near = Nearness.among(WordVectors(["film", "the", "of", "movie"], matrix), ["film", "the", "of", "movie"])
    assert [word for word, _ in near.nearest("film")] == ["movie"]
    assert [word for word, _ in near.nearest("the")] == ["of"]
    assert near.without_stop_words.nearest("the") == []


def test_words_without_a_vector_and_zero_vectors_are_left_out():
    matrix = np.array([[1, 0], [1, 0.1], [0, 0]], np.float32)
    vectors = WordVectors(["film", "movie", "void"], matrix)
    near = Nearness.among(vectors, ["film", "movie", "void", "unheard"])
    assert near.words == ("film", "movie")
    assert near.nearest("unheard") == near.nearest("void") == []


def test_near_words_are_nearer_than_random_pairs():
    vectors = random_vectors(1, words=2500)
    near = Nearness.among(vectors, vectors.words)
    assert near.farthest == pytest.approx(near.bound("q0.001"), abs=2e-6)
    found = near.pairs()
    assert 0 < found.distance.max() <= near.farthest
    assert len(found.first) < len(near.pairs(within=2).first)


def test_words_that_begin_alike_must_be_nearer():
    vectors = random_vectors(2, words=90)
    alike = WordVectors([f"word{word}" for word in vectors.words], vectors.matrix)
    others, found = (Nearness.among(each, each.words) for each in (vectors, alike))
    assert found.farthest_alike < found.farthest
    assert found.pairs().distance.tolist() == others.pairs(within=found.farthest_alike).distance.tolist()
    assert 0 < len(found.pairs().first) < len(others.pairs().first)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [("coach", "coal", True), ("economy", "economic", True), ("car", "cars", False), ("film", "movie", False)],
)
def test_an_ending_is_no_likeness_of_spelling(one, other, alike):
    assert begin_alike(one, other) is begin_alike(other, one) is alike


def test_of_two_words_each_is_near_to_the_other():
    vectors = WordVectors(["good", "bad"], np.random.default_rng(4).normal(size=(2, 50)).astype(np.float32))
    assert [word for word, _ in Nearness.among(vectors, vectors.words).nearest("good")] == ["bad"]


def test_bounds_are_numbers_or_quantiles_over_random_pairs():
    vectors = random_vectors(0, words=200)
    near = Nearness.among(vectors, vectors.words)
    units = near.content.matrix
    distances = 1 - (units @ units.T)[np.triu_indices(200, 1)]
    assert near.bound("q0.1") == pytest.approx(np.quantile(distances, 0.1), abs=1e-5)
    assert near.bound(0.3) == near.bound("0.3") == 0.3
    for bad in ("q2", "near", -1, float("nan")):
        with pytest.raises(InputError, match="a threshold is a number"):
            near.bound(bad)


def test_nothing_stands_for_a_negation():
    vectors = WordVectors(["not", "ignored", "refused"], np.array([[1, 0], [1, 0.01], [1, 0.02]], np.float32))
    near = Nearness.among(vectors, vectors.words)
    assert "not" not in near
    assert near.nearest("not") == []


def test_planted_synonyms_are_each_others_nearest():
    vectors = newsroom.vectors()
    near = Nearness.among(vectors, vectors.words)
    for word, double in newsroom.TRUTH.synonyms:
        assert near.nearest(word, 1)[0][0] == double


FILMS_AND_NEWS = """
sox so peru chile byu boring bmw tedious dull at 91-minute terrible awful in film movie not
"""


def test_words_of_like_meaning_are_alike():
    words = FILMS_AND_NEWS.split()
    near = Nearness.among(wordllama_vectors(words), words)
    assert near.nearest("terrible", 1)[0][0] == "awful"
    assert near.nearest("film", 1)[0][0] == "movie"
    assert near.nearest("at", 1)[0][0] == "in"
    assert near.nearest("peru", 1)[0][0] == "chile"
    assert "sox" not in near  # pieces that do not tell its meaning
    assert "91-minute" not in near


def test_a_word_of_pieces_needs_a_stem_that_is_a_word():
    vectors = wordllama_vectors(["banker", "bank", "federer", "federal"])
    assert "federer" not in vectors  # "feder" and "er"
    assert {"banker", "bank", "federal"} <= set(vectors.words)
