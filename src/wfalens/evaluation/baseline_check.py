"""Whether an automaton is worth more than the words of a text in any order: a quick check after extraction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wfalens.automaton.wfa import WFA
from wfalens.evaluation.baselines import bag_of_words
from wfalens.extraction.held_out import divided
from wfalens.models.contract import PrefixClassifier, is_language_model
from wfalens.models.inference import last_outputs
from wfalens.text.corpus import Corpus

_FEWEST = 30  # held-out texts from which on the two rates are compared
_MOST_FITTED = 10_000  # texts that the bag of words learns from
_MOST_NUMBERS = 100_000  # texts times classes, likewise: it shall take seconds


@dataclass(frozen=True)
class BaselineCheck:
    """CR of an automaton and of a bag of words on held-out extraction texts."""

    texts: int
    cr: float
    bag_of_words: float

    @property
    def is_shown(self) -> bool:
        """Whether the automaton beats the bag of words; where both are always right there is nothing to beat."""
        return self.cr > self.bag_of_words or self.cr == 1


def check_baseline(
    wfa: WFA,
    model: PrefixClassifier,
    corpus: Corpus,
    seed: int,
) -> BaselineCheck | None:
    """Compare an automaton with a bag of words fitted on the other extraction texts; None if there are too few texts.

    `corpus` and `seed` are those of the extraction. The texts are those that linear and readable automata were not
    fitted to. A stochastic automaton has seen them, so it may look better than it is, never worse.
    """
    _, ids = model.encoder.encode(corpus.texts).nonempty()
    if len(ids) < 2 or is_language_model(model):  # what comes next is a matter of order: n-grams are its stand-ins
        return None
    held, known = divided(ids, seed)
    if len(held) < _FEWEST:
        return None
    most = min(_MOST_FITTED, _MOST_NUMBERS // len(model.class_names))
    if len(known) > most:
        known = known.take(np.sort(np.random.default_rng(seed).permutation(len(known))[:most]))
    said, taught = last_outputs(model, held), last_outputs(model, known)
    guessed = bag_of_words(known, taught.astype(np.float64), held, len(model.encoder.vocabulary))
    label = said.argmax(1)
    return BaselineCheck(
        len(held), float(np.mean(wfa.predict_indices(held) == label)), float(np.mean(guessed.argmax(1) == label))
    )
