"""Transition matrix embeddings: the matrices row by row, reduced, and as neighbours and maps of words."""

import numpy as np
import pytest

from tests.automata import sample
from tests.errors import raises
from wfalens.explanation import TransitionEmbeddings, neighbours, word_maps
from wfalens.text import read_vectors
from wfalens.text.datasets import newsroom


def test_embedding_is_the_matrix_row_by_row():
    wfa = sample("empirical", 3).wfa
    matrix = wfa.matrix("w1")
    embedding = wfa.embedding("w1")
    assert embedding[2 + wfa.states * 1] == matrix[1, 2]


def test_table_is_the_same_in_any_blocks(newsroom_wfa, monkeypatch):
    table = TransitionEmbeddings.of(newsroom_wfa, 20)
    whole = np.concatenate([block for _, block in table.blocks()])
    monkeypatch.setattr("wfalens.explanation.embeddings._BLOCK_FLOATS", 7 * table.width)
    np.testing.assert_array_equal(np.concatenate([block for _, block in table.blocks()]), whole)
    np.testing.assert_allclose(whole[5], newsroom_wfa.embedding(table.words[5]), atol=1e-7)


def test_reduction_agrees_with_the_full_decomposition(newsroom_wfa):
    table = TransitionEmbeddings.of(newsroom_wfa, 20)
    whole = np.concatenate([block for _, block in table.blocks()]).astype(float)
    centred = whole - whole.mean(0)
    singular = np.linalg.svd(centred, compute_uv=False)
    reduced = table.reduced(10)
    np.testing.assert_allclose(reduced.explained, (singular**2 / (singular**2).sum())[:10], rtol=0.01)
    distances = np.linalg.norm(reduced.vectors.matrix[:50, None] - reduced.vectors.matrix[None, :50], axis=2)
    full = np.linalg.norm(whole[:50, None] - whole[None, :50], axis=2)
    assert np.all(distances <= full + 1e-4)
    assert np.corrcoef(distances.ravel(), full.ravel())[0, 1] > 0.95
    with raises("option-value"):
        table.reduced(0)


def test_word2vec_export_reads_back(newsroom_wfa, tmp_path):
    reduced = TransitionEmbeddings.of(newsroom_wfa, 20).reduced(5)
    reduced.save_word2vec(tmp_path / "tme.txt")
    back = read_vectors(tmp_path / "tme.txt")
    assert back.words == reduced.vectors.words
    np.testing.assert_allclose(back.matrix, reduced.vectors.matrix, rtol=1e-4, atol=1e-5)


def test_words_of_one_topic_are_neighbours(newsroom_wfa):
    near = TransitionEmbeddings.of(newsroom_wfa, 20).nearest("senate", 5)
    topics = [newsroom.TRUTH.topic_of(word) for word, _ in near]
    assert topics.count("us") >= 4
    distances = [distance for _, distance in near]
    assert distances == sorted(distances)
    own, other = newsroom_wfa.embedding("senate"), newsroom_wfa.embedding(near[0][0])
    assert distances[0] == pytest.approx(np.mean((own - other) ** 2), rel=1e-3)
    with raises("unknown-word"):
        TransitionEmbeddings.of(newsroom_wfa).nearest("zzz")


def test_neighbours_by_effect_and_by_meaning(newsroom_wfa, newsroom_vectors):
    first, second = newsroom.TRUTH.synonyms[0]
    found = neighbours(newsroom_wfa, first, newsroom_vectors, k=5, min_count=20)
    assert list(found.acting) == TransitionEmbeddings.of(newsroom_wfa, 20).nearest(first, 5)
    assert found.vectors == newsroom_vectors.source
    assert second in [word for word, _ in found.meaning]
    assert len(found.to_dataframe()) == 5


def test_maps_place_every_word_in_both_spaces(newsroom_wfa, newsroom_vectors):
    found = word_maps(newsroom_wfa, newsroom_vectors, per_class=5)
    assert len(found.rows()) == 2 * len(found.words)
    assert all(0 <= share <= 1 for share in found.purity.values())
