"""Before the work: what a model that cannot be stepped will be asked, and how long that takes."""

import re
from dataclasses import replace

import numpy as np
import pytest

from tests.methods import Bounded
from wfalens.extraction import Linear, Paper, Readable, Stochastic, extract
from wfalens.extraction.cost_estimate import most_probing, say_cost
from wfalens.models import wrap
from wfalens.progress import Progress, shown_on

TEXTS = [" ".join(np.random.default_rng(seed).choice(list("abcdefgh"), 2 + seed % 5)) for seed in range(80)]
SHORT = Linear(layers=2, width=4, factors=8, hidden=16, epochs=2)
QUICK = Readable(spread=2, start_epochs=1, epochs=2, final_epochs=1, prefixes=1)
KINDS = {
    "empirical": Paper(states=4),
    "probe": Stochastic(states=4, completion="probe", alpha=0.0, abstraction="outputs"),
    "fit": Stochastic(states=4, rounds=2),
    "fit, few queries": Bounded(Stochastic(states=4, rounds=2), queries=700),
    "auto": Bounded(Stochastic(rounds=2), queries=3000),
    "all kinds": Bounded(queries=2000, effort="low"),
    "look-ahead": Stochastic(states=4, abstraction="lookahead", completion="probe", alpha=0.0),
    "linear": SHORT,
    "linear, few queries": Bounded(SHORT, queries=300),
    "readable": replace(QUICK, states=3, clusters=3),
    "readable, few queries": Bounded(replace(QUICK, states=3, clusters=3), queries=400),
}
ASIDE = 600  # prefixes of the check for causality and of the batch that is timed, at most


class Ear(Progress):
    """Keeps what is said, and how often the model had been asked by then."""

    def __init__(self, model=None):
        self.model, self.heard = model, []

    def say(self, message):
        self.heard.append((message, getattr(self.model, "queries", 0)))


def box(letters):
    def answer(texts):
        share = np.array([(text.count("a") + 1) / (len(text) + 2) for text in texts])
        return np.stack([share, 1 - share], 1)

    return wrap(answer, vocab=letters, classes=["a", "other"], reads="tokens")


@pytest.mark.slow
@pytest.mark.usefixtures("quick_teacher")
@pytest.mark.parametrize("kind", KINDS)
def test_a_black_box_is_asked_for_no_more_than_was_said_before(letters, kind):
    model = box(letters)
    ear = Ear(model)
    with shown_on(ear):
        how = KINDS[kind]
        (how if isinstance(how, Bounded) else Bounded(how)).extract(model, TEXTS)
    ((said, before),) = [(message, asked) for message, asked in ear.heard if "up to" in message]
    most = int(re.search(r"up to ([\d,]+) (prefixes|texts)", said)[1].replace(",", ""))
    assert before <= ASIDE
    assert 0 < model.queries - before <= most
    assert ("lower limit of queries" in said) == (kind != "empirical")


def test_a_model_that_can_be_stepped_is_not_timed(news_model, headlines):
    ear = Ear()
    with shown_on(ear):
        extract(news_model, headlines.texts[:50], Paper(states=4))
    assert not any("up to" in message for message, _ in ear.heard)


@pytest.mark.parametrize(
    ("beyond", "seconds", "pace", "told"),
    [
        (3_999_000, 0.1, "2,560", "about 26 minutes"),
        (3_999_000, 1, "256", "about 4 hours"),
        (3_999_000, 100, "2.6", "about 18 days"),
        (30_000, 1, "256", "about 2 minutes"),
        (9_000, 1, "256", "less than a minute"),
    ],
)
def test_the_time_follows_from_the_pace_of_one_small_batch(letters, beyond, seconds, pace, told):
    ids, ticks = letters.encode(["a b c d"] * 100), iter([10.0, 10.0 + seconds])
    ear = Ear()
    with shown_on(ear):
        say_cost(box(letters), ids, 1000, beyond, clock=lambda: next(ticks))
    ((said, _),) = ear.heard
    assert f"for up to {1000 + beyond:,} prefixes; at {pace} a second that takes {told};" in said


def test_a_module_that_traces_whole_texts_pays_for_the_prefixes_of_a_call_too(letters):
    class Traced:
        def __init__(self, model):
            for name in ("class_names", "encoder", "fingerprint", "trace"):
                setattr(self, name, getattr(model, name))

    assert most_probing(box(letters), 10, 50, 7) == 500
    assert most_probing(Traced(box(letters)), 10, 50, 7) == 570


def test_asking_within_training_is_shown_from_the_first_answers_on(letters):
    class Notes(Progress):
        def __init__(self):
            self.notes = []

        def note(self, status):
            self.notes.append(status)

    display = Notes()
    with shown_on(display):
        extract(box(letters), TEXTS, SHORT, queries=300)
    assert any(note.startswith("asking the model: ") for note in display.notes)
