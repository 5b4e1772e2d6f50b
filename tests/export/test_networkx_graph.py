"""Graphs as networkx reads them."""

import numpy as np
import pytest

from tests.automata import sample
from tests.export.conformance import ExporterConformance, by_matrices
from tests.readable import negation
from wfalens.export import subset, to_networkx


class TestNetworkx(ExporterConformance):
    holds_linear = True

    def reading(self, wfa, folder, **choice):
        networkx = pytest.importorskip("networkx", reason="needs the extra graph")
        graph = to_networkx(subset(wfa, **choice))
        words = graph.graph["words"]
        matrices = np.array(
            [
                networkx.to_numpy_array(graph.edge_subgraph(edges), nodelist=range(len(graph))) if edges else None
                for edges in self.edges_by_word(graph, words)
            ]
        )
        initial = np.array([share for _, share in graph.nodes(data="initial")])
        final = [[weights[name] for name in wfa.class_names] for _, weights in graph.nodes(data="class_weights")]
        return by_matrices(words, matrices, initial, np.array(final))

    def test_states_and_classes_of_words_have_their_names(self):
        pytest.importorskip("networkx", reason="needs the extra graph")
        wfa = negation().wfa
        graph = to_networkx(subset(wfa))
        assert [name for _, name in graph.nodes(data="name")] == list(wfa.names.states)
        for *_, word, kind in graph.edges(keys=True, data="word_class"):
            assert wfa.walk(word).word_classes == (kind,)
        assert "name" not in to_networkx(subset(sample("fit", 0).wfa)).nodes[0]

    def edges_by_word(self, graph, words):
        found = {word: [] for word in words}
        for source, target, word in graph.edges(keys=True):
            found[word].append((source, target, word))
        return found.values()
