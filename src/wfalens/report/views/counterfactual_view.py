"""Single changes of a sentence that change a class: the network's, the automaton's, or both.

The automaton gives the effect of any word at any position at once. What it finds is then tried on the network.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.sweeps import forward_backward, replacement_outputs
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.influence import words_seen
from wfalens.models.inference import final_outputs
from wfalens.ragged import Ragged, concatenate
from wfalens.report.study import Study
from wfalens.text.character_edits import edited_texts, reads_characters

_POSITIONS = 24  # at which changes are looked for
_CANDIDATES = 4000
_TRIED = 250  # changes that the network reads at most
_TRIED_EDITS, _SHOWN_EDITS = 400, 60  # of characters


class Change(NamedTuple):
    """One word left out (`word` is None) or replaced, and the automaton's output then."""

    position: int
    word: int | None
    plausible: bool  # it is left out, or the two words are near in meaning
    automaton: NDArray[np.float64]  # (classes,)


def counterfactuals(study: Study, text: str) -> dict[str, Any]:
    """Changes that change the class of the automaton or of the network, position by position.

    At every position: the word left out, and for each class the most similar word and the surest one that lead there.
    """
    wfa = study.wfa
    words = wfa.encoder.tokens(text)
    if not words:
        raise InputError("the text has no words", code="no-words")
    if reads_characters(wfa.encoder):
        return _counterfactual_edits(study, text)
    ids = wfa.encoder.encode_tokens([words]).values
    forward, backward = forward_backward(wfa, ids)
    candidates, own = _candidates(study), wfa.probabilities(wfa.read_out(forward[-1:]))[0]
    without = wfa.probabilities(np.einsum("tn,tnc->tc", forward[:-1], backward[1:]))
    positions = np.sort(np.argsort(-np.abs(without - own).sum(1), kind="stable")[:_POSITIONS])
    near = _near(study, words)
    found: list[Change] = []
    for position in positions.tolist():
        found.append(Change(position, None, True, without[position]))
        here = near[words[position]]
        tried_here = np.union1d(candidates, np.array(list(here), np.int32)).astype(np.int32)
        changed = replacement_outputs(wfa, forward, backward, position, tried_here)
        found += _replacements(wfa, ids[position], position, tried_here, changed, here)
    tried = _spread(found)
    read = Ragged.from_lists([ids.tolist(), *(_changed(ids.tolist(), each) for each in tried)], np.int32)
    before, after = _decisions(study, np.array([own, *(each.automaton for each in tried)]), read)
    return {
        "text": text,
        "words": words,
        "before": before,
        "tried": {"positions": len(positions), "of": len(words), "words": len(candidates), "changes": len(tried)},
        "vectors": None if study.vectors is None else study.vectors.source,
        "changes": [
            {
                "position": change.position,
                "new": None if change.word is None else wfa.encoder.vocabulary.words[change.word],
                "plausible": change.plausible,
                **after[at],
            }
            for at, change in enumerate(tried)
            if at in after
        ],
    }


def _replacements(
    wfa: WFA,
    own: np.int32,
    position: int,
    candidates: NDArray[np.int32],
    changed: NDArray[np.float64],
    near: dict[int, float],
) -> Iterator[Change]:
    """For each class the surest word that leads there, and the one most similar to the old word, if one is similar."""
    outputs, decided, margins = wfa.probabilities(changed), wfa.decide(changed), wfa.margins(changed)
    similarity = np.array([near.get(int(word), -1.0) for word in candidates])
    for label in range(outputs.shape[1]):
        there = np.flatnonzero((decided == label) & (candidates != own))
        if len(there) == 0:
            continue
        best = there[[int(similarity[there].argmax()), int(margins[there].argmax())]]
        for at in dict.fromkeys(best.tolist()):
            word = int(candidates[at])
            if word in near or at == best[1]:
                yield Change(position, word, word in near, outputs[at])


def _spread(found: list[Change]) -> list[Change]:
    """As many as the network may read: all that leave a word out, then plausible ones, then the surest."""
    order = sorted(found, key=lambda each: (each.word is not None, not each.plausible, -float(each.automaton.max())))
    return sorted(order[:_TRIED], key=lambda each: (each.position, not each.plausible, each.word is not None))


def _decisions(
    study: Study, automaton: NDArray[np.float64], texts: Ragged[np.int32]
) -> tuple[dict[str, int], dict[int, dict[str, list[float]]]]:
    """Of automaton and network: the class of the first text, and for each other one, if one of these classes changes,
    the likeliest class and its probability.

    automaton: (texts, classes), its outputs
    """
    outputs = {"automaton": automaton}
    if study.model is not None:
        outputs["network"] = final_outputs(study.model, texts)
    before = {name: int(rows[0].argmax()) for name, rows in outputs.items()}
    flipped = np.any([rows[1:].argmax(1) != before[name] for name, rows in outputs.items()], axis=0)
    return before, {
        at: {name: [int(rows[at + 1].argmax()), round(float(rows[at + 1].max()), 3)] for name, rows in outputs.items()}
        for at in np.flatnonzero(flipped).tolist()
    }


def _candidates(study: Study) -> NDArray[np.int32]:
    """The words that move the output most, among those seen often enough."""
    ids = words_seen(study.wfa, study.usual_count)
    strength = study.influence.strength[np.isin(words_seen(study.wfa, 1), ids)]  # influence is of all words seen
    return np.sort(ids[np.argsort(-strength, kind="stable")[:_CANDIDATES]])


def _near(study: Study, words: list[str]) -> dict[str, dict[int, float]]:
    """For each word the ids of words of similar meaning, with the cosine of their vectors; empty without vectors."""
    found: dict[str, dict[int, float]] = {word: {} for word in words}
    if study.vectors is None:
        return found
    pairs, known = study.nearness.pairs(words), study.nearness.words
    for first, second, distance in zip(pairs.first, pairs.second, pairs.distance, strict=True):
        number = study.wfa.encoder.vocabulary.id_of(known[second])
        found[known[first]][number] = 1 - float(distance)
    return found


def _changed(ids: list[int], change: Change) -> list[int]:
    replacement = [] if change.word is None else [change.word]
    return [*ids[: change.position], *replacement, *ids[change.position + 1 :]]


def _counterfactual_edits(study: Study, text: str) -> dict[str, Any]:
    """All single edits are read by the automaton, those that hurt its class most by the network; the surest first."""
    wfa, own = study.wfa, study.wfa.ids([text])
    found = edited_texts(wfa.encoder, text)
    outputs = wfa.predict_proba(concatenate([own, found.ids]))
    order = np.argsort(outputs[1:, outputs[0].argmax()], kind="stable")[:_TRIED_EDITS]
    before, after = _decisions(study, outputs[[0, *(order + 1)]], concatenate([own, found.ids.take(order)]))
    return {
        "text": text,
        "before": before,
        "tried": {"edits": len(found), "changes": len(order)},
        "edits": [
            {**asdict(found.edits[int(order[at])]), **decisions}
            for at, decisions in islice(after.items(), _SHOWN_EDITS)
        ],
    }
