"""What changed between two checkpoints of a network: words, texts and states."""

import wfalens as wl
from wfalens import Readable, RNNConfig, extract, load_dataset
from wfalens.robustness import compare

train, test = (load_dataset("newsroom", split) for split in ("train", "test"))
shape = RNNConfig(embedding=32, hidden=32)
checkpoints = [
    wl.train(train.subset(range(1000)), config=shape, epochs=epochs, learning_rate=5e-3).model for epochs in (2, 6)
]
before, after = (extract(model, train, Readable()) for model in checkpoints)
difference = compare(before, after, test, models=tuple(checkpoints))
print(difference.to_dict()["texts"])
