"""Which words and states are exported: checked here, at the border."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.linear import LinearWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.text.vocabulary import PADDING, UNKNOWN, UNKNOWN_WORD


def chosen_ids(wfa: WFA, words: Sequence[str] | None) -> NDArray[np.int32]:
    """Ids of the words, each of which must be in the alphabet once; all but padding by default."""
    vocabulary = wfa.encoder.vocabulary
    if words is None:
        return np.arange(UNKNOWN, len(vocabulary), dtype=np.int32)
    if isinstance(words, str):
        raise InputError("give a list of words; wrap a single word in a list")
    ids = np.array([vocabulary.id_of(word) for word in words], np.int32)
    for word, number in zip(words, ids, strict=True):
        if number == PADDING or (number == UNKNOWN and word != UNKNOWN_WORD):
            raise InputError(f"the word {word!r} is not in the automaton's alphabet; {UNKNOWN_WORD} stands for it")
    if len(set(words)) != len(words):
        raise InputError(f"the word {next(word for word in words if list(words).count(word) > 1)!r} is given twice")
    if not len(ids):
        raise InputError("no word is left to export")
    return ids


def chosen_states(wfa: WFA, states: Sequence[int] | None, threshold: float) -> NDArray[np.int64]:
    """The states in their order, 0 always among them; all by default, and of a linear automaton."""
    if not 0 <= threshold < 1:
        raise InputError(f"the threshold must lie in [0, 1), not {threshold}")
    chosen = np.arange(wfa.states) if states is None else np.unique(np.append(np.asarray(states, np.int64), 0))
    if chosen[0] < 0 or chosen[-1] >= wfa.states:
        raise InputError(f"states are numbered from 0 to {wfa.states - 1}")
    if wfa.kind == LinearWFA.kind and (threshold or len(chosen) < wfa.states):
        raise InputError(
            "a linear automaton's states are directions, none of which can be left out, and its small weights matter; "
            "export all states without a threshold"
        )
    return chosen


def frequent_words(wfa: WFA, top: int) -> list[str]:
    """`<unk>`, which any text may need, and the words that were seen most often in extraction."""
    counts = wfa.word_counts[UNKNOWN + 1 :]
    ranked = np.argsort(-counts, kind="stable")[:top]
    seen = ranked[counts[ranked] > 0] + UNKNOWN + 1
    return [UNKNOWN_WORD, *wfa.encoder.vocabulary.decode(seen.astype(np.int32))]


def with_unknown(words: Sequence[str] | None) -> Sequence[str] | None:
    """The words and `<unk>`, for a tool that must read any text; None stands for all."""
    return words if words is None or UNKNOWN_WORD in words else [UNKNOWN_WORD, *words]
