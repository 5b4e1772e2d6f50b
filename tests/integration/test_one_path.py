"""One way of the data: a corpus gives the same automaton and the same figures through every door."""

from dataclasses import replace

import numpy as np
import pytest
from wfalens.scale.engines.local import ThreadEngine

from tests.streams import WORDS, small_model, some_labels, some_texts, write_texts
from wfalens import Augmentation, Linear, Paper, Readable, Stochastic, WordVectors, extract, read_corpus
from wfalens.evaluation import measure_fidelity
from wfalens.extraction.selection import Candidates, extract_best
from wfalens.scale import Run, open_engine
from wfalens.text.blocks import source_of
from wfalens.text.files import TextFiles, with_labels

TEXTS = some_texts(3000)
LABELS = some_labels(3000)
SAMPLES = {"whole": None, "part": 4000}  # words; None: what each door takes by itself, which is all of this corpus
VECTORS = WordVectors(WORDS, np.random.default_rng(0).normal(size=(len(WORDS), 4)).astype(np.float32), "made up")
EXTRACTORS = {
    "null": Paper(states=6, completion="null", sample=2048),
    "augmented": Paper(states=6, sample=2048, augmentation=Augmentation(vectors=VECTORS, epochs=2)),
    "open": Paper(states="auto", alpha="auto", beta="auto", sample=2048),
    "probe": Stochastic(states=6, completion="probe", representatives=3, abstraction="outputs", alpha=0.4),
    "fitted": Stochastic(representatives=2, rounds=2),
    "linear": Linear(states=6, epochs=1, hidden=8, factors=4),
    "readable": Readable(states=5, clusters=4, start_epochs=1, epochs=1, final_epochs=1, prefixes=1),
}


class Best:
    """What an extractor of no options does, with little training: no kind is good, so that all are tried."""

    candidates = Candidates(
        readable=EXTRACTORS["readable"],
        linear=EXTRACTORS["linear"],
        stochastic=EXTRACTORS["probe"],
        shared=replace(EXTRACTORS["readable"], states=6),
    )

    def extract(self, model, corpus, run):
        return extract_best(self.candidates, None, 0, model, source_of(corpus), run, None)


EXTRACTORS["best"] = Best()
LONG = {("fitted", "whole"), ("open", "whole"), ("best", "whole")}  # their parts are tried among the quick tests
CASES = [
    pytest.param(kind, sample, marks=pytest.mark.slow if (kind, sample) in LONG else ())
    for sample in SAMPLES
    for kind in EXTRACTORS
]


@pytest.fixture(scope="module")
def model():
    return small_model()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    texts = list(TEXTS)
    texts[70] = texts[1900] = "  "
    return write_texts(tmp_path_factory.mktemp("corpus") / "texts.csv", texts, LABELS)


def doors(path, tmp_path):
    """The same corpus, in memory and as a file, in one piece, in shards and by two threads."""
    files = TextFiles.find(str(path))
    yield "memory", read_corpus(path), {}
    yield "memory in shards", read_corpus(path), {"shard_bytes": 9000, "engine": ThreadEngine(2)}
    yield "file", files, {}
    yield "file in shards", files, {"shard_bytes": 9000, "parts": tmp_path / "parts", "memory": "900GB"}
    yield "two threads", files, {"shard_bytes": 9000, "engine": ThreadEngine(2)}


@pytest.mark.parametrize(("kind", "sample"), CASES)
def test_a_corpus_gives_the_same_bytes_through_every_door(tmp_path, path, model, kind, sample):
    found = {}
    for door, corpus, means in doors(path, tmp_path):
        run = Run(**means, sample_tokens=SAMPLES[sample])
        extract(model, corpus, EXTRACTORS[kind], run=run).save(tmp_path / "out.wfa")
        found[door] = (tmp_path / "out.wfa").read_bytes()
    assert {door: found[door] == found["memory"] for door in found} == dict.fromkeys(found, True)


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_corpus_gives_the_same_fidelity_through_every_door(tmp_path, path, model, sample):
    wfa = extract(model, TEXTS[:500], Paper(states=6))
    found = {
        door: measure_fidelity(wfa, model, corpus, run=Run(**means, sample_tokens=SAMPLES[sample])).to_dict()
        for door, corpus, means in doors(path, tmp_path)
    }
    if sample == "part":  # of files, baselines are measured on a sample; in memory on all texts
        found = {door: figures for door, figures in found.items() if not door.startswith("memory")}
    first = next(iter(found.values()))
    assert first["overall"]["texts"] == len(TEXTS) - 2
    assert first["model_accuracy"] is not None
    assert {door: found[door] == first for door in found} == dict.fromkeys(found, True)


@pytest.mark.parametrize("name", ["local", pytest.param("ray", marks=pytest.mark.slow)])
def test_two_workers_give_the_bytes_and_the_figures_of_memory(tmp_path, path, model, name):
    if name == "ray":
        pytest.importorskip("ray", reason="the extra ray is not installed")
    engine = open_engine(name, workers=2)
    extractor, wfa = EXTRACTORS["probe"], extract(model, TEXTS[:500], Paper(states=6))
    files, _ = with_labels(TextFiles.find(str(path)))
    try:
        for door, corpus, means in (("held", read_corpus(path), {}), ("workers", files, {"engine": engine})):
            run = Run(**means, sample_tokens=4000, shard_bytes=9000)
            extract(model, corpus, extractor, run=run).save(tmp_path / door)
            measured = measure_fidelity(wfa, model, corpus, run=run).to_dict()
            del measured["baselines"]  # of files they are measured on a sample
            (tmp_path / f"{door}.json").write_text(str(measured))
    finally:
        engine.close()
    assert (tmp_path / "workers").read_bytes() == (tmp_path / "held").read_bytes()
    assert (tmp_path / "workers.json").read_text() == (tmp_path / "held.json").read_text()


def test_what_was_left_out_is_told_alike_through_every_door(tmp_path, path, model):
    lines = {
        (corpus["left_out"], tuple(corpus["first_left_out"]))
        for _, source, means in doors(path, tmp_path)
        for corpus in [extract(model, source, EXTRACTORS["null"], run=Run(**means)).provenance["corpus"]]
    }
    assert lines == {(2, (f"{path}: line 72: empty text", f"{path}: line 1902: empty text"))}
