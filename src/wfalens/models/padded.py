"""Models that read word ids: padded batches (batch, time) in, one row per text or one per word out, or step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError, ModelError
from wfalens.models.adapter_registry import WrapArguments
from wfalens.models.base import BlackBoxClassifier, Classifier
from wfalens.models.checks import ONE_COLUMN, READOUTS, check_logits, looks_ahead
from wfalens.models.contract import State, checked_probabilities
from wfalens.models.inference import TOKENS_PER_BATCH, trace_by_steps, trace_padded
from wfalens.models.preprocessing_options import LOGITS, PROBABILITIES
from wfalens.ragged import Ragged
from wfalens.text.encoder import LEFT, RIGHT, SIDES, TextEncoder
from wfalens.text.vocabulary import PADDING
from wfalens.validation import check_choice

Run = Callable[[NDArray[np.int64]], NDArray[Any]]  # ids (batch, time) -> rows, one per text or one per word
Step = Callable[[State, NDArray[np.int64]], tuple[State, NDArray[Any]]]  # (batch, width), (batch,) -> state, rows
_TRIED = 12  # random texts, and their words, on which a model's outputs are checked


@dataclass(frozen=True)
class PaddedForm:
    """How sequences become the padded batches that a model reads, and what its rows are.

    word_ids    the model's own id of every word of the vocabulary (None: the same)
    width       number of columns of every batch; None: as many as the words, and no padding
    padding     the side on which shorter sequences are filled up to the width
    outputs     probabilities, logits, or of the second of two classes alone: binary (probability), binary_logits
    """

    word_ids: NDArray[np.int64] | None = None
    width: int | None = None
    padding: str = RIGHT
    outputs: str = PROBABILITIES

    def __post_init__(self) -> None:
        check_choice("padding", self.padding, SIDES)
        check_choice("outputs", self.outputs, READOUTS)

    def read_by(self, encoder: TextEncoder) -> TextEncoder:
        """The encoder, cut where the model stops reading."""
        if self.width is None or (encoder.max_length is not None and encoder.max_length <= self.width):
            return encoder
        return replace(encoder, max_length=self.width)

    def translated(self, batch: NDArray[np.int32]) -> NDArray[np.int64]:
        return batch.astype(np.int64) if self.word_ids is None else self.word_ids[batch]

    def batches(
        self, sequences: Ragged[np.int32], tokens: int
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Items and their padded batch of at most so many tokens; without a width, all are equally long."""
        widths = sequences.lengths if self.width is None else np.full(len(sequences), self.width)
        for width in np.unique(widths).tolist():
            same, rows = np.flatnonzero(widths == width), max(1, tokens // width)
            for start in range(0, len(same), rows):
                items = same[start : start + rows]
                yield items, self.translated(self._filled(sequences.take(items).cut(width), width))

    def _filled(self, sequences: Ragged[np.int32], width: int) -> NDArray[np.int32]:
        """(texts, width)"""
        batch, column = np.full((len(sequences), width), PADDING, np.int32), np.arange(width)
        first = (width - sequences.lengths if self.padding == LEFT else np.zeros(len(sequences), np.int64))[:, None]
        batch[(column >= first) & (column < first + sequences.lengths[:, None])] = sequences.values
        return batch

    def distributions(self, rows: NDArray[Any], shape: tuple[int, ...], source: str) -> NDArray[np.float32]:
        """A model's rows as probabilities of the given shape (…, classes), refused if they are none."""
        found = READOUTS[self.outputs](rows)
        if found.ndim != len(shape) or found.shape[:-1] != shape[:-1]:
            raise ModelError(
                f"{source} returned {rows.shape} where {self.outputs} of shape {shape} were expected",
                code="output-shape",
            )
        flat = found.reshape(-1, found.shape[-1])
        return checked_probabilities(flat, len(flat), shape[-1], source).reshape(shape)


def padding_of(model: object) -> dict[str, object]:
    """The width to which texts are padded and the side; nothing where none is."""
    form = getattr(model, "form", None)
    if not isinstance(form, PaddedForm) or form.width is None or getattr(model, "pads", None) == 0:
        return {}
    return {"width": form.width, "padding_side": form.padding}


def reading_of(given: WrapArguments, default: str, width: int | None = None) -> tuple[TextEncoder, PaddedForm]:
    """How a model reads texts, by the arguments of `wrap`, else by its preprocessing.

    default: what its rows are, where nothing says so; width: of the batches that it was made for
    """
    encoder, ids = given.encoder_and_ids()
    asked, stored = given.ids, given.preprocessing
    if asked.truncation_side is not None:
        encoder = replace(encoder, truncation_side=asked.truncation_side)
    if asked.word_ids is not None:
        ids = np.asarray(asked.word_ids)
        if ids.shape != (len(encoder.vocabulary),) or ids.dtype.kind not in "iu" or ids.min() < 0:
            raise ModelError(
                f"word_ids must give one id, a whole number, for each of the {len(encoder.vocabulary)} words"
            )
        ids = ids.astype(np.int64)
    outputs, side = (stored.outputs, stored.padding_side) if stored is not None else (None, None)
    outputs, side = asked.outputs or outputs or default, asked.padding_side or side or RIGHT
    form = PaddedForm(ids, asked.width or width, side, outputs)
    return form.read_by(encoder), form


def checked_classes(
    run: Run, given: WrapArguments, encoder: TextEncoder, form: PaddedForm, source: str, rows: int | None = None
) -> tuple[tuple[str, ...], bool]:
    """Refuse a model that cannot read some texts, lacks words, or gives other rows than `form` says.

    rows: of its embedding, where they are known; -> the class names, and whether there is a row for every word
    """
    words = form.translated(np.arange(encoder.lowest_id, len(encoder.vocabulary), dtype=np.int32))
    length = form.width or min(_TRIED, encoder.max_length or _TRIED)
    for shown in (form.width or 1, length):
        output = run(np.full((1, shown), words.min()))
    try:
        run(np.full((1, length), words.max()))
    except ModelError:
        held = "" if rows is None else f": its embedding has {rows:,} rows"
        raise ModelError(
            f"{source} cannot read the id {words.max():,}{held}; give the words of the model, or its own ids of them "
            "(word_ids)",
            code="vocabulary-size",
        ) from None
    if output.ndim not in (2, 3) or output.shape[:-1] not in ((1,), (1, length)):
        raise ModelError(
            f"{source} returned {output.shape} for ids of shape (1, {length}); one row per text, (1, classes), or one "
            f"per word, (1, {length}, classes), was expected",
            code="output-shape",
        )
    if output.shape[-1] == 1 and form.outputs not in ONE_COLUMN:
        raise ModelError(
            f'{source} gives one number; say what it is: outputs="binary", the probability of the second class, or '
            'outputs="binary_logits", its log-odds (before a sigmoid)',
            code="output-shape",
        )
    classes = 2 if form.outputs in ONE_COLUMN else output.shape[-1]
    names, has_row_per_word = given.class_names(None, classes), output.ndim == 3
    if given.preprocessing is not None and len(names) != classes:
        raise InputError(f"{source} has {classes} classes, but its preprocessing names {len(names)}", code="classes")
    if has_row_per_word and form.width is not None:
        raise ModelError(
            f"the model gives one row per word but reads texts of {form.width} words only; "
            "let it read texts of any length",
            code="fixed-width",
        )
    batch = np.random.default_rng(0).choice(words, (_TRIED, length))
    output = run(batch)
    if form.outputs == LOGITS:
        check_logits(output, source)
    form.distributions(output, (*batch.shape[: 1 + has_row_per_word], len(names)), source)
    return names, has_row_per_word


class IdClassifier(Classifier):
    """A model that reads word ids, and has copies that are read in another way."""

    def __init__(self, encoder: TextEncoder, class_names: Sequence[object], *, form: PaddedForm, **common: Any) -> None:
        super().__init__(form.read_by(encoder), class_names, **common)
        self.form = form

    def reread(self, form: PaddedForm, truncation_side: str) -> IdClassifier:
        """The same model with other padding or ids.

        Args:
            form: how sequences become padded batches
            truncation_side: the side on which long texts lose words
        """
        other = copy(self)
        other.form, other.encoder = form, replace(self.encoder, truncation_side=truncation_side)
        return other

    def trace_batches(self, run: Run, ids: Ragged[np.int32], tokens: int = TOKENS_PER_BATCH) -> Ragged[np.float32]:
        """The trace by `run(ids (batch, time)) -> (batch, time, classes)`; -> (tokens, classes)"""

        def outputs(batch: NDArray[np.int32]) -> NDArray[np.float32]:
            shape = *batch.shape, len(self.class_names)
            return self.form.distributions(run(self.form.translated(batch)), shape, "the model")

        return trace_padded(ids, len(self.class_names), outputs, tokens)


class _PaddedClassifier(IdClassifier):
    """Runs padded batches of ids (batch, time), of so many tokens at most."""

    def __init__(
        self,
        run: Run,
        encoder: TextEncoder,
        class_names: Sequence[object],
        *,
        tokens_per_batch: int = TOKENS_PER_BATCH,
        **common: Any,
    ) -> None:
        super().__init__(encoder, class_names, **common)
        self.run, self.tokens_per_batch = run, tokens_per_batch


class PaddedTextClassifier(_PaddedClassifier, BlackBoxClassifier):
    """Wraps `run(ids (batch, time)) -> (batch, classes)`: every prefix is asked as a text of its own."""

    def answers(self, prefixes: Ragged[np.int32]) -> NDArray[np.float32]:
        answers = np.empty((len(prefixes), len(self.class_names)), np.float32)
        for items, batch in self.form.batches(prefixes, self.tokens_per_batch):
            shape = len(items), len(self.class_names)
            answers[items] = self.form.distributions(self.run(batch), shape, "the model")
        return answers


class PaddedTokenClassifier(_PaddedClassifier):
    """Wraps `run(ids (batch, time)) -> (batch, time, classes)`: one pass scores all prefixes of a text."""

    def trace(self, ids: Ragged[np.int32]) -> Ragged[np.float32]:
        return self.trace_batches(self.run, ids, self.tokens_per_batch)


class StepClassifier(IdClassifier):
    """Wraps `step(state (batch, width), ids (batch,)) -> (state, rows (batch, classes))`: continues from a state."""

    def __init__(
        self, step: Step, start: State, encoder: TextEncoder, class_names: Sequence[object], **common: Any
    ) -> None:
        """start: the state before any word, (1, width)"""
        super().__init__(encoder, class_names, **common)
        self._step, self._start = step, start

    def initial_state(self, batch: int) -> State:
        return np.repeat(self._start, batch, 0)

    def step(self, state: State, ids: NDArray[np.int32]) -> tuple[State, NDArray[np.float32]]:
        after, rows = self._step(state, self.form.translated(np.asarray(ids, np.int32)))
        return after, self.form.distributions(rows, (len(state), len(self.class_names)), "the model's step")

    def trace(self, ids: Ragged[np.int32]) -> Ragged[np.float32]:
        return trace_by_steps(self, ids)


def id_classifier(
    run: Run,
    encoder: TextEncoder,
    class_names: Sequence[object],
    has_row_per_word: bool,
    *,
    batch_size: int = 1024,
    **common: Any,
) -> PaddedTokenClassifier | PaddedTextClassifier:
    """A model with a row for every word is asked once per text; all others, and one that looks ahead, per prefix."""
    if has_row_per_word:
        model = PaddedTokenClassifier(run, encoder, class_names, **common)
        if not looks_ahead(model):
            return model

    def last(batch: NDArray[np.int64]) -> NDArray[Any]:
        return np.asarray(run(batch)[:, -1])

    whole = last if has_row_per_word else run
    return PaddedTextClassifier(whole, encoder, class_names, batch_size=batch_size, **common)
