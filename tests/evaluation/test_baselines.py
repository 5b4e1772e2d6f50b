"""Whether an automaton beats a bag of words on held-out extraction texts."""

import numpy as np
import pytest

from tests.intents import intents
from wfalens.evaluation.baselines import BaselineCheck, check_baseline
from wfalens.extraction import Linear, Paper, Readable, Stochastic, extract
from wfalens.extraction.held_out import divided
from wfalens.models import wrap
from wfalens.text import Corpus, TextEncoder, Vocabulary

pytestmark = pytest.mark.usefixtures("quick_teacher")

WORDS = list("abcdefgh")
ENCODER = TextEncoder(Vocabulary.of_words(WORDS), "whitespace")
KINDS = {
    "stochastic": {"states": 2, "completion": "probe", "alpha": 0.0, "abstraction": "outputs"},
    "readable": {"states": 2, "clusters": 8, "start_epochs": 1, "epochs": 3, "final_epochs": 1, "prefixes": 1},
    "linear": {"layers": 1, "width": 1, "factors": 4, "hidden": 8, "epochs": 2},
}
METHODS = {"stochastic": Stochastic, "readable": Readable, "linear": Linear}
FOLLOWING = {**KINDS, "linear": {"layers": 1, "width": 8, "factors": 8, "hidden": 16, "epochs": 8}}


def random_texts(count, seed=0) -> Corpus:
    rng = np.random.default_rng(seed)
    return Corpus.of([" ".join(rng.choice(WORDS, rng.integers(10, 25))) for _ in range(count)])


def as_model(rule):
    """A model that is sure of the class that `rule` gives a text; (words) -> 0 or 1"""

    def answer(texts):
        labels = np.array([rule(text) for text in texts])
        return np.where(labels[:, None], [0.1, 0.9], [0.9, 0.1])

    return wrap(answer, vocab=ENCODER, classes=["few", "many"], reads="tokens")


def most_are_early_letters(text):
    """Ignores order, and needs the count over the whole text, which sure outputs do not show."""
    return sum(1 if word < "e" else -1 for word in text) > 0


def ends_in_early_letters(text):
    """What the last word says, which no bag of words knows."""
    return text[-1] < "e"


def checked(rule, method):
    model, texts = as_model(rule), random_texts(600)
    return check_baseline(extract(model, texts, method), model, texts, seed=0)


@pytest.mark.parametrize("kind", KINDS)
def test_an_automaton_that_does_not_beat_a_bag_of_words_gets_a_warning(kind):
    check = checked(most_are_early_letters, METHODS[kind](**KINDS[kind]))
    assert check.texts == 60
    assert not check.beats_bag_of_words
    assert "60 extraction texts" in check.warning


@pytest.mark.parametrize("kind", KINDS)
def test_one_that_knows_the_order_gets_none(kind):
    check = checked(ends_in_early_letters, METHODS[kind](**FOLLOWING[kind]))
    assert check.beats_bag_of_words
    assert check.warning is None


def test_the_texts_are_those_that_were_held_out_and_the_rate_is_that_of_the_record():
    model, texts = as_model(ends_in_early_letters), random_texts(600)
    page = extract(model, texts, Readable(**KINDS["readable"]))
    check = check_baseline(page, model, texts, seed=0)
    frontier = page.provenance["frontier"]
    assert check.texts == frontier["texts"] == 60
    assert check.cr == pytest.approx(frontier["tried"][0]["cr"])
    assert check.bag_of_words < 0.8


def test_the_model_is_asked_once_for_each_text():
    model, texts = as_model(ends_in_early_letters), random_texts(400)
    wfa = extract(model, texts, Paper(states=2))
    before = model.queries
    assert check_baseline(wfa, model, texts, seed=0) is not None
    assert model.queries - before <= 400


def test_few_texts_give_no_result():
    model = as_model(ends_in_early_letters)
    wfa = extract(model, random_texts(100), Paper(states=2))
    assert check_baseline(wfa, model, random_texts(100), seed=0) is None


def test_with_many_classes_a_bag_of_words_that_would_look_worse_than_it_is_is_left_out():
    model, texts, _ = intents(150, 1000)
    wfa = extract(model, Corpus.of(texts), Paper(states=5))
    assert check_baseline(wfa, model, Corpus.of(texts), seed=0) is None


@pytest.mark.parametrize(("cr", "bag", "shown"), [(0.9, 0.8, True), (0.8, 0.8, False), (0.7, 0.8, False), (1, 1, True)])
def test_equal_rates_are_no_gain_unless_nothing_is_left_to_gain(cr, bag, shown):
    assert BaselineCheck(100, cr, bag).beats_bag_of_words == shown


def test_the_division_covers_all_texts_and_follows_the_seed():
    ids = ENCODER.encode(random_texts(200).texts)
    held, known = divided(ids, 3)
    assert (len(held), len(known)) == (20, 180)
    assert sorted(map(tuple, [*held, *known])) == sorted(map(tuple, ids))
    assert [tuple(text) for text in divided(ids, 3)[0]] == [tuple(text) for text in held]
    assert [tuple(text) for text in divided(ids, 4)[0]] != [tuple(text) for text in held]
