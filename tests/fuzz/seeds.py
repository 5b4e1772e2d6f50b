"""A small file of every kind, and how each is opened and used."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

TEXTS = ["a b", "b c a", "d unknown", ""]
KINDS = (
    *("empirical.wfa", "fit.wfa", "linear.wfa", "readable.wfa", "net.rnn", "net.json", "net.safetensors"),
    *("sums.onnx", "sums.json", "steps.onnx", "plain.h5", "plain.keras", "plain.json", "other.keras"),
    *("export.json", "machine.json", "detector.json", "lists.json", "answers.sqlite"),
    *("vectors.txt", "vectors.bin", "vectors.txt.gz"),
    *("texts.csv", "texts.jsonl", "texts.txt", "texts.parquet", "texts.csv.gz"),
)
WORDS, CLASSES = ("<pad>", "<unk>", "a", "b", "c", "d"), ("x", "y")


def write_seeds(folder: Path, rng: np.random.Generator) -> None:
    """All kinds but automata; where a model needs its preprocessing, that stands beside it."""
    import os

    import pyarrow as pa
    import pyarrow.parquet as pq

    os.environ.setdefault("KERAS_BACKEND", "torch")
    import keras

    from tests.automata import sample
    from tests.models.graphs import lstm_graph, summing_graph
    from tests.models.rnn.test_symbol_network import write
    from wfalens.export import subset, to_json
    from wfalens.models import AnswerCache, Preprocessing, RNNClassifier, RNNConfig
    from wfalens.monitoring import FEATURES, Detector, SynonymDefense
    from wfalens.robustness.dfa import Machine, _to_json
    from wfalens.text import TextEncoder, Vocabulary

    encoder = TextEncoder(Vocabulary.of_words(WORDS[2:]), "whitespace", 12)
    RNNClassifier.untrained(RNNConfig(embedding=3, hidden=4), encoder, CLASSES).save(folder / "net.rnn")
    write(folder, "lstm", "binary")
    reading = Preprocessing.of(encoder, CLASSES, padding_side="left")
    summing_graph(folder / "sums.onnx", rng.normal(size=(6, 2)).astype(np.float32))
    lstm_graph(folder / "steps.onnx", 6, 2, 0)
    for name in ("sums", "steps", "plain", "other"):
        reading.write(folder / f"{name}.json")
    keras.utils.set_random_seed(0)
    layers = [keras.layers.Embedding(6, 3), keras.layers.LSTM(3), keras.layers.Dense(2, activation="softmax")]
    plain = keras.Sequential([keras.Input((4,), dtype="int32"), *layers])
    plain.save(folder / "plain.h5")
    plain.save(folder / "plain.keras")
    pooled = [keras.layers.Embedding(6, 3), keras.layers.GlobalAveragePooling1D(), layers[-1]]
    keras.Sequential([keras.Input((4,), dtype="int32"), *pooled]).save(folder / "other.keras")
    (folder / "export.json").write_text(to_json(subset(sample("empirical", 1).wfa)))
    machine = Machine(("a", "b"), ((0, 1), (1, 0)), (0, 1))
    (folder / "machine.json").write_text(_to_json(machine, CLASSES, {}))
    nothing = SynonymDefense(np.arange(6, dtype=np.int32))
    clean, attacked = rng.normal(size=(2, 20, len(FEATURES)))
    Detector.trained(clean, attacked, nothing, about={"attack": "greedy"}).save(folder / "detector.json")
    (folder / "lists.json").write_text(json.dumps({"a": ["b", "c"], "d": []}))
    AnswerCache(folder / "answers.sqlite").store("model", TEXTS, np.full((4, 2), 0.5, np.float32))
    rows = [(word, rng.normal(size=3).astype(np.float32)) for word in WORDS]
    text = "".join(f"{word} {' '.join(map(str, row.tolist()))}\n" for word, row in rows)
    (folder / "vectors.txt").write_text(text)
    (folder / "vectors.txt.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    binary = b"".join(word.encode() + b" " + row.tobytes() + b"\n" for word, row in rows)
    (folder / "vectors.bin").write_bytes(b"6 3\n" + binary)
    table = 'text,label\na b,x\n"b, ""c""\n d",y\nd,x\n'
    (folder / "texts.csv").write_text(table)
    (folder / "texts.csv.gz").write_bytes(gzip.compress(table.encode(), mtime=0))
    (folder / "texts.txt").write_text("a b\nb c\r\nd\n")
    lines = [json.dumps({"text": text, "label": label}) for text, label in (("a b", "x"), ("b c", "y"))]
    (folder / "texts.jsonl").write_text("\n".join(lines))
    pq.write_table(pa.table({"text": ["a b", "b c", "d"], "label": ["x", "y", "x"]}), folder / "texts.parquet")


def use(path: Path) -> None:
    """Open a file as its users do, and ask it something; numbers must be finite."""
    import wfalens as wl
    from wfalens.export.json_file import read_json
    from wfalens.models import AnswerCache
    from wfalens.monitoring import FEATURES, Detector
    from wfalens.robustness import read_lists
    from wfalens.robustness.dfa import read_machine

    name = path.name
    if name.endswith(".wfa"):
        wfa = wl.WFA.load(path)
        _check(wfa.predict_proba(TEXTS))
        _check(wfa.predict_proba([" ".join(wfa.encoder.vocabulary.words[:50])]))
        if wfa.readable is not None:
            _check(wfa.readable.predict_proba(TEXTS))
        wfa.summary()
    elif name == "export.json":
        read_json(path)
    elif name == "machine.json":
        machine, _ = read_machine(path)
        machine.run(machine.letters[:3]) if hasattr(machine, "run") else None
    elif name == "detector.json":
        _check(Detector.load(path).scores(np.ones((1, len(FEATURES)))))
    elif name == "lists.json":
        read_lists(path)
    elif name == "answers.sqlite":
        cache = AnswerCache(path)
        cache.store("another", ["a"], np.zeros((1, 2), np.float32))
        known, outputs = cache.find("model", TEXTS, 2)
        _check(outputs[known])
    elif name.startswith("vectors"):
        _check(wl.read_vectors(path).matrix)
    elif name.startswith("texts"):
        assert len(wl.read_corpus(path)) > 0
    else:
        model: Any = {"net.json": path.parent, "net.safetensors": path.parent}.get(name, path)
        if path.suffix == ".json" and name != "net.json":
            model = path.with_suffix(".onnx" if name == "sums.json" else ".h5")
        opened = wl.wrap(model)
        _check(opened.predict_proba([text for text in TEXTS if text]))


def _check(values: Any) -> None:
    assert np.isfinite(values).all(), "numbers that are not finite"
