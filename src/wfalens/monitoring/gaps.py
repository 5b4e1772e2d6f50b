"""Texts that exercise what a set of texts leaves out, and what the network makes of them.

A real text that passes the state in question gets a word of the missing class there. Random texts of the same lengths,
drawn from the words of the set, are asked beside them. A *finding* is a text on which the network contradicts an
automaton that is sure of its class: one of the two is wrong there, and the text is worth reading.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.monitoring.coverage import Coverage
from wfalens.monitoring.walks import Walks
from wfalens.ragged import Ragged
from wfalens.text.vocabulary import UNKNOWN

if TYPE_CHECKING:
    import pandas as pd

SURE = 0.5  # the automaton's margin from which on a contradiction is a finding


@dataclass(frozen=True)
class GapText:
    """A text that exercises a transition which the set leaves out."""

    words: tuple[str, ...]
    at: int  # the position of the word that was put in
    state: str
    word_class: str
    label: str  # the network's class
    copy_label: str  # the automaton's class
    finding: bool


@dataclass(frozen=True)
class Gaps:
    """Texts that fill gaps, and how many findings they bring beside random texts."""

    texts: tuple[GapText, ...]
    unreached: int  # missing transitions whose state no text passes
    per_thousand: float | None  # findings in 1,000 texts that fill gaps
    random_per_thousand: float | None  # the same of random texts of the same lengths

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "texts": [{**asdict(each), "words": " ".join(each.words)} for each in self.texts]}

    def to_dataframe(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self.to_json()["texts"])


def fill_gaps(
    wfa: WFA, model: PrefixClassifier, covered: Coverage, ids: Ragged[np.int32], most: int, seed: int = 0
) -> Gaps:
    """Texts for the most frequent transitions that are missing, several for each where there are few.

    ids: the texts of the set, none of them empty
    """
    rng = np.random.default_rng(seed)
    walks = Walks.of(covered.wfa, ids)
    made, unreached = _made(covered, walks, most, rng)
    if not made:
        return Gaps((), unreached, None, None)
    texts = Ragged.from_lists([ids.tolist() for ids, *_ in made], np.int32)
    known = ids.values[ids.values > UNKNOWN]
    random = Ragged(rng.choice(known, len(texts.values)).astype(np.int32), texts.offsets)
    outputs = final_outputs(model, texts)
    weights = wfa.prediction_weights(texts)
    finding = _findings(wfa, weights, outputs)
    random_finding = _findings(wfa, wfa.prediction_weights(random), final_outputs(model, random))
    vocabulary, names = wfa.encoder.vocabulary, covered.names
    copy_labels = wfa.probabilities(weights).argmax(1)
    found = tuple(
        GapText(
            tuple(vocabulary.decode(text)),
            at,
            names.states[state],
            names.classes[group].name,
            wfa.class_names[int(outputs[number].argmax())],
            wfa.class_names[int(copy_labels[number])],
            bool(finding[number]),
        )
        for number, (text, at, group, state) in enumerate(made)
    )
    return Gaps(found, unreached, 1000 * float(finding.mean()), 1000 * float(random_finding.mean()))


def _made(
    covered: Coverage, walks: Walks, most: int, rng: np.random.Generator
) -> tuple[list[tuple[NDArray[np.int32], int, int, int]], int]:
    """Texts with the position, class and state that they exercise, and the number of gaps that nothing reaches."""
    text_of = walks.ids.item_of_value()
    words_of = _known_words(covered)
    places = [np.flatnonzero(walks.states == state) for state in range(covered.wfa.states)]
    reachable = [(group, state) for group, state in covered.missing if len(places[state]) and len(words_of[group])]
    made = []
    for number in range(most if reachable else 0):
        group, state = reachable[number % len(reachable)]
        token = int(rng.choice(places[state]))
        text = int(text_of[token])
        at = token - int(walks.ids.offsets[text])
        changed = walks.ids[text].copy()
        changed[at] = rng.choice(words_of[group])
        made.append((changed, at, group, state))
    return made, len(covered.missing) - len(reachable)


def _known_words(covered: Coverage) -> list[NDArray[np.int32]]:
    """The words of each class that were seen in extraction."""
    wfa = covered.wfa
    seen = np.flatnonzero(wfa.word_counts > 0)
    seen = seen[seen > UNKNOWN]
    of_word = wfa.row_set[seen]
    groups = covered.transition_visits.shape[0]
    return [seen[of_word == group].astype(np.int32) for group in range(groups)]


def _findings(wfa: WFA, weights: NDArray[np.float64], outputs: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray((wfa.margins(weights) >= SURE) & (wfa.decide(weights) != outputs.argmax(1)))
