"""Which words decided: exact Shapley values of the automaton, and the network's own with intervals."""

import wfalens as wl
from wfalens import Readable, RNNConfig, extract, load_dataset
from wfalens.explanation import network_shapley, shapley

train, test = (load_dataset("newsroom", split) for split in ("train", "test"))
model = wl.train(train, config=RNNConfig(embedding=32, hidden=32), epochs=4, learning_rate=5e-3).model
wfa = extract(model, train, Readable())

text = test.texts[0]
print(shapley(wfa, text).to_dataframe().round(3))  # exact, without asking the network
print(network_shapley(model, wfa, text, queries=200).to_dataframe().round(3))  # of the network itself
