"""Fidelity over files: what an evaluation in memory says, however the work is divided."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.streams import corpus_files, small_model
from wfalens.corpus import Corpus
from wfalens.engines.local import ThreadEngine
from wfalens.errors import InputError
from wfalens.evaluation import measure_fidelity
from wfalens.evaluation.streaming import measure_stream_fidelity
from wfalens.extraction import Extractor
from wfalens.extraction.stream import Stream


@pytest.fixture(scope="module")
def setting(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    files, model = corpus_files(folder), small_model()
    lines = [line for path in files.paths for line in Path(path).read_text().splitlines()]
    texts = [json.loads(line)["text"] for line in lines]
    return files, model, texts, Extractor(states=6).extract(model, texts[:200])


def streamed(tmp_path, setting, name="survey", **options):
    files, model, _, wfa = setting
    stream = Stream(**{"files": files, "folder": tmp_path / name, "memory": 10**12, **options})
    return measure_stream_fidelity(wfa, model, stream)


def test_streamed_fidelity_is_that_in_memory(tmp_path, setting):
    _, model, texts, wfa = setting
    found, held = streamed(tmp_path, setting), measure_fidelity(wfa, model, Corpus.of(texts))
    assert found.overall.texts == held.overall.texts == len(texts)
    assert found.overall.cr == held.overall.cr
    assert found.overall.jsd.value == pytest.approx(held.overall.jsd.value, abs=1e-6)
    for group in ("by_class", "by_length", "by_rare_words"):
        assert {name: each.cr for name, each in getattr(found, group).items()} == {
            name: each.cr for name, each in getattr(held, group).items()
        }
    np.testing.assert_allclose(found.trust.confidence, held.trust.confidence, atol=1e-5)
    assert found.stand_ins.keys() == held.stand_ins.keys()
    assert found.model_accuracy is None


def test_streamed_fidelity_does_not_depend_on_shards_and_workers(tmp_path, setting):
    one = streamed(tmp_path, setting, "one", shard_bytes=1)
    two = streamed(tmp_path, setting, "two", engine=ThreadEngine(3))
    assert json.dumps(one.to_json()) == json.dumps(two.to_json())


def test_bad_rows_end_the_evaluation_or_are_left_out(tmp_path, setting):
    (tmp_path / "bad.jsonl").write_text('{"text": "w1 w2"}\nnonsense\n')
    files = replace(setting[0], paths=(*setting[0].paths, str(tmp_path / "bad.jsonl")))
    worse = (files, *setting[1:])
    with pytest.raises(InputError, match=r"bad\.jsonl: line 2: not JSON"):
        streamed(tmp_path, worse)
    assert streamed(tmp_path, worse, "other", skips_bad=True).overall.texts == len(setting[2]) + 1


def test_an_evaluation_that_would_not_fit_is_refused(tmp_path, setting, monkeypatch):
    monkeypatch.setattr("wfalens.evaluation.streaming._BYTES_PER_TEXT", 10**10)
    with pytest.raises(InputError, match=r"the evaluation of .* texts needs .* GB, more than --memory"):
        streamed(tmp_path, setting)
