"""Models that read padded batches of word ids: (batch, time) in, one row per text or one per word out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wfalens.errors import ModelError
from wfalens.models.base import BlackBoxClassifier, Classifier
from wfalens.models.checks import LOGITS, check_logits, looks_ahead, readout_named
from wfalens.models.contract import checked_prior, checked_probabilities
from wfalens.models.inference import trace_padded
from wfalens.ragged import Ragged
from wfalens.text.corpus import named_classes
from wfalens.text.encoder import RIGHT, SIDES, TextEncoder
from wfalens.text.vocabulary import PADDING
from wfalens.validation import check_choice

Run = Callable[[NDArray[np.int64]], NDArray[Any]]
_TRIED = 12  # random texts, and their words, on which a model's outputs are checked


@dataclass(frozen=True)
class PaddedForm:
    """How sequences become the padded batches that a model reads.

    word_ids    the model's own id of every word of the vocabulary (None: the same)
    width       number of columns of every batch; None: as many as the words, and no padding
    padding     the side on which shorter sequences are filled up to the width
    """

    word_ids: NDArray[np.int64] | None = None
    width: int | None = None
    padding: str = RIGHT

    def __post_init__(self) -> None:
        check_choice("padding", self.padding, SIDES)

    def read_by(self, encoder: TextEncoder) -> TextEncoder:
        """The encoder, cut where the model stops reading."""
        if self.width is None or (encoder.max_length is not None and encoder.max_length <= self.width):
            return encoder
        return replace(encoder, max_length=self.width)

    def translated(self, batch: NDArray[np.int32]) -> NDArray[np.int64]:
        return batch.astype(np.int64) if self.word_ids is None else self.word_ids[batch]

    def batches(self, sequences: Ragged[np.int32]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Items and their padded batch; without a width, only equal lengths stand in one batch."""
        if self.width is None:
            for length in np.unique(sequences.lengths):
                items = np.flatnonzero(sequences.lengths == length)
                yield items, self.translated(sequences.take(items).padded())
            return
        kept = sequences.cut(self.width)
        batch = np.full((len(kept), self.width), PADDING, np.int32)
        column = np.arange(self.width)
        first = (self.width - kept.lengths if self.padding == "left" else np.zeros(len(kept), np.int64))[:, None]
        batch[(column >= first) & (column < first + kept.lengths[:, None])] = kept.values
        yield np.arange(len(kept)), self.translated(batch)


def padding_of(model: object) -> dict[str, object]:
    """The width to which texts are padded and the side; nothing where none is."""
    form = getattr(model, "form", None)
    if not isinstance(form, PaddedForm) or form.width is None or getattr(model, "pads", None) == 0:
        return {}
    return {"width": form.width, "padding_side": form.padding}


def checked_word_ids(
    given: Sequence[int] | NDArray[np.integer] | None, encoder: TextEncoder
) -> NDArray[np.int64] | None:
    """The model's own ids of the words, refused if there is not one for each word of the vocabulary."""
    if given is None:
        return None
    ids = np.asarray(given)
    if ids.shape != (len(encoder.vocabulary),) or ids.dtype.kind not in "iu" or ids.min() < 0:
        raise ModelError(f"word_ids must give one id, a whole number, for each of the {len(encoder.vocabulary)} words")
    return ids.astype(np.int64)


def random_batch(encoder: TextEncoder, form: PaddedForm) -> NDArray[np.int64]:
    """A few random texts as a model reads them, all of one length that it should be able to read."""
    words = form.translated(np.arange(encoder.lowest_id, len(encoder.vocabulary), dtype=np.int32))
    length = form.width or min(_TRIED, encoder.max_length or _TRIED)
    return np.random.default_rng(0).choice(words, (_TRIED, length))


def check_outputs(run: Run, encoder: TextEncoder, form: PaddedForm, outputs: str, classes: int, source: str) -> None:
    """Refuse a model whose outputs for a few random texts are not what `outputs` says."""
    given = run(random_batch(encoder, form))
    if outputs == LOGITS:
        check_logits(given, source)
    rows = readout_named(outputs)(given)
    checked_probabilities(rows.reshape(-1, rows.shape[-1]), rows.size // rows.shape[-1], classes, source)


class Rereading:
    """Gives a model of padded batches a copy that is read in another way."""

    form: PaddedForm
    encoder: TextEncoder

    def reread(self, form: PaddedForm, truncation_side: str) -> Any:
        """The same model with other padding or ids.

        Args:
            form: how sequences become padded batches
            truncation_side: the side on which long texts lose words
        """
        other = copy(self)
        other.form, other.encoder = form, replace(self.encoder, truncation_side=truncation_side)
        return other


class PaddedTextClassifier(Rereading, BlackBoxClassifier):
    """Wraps `run(ids (batch, time)) -> (batch, classes)`: every prefix is asked as a text of its own."""

    def __init__(
        self,
        run: Run,
        encoder: TextEncoder,
        class_names: Sequence[object],
        *,
        form: PaddedForm,
        outputs: str,
        batch_size: int = 1024,
        fingerprint: str,
        initial_output: ArrayLike | None = None,
    ) -> None:
        super().__init__(
            form.read_by(encoder),
            class_names,
            batch_size=batch_size,
            fingerprint=fingerprint,
            initial_output=initial_output,
        )
        self.run, self.form, self._read_out = run, form, readout_named(outputs)

    def answers(self, prefixes: Ragged[np.int32]) -> object:
        answers = np.empty((len(prefixes), len(self.class_names)), np.float64)
        for items, batch in self.form.batches(prefixes):
            rows = self._read_out(self.run(batch))
            answers[items] = checked_probabilities(rows, len(items), len(self.class_names), "the model")
        return answers


def last_row(run: Run) -> Run:
    """The row after the last word of every text: (batch, time, classes) becomes (batch, classes)."""

    def last(batch: NDArray[np.int64]) -> NDArray[Any]:
        return np.asarray(run(batch)[:, -1])

    return last


def token_classifier(
    run: Run, encoder: TextEncoder, class_names: Sequence[object], **options: Any
) -> PaddedTokenClassifier | PaddedTextClassifier:
    """Wraps `run(ids (batch, time)) -> (batch, time, classes)`: one pass per text, or per prefix if it looks ahead."""
    model = PaddedTokenClassifier(run, encoder, class_names, **options)
    if not looks_ahead(model):
        return model
    return PaddedTextClassifier(last_row(run), encoder, class_names, **options)


class PaddedTokenClassifier(Rereading, Classifier):
    """Wraps `run(ids (batch, time)) -> (batch, time, classes)`: one pass scores all prefixes of a text."""

    def __init__(
        self,
        run: Run,
        encoder: TextEncoder,
        class_names: Sequence[object],
        *,
        form: PaddedForm,
        outputs: str,
        fingerprint: str,
        initial_output: ArrayLike | None = None,
    ) -> None:
        if form.width is not None:
            raise ModelError(
                f"the model gives one row per word but reads texts of {form.width} words only; "
                "let it read texts of any length",
                code="fixed-width",
            )
        self.encoder = encoder
        self.class_names = named_classes(class_names)
        self.fingerprint = fingerprint
        self.initial_output = checked_prior(initial_output, len(self.class_names))
        self.run, self.form, self._read_out = run, form, readout_named(outputs)

    def trace(self, ids: Ragged[np.int32]) -> Ragged[np.float32]:
        return trace_padded(ids, len(self.class_names), self._rows)

    def _rows(self, batch: NDArray[np.int32]) -> NDArray[np.float32]:
        rows = self._read_out(self.run(self.form.translated(batch)))
        if rows.shape[:2] != batch.shape:
            raise ModelError(f"the model returned {rows.shape} where one row per word of {batch.shape} was expected")
        classes = len(self.class_names)
        return checked_probabilities(rows.reshape(batch.size, -1), batch.size, classes, "the model").reshape(
            *batch.shape, classes
        )
