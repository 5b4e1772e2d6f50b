"""Every view of the explorer and of the report: hostile words stay words, and axe-core finds nothing serious."""

import re
from pathlib import Path
from urllib.parse import quote

import axe_playwright_python
import pytest
from playwright.sync_api import expect

from tests.integration.browser.conftest import drawn, go
from tests.studies import HOSTILE, HOSTILE_CLASS, SCRIPT, TURNED, visible
from wfalens.report.page import _VIEWS

VIEWS = {
    "overview": [HOSTILE_CLASS, 'news"><script>alert(2)</script>.wfa'],
    "trace": [],  # of each page's own sentences
    "texts": [HOSTILE_CLASS, SCRIPT, visible(TURNED)],
    "words": [HOSTILE_CLASS],
    "words?query=alert": [SCRIPT],
    "words?query=gnp": [visible(TURNED)],
    "word?word=" + quote(SCRIPT): [SCRIPT],
    "attacks": [],
    "automaton": [],
    "compare": [HOSTILE_CLASS, "early<b>.wfa"],
}
MARKUP = "document.querySelectorAll('img, iframe, object, embed, main script, main style, [onerror]').length"


def test_no_view_is_missing_here():
    assert {view.split("?")[0] for view in VIEWS} >= set(_VIEWS) - {"main"}


@pytest.fixture(params=["explorer", "report"])
def address(request):
    return request.getfixturevalue(request.param)


def test_hostile_words_are_shown_as_text_on_every_view(visit, address):
    page = visit(address)
    for view, words in VIEWS.items():
        go(page, address, view)
        for word in words:
            expect(page.locator("body")).to_contain_text(word)
        assert TURNED not in page.locator("body").text_content(), view
        assert page.evaluate(MARKUP) == 0, view
        assert not re.search(r"\bNaN\b|\bundefined\b", page.locator("main").inner_text()), view


def test_hostile_sentences_are_played_as_text(visit, explorer, report, study):
    texts = [next(text for text in study.corpus.texts if word in text) for word in HOSTILE]
    page = visit(explorer)
    for text in texts:
        with page.expect_response("**/api/counterfactuals"):
            go(page, explorer, f"trace?text={quote(text.encode('utf-8', 'replace'))}")
        expect(page.get_by_text("forward and backward vectors")).to_be_visible()  # the flips, too
        assert page.evaluate(MARKUP) == 0
    assert visible(TURNED) in page.locator("body").text_content() or TURNED not in page.locator("body").text_content()
    carried = visit(report, "trace")
    picker = carried.get_by_role("combobox", name="Sentence", exact=True)
    for at in range(1, picker.locator("option").count()):
        picker.select_option(index=at)
        assert carried.evaluate(MARKUP) == 0


def violations(page, *rules):
    """Serious and critical ones, of all rules or of some."""
    only = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
    found = page.evaluate("options => axe.run(options)", only)["violations"]
    return [
        (rule["id"], rule["impact"], rule["nodes"][0]["html"][:200])
        for rule in found
        if rule["impact"] in ("serious", "critical")
    ]


def inspected(visit, address):
    """Each view in turn, of a page with axe-core in it."""
    page = visit(address)
    page.evaluate(Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text())
    for view in VIEWS:
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 1280, "height": 900})
        go(page, address, view)
        yield page, view


def fits(page):
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_nothing_serious_for_axe_light_and_dark_wide_and_narrow(visit, explorer):
    for page, view in inspected(visit, explorer):
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 900})
            drawn(page)
            assert violations(page) == [], f"{view}, {width} wide"
            assert fits(page), f"{view}, {width} wide: scrolls sideways"
        page.emulate_media(color_scheme="dark")
        assert violations(page, "color-contrast") == [], f"{view}, dark"  # all else is as in the light


def test_nothing_serious_for_axe_in_the_report(visit, report):
    """It is the same page; what it says in place of what it does not carry is not."""
    for page, view in inspected(visit, report):
        assert violations(page) == [], view
        page.set_viewport_size({"width": 390, "height": 900})
        drawn(page)
        assert fits(page), f"{view}: scrolls sideways"
