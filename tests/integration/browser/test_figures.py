"""Figures for a paper, tooltips and zoom on all of them, colours that mean one thing, and a sentence for every term."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

from tests.integration.browser.conftest import go
from wfalens.report.page import script

SVG = "{http://www.w3.org/2000/svg}"
FIGURES = ["trace?text=coach%20says%20match", "word?word=embassy"]


def saved(page, figure, kind):
    with page.expect_download() as started:
        figure.get_by_role("button", name=re.compile(f"^Save .* as {kind}$")).click()
    assert started.value.suggested_filename.endswith(f".{kind.lower()}")
    return Path(started.value.path()).read_bytes()


@pytest.mark.parametrize("view", FIGURES)
def test_a_saved_figure_has_a_title_a_legend_and_all_its_colours(visit, explorer, view):
    page = visit(explorer, view)
    figure = page.locator("figure").first
    expect(figure.locator("svg > *").first).to_be_attached()
    text = saved(page, figure, "SVG").decode()
    root = ElementTree.fromstring(text)  # noqa: S314 - our own
    words = [each.text for each in root.iter(f"{SVG}text") if each.text]
    title = figure.locator("h2").evaluate("node => node.firstChild.textContent")
    assert " ".join(words).startswith(title)
    for name in figure.locator(".legend li").all_inner_texts():
        assert name in words
    assert "var(" not in text
    assert "color-mix" not in text


def test_a_figure_saved_from_a_dark_page_is_on_white(visit, explorer):
    page = visit(explorer, "word?word=embassy", dark=True)
    text = saved(page, page.locator("figure").first, "SVG").decode()
    assert 'fill="rgb(255, 255, 255)"' in text.partition("</text>")[0]
    assert page.evaluate("document.documentElement.dataset.theme ?? null") is None  # the page itself stays dark


def test_pictures_and_papers(visit, explorer):
    page = visit(explorer, "word?word=embassy")
    figure = page.locator("figure").first
    assert saved(page, figure, "PNG").startswith(b"\x89PNG")
    paper = saved(page, figure, "PDF")
    assert paper.startswith(b"%PDF-1.4")
    assert paper.rstrip().endswith(b"%%EOF")
    start = int(re.search(rb"startxref\n(\d+)", paper)[1])
    assert paper[start:].startswith(b"xref")
    for number, place in enumerate(re.findall(rb"(\d{10}) 00000 n", paper), 1):
        assert paper[int(place) :].startswith(f"{number} 0 obj".encode())


def test_labels_are_not_cut(visit, explorer, study):
    page = visit(explorer, "word?word=embassy")
    shown = page.locator("figure svg text").all_text_contents()
    for name in study.wfa.class_names[:-1]:
        assert name in shown


@pytest.mark.parametrize("view", FIGURES)
def test_every_figure_has_tooltips_and_zoom(visit, explorer, view):
    page = visit(explorer, view)
    figures = page.locator("figure:visible")
    for figure in figures.all():
        svg = figure.locator("svg").first
        expect(svg.locator("[data-tip]").first).to_be_attached()  # drawn
        whole = svg.get_attribute("viewBox").split()
        figure.get_by_role("button", name=re.compile("^Zoom in")).click()
        assert float(svg.get_attribute("viewBox").split()[2]) < float(whole[2])
        svg.focus()
        page.keyboard.press("0")
        assert [float(each) for each in svg.get_attribute("viewBox").split()] == [float(each) for each in whole]


def test_tooltips_show_on_hover_focus_and_touch(visit, explorer):
    page = visit(explorer, "word?word=embassy")
    tip, mark = page.get_by_role("tooltip"), page.locator("rect.bar").first
    expect(tip).to_be_hidden()
    mark.hover(force=True)
    expect(tip).to_contain_text("points")
    page.mouse.move(2, 2)
    expect(tip).to_be_hidden()
    mark.dispatch_event("pointerdown", {"pointerType": "touch", "bubbles": True, "clientX": 50, "clientY": 50})
    expect(tip).to_be_visible()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()


def test_the_opinion_line_is_saved_with_its_colours(visit, explorer):
    page = visit(explorer)
    text = saved(page, page.locator("figure.picture").first, "SVG").decode()
    ElementTree.fromstring(text)  # noqa: S314 - our own
    assert "How the network reads" in text
    assert "var(" not in text


def test_a_drawing_is_zoomed_with_the_wheel_and_moved(visit, explorer):
    page = visit(explorer, "word?word=embassy")
    svg = page.locator("figure svg").first
    box = svg.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    expect(svg).to_have_class(re.compile("zoomed"))
    before = svg.get_attribute("viewBox")
    page.mouse.down()
    page.mouse.move(box["x"] + 20, box["y"] + 10, steps=3)
    page.mouse.up()
    assert svg.get_attribute("viewBox") != before


def test_bars_of_all_words_have_one_scale(visit, explorer, study):
    page = visit(explorer, "word?word=embassy")
    words, changes = study.influence.words, study.word_effects.changes

    def widest(word):
        go(page, explorer, f"word?word={word}")
        return max(page.locator("rect.bar").evaluate_all("all => all.map((each) => each.width.baseVal.value)"))

    def drawn(word):
        return min(0.5, abs(changes[words.index(word)]).max())  # fifty points fill the width

    for word in ("match", "the"):
        expected = drawn(word) / drawn("embassy") * widest("embassy")
        assert widest(word) == pytest.approx(expected, rel=0.02, abs=0.5)


def test_what_speaks_for_a_class_has_its_colour_and_what_speaks_against_it_is_grey(visit, explorer):
    page = visit(explorer, "words")
    cells = page.locator("table.virtual td[style]:not([style^=height])")  # not the room for rows that are not drawn
    expect(cells.first).to_be_visible()
    for cell in cells.all()[:40]:  # the class that a word pushes most; an estimate of the automaton has no colour
        measured = "\u2248" not in cell.inner_text()
        assert ("--class-" in cell.get_attribute("style")) == measured
    go(page, explorer, "trace?text=coach%20says%20match")
    chips = page.locator("[data-reader=network] .chip")
    expect(chips).to_have_count(3)
    for chip in chips.all():
        against = chip.locator("small").inner_text().startswith("\u2212")
        assert not against or "--against" in chip.get_attribute("style")


def test_every_term_has_a_sentence(visit, explorer):
    page = visit(explorer)
    page.get_by_text("How faithful the automaton is").click()
    mark = page.get_by_role("button", name=re.compile("^What is CR")).first
    mark.hover()
    expect(page.get_by_role("tooltip")).to_contain_text("choose the same class")
    page.mouse.move(2, 2)
    mark.click()
    expect(page.get_by_role("tooltip")).to_contain_text("choose the same class")
    asked = set(re.findall(r"lens\.(?:what|explained)\('([^']+)'\)|term: '([^']+)'", script()))
    explained = page.evaluate(
        "names => names.map((name) => { try { lens.what(name); return true; } catch { return false; } })",
        [first or second for first, second in asked],
    )
    assert asked
    assert all(explained)
