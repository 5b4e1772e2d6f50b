"""The map of the classes: a linear projection, circles that are seen and do not lie on each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wfalens.inspection.layout import class_corners, radii, spread


@st.composite
def clouds(draw):
    """Outputs of some states, and how often they are visited."""
    classes, states, seed = draw(st.integers(2, 9)), draw(st.integers(1, 60)), draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    outputs = rng.dirichlet(np.full(classes, draw(st.sampled_from([0.05, 1.0, 50.0]))), states)
    visits = rng.integers(0, 100, states).astype(float) * draw(st.sampled_from([0, 1, 1]))
    return outputs, visits


@given(clouds())
def test_corners_stand_apart_on_a_circle(cloud):
    outputs, visits = cloud
    corners = class_corners(outputs, visits)
    classes = outputs.shape[1]
    assert corners.shape == (classes, 2)
    assert np.allclose(np.linalg.norm(corners, axis=1), 1)
    gaps = np.linalg.norm(corners[:, None] - corners, axis=2)[~np.eye(classes, dtype=bool)]
    assert gaps.min() == pytest.approx(2 * np.sin(np.pi / classes))


@settings(max_examples=20)
@given(clouds())
def test_spread_circles_keep_near_their_places_and_apart(cloud):
    outputs, visits = cloud
    sizes = radii(visits / max(1, visits.sum())) / 3  # so that there is room for all
    points = outputs @ class_corners(outputs, visits)
    moved = spread(points, sizes)
    assert np.isfinite(moved).all()
    assert np.abs(moved).max() < 2
    distance = np.linalg.norm(moved[:, None] - moved, axis=2) + 10 * np.eye(len(moved))
    crowded = np.linalg.norm(points[:, None] - points, axis=2) < sizes[:, None] + sizes
    overlap = np.maximum(0, sizes[:, None] + sizes - distance)
    assert overlap.max() <= 0.6 * (sizes[:, None] + sizes).max()
    if not crowded[~np.eye(len(moved), dtype=bool)].any():
        assert np.linalg.norm(moved - points, axis=1).max() < 0.05


def test_equal_places_part():
    sizes = np.full(12, 0.05)
    moved = spread(np.zeros((12, 2)), sizes)
    distance = np.linalg.norm(moved[:, None] - moved, axis=2) + np.eye(12)
    assert distance.min() > 0.08


@given(st.lists(st.floats(0, 1, allow_subnormal=False), min_size=1, max_size=40))
def test_areas_follow_frequencies_and_none_is_too_small_to_see(frequencies):
    sizes = radii(np.array(frequencies))
    assert sizes.min() >= 0.022
    assert sizes.max() <= 0.11
    order = np.argsort(frequencies)
    assert (np.diff(sizes[order]) >= -1e-12).all()
    large = sizes > 0.0221
    if max(frequencies) > 0 and large.any():
        share = np.array(frequencies) / max(frequencies)
        assert np.allclose((sizes[large] / 0.11) ** 2, share[large])


def test_classes_that_mix_stand_beside_each_other():
    rng = np.random.default_rng(0)
    mixing = [(0, 3), (3, 5), (5, 1), (1, 4), (4, 2), (2, 0)]
    outputs = np.zeros((240, 6))
    for row, pair in zip(outputs, mixing * 40, strict=True):
        share = rng.uniform(0.3, 0.7)
        row[list(pair)] = share, 1 - share
    corners = class_corners(outputs, np.ones(len(outputs)))
    for first, second in mixing:
        assert np.linalg.norm(corners[first] - corners[second]) == pytest.approx(2 * np.sin(np.pi / 6))
