"""Readable automata: few states, classes of words that share rows, fitted together."""

from dataclasses import replace

import numpy as np
import pytest

from tests.methods import BOUNDS, Bounded
from wfalens.automaton import WFA, Shared
from wfalens.errors import InputError
from wfalens.extraction import Readable, extract
from wfalens.extraction.perturbed_batches import PerturbedBatches
from wfalens.extraction.query_budget import QueryBudget
from wfalens.extraction.readable.fit import Fit, merged, slopes
from wfalens.extraction.readable.readable_extraction import automaton_of
from wfalens.models import wrap
from wfalens.progress import Progress, shown_on
from wfalens.ragged import Ragged
from wfalens.text import TextEncoder, Vocabulary, load_dataset
from wfalens.text.datasets import newsroom, opinions

QUICK = Readable(spread=2, start_epochs=2, epochs=4, final_epochs=2, tokens=20_000, prefixes=1)
THOROUGH = Readable(start_epochs=5, epochs=15, final_epochs=5)


def readable(method=QUICK, states=8, clusters=12, **options):
    bounds = {name: options.pop(name) for name in BOUNDS if name in options}
    return Bounded(replace(method, states=states, clusters=clusters, **options), **bounds)


def loss_of(words, wanted, matrices, centres, every):
    """The loss by its formula, text by text."""
    total = 0.0
    for text in range(len(words)):
        state = np.eye(1, len(centres))[0]
        for at in range(words.offsets[text], words.offsets[text + 1]):
            state = state @ matrices[words.values[at]]
            share = every + (at == words.offsets[text + 1] - 1)
            total -= share * float(wanted[at] @ np.log(state @ centres))
    return total


def test_slopes_are_the_derivatives_of_the_loss():
    rng = np.random.default_rng(0)
    words = Ragged.from_lists([[0, 1, 2], [2], [1, 1, 0, 2, 1]], np.int64)
    matrices, centres = rng.dirichlet(np.ones(4), (3, 4)), rng.dirichlet(np.ones(3), 4)
    wanted = rng.dirichlet(np.ones(3), len(words.values)).astype(np.float32)
    found = slopes(words, wanted, matrices.astype(np.float32), centres.astype(np.float32), 0.5)
    assert found.loss == pytest.approx(loss_of(words, wanted, matrices, centres, 0.5), rel=1e-5)
    for table, slope in ((matrices, found.matrices), (centres, found.centres)):
        for at in [tuple(rng.integers(0, size) for size in table.shape) for _ in range(12)]:
            ends = []
            for step in (1e-5, -1e-5):
                table[at] += step
                ends.append(loss_of(words, wanted, matrices, centres, 0.5))
                table[at] -= step
            assert slope[at] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-3, abs=1e-3)


@pytest.fixture(scope="module")
def page(news_model, headlines):
    return readable(THOROUGH, states=12, clusters=24).extract(news_model, headlines)


def test_it_is_small_and_faithful(page, news_model, test_headlines, tmp_path):
    assert page.kind == "stochastic"
    assert isinstance(page.completion, Shared)
    assert page.states <= 13
    assert page.summary()["word_classes"] <= 24
    agrees = page.predict_indices(test_headlines.texts) == news_model.predict_proba(test_headlines.texts).argmax(1)
    assert agrees.mean() > 0.9
    page.save(tmp_path / "page.wfa")
    assert (tmp_path / "page.wfa").stat().st_size < 30_000


def test_its_traffic_is_that_of_the_texts(page, headlines):
    """Visits and flows, counted again by walking every text with the matrices of its words."""
    anatomy, ids = page.anatomy, page.encoder.encode(headlines.texts)
    visits, reached = np.zeros_like(anatomy.visits), np.zeros(page.states)
    matrices = page.matrices(np.arange(len(page.word_counts), dtype=np.int32))
    for text in range(len(ids)):
        state = page.initial
        for word in ids[text]:
            visits[anatomy.word_class[word]] += state
            state = state @ matrices[word]
            reached += state
    np.testing.assert_allclose(anatomy.visits, visits, rtol=1e-5, atol=1e-3)
    np.testing.assert_allclose(page.state_visits[1:], reached[1:], atol=1)
    assert page.state_visits[0] == len(headlines)
    np.testing.assert_allclose(anatomy.flows.sum((0, 1))[1:], reached[1:], rtol=1e-5, atol=1e-2)


def test_words_of_a_class_share_their_matrix_and_the_start_is_never_entered_again(page):
    anatomy = page.anatomy
    for number in range(len(anatomy.matrices)):
        words = np.flatnonzero(anatomy.word_class == number)[:3].astype(np.int32)
        for matrix in page.matrices(words[words > 0]):
            np.testing.assert_allclose(matrix, anatomy.matrices[number], atol=1e-12)
    assert not anatomy.matrices[:, :, 0].any()


@pytest.mark.slow
@pytest.mark.parametrize("threads", ["1", "3"])
def test_equal_seeds_give_equal_bytes(news_model, headlines, tmp_path, monkeypatch, threads):
    few = headlines.texts[:300]
    readable(seed=4).extract(news_model, few).save(tmp_path / "a.wfa")
    monkeypatch.setenv("WFALENS_THREADS", threads)
    readable(seed=4).extract(news_model, few).save(tmp_path / "b.wfa")
    assert (tmp_path / "a.wfa").read_bytes() == (tmp_path / "b.wfa").read_bytes()
    assert WFA.load(tmp_path / "a.wfa").names.states == WFA.load(tmp_path / "b.wfa").names.states


@pytest.mark.slow
def test_the_planted_topics_are_found(newsroom_model):
    """Words of a topic turn towards it, neutral ones hardly matter, ambiguous ones stand alone or name both topics."""
    # with some seeds (two of five) one cluster mixes neutral words with carriers, at the same fidelity
    page = readable(THOROUGH, states=12, clusters=32, seed=2).extract(newsroom_model, load_dataset("newsroom"))
    vocabulary, truth = page.encoder.vocabulary, newsroom.TRUTH

    def effect(word):
        return page.names.classes[page.anatomy.word_class[vocabulary.id_of(word)]]

    def towards(word):
        """The two topics that a word raises most."""
        return [page.class_names[at] for at in np.argsort(-effect(word).change)[:2]]

    def seen(words):
        return [word for word in words if page.word_counts[vocabulary.id_of(word)] >= 20]

    carriers = [(word, topic) for topic, words in truth.carriers.items() for word in seen(words)]
    assert len(carriers) > 150
    assert np.mean([towards(word)[0] == topic for word, topic in carriers]) >= 0.9
    assert np.mean([effect(word).moved < 0.1 for word in seen(truth.neutral)]) >= 0.9
    ambiguous = {word: pair for word, pair in truth.ambiguous.items() if word in seen(truth.ambiguous)}
    found = [effect(word).size <= 3 or set(towards(word)) == set(pair) for word, pair in ambiguous.items()]
    assert np.mean(found) >= 0.7


@pytest.mark.slow
def test_the_state_after_a_negation_is_found(opinions_model):
    """Of two states that say the same, one comes after a negation, and there a good word does the opposite."""
    page = readable(THOROUGH).extract(opinions_model, load_dataset("opinions"))
    tests = load_dataset("opinions", "test").texts
    assert np.mean(page.predict_indices(tests) == opinions_model.predict_proba(tests).argmax(1)) > 0.95
    after = [
        state for state, name in enumerate(page.names.states) if any(word in name for word in opinions.TRUTH.negators)
    ]
    assert after, page.names.states
    positive = list(page.class_names).index("positive")
    good = page.matrices(np.array([page.encoder.vocabulary.id_of("good")], np.int32))[0] @ page.centres
    assert min(good[after, positive]) < 0.5 < good[0, positive]


@pytest.mark.slow
def test_the_smallest_size_that_is_nearly_as_good_is_chosen_and_the_frontier_told(news_model, headlines):
    page = readable(states="auto", clusters="auto", cr_loss=0.05).extract(news_model, headlines.texts[:400])
    frontier = page.provenance["frontier"]
    rates = [trial["cr"] for trial in frontier["tried"]]
    assert len(rates) == 6
    assert frontier["chosen"] == next(at for at, rate in enumerate(rates) if rate >= max(rates) - 0.05)
    chosen = frontier["tried"][frontier["chosen"]]
    assert (page.states - 1, page.summary()["word_classes"]) == (chosen["states"], chosen["clusters"])


def test_a_given_number_of_states_leaves_the_classes_open():
    sizes = Readable(states=5, clusters="auto").sizes
    assert {size.states for size in sizes} == {5}
    assert Readable(clusters="auto", cr_loss=0.1).chosen([0.8, 0.95]) == 1


def test_shared_rows_are_a_completion_too(news_model, headlines):
    wfa = extract(news_model, headlines.texts[:300], replace(QUICK, states=10, clusters=40))
    assert 24 < wfa.summary()["word_classes"] <= 40
    assert wfa.completion.name == "shared"


@pytest.mark.usefixtures("quick_teacher")
def test_a_black_box_is_asked_within_its_queries(letters):
    def answer(texts):
        return np.array([[0.9, 0.1] if "a" in text else [0.2, 0.8] for text in texts])

    model = wrap(answer, vocab=letters, classes=["with", "without"], reads="tokens")
    texts = [" ".join(np.random.default_rng(seed).choice(list("abcdefgh"), 5)) for seed in range(60)]
    page = readable(states=3, clusters=3, queries=2000).extract(model, texts)
    asked = page.provenance["queries"]
    assert 0 < asked["total"] <= 2000
    with pytest.raises(InputError, match="allow more"):
        readable(states=3, clusters=3, queries=1).extract(model, texts)


def test_few_queries_give_fewer_batches_that_are_kept(letters):
    model = wrap(lambda texts: np.full((len(texts), 2), 0.5), vocab=letters, classes=["a", "b"], reads="tokens")
    ids = letters.encode(["a b c d"] * 10)
    budget = QueryBudget(36)  # a batch takes twelve at most: a call for each text, and one to spare
    batches = PerturbedBatches(model, ids, replace(QUICK, tokens=40), 0, budget)
    first = [batches.numbered(number) for number in range(6)]
    assert first[0] is first[3]
    assert first[1] is first[4]
    assert budget.total == 30


def test_a_model_with_fewer_outputs_than_states_gets_fewer_states(letters):
    model = wrap(lambda texts: np.tile([0.7, 0.3], (len(texts), 1)), vocab=letters, classes=["a", "b"], reads="tokens")
    model.asks_every_prefix = False  # else a linear automaton is asked in its place, whose outputs are not quite equal
    page = readable(states=6, clusters=4).extract(model, ["a b", "c d", "e f g", "h"])
    assert page.states == 2
    np.testing.assert_allclose(page.predict_proba(["a", "b c"]), [[0.7, 0.3]] * 2, atol=0.02)


def test_like_classes_become_one():
    stay, turn = np.eye(3), np.roll(np.eye(3), 1, axis=1)
    matrices = np.array([stay, turn, 0.98 * stay + 0.02 / 3, 0.97 * turn + 0.03 / 3])
    given = Fit(matrices, np.eye(3), np.array([0, 0, 1, 2, 3, 3]), np.ones(6))
    found = merged(given, np.array([0, 5, 5, 5, 5, 5]), 2, np.random.default_rng(0))
    assert found.word_class[1] == found.word_class[3] != found.word_class[2] == found.word_class[4]
    np.testing.assert_allclose(found.matrices.sum(2), 1)


def test_a_page_of_twenty_thousand_words_is_below_300_kb(news_model, tmp_path):
    words = [f"word{number:05d}" for number in range(20_000)]
    encoder = TextEncoder(Vocabulary.of_words(words), "whitespace")
    rng = np.random.default_rng(0)
    size = len(encoder.vocabulary)
    centres, matrices = (
        rng.dirichlet(np.ones(7), 13),
        np.dstack([np.zeros((32, 13)), rng.dirichlet(np.ones(12), (32, 13))]),
    )

    class Named:
        class_names = news_model.class_names

    Named.encoder = encoder
    ids = Ragged.from_lists([rng.integers(2, size, 9) for _ in range(3000)], np.int32)
    wfa = automaton_of(Fit(matrices, centres, rng.integers(0, 32, size), rng.random(size)), Named, ids, {})
    wfa.save(tmp_path / "page.wfa")
    assert (tmp_path / "page.wfa").stat().st_size < 300_000


def test_progress_tells_how_faithful_it_is(news_model, headlines):
    class Told(Progress):
        def __init__(self):
            self.said = []

        def advance(self, _amount, message=""):
            self.said.append(message)

    told = Told()
    with shown_on(told):
        readable(replace(QUICK, epochs=5)).extract(news_model, headlines.texts[:200])
    assert any(message.startswith("CR ") and "JSD" in message for message in told.said)
