"""Built-in causal classifiers: embedding, recurrent layers, one class distribution after every word."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wfalens.errors import InputError
from wfalens.memory import check_in_use
from wfalens.models.base import Classifier
from wfalens.models.contract import State, checked_probabilities, is_language_model
from wfalens.models.inference import TOKENS_PER_BATCH, trace_padded
from wfalens.models.rnn.gates import GATES, grid
from wfalens.ragged import Ragged
from wfalens.storage import StoredFile, read_file, write_file
from wfalens.text.encoder import TextEncoder, restore_encoder, store_encoder
from wfalens.text.tokenizers import Tokenizer
from wfalens.text.vocabulary import PADDING, UNKNOWN
from wfalens.text.word_vectors import WordVectors
from wfalens.validation import Bounds, Options, option, real, whole

FORMAT, VERSION = "rnn", 1
CELLS: dict[str, Callable[..., nn.RNNBase]] = {"lstm": nn.LSTM, "gru": nn.GRU, "elman": nn.RNN}
_LARGEST_WEIGHT = 1e9  # states lie between -1 and 1, so that no sum leaves single precision, however long the text


@dataclass(frozen=True, kw_only=True)
class RNNConfig(Options):
    """Shape of the network; the defaults are the paper's.

    Examples:
        >>> from wfalens import RNNConfig
        >>> RNNConfig(cell="gru", hidden=32).embedding
        100
    """

    cell: str = option("lstm", "lstm, gru or elman", CELLS)
    embedding: int = option(100, "numbers in a word's vector", Bounds(whole, 1, 1 << 16))
    hidden: int = option(64, "numbers in a layer's state", Bounds(whole, 1, 1 << 16))
    layers: int = option(1, "recurrent layers, one above the other", Bounds(whole, 1, 64))
    dropout: float = option(0.5, "share of numbers that training leaves out", Bounds(real, 0, 1, excluded=(1,)))


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

    def begun(self, ids: Tensor) -> Tensor:
        """Logits before any word, too, of texts that begin with `<unk>`; (batch, time) -> (batch, time + 1, classes)"""
        begun: Tensor = self(torch.cat([torch.full_like(ids[:, :1], UNKNOWN), ids], 1))
        return begun

    def last_logits(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Logits after the last word only: (batch, time), (batch,) -> (batch, classes)."""
        hidden, _ = self.recurrent(self.dropout(self.embedding(ids)))
        logits: Tensor = self.output(self.dropout(hidden[torch.arange(len(ids)), lengths - 1]))
        return logits


class RNNClassifier(Classifier):
    """A trained network with its vocabulary and classes; it can be stepped.

    Args:
        network: the torch module, put into evaluation mode.
        encoder: how a text becomes ids.
        class_names: in the order of the outputs.

    Examples:
        >>> from wfalens.models import RNNClassifier
        >>> network.save("films.rnn")
        >>> RNNClassifier.load("films.rnn").class_names
        ('neg', 'pos')
    """

    is_concurrent = True

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
        """One class distribution per token: row t scores the prefix that ends there. -> (tokens, classes)

        Args:
            ids: word ids of texts; no text may be empty

        Examples:
            >>> network.trace(network.encoder.encode(["a good film"])).values.shape
            (3, 2)
        """
        trace = trace_padded(ids, len(self.class_names), lambda batch: self._batch_outputs(torch.from_numpy(batch)))
        checked_probabilities(trace.values, len(ids.values), len(self.class_names), "the network")
        return trace

    def _batch_outputs(self, batch: Tensor) -> NDArray[np.float32]:
        # (batch, time) -> (batch, time, classes)
        logits: Tensor = self.network.begun(batch)[:, 1:] if self._begins else self.network(batch)
        return logits.softmax(-1).numpy()

    @property
    def initial_output(self) -> NDArray[np.float32]:
        prior: NDArray[np.float32] = self._outputs(self.initial_state(1))[0]
        return prior

    def initial_state(self, batch: int) -> State:
        """Internal states before any word; (batch, width).

        Args:
            batch: how many
        """
        parts = 2 if self.config.cell == "lstm" else 1
        nothing = np.zeros((batch, parts * self.config.layers * self.config.hidden), np.float32)
        return self.step(nothing, np.full(batch, UNKNOWN, np.int32))[0] if self._begins else nothing

    @cached_property
    def _begins(self) -> bool:
        """A language model reads `<unk>` before any symbol, so that it can learn which symbol comes first."""
        return is_language_model(self)

    @torch.inference_mode()
    def step(self, state: State, ids: NDArray[np.int32]) -> tuple[State, NDArray[np.float32]]:
        """Read one word per row and continue from there: new states, and outputs (batch, classes).

        Args:
            state: internal states, (batch, width): `initial_state(batch)`, or what a step returned
            ids: a word for each, (batch,)

        Examples:
            >>> state, outputs = network.step(network.initial_state(2), np.array([2, 3]))
            >>> outputs.shape
            (2, 2)
        """
        inputs = self.network.embedding(torch.from_numpy(np.asarray(ids, np.int64)))[:, None]
        parts = self._unpack(state)
        _, after = self.network.recurrent(inputs, parts if self.config.cell == "lstm" else parts[0])
        new = self._pack(after if self.config.cell == "lstm" else (after,))
        return new, self._outputs(new)

    @torch.inference_mode()
    def step_grid(self, state: State, ids: NDArray[np.int32]) -> NDArray[np.float32]:
        outputs = np.empty((len(state), len(ids), len(self.class_names)), np.float32)
        for block, parts in self._grid(state, ids):
            outputs[block] = self.network.output(parts[0]).softmax(-1).numpy()
        return outputs

    @torch.inference_mode()
    def state_grid(self, state: State, ids: NDArray[np.int32]) -> tuple[State, NDArray[np.float32]]:
        states = np.empty((len(state), len(ids), state.shape[1]), np.float32)
        outputs = np.empty((len(state), len(ids), len(self.class_names)), np.float32)
        for block, parts in self._grid(state, ids):
            torch.cat(parts, -1, out=torch.from_numpy(states[block]))
            outputs[block] = self.network.output(parts[0]).softmax(-1).numpy()
        return states, outputs

    @property
    def has_grid(self) -> bool:
        return self.config.layers == 1

    def _grid(self, state: State, ids: NDArray[np.int32]) -> Iterator[tuple[slice, tuple[Tensor, ...]]]:
        """The parts of the new states, for some states after the other; -> parts: (states, words, hidden)"""
        before = [part[0] for part in self._unpack(state)]
        weights = dict(self.network.recurrent.named_parameters())
        words = self.network.embedding(torch.from_numpy(np.asarray(ids, np.int64)))
        by_word = torch.addmm(weights["bias_ih_l0"], words, weights["weight_ih_l0"].T)
        by_state = torch.addmm(weights["bias_hh_l0"], before[0], weights["weight_hh_l0"].T)
        return grid(by_word, by_state, before, GATES[self.config.cell])

    def save(self, path: str | Path) -> None:
        """Write a checkpoint (`.rnn`), atomically.

        Args:
            path: where; an existing file is replaced

        Examples:
            >>> network.save("films.rnn")
        """
        header, tensors = store_encoder(self.encoder)
        header |= {"class_names": list(self.class_names), "config": asdict(self.config)}
        weights = {f"network.{name}": tensor.numpy() for name, tensor in self.network.state_dict().items()}
        check_in_use(_bytes_in_use(self.network), sum(array.nbytes for array in weights.values()))
        write_file(path, FORMAT, VERSION, header, tensors | weights)

    @classmethod
    def load(cls, path: str | Path, tokenizer: Tokenizer | None = None) -> RNNClassifier:
        """Read a checkpoint; everything in it is checked, nothing is executed.

        Args:
            path: a file that `save` wrote
            tokenizer: the model's own tokenizer, if it had one: files do not hold code

        Examples:
            >>> network.save("films.rnn")
            >>> RNNClassifier.load("films.rnn").fingerprint == network.fingerprint
            True
        """
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
