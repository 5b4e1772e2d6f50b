"""Small corpora in files, and a model for them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from wfalens.models import RNNClassifier, RNNConfig
from wfalens.text import TextEncoder, Vocabulary
from wfalens.text.files import TextFiles

WORDS = tuple(f"w{number}" for number in range(60))
BLOCK = 1500  # bytes of text: small, so that small corpora have many blocks


def small_model() -> RNNClassifier:
    """Odd sizes: the last bit of this network's answers depends on how many texts it reads at once."""
    encoder = TextEncoder(Vocabulary.of_words(WORDS), "whitespace", 20)
    return RNNClassifier.untrained(RNNConfig(embedding=33, hidden=50), encoder, ("a", "b", "c"), seed=1)


def some_texts(number: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(WORDS[each % 60] for each in rng.zipf(1.4, rng.integers(1, 24))) for _ in range(number)]


def some_labels(number: int, seed: int = 0) -> list[str]:
    return np.random.default_rng(seed).choice(["a", "b", "c"], number).tolist()


def write_texts(path: Path, texts: list[str], labels: Sequence[object] | None = None) -> Path:
    """In the format that the name asks for, with a column of labels or without."""
    name = path.name.removesuffix(".gz")
    if name.endswith(".parquet"):
        columns = {"id": list(range(len(texts))), "text": texts} | ({} if labels is None else {"label": list(labels)})
        pq.write_table(pa.table(columns), path, row_group_size=37)
        return path
    if name.endswith(".jsonl"):
        rows = [{"text": text} for text in texts]
        if labels is not None:
            rows = [row | {"label": label} for row, label in zip(rows, labels, strict=True)]
        content = "".join(json.dumps(row) + "\n" for row in rows)
    else:
        mark = "\t" if name.endswith(".tsv") else ","
        ends = [""] * len(texts) if labels is None else [f"{mark}{label}" for label in labels]
        content = f"id{mark}text{'' if labels is None else f'{mark}label'}\n"
        content += "".join(f'{at}{mark}"{text}"{end}\n' for at, (text, end) in enumerate(zip(texts, ends, strict=True)))
    blob = content.encode()
    path.write_bytes(gzip.compress(blob) if path.suffix == ".gz" else blob)
    return path


def corpus_files(
    folder: Path, files: int = 3, texts: int = 120, ending: str = "jsonl", labels: bool = False
) -> TextFiles:
    paths = [
        write_texts(folder / f"texts{at}.{ending}", some_texts(texts, at), some_labels(texts, at) if labels else None)
        for at in range(files)
    ]
    return TextFiles(tuple(map(str, paths)), name="texts", block_bytes=BLOCK)
