"""Options declared once, and extension by one module: a method and a completion rule of our own."""

from dataclasses import dataclass, fields

import numpy as np
import pytest

from tests.errors import raises
from tests.streams import small_model, some_texts
from wfalens import Linear, Paper, Readable, Stochastic, extract
from wfalens.automaton.completion import Empirical
from wfalens.extraction import METHODS, Method
from wfalens.extraction.completion.completion_rule import COMPLETION_RULES, CompletionRule
from wfalens.validation import Bounds, option, whole


@pytest.fixture(scope="module")
def model():
    return small_model()


class MethodConformance:
    """What every method must keep; subclasses give `method`, quick, and inherit these."""

    method: Method

    def test_it_is_found_by_its_name(self):
        assert METHODS[self.method.name] is type(self.method)
        assert Method.named(self.method.name, **self.method.to_dict()) == self.method

    def test_every_option_has_a_line_of_help(self):
        for each in fields(self.method):
            assert each.metadata["help"], each.name
            assert "\n" not in each.metadata["help"]

    def test_its_automaton_agrees_in_form_with_the_model_and_records_the_options(self, model):
        texts = some_texts(120)
        wfa = extract(model, texts, self.method, seed=3)
        assert wfa.class_names == model.class_names
        np.testing.assert_allclose(wfa.predict_proba(texts).sum(1), 1, atol=1e-6)
        recorded = wfa.provenance["parameters"]
        assert recorded["kind"] == self.method.name
        assert recorded["seed"] == 3
        assert set(recorded) >= {each.name for each in fields(self.method)}

    def test_equal_seeds_give_equal_bytes(self, model, tmp_path):
        for name in ("a", "b"):
            extract(model, some_texts(120), self.method, seed=1).save(tmp_path / name)
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


class TestPaper(MethodConformance):
    method = Paper(states=4)


class TestStochastic(MethodConformance):
    method = Stochastic(states=4, completion="probe", alpha=0.0, representatives=2)


class TestLinear(MethodConformance):
    method = Linear(layers=1, width=4, epochs=1, hidden=8, factors=4)


class TestReadable(MethodConformance):
    method = Readable(states=3, clusters=4, start_epochs=1, epochs=1, final_epochs=1, prefixes=1)


@dataclass(frozen=True, kw_only=True)
class Coarse(Method):
    """A worked example: the paper's method with as many states as a number of bits says."""

    name = "coarse"
    bits: int = option(2, "the automaton has two to the power of this many clusters", Bounds(whole, 1, 8))

    def extract(self, request):
        wfa = Paper(states=2**self.bits).extract(request)
        wfa.provenance["parameters"] = self.parameters(request)
        return wfa


class TestCoarse(MethodConformance):
    method = Coarse(bits=2)


class Eager(CompletionRule):
    """A worked example: empirical completion that stays as seldom as the texts do."""

    name = "eager"

    def complete(self, method, observed):
        return Empirical(1 - observed.self_transition_share, method.distance)


def test_a_completion_rule_of_ones_own_is_used_by_its_name(model):
    assert COMPLETION_RULES["eager"].name == "eager"
    texts = some_texts(120)
    wfa = extract(model, texts, Paper(states=4, completion="eager"))
    same = extract(model, texts, Paper(states=4, beta="corpus"))
    assert wfa.completion == same.completion
    assert wfa.provenance["parameters"]["completion"] == "eager"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Paper(states=0),
        lambda: Paper(alpha=1.5),
        lambda: Paper(completion="fit"),
        lambda: Stochastic(completion="null"),
        lambda: Linear(decay=1.0),
        lambda: Readable(clusters=0),
        lambda: Paper(abstraction="else"),
    ],
)
def test_values_out_of_bounds_are_refused(make):
    with raises("option-value"):
        make()


def test_wrong_arguments_are_one_error(model):
    with raises("not-a-model"):
        extract(some_texts(3), model)
    with raises("not-a-method"):
        extract(model, some_texts(3), "paper")
    with raises("unknown-method"):
        Method.named("magic")
    with raises("unknown-option"):
        Method.named("paper", clusters=3)
    with raises("option-conflict"):
        Paper(states=4, max_bytes=1000)
