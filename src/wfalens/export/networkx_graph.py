"""The automaton as a graph of networkx."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wfalens.errors import naming_extras
from wfalens.export.subset import Subset

if TYPE_CHECKING:
    import networkx


def to_networkx(part: Subset) -> networkx.MultiDiGraph[int]:
    """Nodes are states, edges are transitions: keyed by their word, with its `weight`. Holds both kinds.

    A node has its number in the automaton (`state`, -1 for the lost one), its share of `initial`, and its
    `class_weights` by class name, and its `name` if it has one; the graph has `kind`, `class_names` and `words`. Where
    words share rows, an edge also has its `word_class`.
    """
    with naming_extras():
        import networkx

    graph: Any = networkx.MultiDiGraph(kind=part.kind, class_names=part.class_names, words=part.words)
    for place, (state, initial, weights) in enumerate(
        zip(part.states.tolist(), part.initial.tolist(), part.final.tolist(), strict=True)
    ):
        named = dict(zip(part.class_names, weights, strict=True))
        names = {} if part.state_names is None else {"name": part.state_names[place]}
        graph.add_node(place, state=state, initial=initial, class_weights=named, **names)
    columns = (part.source.tolist(), part.target.tolist(), part.word.tolist(), part.weight.tolist())
    graph.add_edges_from(
        (source, target, part.words[word], {"word": part.words[word], "weight": weight, **_class_of(part, word)})
        for source, target, word, weight in zip(*columns, strict=True)
    )
    return graph


def _class_of(part: Subset, word: int) -> dict[str, str]:
    if part.word_classes is None or part.class_of_word is None:
        return {}
    return {"word_class": part.word_classes[int(part.class_of_word[word])]}
