"""One contract for the ways to form states: the package's own, and any other from outside."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.methods import extracted
from wfalens.errors import InputError
from wfalens.extraction import Abstraction, Paper, States, extract
from wfalens.extraction.states import ABSTRACTIONS, Outputs
from wfalens.models import wrap


class Verdicts(States):
    """A state for each class, whichever seed is near."""

    def assign(self, points):
        return (points.argmax(1) + 1).astype(np.int32)

    def mixtures(self, points, hardness):
        return self.assign(points)[:, None], np.ones((len(points), 1), np.float32)


@dataclass(frozen=True)
class ByVerdict:
    """Prefixes are alike if the model chooses the same class after them."""

    name: str = "verdict"

    def view(self, model, ids, rng, budget):
        return Outputs()

    def divide(self, seen, states, sample, rng):
        return Verdicts(np.zeros((seen.outputs.shape[1], seen.outputs.shape[1]), np.float32))


@pytest.mark.parametrize("completion", ["empirical", "probe", "fit"])
def test_an_abstraction_from_outside_forms_the_states(news_model, headlines, completion):
    ids = news_model.encoder.encode(headlines.texts[:400])
    options = {"rounds": 1} if completion == "fit" else {}
    wfa = extracted(news_model, ids, states=7, abstraction=ByVerdict(), completion=completion, **options)
    chosen = np.bincount(news_model.trace(ids).values.argmax(1), minlength=7)
    assert chosen.all()
    np.testing.assert_array_equal(wfa.state_visits, [len(ids), *chosen])
    np.testing.assert_array_equal(wfa.centres[1:].argmax(1), np.arange(7))
    assert wfa.provenance["parameters"]["abstraction"] == "verdict"


def test_its_own_shares_are_used_where_rows_are_fitted(news_model, headlines):
    asked = []

    class Heard(Verdicts):
        def mixtures(self, points, hardness):
            asked.append(hardness)
            return super().mixtures(points, hardness)

    class Hearing(ByVerdict):
        def divide(self, seen, states, sample, rng):
            return Heard(super().divide(seen, states, sample, rng).seeds)

    options = {"states": 7, "abstraction": Hearing(), "representatives": 2}
    extracted(news_model, headlines.texts[:100], **options, completion="probe")
    assert not asked
    rule = {"rounds": 1, "hardness": 0.25}
    extracted(news_model, headlines.texts[:100], **options, completion="fit", **rule)
    assert set(asked) == {0.25}


@pytest.mark.parametrize("name", sorted(ABSTRACTIONS))
def test_a_name_and_its_object_give_the_same_bytes(tmp_path, news_model, headlines, name):
    for file, abstraction in (("name", name), ("object", ABSTRACTIONS[name])):
        options = {"states": 6, "abstraction": abstraction, "completion": "probe", "representatives": 2, "seed": 4}
        extracted(news_model, headlines.texts[:200], **options).save(tmp_path / file)
    assert (tmp_path / "name").read_bytes() == (tmp_path / "object").read_bytes()


def test_a_search_keeps_the_abstraction_that_was_given(news_model, headlines):
    wfa = extract(news_model, headlines.texts[:300], Paper(abstraction=ByVerdict(), alpha="auto", beta=0.3, states=7))
    assert wfa.states == 8
    assert {trial["abstraction"] for trial in wfa.provenance["tuning"]["trials"]} == {"verdict"}
    np.testing.assert_array_equal(wfa.centres[1:].argmax(1), np.arange(7))


def test_a_view_of_internal_states_is_refused_where_there_are_none(news_model, headlines):
    class Inside:
        needs_states: ClassVar[bool] = True

        def points(self, outputs, states):
            return states

    class ByState(ByVerdict):
        def view(self, model, ids, rng, budget):
            return Inside()

    closed = wrap(
        lambda texts: np.full((len(texts), 7), 1 / 7),
        vocab=news_model.encoder,
        classes=news_model.class_names,
        reads="tokens",
    )
    with pytest.raises(InputError, match="can be stepped"):
        extract(closed, headlines.texts[:20], Paper(states=2, abstraction=ByState()))


@pytest.mark.parametrize("wrong", ["output", 7, Outputs()])
def test_what_is_no_abstraction_is_refused_at_once(wrong):
    with pytest.raises(InputError, match="choose one of outputs, lookahead, auto"):
        Paper(abstraction=wrong)


def test_the_contract_is_kept_by_all_that_have_a_name():
    assert all(isinstance(each, Abstraction) and each.name == name for name, each in ABSTRACTIONS.items())
    assert replace(Paper(), abstraction=ByVerdict()).abstraction == ByVerdict()


@given(st.integers(2, 12), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_states_that_nobody_visits_are_dropped_and_the_rest_keep_their_points(clusters, width, seed):
    rng = np.random.default_rng(seed)
    states = States(rng.normal(size=(clusters, width)).astype(np.float32))
    points = rng.normal(size=(clusters, width)).astype(np.float32)
    smaller, path = states.visited(points)
    assert set(path) == set(range(1, len(smaller)))
    np.testing.assert_array_equal(smaller.seeds[path - 1], states.seeds[states.assign(points) - 1])
    near, weights = smaller.mixtures(points, 1e6)
    np.testing.assert_array_equal(near[np.arange(len(points)), weights.argmax(1)], path)
