"""Opinion lines: every figure is recounted word by word on the network's own outputs."""

import math

import numpy as np
import pytest
from scipy.stats import t as student

from tests.errors import raises
from tests.intents import intents, last_classes
from tests.studies import counting_model, letter_texts
from wfalens.explanation import opinion_lines
from wfalens.explanation.opinion_line import class_order, points
from wfalens.models.contract import uniform
from wfalens.ragged import Ragged
from wfalens.text import Corpus, TextEncoder, Vocabulary

WEIGHTS = {"great": 2.0, "fun": 1.0, "the": 0.0, "love": 0.01, "dull": -1.0, "bad": -2.5}


class Adder:
    """A network whose log-odds are the sum of its words' weights; it reads a text in one pass."""

    fingerprint = "adder"
    initial_output = uniform(2)

    def __init__(self, weights=WEIGHTS, names=("negative", "positive")):
        self.weights, self.class_names = weights, names
        self.encoder = TextEncoder(Vocabulary.of_words(list(weights)), "whitespace")

    def odds(self, words):
        return 1 / (1 + math.exp(-sum(self.weights.get(word, 0.0) for word in words)))

    def trace(self, ids):
        words = self.encoder.vocabulary.words
        rows = []
        for text in ids:
            for end in range(1, len(text) + 1):
                share = self.odds([words[word] for word in text[:end]])
                rows.append([1 - share, share])
        return Ragged(np.array(rows, np.float32), ids.offsets)


@pytest.fixture(scope="module")
def corpus():
    rng, words = np.random.default_rng(0), list(WEIGHTS)
    texts = [list(rng.choice(words, rng.integers(1, 9))) for _ in range(300)]
    labels = ["positive" if "love" in text else "negative" for text in texts]
    return Corpus.of([" ".join(text) for text in texts], labels, ("negative", "positive"), "made")


def recounted(model, corpus):
    """(word, probability before, probability after) of all words read"""
    for text in corpus.texts:
        words = text.split()
        for at, word in enumerate(words):
            yield word, model.odds(words[:at]), model.odds(words[: at + 1])


def station(share):
    return sum(share >= bound for bound in (0.2, 0.4, 0.6, 0.8))


def test_stations_are_those_of_the_network_before_and_after_every_word(corpus):
    found = opinion_lines(Adder(), corpus)
    (line,) = found.lines
    moves = np.zeros((5, 5), int)
    for _, before, after in recounted(Adder(), corpus):
        moves[station(before), station(after)] += 1
    assert line.label == "positive"
    assert line.moves.tolist() == moves.tolist()
    assert found.words == moves.sum() == sum(len(text.split()) for text in corpus.texts)
    assert np.allclose(line.shares, moves.sum(1) / moves.sum())
    assert np.allclose(line.rates.sum(1), 1)


def test_a_push_is_the_mean_change_while_the_network_is_not_sure_with_its_interval(corpus):
    (line,) = opinion_lines(Adder(), corpus).lines
    assert [each.word for each in line.towards] == ["great", "fun"]
    assert [each.word for each in line.against] == ["bad", "dull"]
    for push in (*line.towards, *line.against, *line.idle):
        changes = [
            after - before
            for word, before, after in recounted(Adder(), corpus)
            if word == push.word and max(before, 1 - before) <= 0.8
        ]
        assert push.n == len(changes)
        assert push.change == pytest.approx(np.mean(changes), abs=1e-5)
        half = student.ppf(0.975, push.n - 1) * np.std(changes, ddof=1) / math.sqrt(push.n)
        assert (push.low, push.high) == pytest.approx((np.mean(changes) - half, np.mean(changes) + half), abs=1e-4)


def test_words_that_the_labels_would_have_matter_but_do_nothing_come_first(corpus):
    (line,) = opinion_lines(Adder(), corpus).lines
    assert [(each.word, each.expected) for each in line.idle] == [("love", True), ("the", False)]
    (unlabelled,) = opinion_lines(Adder(), corpus.texts).lines
    assert [each.expected for each in unlabelled.idle] == [False, False]


def test_staying_sure_is_recounted(corpus):
    sure = [(before, after) for _, before, after in recounted(Adder(), corpus) if max(before, 1 - before) > 0.8]
    kept = [after > 0.8 if before > 0.8 else after < 0.2 for before, after in sure]
    assert opinion_lines(Adder(), corpus).stays_sure == pytest.approx(np.mean(kept))


def test_a_model_that_pays_for_every_call_is_asked_within_the_budget_and_says_so():
    model, texts = counting_model(3), letter_texts(400, 3)
    found = opinion_lines(model, texts, queries=200)
    assert found.words <= 200
    assert "beginning of the text" in found.source
    assert found.accuracy is None


def test_of_many_classes_those_with_most_texts_have_a_line_and_others_on_request():
    model, texts = counting_model(14), letter_texts(300, 14)
    counts = np.bincount(texts.labels, minlength=14)
    found = opinion_lines(model, texts)
    assert sorted(line.texts for line in found.lines) == sorted(counts.tolist())[-10:]
    asked = opinion_lines(model, texts, [model.class_names[int(counts.argmin())]])
    assert [line.label for line in asked.lines] == [model.class_names[int(counts.argmin())]]
    with raises("option-value"):
        opinion_lines(model, texts, ["nowhere"])


def test_where_texts_are_too_few_to_follow_opinions_words_alone_are_asked_about():
    model, _, texts = intents(40, 100)
    few = Corpus.of(texts[:120], [model.class_names[at] for at in last_classes(model, texts[:120])], model.class_names)
    found = opinion_lines(model, few)
    assert found.lines
    assert any(line.alone for line in found.lines)
    for line in found.lines:
        assert line.recognized == line.texts  # its own answers are the labels
        for word, value in line.alone:
            (alone,) = model.trace(model.encoder.encode([word])).values
            assert model.class_names[int(alone.argmax())] == line.label
            assert value == pytest.approx(alone[line.number])


def test_how_many_texts_of_a_class_it_finds_and_what_it_takes_the_others_for(corpus):
    (line,) = opinion_lines(Adder(), corpus).lines
    own = [text for text, label in zip(corpus.texts, corpus.labels, strict=True) if label == 1]
    right = sum(Adder().odds(text.split()) > 0.5 for text in own)
    assert (line.texts, line.recognized) == (len(own), right)
    assert line.mistaken == (("negative", len(own) - right),)


def test_classes_that_the_network_mixes_up_stand_side_by_side():
    mixed = np.array([[0.5, 0, 0.5, 0], [0, 0.5, 0, 0.5], [0.9, 0, 0.1, 0], [0, 0.9, 0, 0.1]])
    order = class_order(mixed).tolist()
    assert abs(order.index(0) - order.index(2)) == abs(order.index(1) - order.index(3)) == 1


def test_texts_without_words_are_refused():
    with raises("no-words"):
        opinion_lines(Adder(), ["", " "])


def test_points_have_their_sign():
    assert [points(each) for each in (0.304, -0.296, 0.002, -0.004)] == ["+30", "−30", "0", "0"]
