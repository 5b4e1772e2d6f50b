"""Pairs of words that act alike but differ in meaning, or the other way round, and sentences that show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.errors import InputError
from wfalens.explanation.word_pairs import PAIR_KINDS, Pairs, word_pairs
from wfalens.models.inference import last_outputs
from wfalens.ragged import Ragged
from wfalens.report.study import Study, short

_SWAPPED_TEXTS = 200
_SHOWN_TEXTS = 5


def contrast(
    study: Study,
    *,
    per_class: int = 12,
) -> dict[str, Any]:
    """Both kinds of pairs, bounds by quantiles of the distances over random pairs.

    Where there are a network and texts, every pair is swapped in texts, and pairs come by their verified effect on the
    network: adversarial pairs by the largest effect, collaborative ones by the smallest. Pairs in no text come last.
    """
    found = {
        kind: word_pairs(study.wfa, study.meanings, kind, per_class=per_class, min_count=study.usual_count)
        for kind in PAIR_KINDS
    }
    return {
        "class_names": list(study.wfa.class_names),
        "unit": study.wfa.unit,
        "vectors": study.meanings.source,
        "verified": study.model is not None and study.corpus is not None,
        **{kind: _as_json(study, pairs) for kind, pairs in found.items()},
    }


def _as_json(
    study: Study,
    pairs: Pairs,
) -> dict[str, Any]:
    verified = _verified(study, pairs)
    order = range(len(pairs.pairs)) if verified is None else _by_effect(verified, pairs.kind == "adversarial")
    return {
        "total": pairs.total,
        "words": pairs.words,
        "epsilon": round(pairs.epsilon, 6),
        "delta": round(pairs.delta, 6),
        "pairs": [
            {
                "first": pair.first,
                "second": pair.second,
                "d_T": round(pair.transition_distance, 5),
                "d_S": round(pair.semantic_distance, 5),
                "first_influence": short(pair.first_influence, 3),
                "second_influence": short(pair.second_influence, 3),
                "verified": None if verified is None else verified[at],
            }
            for at, pair in ((at, pairs.pairs[at]) for at in order)
        ],
    }


def _verified(
    study: Study,
    pairs: Pairs,
) -> list[dict[str, Any]] | None:
    """What the network does when the words of each pair are swapped; None without network or texts."""
    if study.model is None or study.corpus is None:
        return None
    progress.start("swapping pairs in texts", len(pairs.pairs))
    found = []
    for pair in pairs.pairs:
        swapped = _swapped(study, pair.first, pair.second)
        found.append({"texts": swapped.texts, "changed": len(swapped.changed), "effect": swapped.effect})
        progress.advance()
    progress.finish()
    return found


def _by_effect(verified: list[dict[str, Any]], largest_first: bool) -> list[int]:
    """Pairs that texts hold first, by their effect."""
    sign = -1 if largest_first else 1
    return sorted(
        range(len(verified)),
        key=lambda at: (verified[at]["effect"] is None, sign * (verified[at]["effect"] or 0.0)),
    )


@dataclass(frozen=True, eq=False)
class _Swapped:
    """Texts before and after one word was put in for another, and the network's outputs."""

    before: Ragged[np.int32]
    was: NDArray[np.float32]  # (texts, classes)
    became: NDArray[np.float32]

    @property
    def texts(self) -> int:
        return len(self.before)

    @property
    def changed(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.was.argmax(1) != self.became.argmax(1))

    @property
    def effect(self) -> float | None:
        """The mean total variation between the outputs; None without texts."""
        return round(float(np.abs(self.was - self.became).sum(1).mean()) / 2, 4) if self.texts else None


def _swapped(study: Study, first: str, second: str) -> _Swapped:
    vocabulary = study.wfa.encoder.vocabulary
    old, new = vocabulary.id_of(first), vocabulary.id_of(second)
    before = study.encoded.take(np.array(study.texts_with(old, _SWAPPED_TEXTS), np.int64))
    after = Ragged(np.where(before.values == old, np.int32(new), before.values), before.offsets)
    if len(before) == 0:
        nothing = np.zeros((0, len(study.wfa.class_names)), np.float32)
        return _Swapped(before, nothing, nothing)
    return _Swapped(before, *(last_outputs(study.classifier, ids) for ids in (before, after)))


def swaps(study: Study, first: str, second: str) -> dict[str, Any]:
    """Texts that hold `first`: how often replacing it by `second` changes the model's class, and examples."""
    vocabulary, names = study.wfa.encoder.vocabulary, study.wfa.class_names
    for word in (first, second):
        if word not in vocabulary:
            raise InputError(f"the automaton does not know the word {word!r}", code="unknown-word")
    found, old = _swapped(study, first, second), vocabulary.id_of(first)
    return {
        "first": first,
        "second": second,
        "texts": found.texts,
        "changed": len(found.changed),
        "examples": [
            {
                "words": [vocabulary.words[word] for word in found.before[at]],
                "at": np.flatnonzero(found.before[at] == old).tolist(),
                "before": names[int(found.was[at].argmax())],
                "before_probability": round(float(found.was[at].max()), 3),
                "after": names[int(found.became[at].argmax())],
                "after_probability": round(float(found.became[at].max()), 3),
            }
            for at in found.changed[:_SHOWN_TEXTS]
        ],
    }
