"""Every format on real news titles, as the tool that it is meant for reads it."""

import numpy as np
import pytest

from tests.export.conformance import our_weights
from tests.export.test_dot import TestDot as Dot
from tests.export.test_json_file import TestJson as Json
from tests.export.test_mdp import TestDrn as Drn
from tests.export.test_mdp import TestPrism as Prism
from tests.export.test_mdp_aalpy import TestAalpy as Aalpy
from tests.export.test_networkx_graph import TestNetworkx as Networkx
from tests.export.test_onnx_automaton import TestOnnx as Onnx
from tests.export.test_openfst import TestOpenFst as OpenFst
from wfalens.export import frequent_words
from wfalens.extraction import Paper, extract
from wfalens.ragged import Ragged
from wfalens.text import TextEncoder, Vocabulary
from wfalens.text.tokenizers import tokenizer_named

pytestmark = pytest.mark.data
WORDS = 60


class NaiveBayes:
    """A classifier of prefixes that is learned by counting: quick, and as hard on an exporter as any other."""

    fingerprint = "naive bayes"

    def __init__(self, corpus):
        tokenize = tokenizer_named("basic_english")
        vocabulary = Vocabulary.build((tokenize(text) for text in corpus.texts), min_count=2)
        self.encoder, self.class_names = TextEncoder(vocabulary, "basic_english", 25), corpus.class_names
        ids = self.encoder.encode(corpus.texts)
        counts = np.ones((len(vocabulary), len(self.class_names)))
        np.add.at(counts, (ids.values, np.repeat(corpus.labels, ids.lengths)), 1)
        self.table = np.log(counts / counts.sum(0))

    def trace(self, ids):
        sums = np.vstack([np.zeros(self.table.shape[1]), np.cumsum(self.table[ids.values], 0)])
        scores = sums[1:] - np.repeat(sums[ids.offsets[:-1]], ids.lengths, axis=0)
        odds = np.exp(scores - scores.max(1, keepdims=True))
        return Ragged((odds / odds.sum(1, keepdims=True)).astype(np.float32), ids.offsets)


@pytest.fixture(scope="module")
def news(news_data):
    train, test = news_data
    model = NaiveBayes(train)
    wfa = extract(model, train, Paper(states=40, alpha=0.4, beta=0.3))
    words = frequent_words(wfa, WORDS)
    titles = [wfa.encoder.tokens(text) for text in test.texts[:200]]
    return wfa, words, [[word if word in words else "<unk>" for word in title] for title in titles]


@pytest.mark.parametrize("format_tests", [Aalpy, Dot, Drn, Json, Networkx, Onnx, OpenFst, Prism])
def test_the_other_tool_gives_titles_our_weights(news, tmp_path, format_tests):
    wfa, words, titles = news
    found = format_tests().reading(wfa, tmp_path, words=words)
    assert list(found.words) == words
    np.testing.assert_allclose(found.weights(titles), our_weights(wfa, titles), atol=1e-12)
    np.testing.assert_allclose(found.matrices.sum(2), 1, atol=1e-14)
