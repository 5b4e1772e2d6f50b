"""Faithfulness, pretraining and figures."""

from io import BytesIO

import numpy as np
import pytest

from wfalens.errors import InputError, ModelError
from wfalens.explanation import TransitionEmbeddings, attribute, influence, word_maps
from wfalens.explanation.faithfulness import (
    automaton_scorer,
    deletion_scorer,
    integrated_gradients_scorer,
    leave_one_out_scorer,
    measure_faithfulness,
    random_scorer,
)
from wfalens.models import RNNConfig, Trainer
from wfalens.models.rnn.pretraining import Curve, compare_pretraining
from wfalens.report import plots
from wfalens.text import load_dataset
from wfalens.text.datasets import newsroom


@pytest.fixture(scope="module")
def texts(newsroom_model):
    return newsroom_model.encoder.encode(load_dataset("newsroom", "test").texts[:80])


def test_explanations_are_more_faithful_than_chance(newsroom_wfa, newsroom_model, texts):
    methods = {
        "random": random_scorer(),
        "automaton": automaton_scorer(newsroom_wfa),
        "deletion": deletion_scorer(newsroom_wfa),
        "leave-one-out": leave_one_out_scorer(newsroom_model),
        "gradients": integrated_gradients_scorer(newsroom_model),
    }
    found = {name: measure_faithfulness(name, scorer, newsroom_model, texts) for name, scorer in methods.items()}
    for name in ("automaton", "deletion", "leave-one-out", "gradients"):
        assert found[name].comprehensiveness > found["random"].comprehensiveness + 0.1, name
        assert found[name].sufficiency < found["random"].sufficiency - 0.1, name
    assert found["automaton"].passes == 0
    assert found["leave-one-out"].passes == pytest.approx(texts.lengths.mean() + 1)


def test_deletion_scores_are_the_automatons_own_leave_one_out(newsroom_wfa):
    text = "the new senate after week"
    ids = newsroom_wfa.encoder.encode([text]).values
    found = attribute(newsroom_wfa, text, "walk")
    scores, _ = deletion_scorer(newsroom_wfa)(ids, 2)
    np.testing.assert_allclose(scores, found.output[2] - found.without[:, 2], atol=1e-9)
    additive, _ = automaton_scorer(newsroom_wfa)(ids, 2)
    np.testing.assert_allclose(additive, found.contributions[:, 2], atol=1e-9)


def test_integrated_gradients_add_up_to_the_change(newsroom_model):
    import torch

    ids = newsroom_model.encoder.encode(["the senate votes after week"]).values
    scores, _ = integrated_gradients_scorer(newsroom_model, steps=300)(ids, 2)
    with torch.no_grad():
        network = newsroom_model.network
        hidden, _ = network.recurrent(torch.zeros(1, len(ids), network.config.embedding))
        baseline = network.output(hidden[:, -1]).softmax(-1)[0, 2].item()
    full = newsroom_model.predict_proba(["the senate votes after week"])[0, 2]
    assert scores.sum() == pytest.approx(full - baseline, abs=0.02)
    with pytest.raises(ModelError, match="built-in network"):
        integrated_gradients_scorer(object())


def test_pretraining_compares_starts_at_equal_width(newsroom_wfa):
    train, test = load_dataset("newsroom"), load_dataset("newsroom", "test")
    starts = {
        "TME": TransitionEmbeddings.of(newsroom_wfa).reduced(32).vectors,
        "vectors": newsroom.vectors(),
        "random": None,
    }
    trainer = Trainer(config=RNNConfig(embedding=8, hidden=16, dropout=0.2), epochs=2, learning_rate=3e-3)
    part = train.subset(np.arange(2000))
    result = compare_pretraining(part, test, starts, trainer, seeds=(0, 1))
    first = {curve.start: curve.accuracy[:, 0].mean() for curve in result.curves}
    assert all(curve.accuracy.shape == (2, 2) for curve in result.curves)
    assert first["TME"] > first["random"]
    assert len(result.to_dataframe()) == 12
    assert len(result.to_json()["curves"]) == 3
    assert plots.pretraining_curves(result).axes
    narrow = TransitionEmbeddings.of(newsroom_wfa).reduced(5).vectors
    with pytest.raises(InputError, match="different widths: 5, 32"):
        compare_pretraining(part, test, {"a": narrow, "b": newsroom.vectors()}, trainer)


def test_epochs_to_an_accuracy():
    curve = Curve("x", np.zeros((2, 3)), np.array([[0.5, 0.7, 0.8], [0.1, 0.2, 0.3]]))
    assert curve.epochs_to(0.7) == [2, None]


def test_figures_are_drawn_with_titles_and_axes(newsroom_wfa, newsroom_vectors):
    scores = influence(newsroom_wfa)
    words = ["senate", "coach", "apple", "the"]
    figures = [
        plots.influence_bars(scores, words),
        plots.top_words(scores),
        plots.attribution_bars(attribute(newsroom_wfa, "the $enate $ votes")),
        plots.word_maps(word_maps(newsroom_wfa, newsroom_vectors, per_class=5)),
    ]
    for figure in figures:
        blob = BytesIO()
        figure.savefig(blob, format="png")
        assert len(blob.getvalue()) > 5000
        assert all(axes.get_title() for axes in figure.axes)
