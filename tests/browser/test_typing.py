"""What is typed in a report is read by the page's own code; it must say what the automaton says."""

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.automata import linear_sample, sample
from tests.browser.conftest import go
from wfalens.explanation import shapley
from wfalens.inspection import Study
from wfalens.report import Extent, write_report

READ = """texts => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const read = lens.pocket(data.pocket, data.overview, data.map.corners);
  return texts.map((text) => {
    const found = read(text);
    return [found.words, found.automaton.at(-1), found.contributions, found.changes];
  });
}"""
SMALL = Extent(sentences=2, words=20, strongest=2, pages=1, attacked=1)


@pytest.mark.parametrize("kind", ["null", "empirical", "fit", "shared", "linear"])
def test_the_page_reads_as_the_automaton_does(visit, tmp_path, kind):
    wfa = (linear_sample(2) if kind == "linear" else sample(kind, 5)).wfa
    path = tmp_path / "report.html"
    write_report(Study("a.wfa", wfa), path, SMALL)
    rng = np.random.default_rng(0)
    carried = np.flatnonzero(wfa.word_counts[2:]) + 2
    words = [*(wfa.encoder.vocabulary.words[at] for at in carried), "never-seen"]
    texts = [" ".join(rng.choice(words, size)) for size in (0, 1, 2, 3, 8, 40)]
    found = visit(path.as_uri()).evaluate(READ, texts)
    for (tokens, output, contributions, changes), text in zip(found, texts, strict=True):
        assert tokens == wfa.encoder.tokens(text)
        np.testing.assert_allclose(output, wfa.predict_proba([text])[0], atol=0.02)
        if tokens:
            np.testing.assert_allclose(contributions, shapley(wfa, text).values, atol=0.02)
            np.testing.assert_allclose(changes, np.diff(wfa.walk(text).weights, axis=0), atol=0.02)
            np.testing.assert_allclose(np.sum(contributions, 0), np.sum(changes, 0), atol=1e-4)


def test_a_sentence_is_typed_into_the_report(visit, report, study):
    page = visit(report, "play")
    page.get_by_label("Your sentence").fill("the vaccine says never-seen")
    expect(page.locator(".verdict")).to_contain_text("Read by this page alone")
    expect(page.locator(".words .chip").last).to_have_class("chip unknown")
    expect(page.get_by_text("The network after each word")).to_be_hidden()
    expected = study.wfa.class_names[study.wfa.predict(["the vaccine says never-seen"])[0]]
    expect(page.locator(".verdict")).to_contain_text(expected)
    go(page, report, "overview")
    expect(page.locator("main")).to_contain_text("what you type is read by the automaton alone")
