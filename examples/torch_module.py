"""An automaton of a torch module of your own, from ids (batch, time) to logits (batch, time, classes)."""

import torch
from torch import nn

from wfalens import Stochastic, TextEncoder, extract, load_dataset, wrap

train, test = (load_dataset("newsroom", split) for split in ("train", "test"))
encoder = TextEncoder.of_texts(train.texts, "whitespace")


class Reader(nn.Module):
    """A small GRU that says a class after every word."""

    def __init__(self, words: int, classes: int, width: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width, padding_idx=0)
        self.cell = nn.GRUCell(width, width)
        self.out = nn.Linear(width, classes)
        self.width = width

    # these two make the module steppable: the copy is then more faithful, and cheaper
    def initial_state(self, batch):
        return torch.zeros(batch, self.width)

    def step(self, state, ids):
        state = self.cell(self.embedding(ids), state)
        return state, self.out(state)

    def forward(self, ids):
        state, rows = self.initial_state(len(ids)), []
        for word in ids.T:
            state, logits = self.step(state, word)
            rows.append(logits)
        return torch.stack(rows, 1)


torch.manual_seed(0)
module = Reader(len(encoder.vocabulary), len(train.class_names))
optimiser = torch.optim.Adam(module.parameters(), lr=0.01)
ids = encoder.encode(train.texts)
for _ in range(3):
    for begin in range(0, len(train), 64):
        batch = ids.take(range(begin, min(begin + 64, len(train))))
        last = torch.from_numpy(batch.lengths - 1)
        logits = module(torch.from_numpy(batch.padded()).long())[torch.arange(len(last)), last]
        loss = nn.functional.cross_entropy(logits, torch.as_tensor(train.labels[begin : begin + 64]))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

model = wrap(module.eval(), vocab=encoder, classes=train.class_names)
wfa = extract(model, train, Stochastic(states=20))
print(wfa.fidelity(model, test, reference=train).overall)
