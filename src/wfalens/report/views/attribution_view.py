"""Which words made a sentence what it is, for the network and for the automaton, in the same unit."""

from __future__ import annotations

from typing import Any

from wfalens.explanation.attribution import PROBABILITY
from wfalens.explanation.shapley import network_shapley, shapley
from wfalens.report.study import Study, short

_QUERIES = 256  # texts that the network reads at most


def why(study: Study, text: str) -> dict[str, Any]:
    """Shapley values of both readers in probabilities; those of the network with their standard error.

    They are exact where the network may be asked for all parts of the text.
    """
    network = network_shapley(study.classifier, study.wfa, text, queries=max(_QUERIES, _price(study, text)), seed=0)
    automaton = shapley(study.wfa, text, unit=PROBABILITY, seed=0)
    error = network.standard_error
    return {
        "text": text,
        "network": short(network.values),
        "automaton": short(automaton.values),
        "standard_error": 0.0 if error is None else round(float(error.max()), 4),
        "queries": network.queries,
    }


def _price(study: Study, text: str) -> int:
    """Of two pairs of orders of the words: fewer tell no error."""
    return 4 * len(study.wfa.encoder.tokens(text))
