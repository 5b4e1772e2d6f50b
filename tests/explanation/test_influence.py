"""Influence: by the formulas on random automata, and against the planted truth."""

import numpy as np
from hypothesis import given

from tests.automata import samples
from tests.errors import raises
from wfalens.explanation import influence, phrase_influence
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
    assert top.to_dict()["unit"] == "probability"
    assert "probability" in top.to_html()
    hostile = type(top)(("<script>",), top.counts[:1], top.scores[:1], top.class_names, top.unit)
    assert "<script>" not in hostile._repr_html_()
    assert "&lt;script&gt;" in hostile._repr_html_()


def test_unknown_names_are_refused(newsroom_wfa):
    scores = influence(newsroom_wfa)
    with raises("option-value"):
        scores.top("sports")
    with raises("word-without-score"):
        scores.of("zzz")
    with raises("no-frequent-word"):
        influence(newsroom_wfa, min_count=10**9)
    with raises("no-words"):
        phrase_influence(newsroom_wfa, [" "])


def test_some_words_are_chosen_in_their_order(newsroom_wfa):
    words = ["senate", "coach", "the"]
    found = influence(newsroom_wfa, words=words)
    assert found.words == tuple(words)
    np.testing.assert_array_equal(found.scores[1], influence(newsroom_wfa).of("coach"))
    assert len(repr(influence(newsroom_wfa))) < 2000
