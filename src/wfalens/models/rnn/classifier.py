"""Built-in causal classifiers: embedding, recurrent layers, one class distribution after every word."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wfalens.errors import InputError
from wfalens.memory import check_in_use
from wfalens.models.base import Classifier
from wfalens.models.contract import State, checked_probabilities, fingerprint_of, is_language_model
from wfalens.models.inference import TOKENS_PER_BATCH, trace_padded
from wfalens.models.rnn.gates import GATES, GridSteps, Parts, grid, last_hidden, recurrent_step, zero_state
from wfalens.models.rnn.rnn_options import CELL_NAMES, RNNConfig
from wfalens.ragged import Ragged
from wfalens.storage import StoredFile, read_file, write_file
from wfalens.text.encoder import TextEncoder, restore_encoder, store_encoder
from wfalens.text.tokenizers import Tokenizer
from wfalens.text.vocabulary import PADDING, UNKNOWN
from wfalens.text.word_vectors import WordVectors

FORMAT, VERSION = "rnn", 1
CELLS: dict[str, Callable[..., nn.RNNBase]] = dict(zip(CELL_NAMES, (nn.LSTM, nn.GRU, nn.RNN), strict=True))
_LARGEST_WEIGHT = 1e9  # states lie between -1 and 1, so that no sum leaves single precision, however long the text


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


class RNNClassifier(GridSteps, Classifier):
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
        self.network, self.encoder, self.class_names = network.eval(), encoder, class_names

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
    def config(self) -> RNNConfig:
        return self.network.config

    @property
    def embedding(self) -> NDArray[np.float32]:
        return self.network.embedding.weight.detach().numpy()

    @cached_property
    def fingerprint(self) -> str:  # type: ignore[override]
        weights = sorted(self.network.state_dict().items())
        return fingerprint_of(*(part for name, tensor in weights for part in (name, tensor.numpy())))

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
    @torch.inference_mode()
    def initial_output(self) -> NDArray[np.float32]:
        state = torch.from_numpy(self.initial_state(1))
        return self.read_out(last_hidden(self.network.recurrent, state)[0])

    def initial_state(self, batch: int) -> State:
        """Internal states before any word; (batch, width).

        Args:
            batch: how many
        """
        nothing = zero_state(self.network.recurrent, batch).numpy()
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
        inputs = self.network.embedding(torch.from_numpy(np.asarray(ids, np.int64)))
        after = recurrent_step(self.network.recurrent, inputs, torch.from_numpy(state))
        return after.numpy(), self.read_out(last_hidden(self.network.recurrent, after))

    @property
    def has_grid(self) -> bool:
        return self.config.layers == 1

    def new_parts(self, state: State, ids: NDArray[np.int32]) -> Iterator[tuple[slice, Parts]]:
        """The parts of the new states, for some states after the other; -> parts: (states, words, hidden)"""
        before = [part.contiguous() for part in torch.from_numpy(state).chunk(state.shape[1] // self.config.hidden, 1)]
        weights = dict(self.network.recurrent.named_parameters())
        words = self.network.embedding(torch.from_numpy(np.asarray(ids, np.int64)))
        by_word = torch.addmm(weights["bias_ih_l0"], words, weights["weight_ih_l0"].T)
        by_state = torch.addmm(weights["bias_hh_l0"], before[0], weights["weight_hh_l0"].T)
        gates = partial(GATES[self.config.cell], squash=torch.tanh, gate=torch.sigmoid)
        return grid(by_word, by_state, before, gates)

    def read_out(self, hidden: Tensor) -> NDArray[np.float32]:
        probabilities: Tensor = self.network.output(hidden).softmax(-1)
        return probabilities.numpy()

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
