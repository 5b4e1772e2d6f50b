"""Extraction from models that pay for every call: fidelity against the number of calls a text.

Four models are trained here and given as plain functions of strings: a bidirectional transformer, a bidirectional GRU,
a convolution, and a TF-IDF pipeline. Each is extracted at about 3, 10 and 40 calls a text (`queries=`) and, for
comparison, as a function of token lists that is asked for every prefix. CR and JSD are taken on raw test texts.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

import wfalens as wl
from common import CACHE, arguments, finish, show
from wfalens.models.adapters.functions import FunctionClassifier
from wfalens.models.inference import jensen_shannon
from wfalens.text import Corpus, load_dataset
from wfalens.text.datasets.catalogue import is_available

MODELS = ("transformer", "bigru", "cnn", "tfidf")
CALLS = (3, 10, 40)
WORD = re.compile(r"\w+|[^\w\s]")
Predict = Callable[[Sequence[str]], NDArray[np.float32]]


class _Network(nn.Module):
    """Padded ids and their mask to class scores."""

    def __init__(self, words: int, classes: int, kind: str, width: int = 96) -> None:
        super().__init__()
        self.kind, self.embedding = kind, nn.Embedding(words, width, padding_idx=0)
        if kind == "transformer":
            layer = nn.TransformerEncoderLayer(width, 4, 2 * width, 0.2, batch_first=True, norm_first=True)
            self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.places = nn.Embedding(512, width)
        elif kind == "bigru":
            self.body = nn.GRU(width, 64, batch_first=True, bidirectional=True)
        else:
            self.body = nn.ModuleList(nn.Conv1d(width, 64, size, padding=size // 2) for size in (3, 5, 7))
        self.dropout = nn.Dropout(0.4)
        self.head = nn.Linear({"transformer": width, "bigru": 128, "cnn": 192}[kind], classes)

    def forward(self, ids: Tensor) -> Tensor:
        mask = ids > 0
        inputs = self.dropout(self.embedding(ids))
        if self.kind == "transformer":
            inputs = inputs + self.places(torch.arange(ids.shape[1]).clamp(max=511))
            hidden = self.body(inputs, src_key_padding_mask=~mask) * mask[..., None]
            pooled = hidden.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
        elif self.kind == "bigru":
            packed = nn.utils.rnn.pack_padded_sequence(
                inputs, mask.sum(1).clamp(min=1), batch_first=True, enforce_sorted=False
            )
            pooled = self.body(packed)[1].transpose(0, 1).flatten(1)
        else:
            hidden = [part(inputs.transpose(1, 2)).relu().masked_fill(~mask[:, None], 0) for part in self.body]
            pooled = torch.cat([part.amax(2) for part in hidden], 1)
        return self.head(self.dropout(pooled))


class NetworkPipeline:
    """A network with its own tokenizer: strings to probabilities."""

    def __init__(self, kind: str, train: Corpus, epochs: int, seed: int, longest: int) -> None:
        counts = Counter(word for text in train.texts for word in self.split(text))
        self.ids = {word: at for at, (word, n) in enumerate(counts.most_common(), 2) if n > 1}
        self.longest = longest
        torch.manual_seed(seed)
        self.network = _Network(len(self.ids) + 2, len(train.class_names), kind)
        self._train(train, epochs)

    @staticmethod
    def split(text: str) -> list[str]:
        return WORD.findall(text.lower())

    def _batch(self, texts: Sequence[str]) -> Tensor:
        rows = [[self.ids.get(word, 1) for word in self.split(text)[: self.longest]] or [1] for text in texts]
        return nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True)

    def _train(self, train: Corpus, epochs: int) -> None:
        optimiser = torch.optim.AdamW(self.network.parameters(), 1e-3, weight_decay=0.01)
        labels = torch.as_tensor(np.asarray(train.labels))
        for epoch in range(epochs):
            order = np.random.default_rng(epoch).permutation(len(train))
            lengths = np.array([len(train.texts[at]) for at in order])
            for start in range(0, len(order), 4096):
                part = order[start : start + 4096][np.argsort(lengths[start : start + 4096])]
                for first in range(0, len(part), 64):
                    some = part[first : first + 64]
                    ids = self._batch([train.texts[at] for at in some])
                    ids = torch.where((torch.rand(ids.shape) < 0.05) & (ids > 0), 1, ids)
                    loss = nn.functional.cross_entropy(self.network(ids), labels[some])
                    optimiser.zero_grad()
                    loss.backward()
                    optimiser.step()
        self.network.eval()

    @torch.inference_mode()
    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        order = np.argsort([len(text) for text in texts])
        outputs = np.empty((len(texts), self.network.head.out_features), np.float32)
        for first in range(0, len(order), 128):
            some = order[first : first + 128]
            outputs[some] = self.network(self._batch([texts[at] for at in some])).softmax(-1).numpy()
        return outputs


def trained(kind: str, name: str, train: Corpus, quick: bool) -> Predict:
    """A model on a data set, trained once and kept under benchmarks/.cache."""
    if kind == "tfidf":
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        pipeline = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), min_df=2), LogisticRegression(C=10, max_iter=1000))
        return pipeline.fit(list(train.texts), np.asarray(train.labels)).predict_proba
    CACHE.mkdir(exist_ok=True)
    path = CACHE / f"anymodel-{kind}-{name}-{len(train)}{'-quick' if quick else ''}.pt"
    epochs, longest = (0 if path.exists() else 3 if quick else 8), 400
    model = NetworkPipeline(kind, train, epochs, 0, longest)
    if path.exists():
        model.network.load_state_dict(torch.load(path, weights_only=True))
    else:
        torch.save(model.network.state_dict(), path)
    return model


class Row(NamedTuple):
    """What one extraction reached on test texts."""

    cr: float
    jsd: float
    calls: int
    cpu_seconds: float


def fidelity_of(wfa: wl.WFA, truth: NDArray[np.floating], texts: Sequence[str]) -> tuple[float, float]:
    """CR and JSD against the model's answers to the raw texts."""
    outputs = wfa.predict_proba(list(texts))
    return float(np.mean(outputs.argmax(1) == truth.argmax(1))), float(jensen_shannon(outputs, truth).mean())


def bag_cr(predict: Predict, train: Corpus, test: Corpus, truth: NDArray[np.floating]) -> float:
    """A bag of words fitted to the model's classes of the training texts."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    bag = make_pipeline(CountVectorizer(token_pattern=r"\w+|[^\w\s]"), LogisticRegression(max_iter=1000))  # noqa: S106
    bag.fit(list(train.texts), predict(list(train.texts)).argmax(1))
    return float(np.mean(bag.predict(list(test.texts)) == truth.argmax(1)))


def extracted(predict: Predict, train: Corpus, test: Corpus, truth: NDArray[np.floating], calls: int | None) -> Row:
    """Extract a linear automaton with so many calls a text and one per word; None: from all prefixes."""
    if calls is None:
        encoder = wl.TextEncoder.of_texts(train.texts, "basic_english")
        model = _AllPrefixes(predict, encoder, train.class_names)
        queries = None
    else:
        model = wl.wrap(predict, texts=train, classes=train.class_names, reads="text")
        queries = calls * len(train) + len(model.encoder.vocabulary)
    asked, began = model.queries, time.process_time()
    wfa = wl.extract(model, train, wl.Linear(), queries=queries)
    seconds = time.process_time() - began
    return Row(*fidelity_of(wfa, truth, test.texts), model.queries - asked, seconds)


class _AllPrefixes(FunctionClassifier):
    """Asked for every prefix of every text, as if one pass gave them all."""

    asks_every_prefix = False

    def __init__(self, predict: Predict, encoder: wl.TextEncoder, class_names: Sequence[str]) -> None:
        super().__init__(lambda prefixes: predict([" ".join(words) for words in prefixes]), encoder, class_names)


def main() -> None:
    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--models", default=",".join(MODELS), help="which, with commas between")
        parser.add_argument("--sets", default="tagmynews,rotten_tomatoes", help="data sets; imdb: full film reviews")
        parser.add_argument("--texts", type=int, default=5000, help="training texts of the extraction")
        parser.add_argument("--model-texts", type=int, help="training texts of the models (default: all)")
        parser.add_argument("--calls", default=",".join(map(str, CALLS)), help="calls a text")
        parser.add_argument("--all-prefixes", action="store_true", help="also learn from all prefixes (slow)")

    options = arguments(__doc__.splitlines()[0], add)
    result: dict[str, object] = {}
    rows: list[list[object]] = []
    sets = [name for name in options.sets.split(",") if is_available(name, options.data)]
    for name in sets[-1:] if options.quick else sets:
        whole, test = (load_dataset(name, split, options.data) for split in ("train", "test"))
        test = test.sample(300 if options.quick else 2000, 0)
        train = whole.sample(600 if options.quick else options.texts, 0)
        taught = whole if options.model_texts is None else whole.sample(options.model_texts, 1)
        for kind in ("tfidf",) if options.quick else options.models.split(","):
            predict = trained(kind, name, taught, options.quick)
            truth = predict(list(test.texts))
            bag = bag_cr(predict, train, test, truth)
            budgets = [int(calls) for calls in options.calls.split(",")]
            for calls in (budgets[:1] if options.quick else budgets) + ([None] if options.all_prefixes else []):
                row = extracted(predict, train, test, truth, calls)
                label = "all prefixes" if calls is None else f"{calls} calls"
                rows.append([name, kind, label, row.cr, row.jsd, bag, row.calls, row.cpu_seconds])
                show("", ["set", "model", "asked", "cr", "jsd", "bag_cr", "calls", "cpu_seconds"], rows[-1:])
                key = f"{name}.{kind}.{'all' if calls is None else calls}"
                result[key] = row._asdict() | {"bag_cr": bag}
    show("Fidelity against model calls", ["set", "model", "asked", "cr", "jsd", "bag_cr", "calls", "cpu_seconds"], rows)
    finish(options, result)


if __name__ == "__main__":
    main()
