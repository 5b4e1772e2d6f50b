"""Published models as functions of strings, from the weights in their packages (extra `zoo`); their code is not run.

Each function does with a text what its package does: the class probabilities are those that a user of the package gets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from joblib.numpy_pickle import NumpyArrayWrapper, NumpyUnpickler
from numpy.typing import NDArray
from torch import Tensor, nn

from wfalens.models import Preprocessing, wrap
from wfalens.models.keras.keras_file import read_keras
from wfalens.models.keras.keras_recurrent import plain_network
from wfalens.text import Corpus, load_dataset, read_corpus
from wfalens.text.datasets.catalogue import data_folder

Predict = Callable[[list[str]], NDArray[np.floating]]
_TOKENS_PER_BATCH = 4096


def in_length_batches(rows: Sequence[Sequence[int]], run: Callable[[Tensor], Tensor]) -> NDArray[np.float32]:
    """`run` on ids of equal length, so that nothing is padded; -> (rows, outputs)"""
    order = sorted(range(len(rows)), key=lambda at: len(rows[at]))
    outputs: dict[int, NDArray[np.float32]] = {}
    while order:
        length = len(rows[order[0]])
        some = [at for at in order[: max(1, _TOKENS_PER_BATCH // max(1, length))] if len(rows[at]) == length]
        with torch.inference_mode():
            outputs |= zip(some, run(torch.tensor([rows[at] for at in some])).numpy(), strict=True)
        order = order[len(some) :]
    return np.array([outputs[at] for at in range(len(rows))])


def fin_sentiment(folder: Path) -> Predict:
    """Embedding, LSTM 128 and a dense layer over lower-case words without punctuation; no words: neutral."""
    stored = torch.load(folder / "models" / "sentiment_lstm.pth", map_location="cpu", weights_only=True)
    weights, ids = stored["model_state_dict"], stored["vocab"]
    embedding, lstm, dense = nn.Embedding(len(ids), 128), nn.LSTM(128, 128, batch_first=True), nn.Linear(128, 3)
    for name, layer in (("embedding", embedding), ("lstm", lstm), ("fc", dense)):
        start = f"{name}."
        layer.load_state_dict({key.removeprefix(start): weights[key] for key in weights if key.startswith(start)})

    def run(batch: Tensor) -> Tensor:
        if not batch.shape[1]:
            return torch.tensor([[0.0, 1.0, 0.0]]).expand(len(batch), 3)
        return dense(lstm(embedding(batch))[1][0][-1]).softmax(-1)

    def predict(texts: list[str]) -> NDArray[np.float32]:
        words = [re.sub(r"[^a-zA-Z0-9\s]", "", text.lower()).split() for text in texts]
        return in_length_batches([[ids.get(word, 1) for word in row] for row in words], run)

    return predict


def seeker(folder: Path) -> Predict:
    """LSTM of five units over 1,000 letters of DNA; shorter texts are repeated."""
    network, ids = (
        plain_network(read_keras(folder / "models" / "model.h5")),
        dict(zip("ATCG", range(1, 5), strict=True)),
    )

    def predict(texts: list[str]) -> NDArray[np.float32]:
        rows = [[ids[letter] for letter in text.upper() if letter in ids] or [1] for text in texts]
        return network.batch_outputs(np.array([np.resize(row, 1000) for row in rows]))

    return predict


def genderpred_in(folder: Path) -> Predict:
    """LSTM 128 over the letters of the first word, padded on the right to 21 and read with its padding."""
    letters = _attributes(folder / "tokenizer.pickle").word_index  # in the order of their ids, from 1 on
    card = Preprocessing(
        words=("<pad>", *letters),
        class_names=("f", "m", "other"),
        unknown="<pad>",
        padding="<pad>",
        padding_side="right",
        truncation_side="left",
        tokenizer="lower+characters",
        reading="exact",
    )
    network = wrap(folder / "gender_prediction_model.h5", preprocessing=card)

    def predict(texts: list[str]) -> NDArray[np.float32]:
        return np.asarray(network.predict_proba([re.sub("[^a-zA-Z]", "", (text.split() or [""])[0]) for text in texts]))

    return predict


def profanity_protector(folder: Path) -> Predict:
    """Mean of MiniLM's last layer, of length 1, and five calibrated linear support vector machines on it."""
    from transformers import AutoModel, AutoTokenizer

    place = folder / "data" / "sentence-transformers_all-MiniLM-L6-v2"
    tokenizer, network = AutoTokenizer.from_pretrained(place), AutoModel.from_pretrained(place).eval()
    longest = json.loads((place / "sentence_bert_config.json").read_text())["max_seq_length"]
    heads = _machines(folder / "data" / "model.joblib")

    def run(batch: Tensor) -> Tensor:
        pooled = nn.functional.normalize(network(batch).last_hidden_state.mean(1)).double()
        profane = torch.stack([1 / (1 + torch.exp(a * (pooled @ weights + bias) + b)) for weights, bias, a, b in heads])
        return torch.stack([1 - profane.mean(0), profane.mean(0)], 1)

    def predict(texts: list[str]) -> NDArray[np.float32]:
        return in_length_batches(tokenizer(texts, truncation=True, max_length=longest)["input_ids"], run)

    return predict


class _Recorded:
    """Stands for an object of a pickle whose class is not imported: only its attributes are kept."""

    def __init__(self, *_: object) -> None: ...

    def __setitem__(self, key: object, value: object) -> None: ...


class _NumbersOnly(NumpyArrayWrapper):
    """An array of a joblib file; one of objects would be a pickle inside the pickle."""

    def read(self, unpickler: Any, ensure_native_byte_order: bool) -> Any:
        if self.dtype.hasobject:
            raise ValueError("an array of objects")
        return super().read(unpickler, ensure_native_byte_order)


class _AttributesOnly(NumpyUnpickler):
    """Reads the numbers, strings and arrays of a pickle, and calls nothing that it names but numpy's constructors."""

    known: ClassVar = {
        ("numpy", "ndarray"): np.ndarray,
        ("numpy", "dtype"): np.dtype,
        ("numpy.core.multiarray", "scalar"): np.float64(0).__reduce__()[0],
        ("joblib.numpy_pickle", "NumpyArrayWrapper"): _NumbersOnly,
    }

    def find_class(self, module: str, name: str) -> Any:
        return self.known.get((module, name)) or type(name, (_Recorded,), {})


def _attributes(path: Path) -> Any:
    with path.open("rb") as file:
        return _AttributesOnly(str(path), file, ensure_native_byte_order=True).load()


def _machines(path: Path) -> list[tuple[Tensor, float, float, float]]:
    """Weights, bias and the calibration's a and b of every machine."""
    found = []
    for calibrated in _attributes(path).calibrated_classifiers_:
        machine, sigmoid = calibrated.base_estimator, calibrated.calibrators[0]
        found.append(
            (torch.tensor(machine.coef_[0]), float(machine.intercept_[0]), float(sigmoid.a_), float(sigmoid.b_))
        )
    return found


@dataclass(frozen=True)
class PublishedModel:
    """A package's model, how its texts become the automaton's words, and what is asked of its copy."""

    package: str
    open: Callable[[Path], Predict]
    class_names: tuple[str, ...]
    tokenizer: str
    file: str  # of texts in the data folder
    made: Callable[[np.random.Generator], str]  # a text of the kind, where there is no data folder
    train_texts: int
    queries: int
    goal: float  # CR
    longest: int = 1000  # words of a text; longer ones are left out

    def texts(self, data: str | None, test: int = 1000) -> tuple[Corpus, Corpus]:
        """Texts to extract on, and others to test on."""
        folder = data_folder(data)
        names = [self.file.format(split) for split in ("train", "test")]
        if folder is None or not all((folder / name).exists() for name in names):
            rng = np.random.default_rng(0)
            drawn = sorted({self.made(rng) for _ in range(2 * (self.train_texts + test))})
            order = rng.permutation(len(drawn))[: self.train_texts + test]
            parts = order[: self.train_texts], order[self.train_texts :]
            return tuple(Corpus.of([drawn[at] for at in part]) for part in parts)
        read = [read_corpus(folder / name, labels=False).texts for name in names]
        short = [[text for text in texts if len(text.split()) <= self.longest] for texts in read]
        sizes = self.train_texts, test
        return tuple(Corpus.of(texts).sample(size, 0) for texts, size in zip(short, sizes, strict=True))


def _dna(rng: np.random.Generator) -> str:
    strong = rng.uniform(0.2, 0.8) / 2  # share of G and of C
    return "".join(rng.choice(list("ATCG"), 300, p=(0.5 - strong, 0.5 - strong, strong, strong)))


def _name(rng: np.random.Generator) -> str:
    pieces = [rng.choice(list("BDGHJKLMNPRSTVY")) + rng.choice(list("AEIOU")) for _ in range(rng.integers(2, 5))]
    return "".join([*pieces, rng.choice(["", "N", "M", "SH", "T"])])


def _sentence(rng: np.random.Generator) -> str:
    words = load_dataset("newsroom", "train").texts
    return " ".join(str(text) for text in rng.choice(words, 2, replace=False))


MODELS = {
    "fin-sentiment": PublishedModel(
        "fin_sentiment", fin_sentiment, ("Negative", "Neutral", "Positive"),
        "basic_english", "published/fin_{}.csv", _sentence, 3800, 55_000, 0.768,
    ),
    "seeker": PublishedModel(
        "seeker", seeker, ("bacterium", "phage"),
        "characters", "published/seeker_{}.csv", _dna, 500, 4_900, 0.922,
    ),
    "genderpred-in": PublishedModel(
        "genderpred_in", genderpred_in, ("f", "m", "other"),
        "characters", "published/gender_{}.csv", _name, 4000, 37_000, 0.905,
    ),
    "profanity-protector": PublishedModel(
        "profanity_protector", profanity_protector, ("clean", "profane"),
        "basic_english", "jigsaw_toxic/{}.csv", _sentence, 1500, 20_000, 0.90, 40,
    ),
}  # fmt: skip
