"""Texts and problems in the browser; jobs that can be cancelled; nothing that is not there has a tab or a figure."""

import csv
import re
import threading
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from tests.integration.browser.conftest import EXTENT, go
from wfalens import progress
from wfalens.report import collect, views, write_page


@pytest.fixture(scope="module")
def found(study):
    return views.texts(study)


@pytest.fixture(params=["explorer", "report"])
def address(request):
    return request.getfixturevalue(request.param)


def test_a_click_on_a_confusion_shows_its_texts(visit, address, found):
    page = visit(address, "texts")
    names = found["class_names"]
    apart = [(at, to) for at in range(len(names)) for to in range(len(names)) if at != to]
    at, to = max(apart, key=lambda pair: found["confusions"]["network"][pair[0]][pair[1]])
    count = found["confusions"]["network"][at][to]
    assert count > 0
    page.get_by_role("region", name="Truth × network").locator("tbody tr").nth(at).locator("td").nth(to).locator(
        "button"
    ).click()
    expect(page.get_by_role("status").filter(has_text="text")).to_contain_text(re.compile(rf"^{count} texts?\b"))
    rows = page.get_by_role("region", name="Texts", exact=True).locator("tbody tr")
    expect(rows).to_have_count(min(count, 100))
    page.get_by_role("button", name="Show all").click()
    expect(page.get_by_role("status").filter(has_text="text")).to_contain_text(f"{len(found['rows'])} texts")


def test_every_table_is_saved_as_csv(visit, address, found, tmp_path):
    page = visit(address, "texts")
    saved = page.get_by_role("button", name=re.compile("^Save .* as CSV$"))
    names = [each.get_attribute("aria-label") for each in saved.all()]
    filled = [name for name, items in found["problems"].items() if items]
    assert len(names) == 3 + len(filled)  # two confusions and the texts
    for name in names:
        with page.expect_download() as download:
            page.get_by_role("button", name=name, exact=True).click()
        path = tmp_path / "table.csv"
        download.value.save_as(path)
        with path.open(newline="", encoding="utf-8", errors="surrogatepass") as handle:
            head, *rows = csv.reader(handle)
        assert rows
        assert all(len(row) == len(head) for row in rows)
        assert not any(cell.startswith(("=", "@")) for row in rows for cell in row)
        if name == "Save Texts as CSV":
            assert len(rows) == len(found["rows"])


def test_problems_are_told(visit, address, found):
    page = visit(address, "texts")
    for title in ("Surest mistakes", "Broken characters"):
        expect(page.get_by_role("heading", name=re.compile(f"^{title}"))).to_be_visible()
    table = page.get_by_role("region", name="Broken characters").locator("tbody tr")
    expect(table).to_have_count(min(25, len(found["problems"]["broken"])))


def test_the_overview_names_the_surest_mistakes_with_the_networks_answers(visit, address, found):
    items = visit(address).locator(".answer .mistakes li")
    for item, mistake in zip((items.nth(0), items.nth(1)), found["problems"]["mistakes"], strict=False):
        expect(item).to_contain_text(re.compile(rf"\b{100 * mistake['probability']:.0f}\s%$"))


def test_a_long_job_is_cancelled_and_started_again(visit, study, monkeypatch, serving):
    gate, began = threading.Event(), []

    def slow(_study):
        began.append(1)
        progress.start("taking its time", 1000)
        while len(began) == 1:
            gate.wait(0.05)
            progress.advance()
        return {}

    monkeypatch.setitem(views.JOBS, "attacks", slow)
    with serving(study) as address:
        page = visit(address, "overview")
        page.goto(f"{address}#attacks")
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("alert")).to_contain_text("This was cancelled.")
        expect(page.get_by_role("button", name="Start again")).to_be_visible()


def test_without_another_automaton_there_is_no_tab_to_compare(visit, study, tmp_path):
    data = collect(replace(study, other=None, other_name="", other_model=None), EXTENT)
    for recipe in data["attacks"]["recipes"]:
        recipe |= {"tried": 0, "asr_all": None, "asr_correct": None, "accuracy_after": None, "words_changed": None}
    write_page(data, tmp_path / "alone.html")
    address = (tmp_path / "alone.html").as_uri()
    page = visit(address)
    expect(page.get_by_role("link", name="Attacks", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Compare")).to_have_count(0)
    go(page, address, "attacks")
    page.get_by_text("All recipes and their controls").click()
    table = page.get_by_role("table").last
    expect(table.get_by_text("nothing was tried")).to_have_count(2)
    expect(table.get_by_text("0.0 %")).to_have_count(0)
    expect(page.locator(".headline")).to_contain_text("Nothing was tried")


def test_the_attacks_begin_with_a_sentence(visit, address, study):
    page = visit(address, "attacks")
    guided = next(each for each in views.attacks(study, texts=200)["recipes"] if each["recipe"] == "guided")
    expect(page.locator(".headline")).to_contain_text("With one word changed, the network errs on")
    if address.startswith("file:"):  # the explorer attacks more texts
        expect(page.locator(".headline b").first).to_have_text(f"{100 * guided['asr_correct']:.0f} %")
        told = "no difference is shown" if not views.attacks(study, texts=200)["gain"]["shown"] else "where to look"
        expect(page.locator(".headline")).to_contain_text(told)


def test_names_of_classes_are_whole_on_narrow_screens(visit, address, found):
    page = visit(address, "texts", width=390)
    heads = page.get_by_role("region", name="Truth × network").locator("tbody th")
    for at, name in enumerate(found["class_names"]):
        if len(name) < 14:
            assert heads.nth(at).bounding_box()["height"] < 40, name  # on one line, not letter by letter


def test_the_influence_before_and_after_is_drawn(visit, address, study):
    page = visit(address, "compare")
    circles = page.get_by_role("figure").filter(has_text="before and after").locator("circle")
    assert circles.count() == len(views.comparison(study)["scatter"])
