"""One way of the data: a corpus gives the same automaton and the same figures through every door."""

from dataclasses import replace

import numpy as np
import pytest

from tests.streams import WORDS, small_model, some_labels, some_texts, write_texts
from wfalens import (
    Augmentation,
    Linear,
    Paper,
    Readable,
    Stochastic,
    WordVectors,
    extract,
    read_corpus,
)
from wfalens.evaluation import measure_fidelity
from wfalens.extraction import Method
from wfalens.extraction.selection import CandidateMethods, extract_best
from wfalens.scale import RunConfig
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


class Best(Method):
    """What an extraction without a method does, with little training: none is good, so that all are tried."""

    def extract(self, request):
        candidates = CandidateMethods(
            readable=EXTRACTORS["readable"],
            linear=EXTRACTORS["linear"],
            stochastic=EXTRACTORS["probe"],
            shared=replace(EXTRACTORS["readable"], states=6),
        )
        return extract_best(request, candidates)


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
    """The same corpus as a file, in one piece, in blocks and by two threads."""
    files = TextFiles.find(str(path))
    yield "file", files, {}
    yield "file in blocks", files, {"block_bytes": 9000, "checkpoints": tmp_path / "blocks", "memory": "900GB"}
    yield "two threads", files, {"block_bytes": 9000, "engine": "threads", "workers": 2}


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "sample"), CASES)
def test_a_corpus_gives_the_same_bytes_through_every_door(tmp_path, path, model, kind, sample):
    """In memory too, where the sample holds all texts."""
    found = {}
    if sample == "whole":
        extract(model, read_corpus(path), EXTRACTORS[kind]).save(tmp_path / "out.wfa")
        found["memory"] = (tmp_path / "out.wfa").read_bytes()
    for door, files, means in doors(path, tmp_path):
        run = RunConfig(**means, sample_tokens=SAMPLES[sample])
        extract(model, files, EXTRACTORS[kind], run=run).save(tmp_path / "out.wfa")
        found[door] = (tmp_path / "out.wfa").read_bytes()
    assert {door: found[door] == found["file"] for door in found} == dict.fromkeys(found, True)


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_corpus_gives_the_same_fidelity_through_every_door(tmp_path, path, model, sample):
    wfa = extract(model, TEXTS[:500], Paper(states=6))
    found = {
        door: measure_fidelity(wfa, model, files, run=RunConfig(**means, sample_tokens=SAMPLES[sample])).to_dict()
        for door, files, means in doors(path, tmp_path)
    }
    assert found["file"]["overall"]["texts"] == len(TEXTS) - 2
    assert found["file"]["model_accuracy"] is not None
    assert {door: found[door] == found["file"] for door in found} == dict.fromkeys(found, True)


@pytest.mark.parametrize(
    "engine", [pytest.param("processes", marks=pytest.mark.slow), pytest.param("ray", marks=pytest.mark.slow)]
)
def test_two_workers_give_the_bytes_and_the_figures_of_one(tmp_path, path, model, engine):
    if engine == "ray":
        pytest.importorskip("ray", reason="the extra ray is not installed")
    method, wfa = EXTRACTORS["probe"], extract(model, TEXTS[:500], Paper(states=6))
    files, _ = with_labels(TextFiles.find(str(path)))
    for door, means in (("one", {}), ("two", {"engine": engine, "workers": 2})):
        run = RunConfig(**means, sample_tokens=4000, block_bytes=9000, memory="900GB")
        extract(model, files, method, run=run).save(tmp_path / door)
        (tmp_path / f"{door}.json").write_text(str(measure_fidelity(wfa, model, files, run=run).to_dict()))
    assert (tmp_path / "two").read_bytes() == (tmp_path / "one").read_bytes()
    assert (tmp_path / "two.json").read_text() == (tmp_path / "one.json").read_text()


def test_what_was_left_out_is_recorded_alike_through_every_door(tmp_path, path, model):
    records = [extract(model, read_corpus(path), EXTRACTORS["null"]).provenance["corpus"]]
    records += [
        extract(model, files, EXTRACTORS["null"], run=RunConfig(**means)).provenance["corpus"]
        for _, files, means in doors(path, tmp_path)
    ]
    assert {(record["left_out"], tuple(record["first_left_out"])) for record in records} == {
        (2, tuple(records[0]["first_left_out"]))
    }
