"""Extraction within a time, and after Ctrl-C: what is delivered is the best so far, and it says so."""

from dataclasses import replace

import numpy as np
import pytest
from wfalens.extraction.effort import EFFORTS, distillation_of, fitting_of, sharing_of

from tests.extraction.test_best import CHEAP, LINEAR, QUICK
from tests.language.grammar import Grammar
from wfalens.automaton import LinearWFA, Shared
from wfalens.errors import InputError
from wfalens.extraction import Linear, Paper, extract
from wfalens.extraction.deadline import NEVER, Deadline, Stop, seconds_of, told_stop
from wfalens.extraction.selection import extract_best
from wfalens.extraction.stochastic import tuning
from wfalens.progress import Progress, shown_on
from wfalens.scale import Run
from wfalens.text.blocks import source_of

MANY = replace(LINEAR, epochs=200, patience=200, tokens=1000)
SHARED = replace(QUICK, forming=3, epochs=60, settling=20, tokens=1000)
KINDS = {
    "linear": Extractor(kind="linear", distillation=MANY, time=100),
    "readable": Extractor(kind="readable", states=5, classes=6, sharing=SHARED, time=100),
    "stochastic": Extractor(states=4, abstraction="outputs", fitting=Fitting(rounds=300), representatives=2, time=100),
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
    texts, clock, original = headlines.subset(np.arange(300)), Ticks(0), tuning._estimated_bytes

    def timed(wfa, words):
        clock.now += wfa.states
        return original(wfa, words)

    monkeypatch.setattr(tuning, "_estimated_bytes", timed)
    extractor = Paper(abstraction="outputs", alpha=0.1, beta=0.3, states="auto")
    whole = extract(news_model, texts, extractor)
    sizes = [trial["states"] for trial in whole.provenance["tuning"]["trials"]]
    assert len(sizes) > 2
    clock.now = 0.0
    limited = extract(news_model, texts, replace(extractor, time=3 * (sum(sizes[:2]) + sizes[2] / 2)), clock=clock)
    assert [trial["states"] for trial in limited.provenance["tuning"]["trials"]] == sizes[:2]


@pytest.mark.parametrize("kind", KINDS)
def test_time_ends_the_work_early_with_a_sound_automaton(kind, news_model, headlines):
    texts = headlines.subset(np.arange(300))
    wfa = extract(news_model, texts, KINDS[kind], clock=Ticks())
    stop = Stop.of(wfa.provenance)
    assert (stop.by, stop.planned) == ("time", PLANNED[kind])
    assert 0 < stop.passes < stop.planned
    assert wfa.provenance["time"]["limit"] == 100
    assert wfa.provenance["time"]["used"] > 90
    assert np.isfinite(wfa.predict_proba(texts.texts)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_one_pass_is_made_however_short_the_time(kind, news_model, headlines):
    wfa = extract(news_model, headlines.subset(np.arange(100)), replace(KINDS[kind], time=1e-6), clock=Ticks())
    assert Stop.of(wfa.provenance).passes == 1


@pytest.mark.parametrize("kind", KINDS)
def test_enough_time_changes_nothing(kind, news_model, headlines):
    texts, shorter = (
        headlines.subset(np.arange(100)),
        {"linear": "epochs", "readable": "epochs", "stochastic": "rounds"},
    )
    option = {"linear": "distillation", "readable": "sharing", "stochastic": "fitting"}[kind]
    rule = replace(KINDS[kind], time=None, **{option: replace(getattr(KINDS[kind], option), **{shorter[kind]: 2})})
    free, timed = extract(news_model, texts, rule), extract(news_model, texts, replace(rule, time="1h"), clock=Ticks(0))
    assert "stopped" not in timed.provenance
    assert "time" not in free.provenance
    np.testing.assert_array_equal(timed.predict_proba(texts.texts), free.predict_proba(texts.texts))


def test_time_is_shared_by_the_kinds(news_model, headlines):
    candidates = replace(
        CHEAP,
        linear=MANY,
        readable=replace(CHEAP.readable, sharing=replace(SHARED, epochs=600)),
    )
    texts = source_of(headlines.subset(np.arange(300)))
    wfa = extract_best(candidates, None, 0, news_model, texts, Run(), None, deadline=Deadline(900, Ticks()))
    assert isinstance(wfa, LinearWFA)
    assert Stop.of(wfa.provenance).by == Stop.of(wfa.attached_readable.provenance).by == "time"


def test_no_other_kind_is_begun_when_time_is_over(news_model, headlines):
    texts = source_of(headlines.subset(np.arange(100)))
    wfa = extract_best(CHEAP, None, 0, news_model, texts, Run(), None, deadline=Deadline(1, Ticks()))
    assert isinstance(wfa.completion, Shared)
    assert set(wfa.provenance["choice"]["not_tried"].values()) == {"there was no time left"}


INTERRUPTED = {"linear": "training the automaton", "readable": "fitting", "stochastic": "fitting the rows"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("after", [2, 8])
def test_ctrl_c_delivers_the_best_so_far(kind, after, news_model, headlines):
    texts = headlines.subset(np.arange(200))
    told = Interrupts(INTERRUPTED[kind], after)
    with shown_on(told):
        wfa = extract(news_model, texts, replace(KINDS[kind], time=None))
    assert told.said[-1] == told_stop(wfa.provenance)
    assert Stop.of(wfa.provenance).by == "interrupt"
    assert "time" not in wfa.provenance
    assert np.isfinite(wfa.predict_proba(texts.texts)).all()


@pytest.mark.parametrize("task", ["training the automaton", "fitting"])
def test_ctrl_c_in_a_choice_of_the_kind_begins_no_other_kind(task, news_model, headlines):
    texts = source_of(headlines.subset(np.arange(200)))
    with shown_on(Interrupts(task, 2)):
        wfa = extract_best(CHEAP, None, 0, news_model, texts, Run(), None)
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
    assert told_stop({"stopped": stop.to_json()}).startswith(said)
    assert told_stop({}) is None


def test_ctrl_c_before_a_first_pass_is_no_result(news_model, headlines):
    with pytest.raises(KeyboardInterrupt), shown_on(Interrupts("reading every word", 1)):
        extract(news_model, headlines.texts[:100], KINDS["linear"])


def test_ctrl_c_before_the_second_kind_delivers_the_first(news_model, headlines):
    texts = source_of(headlines.subset(np.arange(200)))
    with shown_on(Interrupts("training the automaton", 1)):
        wfa = extract_best(CHEAP, None, 0, news_model, texts, Run(), None)
    assert wfa.provenance["choice"]["chosen"] == "readable"
    assert Stop.of(wfa.provenance) == Stop("interrupt", 0, 0)


def test_a_training_that_goes_on_has_the_rest_of_its_time(news_model, headlines, tmp_path):
    texts, kept, rule = headlines.subset(np.arange(300)), tmp_path / "training", replace(KINDS["linear"], time=600)
    whole = extract(news_model, texts, rule, clock=Ticks())
    with shown_on(Interrupts("training", 6)):
        first = extract(news_model, texts, rule, checkpoint=kept, clock=Ticks())
    rest = extract(news_model, texts, rule, checkpoint=kept, clock=Ticks())
    passes = [len(wfa.provenance["training"]) for wfa in (first, rest, whole)]
    assert passes[0] == 5
    assert 5 < passes[1] <= passes[2] + 1
    assert not kept.exists()


def test_a_training_without_a_limit_is_not_gone_on_with_within_one(news_model, headlines, tmp_path):
    texts, kept = headlines.subset(np.arange(100)), tmp_path / "training"
    with shown_on(Interrupts("training", 2)):
        extract(news_model, texts, replace(KINDS["linear"], time=None), checkpoint=kept)
    with pytest.raises(InputError, match="other texts, model, vectors or settings"):
        extract(news_model, texts, KINDS["linear"], checkpoint=kept)


def test_more_effort_is_more_work(news_model):
    for of, passes in ((distillation_of, "epochs"), (sharing_of, "passes"), (fitting_of, "rounds")):
        counts = [getattr(of(effort), passes) for effort in EFFORTS]
        assert counts == sorted(set(counts))
    assert len(news_model.encoder.vocabulary) >= 64
    assert Extractor(kind="linear", effort="high").distillation_for(news_model) == distillation_of("high")
    assert MANY.distillation_for(Grammar()) == MANY
    assert Linear().distillation_for(news_model) == distillation_of("normal") == Linear()


def test_few_symbols_and_language_models_are_learned_in_their_own_way():
    few = Linear().distillation_for(Grammar())
    assert (few.temperature, few.following, few.width) == (1, 0, 4 * Linear().width)
    assert distillation_of("normal", 63).width == Linear().width
    assert distillation_of("high", 63, speaks=True).width == 2 * few.width
    assert distillation_of("normal", 300, speaks=True) == Linear()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"effort": "huge"}, "unknown effort 'huge'; choose one of low, normal, high"),
        ({"effort": "low", "distillation": LINEAR}, "leave out one of the two"),
        ({"effort": "low", "completion": "empirical"}, "effort has no meaning"),
        ({"time": "soon"}, "time must be"),
    ],
)
def test_what_cannot_be_meant_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        Extractor(**options)


def test_time_and_effort_leave_the_kind_open():
    assert Extractor(time="30s", effort="low").kind == "auto"
