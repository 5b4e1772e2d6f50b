"""Explanations of texts, words and phrases."""

from wfalens.explanation.artefacts import Artefact, Artefacts, find_artefacts
from wfalens.explanation.attribution import Attribution, to_shap
from wfalens.explanation.counterfactuals import (
    Counterfactual,
    Counterfactuals,
    Replacement,
    Replacements,
    alternatives,
    best_replacements,
    counterfactuals,
)
from wfalens.explanation.description import Description, Statement, describe
from wfalens.explanation.embeddings import (
    Neighbours,
    ReducedEmbeddings,
    TransitionEmbeddings,
    WordMaps,
    nearness_of,
    neighbours,
    word_maps,
)
from wfalens.explanation.explain import explain
from wfalens.explanation.importance import (
    Importance,
    Occurrences,
    pair_importance,
    rank_correlation,
    word_importance,
    word_occurrences,
)
from wfalens.explanation.influence import Influence, influence, phrase_influence
from wfalens.explanation.interop import WFAExplainer, word_table
from wfalens.explanation.moves import MoveTable, moves
from wfalens.explanation.phrases import DecidingPhrases, deciding_phrases
from wfalens.explanation.shapley import Interactions, banzhaf, interactions, network_shapley, shapley, shapley_each
from wfalens.explanation.word_pairs import Pair, Pairs, adversarial_pairs, collaborative_pairs, word_pairs

__all__ = [
    "Artefact",
    "Artefacts",
    "Attribution",
    "Counterfactual",
    "Counterfactuals",
    "DecidingPhrases",
    "Description",
    "Importance",
    "Influence",
    "Interactions",
    "MoveTable",
    "Neighbours",
    "Occurrences",
    "Pair",
    "Pairs",
    "ReducedEmbeddings",
    "Replacement",
    "Replacements",
    "Statement",
    "TransitionEmbeddings",
    "WFAExplainer",
    "WordMaps",
    "adversarial_pairs",
    "alternatives",
    "banzhaf",
    "best_replacements",
    "collaborative_pairs",
    "counterfactuals",
    "deciding_phrases",
    "describe",
    "explain",
    "find_artefacts",
    "influence",
    "interactions",
    "moves",
    "nearness_of",
    "neighbours",
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
    "word_pairs",
    "word_table",
]
