"""Every view of the explorer and of the report: hostile words stay words, and axe-core finds nothing serious."""

from urllib.parse import quote

import pytest

from tests.browser.conftest import go
from tests.studies import HOSTILE, HOSTILE_CLASS, SCRIPT, TURNED, visible

VIEWS = {
    "overview": [HOSTILE_CLASS, 'news"><script>alert(2)</script>.wfa'],
    "map?state=1&word=" + quote(SCRIPT): [HOSTILE_CLASS, SCRIPT],
    "play": [],  # of each page's own sentences
    "words": [SCRIPT, visible(TURNED), HOSTILE_CLASS],
    "word?word=" + quote(SCRIPT): [SCRIPT, HOSTILE_CLASS],
    "wordmap": [HOSTILE_CLASS],
    "contrast": [],
    "attacks": [],
    "compare": [SCRIPT, HOSTILE_CLASS],
}
MARKUP = "document.querySelectorAll('img, iframe, object, embed, main script, main style, [onerror]').length"


@pytest.fixture(params=["explorer", "report"])
def address(request):
    return request.getfixturevalue(request.param)


def test_hostile_words_are_shown_as_text_on_every_view(visit, address):
    page = visit(address)
    for view, words in VIEWS.items():
        go(page, address, view)
        page.wait_for_timeout(100)
        text = page.locator("body").text_content()
        for word in words:
            assert word in text, (view, word)
        assert TURNED not in text, view
        assert page.evaluate(MARKUP) == 0, view


def test_hostile_sentences_are_played_as_text(visit, explorer, report, study):
    texts = [next(text for text in study.corpus.texts if word in text) for word in HOSTILE]
    page = visit(explorer)
    for text in texts:
        go(page, explorer, f"play?text={quote(text.encode('utf-8', 'replace'))}")
        page.wait_for_timeout(500)  # the flips, too
        assert page.evaluate(MARKUP) == 0
    assert visible(TURNED) in page.locator("body").text_content() or TURNED not in page.locator("body").text_content()
    carried = visit(report, "play")
    picker = carried.get_by_role("combobox", name="Sentence", exact=True)
    for at in range(1, picker.locator("option").count()):
        picker.select_option(index=at)
        assert carried.evaluate(MARKUP) == 0


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True), (1280, True), (390, False)])
def test_nothing_serious_for_axe_and_no_sideways_scrolling(visit, address, width, dark):
    from axe_playwright_python.sync_playwright import Axe

    page, axe = visit(address, width=width, dark=dark), Axe()
    for view in VIEWS:
        go(page, address, view)
        page.wait_for_timeout(150)
        found = axe.run(page, options={"resultTypes": ["violations"]}).response["violations"]
        serious = [
            (rule["id"], rule["impact"], rule["nodes"][0]["html"][:200])
            for rule in found
            if rule["impact"] in ("serious", "critical")
        ]
        assert serious == [], view
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{view} is wider than the screen"
