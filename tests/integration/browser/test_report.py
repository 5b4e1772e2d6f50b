"""The report in a browser: one file, no server, no request, and the same views."""

import re

import pytest
from playwright.sync_api import expect

from tests.automata import sample
from tests.integration.browser.conftest import EXTENT, go
from tests.readable import negation
from tests.studies import HOSTILE, HOSTILE_CLASS, visible
from wfalens.report import Study, views, write_report
from wfalens.report.write_report import carried_words


@pytest.fixture
def wfa_alone(tmp_path):
    """The report of an automaton that was made in limited time."""
    wfa = sample("empirical", 0).wfa
    wfa.provenance["stopped"] = {"by": "time", "passes": 4, "planned": 40}
    write_report(Study("soon.wfa", wfa), tmp_path / "soon.html")
    return (tmp_path / "soon.html").as_uri()


def test_the_report_tells_what_it_is_how_faithful_and_what_it_leaves_out(visit, report, study):
    page = visit(report)
    page.get_by_text("How faithful the automaton is").click()
    measured = views.fidelity(study)["overall"]
    main = page.locator("main")
    expect(main).to_contain_text(f"{measured['cr']['value']:.3f}")
    expect(main).to_contain_text("What this report carries")
    expect(main).to_contain_text(f"of {len(study.influence.words)}")


def test_the_report_of_a_readable_automaton_has_its_diagram(visit, tmp_path):
    groups = {"good": [*HOSTILE], "bad": [HOSTILE_CLASS], "not": ["not"], "the": ["the"]}
    wfa = negation(words=groups, class_names=(HOSTILE_CLASS, "b")).wfa
    write_report(Study("a.wfa", wfa), tmp_path / "report.html", EXTENT)
    for width in (1280, 400):
        page = visit((tmp_path / "report.html").as_uri(), "automaton", width=width)
        expect(page.locator(".picture svg")).to_be_visible()
        expect(page.locator("main")).to_contain_text("the automaton's own read-out")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate("document.querySelectorAll('main img, main script, [onerror]').length") == 0


def test_a_carried_sentence_is_picked_stepped_and_flipped(visit, report):
    page = visit(report, "trace")
    picker = page.get_by_role("combobox", name="Sentence", exact=True)
    expect(picker.locator("option").first).to_contain_text("choose one of")
    picker.select_option(index=2)
    chosen = picker.evaluate("select => select.value")
    chips = page.locator("[data-reader=network] .chip")
    expect(chips).to_have_count(len(chosen.split()))
    chips.last.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text(re.compile(rf"^word {len(chosen.split()) - 1} of {len(chosen.split())}$"))).to_be_visible()
    expect(page.locator(".verdict")).to_contain_text("Network")
    expect(page.locator("main")).to_contain_text(re.compile("forward and backward vectors"))


def test_words_are_searched_and_have_pages(visit, report, study):
    page = visit(report, "words")
    carried = carried_words(study, EXTENT)["rows"]
    rows = page.locator("table.virtual tbody th[scope=row]")
    page.get_by_label("Search").fill("ma")
    found = sorted(
        (row for row in carried if "ma" in row[0] and row[1] >= 5), key=lambda row: (row[4] is None, -row[2])
    )
    expect(rows.first).to_have_text(found[0][0])
    assert rows.all_inner_texts() == [row[0] for row in found]
    page.get_by_role("button", name="seen").click()
    expect(rows.first).to_have_text(max(found, key=lambda row: row[1])[0])
    rows.first.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("One word")
    expect(page.locator("main")).to_contain_text("in extraction")


def test_attacks_and_changes_are_there(visit, report):
    page = visit(report, "attacks")
    page.get_by_text("All recipes and their controls").click()
    expect(page.get_by_role("table").last.locator("tbody tr")).to_have_count(2)
    go(page, report, "compare")
    expect(page.locator("main")).to_contain_text("early<b>.wfa")


def test_what_is_not_carried_is_said(visit, report):
    page = visit(report, "word?word=neverseen")
    expect(page.get_by_role("alert")).to_contain_text("not among those that the report carries")


def test_work_that_was_stopped_is_said_to_be(visit, wfa_alone):
    expect(visit(wfa_alone).locator("main")).to_contain_text("by its limit of time, after 4 of 40 passes")


def test_a_figure_is_saved_without_a_server(visit, report):
    page = visit(report)
    with page.expect_download() as drawn:
        page.get_by_role("button", name=re.compile("^Save .* as PNG$")).first.click()
    assert drawn.value.suggested_filename.endswith(".png")


def test_the_title_is_the_name(visit, report, study):
    assert visit(report).title() == f"Overview – {visible(study.name)} – wfalens"
