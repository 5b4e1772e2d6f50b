"""What is common to the formats that Storm builds a model of."""

import numpy as np

from tests.export.conformance import ExporterConformance, by_matrices, symbol_words
from wfalens.export import unescape
from wfalens.export.symbols import CLASS


class StormConformance(ExporterConformance):
    def read_model(self, wfa, model, words, places, folder):
        """Matrices by choice labels and rewards by class, from a model whose state i is the place `places[i]`."""
        n = max(places) + 1
        number = {word: at for at, word in enumerate(words)}
        matrices = np.tile(np.eye(n), (len(words), 1, 1))  # a state that cannot be reached says nothing of itself
        final = np.zeros((n, len(wfa.class_names)))
        for state in model.states:
            for action in state.actions:
                (name,) = action.labels
                row = matrices[number[unescape(name)], places[state.id]]
                row[:] = 0
                for entry in action.transitions:
                    row[places[entry.column]] = entry.value
        for name, reward in model.reward_models.items():
            label = wfa.class_names.index(unescape(name, CLASS))
            final[[places[state.id] for state in model.states], label] = reward.state_rewards
        (start,) = model.initial_states
        (table,) = folder.glob("*.syms")
        assert symbol_words(table) == tuple(words)
        return by_matrices(words, matrices, np.eye(n)[places[start]], final)
