"""The automatic choice of K, α and β."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.intents import intents, last_classes
from tests.methods import extracted
from wfalens.automaton import WFA
from wfalens.errors import InputError
from wfalens.extraction import Paper, Stochastic, extract
from wfalens.extraction.completion.fitting import FittedRows
from wfalens.extraction.held_out import DIVERGENCE, Rates, select_best, split
from wfalens.extraction.method import Step, stream_of
from wfalens.extraction.states import principal
from wfalens.extraction.stochastic.tuning import (
    SizeGrid,
    Trial,
    best_trial,
    continues,
    free_share,
    memory_needed,
    representatives_for,
)
from wfalens.memory import free, resident_with_children
from wfalens.models.inference import last_outputs
from wfalens.progress import Progress, shown_on
from wfalens.scale.file_run import FileRun
from wfalens.scale.sample import SampledFiles


def tuning_of(wfa):
    """The record of a search, with its trials as such."""
    record = wfa.provenance["tuning"]
    trials = [Trial(**trial) for trial in record["trials"]]
    return SimpleNamespace(**record | {"trials": trials, "chosen": Trial(**record["chosen"])})


def tuned(model, corpus, **options):
    wfa = extracted(model, corpus, **{"states": "auto", "alpha": "auto", "beta": "auto", **options})
    return wfa, tuning_of(wfa)


def test_the_choice_is_the_best_of_what_was_tried_and_is_what_was_built(news_model, headlines):
    wfa, tuning = tuned(news_model, headlines)
    assert tuning.chosen in tuning.trials
    assert max(trial.cr for trial in tuning.trials) - tuning.chosen.cr < 0.02
    assert wfa.states - 1 == tuning.chosen.states
    assert (wfa.alpha, wfa.completion.beta) == (tuning.chosen.alpha, tuning.chosen.beta)
    assert len({trial.states for trial in tuning.trials}) > 1


def test_only_what_is_left_open_is_chosen(news_model, headlines):
    wfa, tuning = tuned(news_model, headlines, states=8, beta=0.25)
    assert wfa.states == 9
    assert {trial.states for trial in tuning.trials} == {8}
    assert {trial.beta for trial in tuning.trials} == {0.25}
    assert len({trial.alpha for trial in tuning.trials}) > 1


def test_the_final_automaton_uses_all_texts(news_model, headlines):
    wfa, tuning = tuned(news_model, headlines, completion="uniform")
    assert wfa.word_counts.sum() == len(news_model.encoder.encode(headlines.texts).values)
    assert 0 < tuning.texts < len(headlines) // 5


def test_a_search_with_probing_keeps_its_curve_in_the_file(tmp_path, news_model, headlines):
    wfa, tuning = tuned(news_model, headlines, completion="probe", representatives=2)
    wfa.save(tmp_path / "a.wfa")
    assert tuning_of(WFA.load(tmp_path / "a.wfa")) == tuning


def test_the_size_budget_bounds_the_choice(tmp_path, news_model, headlines):
    _, free = tuned(news_model, headlines, completion="probe", representatives=2)
    sizes = sorted({trial.bytes for trial in free.trials})
    wfa, bounded = tuned(news_model, headlines, completion="probe", representatives=2, max_bytes=sizes[0])
    assert max(trial.bytes for trial in bounded.trials) <= sizes[0]
    wfa.save(tmp_path / "a.wfa")
    assert (tmp_path / "a.wfa").stat().st_size < 1.5 * sizes[0]
    with pytest.raises(InputError, match="allow more"):
        tuned(news_model, headlines, max_bytes=10)


def test_equal_rates_are_decided_by_divergence():
    def trial(cr, jsd):
        return Trial("outputs", 10, 0.0, None, cr, jsd, 0)

    assert best_trial([trial(0.9, 0.03), trial(0.901, 0.05)], 1000) == trial(0.9, 0.03)
    assert best_trial([trial(0.8, 0.03), trial(0.901, 0.05)], 1000) == trial(0.901, 0.05)


def test_one_text_cannot_be_held_out(news_model):
    with pytest.raises(InputError, match="two texts"):
        extract(news_model, ["coach praises defense"], Paper(states=2, alpha="auto"))


def test_same_seed_same_choice(news_model, headlines):
    runs = [tuned(news_model, headlines, seed=3)[1] for _ in range(2)]
    assert runs[0] == runs[1]
    assert np.isfinite([trial.jsd for trial in runs[0].trials]).all()


class Told(Progress):
    """Keeps what is said."""

    def __init__(self):
        self.sentences = []

    def say(self, message):
        self.sentences.append(message)


def test_the_sizes_begin_at_the_number_of_classes_and_go_on_beyond_eighty():
    assert SizeGrid.of(2, fits=True, limited=False).sizes == (20, 40, 80, 160, 320, 640)
    assert SizeGrid.of(150, fits=True, limited=False).sizes == (150, 300, 600)
    assert SizeGrid.of(7, fits=False, limited=False).sizes[0] == 10
    assert SizeGrid.of(7, fits=True, limited=True).sizes == (20, 40, 80)
    assert SizeGrid.of(5000, fits=True, limited=False).sizes == (5000, 10000)


def test_a_language_model_may_have_many_states_which_all_have_to_be_earned():
    assert SizeGrid.for_language_model(20, limited=False) == SizeGrid((10, 30, 80, 200, 600, 1500), 1)
    assert SizeGrid.for_language_model(100, limited=False).sizes == (10, 30, 80, 200)
    assert SizeGrid.for_language_model(5000, limited=False).sizes == (10,)
    assert SizeGrid.for_language_model(20, limited=True).sizes == (10, 30, 80, 200)
    tops = [Trial("lookahead", 80, 0.0, None, 0.5, 0.1, 0), Trial("lookahead", 200, 0.0, None, 0.4, 0.08, 0)]
    assert continues(tops, 1, 1000, DIVERGENCE)
    assert not continues([*tops, Trial("lookahead", 600, 0.0, None, 0.9, 0.079, 0)], 1, 1000, DIVERGENCE)
    assert best_trial(tops, 1000, DIVERGENCE).states == 200
    same = [Trial("lookahead", states, 0.0, None, 1.0, jsd, 0) for states, jsd in ((10, 9e-6), (30, 1e-8))]
    assert not continues(same, 1, 1000, DIVERGENCE)  # nobody can tell a difference
    assert best_trial(same, 1000, DIVERGENCE).states == 10


def test_small_alphabets_get_as_many_representatives_as_are_wanted():
    assert representatives_for(10, 1500, 20) == 10
    assert representatives_for(10, 160, 20_000) == 10
    assert representatives_for(10, 640, 20_000) == 2
    assert representatives_for(10, 5000, 20_000) == 1


@pytest.mark.parametrize(
    ("rates", "goes_on"),
    [
        ([0.5], True),
        ([0.5, 0.4], True),
        ([0.5, 0.4, 0.4, 0.4], False),
        ([0.5, 0.6, 0.7], True),  # the usual three are through, and the last of them is far better
        ([0.5, 0.6, 0.605], False),
        ([0.5, 0.6, 0.7, 0.8], True),
        ([0.5, 0.6, 0.7, 0.7], False),
    ],
)
def test_further_sizes_are_earned_by_a_clear_gain(rates, goes_on):
    tops = [Trial("outputs", 20 << at, 0.0, None, rate, 0.1, 0) for at, rate in enumerate(rates)]
    assert continues(tops, 3, 1000) == goes_on


@pytest.mark.slow
def test_many_classes_get_more_than_eighty_states_which_are_far_more_faithful():
    model, texts, fresh = intents(90)
    wfa = extract(model, texts, Stochastic(abstraction="outputs", rounds=4))
    small = extract(model, texts, Stochastic(abstraction="outputs", states=40, rounds=4))
    assert wfa.states > 100
    rates = [float(np.mean(each.predict_indices(fresh) == last_classes(model, fresh))) for each in (small, wfa)]
    assert rates[1] > max(0.9, rates[0] + 0.2)


def test_memory_bounds_the_number_of_states_and_the_search_says_so(monkeypatch):
    model, texts, _ = intents(30)
    told = Told()
    options = {"states": "auto", "abstraction": "outputs", "completion": "fit", "rounds": 1}
    free = extracted(model, texts, **options)
    rate = tuning_of(free)
    assert max(trial.states for trial in rate.trials) > 60
    monkeypatch.setattr("wfalens.extraction.stochastic.tuning.free", lambda: 8 << 20)
    with shown_on(told):
        wfa = extracted(model, texts, **options)
    tried = {trial.states for trial in tuning_of(wfa).trials}
    assert tried < {trial.states for trial in rate.trials}
    assert any("states would take about" in sentence for sentence in told.sentences)


def test_a_bound_on_memory_leaves_what_the_process_does_not_hold_yet():
    files = SampledFiles(FileRun(memory=10**12), None)
    assert free_share(files) == pytest.approx(10**12 - resident_with_children(), abs=10**9)
    assert free_share(None) == pytest.approx(free() / 2, rel=0.3)


def test_the_memory_that_is_foretold_grows_with_states_and_points(news_model, headlines):
    wfa = extract(
        news_model, headlines.texts[:100], Stochastic(states=4, completion="probe", abstraction="outputs", alpha=0.4)
    )
    fitted, probed = (Stochastic(completion=name, sample=None) for name in ("fit", "probe"))
    assert memory_needed(fitted, (1000, 5), 10, wfa) < memory_needed(fitted, (1000, 5), 20, wfa)
    assert memory_needed(fitted, (1000, 5), 10, wfa) < memory_needed(fitted, (10**6, 5), 10, wfa)
    assert memory_needed(probed, (1000, 5), 10, wfa) < memory_needed(fitted, (1000, 5), 10, wfa)
    assert memory_needed(replace(fitted, sample=256), (10**6, 5), 10, wfa) < memory_needed(fitted, (10**6, 5), 10, wfa)


def test_fitted_rows_are_measured_on_texts_that_they_were_not_fitted_to(news_model, headlines):
    wfa = extract(news_model, headlines, Stochastic(representatives=2, states=20, rounds=4))
    tuning = tuning_of(wfa)
    assert tuning.delivered["rows"] == wfa.completion.name
    held, others = split(len(headlines), stream_of(0, Step.SEARCH), 3000)
    ids = news_model.encoder.encode(headlines.texts)
    outputs = wfa.predict_proba(ids.take(held))
    agree = np.mean(outputs.argmax(1) == last_outputs(news_model, ids.take(held)).argmax(1))
    assert agree == tuning.delivered[wfa.completion.name]["cr"]
    assert len(others) + len(held) == len(ids)


def test_probed_rows_are_kept_where_fitting_makes_them_worse(monkeypatch, news_model, headlines):
    def ruined(model, ids, probed, centres, *_):
        return FittedRows(probed, np.roll(centres, 1, axis=1), None)

    monkeypatch.setattr("wfalens.extraction.completion.fitting.fit_rows", ruined)
    told = Told()
    with shown_on(told):
        wfa = extract(news_model, headlines, Stochastic(representatives=2, states=20))
    tuning = tuning_of(wfa)
    assert (wfa.completion.name, wfa.alpha) == ("probe", tuning.chosen.alpha)
    assert tuning.delivered["rows"] == "probe"
    assert tuning.delivered["fit"]["cr"] < tuning.delivered["probe"]["cr"] == tuning.chosen.cr
    assert any("which are kept" in sentence for sentence in told.sentences)


def test_better_rows_are_delivered_and_of_equals_the_sharper_ones():
    def rows(fit, probe):
        return ("fit", "probe")[select_best([Rates(*fit), Rates(*probe)], 1000)]

    assert rows((0.926, 0.03), (0.942, 0.05)) == "probe"
    assert rows((0.942, 0.05), (0.926, 0.03)) == "fit"
    assert rows((0.940, 0.03), (0.942, 0.05)) == "fit"
    assert rows((0.940, 0.05), (0.942, 0.03)) == "probe"


@pytest.mark.parametrize("width", [2, 40])
def test_principal_components_are_the_same_whether_tables_are_kept_or_not(width):
    rng = np.random.default_rng(0)
    tables = [(rng.normal(size=(50, 3)) @ rng.normal(size=(3, width))).astype(np.float32) for _ in range(4)]
    points = principal(tables, 4, 5)
    whole = np.hstack(tables) / 2
    whole = whole - whole.mean(0)
    np.testing.assert_allclose(points.T @ points, np.diag(np.linalg.svd(whole)[1][:5] ** 2), atol=1e-3)
