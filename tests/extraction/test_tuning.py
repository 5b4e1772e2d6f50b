"""The automatic choice of K, α and β."""

import numpy as np
import pytest

from wfalens.automaton import WFA
from wfalens.errors import InputError
from wfalens.extraction import Extractor
from wfalens.extraction.choice.tuning import Trial, Tuning, _best


def tuned(model, corpus, **options):
    wfa = Extractor.paper(**{"states": "auto", "alpha": "auto", "beta": "auto", **options}).extract(model, corpus)
    return wfa, Tuning.from_json(wfa.provenance["tuning"])


def test_the_choice_is_the_best_of_what_was_tried_and_is_what_was_built(news_model, headlines):
    wfa, tuning = tuned(news_model, headlines)
    assert tuning.chosen in tuning.trials
    assert max(trial.cr for trial in tuning.trials) - tuning.chosen.cr < 0.02
    assert wfa.states - 1 == tuning.chosen.states
    assert (wfa.alpha, wfa.completion.beta) == (tuning.chosen.alpha, tuning.chosen.beta)
    assert len({trial.states for trial in tuning.trials}) == len(tuning.curve) > 1


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
    assert Tuning.from_json(WFA.load(tmp_path / "a.wfa").provenance["tuning"]) == tuning


def test_the_size_budget_bounds_the_choice(tmp_path, news_model, headlines):
    _, free = tuned(news_model, headlines, completion="probe", representatives=2)
    sizes = sorted({trial.bytes for trial in free.trials})
    wfa, bounded = tuned(news_model, headlines, completion="probe", representatives=2, budget=sizes[0])
    assert max(trial.bytes for trial in bounded.trials) <= sizes[0]
    wfa.save(tmp_path / "a.wfa")
    assert (tmp_path / "a.wfa").stat().st_size < 1.5 * sizes[0]
    with pytest.raises(InputError, match="allow more"):
        tuned(news_model, headlines, budget=10)


def test_equal_rates_are_decided_by_divergence():
    def trial(cr, jsd):
        return Trial("outputs", 10, 0.0, None, cr, jsd, 0)

    assert _best([trial(0.9, 0.03), trial(0.901, 0.05)], 1000) == trial(0.9, 0.03)
    assert _best([trial(0.8, 0.03), trial(0.901, 0.05)], 1000) == trial(0.901, 0.05)


@pytest.mark.parametrize("stored", [None, {}, {"trials": [{}], "chosen": {}, "texts": 1}, [1], "auto"])
def test_a_provenance_without_a_choice_gives_none(stored):
    assert Tuning.from_json(stored) is None


def test_one_text_cannot_be_held_out(news_model):
    with pytest.raises(InputError, match="two texts"):
        Extractor.paper(states=2, alpha="auto").extract(news_model, ["coach praises defense"])


def test_same_seed_same_choice(news_model, headlines):
    runs = [tuned(news_model, headlines, seed=3)[1] for _ in range(2)]
    assert runs[0] == runs[1]
    assert np.isfinite([trial.jsd for trial in runs[0].trials]).all()
