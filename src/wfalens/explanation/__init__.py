"""What the automaton says about words and texts."""

from wfalens.explanation.attribution import Attribution, Replacement, attribute, best_replacements
from wfalens.explanation.contrast import adversarial_pairs, collaborative_pairs
from wfalens.explanation.embeddings import ReducedEmbeddings, TransitionEmbeddings
from wfalens.explanation.influence import Influence, influence, phrase_influence
from wfalens.explanation.maps import WordMaps, word_maps
from wfalens.explanation.pairs import Pair, Pairs
from wfalens.explanation.result import Explanation
from wfalens.explanation.shapley import Interactions, banzhaf, interactions, shapley, shapley_each

__all__ = [
    "Attribution",
    "Explanation",
    "Influence",
    "Interactions",
    "Pair",
    "Pairs",
    "ReducedEmbeddings",
    "Replacement",
    "TransitionEmbeddings",
    "WordMaps",
    "adversarial_pairs",
    "attribute",
    "banzhaf",
    "best_replacements",
    "collaborative_pairs",
    "influence",
    "interactions",
    "phrase_influence",
    "shapley",
    "shapley_each",
    "word_maps",
]
