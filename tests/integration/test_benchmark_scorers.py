"""The scorers of the benchmarks: gradients add up, and the automaton's leave-one-out is its own."""

import numpy as np
import pytest
from benchmarks.scorers import (
    automaton_scorer,
    deletion_scorer,
    integrated_gradients_scorer,
    leave_one_out_scorer,
    measure_faithfulness,
)

from wfalens.errors import ModelError
from wfalens.explanation import explain
from wfalens.text import load_dataset


def test_deletion_scores_are_the_automatons_own_leave_one_out(newsroom_wfa):
    text = "the new senate after week"
    ids = newsroom_wfa.encoder.encode([text]).values
    found = explain(newsroom_wfa, text, method="additive")
    scores, _ = deletion_scorer(newsroom_wfa)(ids, 2)
    np.testing.assert_allclose(scores, found.output[2] - found.without[:, 2], atol=1e-9)
    additive, _ = automaton_scorer(newsroom_wfa)(ids, 2)
    np.testing.assert_allclose(additive, found.values[:, 2], atol=1e-9)


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


def test_model_calls_are_counted(newsroom_wfa, newsroom_model):
    texts = newsroom_model.encoder.encode(load_dataset("newsroom", "test").texts[:20])
    assert measure_faithfulness("automaton", automaton_scorer(newsroom_wfa), newsroom_model, texts).passes == 0
    found = measure_faithfulness("leave-one-out", leave_one_out_scorer(newsroom_model), newsroom_model, texts)
    assert found.passes == pytest.approx(texts.lengths.mean() + 1)
