"""One card per sentence: who says what, how far to trust it, both rows of contributions, where the readers part."""

import re
from dataclasses import replace
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.integration.browser.conftest import as_points
from wfalens.report import Extent, views, write_report

EXTENT = Extent(sentences=6, words=60, strongest=3, pages=1, attacked=1)


@pytest.fixture(scope="module")
def weak(study):
    """A study whose automaton often disagrees with the network: it was extracted from an earlier one."""
    return replace(study, wfa=study.other, other=None, other_name="", other_model=None)


@pytest.fixture(scope="module")
def doubtful(weak, tmp_path_factory):
    path = tmp_path_factory.mktemp("weak") / "report.html"
    write_report(weak, path, EXTENT)
    return path.as_uri()


@pytest.fixture(scope="module")
def disputed(weak):
    """A text on which the two disagree, as it is played."""
    text = views.sentences(weak, EXTENT.sentences)["disagree"][0]["text"]
    return views.trace(weak, text)


def opened(visit, address, found):
    page = visit(address, f"trace?text={quote(found['text'].encode('utf-8', 'replace'))}")
    expect(page.locator("[data-reader=network] .chip")).to_have_count(len(found["words"]))
    return page


def test_the_network_is_explained_where_they_disagree(visit, doubtful, disputed, weak):
    page = opened(visit, doubtful, disputed)
    names = weak.wfa.class_names
    column = names.index(disputed["model_label"])
    told = views.attribution(weak, disputed["text"])
    for reader in ("network", "automaton"):
        row = page.locator(f"[data-reader={reader}] .chip")
        for at, values in enumerate(told[reader]):
            expect(row.nth(at).locator("small")).to_contain_text(as_points(values[column]))
            expect(row.nth(at)).to_have_attribute("aria-label", re.compile(f"for .*{re.escape(names[column])[:3]}"))
    expect(page.locator(".verdict")).to_contain_text("The automaton is wrong about the network here")
    expect(page.get_by_role("combobox", name="Contributions to")).to_have_value("default")


def test_truth_network_and_automaton_are_told(visit, doubtful, disputed):
    page = opened(visit, doubtful, disputed)
    for title, label in (
        ("Truth", disputed["truth"]),
        ("Network", disputed["model_label"]),
        ("Automaton", disputed["label"]),
    ):
        cell = page.locator(".says").filter(has=page.get_by_text(title, exact=True))
        expect(cell).to_contain_text(label)
    expect(page.locator(".verdict")).to_contain_text("they disagree")


def test_agreement_is_that_of_texts_of_like_confidence(visit, doubtful, disputed, weak):
    page = opened(visit, doubtful, disputed)
    deciles = views.fidelity(weak)["selective"]["deciles"]
    here = [each for each in deciles if each["least"] <= disputed["confidence"] + 1e-3][-1:] or deciles[:1]
    expect(page.locator(".verdict")).to_contain_text(f"agrees with the network in {100 * here[0]['cr']['value']:.1f} %")


def test_they_part_at_a_word(visit, doubtful, disputed, weak):
    page = opened(visit, doubtful, disputed)
    model, automaton = (np.argmax(disputed[name], axis=1) for name in ("model", "automaton"))
    same = np.flatnonzero(model == automaton)
    at = int(same[-1]) if len(same) else 0  # the last prefix on which they agree, so the next word parts them
    parting = page.locator(".parting")
    expect(parting).to_contain_text(f"(word {at + 1})")
    column = weak.wfa.class_names.index(disputed["model_label"])
    for name in ("model", "automaton"):
        change = disputed[name][at + 1][column] - disputed[name][at][column]
        expect(parting).to_contain_text(re.compile(rf"{'−' if change < 0 else r'[+]'}{abs(100 * change):.0f}\spoints?"))


def test_flips_are_of_the_reader_that_is_asked_for(visit, doubtful, disputed, weak):
    page = opened(visit, doubtful, disputed)
    found, names = views.counterfactuals(weak, disputed["text"]), weak.wfa.class_names
    for reader in ("network", "automaton"):
        page.get_by_label("Whose mind").select_option(reader)
        before = found["before"][reader]
        turning = [each for each in found["changes"] if each[reader][0] != before]
        expect(page.locator(".changes li")).to_have_count(len(turning))
        expect(page.locator("table").filter(has_text=f"turn the {reader} from {names[before]}")).to_be_visible()
        rows = page.locator("table").filter(has_text="Changes of one word").locator("tbody tr")
        expect(rows).to_have_count(len({each["position"] for each in turning}))
    label = names[turning[0]["automaton"][0]]
    page.get_by_role("combobox", name=re.compile("^To")).select_option(label)
    there = [each for each in turning if names[each["automaton"][0]] == label]
    expect(page.locator(".changes li")).to_have_count(len(there))


def test_stepper_chips_and_chart_are_on_one_screen(visit, explorer):
    page = visit(explorer, "trace?text=coach%20says%20players%20win", width=1400)
    expect(page.locator("[data-reader=network] .chip")).to_have_count(4)
    figure = page.locator(".onescreen figure")
    for place in (page.get_by_role("button", name="Play", exact=True), page.locator(".chip").first, figure):
        assert place.bounding_box()["y"] < 700
    assert figure.bounding_box()["x"] > page.locator(".card-panel").bounding_box()["x"] + 200


SHOWN = """(jsd) => {
    const found = {
        words: ["w"], rows: ["observed"], counts: [9], truth: null, agrees: false, confidence: 0.04, jsd,
        automaton: [[0.5, 0.5], [0.52, 0.48]], model: [[0.5, 0.5], [0.48, 0.52]],
    };
    return lens.put(lens.h("div"), ...lens.card(["a", "b"], found, null)).textContent;
}"""


def test_readers_that_are_nearly_undecided_are_not_called_wrong(visit, doubtful):
    page = visit(doubtful)
    assert "Both are nearly undecided" in page.evaluate(SHOWN, 0.002)
    assert "is wrong about the network here" in page.evaluate(SHOWN, 0.2)
