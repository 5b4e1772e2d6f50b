"""The words of an automaton that are near in meaning."""

from __future__ import annotations

from wfalens.automaton.wfa import WFA
from wfalens.explanation.embeddings import words_seen
from wfalens.text.similar_words import Nearness
from wfalens.text.word_vectors import WordVectors


def nearness_of(wfa: WFA, vectors: WordVectors, *, min_count: int = 1, spare_stop_words: bool = False) -> Nearness:
    """Nearness among the words that were seen at least `min_count` times in extraction."""
    found = Nearness.among(vectors, wfa.encoder.vocabulary.decode(words_seen(wfa, min_count)))
    return found.without_stop_words if spare_stop_words else found
