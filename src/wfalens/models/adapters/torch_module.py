"""Torch modules that read word ids."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import ModelError
from wfalens.messages import reason_of
from wfalens.models.base import Classifier
from wfalens.models.checks import BINARY, LOGITS, looks_ahead, probes, readout_named, softmax
from wfalens.models.contract import State, checked_probabilities, uniform
from wfalens.models.inference import TOKENS_PER_BATCH, state_traces, trace_padded
from wfalens.models.padded import PaddedForm, PaddedTextClassifier, Rereading, check_outputs, checked_word_ids, last_row
from wfalens.models.registry import WrapArguments, adapter, packages_of
from wfalens.ragged import Ragged
from wfalens.text.corpus import named_classes
from wfalens.text.encoder import RIGHT, TextEncoder

if TYPE_CHECKING:
    from torch import nn

_TRIED = 12  # words of the texts on which a module's outputs are checked
_TOLERANCE = 1e-3


@adapter
class TorchAdapter:
    """A torch module `ids (batch, time) -> logits`, one row per word or one per text, in evaluation mode.

    * Logits (batch, time, classes): one pass scores all prefixes of a text; shorter texts are padded on the right. If
      the module looks ahead (bidirectional, attention without a mask, a convolution), a warning says so, and every
      prefix is asked as a text of its own, without padding.
    * Logits (batch, classes): every prefix is asked as a text of its own, without padding.

    A module that also has `initial_state(batch) -> (batch, width)` and `step(state, ids (batch,)) -> (state, logits
    (batch, classes))` can be stepped. `initial_logits` (classes,) of the module, where it has them, give the output
    before any word (default: uniform).
    """

    kind = "a torch module"

    def accepts(self, model: Any) -> bool:
        return "torch" in packages_of(model) and not packages_of(model) & {"keras", "transformers"}

    def wrap(
        self,
        model: Any,
        given: WrapArguments,
        *,
        outputs: str | None = None,
        width: int | None = None,
        padding_side: str | None = None,
        word_ids: Sequence[int] | NDArray[np.integer] | None = None,
        tokens_per_batch: int = TOKENS_PER_BATCH,
    ) -> TorchModule | PaddedTextClassifier:
        """Options: what the rows are (logits, probabilities, or binary: the second class's probability); the width to
        which texts are padded, and on which side, where a module with one row per text needs it; the module's own id
        of every word of the vocabulary."""
        encoder, ids = given.encoder_and_ids()
        stored = given.preprocessing
        outputs = outputs or (stored.outputs if stored is not None else None) or LOGITS
        side = padding_side or (stored.padding_side if stored is not None else None) or RIGHT
        form = PaddedForm(ids if word_ids is None else checked_word_ids(word_ids, encoder), width, side)
        columns = 2 if outputs == BINARY else _columns(model, encoder, form)
        return wrapped_module(
            model, form.read_by(encoder), given.class_names(None, columns), tokens_per_batch, form, outputs
        )


def _columns(module: nn.Module, encoder: TextEncoder, form: PaddedForm) -> int:
    """How many outputs a module has."""
    probe = TorchModule(module, encoder, ("0", "1"), form=form)
    return int(probe.rows(form.translated(np.full((1, probe.words_tried), encoder.lowest_id, np.int32))).shape[-1])


def wrapped_module(
    module: nn.Module,
    encoder: TextEncoder,
    class_names: tuple[str, ...],
    tokens_per_batch: int = TOKENS_PER_BATCH,
    form: PaddedForm = PaddedForm(),  # noqa: B008 - it is immutable
    outputs: str = LOGITS,
) -> TorchModule | PaddedTextClassifier:
    """A module with its words and classes, read in the way that its outputs allow."""
    causal = TorchModule(module, encoder, class_names, tokens_per_batch, form, outputs)
    causal.check_words()
    if form.width is not None and not causal.gives_one_row_per_text:
        raise ModelError(
            f"the module gives one row per word, so texts cannot be padded to {form.width} words", code="fixed-width"
        )
    if callable(getattr(module, "initial_state", None)) and callable(getattr(module, "step", None)):
        model = SteppableModule(module, encoder, class_names, tokens_per_batch, form, outputs)
        model.check_steps()
        return model
    if not causal.gives_one_row_per_text and not looks_ahead(causal):
        return causal
    whole = PaddedTextClassifier(
        causal.rows if causal.gives_one_row_per_text else last_row(causal.rows),
        encoder,
        class_names,
        form=form,
        outputs=outputs,
        fingerprint=causal.fingerprint,
        initial_output=causal.initial_output,
    )
    for words in (causal.words_tried, 1):  # refuses wrong shapes, and a module that cannot read short texts, at once
        whole.answers(Ragged.from_lists([[encoder.lowest_id] * words], np.int32))
    return whole


class TorchModule(Rereading, Classifier):
    """Black box: only the logits of all prefixes are used."""

    def __init__(
        self,
        module: nn.Module,
        encoder: TextEncoder,
        class_names: tuple[str, ...],
        tokens_per_batch: int = TOKENS_PER_BATCH,
        form: PaddedForm = PaddedForm(),  # noqa: B008 - it is immutable
        outputs: str = LOGITS,
    ) -> None:
        self.module, self.form = module.eval(), form
        self.outputs, self._read_out = outputs, readout_named(outputs)
        self.encoder = encoder
        self.class_names = named_classes(class_names)
        self.tokens_per_batch = tokens_per_batch

    @cached_property
    def fingerprint(self) -> str:
        return weights_fingerprint(self.module)

    @property
    def initial_output(self) -> NDArray[np.float32]:
        """The module's `initial_logits` (classes,) where it has them, else uniform."""
        import torch

        logits = getattr(self.module, "initial_logits", None)
        if logits is None:
            return uniform(len(self.class_names))
        given = _numbers(torch.as_tensor(logits))
        if given.shape != (len(self.class_names),):
            raise ModelError(f"initial_logits have the shape {given.shape}; one for each class is expected")
        return np.asarray(softmax(given), np.float32)

    def trace(self, ids: Ragged[np.int32]) -> Ragged[np.float32]:
        trace = trace_padded(ids, len(self.class_names), self._batch_outputs, self.tokens_per_batch)
        checked_probabilities(trace.values, len(ids.values), len(self.class_names), "the module")
        return trace

    @property
    def words_tried(self) -> int:
        """The words of every text on which the outputs are checked."""
        return self.form.width or min(_TRIED, self.encoder.max_length or _TRIED)

    @cached_property
    def gives_one_row_per_text(self) -> bool:
        """Whether the logits are (batch, classes) rather than (batch, time, classes)."""
        batch = np.full((2, self.words_tried), self.encoder.lowest_id, np.int32)
        return self.rows(self.form.translated(batch)).ndim == 2

    def check_words(self) -> None:
        """Refuse a vocabulary with ids that the module has no vector for, and rows that are no logits after all."""
        import torch

        words = self.form.translated(np.arange(self.encoder.lowest_id, len(self.encoder.vocabulary), dtype=np.int32))
        highest = int(words.max())
        self.rows(np.full((1, self.words_tried), words.min()))  # fails if the length is the trouble
        try:
            self.rows(np.full((1, self.words_tried), highest))
        except ModelError as error:
            if not isinstance(error.__cause__, IndexError):
                raise
            sizes = [layer.num_embeddings for layer in self.module.modules() if isinstance(layer, torch.nn.Embedding)]
            held = f"its embedding has {sizes[0]:,} rows" if sizes else "its embedding has fewer rows"
            raise ModelError(
                f"the module cannot read the id {highest:,}: {held}; give the words of the module, or its own ids of "
                "them (word_ids)"
            ) from None
        check_outputs(self.rows, self.encoder, self.form, self.outputs, len(self.class_names), "the module")

    def rows(self, batch: NDArray[np.int64]) -> NDArray[np.float32]:
        """The module's output, as it is."""
        import torch

        try:
            with torch.inference_mode():
                given = self.module(torch.from_numpy(batch))
        except Exception as error:  # it is somebody's code
            raise ModelError(
                f"the module cannot read ids of shape {batch.shape} ({reason_of(error)}); if its texts are too short "
                "for it, give a width to pad them to, if too long, give a max_length",
                code="cannot-read",
            ) from error
        return _numbers(given)

    def _batch_outputs(self, batch: NDArray[np.int32]) -> NDArray[np.float32]:
        rows = self.rows(self.form.translated(batch))
        return self._distributions(rows, (*batch.shape, len(self.class_names)))

    def _distributions(self, rows: NDArray[np.float32], shape: tuple[int, ...]) -> NDArray[np.float32]:
        found = self._read_out(rows)
        if found.shape != shape:
            raise ModelError(f"the module returned {rows.shape} where {self.outputs} of shape {shape} were expected")
        return np.asarray(found, np.float32)


class SteppableModule(TorchModule):
    """White box: the module continues from a state."""

    def check_steps(self) -> None:
        """Refuse a module whose `step` says something else than its `forward`, by random texts, some of them long."""
        for texts in probes(self.encoder):
            try:
                expected = self.trace(texts).values
            except ModelError:
                if texts.lengths.max() <= _TRIED:
                    raise
                return  # a module that cannot read so long a text will say so when it is given one
            self._compare(texts, expected)

    def _compare(self, texts: Ragged[np.int32], expected: NDArray[np.float32]) -> None:
        # expected: (tokens, classes)
        for position, (tokens, _, outputs) in enumerate(state_traces(self, texts), 1):
            gap = float(np.abs(outputs - expected[tokens]).max())
            if gap > _TOLERANCE:
                raise ModelError(
                    f"the module's step contradicts its forward: after {position} of {texts.lengths.max()} words "
                    f"their outputs differ by {gap:.2g}; both must give the logits after the same words (is the state "
                    "that step returns the new one, and initial_state the one that forward begins with? does forward "
                    "look ahead?)"
                )

    def initial_state(self, batch: int) -> State:
        import torch

        with torch.inference_mode():
            state = self.module.initial_state(batch)  # type: ignore[operator]
        return np.array(_flat(state, batch))

    def step(self, state: State, ids: NDArray[np.int32]) -> tuple[State, NDArray[np.float32]]:
        import torch

        words = torch.from_numpy(self.form.translated(np.asarray(ids, np.int32)))
        with torch.inference_mode():
            after, given = self.module.step(torch.from_numpy(state), words)  # type: ignore[operator]
        shape = len(state), len(self.class_names)
        outputs = self._distributions(_numbers(given), shape)
        return _flat(after, len(state)), checked_probabilities(outputs, *shape, "the module's step")


def weights_fingerprint(module: nn.Module, beside: str = "") -> str:
    """A hash of the module's kind and weights, and of what stands beside them."""
    import torch

    digest = hashlib.sha256(f"{type(module).__name__}{beside}".encode())
    for name, tensor in sorted(module.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:16]


def _flat(state: object, batch: int) -> State:
    import torch

    if not isinstance(state, torch.Tensor) or state.ndim != 2 or len(state) != batch:
        shape = tuple(state.shape) if isinstance(state, torch.Tensor) else type(state).__name__
        raise ModelError(f"the module's state must be one tensor of shape ({batch}, width), not {shape}")
    return state.detach().cpu().numpy().astype(np.float32, copy=False)


def _numbers(given: object) -> NDArray[np.float32]:
    import torch

    if not isinstance(given, torch.Tensor):
        raise ModelError(f"the module returned {type(given).__name__} where one tensor, its logits, was expected")
    return given.detach().float().cpu().numpy()
