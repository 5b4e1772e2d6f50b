"""Explanations of texts, words and phrases."""

from wfalens.explanation.attribution import Attribution, to_shap
from wfalens.explanation.counterfactuals import alternatives, best_replacements, counterfactuals
from wfalens.explanation.embeddings import TransitionEmbeddings, WordMaps, nearness_of, neighbours, word_maps
from wfalens.explanation.explain import explain
from wfalens.explanation.findings import Finding, Findings, findings
from wfalens.explanation.importance import (
    pair_importance,
    population_importance,
    rank_correlation,
    word_importance,
    word_occurrences,
)
from wfalens.explanation.influence import Influence, influence, phrase_influence
from wfalens.explanation.interop import WFAExplainer, word_table
from wfalens.explanation.moves import moves
from wfalens.explanation.opinion_line import OpinionLines, opinion_lines
from wfalens.explanation.phrases import deciding_phrases
from wfalens.explanation.shapley import banzhaf, interactions, n_shapley, network_shapley, shapley, shapley_each
from wfalens.explanation.word_pairs import word_pairs

__all__ = [
    "Attribution",
    "Finding",
    "Findings",
    "Influence",
    "OpinionLines",
    "TransitionEmbeddings",
    "WFAExplainer",
    "WordMaps",
    "alternatives",
    "banzhaf",
    "best_replacements",
    "counterfactuals",
    "deciding_phrases",
    "explain",
    "findings",
    "influence",
    "interactions",
    "moves",
    "n_shapley",
    "nearness_of",
    "neighbours",
    "network_shapley",
    "opinion_lines",
    "pair_importance",
    "phrase_influence",
    "population_importance",
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
