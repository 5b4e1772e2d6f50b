"""The automaton as a graph of networkx."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wfalens.errors import MissingDependencyError
from wfalens.export.subset import Subset

if TYPE_CHECKING:
    import networkx


def to_networkx(part: Subset) -> networkx.MultiDiGraph[int]:
    """Nodes are states, edges are transitions: keyed by their word, with its `weight`. Holds both kinds.

    A node has its number in the automaton (`state`, -1 for the lost one), its share of `initial`, and its
    `class_weights` by class name; the graph has `kind`, `class_names` and `words`.
    """
    try:
        import networkx
    except ImportError:
        raise MissingDependencyError("networkx", "graph") from None

    graph: Any = networkx.MultiDiGraph(kind=part.kind, class_names=part.class_names, words=part.words)
    for place, (state, initial, weights) in enumerate(
        zip(part.states.tolist(), part.initial.tolist(), part.final.tolist(), strict=True)
    ):
        named = dict(zip(part.class_names, weights, strict=True))
        graph.add_node(place, state=state, initial=initial, class_weights=named)
    columns = (part.source.tolist(), part.target.tolist(), part.word.tolist(), part.weight.tolist())
    graph.add_edges_from(
        (source, target, part.words[word], {"word": part.words[word], "weight": weight})
        for source, target, word, weight in zip(*columns, strict=True)
    )
    return graph
