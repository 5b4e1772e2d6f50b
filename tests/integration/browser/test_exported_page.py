"""The page of examples/browser: one file, a strict policy, and the answers of the automaton."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from tests.automata import linear_sample

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "browser" / "build.py"
ASK = """() => ({
  answer: document.getElementById('answer').textContent,
  values: [...document.querySelectorAll('mark')].map((mark) => Number(mark.dataset.value)),
  words: [...document.querySelectorAll('mark')].map((mark) => mark.textContent),
})"""


def built(wfa, path: Path) -> str:
    spec = importlib.util.spec_from_file_location("build", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path.write_text(module.build(wfa), encoding="utf-8")
    assert path.stat().st_size < 300_000
    return path.as_uri()


@pytest.mark.parametrize("kind", ["news", "linear"])
def test_the_example_page_answers_and_explains_without_leaving_its_policy(browser, tmp_path, newsroom_wfa, kind):
    wfa = newsroom_wfa if kind == "news" else linear_sample(2).wfa
    words = [word for word in wfa.encoder.vocabulary.words[2:] if word.isalnum()][:6]
    text, seen = " ".join([*words, "never-seen"]), []
    page = browser.new_page()
    page.on("console", lambda message: message.type == "error" and seen.append(message.text))
    page.on("pageerror", lambda error: seen.append(str(error)))
    page.on("request", lambda request: request.url.startswith("http") and seen.append(request.url))
    page.goto(built(wfa, tmp_path / "page.html"))
    page.get_by_label("Your text").fill(text)
    found = page.evaluate(ASK)
    assert not seen
    policy = page.locator("meta[http-equiv]").get_attribute("content")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy  # no eval, no other script
    page.close()
    label = int(wfa.predict_indices([text])[0])
    expected = wfa.explain(text, unit=wfa.unit)
    assert found["words"] == list(expected.words)
    assert found["answer"].startswith(wfa.class_names[label])
    np.testing.assert_allclose(found["values"], expected.values[:, label], atol=0.01 * np.abs(expected.values).max())
