"""What is typed in a report is read by the page's own code; it must say what the automaton says."""

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.automata import linear_sample, sample
from tests.integration.browser.conftest import go
from wfalens.explanation import shapley
from wfalens.extraction import Paper, extract
from wfalens.models import wrap
from wfalens.report import Extent, Study, write_report
from wfalens.text import TextEncoder

READ = """texts => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const read = lens.typed(data.runtime, data.overview);
  return texts.map((text) => {
    const found = read.trace(text);
    const changes = lens.changes(found.automaton, found.words.length);
    return [found.words, found.automaton.at(-1), found.contributions, changes];
  });
}"""
SMALL = Extent(sentences=2, words=20, strongest=2, pages=1, attacked=1)


@pytest.mark.parametrize("name", ["strip+title+bigrams", "quotes+lower+ngrams:3", "lower+characters"])
def test_the_page_splits_texts_as_the_tokenizer_of_that_name_does(visit, tmp_path, name):
    texts = [" o'NEIL anna ", "“So” it goes", "don’t", "a", ""]
    encoder = TextEncoder.of_texts(texts, name, 6, truncation_side="left")
    model = wrap(lambda asked: np.full((len(asked), 2), 0.5), vocab=encoder, classes=("x", "y"), reads="tokens")
    wfa = extract(model, texts, Paper(states=1, completion="uniform", alpha=0))
    write_report(Study("a.wfa", wfa), tmp_path / "report.html", SMALL)
    found = visit((tmp_path / "report.html").as_uri()).evaluate(READ, texts)
    assert [tokens for tokens, *_ in found] == [encoder.tokens(text) for text in texts]


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
            np.testing.assert_allclose(changes, np.diff(wfa.probabilities(wfa.walk(text).weights), axis=0), atol=0.02)


def test_a_sentence_is_typed_into_the_report(visit, report, study):
    page = visit(report, "trace")
    page.get_by_label("Your sentence").fill("the vaccine says never-seen")
    expect(page.locator(".verdict")).to_contain_text("Read by this page alone")
    expect(page.locator(".verdict")).to_contain_text("about as sure as here, it agrees with the network in")
    expect(page.locator(".verdict")).to_contain_text("1 of 4 words is not known here and reads as <unk>.")
    expect(page.locator(".words .chip").last).to_have_class("chip absent")
    expect(page.locator("[data-reader=network]")).to_have_count(0)  # nobody asked it
    expect(page.get_by_text("The network after each word")).to_be_hidden()
    expected = study.wfa.class_names[study.wfa.predict_indices(["the vaccine says never-seen"])[0]]
    expect(page.locator(".verdict")).to_contain_text(expected)
    page.get_by_label("Your sentence").fill("the never-seen too-strange")
    expect(page.locator(".verdict")).to_contain_text("the text is unlike those")
    go(page, report, "overview")
    expect(page.locator("main")).to_contain_text("what you type is read by the automaton alone")
