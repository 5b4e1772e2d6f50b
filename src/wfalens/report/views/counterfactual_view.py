"""Single changes of a sentence that change a class: the network's, the automaton's, or both.

The automaton gives the effect of any word at any position at once. What it finds is then tried on the network.
"""

from __future__ import annotations

from collections.abc import Iterator
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
from wfalens.text.character_edits import Edit, edited_texts, reads_characters

_POSITIONS = 24  # at which changes are looked for
_CANDIDATES = 4000
_TRIED = 250  # changes that the network reads at most
_TRIED_EDITS, _SHOWN_EDITS = 400, 60  # of characters


class Change(NamedTuple):
    """One word left out (`word` is None) or replaced, and the automaton's output then."""

    position: int
    word: int | None
    similarity: float | None  # cosine of the two words' vectors, if they are near in meaning
    automaton: NDArray[np.float64]  # (classes,)

    @property
    def plausible(self) -> bool:
        return self.word is None or self.similarity is not None


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
    ids = wfa.encoder.vocabulary.encode([words]).values
    forward, backward = forward_backward(wfa, ids)
    candidates, own = _candidates(study), wfa.probabilities(wfa.read_out(forward[-1:]))[0]
    without = wfa.probabilities(np.einsum("tn,tnc->tc", forward[:-1], backward[1:]))
    positions = np.sort(np.argsort(-np.abs(without - own).sum(1), kind="stable")[:_POSITIONS])
    near = _near(study, words)
    found: list[Change] = []
    for position in positions.tolist():
        found.append(Change(position, None, None, without[position]))
        here = near[words[position]]
        tried_here = np.union1d(candidates, np.array(list(here), np.int32)).astype(np.int32)
        changed = replacement_outputs(wfa, forward, backward, position, tried_here)
        found += _replacements(wfa, ids[position], position, tried_here, changed, here)
    tried = _spread(found)
    outputs = _network(study, [ids, *(_changed(ids, each) for each in tried)])
    before = {"automaton": int(own.argmax()), **({} if outputs is None else {"network": int(outputs[0].argmax())})}
    return {
        "text": text,
        "words": words,
        "before": before,
        "tried": {"positions": len(positions), "of": len(words), "words": len(candidates), "changes": len(tried)},
        "vectors": None if study.vectors is None else study.vectors.source,
        "changes": [
            _as_json(study, each, None if outputs is None else outputs[at + 1])
            for at, each in enumerate(tried)
            if _changes_class(each, None if outputs is None else outputs[at + 1], before)
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
                yield Change(position, word, near.get(word), outputs[at])


def _spread(found: list[Change]) -> list[Change]:
    """As many as the network may read: all that leave a word out, then plausible ones, then the surest."""
    order = sorted(found, key=lambda each: (each.word is not None, not each.plausible, -float(each.automaton.max())))
    return sorted(order[:_TRIED], key=lambda each: (each.position, not each.plausible, each.word is not None))


def _changes_class(change: Change, network: NDArray[np.float64] | None, before: dict[str, int]) -> bool:
    """Whether the class of automaton or network changes."""
    flipped = int(change.automaton.argmax()) != before["automaton"]
    return flipped or (network is not None and int(network.argmax()) != before["network"])


def _as_json(study: Study, change: Change, network: NDArray[np.float64] | None) -> dict[str, Any]:
    return {
        "position": change.position,
        "new": None if change.word is None else study.wfa.encoder.vocabulary.words[change.word],
        "plausible": change.plausible,
        "automaton": _decision(change.automaton),
        **({} if network is None else {"network": _decision(network)}),
    }


def _decision(output: NDArray[np.float64]) -> list[float]:
    """The likeliest class and its probability."""
    return [int(output.argmax()), round(float(output.max()), 3)]


def _candidates(study: Study) -> NDArray[np.int32]:
    """The words that move the output most, among those seen often enough."""
    wfa = study.wfa
    ids = words_seen(wfa, study.usual_count)
    if len(ids) <= _CANDIDATES:
        return ids
    scores = study.influence
    strength = dict(zip(scores.words, scores.strength.tolist(), strict=True))
    power = np.array([strength[word] for word in wfa.encoder.vocabulary.decode(ids)])
    return np.sort(ids[np.argsort(-power, kind="stable")[:_CANDIDATES]])


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


def _changed(ids: NDArray[np.int32], change: Change) -> NDArray[np.int32]:
    if change.word is None:
        return np.delete(ids, change.position)
    changed = ids.copy()
    changed[change.position] = change.word
    return changed


def _network(study: Study, texts: list[NDArray[np.int32]]) -> NDArray[np.float64] | None:
    """The network's last outputs, or None without one; -> (texts, classes)"""
    if study.model is None:
        return None
    lengths = np.array([len(text) for text in texts])
    return final_outputs(study.model, Ragged.from_lengths(np.concatenate(texts), lengths))


def _counterfactual_edits(study: Study, text: str) -> dict[str, Any]:
    """All single edits are read by the automaton, those that hurt its class most by the network; the surest first."""
    wfa, own = study.wfa, study.wfa.ids([text])
    found = edited_texts(wfa.encoder, text)
    outputs = wfa.predict_proba(concatenate([own, found.ids]))
    before = {"automaton": int(outputs[0].argmax())}
    order = np.argsort(outputs[1:, before["automaton"]], kind="stable")[:_TRIED_EDITS]
    by_model = {"automaton": outputs[1:][order]}
    if study.model is not None:
        network = final_outputs(study.model, concatenate([own, found.ids.take(order)]))
        by_model["network"] = network[1:]
        before["network"] = int(network[0].argmax())
    flipped = np.any([rows.argmax(1) != before[name] for name, rows in by_model.items()], axis=0)
    return {
        "text": text,
        "before": before,
        "tried": {"edits": len(found), "changes": len(order)},
        "edits": [
            _edit_as_json(found.edits[int(order[at])], {name: rows[at] for name, rows in by_model.items()})
            for at in np.flatnonzero(flipped)[:_SHOWN_EDITS]
        ],
    }


def _edit_as_json(edit: Edit, outputs: dict[str, NDArray[np.float64]]) -> dict[str, Any]:
    about = {"kind": edit.kind, "position": edit.position, "old": edit.old, "new": edit.new, "text": edit.text}
    return about | {name: _decision(row) for name, row in outputs.items()}
