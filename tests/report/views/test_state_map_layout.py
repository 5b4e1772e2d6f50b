"""The map of the classes: a band for each, circles that are seen and do not lie on each other."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wfalens.report.views.state_map import WIDTH, class_order, in_bands, radii, spread, sureness


@st.composite
def clouds(draw):
    """Outputs of some states, and how often they are visited."""
    classes, states, seed = draw(st.integers(2, 9)), draw(st.integers(1, 60)), draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    outputs = rng.dirichlet(np.full(classes, draw(st.sampled_from([0.05, 1.0, 50.0]))), states)
    visits = rng.integers(0, 100, states).astype(float) * draw(st.sampled_from([0, 1, 1]))
    return outputs, visits


@given(clouds())
def test_a_circle_stands_in_the_band_of_its_likeliest_class(cloud):
    """Also a mix of classes whose bands are far apart: it never stands beside a third class."""
    outputs, visits = cloud
    order = class_order(outputs, visits)
    assert sorted(order) == list(range(outputs.shape[1]))
    sizes = radii(visits / max(1, visits.sum()))
    points, bands = in_bands(outputs, sizes, order)
    top, height = bands[outputs.argmax(1)].T
    assert (points[:, 1] - sizes >= top - 1e-9).all()
    assert (points[:, 1] + sizes <= top + height + 1e-9).all()
    tops = bands[order, 0]
    assert np.allclose(np.diff(tops), bands[order[:-1], 1])


def test_of_many_classes_those_without_a_state_take_little_room():
    for classes, least in ((12, 0.16), (13, 0.03)):
        _, bands = in_bands(np.eye(classes)[:2], np.full(2, 0.02), np.arange(classes))
        assert np.allclose(bands[2:, 1], least)
        assert (bands[:2, 1] >= 0.16).all()


@given(clouds())
def test_surer_outputs_stand_further_right(cloud):
    outputs, _ = cloud
    points, _ = in_bands(outputs, np.full(len(outputs), 1e-4), np.arange(outputs.shape[1]))
    assert np.allclose(points[:, 0], WIDTH * sureness(outputs), atol=0.05)
    assert sureness(np.eye(3)).tolist() == [1, 1, 1]
    assert sureness(np.full((1, 4), 0.25)).tolist() == [0]


@settings(max_examples=20)
@given(clouds())
def test_spread_circles_keep_near_their_places_and_apart(cloud):
    outputs, visits = cloud
    sizes = radii(visits / max(1, visits.sum())) / 3  # so that there is room for all
    points = outputs[:, :2]
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
    mixing = [(0, 3), (3, 5), (5, 1), (1, 4), (4, 2)]
    outputs = np.zeros((240, 6))
    for row, pair in zip(outputs, mixing * 48, strict=True):
        share = rng.uniform(0.3, 0.7)
        row[list(pair)] = share, 1 - share
    place = np.argsort(class_order(outputs, np.ones(len(outputs))))
    beside = [abs(place[first] - place[second]) == 1 for first, second in mixing]
    assert sum(beside) >= 4
