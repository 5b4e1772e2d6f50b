"""Markov decision processes as AALpy reads them."""

import numpy as np
import pytest

from tests.export.conformance import ExporterConformance, by_matrices, symbol_words, write
from wfalens.export import escape, subset, unescape
from wfalens.export.symbols import CLASS


class TestAalpy(ExporterConformance):
    """Class weights have no place in this format: they are ours."""

    def reading(self, wfa, folder, **choice):
        pytest.importorskip("aalpy", reason="needs AALpy")
        from aalpy.utils import load_automaton_from_file

        path = write(wfa, folder, "aalpy", "model.dot", **choice)
        mdp = load_automaton_from_file(str(path), "mdp")
        (table,) = folder.glob("*.syms")
        words = symbol_words(table)
        assert {unescape(name) for name in mdp.get_input_alphabet()} == set(words)
        number = {word: at for at, word in enumerate(words)}
        place = {state.state_id: at for at, state in enumerate(mdp.states)}
        matrices = np.zeros((len(words), len(place), len(place)))
        for state in mdp.states:
            for name, targets in state.transitions.items():
                for target, weight in targets:
                    matrices[number[unescape(name)], place[state.state_id], place[target.state_id]] = weight
        part = subset(wfa, **choice)
        for state, label in zip(mdp.states, part.decided, strict=True):
            says = "lost" if label < 0 else escape(wfa.class_names[label], CLASS)
            assert state.output == f"{state.state_id}__{says}"
        initial = np.eye(len(place))[place[mdp.initial_state.state_id]]
        return by_matrices(words, matrices, initial, part.final)
