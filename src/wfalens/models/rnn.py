"""Built-in causal classifiers: embedding, recurrent layers, one class distribution after every word."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wfalens.bounds import Bounds, check_choice, check_numbers, real, whole
from wfalens.corpus.encoder import TextEncoder
from wfalens.corpus.encoder_file import restore_encoder, store_encoder
from wfalens.corpus.tokenizers import Tokenizer
from wfalens.corpus.vectors import WordVectors
from wfalens.corpus.vocabulary import PADDING
from wfalens.errors import InputError
from wfalens.memory import check_in_use
from wfalens.models.batches import TOKENS_PER_BATCH, trace_padded
from wfalens.models.contract import State, checked_probabilities
from wfalens.ragged import Ragged
from wfalens.storage import StoredFile, read_file, write_file

FORMAT, VERSION = "rnn", 1
CELLS: dict[str, Callable[..., nn.RNNBase]] = {"lstm": nn.LSTM, "gru": nn.GRU, "elman": nn.RNN}
_BOUNDS = {
    "embedding": Bounds(whole, 1, 1 << 16),
    "hidden": Bounds(whole, 1, 1 << 16),
    "layers": Bounds(whole, 1, 64),
    "dropout": Bounds(real, 0, 1, excluded=(1,)),
}
_LARGEST_WEIGHT = 1e9  # states lie between -1 and 1, so that no sum leaves single precision, however long the text
_GRID_FLOATS = 1 << 18  # gate values held at once in `step_grid`


@dataclass(frozen=True, kw_only=True)
class RNNConfig:
    """Shape of the network; the defaults are the paper's."""

    cell: str = "lstm"
    embedding: int = 100
    hidden: int = 64
    layers: int = 1
    dropout: float = 0.5

    def __post_init__(self) -> None:
        check_choice("cell", self.cell, CELLS)
        check_numbers(self, _BOUNDS)


class RNNNetwork(nn.Module):
    """ids (batch, time) -> logits (batch, time, classes)."""

    def __init__(self, config: RNNConfig, words: int, classes: int) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(words, config.embedding, padding_idx=PADDING)
        self.recurrent = CELLS[config.cell](
            config.embedding,
            config.hidden,
            config.layers,
            batch_first=True,
            dropout=config.dropout if config.layers > 1 else 0.0,
        )
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(config.hidden, classes)

    def forward(self, ids: Tensor) -> Tensor:
        hidden, _ = self.recurrent(self.dropout(self.embedding(ids)))
        logits: Tensor = self.output(self.dropout(hidden))
        return logits

    def last_logits(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Logits after the last word only: (batch, time), (batch,) -> (batch, classes)."""
        hidden, _ = self.recurrent(self.dropout(self.embedding(ids)))
        logits: Tensor = self.output(self.dropout(hidden[torch.arange(len(ids)), lengths - 1]))
        return logits


class RNNClassifier:
    """A trained network with its vocabulary and classes: a steppable classifier."""

    def __init__(self, network: RNNNetwork, encoder: TextEncoder, class_names: tuple[str, ...]) -> None:
        self.network = network.eval()
        self._encoder = encoder
        self._class_names = class_names

    @classmethod
    def untrained(
        cls,
        config: RNNConfig,
        encoder: TextEncoder,
        class_names: tuple[str, ...],
        seed: int = 0,
        vectors: WordVectors | None = None,
    ) -> RNNClassifier:
        """Fresh weights; embedding rows of words that have a vector start from it."""
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            network = RNNNetwork(config, len(encoder.vocabulary), len(class_names))
        if vectors is not None:
            _fill_embedding(network.embedding, encoder, vectors)
        return cls(network, encoder, class_names)

    @property
    def class_names(self) -> tuple[str, ...]:
        return self._class_names

    @property
    def encoder(self) -> TextEncoder:
        return self._encoder

    @property
    def config(self) -> RNNConfig:
        return self.network.config

    @property
    def embedding(self) -> NDArray[np.float32]:
        return self.network.embedding.weight.detach().numpy()

    @cached_property
    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        for name, tensor in sorted(self.network.state_dict().items()):
            digest.update(name.encode())
            digest.update(tensor.numpy().tobytes())
        return digest.hexdigest()[:16]

    @torch.inference_mode()
    def trace(self, ids: Ragged[np.int32]) -> Ragged[np.float32]:
        trace = trace_padded(ids, len(self.class_names), lambda table: self._table_outputs(torch.from_numpy(table)))
        checked_probabilities(trace.values, len(ids.values), len(self.class_names), "the network")
        return trace

    def _table_outputs(self, table: Tensor) -> NDArray[np.float32]:
        # (batch, time) -> (batch, time, classes)
        logits: Tensor = self.network(table)
        return logits.softmax(-1).numpy()

    def predict_proba(self, texts: list[str]) -> NDArray[np.float32]:
        """Class distributions after the last word; (texts, classes). A text without words gets the prior."""
        ids = self.encoder.encode(texts)
        outputs = np.tile(self.initial_output, (len(ids), 1))
        worded = np.flatnonzero(ids.lengths)
        if len(worded):
            outputs[worded] = self.trace(ids.take(worded)).last()
        return outputs

    @property
    def initial_output(self) -> NDArray[np.float32]:
        prior: NDArray[np.float32] = self._outputs(self.initial_state(1))[0]
        return prior

    def initial_state(self, batch: int) -> State:
        parts = 2 if self.config.cell == "lstm" else 1
        return np.zeros((batch, parts * self.config.layers * self.config.hidden), np.float32)

    @torch.inference_mode()
    def step(self, state: State, ids: NDArray[np.int32]) -> tuple[State, NDArray[np.float32]]:
        inputs = self.network.embedding(torch.from_numpy(np.asarray(ids, np.int64)))[:, None]
        parts = self._unpack(state)
        _, after = self.network.recurrent(inputs, parts if self.config.cell == "lstm" else parts[0])
        new = self._pack(after if self.config.cell == "lstm" else (after,))
        return new, self._outputs(new)

    @torch.inference_mode()
    def step_grid(self, state: State, ids: NDArray[np.int32]) -> NDArray[np.float32]:
        """Read every word from every state.

        The first layer's input part depends on the word only and its recurrent part on the state only, so each
        is one matrix product; a pair costs an addition and the gates.
        """
        if self.config.layers > 1:
            pairs = np.repeat(state, len(ids), axis=0), np.tile(ids, len(state))
            return self.step(*pairs)[1].reshape(len(state), len(ids), -1)
        parts = [part[0] for part in self._unpack(state)]
        weights = dict(self.network.recurrent.named_parameters())
        words = self.network.embedding(torch.from_numpy(np.asarray(ids, np.int64)))
        by_word = torch.addmm(weights["bias_ih_l0"], words, weights["weight_ih_l0"].T)
        by_state = torch.addmm(weights["bias_hh_l0"], parts[0], weights["weight_hh_l0"].T)
        outputs = np.empty((len(state), len(ids), len(self.class_names)), np.float32)
        rows = max(1, _GRID_FLOATS // max(1, by_word.numel()))
        for start in range(0, len(state), rows):
            block = slice(start, start + rows)
            hidden = _GATES[self.config.cell](by_word[None], by_state[block, None], [p[block, None] for p in parts])
            outputs[block] = self.network.output(hidden).softmax(-1).numpy()
        return outputs

    def save(self, path: str | Path) -> None:
        header, tensors = store_encoder(self.encoder)
        header |= {"class_names": list(self.class_names), "config": asdict(self.config)}
        weights = {f"network.{name}": tensor.numpy() for name, tensor in self.network.state_dict().items()}
        check_in_use(_bytes_in_use(self.network), sum(array.nbytes for array in weights.values()))
        write_file(path, FORMAT, VERSION, header, tensors | weights)

    @classmethod
    def load(cls, path: str | Path, tokenizer: Tokenizer | None = None) -> RNNClassifier:
        """Read a checkpoint; a tokenizer of one's own must be given again."""
        file = read_file(path, FORMAT, VERSION)
        encoder, class_names = restore_encoder(file, tokenizer), file.class_names()
        try:
            config = RNNConfig(**file.field("config", dict))
        except (TypeError, InputError) as error:
            raise file.fail(f"its configuration is not valid ({error})") from None
        with torch.device("meta"):  # the weights are taken as they are, without a second copy
            network = RNNNetwork(config, len(encoder.vocabulary), len(class_names))
        network.load_state_dict(_stored_weights(file, network), assign=True)
        return cls(network, encoder, class_names)

    def _outputs(self, state: State) -> NDArray[np.float32]:
        with torch.inference_mode():
            probabilities: Tensor = self.network.output(self._unpack(state)[0][-1]).softmax(-1)
        return probabilities.numpy()

    def _unpack(self, state: State) -> tuple[Tensor, ...]:
        # (batch, parts · layers · hidden) -> per part (layers, batch, hidden)
        tensor = torch.from_numpy(state).view(len(state), -1, self.config.layers, self.config.hidden)
        return tuple(part.transpose(0, 1).contiguous() for part in tensor.unbind(1))

    def _pack(self, parts: tuple[Tensor, ...]) -> State:
        return torch.stack([part.transpose(0, 1) for part in parts], 1).flatten(1).numpy()


def _lstm(by_word: Tensor, by_state: Tensor, parts: list[Tensor]) -> Tensor:
    gate_in, gate_forget, candidate, gate_out = (by_word + by_state).chunk(4, -1)
    cell = gate_forget.sigmoid() * parts[1] + gate_in.sigmoid() * candidate.tanh()
    return gate_out.sigmoid() * cell.tanh()


def _gru(by_word: Tensor, by_state: Tensor, parts: list[Tensor]) -> Tensor:
    reset_w, update_w, new_w = by_word.chunk(3, -1)
    reset_s, update_s, new_s = by_state.chunk(3, -1)
    new = (new_w + (reset_w + reset_s).sigmoid() * new_s).tanh()
    update = (update_w + update_s).sigmoid()
    return new + update * (parts[0] - new)


def _elman(by_word: Tensor, by_state: Tensor, parts: list[Tensor]) -> Tensor:  # noqa: ARG001
    return (by_word + by_state).tanh()


_GATES = {"lstm": _lstm, "gru": _gru, "elman": _elman}


def _stored_weights(file: StoredFile, network: RNNNetwork) -> dict[str, Tensor]:
    """The weights in a file for a network that has none yet."""
    stored = {name[8:]: array for name, array in file.tensors.items() if name.startswith("network.")}
    expected = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    if {name: array.shape for name, array in stored.items()} != expected:
        raise file.fail("its weights do not fit its configuration")
    try:
        check_in_use(_bytes_in_use(network), sum(array.nbytes for array in stored.values()))
    except InputError as error:
        raise file.fail(str(error)) from None
    weights = {name: file.tensor(f"network.{name}", "f", array.ndim) for name, array in stored.items()}
    for name, array in weights.items():
        if np.any(np.abs(array) > _LARGEST_WEIGHT):
            raise file.fail(f"its weights {name!r} are out of range")
    return {name: torch.from_numpy(np.ascontiguousarray(array, np.float32)) for name, array in weights.items()}


def _bytes_in_use(network: RNNNetwork) -> int:
    """About what one batch takes: a word's vector, the gates of a layer and its state, and the classes."""
    config = network.config
    return 4 * TOKENS_PER_BATCH * (config.embedding + 6 * config.hidden + network.output.out_features)


def _fill_embedding(layer: nn.Embedding, encoder: TextEncoder, vectors: WordVectors) -> None:
    if vectors.width != layer.embedding_dim:
        raise InputError(f"the vectors are {vectors.width} wide, the embedding layer {layer.embedding_dim}")
    known = vectors.restricted(encoder.vocabulary.words[1:])
    if len(known) == 0:
        raise InputError(f"{vectors.source} has no vector for any word of the vocabulary")
    rows = [encoder.vocabulary.id_of(word) for word in known.words]
    with torch.no_grad():
        layer.weight[rows] = torch.from_numpy(known.matrix)
