"""Groups of texts: rates by counting, intervals, gaps in their order, and what cannot be compared."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.automata import sample
from wfalens import Corpus, read_corpus, wrap
from wfalens.errors import InputError
from wfalens.evaluation import measure_fidelity
from wfalens.evaluation.comparison import Comparison, Estimate, wilson
from wfalens.evaluation.groups import compare_groups, difference
from wfalens.text import read_groups
from wfalens.text.files import MISSING

CLASSES = ("no", "yes")


def judgement(network, automaton, truth=None):
    count = len(network)
    return Comparison(
        np.array(network, np.int32),
        np.array(automaton, np.int32),
        np.linspace(0, 0.1, count),
        np.ones(count),
        np.ones(count, np.int32),
        np.zeros(count),
        None if truth is None else np.array(truth, np.int32),
    )


def report(*given, groups, **options):
    return compare_groups(judgement(*given), groups, CLASSES, np.random.default_rng(0), **options)


@given(st.integers(0, 2**32))
def test_rates_are_those_of_counting(seed):
    rng = np.random.default_rng(seed)
    network, automaton, truth = rng.integers(0, 2, (3, 60))
    groups = rng.choice(["a", "b", "c"], 60)
    found = report(network, automaton, truth, groups=groups.tolist())
    for group in found.groups:
        members = np.flatnonzero(groups == group.name)
        assert group.agreement.texts == len(members)
        assert group.agreement.cr.value == pytest.approx(np.mean(network[members] == automaton[members]))
        for side, chosen in (("network", network), ("automaton", automaton)):
            rates = group.rates[side]["yes"]
            assert rates.selected == wilson(sum(chosen[each] == 1 for each in members), len(members))
            for told, wanted in ((rates.true_positive, 1), (rates.false_positive, 0)):
                of_them = [each for each in members if truth[each] == wanted]
                assert (told is None) == (not of_them)
                if told is not None:
                    assert told == wilson(sum(chosen[each] == 1 for each in of_them), len(of_them))


def test_the_widest_gap_stands_first_and_names_both_groups():
    network = [1] * 18 + [0] * 2 + [1] * 4 + [0] * 16
    automaton = [1] * 17 + [0] * 3 + [1] * 4 + [0] * 16
    found = report(network, automaton, groups=["north"] * 20 + ["south"] * 20)
    widest = found.gaps[0]
    assert (widest.measure, widest.side, widest.class_name) == ("selection rate", "network", "yes")
    assert (widest.high, widest.low) == ("north", "south")
    assert widest.difference.value == pytest.approx(0.7)
    assert widest.is_clear
    values = [gap.difference.value for gap in found.gaps]
    assert values == sorted(values, reverse=True)
    assert {gap.measure for gap in found.gaps} == {"CR", "JSD", "selection rate"}  # no labels, no other rates


@given(*[st.integers(0, 30)] * 2, *[st.integers(30, 200)] * 2)
def test_a_difference_has_newcombes_interval(first, second, total, other):
    one, two = wilson(first, total), wilson(second, other)
    high, low = (one, two) if one.value >= two.value else (two, one)
    found = difference(high, low)
    assert found.low <= found.value <= found.high
    assert found.value == pytest.approx(abs(first / total - second / other))
    assert found.low >= high.low - low.high - 1e-12


def test_newcombes_interval_as_published():
    """Newcombe (1998), Statistics in Medicine 17, table II, (a): 56/70 − 48/80, method 10: .0524 to .3339."""
    found = difference(wilson(56, 70), wilson(48, 80))
    assert (found.low, found.high) == (pytest.approx(0.0524, abs=1e-4), pytest.approx(0.3339, abs=1e-4))


def test_small_groups_are_told_but_not_compared():
    found = report([1] * 15 + [0] * 15 + [1] * 3, [1] * 33, groups=["a"] * 15 + ["b"] * 15 + ["few"] * 3)
    assert [group.name for group in found.groups] == ["a", "b", "few"]
    assert found.compared == 2
    assert not any("few" in (gap.high, gap.low) for gap in found.gaps)


def test_rates_of_few_texts_are_told_but_not_compared():
    truth = [1] * 15 + [0] * 15 + [1] * 2 + [0] * 28
    network = [1] * 30 + [0] * 30  # the two of the second group that are "yes" are all missed
    found = report(network, network, truth, groups=["a"] * 30 + ["b"] * 30)
    assert found.groups[1].rates["network"]["yes"].true_positive.value == 0
    assert [group.labelled["yes"] for group in found.groups] == [15, 2]
    assert {gap.measure for gap in found.gaps} == {"CR", "JSD", "selection rate", "false-positive rate"}


def test_one_group_has_no_gap():
    assert report([1, 0] * 10, [1, 0] * 10, groups=["all"] * 20).gaps == ()


def test_of_many_classes_all_are_told_unless_one_is_named():
    judged, names = judgement([0, 1, 2] * 10, [0, 1, 1] * 10), ("a", "b", "c")
    rng = np.random.default_rng(0)
    assert compare_groups(judged, ["x", "y"] * 15, names, rng).positive == names
    assert compare_groups(judged, ["x", "y"] * 15, names, rng, positive="b").positive == ("b",)
    with pytest.raises(InputError, match="unknown class 'd'; choose one of a, b, c"):
        compare_groups(judged, ["x", "y"] * 15, names, rng, positive="d")


def test_groups_that_are_none_are_refused():
    with pytest.raises(InputError, match="3 groups for 4 texts"):
        report([1] * 4, [1] * 4, groups=["a"] * 3)
    with pytest.raises(InputError, match=r"group has 101 different values; groups are compared up to 100"):
        report([1] * 101, [1] * 101, groups=[str(number) for number in range(101)])


@pytest.fixture
def pair():
    wfa = sample("probe", seed=3).wfa
    names = wfa.class_names

    def answer(token_lists):
        return np.full((len(token_lists), len(names)), 1 / len(names))

    return wfa, wrap(answer, vocab=wfa.encoder, classes=names, reads="tokens")


def test_fidelity_by_group_leaves_out_the_groups_of_texts_without_words(pair):
    wfa, model = pair
    words = wfa.encoder.vocabulary.words[2:5]
    texts = [words[0], "  ", words[1], "", f"{words[2]} {words[0]}"]
    found = measure_fidelity(wfa, model, texts, groups=["x", "gone", "y", "gone", "x"])
    assert [(group.name, group.agreement.texts) for group in found.by_group.groups] == [("x", 2), ("y", 1)]
    assert "group" in set(found.to_dataframe()["by"])
    assert json.loads(json.dumps(found.to_dict()))["by_group"]["column"] == "group"
    assert measure_fidelity(wfa, model, texts).by_group is None


def test_groups_must_fit_the_texts(pair):
    wfa, model = pair
    with pytest.raises(InputError, match="1 groups for 2 texts"):
        measure_fidelity(wfa, model, Corpus.of(["a", "b"]), groups=["x"])


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_column_of_a_file_gives_a_group_for_every_text(tmp_path, ending):
    rows = [("one", "x", "north"), ("two", "y", ""), ("", "x", "south"), ("three", "x", "south")]
    path = tmp_path / f"texts.{ending}"
    if ending == "csv":
        path.write_text("\n".join(["text,label,region", *(",".join(row) for row in rows)]))
    else:
        path.write_text("\n".join(json.dumps(dict(zip(("text", "label", "region"), row, strict=True))) for row in rows))
    groups = read_groups(path, "region")
    assert read_corpus(path).texts == ("one", "two", "three")
    assert groups == ["north", MISSING, "south"]
    with pytest.raises(InputError, match="no column 'country'; the columns are"):
        read_groups(path, "country")


def test_an_estimate_without_texts_is_absent():
    found = report([1] * 12, [1] * 12, [1] * 12, groups=["a"] * 12)
    assert found.groups[0].rates["network"]["yes"].false_positive is None
    assert isinstance(found.groups[0].rates["network"]["yes"].true_positive, Estimate)
