"""Extraction within a time, and after Ctrl-C: what is delivered is the best so far, and it says so."""

from dataclasses import replace

import numpy as np
import pytest

from tests.extraction.test_selection import CHEAP, LINEAR, QUICK
from tests.language.grammar import Grammar
from tests.methods import Bounded, best_of
from wfalens.automaton import LinearWFA, Shared
from wfalens.errors import InputError
from wfalens.extraction import Linear, Paper, Readable, Request, Stochastic, extract
from wfalens.extraction.completion import probing
from wfalens.extraction.deadline import NEVER, Deadline, Stop, seconds_of, stop_sentence
from wfalens.extraction.extract import texts_in_memory
from wfalens.extraction.linear.linear_training import LinearTraining
from wfalens.extraction.method import EFFORTS
from wfalens.extraction.readable import fit
from wfalens.extraction.stochastic import tuning
from wfalens.models import wrap
from wfalens.progress import Progress, shown_on
from wfalens.ragged import Ragged
from wfalens.scale import RunConfig

MANY = replace(LINEAR, epochs=200, patience=200, tokens=1000)
SHARED = replace(QUICK, start_epochs=3, epochs=60, final_epochs=20, tokens=1000)
KINDS = {
    "linear": Bounded(MANY, time=100),
    "readable": Bounded(replace(SHARED, states=5, clusters=6), time=100),
    "stochastic": Bounded(Stochastic(states=4, abstraction="outputs", rounds=300, representatives=2), time=100),
}
PLANNED = {"linear": 200, "readable": 80, "stochastic": 300}


class Ticks:
    """A clock that goes on by a step whenever it is asked."""

    def __init__(self, step=1.0):
        self.now, self.step = 0.0, step

    def __call__(self):
        self.now += self.step
        return self.now


class Interrupts(Progress):
    """Ctrl-C in a task, after so many advances of it."""

    def __init__(self, task, after):
        self.task, self.left, self.is_on, self.said = task, after, False, []

    def say(self, message):
        self.said.append(message)

    def start(self, task, total=None):
        self.is_on = task.startswith(self.task)

    def advance(self, units=1, note=""):
        if self.is_on:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("given", "seconds"), [(30, 30), (0.5, 0.5), ("30", 30), ("30s", 30), ("2m", 120), ("1.5h", 5400), (" 2 m ", 120)]
)
def test_times_are_read(given, seconds):
    assert seconds_of(given) == seconds


@pytest.mark.parametrize("given", ["", "soon", "30x", "-3s", "1e3", 0, -1, float("nan"), float("inf"), "0s", True])
def test_other_times_are_refused(given):
    with pytest.raises(InputError, match="time must"):
        seconds_of(given)


def test_a_deadline_is_dealt_out():
    clock = Ticks(0)
    whole = Deadline(100, clock)
    clock.now = 20
    part = whole.part(0.5)
    assert (whole.left, whole.share_used, part.seconds) == (80, 0.2, 40)
    clock.now = 50
    assert (part.left, part.share_used, part.is_over) == (10, 0.75, False)
    assert part.after(5).left == 5
    assert part.allows(10)
    assert not part.allows(11)
    clock.now = 70
    assert (part.left, part.is_over, whole.is_over) == (0, True, False)


def test_without_an_end_time_does_not_matter():
    assert (NEVER.left, NEVER.share_used, NEVER.is_over, NEVER.part(0.1).left) == (None, 0, False, None)
    assert NEVER.allows(1e9)


def test_no_size_is_tried_that_would_not_end_in_time(news_model, headlines, monkeypatch):
    """A clock that goes on by a second for every state of every automaton that is tried."""
    texts, clock, original = headlines.subset(np.arange(300)), Ticks(0), tuning.estimated_bytes

    def timed(wfa, words):
        clock.now += wfa.states
        return original(wfa, words)

    monkeypatch.setattr(tuning, "estimated_bytes", timed)
    extractor = Paper(abstraction="outputs", alpha=0.1, beta=0.3, states="auto")
    whole = extract(news_model, texts, extractor)
    sizes = [trial["states"] for trial in whole.provenance["tuning"]["trials"]]
    assert len(sizes) > 2
    clock.now = 0.0
    limited = Bounded(extractor, time=3 * (sum(sizes[:2]) + sizes[2] / 2)).timed(news_model, texts, clock)
    assert [trial["states"] for trial in limited.provenance["tuning"]["trials"]] == sizes[:2]


@pytest.mark.parametrize("kind", KINDS)
def test_time_ends_the_work_early_with_a_sound_automaton(kind, news_model, headlines):
    texts = headlines.subset(np.arange(300))
    wfa = KINDS[kind].timed(news_model, texts, Ticks())
    stop = Stop.of(wfa.provenance)
    assert (stop.by, stop.planned) == ("time", PLANNED[kind])
    assert 0 < stop.passes < stop.planned
    assert wfa.provenance["time"]["limit"] == 100
    assert wfa.provenance["time"]["used"] > 90
    assert np.isfinite(wfa.predict_proba(texts.texts)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_one_pass_is_made_however_short_the_time(kind, news_model, headlines):
    wfa = KINDS[kind].timed(news_model, headlines.subset(np.arange(100)), Ticks(), time=1e-6)
    assert Stop.of(wfa.provenance).passes == 1


@pytest.mark.parametrize("kind", KINDS)
def test_enough_time_changes_nothing(kind, news_model, headlines):
    texts, shorter = (
        headlines.subset(np.arange(100)),
        {"linear": "epochs", "readable": "epochs", "stochastic": "rounds"},
    )
    method = replace(KINDS[kind].method, **{shorter[kind]: 2})
    free, timed = extract(news_model, texts, method), Bounded(method, time="1h").timed(news_model, texts, Ticks(0))
    assert "stopped" not in timed.provenance
    assert "time" not in free.provenance
    np.testing.assert_array_equal(timed.predict_proba(texts.texts), free.predict_proba(texts.texts))


def charging(clock, monkeypatch, module, name, seconds_of_call):
    """Let a function take time by the clock."""
    original = getattr(module, name)

    def charged(*arguments, **named):
        clock.now += seconds_of_call(*arguments)
        return original(*arguments, **named)

    monkeypatch.setattr(module, name, charged)


def test_reading_words_and_passes_end_with_the_time(news_model, headlines, monkeypatch):
    """A clock that goes on with the words read and with the words of the texts of each step."""
    texts, clock = headlines.subset(np.arange(200)), Ticks(0)
    charging(clock, monkeypatch, probing, "points_after", lambda *arguments: 0.1 * len(arguments[4]))
    charging(clock, monkeypatch, fit, "slopes", lambda words, *_: 0.01 * len(words.values))
    method = replace(SHARED, states=5, clusters=6, start_epochs=1, epochs=2, final_epochs=1, batch=200)
    extract(news_model, texts, method)
    unhurried, clock.now = clock.now, 0.0
    wfa = Bounded(method, time=unhurried / 5).timed(news_model, texts, clock)
    assert clock.now <= 1.1 * unhurried / 5
    assert np.isfinite(wfa.predict_proba(texts.texts)).all()


def test_time_is_left_for_making_a_linear_automaton(headlines, monkeypatch):
    """A clock that goes on with the steps of training and when the automaton is made."""
    texts, clock = headlines.subset(np.arange(100)), Ticks(0)
    charging(clock, monkeypatch, LinearWFA, "of_texts", lambda *_: 8)
    charging(clock, monkeypatch, LinearTraining, "_step", lambda *_: 0.5)
    model = wrap(lambda given: [[0.3, 0.7]] * len(given), texts=texts, classes=("a", "b"), reads="text", name="same")
    wfa = Bounded(MANY, time=60).timed(model, texts, clock)
    assert 50 < clock.now <= 61
    assert Stop.of(wfa.provenance).by == "time"


@pytest.mark.parametrize(
    ("limit", "said"), [(None, ["training takes about 4 minutes, if all 4 passes are needed"]), (1e8, [])]
)
def test_how_long_training_takes_follows_from_its_first_pass(limit, said, headlines, monkeypatch):
    """A clock that goes on by a minute with every pass, and by an hour with every call of the model."""
    texts, clock, display = headlines.subset(np.arange(100)), Ticks(0), Interrupts("nothing", 1)
    charging(clock, monkeypatch, LinearTraining, "learn", lambda *_: 60)

    def slow(given):
        clock.now += 3600
        return [[0.3, 0.7]] * len(given)

    model = wrap(slow, texts=texts, classes=("a", "b"), reads="text", name="same")
    request = replace(request_for(model), texts=texts_in_memory(model, texts), deadline=Deadline(limit, clock))
    with shown_on(display):
        replace(LINEAR, epochs=4, patience=4).extract(request)
    assert [each for each in display.said if each.startswith("training takes")] == said


def test_a_slow_model_is_asked_no_longer_than_there_is_time(headlines):
    texts, clock = headlines.subset(np.arange(200)), Ticks(0)

    def slow(given):
        clock.now += 0.1 * len(given)
        share = np.array([len(text) % 7 for text in given]) / 7
        return np.stack([share, 1 - share], 1)

    model = wrap(slow, texts=texts, classes=("short", "long"), reads="text", name="slow")
    clock.now = 0.0
    wfa = best_of(model, texts, CHEAP, deadline=Deadline(30, clock))
    assert 10 < clock.now <= 30
    assert wfa.provenance["time"]["used"] == pytest.approx(clock.now, abs=1e-3)


@pytest.mark.slow
def test_time_is_shared_by_the_kinds(news_model, headlines):
    candidates = replace(
        CHEAP,
        linear=MANY,
        readable=replace(SHARED, states=5, clusters=6, epochs=600),
    )
    wfa = best_of(news_model, headlines.subset(np.arange(300)), candidates, deadline=Deadline(900, Ticks()))
    assert isinstance(wfa, LinearWFA)
    assert Stop.of(wfa.provenance).by == Stop.of(wfa.attached_readable.provenance).by == "time"


def test_no_other_kind_is_begun_when_time_is_over(news_model, headlines):
    wfa = best_of(news_model, headlines.subset(np.arange(100)), CHEAP, deadline=Deadline(1, Ticks()))
    assert isinstance(wfa.completion, Shared)
    assert set(wfa.provenance["choice"]["not_tried"].values()) == {"there was no time left"}


INTERRUPTED = {"linear": "training the automaton", "readable": "fitting", "stochastic": "fitting the rows"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("after", [2, 8])
def test_ctrl_c_delivers_the_best_so_far(kind, after, news_model, headlines):
    texts = headlines.subset(np.arange(200))
    told = Interrupts(INTERRUPTED[kind], after)
    with shown_on(told):
        wfa = extract(news_model, texts, KINDS[kind].method)
    assert told.said[-1] == stop_sentence(wfa.provenance)
    assert Stop.of(wfa.provenance).by == "interrupt"
    assert "time" not in wfa.provenance
    assert np.isfinite(wfa.predict_proba(texts.texts)).all()


@pytest.mark.parametrize("task", ["training the automaton", "fitting"])
def test_ctrl_c_in_a_choice_of_the_kind_begins_no_other_kind(task, news_model, headlines):
    texts = headlines.subset(np.arange(200))
    with shown_on(Interrupts(task, 2)):
        wfa = best_of(news_model, texts, CHEAP)
    choice = wfa.provenance["choice"]
    kinds = ["readable"] if task == "fitting" else ["readable", "linear"]
    assert [each["kind"] for each in choice["tried"]] == kinds
    assert Stop.of(wfa.provenance).by == "interrupt"
    assert "stopped" in choice["not_tried"]["stochastic"]


@pytest.mark.parametrize(
    ("stop", "said"),
    [
        (Stop("time", 2, 9), "time was over after 2 of 9 passes; this is the best automaton so far; more time may"),
        (Stop("interrupt", 2, 9), "stopped after 2 of 9 passes; this is the best automaton so far"),
        (Stop("interrupt", 0, 0), "stopped before other kinds were tried; this is the best automaton so far"),
    ],
)
def test_what_ended_the_work_is_a_sentence(stop, said):
    assert stop_sentence({"stopped": stop.to_dict()}).startswith(said)
    assert stop_sentence({}) is None


def test_ctrl_c_before_a_first_pass_is_no_result(news_model, headlines):
    with pytest.raises(KeyboardInterrupt), shown_on(Interrupts("reading every word", 1)):
        KINDS["linear"].extract(news_model, headlines.texts[:100])


def test_ctrl_c_before_the_second_kind_delivers_the_first(news_model, headlines):
    texts = headlines.subset(np.arange(200))
    with shown_on(Interrupts("training the automaton", 1)):
        wfa = best_of(news_model, texts, CHEAP)
    assert wfa.provenance["choice"]["chosen"] == "readable"
    assert Stop.of(wfa.provenance) == Stop("interrupt", 0, 0)


@pytest.mark.slow
def test_a_training_that_goes_on_has_the_rest_of_its_time(news_model, headlines, tmp_path):
    texts, kept, rule = headlines.subset(np.arange(300)), tmp_path / "training", Bounded(MANY, time=600)
    whole = rule.timed(news_model, texts, Ticks())
    with shown_on(Interrupts("training", 6)):
        first = rule.timed(news_model, texts, Ticks(), checkpoint=kept)
    rest = rule.timed(news_model, texts, Ticks(), checkpoint=kept)
    passes = [len(wfa.provenance["training"]) for wfa in (first, rest, whole)]
    assert passes[0] == 5
    assert 5 < passes[1] <= passes[2] + 1
    assert not kept.exists()


def test_a_training_without_a_limit_is_not_gone_on_with_within_one(news_model, headlines, tmp_path):
    texts, kept = headlines.subset(np.arange(100)), RunConfig(checkpoints=tmp_path / "kept")
    with shown_on(Interrupts("training", 2)):
        extract(news_model, texts, MANY, run=kept)
    with pytest.raises(InputError, match="other texts, model, vectors or settings"):
        KINDS["linear"].extract(news_model, texts, run=kept)


def request_for(model, effort="normal"):
    return Request(model=model, texts=texts_in_memory(model, Ragged.from_lists([[2, 3]], np.int32)), effort=effort)


def test_more_effort_is_more_work(news_model):
    for method, passes in ((Linear(), "passes"), (Readable(), "passes"), (Stochastic(), "rounds")):
        counts = [getattr(method.resolved(request_for(news_model, effort)), passes) for effort in EFFORTS]
        assert counts == sorted(set(counts))
    assert MANY.resolved(request_for(news_model, "high")).epochs == MANY.epochs  # what is given stays


def test_few_symbols_and_language_models_are_learned_in_their_own_way(news_model):
    assert len(news_model.encoder.vocabulary) >= 64
    usual = Linear().resolved(request_for(news_model))
    few = Linear().resolved(request_for(Grammar()))
    assert (few.temperature, few.following, few.width) == (1, 0, 4 * usual.width)
    assert Linear().resolved(request_for(Grammar(), "high")).width == 2 * few.width


@pytest.mark.parametrize("options", [{"effort": "huge"}, {"time": "soon"}, {"balance": "evenly"}, {"queries": 0}])
def test_bounds_that_mean_nothing_are_refused(news_model, options):
    with pytest.raises(InputError):
        extract(news_model, ["the senate votes"], **options)
