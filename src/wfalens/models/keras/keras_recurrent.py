"""Plain recurrent Keras files as classifiers: stepped, or asked for every prefix with exactly the pads of each text."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wfalens.errors import FormatError, InputError
from wfalens.messages import reason_of
from wfalens.models.base import Classifier
from wfalens.models.checks import readout_named
from wfalens.models.contract import State, checked_probabilities
from wfalens.models.inference import state_traces
from wfalens.models.keras.keras_file import StoredModel
from wfalens.models.keras.keras_network import RecurrentNetwork, plain_network
from wfalens.models.padded import PaddedForm, PaddedTextClassifier
from wfalens.models.preprocessing import EXACT, Preprocessing
from wfalens.ragged import Ragged
from wfalens.text.encoder import LEFT, TextEncoder
from wfalens.text.vocabulary import PADDING

_LIKELY_PADS = 0.75  # of the width: what stands before a short text


def recurrent_classifier(
    stored: StoredModel, read: Preprocessing
) -> KerasRecurrentClassifier | PaddedTextClassifier | None:
    """The classifier of a file whose network is plain; None for others.

    A network of fixed width that was padded on the left and does not mask its padding starts every text from the state
    after some pads; padded on the right, or with `"reading": "exact"`, every prefix is asked as a padded text.
    """
    try:
        network = plain_network(stored)
        if network is None:
            return None
        network.batch_outputs(np.zeros((1, network.width or 1), np.int64))  # do the layers fit one another?
    except (KeyError, TypeError, AttributeError, RuntimeError, ValueError, IndexError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{stored.path}: a layer is not described as Keras does it ({reason_of(error)})") from None
    stored.check_rows(read, len(network.embedding))
    classes = 2 if network.outputs == "binary" else len(network.head[-1][1])
    if len(read.class_names) != classes:
        raise InputError(
            f"{stored.path} has {classes} classes, but its preprocessing names {len(read.class_names)}", code="classes"
        )
    if read.outputs is not None and read.outputs != network.outputs:
        raise InputError(
            f"{stored.path} gives {network.outputs}, but its preprocessing says {read.outputs}", code="outputs"
        )
    width = None if network.masks_zero else network.width  # pads are not read
    side = stored.checked_side(read, width)
    encoder = PaddedForm(None, network.width).read_by(read.encoder)
    about = f"{stored.fingerprint}{read.word_ids.tolist()}{side}{encoder.settings}"
    if width is None or (side == LEFT and read.reading != EXACT):
        pads = 0 if width is None else read.pads if read.pads is not None else round(_LIKELY_PADS * width)
        return KerasRecurrentClassifier(
            network, encoder, read.class_names, read.word_ids, pads, _digest(f"{about}{pads}")
        )
    form = PaddedForm(read.word_ids, width, side)
    return exact_classifier(network, encoder, read.class_names, form, _digest(f"{about}exact"), read.prior)


def exact_classifier(
    network: RecurrentNetwork,
    encoder: TextEncoder,
    class_names: tuple[str, ...],
    form: PaddedForm,
    fingerprint: str,
    prior: NDArray[np.float32] | None = None,
) -> PaddedTextClassifier:
    """A network that is asked for every prefix as a padded text of its own."""
    return PaddedTextClassifier(
        network.batch_outputs,
        encoder,
        class_names,
        form=form,
        outputs=network.outputs,
        fingerprint=fingerprint,
        initial_output=prior,
    )


class KerasRecurrentClassifier(Classifier):
    """White box: continues from a state, which starts after a number of pads."""

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
        self.form = PaddedForm(word_ids, network.width, LEFT)
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
            outputs[block] = self._read_out(self.network.dense(parts[0]).numpy())
        return outputs

    @torch.inference_mode()
    def state_grid(self, state: State, ids: NDArray[np.int32]) -> tuple[State, NDArray[np.float32]]:
        states = np.empty((len(state), len(ids), state.shape[1]), np.float32)
        outputs = np.empty((len(state), len(ids), len(self.class_names)), np.float32)
        for block, parts in self.network.grid(torch.from_numpy(state), self._rows(ids)):
            torch.cat(parts, -1, out=torch.from_numpy(states[block]))
            outputs[block] = self._read_out(self.network.dense(parts[0]).numpy())
        return states, outputs

    def trace(self, ids: Ragged[np.int32]) -> Ragged[np.float32]:
        values = np.empty((len(ids.values), len(self.class_names)), np.float32)
        for places, _, outputs in state_traces(self, ids):
            values[places] = outputs
        return Ragged(values, ids.offsets)

    def exact(self) -> PaddedTextClassifier:
        """The same network, asked for every prefix as a padded text with exactly the pads that it was made for."""
        return self.reread(self.form, self.encoder.truncation_side)

    def reread(self, form: PaddedForm, truncation_side: str) -> PaddedTextClassifier:
        """The same network read otherwise, every prefix as a padded batch of its own."""
        encoder = replace(self.encoder, truncation_side=truncation_side)
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


def _digest(about: str) -> str:
    return hashlib.sha256(about.encode()).hexdigest()[:16]
