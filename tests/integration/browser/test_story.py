"""The automaton as a story: sentences, diagram and table; a sentence lights its way; the faithful one beside it."""

import re
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.automata import sample
from tests.integration.browser.conftest import drawn, finest, go
from tests.readable import negation
from wfalens.explanation import describe, moves
from wfalens.report import Extent, Study, write_report
from wfalens.report.views import overview, state_map

SMALL = Extent(sentences=2, words=20, strongest=2, pages=1, attacked=1)


@pytest.fixture(scope="module")
def made():
    return negation()


@pytest.fixture(scope="module")
def story(made, tmp_path_factory):
    """The report of a readable automaton."""
    path = tmp_path_factory.mktemp("story") / "report.html"
    write_report(Study("a.wfa", made.wfa), path, SMALL)
    return path.as_uri()


def test_the_automaton_is_told_drawn_and_tabled(visit, story, made):
    page = visit(story, "map")
    told = page.locator(".story li").all_text_contents()
    assert sorted(told) == sorted(each.text for each in describe(made.wfa).sentences)
    assert told[0] == describe(made.wfa).sentences[0].text  # how faithful it is
    names = moves(made.wfa).names.states
    for at, name in enumerate(names):
        expect(page.locator(f"[data-node='{at}']")).to_have_attribute("aria-label", re.compile(re.escape(name)))
    table = page.get_by_role("table").filter(has_text="From → to")
    for row in moves(made.wfa).shown():
        expect(table.get_by_role("row").filter(has_text=row["from"]).filter(has_text=row["to"]).first).to_be_visible()
    words = overview(Study("a.wfa", made.wfa))["reading"]["moves"][0]["words"]
    expect(page.locator("svg .move").filter(has_text=words.split(", ")[0]).first).to_be_visible()


def test_the_slider_draws_as_many_moves_as_it_says(visit, story):
    page = visit(story, "map")
    slider = page.get_by_label("Moves shown")
    for wanted in (1, 3, int(slider.get_attribute("max"))):
        slider.fill(str(wanted))
        drawn(page)
        expect(page.locator("path.arrow")).to_have_count(wanted)
        expect(page.get_by_role("status").filter(has_text="of all moves")).to_contain_text(f"{wanted} of")


def test_a_sentence_lights_its_way_word_by_word(visit, story, made):
    text = next(text for text in made.texts if len(text) >= 3)
    page = visit(story, "map")
    page.get_by_label("Type a sentence to light its way").fill(" ".join(text))
    walk = made.wfa.walk(" ".join(text)).states

    def expect_place(at):
        expect(page.get_by_text(f"word {at} of {len(text)}")).to_be_visible()
        for state, share in enumerate(walk[at]):
            if share >= 0.03:
                expect(page.locator(f"[data-node='{state}']")).to_contain_text(f"now {100 * share:.0f} %")

    expect_place(len(text))
    page.get_by_role("button", name="One word back").click()
    expect_place(len(text) - 1)
    expect(page.locator(".reading .now")).to_have_text(text[-2])
    moved = page.locator("path.arrow.lit").evaluate_all("all => all.map((each) => each.dataset.tip)")
    assert all(f"“{text[-2]}” moves" in tip for tip in moved)
    for _ in range(len(text) - 1):
        page.get_by_role("button", name="One word back").click()
    expect_place(0)
    expect(page.locator("path.arrow.lit")).to_have_count(0)
    expect(page).to_have_url(re.compile("text="))


def test_a_state_shows_its_moves(visit, story, made):
    page = visit(story, "map")
    page.locator("[data-node='1']").focus()
    page.keyboard.press("Enter")
    name = moves(made.wfa).names.states[1]
    expect(page.get_by_role("table").filter(has_text=f"Moves from and to “{name}”")).to_be_visible()
    expect(page.locator("[data-node='1']")).to_be_focused()


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """The report of an automaton with more states than one reads at once, and no readable automaton."""
    study = Study("a.wfa", sample("empirical", 3, n=30).wfa)
    path = tmp_path_factory.mktemp("many") / "report.html"
    write_report(study, path, SMALL)
    return path.as_uri(), state_map(study).to_dict()


def test_from_groups_to_all_states(visit, many):
    address, data = many
    page = visit(address, "map")
    slider = page.get_by_label("From groups to all states")
    assert len(data["levels"]) >= 3
    for number, level in enumerate(data["levels"]):
        slider.fill(str(number))
        expect(page.locator("[data-state]")).to_have_count(len(level["states"]))
    expect(page.locator("main")).to_contain_text(f"all {len(data['levels'][-1]['states'])} states")


def test_every_flow_that_the_slider_counts_is_drawn(visit, many):
    """Also between circles that stand close to each other."""
    address, data = many
    page = visit(address, "map")
    page.get_by_label("From groups to all states").fill(str(len(data["levels"]) - 1))
    slider, flows = page.get_by_label("Flows shown"), data["levels"][-1]["flows"]
    for wanted in (8, 30, len(flows)):
        slider.fill(str(wanted))
        drawn(page)
        expect(page.locator("path.flow")).to_have_count(wanted)
        expect(page.locator("main")).to_contain_text(f"{wanted} flows drawn")


def test_a_state_stands_in_the_band_of_its_class(visit, explorer, study):
    """A mix of two classes is never drawn beside a third one, however many there are."""
    page = visit(explorer, "map")
    level = state_map(study).to_dict()["levels"][-1]
    finest(page)
    expect(page.locator("[data-state]")).to_have_count(len(level["states"]))
    bands = page.locator("svg .band").evaluate_all(
        "all => all.map((each) => [each.y.baseVal.value, each.height.baseVal.value])"
    )
    for state in level["states"]:
        place = page.locator(f"[data-state='{state['id']}']").evaluate("node => node.transform.baseVal[0].matrix.f")
        top, height = bands[int(np.argmax(state["mix"]))]
        assert top <= place <= top + height


def test_the_whole_map_fits_on_a_narrow_screen(visit, explorer):
    page = visit(explorer, "map", width=390)
    drawing = page.locator("figure .drawing").last
    assert drawing.evaluate("node => node.scrollWidth - node.clientWidth") <= 0


def test_the_start_has_sentences_that_begin_there(visit, explorer):
    page = visit(explorer, "map?state=0")
    panel = page.locator(".panel")
    expect(panel.get_by_role("heading", level=2)).to_have_text("The start, before any word")
    expect(panel).to_contain_text("Every sentence begins here")
    expect(panel.locator(".sentences li").first).to_be_visible()


def test_a_word_that_the_report_carries_moves_the_states(visit, report, study):
    """Its moves are not carried, but the automaton is."""
    counts = dict(zip(study.influence.words, study.influence.counts, strict=True))
    page = visit(report)
    moved = page.evaluate("Object.keys(JSON.parse(document.getElementById('data').textContent).moves)")
    word = max((word for word in counts if word not in moved), key=lambda each: counts[each])
    go(page, report, f"map?word={quote(word)}")
    expect(page.locator("main")).to_contain_text("moves the output by")
    finest(page)
    expected = state_map(study).word_moves(word)
    expect(page.locator("line.moved")).to_have_count(sum(change >= 0.02 for change in expected["change"]))


def test_a_lone_percent_sign_in_the_address_is_no_blank_page(visit, explorer):
    page = visit(explorer)
    page.goto(f"{explorer}#trace?text=100%")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sentence")
    expect(page).to_have_url(re.compile("text=100%25$"))  # it was read, and the address tells it
    page.goto(f"{explorer}#%")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
