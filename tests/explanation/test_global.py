"""Influence and embeddings: by the formulas on random automata, and against the planted truth."""

import numpy as np
import pytest
from hypothesis import given

from tests.automata import sample, samples
from wfalens.errors import InputError
from wfalens.explanation import TransitionEmbeddings, influence, phrase_influence
from wfalens.text import read_vectors
from wfalens.text.datasets import newsroom


def plain_influence(item, matrix):
    """IS(σ) with both sums written out."""
    u, centres = item.wfa.state_frequencies, item.centres
    n = len(centres)
    return sum(u[i] * matrix[i, j] * (centres[j] - centres[i]) for i in range(n) for j in range(n))


@given(samples())
def test_influence_equals_the_double_sum(item):
    if not (item.wfa.word_counts[2:] > 0).any():
        return
    scores = influence(item.wfa, min_count=1)
    for word, row in zip(scores.words, scores.scores, strict=True):
        matrix = item.matrix(item.wfa.encoder.vocabulary.id_of(word))
        np.testing.assert_allclose(row, plain_influence(item, matrix), atol=1e-6)


@given(samples())
def test_influence_of_a_phrase_is_that_of_the_product(item):
    words = item.wfa.encoder.vocabulary.words[2:]
    phrase = f"{words[0]} {words[-1]} {words[0]}"
    matrix = item.matrix(2) @ item.matrix(len(words) + 1) @ item.matrix(2)
    row = phrase_influence(item.wfa, [phrase]).scores[0]
    np.testing.assert_allclose(row, plain_influence(item, matrix), atol=1e-6)


def test_planted_words_stand_in_the_list_of_their_topic(newsroom_wfa):
    scores = influence(newsroom_wfa, min_count=20)
    planted = {word: topic for topic, words in newsroom.TRUTH.carriers.items() for word in words}
    found = total = 0
    for topic, carriers in newsroom.TRUTH.carriers.items():
        seen = [word for word in carriers if word in scores.words]
        top = scores.top(topic, len(seen) + len(newsroom.TRUTH.ambiguous)).words
        found += sum(word in top for word in seen)
        total += len(seen)
    assert total > 150
    assert found / total >= 0.9
    tops = [scores.top(topic, 10).words for topic in newsroom.TOPICS]
    assert all(planted.get(word) == topic for topic, words in zip(newsroom.TOPICS, tops, strict=True) for word in words)


def test_neutral_words_are_flat_and_ambiguous_ones_score_on_both_topics(newsroom_wfa):
    scores = influence(newsroom_wfa, min_count=20)
    strength = dict(zip(scores.words, scores.strength, strict=True))
    carriers = [strength[word] for words in newsroom.TRUTH.carriers.values() for word in words if word in strength]
    neutral = [strength[word] for word in newsroom.TRUTH.neutral if word in strength]
    assert max(neutral) < np.percentile(carriers, 5)
    for word, topics in newsroom.TRUTH.ambiguous.items():
        best_two = {scores.class_names[at] for at in scores.of(word).argsort()[-2:]}
        assert best_two == set(topics), word


def test_results_are_tables_json_and_escaped_html(newsroom_wfa):
    top = influence(newsroom_wfa).top("us", 3)
    assert list(top.to_dataframe()["word"]) == list(top.words)
    assert top.to_json()["unit"] == "probability"
    assert "probability" in top.to_html()
    hostile = type(top)(("<script>",), top.counts[:1], top.scores[:1], top.class_names, top.unit)
    assert "<script>" not in hostile._repr_html_()
    assert "&lt;script&gt;" in hostile._repr_html_()


def test_unknown_names_are_refused(newsroom_wfa):
    scores = influence(newsroom_wfa)
    with pytest.raises(InputError, match="unknown class 'sports'; choose one of sport"):
        scores.top("sports")
    with pytest.raises(InputError, match="no influence score for 'zzz'"):
        scores.of("zzz")
    with pytest.raises(InputError, match="lower the minimum count"):
        influence(newsroom_wfa, min_count=10**9)
    with pytest.raises(InputError, match="has no words"):
        phrase_influence(newsroom_wfa, [" "])


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
    with pytest.raises(InputError, match="size must lie between"):
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
    with pytest.raises(InputError, match="does not know the word 'zzz'"):
        TransitionEmbeddings.of(newsroom_wfa).nearest("zzz")
