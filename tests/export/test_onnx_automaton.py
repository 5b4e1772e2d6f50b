"""ONNX graphs as onnxruntime runs them."""

import json

import numpy as np
import pytest

from tests.automata import linear_sample, sample
from tests.export.conformance import ExporterConformance, Reading, write
from wfalens.export import to_onnx
from wfalens.ragged import Ragged


class TestOnnx(ExporterConformance):
    holds_linear = True

    def reading(self, wfa, folder, **choice):
        onnxruntime = pytest.importorskip("onnxruntime", reason="needs the extra onnx")
        session = onnxruntime.InferenceSession(str(write(wfa, folder, "onnx", "model.onnx", **choice)))
        about = json.loads(session.get_modelmeta().custom_metadata_map["wfalens"])
        alphabet = {word: number for number, word in enumerate(about["alphabet"])}

        def weights(texts):
            longest = max(map(len, texts))
            ids = np.array([[alphabet[word] for word in text] + [0] * (longest - len(text)) for text in texts])
            outputs = dict(zip(("probabilities", "trace", "weights"), session.run(None, {"ids": ids}), strict=True))
            np.testing.assert_allclose(outputs["probabilities"], wfa.probabilities(outputs["weights"]), atol=1e-12)
            if longest:
                np.testing.assert_allclose(outputs["trace"][:, -1], outputs["probabilities"], atol=1e-12)
            return outputs["weights"]

        return Reading(about["exported"], self.matrices(folder / "model.onnx"), weights)

    def matrices(self, path):
        """The matrices that a stochastic automaton's graph holds, without the identity for padding."""
        import onnx

        tables = map(onnx.numpy_helper.to_array, onnx.load(path).graph.initializer)
        return next((table[:-1] for table in tables if table.ndim == 3), None)

    def test_every_prefix_is_traced(self):
        onnxruntime = pytest.importorskip("onnxruntime", reason="needs the extra onnx")
        rng = np.random.default_rng(0)
        for wfa in (sample("null", 0).wfa, sample("probe", 1).wfa, linear_sample(0).wfa):
            ids = rng.integers(1, len(wfa.encoder.vocabulary), (4, 6))
            trace = onnxruntime.InferenceSession(to_onnx(wfa)).run(["trace"], {"ids": ids})[0]
            ours = wfa.trace(Ragged.from_lists(list(ids), np.int32)).values
            np.testing.assert_allclose(trace.reshape(ours.shape), ours, atol=1e-12)

    def test_ids_outside_read_as_unknown_and_padding_as_nothing(self):
        onnxruntime = pytest.importorskip("onnxruntime", reason="needs the extra onnx")
        for wfa in (sample("fit", 0).wfa, linear_sample(0).wfa):
            session = onnxruntime.InferenceSession(to_onnx(wfa, ["w0", "w2"]))

            def run(*ids, session=session):
                return session.run(["weights"], {"ids": np.array([ids], np.int64)})[0]

            known = wfa.encoder.vocabulary.id_of("w0")
            unknown = run(known, 1)
            for other in (wfa.encoder.vocabulary.id_of("w1"), -1, len(wfa.encoder.vocabulary), 2**40):
                np.testing.assert_array_equal(run(known, other), unknown)
            np.testing.assert_array_equal(run(0, known, 0, 1, 0), unknown)
            np.testing.assert_allclose(run(), wfa.weights([""]), atol=1e-12)
