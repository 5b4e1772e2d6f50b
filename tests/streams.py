"""Small corpora in files, and a model for them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from wfalens.corpus import TextEncoder, Vocabulary
from wfalens.corpus.files import TextFiles
from wfalens.models import RNNClassifier, RNNConfig

WORDS = tuple(f"w{number}" for number in range(60))
BLOCK = 2000  # bytes: small, so that small corpora have many blocks


def small_model() -> RNNClassifier:
    """Odd sizes: the last bit of this network's answers depends on how many texts it reads at once."""
    encoder = TextEncoder(Vocabulary.of_words(WORDS), "whitespace", 20)
    return RNNClassifier.untrained(RNNConfig(embedding=33, hidden=50), encoder, ("a", "b", "c"), seed=1)


def some_texts(number: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(WORDS[each % 60] for each in rng.zipf(1.4, rng.integers(1, 24))) for _ in range(number)]


def write_texts(path: Path, texts: list[str]) -> Path:
    """In the format that the name asks for."""
    name = path.name.removesuffix(".gz")
    if name.endswith(".parquet"):
        pq.write_table(pa.table({"id": list(range(len(texts))), "text": texts}), path, row_group_size=37)
        return path
    if name.endswith(".jsonl"):
        content = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    else:
        mark = "\t" if name.endswith(".tsv") else ","
        content = f"id{mark}text\n" + "".join(f'{at}{mark}"{text}"\n' for at, text in enumerate(texts))
    blob = content.encode()
    path.write_bytes(gzip.compress(blob) if path.suffix == ".gz" else blob)
    return path


def corpus_files(folder: Path, files: int = 3, texts: int = 120, ending: str = "jsonl") -> TextFiles:
    paths = [write_texts(folder / f"texts{at}.{ending}", some_texts(texts, at)) for at in range(files)]
    return TextFiles(tuple(map(str, paths)), name="texts", block_bytes=BLOCK)
