"""Explanations in the hands of shap, captum and LIME."""

import sys
from io import BytesIO

import numpy as np
import pytest

from tests.automata import linear_sample, sample
from tests.errors import raises
from wfalens.errors import MissingDependencyError
from wfalens.explanation import shapley, shapley_each
from wfalens.explanation.interop import WFAExplainer, to_shap, word_table

TEXTS = ["w1 w2 w3 w1", "w4 zzz"]


@pytest.fixture(scope="module")
def wfa():
    return sample("fit", 2).wfa


@pytest.fixture
def shap():
    return pytest.importorskip("shap", reason="the plots of shap are drawn with shap itself")


def png(draw, *arguments, **options):
    """The bytes of a figure of shap."""
    import matplotlib.pyplot as plt

    plt.figure()
    draw(*arguments, show=False, **options)
    blob = BytesIO()
    plt.gcf().savefig(blob, format="png")
    plt.close("all")
    return blob.getvalue()


def test_a_shap_explanation_holds_our_numbers(wfa, shap):
    found = WFAExplainer(wfa)(TEXTS)
    assert isinstance(found, shap.Explanation)
    ours = shapley_each(wfa, TEXTS)
    for at, each in enumerate(ours):
        one = found[at]
        np.testing.assert_array_equal(one.values, each.values)
        np.testing.assert_array_equal(one.base_values, each.base)
        assert [word.strip() for word in one.data] == list(each.words)
    assert list(found.output_names) == list(wfa.class_names)
    np.testing.assert_array_equal(found[0, :, "c1"].values, ours[0].values[:, 1])
    np.testing.assert_array_equal(ours[0].to_shap().values, ours[0].values)
    assert ours[0].to_shap()[:, "c1"].base_values == ours[0].base[1]


@pytest.mark.parametrize("texts", [TEXTS, ["w1 w2", "w3 w4"], ["w1"]])
def test_the_plots_of_shap_draw_it(wfa, shap, texts):
    explainer = WFAExplainer(wfa)
    found = explainer(texts)
    assert "w1" in shap.plots.text(found, display=False)
    assert "w1" in shap.plots.text(found[0, :, "c1"], display=False)
    for draw in (shap.plots.waterfall, shap.plots.bar):
        assert len(png(draw, found[0, :, "c1"])) > 5000
    table = word_table(explainer.explain(texts), "c1")
    for draw in (shap.plots.beeswarm, shap.plots.bar):
        assert len(png(draw, table)) > 5000


def test_a_table_of_words_adds_up_what_a_word_says_in_a_text(wfa, shap):
    ours = shapley_each(wfa, TEXTS)
    table = word_table(ours, "c1")
    assert list(table.feature_names) == ["w1", "w2", "w3", "w4", "zzz"]
    assert table.values[0, 0] == pytest.approx(ours[0].values[0, 1] + ours[0].values[3, 1])
    assert table.data.tolist() == [[2, 1, 1, 0, 0], [0, 0, 0, 1, 1]]
    np.testing.assert_allclose(table.values.sum(1) + table.base_values, [each.output[1] for each in ours])
    assert list(word_table(ours, "c1", ["w4", "w2"]).feature_names) == ["w4", "w2"]


def test_without_shap_one_sentence_says_what_to_install(wfa, monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(
        MissingDependencyError, match=r"shap is not installed; install it with: pip install 'wfalens\[shap\]'"
    ):
        WFAExplainer(wfa)(TEXTS)


def test_captum_names_the_same_arguments():
    attribution = pytest.importorskip("captum.attr", reason="its signature is compared with ours")
    import inspect

    theirs = inspect.signature(attribution.IntegratedGradients.attribute).parameters
    ours = inspect.signature(WFAExplainer.attribute).parameters
    assert set(ours) <= set(theirs)


def test_attributions_have_the_shape_of_the_ids_and_a_convergence_delta(wfa):
    import torch

    ids = torch.tensor([[3, 4, 5, 3], [6, 1, 0, 0]])
    explainer = WFAExplainer(wfa)
    values, delta = explainer.attribute(ids, target=1, return_convergence_delta=True)
    assert (type(values), values.shape, delta.shape) == (torch.Tensor, ids.shape, (2,))
    assert delta.abs().max() < 1e-9
    np.testing.assert_allclose(values[0].numpy(), shapley(wfa, "w1 w2 w3 w1").values[:, 1])
    assert values[1, 2:].tolist() == [0, 0]
    plain = explainer.attribute(ids.numpy(), target=[1, 0])
    assert isinstance(plain, np.ndarray)
    np.testing.assert_allclose(plain[0], values[0].numpy())
    np.testing.assert_allclose(plain[1, :2], shapley(wfa, "w4 zzz").values[:, 0])
    chosen = explainer.attribute(ids.numpy())
    np.testing.assert_allclose(chosen[0], shapley(wfa, "w1 w2 w3 w1").of_class())


def test_lime_gets_the_words_that_matter_most(wfa):
    explainer = WFAExplainer(wfa)
    found = explainer.explain_instance("w1 w2 <b> w3", num_features=2)
    values = shapley(wfa, "w1 w2 <b> w3").values[:, 1]
    listed = found.as_list()
    assert len(listed) == 2
    assert [value for _, value in listed] == sorted(values, key=abs, reverse=True)[:2]
    assert found.as_map() == found.local_exp
    assert [found.attribution.words[at] for at, _ in found.as_map()[1]] == [word for word, _ in listed]
    both = explainer.explain_instance("w1 w2", top_labels=2)
    assert len(both.available_labels()) == 2
    assert both.available_labels()[0] == int(both.attribution.output.argmax())
    html = found.as_html()
    assert "<b>" not in html
    assert html.startswith("<!doctype html>")


def test_with_a_model_the_values_are_the_networks_own(newsroom_model, newsroom_wfa):
    (found,) = WFAExplainer(newsroom_wfa, model=newsroom_model, queries=31).explain(["the senate votes after week"])
    assert found.source == "network"
    assert found.queries == 31


def test_other_units_and_absences(wfa):
    linear = linear_sample(3).wfa
    (found,) = WFAExplainer(linear, unit="probability", absence="unknown").explain(["w1 w2"])
    assert (found.unit, found.absence) == ("probability", "unknown")


def test_bad_input(wfa):
    explainer = WFAExplainer(wfa)
    with raises("option-value"):
        explainer.attribute(np.array([[3, 4]]), target=99)
    with raises("targets"):
        explainer.attribute(np.array([[3, 4]]), target=[0, 1, 0])
    with raises("ids-shape"):
        explainer.attribute(np.array([3.5]))
    with raises("no-words"):
        explainer.attribute(np.array([[0, 0]]), target=0)
    with raises("option-value"):
        explainer.explain_instance("w1", labels=(7,))
    with raises("option-value"):
        explainer.explain_instance("w1").as_list(0)
    with raises("no-attribution"):
        to_shap([])
    with raises("option-value"):
        word_table(explainer.explain(["w1"]), "x")
