"""What a file says of its origin may be anything: cards, pages and notebooks of it are made all the same."""

import json
import random

import numpy as np
import pytest

from tests.automata import sample
from tests.fuzz.fuzzer import changed_json
from wfalens.automaton.serving import recorded
from wfalens.report.card import AutomatonCard
from wfalens.report.notebook import automaton_html
from wfalens.report.study import Study
from wfalens.report.views.overview import overview

TRIED = [{"kind": "linear", "cr": 0.9, "jsd": 0.1}, {"kind": "fit", "cr": 0.8, "jsd": 0.2}]
PROVENANCE = {
    "model": {"type": "RNN", "fingerprint": "1", "width": 9, "padding_side": "left"},
    "corpus": {"name": "texts.csv", "texts": 3, "tokens": 9, "files": ["a"], "sample": {"texts": 3}},
    "choice": {"chosen": "linear", "tried": TRIED, "texts": 20},
    "frontier": {"chosen": 0, "tried": TRIED, "texts": 20},
    "training": [{"jsd": 0.2, "cr": 0.8}],
    "held_out": 20,
    "parameters": {"kind": "paper", "states": 4, "seed": 0},
    "time": {"limit": 3},
    "versions": {"wfalens": "0.3"},
    "queries": {"texts": 5},
}


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_a_card_and_an_overview_are_made_of_any_provenance(first):
    wfa = sample("empirical", 1).wfa
    for number in range(first, first + 100):
        rng, provenance = random.Random(number), PROVENANCE  # noqa: S311
        for _ in range(rng.randint(1, 4)):
            provenance = changed_json(rng, provenance)
        wfa.provenance = provenance if isinstance(provenance, dict) else {}
        card = AutomatonCard("letters.wfa", wfa)
        assert card.to_markdown().startswith("# ")
        json.dumps(card.to_dict(), default=str)
        assert overview(Study("letters.wfa", wfa))
        found = recorded(wfa.provenance)
        assert found is None or np.isreal(found.cr)


def test_a_notebook_shows_an_automaton_of_any_provenance():
    wfa = sample("empirical", 1).wfa
    wfa.provenance = {"frontier": {"tried": [{"cr": "x"}], "chosen": "y", "texts": []}, "choice": [1]}
    assert "<table" in automaton_html(wfa)
