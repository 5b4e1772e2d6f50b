"""JSON as anybody reads it, and as we do."""

import json

import numpy as np

from tests.automata import linear_sample, sample
from tests.export.conformance import ExporterConformance, by_matrices, write
from wfalens.export import read_json, subset


class TestJson(ExporterConformance):
    holds_linear = True

    def reading(self, wfa, folder, **choice):
        path = write(wfa, folder, "json", "model.json", **choice)
        document = json.loads(path.read_text("ascii"))  # by the page in the docs, without our reader
        assert (document["format"], document["version"]) == ("wfalens-automaton", 1)
        n, words, columns = len(document["states"]), document["words"], document["transitions"]
        matrices = np.zeros((len(words), n, n))
        matrices[columns["word"], columns["source"], columns["target"]] = columns["weight"]
        return by_matrices(words, matrices, np.array(document["initial"]), np.array(document["final"]))

    def test_our_reader_gives_back_what_was_written(self, tmp_path):
        for wfa in (sample("null", 0).wfa, linear_sample(0).wfa):
            part, read = subset(wfa), read_json(write(wfa, tmp_path, "json", "model.json"))
            for name, value in vars(part).items():
                if isinstance(value, np.ndarray):
                    np.testing.assert_array_equal(getattr(read, name), value)
                    assert getattr(read, name).dtype == value.dtype
                else:
                    assert getattr(read, name) == value
