"""What the automaton says about words and texts."""

from wfalens.explanation.artefacts import Artefact, Artefacts, find_artefacts
from wfalens.explanation.attribution import Attribution, Replacement, attribute, best_replacements
from wfalens.explanation.contrast import adversarial_pairs, collaborative_pairs
from wfalens.explanation.counterfactuals import Counterfactual, Counterfactuals, counterfactuals
from wfalens.explanation.embeddings import ReducedEmbeddings, TransitionEmbeddings
from wfalens.explanation.explanation import Explanation
from wfalens.explanation.importance import Importance, pair_importance, rank_correlation, word_importance
from wfalens.explanation.influence import Influence, influence, phrase_influence
from wfalens.explanation.interop import WFAExplainer, to_shap, word_table
from wfalens.explanation.moves import MoveTable, moves
from wfalens.explanation.near_words import nearness_of
from wfalens.explanation.occurrences import Occurrences, word_occurrences
from wfalens.explanation.phrases import DecidingPhrases, deciding_phrases
from wfalens.explanation.shapley import (
    Interactions,
    NetworkExplanation,
    banzhaf,
    interactions,
    network_shapley,
    shapley,
    shapley_each,
)
from wfalens.explanation.story import Sentence, Story, describe
from wfalens.explanation.word_maps import WordMaps, word_maps
from wfalens.explanation.word_pairs import Pair, Pairs

__all__ = [
    "Artefact",
    "Artefacts",
    "Attribution",
    "Counterfactual",
    "Counterfactuals",
    "DecidingPhrases",
    "Explanation",
    "Importance",
    "Influence",
    "Interactions",
    "MoveTable",
    "NetworkExplanation",
    "Occurrences",
    "Pair",
    "Pairs",
    "ReducedEmbeddings",
    "Replacement",
    "Sentence",
    "Story",
    "TransitionEmbeddings",
    "WFAExplainer",
    "WordMaps",
    "adversarial_pairs",
    "attribute",
    "banzhaf",
    "best_replacements",
    "collaborative_pairs",
    "counterfactuals",
    "deciding_phrases",
    "describe",
    "find_artefacts",
    "influence",
    "interactions",
    "moves",
    "nearness_of",
    "network_shapley",
    "pair_importance",
    "phrase_influence",
    "rank_correlation",
    "shapley",
    "shapley_each",
    "to_shap",
    "word_importance",
    "word_maps",
    "word_occurrences",
    "word_table",
]
