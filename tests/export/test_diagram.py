"""Diagrams of readable automata: boxes and numbers that never lie upon each other, words that carry their arrows."""

import re
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.errors import raises
from tests.readable import at_random, negation
from wfalens.explanation import moves
from wfalens.export import diagram_of
from wfalens.export.canvas import Box, Circle, Text


def rectangles(canvas):
    """Boxes of states and badges of arrows: left, top, right, bottom"""
    for shape in canvas.shapes:
        if isinstance(shape, Box) and shape.edge:
            yield shape.at[0], shape.at[1], shape.at[0] + shape.width, shape.at[1] + shape.height
        elif isinstance(shape, Circle):
            (x, y), r = shape.at, shape.radius
            yield x - r, y - r, x + r, y + r


@pytest.mark.parametrize("seed", range(6))
def test_nothing_lies_upon_another_or_outside(seed):
    canvas = diagram_of(at_random(seed, n=12, kinds=5).wfa, edges=24).draw()
    every = list(rectangles(canvas))
    for one, other in combinations(every, 2):
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert apart, (one, other)
    for left, top, right, bottom in every:
        assert min(left, top) >= 0
        assert right <= canvas.width
        assert bottom <= canvas.height
    for shape in canvas.shapes:
        if isinstance(shape, Text):
            assert shape.size >= 16
            assert 0 < shape.at[1] <= canvas.height


@pytest.mark.parametrize("seed", [None, 0, 1])
def test_the_words_of_an_arrow_are_those_that_carry_most_of_it_or_it_says_that_many_do(seed):
    made = negation() if seed is None else at_random(seed, n=6, kinds=4)
    diagram, table = diagram_of(made.wfa), moves(made.wfa)
    anatomy = made.wfa.anatomy
    for edge in diagram.edges:
        flows = {}
        for number, word in enumerate(made.wfa.encoder.vocabulary.words):
            cluster = anatomy.word_class[number]
            of_cluster = anatomy.word_counts[anatomy.word_class == cluster].sum()
            share = anatomy.word_counts[number] / max(1, of_cluster)
            flows[word] = share * table.flows[cluster, edge.source, edge.target]
        total = table.shares[edge.source, edge.target]
        carried = sum(flows[word] for word in edge.words)
        assert edge.carried == pytest.approx(carried / total)
        assert (
            min(flows[word] for word in edge.words)
            >= max(
                (flow for word, flow in flows.items() if word not in edge.words and not word.startswith("<")), default=0
            )
            - 1e-12
        )
        assert edge.rate == pytest.approx(table.rates[edge.source, edge.target])
        assert edge.label.startswith("many words") == (edge.carried < 0.5)


def test_states_of_two_classes_stand_by_the_probability_of_the_second():
    diagram = diagram_of(negation().wfa)
    assert np.all(np.diff(diagram.outputs[diagram.order, 1]) >= 0)


def test_too_many_classes_are_not_drawn():
    with raises("too-many-classes"):
        diagram_of(at_random(0, n=4, classes=11).wfa)


def test_equal_diagrams_are_equal_files_without_markup_of_others():
    drawn = [diagram_of(negation().wfa).draw().to_svg() for _ in range(2)]
    assert drawn[0] == drawn[1]
    tags = {each.tag.partition("}")[2] for each in ElementTree.fromstring(drawn[0]).iter()}  # noqa: S314 - our own drawing
    assert tags <= {"svg", "style", "rect", "circle", "path", "text", "title"}
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", drawn[0])
