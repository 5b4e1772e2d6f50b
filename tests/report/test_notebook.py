"""What notebooks show: short, escaped, and true; the example notebook runs from top to bottom."""

import ast
import json
from pathlib import Path

import numpy as np
import pytest

from tests.automata import carrier, linear_sample
from tests.studies import SCRIPT, counting_model, letter_texts
from wfalens.evaluation import measure_fidelity
from wfalens.explanation import influence, shapley
from wfalens.extraction import Paper, extract
from wfalens.text import Corpus

NOTEBOOK = Path(__file__).parents[2] / "examples" / "notebook.ipynb"


@pytest.fixture(scope="module")
def counting():
    model, corpus = counting_model(3), letter_texts(300, 3)
    return model, corpus, extract(model, corpus, Paper(states=4))


def cells():
    return [
        "".join(cell["source"]) for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"
    ]


def shown(source, names):
    """Run a cell; -> the value of its last line, as a notebook shows it."""
    *before, last = ast.parse(source).body
    exec(compile(ast.Module(before, []), "cell", "exec"), names)  # noqa: S102 - our own example
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307


@pytest.mark.slow
def test_the_example_runs_and_every_cell_shows_something():
    names = {}
    results = [shown(source, names) for source in cells()]
    pages = [each._repr_html_() for each in results]
    assert all("<table" in page for page in pages)
    assert "agrees with the network on" in pages[3]
    assert "The network, for" in pages[6]
    assert names["fidelity"].overall.cr.value > 0.8


def test_what_is_printed_is_short_and_has_no_addresses(counting):
    model, corpus, wfa = counting
    text = corpus.texts[0]
    printed = [*map(str, (model, wfa, influence(wfa), wfa.walk(text), shapley(wfa, text)))]
    fidelity = measure_fidelity(wfa, model, corpus)
    printed += [str(fidelity), str(fidelity.overall)]
    for each in printed:
        assert len(each) < 1000
        assert " at 0x" not in each
    assert f"{len(wfa.encoder.vocabulary)} words" in printed[0]
    assert f"{len(wfa.initial)} states" in printed[1]
    assert printed[6] == f"CR {fidelity.overall.cr}, JSD {fidelity.overall.jsd:.4f} on {len(corpus)} texts"
    assert printed[5].startswith(printed[6])


def test_no_output_is_stored_in_the_example():
    stored = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell.get("outputs")]
    assert stored == []


def test_a_corpus_is_short_however_long_it_is():
    corpus = Corpus.of([f"{SCRIPT} text {number} " * 50 for number in range(5000)], name="many")
    page = corpus._repr_html_()
    assert len(page) < 3000
    assert "5,000" in page
    assert SCRIPT not in page


def test_a_model_and_its_fidelity_are_tables(counting):
    model, corpus, wfa = counting
    assert "c0, c1, c2" in model._repr_html_()
    page = measure_fidelity(wfa, model, corpus)._repr_html_()
    assert "a weak one" in page
    assert "all texts" in page


def test_influence_is_sorted_by_strength(counting):
    scores = influence(counting[2], 1)
    page = scores._repr_html_()
    order = [page.index(f"<td>{scores.words[row]}</td>") for row in np.argsort(-scores.strength, kind="stable")]
    assert order == sorted(order)


def test_an_automaton_shows_size_words_and_the_diagram_where_it_has_one(counting):
    page = counting[2]._repr_html_()
    assert "Words with the largest influence on each class" in page
    assert "<img" not in page
    shown = carrier()._repr_html_()
    assert "data:image/svg+xml" in shown
    assert "max-width:100%" in shown  # no wider than its cell
    assert "linear automaton" in linear_sample(0).wfa._repr_html_()


def test_a_card_shows_both_outputs_and_where_they_differ(counting):
    model, corpus, wfa = counting
    for text in corpus.texts[:60]:
        card = wfa.show(text, model)
        network, automaton = (
            model.trace(model.encoder.encode([text])).last()[0].argmax(),
            wfa.predict_indices([text])[0],
        )
        assert (card.diverged is None) == (network == automaton)
        assert card.shown_class == model.class_names[network]
        assert ("Automaton and network disagree" in card.to_html()) == (network != automaton)
    assert "network" not in wfa.show("a b c").to_html()
