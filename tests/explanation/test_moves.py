"""The from → to table says what happens when the texts are read word by word."""

import numpy as np
import pytest

from tests.automata import linear_sample, sample
from tests.errors import raises
from tests.readable import at_random
from wfalens.explanation import moves


@pytest.mark.parametrize("seed", range(4))
def test_shares_are_those_of_the_words_read_one_by_one(seed):
    made = at_random(seed)
    table = moves(made.wfa)
    n, total = made.wfa.states, sum(map(len, made.texts))
    counted = np.zeros((len(made.matrices), n, n))
    for _, _, number, before, _ in made.steps():
        counted[number] += before[:, None] * made.matrices[number]
    np.testing.assert_allclose(table.flows, counted / total, atol=1e-7)
    np.testing.assert_allclose(table.shares, counted.sum(0) / total, atol=1e-7)
    read = counted.sum((0, 2))
    np.testing.assert_allclose(table.rates[read > 0].sum(1), 1)
    pairs = table.strongest()
    strengths = [counted.sum(0)[pair] for pair in pairs]
    assert strengths == sorted(strengths, reverse=True)
    assert all(source != target for source, target in pairs)
    assert len(pairs) == int((counted.sum(0) > 0).sum() - (np.diag(counted.sum(0)) > 0).sum())


@pytest.mark.parametrize("wfa", [sample("fit", 0).wfa, linear_sample(0).wfa])
def test_an_automaton_without_classes_of_words_is_refused_with_the_way_to_one(wfa):
    with raises("not-readable"):
        moves(wfa)
