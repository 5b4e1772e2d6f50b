"""DRN and PRISM programs as Storm reads them."""

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.automata import sample, samples
from tests.errors import raises
from tests.export.conformance import write
from tests.export.storm import StormConformance
from wfalens.export import subset, to_drn, unescape

stormpy = pytest.importorskip("stormpy", reason="needs the extra verify")


def built(text, folder):
    from stormpy.io import DirectEncodingParserOptions

    path = folder / "built.drn"
    path.write_text(text)
    options = DirectEncodingParserOptions()
    options.build_choice_labeling = True
    return stormpy.build_model_from_drn(str(path), options=options)


def answer(model, question):
    result = stormpy.model_checking(model, stormpy.parse_properties(question)[0])
    return result.get_value(model.initial_states[0])


def greatest_weight(part, label, steps):
    """Backward induction: the most that any choice of words can make of a class, from every state."""
    value = part.final[:, label]
    for _ in range(steps):
        value = (part.matrices() @ value).max(0)
    return value


class TestDrn(StormConformance):
    def reading(self, wfa, folder, **choice):
        path = write(wfa, folder, "drn", "model.drn", **choice)
        text = path.read_text("ascii")
        model = built(text, folder)
        names = dict.fromkeys(re.findall(r"^\taction (\S+)", text, re.MULTILINE))
        return self.read_model(wfa, model, [unescape(name) for name in names], range(model.nr_states), folder)


class TestPrism(StormConformance):
    def reading(self, wfa, folder, **choice):
        path = write(wfa, folder, "prism", "model.prism", **choice)
        program = stormpy.parse_prism_program(str(path))
        model = stormpy.build_model(program, options=stormpy.BuilderOptions(build_full=True))
        names = dict.fromkeys(re.findall(r"^  \[(\w+)\]", path.read_text(), re.MULTILINE))
        values = [json.loads(str(model.state_valuations.to_json(state.id)))["s"] for state in model.states]
        return self.read_model(wfa, model, [unescape(name) for name in names], values, folder)


@settings(max_examples=20)
@given(samples(), st.integers(0, 4), st.integers(0, 10**6))
def test_storm_finds_the_greatest_weight_that_words_can_give_a_class(tmp_path_factory, item, steps, seed):
    part = subset(item.wfa)
    expected = greatest_weight(part, 0, steps)
    folder = tmp_path_factory.mktemp("drn")
    found = answer(built(to_drn(part), folder), f'R{{"class_c0"}}max=? [I={steps}]')
    assert found == pytest.approx(expected[0], abs=1e-12)

    start = np.random.default_rng(seed).dirichlet(np.ones(len(part.states)))
    model = built(to_drn(part, start), folder)
    assert "start" in model.states[model.initial_states[0]].labels
    found = answer(model, f'R{{"class_c0"}}max=? [I={steps + 1}]')
    assert found == pytest.approx(start @ expected, abs=1e-12)


@given(samples())
def test_labels_name_the_class_with_the_largest_weight(tmp_path_factory, item):
    part = subset(item.wfa)
    model = built(to_drn(part), tmp_path_factory.mktemp("drn"))
    for state, label in zip(model.states, part.decided, strict=True):
        expected = {"lost"} if label < 0 else {f"says_class_c{label}"}
        assert state.labels == expected | ({"init"} if state.id == 0 else set())


@pytest.mark.parametrize("start", [[1.0], [0.5, 0.6, 0, 0, 0, 0], [2.0, -1.0, 0, 0, 0, 0]])
def test_a_start_that_is_no_distribution_is_refused(start):
    with raises("start"):
        to_drn(subset(sample("fit", 0).wfa), np.array(start))
