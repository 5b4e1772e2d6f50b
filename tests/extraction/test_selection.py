"""The choice of the kind: the most faithful on held-out texts answers, and carries the readable one."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest

from tests.extraction.test_linear_training import Stops
from tests.language.grammar import Grammar
from tests.methods import best_of
from wfalens.automaton import WFA, LinearWFA, Shared
from wfalens.errors import FormatError, InputError
from wfalens.evaluation.baselines import check_baseline
from wfalens.extraction import Linear, Paper, Readable, Stochastic, extract
from wfalens.extraction import selection as best
from wfalens.extraction.held_out import Rates, aim_for, divided, select_best, shortfall
from wfalens.extraction.selection import CandidateMethods
from wfalens.language import sample
from wfalens.models import wrap
from wfalens.progress import Progress, shown_on

QUICK = Readable(start_epochs=1, epochs=2, final_epochs=1, prefixes=1, tokens=4000)
LINEAR = Linear(layers=2, width=8, factors=16, hidden=32, epochs=10, tokens=20_000)
CHEAP = CandidateMethods(
    readable=replace(QUICK, states=5, clusters=6),
    linear=LINEAR,
    stochastic=Stochastic(states=4, abstraction="outputs", representatives=2, rounds=1),
    shared=replace(QUICK, states=8, clusters=12),
)
POOR = replace(CHEAP, linear=replace(LINEAR, epochs=1, tokens=200))


class Ear(Progress):
    def __init__(self):
        self.heard = []

    def say(self, message):
        self.heard.append(message)


def extracted(model, texts, candidates=CHEAP, queries=None, checkpoint=None):
    return best_of(model, texts, candidates, queries=queries, checkpoint=checkpoint)


@pytest.fixture(scope="module")
def good(news_model, headlines):
    return extracted(news_model, headlines)


def choice_of(wfa):
    choice = wfa.provenance["choice"]
    return choice, {each["kind"]: each for each in choice["tried"]}


def test_the_linear_one_answers_and_the_readable_one_goes_along(good):
    choice, tried = choice_of(good)
    assert isinstance(good, LinearWFA)
    assert isinstance(good.readable.completion, Shared)
    assert choice["chosen"] == "linear"
    assert choice["texts"] == 150
    assert tried["linear"]["cr"] > max(0.9, tried["readable"]["cr"])
    assert set(choice["not_tried"]) == {"stochastic", "shared"}
    assert good.readable.provenance["corpus"] == good.provenance["corpus"]


def test_the_rates_are_those_of_texts_that_neither_was_fitted_to(good, news_model, headlines):
    _, tried = choice_of(good)
    for kind, wfa in (("linear", good), ("readable", good.readable)):
        worth = check_baseline(wfa, news_model, headlines, seed=0)
        assert worth.cr == tried[kind]["cr"]
    assert tried["readable"]["cr"] == good.readable.provenance["frontier"]["tried"][0]["cr"]


def test_the_automata_are_those_that_each_kind_gives_by_itself(good, news_model, headlines):
    linear, page = (extract(news_model, headlines, each) for each in (CHEAP.linear, CHEAP.readable))
    assert (linear.fingerprint, page.fingerprint) == (good.fingerprint, good.readable.fingerprint)
    asked = [wfa.provenance["queries"]["total"] for wfa in (linear, page, good)]
    assert asked[0] + asked[1] == asked[2]


def test_equal_seeds_give_equal_bytes(good, news_model, headlines, tmp_path):
    for name, wfa in (("a", good), ("b", extracted(news_model, headlines))):
        wfa.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert json.loads(json.dumps(good.provenance)) == WFA.load(tmp_path / "a").provenance


def test_the_queries_of_all_kinds_are_told_together(good):
    own, total = good.readable.provenance["queries"], good.provenance["queries"]
    assert total["total"] == sum(total[name] for name in ("look_ahead", "probing", "fitting"))
    assert total["probing"] > own["probing"] > 0
    assert total["texts"] > own["texts"]


@pytest.fixture(scope="module")
def poor(news_model, headlines):
    return extracted(news_model, headlines, POOR)


def test_where_the_linear_one_is_poor_the_others_are_tried(poor):
    choice, tried = choice_of(poor)
    assert set(tried) == set(best.KINDS)
    assert choice["not_tried"] is None
    assert tried["linear"]["cr"] < 0.9
    assert choice["chosen"] != "linear"
    assert max(each["cr"] for each in tried.values()) - tried[choice["chosen"]]["cr"] < 0.02


def test_a_stochastic_one_does_not_see_the_texts_that_it_is_compared_on(news_model, headlines, poor):
    held, known = divided(news_model.encoder.encode(headlines.texts), 0)
    alone = extract(news_model, known, POOR.stochastic)
    assert alone.word_counts.sum() == len(known.values)
    said = news_model.trace(held).last()
    assert choice_of(poor)[1]["stochastic"]["cr"] == np.mean(alone.predict_indices(held) == said.argmax(1))


def test_the_readable_one_is_the_result_where_it_is_the_most_faithful(news_model, headlines):
    last = replace(POOR, stochastic=Paper(states=2, completion="uniform"), shared=POOR.readable)
    wfa = extracted(news_model, headlines, last)
    assert wfa.provenance["choice"]["chosen"] == "readable"
    assert wfa.readable is wfa
    assert wfa.attached_readable is None


def test_of_few_held_out_texts_a_small_difference_does_not_decide():
    found = {"readable": Rates(0.90, 0.1), "linear": Rates(0.86, 0.2)}
    assert best.best_kind(found, 50, "consistency") == "linear"
    assert best.best_kind(found, 2000, "consistency") == "readable"
    assert best.best_kind(found, 50, "divergence") == "readable"
    assert best.best_kind({"readable": found["readable"]}, 50, "consistency") == "readable"


@pytest.mark.slow
def test_of_nearly_random_sequences_the_linear_one_is_chosen():
    """As of DNA: few long sequences of four letters, of which a network of a few numbers says the class."""
    rng = np.random.default_rng(0)
    texts, fresh = (
        ["".join(rng.choice(list("acgt"), 100, p=rng.dirichlet([20] * 4))) for _ in range(500)] for _ in "ab"
    )
    model = wrap(nucleotides, texts, classes=["phage", "bacterium"], reads="text", tokenizer="characters")
    wfa = extract(model, texts)
    agrees = wfa.predict_indices(fresh) == nucleotides(fresh).argmax(1)
    page = wfa.readable.predict_indices(fresh) == nucleotides(fresh).argmax(1)
    assert wfa.provenance["choice"]["chosen"] == "linear"
    assert agrees.mean() > max(0.85, page.mean())


def nucleotides(texts):
    """A recurrent network of three numbers, fed with letters."""
    weights = np.random.default_rng(5)
    entry, back, out = weights.normal(0, 1, (4, 3)), weights.normal(0, 0.7, (3, 3)), weights.normal(0, 2, 3)
    rows = []
    for text in texts:
        state, total = np.zeros(3), np.zeros(3)
        for letter in text:
            state = np.tanh(entry["acgt".index(letter)] + state @ back)
            total = 0.98 * total + 0.1 * state
        rows.append(1 / (1 + np.exp(1.8 - 3 * (total @ out))))
    return np.array([[1 - row, row] for row in rows])


def black_box(news_model):
    """The same model, asked prefix by prefix."""

    def answer(texts):
        return news_model.trace(news_model.encoder.vocabulary.encode(texts)).last()

    return wrap(answer, vocab=news_model.encoder, classes=news_model.class_names, reads="tokens")


def test_queries_are_shared_out_and_the_record_is_true(news_model, headlines):
    wfa = extracted(black_box(news_model), headlines, queries=90_000)
    record, own = wfa.provenance["queries"], wfa.readable.provenance["queries"]
    assert wfa.provenance["choice"]["chosen"] != "readable"
    assert record["limit"] == 90_000
    assert own["total"] == 0  # it asks the linear automaton
    assert 0 < record["total"] <= 90_000


def test_few_calls_pay_for_both_kinds_and_a_poor_copy_is_named_as_one(news_model, headlines):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        wfa = extracted(black_box(news_model), headlines.texts[:60], queries=90)
    choice = wfa.provenance["choice"]
    assert set(choice["not_tried"]) == {"stochastic", "shared"}
    assert wfa.readable is not None
    assert wfa.provenance["queries"]["total"] <= 90
    best = max(each["cr"] for each in choice["tried"])
    assert (best < 0.8) == any("held-out texts only" in str(each.message) for each in heard)


def test_where_no_kind_can_be_paid_for_the_reason_is_the_error(news_model, headlines):
    with pytest.raises(InputError, match="queries"):
        extracted(black_box(news_model), headlines.texts[:60], queries=2)


def test_one_text_is_too_few(news_model):
    with pytest.raises(InputError, match="needs two texts with words"):
        extract(news_model, ["the senate"])


def test_other_errors_are_not_swallowed(news_model, headlines, tmp_path):
    (tmp_path / "training").write_bytes(b"nonsense")
    with pytest.raises(FormatError, match="training"):
        extracted(news_model, headlines.texts[:60], checkpoint=tmp_path / "training")


@pytest.mark.slow
def test_a_stopped_training_goes_on_and_ends_in_the_same_bytes(good, news_model, headlines, tmp_path):
    with shown_on(Stops(3)):
        best = extracted(news_model, headlines, checkpoint=tmp_path / "training")
    assert best.provenance["stopped"]["by"] == "interrupt"
    assert best.attached_readable is not None
    assert (tmp_path / "training").exists()
    again = extracted(news_model, headlines, checkpoint=tmp_path / "training")
    assert not (tmp_path / "training").exists()
    for name, wfa in (("a", good), ("b", again)):
        wfa.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_rates_within_half_a_standard_error_are_a_tie():
    found = [Rates(0.9, 0.3), Rates(0.898, 0.1), Rates(0.88, 0.0)]
    assert select_best(found, 1000) == 1
    assert select_best(found, 10) == 2
    assert select_best(found, 10**7) == 0
    assert select_best([Rates(1, 0.1), Rates(0.99, 0)], 10) == 0


def test_copies_of_language_models_are_compared_by_divergence_alone(news_model):
    assert select_best([Rates(1, 0.1), Rates(0.2, 0.05), Rates(0.3, 0.05)], 1000, aim_for(Grammar(1))) == 1
    assert aim_for(news_model) == "consistency"


@pytest.mark.slow
def test_of_many_texts_of_a_language_model_states_are_formed_from_some(monkeypatch):
    """It says a row for every prefix, and all rows are held in memory."""
    speaker, read = Grammar(3, states=6), {}

    def watched(original):
        def extract_watched(self, request):
            read[self.name] = len(request.ids.values)
            return original(self, request)

        return extract_watched

    for method in (Linear, Readable, Stochastic):
        monkeypatch.setattr(method, "extract", watched(method.extract))
    monkeypatch.setattr(best, "MOST_OUTPUTS", 300 * len(speaker.class_names))
    texts = [text for text in sample(speaker, 400, seed=2).texts if text]
    extract(speaker, texts, effort="low")
    assert read["linear"] == read["readable"] == sum(map(len, texts)) > 1000
    assert 290 < read["stochastic"] <= 300 + max(map(len, texts))


@pytest.mark.slow
def test_a_language_model_gets_a_stochastic_automaton_with_as_many_states_as_pay():
    speaker = Grammar(3, states=6)
    texts = [text for text in sample(speaker, 400, seed=2).texts if text]
    wfa = extract(speaker, texts, effort="low")
    choice = wfa.provenance["choice"]
    tried = {each["kind"]: each["jsd"] for each in choice["tried"]}
    assert set(tried) == {"readable", "linear", "stochastic"}
    assert choice["chosen"] == min(tried, key=tried.get)
    assert choice["not_tried"] == {"shared": "the symbols of a language model have rows of their own"}
    alone = extract(speaker, texts, Stochastic())
    assert alone.completion.name == "probe"
    assert alone.provenance["tuning"]["aim"] == "divergence"
    assert alone.provenance["parameters"]["abstraction"] == "lookahead"
    fitted = extract(speaker, texts, Stochastic(states=4), effort="low")
    assert fitted.completion.name == "fit"  # where something is said of fitting


LETTERS = tuple("abcdefgh")


def halves(number, seed):
    """Texts of two halves, which are the same in every second text."""
    rng = np.random.default_rng(seed)
    first, second = rng.choice(LETTERS, (2, number, 5))
    second[::2] = first[::2]
    return [" ".join([*one, *two]) for one, two in zip(first, second, strict=True)]


def are_alike(texts):
    words = [text.split() for text in texts]
    share = np.array([each[: len(each) // 2] == each[len(each) // 2 :] for each in words], float)
    return np.stack([1 - share, share], 1)


def begins_early(texts):
    share = np.array([text[:1] < "e" for text in texts], float)
    return np.stack([1 - share, share], 1)


@pytest.mark.parametrize("candidates", [CHEAP, LINEAR], ids=["chosen", "linear"])
@pytest.mark.parametrize(("task", "is_beyond"), [(are_alike, True), (begins_early, False)])
def test_what_an_automaton_cannot_do_is_said(candidates, task, is_beyond):
    """Whether two halves of a text are the same is beyond it; how a text begins is not."""
    texts = halves(300, 0)
    model = wrap(task, texts=texts, classes=("no", "yes"), reads="text", name=task.__name__)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        if candidates is LINEAR:
            extract(model, texts, LINEAR)
        else:
            extracted(model, texts, candidates)
    assert any("too little to explain the model" in str(each.message) for each in heard) == is_beyond


def test_an_automaton_that_is_no_better_than_a_baseline_says_so():
    about = {"training": [{"cr": 0.9, "jsd": 0.1}], "held_out": 200}
    assert shortfall(about) is None
    assert shortfall(about | {"baselines": {"largest_class": 0.85, "bag_of_words": 0.89}}) is None
    assert "always saying the most frequent class" in shortfall(about | {"baselines": {"largest_class": 0.9}})
    assert "a bag of words" in shortfall(about | {"baselines": {"largest_class": 0.9, "bag_of_words": 0.95}})


@pytest.mark.parametrize("baselines", [{}, {"largest_class": 0.95}], ids=["poor", "no better than a baseline"])
def test_a_copy_that_had_too_little_time_is_told_apart_from_one_that_asked_too_little(baselines):
    cr = 0.9 if baselines else 0.5
    about = {"training": [{"cr": cr, "jsd": 0.1}], "held_out": 200, "baselines": baselines}
    hurried = shortfall(about | {"stopped": {"by": "time", "passes": 1, "planned": 40}})
    assert "time" in hurried
    assert "queries" not in hurried
    for stopped in ({}, {"stopped": {"by": "interrupt", "passes": 1, "planned": 40}}):
        assert "queries" in shortfall(about | stopped)
