"""Any torch module as a stepwise classifier."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from wfalens.corpus.corpus import Corpus, named_classes
from wfalens.corpus.encoder import TextEncoder
from wfalens.corpus.vocabulary import UNKNOWN
from wfalens.errors import ModelError
from wfalens.models.adapters.tables import TableForm, TextTableClassifier, checked_word_ids, last_row
from wfalens.models.batches import TOKENS_PER_BATCH, trace_padded
from wfalens.models.causality import looks_ahead
from wfalens.models.contract import State, StepwiseClassifier, checked_probabilities, uniform
from wfalens.models.reading import require_reading
from wfalens.models.readout import LOGITS
from wfalens.models.shown import Shown
from wfalens.models.stepping import state_traces
from wfalens.ragged import Ragged

_TRIED, _TEXTS = 12, 4  # words of the texts that tell what a module gives, and how many compare its two ways
_TOLERANCE = 1e-3


def wrap_module(
    module: nn.Module,
    encoder: TextEncoder,
    class_names: tuple[str, ...],
    tokens_per_batch: int = TOKENS_PER_BATCH,
    *,
    word_ids: Sequence[int] | NDArray[np.integer] | None = None,
    labelled: Corpus | None = None,
) -> StepwiseClassifier:
    """A classifier from a module `ids (batch, time) -> logits`, one row per word or one per text.

    * Logits (batch, time, classes): one pass scores all prefixes of a text; shorter texts are padded on the right with
      id 0. If the module looks ahead (bidirectional, attention without a mask, a convolution), a warning says so, and
      every prefix is asked as a text of its own, without padding.
    * Logits (batch, classes): every prefix is asked as a text of its own, without padding.

    A module that also has `initial_state(batch) -> (batch, width)` and `step(state, ids (batch,)) -> (state, logits
    (batch, classes))` becomes steppable. `initial_logits` (classes,) of the module, where it has them, tell the output
    before any word (default: uniform).

    Args:
        module: from ids (batch, time) to logits, in evaluation mode.
        encoder: how a text becomes ids.
        class_names: in the order of the logits.
        tokens_per_batch: of a call at most.
        word_ids: (V,) the module's own id of every word of the vocabulary, if they are not the vocabulary's.
        labelled: texts with labels; the module is refused if it agrees with them much better when its ids are
            others.

    Examples:
        >>> from torch import nn
        >>> from wfalens import wrap_module
        >>> module = nn.Sequential(nn.Embedding(len(encoder.vocabulary), 8), nn.Linear(8, 2))
        >>> wrap_module(module, encoder, ("neg", "pos")).trace(encoder.encode(["a good film"])).values.shape
        (3, 2)
    """
    form = TableForm(checked_word_ids(word_ids, encoder))
    model = _wrapped(module, encoder, class_names, tokens_per_batch, form)
    if labelled is not None:
        require_reading(model, labelled)
    return model


def _wrapped(
    module: nn.Module, encoder: TextEncoder, class_names: tuple[str, ...], tokens_per_batch: int, form: TableForm
) -> TorchModule | TextTableClassifier:
    causal = TorchModule(module, encoder, class_names, tokens_per_batch, form)
    causal.check_rows()
    if callable(getattr(module, "initial_state", None)) and callable(getattr(module, "step", None)):
        model = SteppableModule(module, encoder, class_names, tokens_per_batch, form)
        model.check_steps()
        return model
    if not causal.gives_one_row_per_text and not looks_ahead(causal):
        return causal
    whole = TextTableClassifier(
        causal.rows if causal.gives_one_row_per_text else last_row(causal.rows),
        encoder,
        class_names,
        form=form,
        outputs=LOGITS,
        fingerprint=causal.fingerprint,
        initial_output=causal.initial_output,
    )
    whole.answers(Ragged.from_lists([[encoder.lowest_id] * _TRIED], np.int32))  # refuses wrong shapes at once
    return whole


class TorchModule(Shown):
    """Black box: only the logits of all prefixes are used."""

    def __init__(
        self,
        module: nn.Module,
        encoder: TextEncoder,
        class_names: tuple[str, ...],
        tokens_per_batch: int = TOKENS_PER_BATCH,
        form: TableForm = TableForm(),  # noqa: B008 - it is immutable
    ) -> None:
        self.module, self.form = module.eval(), form
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

    @cached_property
    def gives_one_row_per_text(self) -> bool:
        """Whether the logits are (batch, classes) rather than (batch, time, classes)."""
        return self.rows(self.form.translated(np.full((2, _TRIED), self.encoder.lowest_id, np.int32))).ndim == 2

    def check_rows(self) -> None:
        """Refuse a vocabulary with ids that the module has no vector for."""
        words = np.arange(len(self.encoder.vocabulary), dtype=np.int32)
        highest = int(self.form.translated(words).max())
        try:
            self.rows(np.full((1, _TRIED), highest))
        except IndexError:
            sizes = [layer.num_embeddings for layer in self.module.modules() if isinstance(layer, nn.Embedding)]
            rows = f"its embedding has {sizes[0]:,} rows" if sizes else "its embedding has fewer rows"
            raise ModelError(
                f"the module cannot read the id {highest:,}: {rows}; give the words of the module, or its own ids of "
                "them (word_ids)"
            ) from None

    def reread(self, form: TableForm, cutting_side: str) -> TorchModule:
        """The same module with other ids."""
        encoder = replace(self.encoder, cutting_side=cutting_side)
        return TorchModule(self.module, encoder, self.class_names, self.tokens_per_batch, form)

    @torch.inference_mode()
    def rows(self, table: NDArray[np.int64]) -> NDArray[np.float32]:
        """Logits as the module gives them."""
        logits = self.module(torch.from_numpy(table))
        if not isinstance(logits, torch.Tensor):
            raise ModelError(f"the module returned {type(logits).__name__} where logits were expected")
        return logits.detach().float().cpu().numpy()

    def _table_outputs(self, table: NDArray[np.int32]) -> NDArray[np.float32]:
        logits = self.module(torch.from_numpy(self.form.translated(table)))
        return _probabilities(logits, (*table.shape, len(self.class_names)))


class SteppableModule(TorchModule):
    """White box: the module can go on from a state."""

    def check_steps(self) -> None:
        """Refuse a module whose `step` says something else than its `forward`, by a few random texts."""
        rng, words = np.random.default_rng(0), len(self.encoder.vocabulary)
        drawn = rng.integers(min(UNKNOWN + 1, words - 1), words, _TEXTS * _TRIED).astype(np.int32)
        texts = Ragged.from_lengths(drawn, np.full(_TEXTS, _TRIED))
        expected = self.trace(texts).values
        for tokens, _, outputs in state_traces(self, texts):
            gap = float(np.abs(outputs - expected[tokens]).max())
            if gap > _TOLERANCE:
                raise ModelError(
                    f"the module's step contradicts its forward: after {int(tokens[0]) % _TRIED + 1} words their "
                    f"outputs differ by {gap:.2g}; both must give the logits after the same words (is the state that "
                    "step returns the new one, and initial_state the one that forward begins with?)"
                )

    @torch.inference_mode()
    def initial_state(self, batch: int) -> State:
        state = self.module.initial_state(batch)  # type: ignore[operator]
        return np.array(_flat(state, batch))

    @torch.inference_mode()
    def step(self, state: State, ids: NDArray[np.int32]) -> tuple[State, NDArray[np.float32]]:
        words = torch.from_numpy(self.form.translated(np.asarray(ids, np.int32)))
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
