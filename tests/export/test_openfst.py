"""OpenFst text as pynini compiles and composes it."""

import math

import numpy as np
import pytest

from tests.export.conformance import ExporterConformance, Reading, symbol_words, write
from wfalens.export import escape


class TestOpenFst(ExporterConformance):
    def reading(self, wfa, folder, **choice):
        fst = pytest.importorskip("pywrapfst", reason="needs pynini")
        machines = []
        for number, name in enumerate(wfa.class_names):
            path = write(wfa, folder, "openfst", f"model{number}.txt", class_name=name, **choice)
            symbols = fst.SymbolTable.read_text(f"{path}.syms")
            compiler = fst.Compiler(arc_type="log64", acceptor=True, isymbols=symbols, osymbols=symbols)
            compiler.write(path.read_text())
            machines.append(compiler.compile().arcsort("ilabel"))

        words = symbol_words(folder / "model0.txt.syms")
        assert [symbols.find(number + 1) for number in range(len(words))] == [escape(word) for word in words]

        def weights(texts):
            lines = [[words.index(word) + 1 for word in text] for text in texts]
            costs = [[self.cost(fst, machine, line) for machine in machines] for line in lines]
            return np.exp(-np.array(costs))

        return Reading(words, self.matrices(machines[0], len(words)), weights)

    def cost(self, fst, machine, labels):
        """The weight of one text in the log semiring: the sum over all its paths."""
        line = fst.VectorFst("log64")
        at = line.add_state()
        line.set_start(at)
        for label in labels:
            after = line.add_state()
            line.add_arc(at, fst.Arc(label, label, fst.Weight.one("log64"), after))
            at = after
        line.set_final(at)
        paths = fst.compose(line, machine)
        if not paths.num_states():
            return math.inf
        return self.exact(fst, fst.shortestdistance(paths, reverse=True)[paths.start()])

    def exact(self, fst, weight):
        """All digits of a weight: it shows nine, and what is left when those are taken away."""
        shown = float(weight)
        if math.isinf(shown):
            return shown
        return shown + float(fst.divide(weight, fst.Weight("log64", repr(shown))))

    def matrices(self, machine, words):
        fst = pytest.importorskip("pywrapfst", reason="needs pynini")
        matrices = np.zeros((words, machine.num_states(), machine.num_states()))
        for state in machine.states():
            for arc in machine.arcs(state):
                matrices[arc.ilabel - 1, state, arc.nextstate] = math.exp(-self.exact(fst, arc.weight))
        return matrices
