"""DOT as Graphviz reads it."""

import json
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from tests.automata import sample
from tests.export.conformance import ExporterConformance, by_matrices, renamed, write
from tests.readable import negation
from wfalens.export import subset, to_dot, unescape
from wfalens.export.symbols import CLASS, WORD

DOT = shutil.which("dot")


def read_weights(attribute, prefix=WORD):
    """The words of an edge, or the classes of a state, and their weights."""
    pairs = [pair.split("=") for pair in attribute.split()]
    return {unescape(name, prefix): float(weight) for name, weight in pairs}


class TestDot(ExporterConformance):
    holds_linear = True

    def reading(self, wfa, folder, **choice):
        if DOT is None:
            pytest.skip("needs Graphviz")
        path = write(wfa, folder, "dot", "model.dot", flows=None, **choice)
        # osage places the nodes at once, whatever the edges: a layout for the eye takes minutes for thousands of them
        command = [DOT, "-Kosage", "-Tdot_json", str(path)]
        drawn = subprocess.run(command, capture_output=True, text=True, check=True)
        graph = json.loads(drawn.stdout)
        nodes = graph["objects"]
        assert [node["name"] for node in nodes] == [f"s{place}" for place in range(len(nodes))]
        words = subset(wfa, **choice).words
        matrices = np.zeros((len(words), len(nodes), len(nodes)))
        number = {word: at for at, word in enumerate(words)}
        for edge in graph["edges"]:
            for word, weight in read_weights(edge["weights"]).items():
                matrices[number[word], edge["tail"], edge["head"]] = weight
        final = [[read_weights(node["weights"], CLASS)[name] for name in wfa.class_names] for node in nodes]
        initial = np.array([float(node["initial"]) for node in nodes])
        return by_matrices(words, matrices, initial, np.array(final))

    def test_the_strongest_moves_are_drawn_between_the_states_that_they_touch(self):
        part = subset(sample("fit", 0).wfa)
        pattern = r'(s\d) -> (s\d) \[label="(.*?)", penwidth=\S+, flow="(\S+)", weights="(.*?)"'
        few, every = to_dot(part, 3), to_dot(part, None)
        edges = re.findall(pattern, every)
        flows = [float(flow) for *_, flow, _ in edges]
        assert flows == sorted(flows, reverse=True)
        assert sum(flows) == pytest.approx(1)  # u and p are shares
        moves = [edge for edge in edges if edge[0] != edge[1]][:3]
        assert re.findall(pattern, few) == moves
        touched = {"s0", *(end for edge in moves for end in edge[:2])}
        assert set(re.findall(r"^  (s\d) \[", few, re.MULTILINE)) == touched
        assert len(touched) < len(part.states)

    def test_an_edge_shows_the_words_that_favour_it(self):
        wfa = renamed(sample("fit", 1, n=2, words=4).wfa, ["often", "telling"])
        part = subset(wfa, ["often", "telling"])
        both = {"often": [[0.7, 0.3], [0.5, 0.5]], "telling": [[0.2, 0.8], [0.5, 0.5]]}
        weight = np.array(
            [both[part.words[w]][i][j] for i, w, j in zip(part.source, part.word, part.target, strict=True)]
        )
        part = replace(part, weight=weight, word_counts=np.array([90, 10]), state_frequencies=np.array([1.0, 0.0]))
        drawing = to_dot(part, None, words_shown=1)
        assert 's0 -> s0 [label="often 0.7"' in drawing
        assert 's0 -> s1 [label="telling 0.8"' in drawing
        assert f'flow="{0.9 * 0.3 + 0.1 * 0.8!r}"' in drawing

    def test_words_are_shown_as_they_are(self):
        if DOT is None:
            pytest.skip("needs Graphviz")
        words = ['say "no"', "C:\\new", "&lt;", "<b>", "\\N", "emoji👍", "a\nb"]
        text = to_dot(subset(renamed(sample("fit", 0).wfa, words)), None, words_shown=len(words))
        drawing = subprocess.run([DOT, "-Tsvg"], input=text, capture_output=True, text=True, check=True).stdout
        for shown in ("say &quot;no&quot;", "C:\\new", "&amp;lt;", "&lt;b&gt;", "\\N", "emoji👍", "a�b"):
            assert shown in drawing, shown

    def test_states_are_shown_by_their_names_where_they_have_some(self):
        wfa = negation().wfa
        drawing = to_dot(subset(wfa), None)
        for name in wfa.names.states:
            assert f'label="{name}\\n' in drawing
        long = negation(class_names=("x" * 10_000, 'say "no"\\n')).wfa
        drawing = to_dot(subset(long), None)
        assert max(map(len, re.findall(r's\d \[label="(.*?)\\n', drawing))) < 80
        assert 'sure say \\"no\\"\\\\n' in drawing
