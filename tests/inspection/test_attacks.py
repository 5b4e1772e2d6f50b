"""The bound under which attacks of a page choose their words."""

import numpy as np

from wfalens.corpus import WordVectors
from wfalens.inspection.attacks import near_bound


def test_one_in_a_thousand_pairs_lies_below_the_bound_whatever_the_scale():
    matrix = np.random.default_rng(0).normal(size=(800, 6)).astype(np.float32)
    words = [f"w{at}" for at in range(800)]
    bound = near_bound(WordVectors(words, matrix, "test"), 0)
    gap = np.square(matrix[:, None] - matrix).mean(2)[np.triu_indices(800, 1)]
    assert abs(np.mean(gap <= bound) - 0.001) < 1e-4
    assert np.isclose(near_bound(WordVectors(words, 100 * matrix, "test"), 0), 1e4 * bound, rtol=1e-4)
