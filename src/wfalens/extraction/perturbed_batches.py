"""What is learned from: perturbed texts and what the model says of all their prefixes, anew for every pass."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from wfalens.extraction.perturbation import Perturbation, perturbed, random_part
from wfalens.extraction.query_budget import FITTING, QueryBudget, TooFewQueriesError
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import output_traces
from wfalens.ragged import Ragged


class TrainingConfig(Protocol):
    """What is taught: settings of a training."""

    @property
    def passes(self) -> int:
        """At most."""
        ...

    @property
    def tokens(self) -> int:
        """In a pass at most."""
        ...

    @property
    def perturbation(self) -> Perturbation: ...


class TrainingBatch(NamedTuple):
    """Texts, and the model's outputs on their prefixes."""

    texts: Ragged[np.int32]
    outputs: Ragged[np.float32]  # (tokens, C)


class PerturbedBatches:
    """One for each pass; where queries are limited there are as many as can be paid for, kept and taken in turn."""

    def __init__(
        self, model: PrefixClassifier, ids: Ragged[np.int32], course: TrainingConfig, seed: int, budget: QueryBudget
    ) -> None:
        self.model, self.ids, self.course, self.seed, self.budget = model, ids, course, seed, budget
        self.counts = np.bincount(ids.values, minlength=len(model.encoder.vocabulary))
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
            return self._drawn(number, self.course.tokens)
        batches, tokens = self._paid
        if number % batches not in self._kept:
            self._kept[number % batches] = self._drawn(number % batches, tokens)
        return self._kept[number % batches]

    @cached_property
    def _paid(self) -> tuple[int, int] | None:
        """How many batches of how many tokens the queries pay for; None: there is no limit."""
        left = self.budget.left()
        if left is None:
            return None
        longest = int(self.ids.lengths.max())  # a batch ends with a whole text
        size = min(self.course.tokens, len(self.ids.values)) + longest
        if left >= size:
            return min(self.course.passes, left // size), self.course.tokens
        if left <= 2 * longest:
            with self.budget.recording_errors():
                raise TooFewQueriesError(
                    f"{left:,} queries do not pay for fitting, which takes at least {2 * longest + 1:,}; allow more"
                )
        return 1, left - longest

    def _drawn(self, number: int, tokens: int) -> TrainingBatch:
        rng = np.random.default_rng([self.seed, number])
        part, lowest = random_part(self.ids, tokens, rng), self.model.encoder.lowest_id
        texts = perturbed(part, self.counts, self.course.perturbation, rng, lowest)
        if number >= self._entered:
            self.budget.enter(FITTING, len(texts.values))
        return TrainingBatch(texts, output_traces(self.model, texts))
