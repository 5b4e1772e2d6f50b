"""Keras files as stepwise classifiers."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wfalens.errors import FormatError, InputError, ModelError
from wfalens.messages import reason_of
from wfalens.models.base import Classifier
from wfalens.models.checks import readout_named
from wfalens.models.contract import PrefixClassifier, State, checked_probabilities
from wfalens.models.inference import state_traces
from wfalens.models.keras.keras_file import StoredModel, read_keras
from wfalens.models.keras.keras_network import RecurrentNetwork, plain_network, table_width
from wfalens.models.keras.keras_tables import TableNetwork, table_network
from wfalens.models.padded import TableForm, TextTableClassifier
from wfalens.models.preprocessing import EXACT, Preprocessing, found_card
from wfalens.ragged import Ragged
from wfalens.text.encoder import LEFT, TextEncoder
from wfalens.text.vocabulary import PADDING

if TYPE_CHECKING:
    from wfalens.text.corpus import Corpus

_LIKELY_PADS = 0.75  # of the width: what stands before a short text


def load_keras(
    path: str | Path,
    card: Preprocessing | None = None,
    *,
    padding: str | None = None,
    cutting: str | None = None,
    labelled: Corpus | None = None,
) -> PrefixClassifier:
    """A classifier from a Keras file (.h5 or .keras) and its card: the one given, else the JSON file beside it.

    Embedding → LSTM, GRU or SimpleRNN → Dense is read without Keras and becomes steppable. A network of fixed width
    that was padded on the left and does not mask its padding starts every text from the state after some pads; padded
    on the right, or with `"reading": "exact"` in the card, every prefix is asked as a padded table of its own. So are
    networks of fixed width with convolutions, pooling or recurrent layers in both directions, which are read without
    Keras too. All other models are run by Keras and asked the same way.

    Args:
        path: of the file.
        card: words and classes (None: the JSON file beside it).
        padding: "right" or "left", in place of what the card says.
        cutting: "right" or "left", in place of what the card says.
        labelled: texts with labels; the model is refused if it agrees with them much better when it is read
            otherwise.

    Examples:
        >>> from wfalens import load_keras
        >>> load_keras("missing.keras")
        Traceback (most recent call last):
            ...
        wfalens.errors.InputError: missing.keras: no such file
    """
    from wfalens.models.preprocessing_check import require_reading

    path = Path(path)
    stored = read_keras(path)
    card = (card or found_card(path)).read_as(padding, cutting)
    network = _known_network(stored)
    model = _run_by_keras(stored, card) if network is None else _opened(stored, network, card)
    if labelled is not None:
        require_reading(model, labelled)
    return model


def _known_network(stored: StoredModel) -> RecurrentNetwork | TableNetwork | None:
    """The network of a file that can be read without Keras, None for others."""
    try:
        return plain_network(stored) or table_network(stored)
    except (KeyError, TypeError, AttributeError, RuntimeError) as error:
        raise FormatError(f"{stored.path}: a layer is not described as Keras does it ({reason_of(error)})") from None


def _opened(stored: StoredModel, network: RecurrentNetwork | TableNetwork, card: Preprocessing) -> PrefixClassifier:
    check_rows(card, len(network.embedding), stored.path)
    classes = 2 if network.outputs == "binary" else len(network.head[-1][1])
    if len(card.class_names) != classes:
        raise InputError(f"{stored.path} tells {classes} classes apart, but its card names {len(card.class_names)}")
    width = None if isinstance(network, RecurrentNetwork) and network.masks_zero else network.width  # pads are not read
    side = checked_side(card, width, stored.path)
    if card.outputs is not None and card.outputs != network.outputs:
        raise InputError(f"{stored.path} gives {network.outputs}, but its card says {card.outputs}")
    encoder = TableForm(None, network.width).read_by(card.encoder)
    told = f"{stored.fingerprint}{card.word_ids.tolist()}{side}{encoder.told}"
    if isinstance(network, RecurrentNetwork) and (width is None or (side == LEFT and card.reading != EXACT)):
        pads = 0 if width is None else card.pads if card.pads is not None else round(_LIKELY_PADS * width)
        fingerprint = _digest(f"{told}{pads}")
        return KerasRecurrentClassifier(network, encoder, card.class_names, card.word_ids, pads, fingerprint)
    _check_runs(stored, network)
    form = TableForm(card.word_ids, width, side)
    return exact_classifier(network, encoder, card.class_names, form, _digest(f"{told}exact"), card.prior)


def _check_runs(stored: StoredModel, network: RecurrentNetwork | TableNetwork) -> None:
    """Refuse layers that cannot read what the layers before them give."""
    try:
        network.table(np.zeros((1, network.width or 1), np.int64))
    except (RuntimeError, ValueError, IndexError) as error:
        raise FormatError(f"{stored.path}: its layers do not fit one another ({reason_of(error)})") from None


def exact_classifier(
    network: RecurrentNetwork | TableNetwork,
    encoder: TextEncoder,
    class_names: tuple[str, ...],
    form: TableForm,
    fingerprint: str,
    prior: NDArray[np.float32] | None = None,
) -> TextTableClassifier:
    """A network that is asked for every prefix as a padded table of its own."""
    return TextTableClassifier(
        network.table,
        encoder,
        class_names,
        form=form,
        outputs=network.outputs,
        fingerprint=fingerprint,
        initial_output=prior,
    )


class KerasRecurrentClassifier(Classifier):
    """White box: goes on from a state, which starts after a number of pads."""

    is_concurrent = True

    def __init__(
        self,
        network: RecurrentNetwork,
        encoder: TextEncoder,
        class_names: tuple[str, ...],
        word_ids: NDArray[np.int64],
        pads: int,
        fingerprint: str,
    ) -> None:
        self.network, self.encoder, self.class_names = network, encoder, class_names
        self.form = TableForm(word_ids, network.width, LEFT)
        self.pads, self.fingerprint = pads, fingerprint
        self._word_ids = torch.from_numpy(word_ids)
        self._read_out = readout_named(network.outputs)
        self._start = self._after_pads()

    @property
    def embedding(self) -> NDArray[np.float32]:
        """(vocabulary, inputs)"""
        return np.asarray(self.network.embedding[self._word_ids].numpy(), np.float32)

    @property
    def initial_output(self) -> NDArray[np.float32]:
        (prior,) = self._outputs(self._start)
        return np.asarray(prior, np.float32)

    def initial_state(self, batch: int) -> State:
        return np.asarray(self._start.numpy().repeat(batch, 0))

    @torch.inference_mode()
    def step(self, state: State, ids: NDArray[np.int32]) -> tuple[State, NDArray[np.float32]]:
        after = self.network.step(torch.from_numpy(state), self._rows(ids))
        return after.numpy(), self._outputs(after)

    @property
    def has_grid(self) -> bool:
        return self.network.has_grid

    @torch.inference_mode()
    def step_grid(self, state: State, ids: NDArray[np.int32]) -> NDArray[np.float32]:
        outputs = np.empty((len(state), len(ids), len(self.class_names)), np.float32)
        for block, parts in self.network.grid(torch.from_numpy(state), self._rows(ids)):
            outputs[block] = self._read_out(self.network.said(parts[0]).numpy())
        return outputs

    @torch.inference_mode()
    def state_grid(self, state: State, ids: NDArray[np.int32]) -> tuple[State, NDArray[np.float32]]:
        states = np.empty((len(state), len(ids), state.shape[1]), np.float32)
        outputs = np.empty((len(state), len(ids), len(self.class_names)), np.float32)
        for block, parts in self.network.grid(torch.from_numpy(state), self._rows(ids)):
            torch.cat(parts, -1, out=torch.from_numpy(states[block]))
            outputs[block] = self._read_out(self.network.said(parts[0]).numpy())
        return states, outputs

    def trace(self, ids: Ragged[np.int32]) -> Ragged[np.float32]:
        values = np.empty((len(ids.values), len(self.class_names)), np.float32)
        for places, _, outputs in state_traces(self, ids):
            values[places] = outputs
        return Ragged(values, ids.offsets)

    def exact(self) -> TextTableClassifier:
        """The same network, asked for every prefix as a table with exactly the pads that it was made for."""
        return self.reread(self.form, self.encoder.cutting_side)

    def reread(self, form: TableForm, cutting_side: str) -> TextTableClassifier:
        """The same network read otherwise, every prefix as a table."""
        encoder = replace(self.encoder, cutting_side=cutting_side)
        return exact_classifier(self.network, encoder, self.class_names, form, self.fingerprint)

    @torch.inference_mode()
    def _after_pads(self) -> Tensor:
        state = torch.zeros(1, self.network.size)
        for _ in range(self.pads):
            state = self.network.step(state, self._word_ids[[PADDING]])
        return state

    def _rows(self, ids: NDArray[np.int32]) -> Tensor:
        return self._word_ids[torch.from_numpy(np.asarray(ids, np.int64))]

    @torch.inference_mode()
    def _outputs(self, state: Tensor) -> NDArray[np.float32]:
        rows = self._read_out(self.network.read_out(state).numpy())
        return checked_probabilities(rows, len(state), len(self.class_names), "the network")


def _run_by_keras(stored: StoredModel, card: Preprocessing) -> PrefixClassifier:
    from wfalens.models.keras.keras_model import wrap_keras
    from wfalens.models.keras.legacy import last_activation, load_old

    model: Any = load_old(stored)
    rows = next((layer.weights[0].shape[0] for layer in stored.layers or () if layer.kind == "Embedding"), None)
    if rows is not None:
        check_rows(card, rows, stored.path)
    side = checked_side(card, table_width(stored), stored.path)
    return wrap_keras(
        model,
        card.encoder,
        card.class_names,
        outputs=card.outputs or last_activation(model, stored.path),
        padding=side,
        word_ids=card.word_ids,
        initial_output=card.initial_output,
    )


def checked_side(card: Preprocessing, width: int | None, path: Path) -> str:
    """The side on which tables of a fixed width are padded, refused if nobody told it."""
    if width is not None and card.padding_side is None:
        raise InputError(
            f"{path} reads tables of {width} words and the padding in them; say in its card on which side texts are "
            'padded ("padding_side": "left" after pad_sequences with its defaults, which also cuts on the left: '
            '"cutting_side": "left")'
        )
    return card.padding_side or LEFT


def check_rows(card: Preprocessing, rows: int, path: Path) -> None:
    """Refuse a card with more words than a model has vectors for."""
    if len(card.words) > rows:
        raise ModelError(
            f"{path} has vectors for {rows:,} words, but its card lists {len(card.words):,}: they are not the words of "
            "this model"
        )


def _digest(told: str) -> str:
    return hashlib.sha256(told.encode()).hexdigest()[:16]
