"""The drawing of a readable automaton: what is on it, by Graphviz and without, also of hostile names."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from tests.errors import raises
from tests.readable import at_random, negation
from wfalens.explanation import moves
from wfalens.export import diagram_drawing
from wfalens.export.diagram import Diagram, diagram_of
from wfalens.export.diagram_drawing import (
    DIAGRAM_FORMATS,
    draw,
    draw_diagram,
    drawn_by_graphviz,
    drawn_plainly,
    has_graphviz,
    middles,
    to_diagram_dot,
)
from wfalens.messages import percent

needs_graphviz = pytest.mark.skipif(not has_graphviz(), reason="needs Graphviz (dot)")
SIGNATURES = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img/src=x/onerror=alert(1)>',
    "\u202egnp.exe",
    "a\\nb\\",
    "x" * 10_000,
    "$\\frac{",
    "]]>",
    "&lt;",
    "--><!--",
    "مرحبا",
]
HOSTILE_CLASSES = ("<b onload=alert(1)>", "\u202e" + "y" * 10_000)


def shown_texts(svg):
    """What a reader sees, of an SVG whose texts are texts."""
    return ["".join(each.itertext()) for each in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314 - our own file


@pytest.fixture
def hostile():
    groups = {"good": HOSTILE[:3], "bad": HOSTILE[3:5], "not": HOSTILE[5:8], "the": HOSTILE[8:]}
    return negation(words=groups, class_names=HOSTILE_CLASSES)


@pytest.mark.parametrize("seed", range(4))
def test_the_fewest_arrows_that_carry_enough_are_drawn(seed):
    table = moves(at_random(seed, n=6, kinds=3).wfa)
    moved = table.shares * (1 - np.eye(6))
    diagram = Diagram(table)
    shares = [edge.share for edge in diagram.edges]
    assert len(shares) <= 40
    assert sum(shares) >= 0.9 * moved.sum()
    assert sum(shares[:-1]) < 0.9 * moved.sum()
    assert shares == sorted(moved[moved > 0], reverse=True)[: len(shares)]
    assert f"{percent(sum(shares) / moved.sum())} go along one of the {len(shares)} arrows drawn" in diagram.caption
    assert f"of {(moved > 0).sum()} that occur." in diagram.caption
    assert diagram.caption.count(percent(float(np.trace(table.shares))) + " of all words stay") == 1


def test_the_caption_begins_with_size_and_fidelity():
    frontier = {"texts": 1234, "chosen": 0, "loss": 0.0, "tried": [{"cr": 0.875, "jsd": 0.03}]}
    caption = diagram_of(negation(provenance={"frontier": frontier}).wfa).caption
    size = "An automaton with 5 states and 4 word clusters. "
    assert caption.startswith(f"{size}It gives the network's class to 87.5 % of 1,234 held-out texts. How to read it")
    assert diagram_of(negation().wfa).caption.startswith(f"{size}How to read it")


def test_a_limit_that_is_too_low_for_that_is_told():
    diagram = Diagram(moves(at_random(0, n=9, kinds=3).wfa), most_edges=4)
    assert len(diagram.edges) == 4
    assert diagram.carried < 0.9
    assert f"{percent(diagram.carried)} go along one of the 4 arrows" in diagram.caption
    assert "(4 at most are drawn)" in diagram.caption


@pytest.mark.parametrize("change", [{"most_edges": 0}, {"enough": 1.5}])
def test_limits_are_checked(change):
    with raises("option-value"):
        Diagram(moves(negation().wfa), **change)


def test_from_left_to_right_it_is_surer_and_no_arrow_stays_in_a_column():
    for seed in range(6):
        diagram = diagram_of(at_random(seed).wfa)
        columns, surest = diagram.columns, diagram.table.centres.max(1)
        assert columns[0] == 0
        assert (columns[1:] > 0).all()
        assert all(columns[edge.source] != columns[edge.target] for edge in diagram.edges)
        sure, undecided = surest >= 0.8, diagram.undecided
        later = np.arange(len(surest)) > 0
        if (sure & later).any() and (undecided & later).any():
            assert columns[sure & later].min() > columns[undecided & later].max()


def test_a_box_says_what_the_state_is_and_how_often_it_stays():
    diagram = diagram_of(negation().wfa)
    table = diagram.table
    assert diagram.box(0) == ["start", "bad 50 %, good 50 %", "before the first word"]
    assert diagram.box(3) == ["sure bad", "bad 95 %", f"stays here on {percent(float(table.rates[3, 3]))} of words"]


def test_the_legend_has_every_word_cluster_once():
    diagram = diagram_of(negation().wfa)
    rows = diagram.legend()
    legend = {row.words: (row.effect, row.moved, row.share) for row in rows}
    assert len(legend) == len(rows) == 4
    for kind in diagram.table.names.classes:
        assert legend[", ".join(kind.words)] == (kind.effect, percent(kind.moved), percent(kind.share, 1))
    assert [row.effect.startswith("turns towards ") for row in rows] == [True, True, False, False]
    assert [row.effect for row in rows[:2]] == ["turns towards bad", "turns towards good"]


def test_arrows_back_are_written_from_left_to_right():
    diagram = diagram_of(negation().wfa)
    dot = to_diagram_dot(diagram)
    written = re.findall(r"s(\d) -> s(\d) \[", dot)
    assert len(written) == len(diagram.edges)
    assert all(diagram.columns[int(first)] < diagram.columns[int(second)] for first, second in written)
    assert dot.count("dir=back") == sum(diagram.columns[e.target] < diagram.columns[e.source] for e in diagram.edges)


@pytest.mark.parametrize("plain", [True, pytest.param(False, marks=needs_graphviz)])
@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_every_format_is_drawn_and_alike_each_time(monkeypatch, plain, ending):
    if plain:
        monkeypatch.setattr(diagram_drawing.shutil, "which", lambda name: None)
    diagram = diagram_of(negation().wfa)
    blob = draw_diagram(diagram, ending)
    assert blob.startswith(SIGNATURES[ending])
    if ending != "pdf":
        assert draw_diagram(diagram, ending) == blob
    if plain:
        assert blob == drawn_plainly(diagram, ending) or ending == "pdf"
        with raises("graphviz"):
            drawn_by_graphviz(to_diagram_dot(diagram), ending)


def test_dot_needs_no_graphviz(monkeypatch):
    monkeypatch.setattr(diagram_drawing.shutil, "which", lambda name: None)
    diagram = diagram_of(negation().wfa)
    assert draw_diagram(diagram, "dot").decode() == to_diagram_dot(diagram)
    assert DIAGRAM_FORMATS == ("svg", "pdf", "png", "dot")


def test_unknown_formats_and_directions_are_refused():
    diagram = diagram_of(negation().wfa)
    with raises("option-value"):
        draw_diagram(diagram, "gif")
    with raises("option-value"):
        draw_diagram(diagram, "dot", "up")


@needs_graphviz
def test_graphviz_shows_names_caption_and_legend():
    diagram = diagram_of(negation().wfa)
    svg = drawn_by_graphviz(to_diagram_dot(diagram), "svg")
    texts = shown_texts(svg)
    for line in (*diagram.table.names.states, "good, fine", "turns towards good", "word clusters"):
        assert line in texts
    assert diagram.caption.replace(" ", "") in "".join(texts).replace(" ", "").replace("\xa0", "")


@needs_graphviz
def test_a_drawing_that_graphviz_cannot_read_is_an_error_that_says_why():
    with raises("graphviz"):
        drawn_by_graphviz("digraph {", "svg")


@needs_graphviz
@pytest.mark.parametrize("direction", ["right", "down"])
def test_hostile_names_are_text_for_graphviz(hostile, direction):
    check_shown(drawn_by_graphviz(to_diagram_dot(diagram_of(hostile.wfa), direction), "svg"))


@pytest.mark.filterwarnings("ignore:Glyph")  # the font of the image has no Arabic letters; readers of the SVG have
def test_hostile_names_are_text_in_the_plain_drawing(hostile):
    diagram = diagram_of(hostile.wfa)
    check_shown(drawn_plainly(diagram, "svg"))
    assert len(drawn_plainly(diagram, "png")) < 5_000_000


def check_shown(svg):
    check_harmless(svg)
    texts = " ".join(shown_texts(svg))
    for shown in ("<script>alert", "a\\nb\\", "$\\frac{", "&lt;", "مرحبا", "xxx", "<b onload=alert"):
        assert shown in texts  # as it is
    assert max(map(len, shown_texts(svg))) < 300
    assert "\u202e" not in svg.decode()


def check_harmless(svg):
    """Nothing in it runs, and nothing is loaded from elsewhere."""
    tree = ET.fromstring(svg)  # noqa: S314 - our own file
    for element in tree.iter():
        name = str(element.tag).rpartition("}")[2]
        assert name.lower() not in ("script", "foreignobject", "image", "a", "iframe", "set", "animate")
        for attribute, value in element.attrib.items():
            assert not attribute.rpartition("}")[2].lower().startswith("on")
            assert not attribute.endswith("href") or value.startswith("#")
    assert b"<!DOCTYPE" not in svg


def test_boxes_of_the_plain_drawing_do_not_overlap():
    for seed in range(8):
        points = middles(diagram_of(at_random(seed, n=12, kinds=5).wfa))
        for first in range(len(points)):
            apart = np.abs(points[first + 1 :] - points[first])
            assert np.all((apart[:, 0] > 2.2) | (apart[:, 1] > 0.9))


@pytest.mark.parametrize("ending", DIAGRAM_FORMATS)
def test_an_automaton_is_drawn_into_a_file_by_its_ending(tmp_path, ending):
    path = tmp_path / f"automaton.{ending}"
    diagram = draw(negation().wfa, path, most_edges=5)
    drawn = (path.read_bytes(), draw_diagram(diagram, ending))
    first, second = (re.sub(rb"/CreationDate \([^)]*\)", b"", each) for each in drawn)  # a pdf has its date
    assert first == second
    assert len(diagram.edges) <= 5
    with raises("unknown-format"):
        draw(negation().wfa, tmp_path / "automaton.gif")
