"""Language models as distributions over strings, held against enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.automata import linear_sample
from tests.automata import sample as stochastic_sample
from tests.errors import raises
from tests.language.grammar import LETTERS, Grammar, ReadAgain, strings, texts
from wfalens.automaton import LinearWFA, StochasticWFA
from wfalens.errors import InputError, ModelError
from wfalens.evaluation.language_models import TEXT_NGRAM, baselines
from wfalens.language import Language, log_probability, most_likely, perplexity, sample
from wfalens.language.string_baselines import Hankel, NGram, Spectral, best_ngram, next_symbol_rows
from wfalens.models import StatefulClassifier
from wfalens.models.contract import END, is_language_model
from wfalens.text import TextEncoder, Vocabulary


def automaton(kind, seed):
    """A random automaton whose classes are its letters and the end."""
    made = linear_sample(seed, classes=3) if kind == "linear" else stochastic_sample("fit", seed, n=4, words=6)
    wfa = made.wfa
    letters = [f"l{number}" for number in range(len(wfa.class_names) - 1)]
    words = len(wfa.encoder.vocabulary) - 2
    others = [f"o{number}" for number in range(words - len(letters))]
    encoder = TextEncoder(Vocabulary.of_words([*letters, *others][:words]), "whitespace")
    common = {"encoder": encoder, "class_names": (*letters, END), "word_counts": wfa.word_counts}
    if kind == "linear":
        flat = wfa.factors._replace(final=wfa.factors.final / 10, bias=wfa.factors.bias / 10)  # strings end soon
        return LinearWFA(factors=flat, mean_state=wfa.mean_state, **common)
    own = {name: getattr(wfa, name) for name in ("centres", "rows", "completion", "alpha", "state_visits")}
    return StochasticWFA(**common, **own)


@pytest.fixture(params=["grammar", "stochastic", "linear"])
def make(request):
    return Grammar if request.param == "grammar" else lambda seed: automaton(request.param, seed)


def letters_of(model):
    return [name for name in model.class_names if name != END]


def spelled(model, longest):
    glue = "" if model.encoder.tokenizer_name == "characters" else " "
    return [glue.join(text) for text in _tuples(letters_of(model), longest)]


def _tuples(letters, longest):
    found = [()]
    for text in found:
        if len(text) < longest:
            found += [(*text, letter) for letter in letters]
    return found


@given(st.integers(0, 1000))
def test_the_probability_of_a_string_is_the_product_over_its_symbols_and_its_end(seed):
    grammar = Grammar(seed)
    some = texts(seed, 20)
    expected = [np.log(grammar.probability(text)) for text in ["", *some]]
    np.testing.assert_allclose(log_probability(grammar, ["", *some]), expected, rtol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_all_strings_and_the_remainder_sum_to_one(make, seed):
    model, longest = make(seed), 4
    every = spelled(model, longest)
    total = np.exp(log_probability(model, every)).sum()
    language = Language.of(model)
    ids = model.encoder.encode([text for text in every if len(model.encoder.tokens(text)) == longest])
    rows, targets = language.rows(ids), language.targets(ids)
    steps = np.log(rows.values[np.arange(len(targets)), targets])
    ends = rows.offsets[1:] - 1
    prefixes = np.add.reduceat(steps, rows.offsets[:-1]) - steps[ends]
    remainder = (np.exp(prefixes) * (1 - rows.values[ends, language.end])).sum()
    assert total + remainder == pytest.approx(1, abs=1e-5)
    assert 0 < remainder < 1


@pytest.mark.parametrize("seed", range(3))
def test_sampling_agrees_with_the_probabilities(make, seed):
    model, number = make(seed), 20_000
    every = spelled(model, 2)
    expected = number * np.exp(log_probability(model, every))
    drawn = sample(model, number, seed=seed, longest=400)
    seen = dict.fromkeys(every, 0)
    for text in drawn.texts:
        if text in seen:
            seen[text] += 1
    observed = np.array(list(seen.values()))
    likely = expected > 5
    chi = ((observed - expected)[likely] ** 2 / expected[likely]).sum()
    assert chi < likely.sum() + 5 * np.sqrt(2 * likely.sum())  # five standard deviations of its mean
    assert likely.sum() >= 3


def test_sampling_is_repeatable_and_says_what_was_cut():
    grammar = Grammar(0, least_end=0.01)
    first, second, other = (sample(grammar, 50, seed=seed, longest=10) for seed in (1, 1, 2))
    assert first.texts == second.texts != other.texts
    assert 0 < first.ended.sum() < 50
    assert all(len(text) == 10 for text, ended in zip(first.texts, first.ended, strict=True) if not ended)


@pytest.mark.parametrize("seed", range(5))
def test_the_most_likely_strings_are_those_of_enumeration(make, seed):
    model, number = make(seed), 10
    every = spelled(model, 7)  # longer ones are less likely than the tenth
    scores = log_probability(model, every)
    found = most_likely(model, number)
    best = np.sort(scores)[::-1][:number]
    np.testing.assert_allclose([each.log_probability for each in found], best, rtol=1e-5)
    np.testing.assert_allclose(log_probability(model, [each.text for each in found]), best, rtol=1e-5)


def test_a_model_without_steps_reads_prefixes_again():
    grammar = Grammar(3)
    again = ReadAgain(grammar)
    assert not isinstance(again, StatefulClassifier)
    assert sample(again, 40, seed=5, longest=30).texts == sample(grammar, 40, seed=5, longest=30).texts
    assert [each.text for each in most_likely(again, 8)] == [each.text for each in most_likely(grammar, 8)]


def test_perplexity_counts_symbols_and_ends():
    grammar = Grammar(1)
    some = ["ab", "", "cc"]
    expected = np.prod([grammar.probability(text) for text in some]) ** (-1 / 7)
    assert perplexity(grammar, some) == pytest.approx(expected, rel=1e-5)


def test_long_corpora_are_measured_in_parts(monkeypatch):
    grammar, some = Grammar(2), ["", *texts(0, 60), ""]
    whole = log_probability(grammar, some)
    monkeypatch.setattr("wfalens.language.probability._FLOATS_AT_ONCE", 40)
    np.testing.assert_array_equal(log_probability(grammar, some), whole)


def test_an_ngram_reproduces_a_model_that_remembers_so_far():
    grammar = Grammar(0, states=3)
    grammar.targets[:, 2:] = np.arange(3)  # the state is the last letter; the start is that after "a"
    language = Language.of(grammar)
    ids = grammar.encoder.encode(texts(0, 400))
    fitted = NGram(language, ids, language.rows(ids).values, 2, strength=1e-6)
    test = grammar.encoder.encode(texts(1, 50))
    np.testing.assert_allclose(fitted.trace(test).values, grammar.trace(test).values, atol=1e-4)
    assert not np.allclose(NGram(language, ids, language.rows(ids).values, 1).trace(test).values, 1e-2)


@pytest.mark.parametrize("order", [1, 2, 4])
def test_stand_ins_are_language_models(order):
    grammar = Grammar(4, states=4)
    language, ids = Language.of(grammar), grammar.encoder.encode(texts(0, 200))
    for model in (
        NGram(language, ids, next_symbol_rows(language, ids), order),
        Spectral(Hankel(language, ids, _rng()), 3),
    ):
        assert is_language_model(model)
        assert isinstance(model, StatefulClassifier)
        test = model.encoder.encode(texts(1, 30))
        np.testing.assert_allclose(model.trace(test).values.sum(1), 1, atol=1e-5)
        assert len(sample(model, 5, longest=50).texts) == 5


def test_spectral_learning_recovers_a_grammar():
    grammar = Grammar(5, states=4)
    language, ids = Language.of(grammar), grammar.encoder.encode(texts(0, 200))
    hankel = Hankel(language, ids, _rng())
    rank = int(np.linalg.matrix_rank(hankel.blocks, tol=1e-4))
    test = grammar.encoder.encode(texts(1, 50))
    np.testing.assert_allclose(Spectral(hankel, rank).trace(test).values, grammar.trace(test).values, atol=1e-3)
    assert np.abs(Spectral(hankel, 1).trace(test).values - grammar.trace(test).values).max() > 0.01


def test_the_best_ngram_is_chosen_on_held_out_texts():
    grammar = Grammar(6, states=2)
    drawn = sample(grammar, 600, seed=0).ids
    language = Language.of(grammar)
    best = best_ngram(language, drawn.between(0, 500), drawn.between(500, 600))
    for order in (2, 6):
        other = NGram(language, drawn.between(0, 500), next_symbol_rows(language, drawn.between(0, 500)), order, 2.0)
        assert perplexity(best, drawn.between(500, 600)) <= perplexity(other, drawn.between(500, 600))


def test_a_foreign_symbol_does_not_cost_the_ngram_of_the_texts():
    grammar = Grammar(6, states=2)
    drawn = [text for text in sample(grammar, 300, seed=0).texts if text]
    ids = grammar.encoder.encode([*drawn, "axb", "x"])
    rivals = baselines(Language.of(grammar), ids)
    assert TEXT_NGRAM in rivals
    own = baselines(Language.of(grammar), grammar.encoder.encode(drawn))[TEXT_NGRAM]
    assert perplexity(rivals[TEXT_NGRAM], drawn) == pytest.approx(perplexity(own, drawn), rel=0.1)


def _rng():
    return np.random.default_rng(0)


class TestBadInput:
    def test_rows_that_do_not_sum_to_one(self):
        grammar = Grammar(0)
        grammar.outputs = grammar.outputs * 1.1
        with pytest.raises(ModelError, match=r"one sums to 1\.1"):
            log_probability(grammar, ["ab"])

    @pytest.mark.parametrize("ask", [lambda model: sample(model, 3), lambda model: most_likely(model, 3)])
    def test_steps_that_do_not_sum_to_one(self, ask):
        grammar, own = Grammar(0), Grammar.step
        grammar.step = lambda state, ids: (own(grammar, state, ids)[0], 1.1 * own(grammar, state, ids)[1])
        with pytest.raises(ModelError, match=r"one sums to 1\.1"):
            ask(grammar)

    def test_no_end_symbol(self):
        grammar = Grammar(0)
        grammar.class_names = (*LETTERS, "stop")
        with pytest.raises(InputError, match="none of its classes is the end symbol '<end>'"):
            sample(grammar, 3)

    def test_a_class_that_is_no_symbol(self):
        grammar = Grammar(0)
        grammar.class_names = ("a", "b", "sport", END)
        assert not is_language_model(grammar)
        with raises("no-language-model"):
            perplexity(grammar, ["ab"])

    def test_a_symbol_outside_the_alphabet(self):
        with pytest.raises(InputError, match="text 2 has a symbol outside the alphabet"):
            log_probability(Grammar(0), ["ab", "axb"])

    def test_no_first_output(self):
        model = ReadAgain(Grammar(0))
        del model.initial_output
        with pytest.raises(InputError, match="does not tell which symbol comes first"):
            most_likely(model, 2)

    def test_a_search_that_finds_no_end(self):
        with pytest.raises(InputError, match="not certain after"):
            most_likely(Grammar(0, least_end=1e-6), 5, most=500)

    def test_no_text(self):
        with pytest.raises(InputError, match="no text"):
            perplexity(Grammar(0), [])

    def test_too_many_ngrams(self):
        grammar = Grammar(0)
        ids = grammar.encoder.encode(["ab"])
        many = TextEncoder(Vocabulary.of_words([f"w{number}" for number in range(100_000)]), "whitespace")
        language = Language.of(grammar)
        grammar.encoder = many
        with pytest.raises(InputError, match="too many to number"):
            NGram(language, ids, next_symbol_rows(language, ids), 6)


def test_enumeration_is_complete():
    assert len(strings("ab", 3)) == 15
