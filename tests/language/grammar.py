"""Small language models whose every probability can be computed by hand."""

from itertools import product

import numpy as np

from wfalens.models.contract import END
from wfalens.ragged import Ragged
from wfalens.text import TextEncoder, Vocabulary

LETTERS = "abc"


class Grammar:
    """A deterministic automaton with a distribution over the next letter and the end in every state."""

    fingerprint = "grammar"

    def __init__(self, seed=0, states=3, letters=LETTERS, least_end=0.2):
        rng = np.random.default_rng(seed)
        self.encoder = TextEncoder(Vocabulary.of_words(letters), "characters")
        self.class_names = (*letters, END)
        self.targets = rng.integers(0, states, (states, len(letters) + 2))
        self.targets[:, :2] = np.arange(states)[:, None]  # padding and <unk> change nothing
        rows = rng.dirichlet(np.ones(len(letters)), states) * (1 - least_end)
        self.outputs = np.hstack([rows, np.full((states, 1), least_end)]).astype(np.float32)

    @property
    def initial_output(self):
        return self.outputs[0]

    def initial_state(self, batch):
        return np.zeros((batch, 1), np.float32)

    def step(self, state, ids):
        after = self.targets[state[:, 0].astype(int), ids]
        return after[:, None].astype(np.float32), self.outputs[after]

    def trace(self, ids):
        values = np.empty((len(ids.values), len(self.class_names)), np.float32)
        for item in range(len(ids)):
            state = self.initial_state(1)
            for at, letter in enumerate(ids[item]):
                state, output = self.step(state, np.array([letter]))
                values[ids.offsets[item] + at] = output[0]
        return Ragged(values, ids.offsets)

    def probability(self, text):
        state, found = 0, 1.0
        for letter in text:
            found *= float(self.outputs[state, self.class_names.index(letter)])
            state = self.targets[state, self.encoder.vocabulary.id_of(letter)]
        return found * float(self.outputs[state, -1])


class ReadAgain:
    """The same model without steps."""

    def __init__(self, model):
        self.class_names, self.encoder, self.fingerprint = model.class_names, model.encoder, model.fingerprint
        self.initial_output, self.trace = model.initial_output, model.trace


def strings(letters, longest):
    return ["".join(text) for length in range(longest + 1) for text in product(letters, repeat=length)]


def texts(seed, number, letters=LETTERS, longest=8):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(letters), rng.integers(1, longest + 1))) for _ in range(number)]
