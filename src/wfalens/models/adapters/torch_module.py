"""Any torch module as a stepwise classifier."""

from __future__ import annotations

import hashlib
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from wfalens.corpus.corpus import named_classes
from wfalens.corpus.encoder import TextEncoder
from wfalens.errors import ModelError
from wfalens.models.batches import TOKENS_PER_BATCH, trace_padded
from wfalens.models.contract import State, StepwiseClassifier, checked_probabilities, uniform
from wfalens.ragged import Ragged


def wrap_module(
    module: nn.Module, encoder: TextEncoder, class_names: tuple[str, ...], tokens_per_batch: int = TOKENS_PER_BATCH
) -> StepwiseClassifier:
    """A classifier from a module `ids (batch, time) -> logits (batch, time, classes)`.

    Shorter texts are padded on the right with id 0. A module that also has `initial_state(batch) -> (batch,
    width)` and `step(state, ids (batch,)) -> (state, logits (batch, classes))` becomes steppable.
    `initial_logits` (classes,) of the module, where it has them, tell the output before any word (default: uniform).
    """
    steppable = callable(getattr(module, "initial_state", None)) and callable(getattr(module, "step", None))
    kind = SteppableModule if steppable else TorchModule
    return kind(module, encoder, class_names, tokens_per_batch)


class TorchModule:
    """Black box: only the logits of all prefixes are used."""

    def __init__(
        self,
        module: nn.Module,
        encoder: TextEncoder,
        class_names: tuple[str, ...],
        tokens_per_batch: int = TOKENS_PER_BATCH,
    ) -> None:
        self.module = module.eval()
        self.encoder = encoder
        self.class_names = named_classes(class_names)
        self.tokens_per_batch = tokens_per_batch

    @cached_property
    def fingerprint(self) -> str:
        return weights_fingerprint(self.module)

    @property
    def initial_output(self) -> NDArray[np.float32]:
        """The module's `initial_logits` (classes,) where it has them, else uniform."""
        logits = getattr(self.module, "initial_logits", None)
        if logits is None:
            return uniform(len(self.class_names))
        return _probabilities(torch.as_tensor(logits), (len(self.class_names),))

    @torch.inference_mode()
    def trace(self, ids: Ragged[np.int32]) -> Ragged[np.float32]:
        trace = trace_padded(ids, len(self.class_names), self._table_outputs, self.tokens_per_batch)
        checked_probabilities(trace.values, len(ids.values), len(self.class_names), "the module")
        return trace

    def _table_outputs(self, table: NDArray[np.int32]) -> NDArray[np.float32]:
        logits = self.module(torch.from_numpy(table.astype(np.int64)))
        return _probabilities(logits, (*table.shape, len(self.class_names)))


class SteppableModule(TorchModule):
    """White box: the module can go on from a state."""

    @torch.inference_mode()
    def initial_state(self, batch: int) -> State:
        state = self.module.initial_state(batch)  # type: ignore[operator]
        return np.array(_flat(state, batch))

    @torch.inference_mode()
    def step(self, state: State, ids: NDArray[np.int32]) -> tuple[State, NDArray[np.float32]]:
        words = torch.from_numpy(np.asarray(ids, np.int64))
        after, logits = self.module.step(torch.from_numpy(state), words)  # type: ignore[operator]
        outputs = _probabilities(logits, (len(state), len(self.class_names)))
        return _flat(after, len(state)), checked_probabilities(
            outputs, len(state), len(self.class_names), "the module's step"
        )


def weights_fingerprint(module: nn.Module, beside: str = "") -> str:
    """A hash of the module's kind and weights, and of what stands beside them."""
    digest = hashlib.sha256(f"{type(module).__name__}{beside}".encode())
    for name, tensor in sorted(module.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:16]


def _flat(state: object, batch: int) -> State:
    if not isinstance(state, torch.Tensor) or state.ndim != 2 or len(state) != batch:
        shape = tuple(state.shape) if isinstance(state, torch.Tensor) else type(state).__name__
        raise ModelError(f"the module's state must be one tensor of shape ({batch}, width), not {shape}")
    return state.detach().cpu().numpy().astype(np.float32, copy=False)


def _probabilities(logits: object, shape: tuple[int, ...]) -> NDArray[np.float32]:
    if not isinstance(logits, torch.Tensor) or tuple(logits.shape) != shape:
        got = tuple(logits.shape) if isinstance(logits, torch.Tensor) else type(logits).__name__
        raise ModelError(f"the module returned {got} where logits of shape {shape} were expected")
    return logits.detach().float().softmax(-1).cpu().numpy()
