"""What the automaton says about words and texts."""

from wfalens.explanation.attribution import Attribution, Replacement, attribute, best_replacements
from wfalens.explanation.contrast import adversarial_pairs, collaborative_pairs
from wfalens.explanation.embeddings import ReducedEmbeddings, TransitionEmbeddings
from wfalens.explanation.influence import Influence, influence, phrase_influence
from wfalens.explanation.maps import WordMaps, word_maps
from wfalens.explanation.pairs import Pair, Pairs

__all__ = [
    "Attribution",
    "Influence",
    "Pair",
    "Pairs",
    "ReducedEmbeddings",
    "Replacement",
    "TransitionEmbeddings",
    "WordMaps",
    "adversarial_pairs",
    "attribute",
    "best_replacements",
    "collaborative_pairs",
    "influence",
    "phrase_influence",
    "word_maps",
]
