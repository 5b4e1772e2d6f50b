"""Language models trained here, extracted and measured: from texts to strings."""

import numpy as np
import pytest

from tests.language.grammar import Grammar
from wfalens.errors import InputError
from wfalens.evaluation import measure_language_model
from wfalens.extraction import Linear, Stochastic, extract
from wfalens.extraction.held_out import comparison_prefixes
from wfalens.language import perplexity, sample
from wfalens.models import RNNClassifier, RNNConfig, Trainer
from wfalens.models.contract import END, is_language_model
from wfalens.text import Corpus


@pytest.fixture(scope="session")
def spoken():
    """Strings of a grammar, to learn from and to test on."""
    drawn = sample(Grammar(7, states=3, least_end=0.15), 1500, seed=1)
    return Corpus(drawn.texts[:1200], None, (), "spoken"), [text for text in drawn.texts[1200:] if text]


@pytest.fixture(scope="session")
def speaker(once, spoken):
    config = RNNConfig(embedding=8, hidden=24, dropout=0.0)
    trainer = Trainer(config=config, task="next", epochs=12, learning_rate=0.01, tokenizer="characters")
    return RNNClassifier.load(once("speaker.rnn", lambda path: trainer.train(spoken[0]).model.save(path)))


def test_a_network_learns_what_comes_next(speaker, spoken):
    truth = Grammar(7, states=3, least_end=0.15)
    assert is_language_model(speaker)
    assert speaker.class_names[-1] == END
    assert perplexity(speaker, spoken[1]) == pytest.approx(perplexity(truth, spoken[1]), rel=0.03)
    ends = np.array([speaker.trace(speaker.encoder.encode([text])).values[-1, -1] for text in spoken[1]])
    assert ends.mean() == pytest.approx(0.15, abs=0.02)  # in every state, whatever the length
    np.testing.assert_allclose(speaker.initial_output.sum(), 1, atol=1e-5)


@pytest.mark.parametrize("kind", ["stochastic", "linear"])
def test_its_automaton_speaks_alike_and_beats_the_last_symbol(speaker, spoken, kind, tmp_path):
    methods = {
        "stochastic": Stochastic(states=12, completion="probe", alpha=0.0),
        "linear": Linear(layers=2, width=8, factors=16, hidden=32, epochs=8),
    }
    wfa = extract(speaker, spoken[0], methods[kind])
    found = measure_language_model(wfa, speaker, ["", *spoken[1]], reference=spoken[0])
    assert found.prefixes == sum(map(len, spoken[1])) + len(spoken[1]) + 1
    assert found.automaton.kl.value < found.baselines["last symbol"].kl.value
    assert found.automaton.kl.low <= found.automaton.kl.value <= found.automaton.kl.high
    assert found.automaton.perplexity_ratio == pytest.approx(1, abs=0.1)
    assert found.automaton.agreement > 0.9
    assert 0.95 < found.automaton.ndcg <= 1 + 1e-9
    assert set(found.to_dataframe()["name"]) == {"automaton", *found.baselines}
    wfa.save(tmp_path / "it.wfa")
    again = type(wfa).load(tmp_path / "it.wfa")
    assert perplexity(again, spoken[1]) == pytest.approx(found.automaton.perplexity, rel=0.2)


def test_a_model_is_like_itself(speaker, spoken):
    wfa = extract(speaker, spoken[0], Stochastic(states=4, completion="probe", alpha=0.0))
    language_figures = measure_language_model(wfa, speaker, spoken[1])
    assert language_figures.baselines == {}
    assert language_figures.automaton.perplexity == pytest.approx(perplexity(wfa, spoken[1]))
    assert language_figures.model_perplexity == pytest.approx(perplexity(speaker, spoken[1]), rel=1e-5)


def test_language_models_are_compared_after_random_prefixes(speaker, news_model):
    ids = speaker.encoder.encode(["abcabc"] * 50)
    lengths = comparison_prefixes(speaker, ids).lengths
    assert lengths.min() >= 1
    assert lengths.max() <= 6
    assert len(set(lengths)) > 3
    whole = news_model.encoder.encode(["some words here"])
    np.testing.assert_array_equal(comparison_prefixes(news_model, whole).values, whole.values)


def test_bad_tasks_are_refused():
    with pytest.raises(InputError, match="unknown task 'guess'; choose one of class, next"):
        Trainer(task="guess")
    with pytest.raises(InputError, match="which a language model has none of"):
        Trainer(task="next", balance_classes=True)
    with pytest.raises(InputError, match="stands for the end of a text"):
        Trainer(task="next", tokenizer="whitespace", epochs=1).train(Corpus(("a <end> b",) * 20))
