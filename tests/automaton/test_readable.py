"""Automata that carry a readable automaton: one file, one walk, and whichever of the two can serve."""

import numpy as np
import pytest

from tests.automata import carrier, linear_like, sample
from tests.automaton.test_wfa_file import assert_same
from tests.errors import raises
from tests.files import contents, write_contents
from tests.readable import negation
from wfalens.automaton import WFA, LinearWFA
from wfalens.automaton.serving import readable_of, stochastic_of
from wfalens.errors import FormatError

FRONTIER = {"frontier": {"texts": 1000, "loss": 0.0, "chosen": 0, "tried": [{"cr": 0.9, "jsd": 0.1}]}}


def test_readable_is_the_automaton_itself_its_readable_automaton_or_nothing():
    page, other = sample("shared", 1).wfa, sample("fit", 1).wfa
    assert page.readable is page
    assert other.readable is None
    assert linear_like(page).readable is None
    assert linear_like(page).with_readable(page).readable is page


def test_a_larger_one_with_shared_rows_may_have_a_smaller_readable():
    page, larger = negation().wfa, negation(seed=1).wfa
    both = larger.with_readable(page)
    assert both.readable is page
    assert larger.readable is larger


@pytest.mark.parametrize("seed", range(6))
def test_an_automaton_with_a_readable_automaton_is_equal_to_the_one_without(seed):
    readable = sample("shared", seed).wfa
    plain = linear_like(readable)
    both = plain.with_readable(readable)
    assert plain.attached_readable is None
    assert isinstance(both, LinearWFA)
    assert both.fingerprint == plain.fingerprint
    np.testing.assert_array_equal(both.weights(["w0 w1", "w2"]), plain.weights(["w0 w1", "w2"]))


def test_a_readable_automaton_of_other_words_or_classes_is_refused():
    page = sample("shared", 1, words=9).wfa
    for other in (negation().wfa, sample("shared", 1, words=10).wfa):
        with raises("other-alphabet"):
            linear_like(page).with_readable(other)


def test_only_a_readable_automaton_without_a_readable_automaton_can_be_one():
    page, plain = sample("shared", 1).wfa, sample("fit", 1).wfa
    for other in (plain, page.with_readable(page)):
        with raises("not-readable"):
            linear_like(page).with_readable(other)


@pytest.mark.parametrize("seed", range(8))
def test_load_of_save_is_identity_and_bytes_are_stable(tmp_path, seed):
    wfa = carrier(seed)
    wfa.save(tmp_path / "a.wfa")
    loaded = WFA.load(tmp_path / "a.wfa")
    assert loaded.fingerprint == wfa.fingerprint
    assert_same(wfa.readable, loaded.readable)
    assert loaded.readable.encoder is loaded.encoder
    loaded.save(tmp_path / "b.wfa")
    assert (tmp_path / "a.wfa").read_bytes() == (tmp_path / "b.wfa").read_bytes()


def test_the_words_are_stored_once_and_without_a_readable_automaton_the_file_is_as_before(tmp_path):
    wfa = carrier()
    wfa.save(tmp_path / "both.wfa")
    linear_like(wfa.readable).save(tmp_path / "plain.wfa")
    both, header = contents(tmp_path / "both.wfa")
    plain, before = contents(tmp_path / "plain.wfa")
    own = {name: part for name, part in both.items() if not name.startswith("readable.")}
    assert own.keys() == plain.keys()
    assert not any("alphabet" in name for name in both.keys() - own.keys())
    assert sorted(header["readable"]) == ["alpha", "completion", "kind", "provenance"]
    del header["readable"]
    assert header == before


DAMAGE = {
    "no tensors": lambda t, h: [t.pop(name) for name in list(t) if name.startswith("readable.")],
    "state out of range": lambda t, h: t["readable.shared.target"].__setitem__(-1, 99),
    "NaN centre": lambda t, h: t["readable.centres"].__setitem__((0, 0), np.nan),
    "centres of other classes": lambda t, h: t.update({"readable.centres": np.full((6, 9), 1 / 9)}),
    "word counts cut": lambda t, h: t.update({"readable.word_counts": t["readable.word_counts"][:-1]}),
    "classes of other words": lambda t, h: t.update({"readable.shared.word_class": np.zeros(3, np.uint8)}),
    "visits that are negative": lambda t, h: t["readable.shared.visits"].__setitem__((0, 0), -1),
    "alpha above 1": lambda t, h: h["readable"].update(alpha=1.5),
    "no alpha": lambda t, h: h["readable"].pop("alpha"),
    "another kind": lambda t, h: h["readable"].update(kind="linear"),
    "another completion": lambda t, h: h["readable"].update(completion={"name": "uniform"}),
    "no provenance": lambda t, h: h["readable"].pop("provenance"),
    "no header": lambda t, h: h.update(readable=None),
    "a list for a header": lambda t, h: h.update(readable=["alpha"]),
    "many states": lambda t, h: t.update(
        {
            "readable.centres": np.full((16_000, len(h["class_names"])), 1 / len(h["class_names"])),
            "readable.state_visits": np.ones(16_000, np.int64),
        }
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_refused_with_one_sentence(tmp_path, name):
    carrier(4).save(tmp_path / "good.wfa")
    tensors, header = contents(tmp_path / "good.wfa")
    DAMAGE[name](tensors, header)
    with pytest.raises(FormatError, match=r"bad\.wfa") as caught:
        WFA.load(write_contents(tmp_path / "bad.wfa", tensors, header))
    assert "\n" not in str(caught.value)


def test_who_serves_is_said_where_it_is_not_the_one_that_answers():
    page = negation(provenance=FRONTIER).wfa
    both = linear_like(page).with_readable(page)
    assert readable_of(page) == stochastic_of(page) == (page, None)
    assert readable_of(both) == stochastic_of(both)
    assert readable_of(both).wfa is page
    assert readable_of(both).remark == (
        "from the readable automaton (CR 0.900 with the network on 1,000 extraction texts set aside), "
        "not from the linear automaton that answers"
    )
    assert readable_of(linear_like(page)) is stochastic_of(linear_like(page)) is None
    fitted = sample("fit", 1).wfa
    assert readable_of(fitted) is None
    assert stochastic_of(fitted) == (fitted, None)


@pytest.mark.parametrize("odd", [None, 3, {"frontier": []}, {"frontier": {"tried": [], "chosen": 0}}])
def test_a_rate_that_was_not_recorded_is_not_said(odd):
    page = negation(provenance=odd if isinstance(odd, dict) else {"frontier": odd}).wfa
    assert readable_of(linear_like(page).with_readable(page)).remark == (
        "from the readable automaton, not from the linear automaton that answers"
    )


def test_a_walk_goes_through_both():
    page = negation().wfa
    way = linear_like(page).with_readable(page).walk("not good")
    assert way.state_names is None
    assert not way.names_states
    assert way.readable.state_names == page.names.states
    np.testing.assert_array_equal(way.readable.states, page.walk("not good").states)
    assert [step["state"] for step in way.to_dict()["readable"]["steps"]] == [
        "undecided, after not or never",
        "sure bad",
    ]
    assert "readable" not in linear_like(page).walk("not good").to_dict()
