"""How much memory an extraction takes, measured in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST = 600  # MB above the model: 1,000 classes, of which the outputs alone of all prefixes would take 270
MEASURED = """
import resource
import torch
from tests.intents import intents
from wfalens.extraction import Linear, Readable, extract, selection
from wfalens.models import RNNClassifier, RNNConfig, wrap
from wfalens.models.inference import last_outputs
from wfalens.models.rnn.classifier import RNNNetwork

brief = Readable(start_epochs=1, epochs=1, final_epochs=1)  # what takes memory is the same in every pass
methods = selection.CandidateMethods(readable=brief, linear=Linear(epochs=2), stochastic=brief, shared=brief)
selection.CandidateMethods = lambda: methods

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3

torch.manual_seed(0)
small, few, _ = intents(3, 60)
extract(small, few)  # imports and compiles what an extraction needs
evidence, texts, _ = intents(1000, 12_000)
network = RNNNetwork(RNNConfig(embedding=32, hidden=32), len(evidence.encoder.vocabulary), 1000)
model = RNNClassifier(network, evidence.encoder, evidence.class_names)
if {reads_texts}:
    answers = lambda texts: last_outputs(evidence, evidence.encoder.encode(texts))
    model = wrap(answers, texts, classes=evidence.class_names, reads="text")
model.predict_proba(texts[:1000])
before = peak()
extract(model, texts)
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize("reads_texts", [False, True])
def test_a_thousand_classes_do_not_fill_the_memory(reads_texts):
    script = MEASURED.replace("{reads_texts}", str(reads_texts))
    command = [sys.executable, "-W", "ignore", "-c", script]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert float(found.stdout) < MOST
