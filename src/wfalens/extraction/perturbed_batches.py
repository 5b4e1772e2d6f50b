"""What automata are trained on: perturbed texts, and what the model says of them.

A model that gives all prefixes in one pass is asked for all of them, with new texts in every epoch. A model that pays
for every call is asked for whole texts, and for a few beginnings of long ones; its answers are kept and used again.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from wfalens.extraction.cost_estimate import outputs_within
from wfalens.extraction.deadline import NEVER, Deadline
from wfalens.extraction.method import AnsweredTexts
from wfalens.extraction.perturbation import Perturbation, perturbed, random_part
from wfalens.extraction.query_budget import FITTING, QueryBudget, TooFewQueriesError
from wfalens.extraction.states import MOST_OUTPUTS, cut_out, prefix_lengths
from wfalens.models.base import BlackBoxClassifier
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import asks_every_prefix, output_traces
from wfalens.ragged import Ragged, concatenate, positions
from wfalens.text.vocabulary import UNKNOWN

_CUT = 0.1  # share of the texts that end at a random word: beginnings are texts, too
_HIDDEN = 0.5  # share of the words seen once that an automaton reads as `<unk>`, where its model reads any word
_TIMES_KEPT = 2  # the outputs that are compared at a time, of all batches that are used again
_SHORT = 24  # words; a beginning more is asked of a text that is twice as long, and so on


class BatchConfig(Protocol):
    """What a training says about its batches."""

    @property
    def passes(self) -> int:
        """Epochs at most."""
        ...

    @property
    def tokens(self) -> int:
        """In an epoch at most."""
        ...

    @property
    def perturbation(self) -> Perturbation: ...


class TrainingBatch(NamedTuple):
    """Texts, and the model's outputs after some of their words."""

    texts: Ragged[np.int32]
    asked: Ragged[np.int64]  # for each text, after how many of its words the model was asked
    outputs: Ragged[np.float32]  # (…, C): what it answered

    def take(self, items: NDArray[np.int64]) -> TrainingBatch:
        return TrainingBatch(self.texts.take(items), self.asked.take(items), self.outputs.take(items))

    @property
    def places(self) -> NDArray[np.int64]:
        """The token behind which each output stands; (asked,)"""
        return self.texts.offsets[self.asked.item_of_value()] + self.asked.values - 1


class PerturbedBatches:
    """One for each epoch; where queries are limited there are as many as can be paid for, kept and taken in turn.

    `shown` are the same texts as the model is shown them (`Classifier.encode`), where that tells more than the words.
    """

    def __init__(
        self,
        model: PrefixClassifier,
        ids: Ragged[np.int32],
        config: BatchConfig,
        seed: int,
        budget: QueryBudget,
        shown: Ragged[np.int32] | None = None,
        deadline: Deadline = NEVER,
    ) -> None:
        self.model, self.ids, self.config, self.seed, self.budget = model, ids, config, seed, budget
        self.shown, self.deadline = ids if shown is None else shown, deadline
        self.tokens = min(config.tokens, MOST_OUTPUTS // len(model.class_names))
        self.counts = np.bincount(ids.values, minlength=len(model.encoder.vocabulary))
        self.asks_texts = asks_every_prefix(model)
        self.reads_texts = isinstance(model, BlackBoxClassifier) and model.reads_texts
        self.perturbation = config.perturbation._replace(unknown=0) if self.reads_texts else config.perturbation
        self._kept: dict[int, TrainingBatch] = {}
        self._entered = 0

    def resume(self, number: int, asked: Mapping[str, int]) -> None:
        """Go on after so many batches, which were asked for by a training that was stopped, with all that it had asked.

        Those of them that are taken again are asked for again, but the record is that of a training that never stopped.
        """
        _ = self._paid  # by what was left when the training began
        self.budget.asked, self._entered = dict(asked), number

    def numbered(self, number: int) -> TrainingBatch:
        if self._paid is None:
            return self._drawn(number, self.tokens)
        batches, tokens = self._paid
        if number % batches not in self._kept and not (self._kept and self.deadline.is_over):
            try:
                self._kept[number % batches] = self._drawn(number % batches, tokens)
            except TooFewQueriesError:  # calls that failed were made again
                if not self._kept:
                    raise
        if number % batches in self._kept:
            return self._kept[number % batches]
        return list(self._kept.values())[number % len(self._kept)]

    @property
    def answered(self) -> AnsweredTexts:
        """The texts of all batches that are kept, as far as they were asked for, with the answers."""
        batches = self._kept.values()
        texts = concatenate([cut_out(batch.texts, batch.texts.offsets[:-1], batch.asked.last()) for batch in batches])
        return AnsweredTexts(texts, np.concatenate([batch.outputs.last() for batch in batches]))

    @cached_property
    def _paid(self) -> tuple[int, int] | None:
        """How many batches of how many tokens the queries pay for; None: there is no limit."""
        left = self.budget.left()
        if left is None:
            return None
        size, longest = min(self.tokens, len(self.ids.values)), int(self.ids.lengths.max())
        per_token = (1 + beginnings(self.ids.lengths)).sum() / len(self.ids.values) if self.asks_texts else 1.0
        cost = int((size + longest) * per_token) + 1  # a batch ends with a whole text
        if left >= cost:
            kept = max(1, _TIMES_KEPT * MOST_OUTPUTS // len(self.model.class_names) // cost)
            return min(self.config.passes, left // cost, kept), self.tokens
        if left <= 2 * longest * per_token:
            with self.budget.recording_errors():
                raise TooFewQueriesError(
                    f"{left:,} queries do not pay for training, which takes at least "
                    f"{int(2 * longest * per_token) + 1:,}; allow more"
                )
        return 1, int(left / per_token) - longest

    def _drawn(self, number: int, tokens: int) -> TrainingBatch:
        rng = np.random.default_rng([self.seed, number])
        items, lowest = random_part(self.ids, tokens, rng), self.model.encoder.lowest_id
        if self.asks_texts and self.deadline.left is not None:
            items = rng.permutation(items)  # it may be over before the last of them is asked
        part, shown = self.ids.take(items), self.shown.take(items).values
        texts = perturbed(part, self.counts, self.perturbation, rng, lowest)
        asked = lengths_asked(texts.lengths, rng) if self.asks_texts else Ragged(prefix_lengths(texts), texts.offsets)
        left = self.budget.left()
        if self.asks_texts and left is not None and not self._kept and left < len(asked.values):
            paid = np.arange(np.searchsorted(asked.offsets, left, "right") - 1)  # of short texts, words cost more
            part, texts, asked = part.take(paid), texts.take(paid), asked.take(paid)
            shown = shown[: len(texts.values)]
        if number >= self._entered:
            self.budget.enter(FITTING, max(1, len(asked.values)))
        if not self.asks_texts:
            outputs = output_traces(self.model, texts).values.astype(np.float32, copy=False)
            return TrainingBatch(texts, asked, Ragged(outputs, texts.offsets))
        as_shown = np.where(texts.values == part.values, shown, texts.values)
        if self.reads_texts:  # the model sees every word; what unknown words do is learned from the rarest
            hidden = (self.counts[texts.values] == 1) & (rng.random(len(as_shown)) < _HIDDEN)
            texts = Ragged(np.where(hidden, UNKNOWN, texts.values), texts.offsets)
        starts = texts.offsets[asked.item_of_value()]
        prefixes = Ragged.from_lengths(as_shown[positions(starts, asked.values)], asked.values)
        outputs = outputs_within(self.model, prefixes, self.deadline)
        texts_asked = int(np.searchsorted(asked.offsets, len(outputs), "right")) - 1
        answered = np.arange(max(1, texts_asked))
        asked = asked.take(answered)  # of one text, what was answered
        asked = Ragged.from_lengths(asked.values[: len(outputs)], np.minimum(asked.lengths, len(outputs)))
        return TrainingBatch(texts.take(answered), asked, Ragged(outputs[: len(asked.values)], asked.offsets))


def beginnings(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many beginnings of texts are asked beside the whole texts: long texts need some. -> (texts,)"""
    return np.rint(np.log2(np.maximum(lengths, _SHORT) / _SHORT)).astype(np.int64)


def lengths_asked(lengths: NDArray[np.int64], rng: np.random.Generator) -> Ragged[np.int64]:
    """After how many words the model is asked: after all, and after about a half, a quarter, … of a long text.

    Some texts end at a random word, for beginnings are texts, too.
    """
    ends = np.where(rng.random(len(lengths)) < _CUT, rng.integers(1, lengths + 1), lengths)
    extra = beginnings(lengths)
    item = np.repeat(np.arange(len(lengths)), extra)
    order = np.arange(len(item)) - np.repeat(np.cumsum(extra) - extra, extra)  # 0, 1, … in each text
    shares = 2.0 ** -(order + rng.random(len(item)))
    found = np.ceil(lengths[item] * shares).astype(np.int64).clip(1, lengths[item])
    distinct = np.unique(np.concatenate([item, np.arange(len(lengths))]) << 32 | np.concatenate([found, ends]))
    return Ragged.from_lengths(distinct & ((1 << 32) - 1), np.bincount(distinct >> 32, minlength=len(lengths)))
