"""Data sets by name, and the truth of the generated ones."""

import itertools
import re
from collections import Counter

import numpy as np
import pytest

from tests import tomita_languages as tomita
from tests.planted import class_of, polarity
from wfalens.errors import InputError
from wfalens.text import load_dataset
from wfalens.text.datasets import NAMES, newsroom, opinions
from wfalens.text.datasets.catalogue import DATASETS, is_available

PREDICATES = {
    1: lambda s: re.fullmatch("1*", s),
    2: lambda s: re.fullmatch("(10)*", s),
    3: lambda s: not re.fullmatch("((0|1)*0)*1(11)*(0(0|1)*1)*0(00)*(1(0|1)*)*", s),
    4: lambda s: "000" not in s,
    5: lambda s: s.count("0") % 2 == 0 and s.count("1") % 2 == 0,
    6: lambda s: (s.count("0") - s.count("1")) % 3 == 0,
    7: lambda s: re.fullmatch("0*1*0*1*", s),
}


def test_every_data_set_is_named_in_the_help_of_commands():
    assert tuple(DATASETS) == NAMES


@pytest.mark.parametrize("number", PREDICATES)
def test_tomita_automata_accept_their_language(number):
    for length in range(11):
        for symbols in itertools.product("01", repeat=length):
            string = "".join(symbols)
            assert tomita.TOMITA[number].accepts(string) == bool(PREDICATES[number](string)), string


@pytest.mark.parametrize("number", PREDICATES)
def test_tomita_automata_are_minimal(number):
    """Every state is reached, and any two are told apart by some continuation."""
    dfa = tomita.TOMITA[number]
    strings = ["".join(s) for length in range(7) for s in itertools.product("01", repeat=length)]

    def run(state, string):
        for symbol in string:
            state = dfa.transitions[state][int(symbol)]
        return state

    states = range(len(dfa.transitions))
    assert {run(0, string) for string in strings} == set(states)
    futures = {tuple(run(state, string) in dfa.accepting for string in strings) for state in states}
    assert len(futures) == len(dfa.transitions)


@pytest.mark.parametrize("number", PREDICATES)
def test_tomita_corpora_are_balanced_and_rightly_labelled(number):
    corpus = tomita.load(number, "test")
    assert np.bincount(corpus.labels).tolist() == [500, 500]
    for text, label in zip(corpus.texts, corpus.labels, strict=True):
        string = text.replace(" ", "")
        assert 17 <= len(string) <= 32
        assert tomita.TOMITA[number].accepts(string) == bool(label)


def test_newsroom_plants_what_it_says():
    corpus = load_dataset("newsroom")
    truth = newsroom.TRUTH
    by_word = {}
    for text, label in zip(corpus.texts, corpus.labels, strict=True):
        for word in text.split():
            by_word.setdefault(word, Counter())[newsroom.TOPICS[label]] += 1

    def share(word, *topics):
        return sum(by_word[word][topic] for topic in topics) / by_word[word].total()

    for topic, words in truth.carriers.items():
        counts = [by_word[word].total() for word in words]
        assert min(counts) >= 15
        assert counts[0] > 3 * counts[-5]  # frequencies fall steeply
        assert all(share(word, topic) > 0.85 for word in words)
    for word, topics in truth.ambiguous.items():
        assert share(word, *topics) == 1
        assert min(share(word, topic) for topic in topics) > 0.4
    for word in truth.neutral[:30]:
        assert max(by_word[word].values()) / by_word[word].total() < 0.25


def test_newsroom_words_have_one_role_each():
    truth = newsroom.TRUTH
    words = [*itertools.chain(*truth.carriers.values()), *truth.ambiguous, *truth.neutral]
    assert len(set(words)) == len(words)


def test_newsroom_synonyms_are_nearest_neighbours_with_other_topics():
    vectors = newsroom.vectors()
    for word, double in newsroom.TRUTH.synonyms:
        assert vectors.nearest(word, 1)[0][0] == double
        assert newsroom.TRUTH.topic_of(word) != newsroom.TRUTH.topic_of(double)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("good", "positive"),
        ("the film is not good", "negative"),
        ("the film is not very really good", "negative"),
        ("never boring", "positive"),
        ("the plot is good but boring", "negative"),
        ("the plot is boring yet the cast is scarcely dull", "positive"),
        ("not good and funny and clever", "positive"),  # the negation turns one opinion round, not the others
        ("never the film but good", "positive"),  # it does not reach across "but"
        ("good and boring", None),
        ("the film is very", None),
        ("good but the film", None),
    ],
)
def test_the_grammar_of_opinions(text, expected):
    assert class_of(text) == expected


def test_opinions_have_the_class_that_the_grammar_gives_them():
    corpus = load_dataset("opinions")
    assert np.bincount(corpus.labels).tolist() == [3000, 3000]
    for text, label in zip(corpus.texts, corpus.labels, strict=True):
        assert class_of(text) == opinions.CLASSES[label]
        assert 1 <= len(text.split()) <= 40


def test_words_of_opinions_have_one_role_each_and_are_seen_often():
    truth = opinions.TRUTH
    words = [*truth.positive, *truth.negative, *truth.negators, *truth.contrasts, *truth.neutral]
    assert len(set(words)) == len(words)
    counts = Counter(word for text in load_dataset("opinions").texts for word in text.split())
    assert set(counts) == set(words)
    assert min(counts.values()) >= 50
    assert [polarity(word) for word in ("good", "boring", "not", "but", "the")] == [1, -1, 0, 0, 0]


def test_negations_stand_up_to_two_words_before_the_opinion():
    text = " ".join(f"{each} ." for each in load_dataset("opinions").texts)
    words = text.split()
    truth = opinions.TRUTH
    gaps = Counter()
    for at, word in enumerate(words):
        if word in truth.negators:
            gaps[next(gap for gap in range(9) if polarity(words[at + 1 + gap]))] += 1
    assert set(gaps) == {0, 1, 2}
    assert gaps[0] > gaps[1] > gaps[2] > 200


def test_bundled_reviews_are_split_without_overlap():
    train, test = load_dataset("rotten_tomatoes", "train"), load_dataset("rotten_tomatoes", "test")
    assert len(train) + len(test) == 8530
    assert train.class_names == ("negative", "positive")
    assert np.bincount(test.labels).tolist() == [853, 853]


def test_same_name_gives_the_same_texts():
    assert load_dataset("newsroom", "test").texts == load_dataset("newsroom", "test").texts


def test_unknown_names_and_missing_folders(monkeypatch, tmp_path):
    monkeypatch.delenv("WFALENS_DATA", raising=False)
    with pytest.raises(InputError, match="unknown data set 'nope'; choose one of rotten_tomatoes"):
        load_dataset("nope")
    with pytest.raises(InputError, match="no split 'dev'; choose one of train, test"):
        load_dataset("newsroom", "dev")
    with pytest.raises(InputError, match=r"needs the file tagmynews/train\.csv"):
        load_dataset("tagmynews")
    with pytest.raises(InputError, match=str(tmp_path)):
        load_dataset("clickbait", data=tmp_path)


def test_real_data_sets(data_folder):
    for name in ("tagmynews", "jigsaw_toxic", "clickbait"):
        assert is_available(name, data_folder)
        train = load_dataset(name, "train", data_folder)
        assert train.class_names == load_dataset(name, "test", data_folder).class_names
        assert len(np.unique(train.labels)) == len(train.class_names)
    assert DATASETS["tagmynews"].max_length == 25
