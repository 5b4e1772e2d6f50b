"""Soft assignment, views and fitted rows."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests import tomita_languages as tomita
from tests.automata import sample
from tests.errors import raises
from tests.methods import extracted
from tests.robustness.test_dfa import Acceptor
from wfalens.automaton import WFA, Fitted
from wfalens.automaton.rows import entries_per_row
from wfalens.errors import InputError
from wfalens.extraction import Paper, Stochastic, extract
from wfalens.extraction.completion.fitting import _expectations, fit_rows
from wfalens.extraction.query_budget import QueryBudget
from wfalens.extraction.states import LookAhead, Outputs, mixtures, trace_prefixes
from wfalens.models import wrap
from wfalens.progress import Progress, shown_on
from wfalens.ragged import Ragged


@given(st.integers(0, 10**6), st.sampled_from([1e-6, 0.1, 0.5, 5.0]))
@example(176, 1e-6)  # takes many steps
def test_a_mixture_is_a_distribution_that_no_exchange_can_improve(seed, hardness):
    rng = np.random.default_rng(seed)
    points, centres = (rng.dirichlet(np.ones(3), size).astype(np.float32) for size in (20, 6))
    states, weights = mixtures(points, centres, hardness)
    assert weights.min() >= 0
    np.testing.assert_allclose(weights.sum(1), 1, atol=1e-5)
    for x, near, weight in zip(points.astype(float), states - 1, weights.astype(float), strict=True):
        c = centres[near].astype(float)

        def aim(w, x=x, c=c):
            return 0.5 * ((x - w @ c) ** 2).sum() + 0.5 * hardness * (w * ((x - c) ** 2).sum(1)).sum()

        best = aim(weight)
        for giver in np.flatnonzero(weight > 0.01):
            for taker in range(len(near)):
                other = weight.copy()
                other[giver] -= 0.01
                other[taker] += 0.01
                assert aim(other) > best - 1e-4


def test_a_soft_mixture_keeps_the_mean_and_a_hard_one_the_nearest():
    rng = np.random.default_rng(0)
    centres = rng.dirichlet(np.full(3, 0.3), 8).astype(np.float32)
    points = (rng.dirichlet(np.ones(8), 50) @ centres).astype(np.float32)  # within their hull
    states, weights = mixtures(points, centres, 1e-6)
    np.testing.assert_allclose((weights[..., None] * centres[states - 1]).sum(1), points, atol=0.02)
    states, weights = mixtures(points, centres, 1e5)
    assert np.all(weights.max(1) > 0.999)
    nearest = np.square(points[:, None] - centres).sum(2).argmin(1) + 1
    np.testing.assert_array_equal(states[np.arange(50), weights.argmax(1)], nearest)


def test_expectations_equal_the_derivatives_of_the_aim():
    """Expected transitions are E·∂aim/∂E, which finite differences give without any of our algebra."""
    made = sample("fit", 3, n=4, words=5)
    rows, centres = made.wfa.completion.rows, made.centres
    rng = np.random.default_rng(1)
    ids = Ragged.from_lists([[1, 2, 3, 4], [2, 2], [3]], np.int32)
    wanted = rng.dirichlet(np.ones(centres.shape[1]), len(ids.values)).astype(np.float32)
    row_of = np.repeat(np.arange(len(rows.state)), entries_per_row(rows))
    weights = (rows.weight * rows.inverse[row_of]).astype(np.float32)

    def aim(changed):
        matrices = np.zeros((5, 4, 4))
        word = np.repeat(np.arange(5), np.diff(rows.entry_start))
        matrices[word, rows.source, rows.target] = changed
        total = 0.0
        for text, outputs in zip(ids, Ragged(wanted, ids.offsets), strict=True):
            d = np.eye(4)[0]
            for at, (token, output) in enumerate(zip(text, outputs, strict=True)):
                d = d @ matrices[token]
                share = 0.7 + (at == len(text) - 1)
                total += share * (output * np.log(d @ centres)).sum()
        return total

    expected, emitted = np.zeros_like(weights), np.zeros_like(centres)
    reached = _expectations(ids, wanted, rows, weights, centres, 0.7, expected, emitted)
    assert reached * len(ids) == pytest.approx(aim(weights.astype(float)), rel=1e-5)
    for entry in rng.choice(len(weights), 15, replace=False):
        step = np.zeros(len(weights))
        step[entry] = 1e-5
        slope = (aim(weights + step) - aim(weights - step)) / 2e-5
        assert expected[entry] == pytest.approx(weights[entry] * slope, abs=1e-3)
    assert emitted.sum() == pytest.approx(0.7 * len(ids.values) + len(ids), rel=1e-4)


class Heard(Progress):
    def __init__(self):
        self.notes = []

    def advance(self, units=1, note=""):
        self.notes.append(note)


def test_every_round_on_the_same_texts_raises_the_likelihood(news_model, headlines):
    ids = news_model.encoder.encode(headlines.texts)
    start = extract(
        news_model, ids, Stochastic(states=8, completion="probe", alpha=0.0, representatives=3, abstraction="outputs")
    )
    heard = Heard()
    rule = Stochastic(rounds=6, replaced=0.0, memory=0.0, prior=1e-6, tokens=10**9)
    with shown_on(heard):
        fit_rows(news_model, ids, start.completion.rows, start.centres, rule, np.random.default_rng(0), QueryBudget())
    aims = [float(note.split()[-1]) for note in heard.notes]
    assert len(aims) == 6
    assert all(after >= before - 1e-4 for before, after in pairwise(aims))
    assert aims[-1] > aims[0] + 0.01


@pytest.fixture(scope="module")
def fitted(news_model, headlines):
    return extract(
        news_model, headlines, Stochastic(states=12, completion="fit", representatives=4, abstraction="outputs")
    )


def test_fitted_rows_are_distributions_for_every_word_and_survive_the_file(fitted, tmp_path, test_headlines):
    words = np.arange(1, len(fitted.encoder.vocabulary), dtype=np.int32)
    matrices = fitted.matrices(words)
    np.testing.assert_allclose(matrices.sum(2), 1, atol=1e-9)
    np.testing.assert_allclose(fitted.centres.sum(1), 1, atol=1e-9)
    fitted.save(tmp_path / "a.wfa")
    again = WFA.load(tmp_path / "a.wfa")
    assert isinstance(again.completion, Fitted)
    assert again.completion.drift == fitted.completion.drift
    np.testing.assert_array_equal(again.predict_proba(test_headlines.texts), fitted.predict_proba(test_headlines.texts))
    again.save(tmp_path / "b.wfa")
    assert (tmp_path / "a.wfa").read_bytes() == (tmp_path / "b.wfa").read_bytes()


def test_states_keep_their_meaning(fitted, news_model, headlines):
    """Fitting moves centres, but a state still stands for the class that its prefixes stood for."""
    start = extract(news_model, headlines, Stochastic(states=12, completion="probe", alpha=0.0, abstraction="outputs"))
    assert 0 < fitted.completion.drift < 0.5
    sure = start.centres.max(1) > 0.6
    assert np.mean(start.centres[sure].argmax(1) == fitted.centres[sure].argmax(1)) > 0.9


def test_same_seed_same_bytes_whatever_the_threads(news_model, headlines, tmp_path, monkeypatch):
    for threads in ("1", "2"):
        monkeypatch.setenv("WFALENS_THREADS", threads)
        options = {"states": 6, "completion": "fit", "alpha": 0.0, "representatives": 2, "abstraction": "lookahead"}
        extracted(news_model, headlines, **options, rounds=2, seed=3).save(tmp_path / threads)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_points_of_a_look_ahead_hold_the_outputs_and_tell_futures_apart(news_model, headlines):
    ids = news_model.encoder.encode(headlines.texts[:300])
    view = LookAhead.learned(news_model, ids, 4, np.random.default_rng(0), QueryBudget())
    seen, plain = trace_prefixes(news_model, ids, view), trace_prefixes(news_model, ids, Outputs())
    np.testing.assert_allclose(seen.outputs, plain.outputs, atol=1e-5)
    np.testing.assert_allclose(seen.points[:, :7], plain.points, atol=1e-5)
    assert seen.points[:, 7:].std() > 0.01


def test_looking_ahead_tells_states_of_equal_output_apart():
    """Tomita 5, an even number of zeros and of ones: two of its four states give the same output."""
    model, rng = Acceptor(5), np.random.default_rng(0)
    train, longer = tomita.generate(5, 600, rng), tomita.generate(5, 300, rng, min_length=17, max_length=32)

    def agreement(abstraction, states):
        wfa = extract(model, train, Stochastic(states=states, abstraction=abstraction, completion="probe", alpha=0.0))
        return np.mean(wfa.predict_indices(longer.texts) == longer.labels)

    assert agreement("lookahead", 4) > 0.98
    assert agreement("outputs", 3) < 0.9


@pytest.mark.parametrize("options", [{"rounds": 0}, {"replaced": 2.0}, {"prior": 0.0}, {"hardness": -1.0}])
def test_bad_settings_are_refused(options):
    with pytest.raises(InputError):
        Stochastic(**options)


def test_a_model_with_few_outputs_is_extracted_automatically(news_model, headlines):
    def hard(token_lists):
        said = news_model.trace(news_model.encoder.vocabulary.encode(token_lists)).last()
        return np.eye(7)[said.argmax(1)]

    closed = wrap(hard, vocab=news_model.encoder, classes=news_model.class_names, reads="tokens")
    wfa = extract(
        closed, headlines.texts[:80], Stochastic(completion="probe", alpha="auto", abstraction="outputs"), queries=5000
    )
    assert 2 <= wfa.states <= 8


def test_fitted_rows_have_no_static_part(news_model, headlines):
    options = {"states": 4, "completion": "fit", "rounds": 1, "representatives": 2}
    assert extracted(news_model, headlines.texts[:100], **options).alpha == 0
    with raises("option-conflict"):
        extracted(news_model, headlines.texts[:100], **options, alpha=0.4)


def test_looking_ahead_from_next_to_nothing(news_model):
    wfa = extract(news_model, ["coach"], Paper(states=1, abstraction="lookahead", alpha=0.0))
    assert wfa.states == 2
