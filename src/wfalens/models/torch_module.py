"""Any torch module as a stepwise classifier."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from wfalens.errors import ModelError
from wfalens.messages import reason_of
from wfalens.models.base import Classifier
from wfalens.models.checks import LOGITS, looks_ahead, probes, readout_named, softmax
from wfalens.models.contract import PrefixClassifier, State, checked_probabilities, uniform
from wfalens.models.inference import TOKENS_PER_BATCH, state_traces, trace_padded
from wfalens.models.padded import TableForm, TextTableClassifier, check_told, checked_word_ids, last_row
from wfalens.models.preprocessing_check import require_reading
from wfalens.ragged import Ragged
from wfalens.text.corpus import Corpus, named_classes
from wfalens.text.encoder import RIGHT, TextEncoder

_TRIED = 12  # words of the texts that tell what a module gives
_TOLERANCE = 1e-3


def wrap_module(
    module: nn.Module,
    encoder: TextEncoder,
    class_names: tuple[str, ...],
    tokens_per_batch: int = TOKENS_PER_BATCH,
    *,
    outputs: str = LOGITS,
    width: int | None = None,
    padding: str = RIGHT,
    word_ids: Sequence[int] | NDArray[np.integer] | None = None,
    labelled: Corpus | None = None,
) -> PrefixClassifier:
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
        labelled: texts with labels; the module is refused if it agrees with them much better when it is read
            otherwise.
        outputs: what the rows are: logits, probabilities, or binary (one number: the second class's probability).
        width: of a module with one row per text that reads so many words, or cannot read fewer: texts are padded to
            it.
        padding: the side on which they are padded, right or left.

    Examples:
        >>> from torch import nn
        >>> from wfalens import wrap_module
        >>> module = nn.Sequential(nn.Embedding(len(encoder.vocabulary), 8), nn.Linear(8, 2))
        >>> wrap_module(module, encoder, ("neg", "pos")).trace(encoder.encode(["a good film"])).values.shape
        (3, 2)
    """
    if isinstance(module, Mapping):
        raise ModelError(
            "wrap_module takes a torch module, not its state_dict; build the module and call load_state_dict"
        )
    if not isinstance(module, nn.Module):
        raise ModelError(
            f"wrap_module takes a torch module, not {type(module).__name__}; wrap a function as a CallableClassifier"
        )
    form = TableForm(checked_word_ids(word_ids, encoder), width, padding)
    model = _wrapped(module, form.read_by(encoder), class_names, tokens_per_batch, form, outputs)
    if labelled is not None:
        require_reading(model, labelled)
    return model


def _wrapped(
    module: nn.Module,
    encoder: TextEncoder,
    class_names: tuple[str, ...],
    tokens_per_batch: int,
    form: TableForm,
    outputs: str,
) -> TorchModule | TextTableClassifier:
    causal = TorchModule(module, encoder, class_names, tokens_per_batch, form, outputs)
    causal.check_words()
    if form.width is not None and not causal.gives_one_row_per_text:
        raise ModelError(f"the module gives one row per word, so it cannot read tables of {form.width} words only")
    if callable(getattr(module, "initial_state", None)) and callable(getattr(module, "step", None)):
        model = SteppableModule(module, encoder, class_names, tokens_per_batch, form, outputs)
        model.check_steps()
        return model
    if not causal.gives_one_row_per_text and not looks_ahead(causal):
        return causal
    whole = TextTableClassifier(
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


class TorchModule(Classifier):
    """Black box: only the logits of all prefixes are used."""

    def __init__(
        self,
        module: nn.Module,
        encoder: TextEncoder,
        class_names: tuple[str, ...],
        tokens_per_batch: int = TOKENS_PER_BATCH,
        form: TableForm = TableForm(),  # noqa: B008 - it is immutable
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
        logits = getattr(self.module, "initial_logits", None)
        if logits is None:
            return uniform(len(self.class_names))
        given = _numbers(torch.as_tensor(logits))
        if given.shape != (len(self.class_names),):
            raise ModelError(f"initial_logits have the shape {given.shape}; one for each class is expected")
        return np.asarray(softmax(given), np.float32)

    @torch.inference_mode()
    def trace(self, ids: Ragged[np.int32]) -> Ragged[np.float32]:
        trace = trace_padded(ids, len(self.class_names), self._table_outputs, self.tokens_per_batch)
        checked_probabilities(trace.values, len(ids.values), len(self.class_names), "the module")
        return trace

    @property
    def words_tried(self) -> int:
        """As many words as every text that tells what the module gives."""
        return self.form.width or min(_TRIED, self.encoder.max_length or _TRIED)

    @cached_property
    def gives_one_row_per_text(self) -> bool:
        """Whether the logits are (batch, classes) rather than (batch, time, classes)."""
        table = np.full((2, self.words_tried), self.encoder.lowest_id, np.int32)
        return self.rows(self.form.translated(table)).ndim == 2

    def check_words(self) -> None:
        """Refuse a vocabulary with ids that the module has no vector for, and rows that are no logits after all."""
        words = self.form.translated(np.arange(self.encoder.lowest_id, len(self.encoder.vocabulary), dtype=np.int32))
        highest = int(words.max())
        self.rows(np.full((1, self.words_tried), words.min()))  # fails if the length is the trouble
        try:
            self.rows(np.full((1, self.words_tried), highest))
        except ModelError as error:
            if not isinstance(error.__cause__, IndexError):
                raise
            sizes = [layer.num_embeddings for layer in self.module.modules() if isinstance(layer, nn.Embedding)]
            held = f"its embedding has {sizes[0]:,} rows" if sizes else "its embedding has fewer rows"
            raise ModelError(
                f"the module cannot read the id {highest:,}: {held}; give the words of the module, or its own ids of "
                "them (word_ids)"
            ) from None
        check_told(self.rows, self.encoder, self.form, self.outputs, len(self.class_names), "the module")

    def reread(self, form: TableForm, cutting_side: str) -> TorchModule:
        """The same module with other ids."""
        encoder = replace(self.encoder, cutting_side=cutting_side)
        return TorchModule(self.module, encoder, self.class_names, self.tokens_per_batch, form, self.outputs)

    @torch.inference_mode()
    def rows(self, table: NDArray[np.int64]) -> NDArray[np.float32]:
        """What the module gives, as it gives it."""
        try:
            given = self.module(torch.from_numpy(table))
        except Exception as error:  # it is somebody's code
            raise ModelError(
                f"the module cannot read a table of ids {table.shape} ({reason_of(error)}); if its texts are too short "
                "for it, give a width to pad them to, if too long, give the encoder a max_length"
            ) from error
        return _numbers(given)

    def _table_outputs(self, table: NDArray[np.int32]) -> NDArray[np.float32]:
        rows = self.rows(self.form.translated(table))
        return self._distributions(rows, (*table.shape, len(self.class_names)))

    def _distributions(self, rows: NDArray[np.float32], shape: tuple[int, ...]) -> NDArray[np.float32]:
        found = self._read_out(rows)
        if found.shape != shape:
            raise ModelError(f"the module returned {rows.shape} where {self.outputs} of shape {shape} were expected")
        return np.asarray(found, np.float32)


class SteppableModule(TorchModule):
    """White box: the module can go on from a state."""

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

    @torch.inference_mode()
    def initial_state(self, batch: int) -> State:
        state = self.module.initial_state(batch)  # type: ignore[operator]
        return np.array(_flat(state, batch))

    @torch.inference_mode()
    def step(self, state: State, ids: NDArray[np.int32]) -> tuple[State, NDArray[np.float32]]:
        words = torch.from_numpy(self.form.translated(np.asarray(ids, np.int32)))
        after, given = self.module.step(torch.from_numpy(state), words)  # type: ignore[operator]
        shape = len(state), len(self.class_names)
        outputs = self._distributions(_numbers(given), shape)
        return _flat(after, len(state)), checked_probabilities(outputs, *shape, "the module's step")


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


def _numbers(given: object) -> NDArray[np.float32]:
    if not isinstance(given, torch.Tensor):
        raise ModelError(f"the module returned {type(given).__name__} where one tensor, its logits, was expected")
    return given.detach().float().cpu().numpy()
