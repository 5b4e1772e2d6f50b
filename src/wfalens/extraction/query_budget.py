"""The query budget: what may be asked of the model beyond the extraction texts, and what was asked.

A query of a model that gives all prefixes of a text in one pass is a prefix that it scores: a word that is read from a
saved state, or a prefix asked as a text of its own. Running over the extraction texts is then recorded but not limited.
A query of a model that pays for every call is a call, whatever it is for; the model counts them itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from wfalens.errors import InputError
from wfalens.models.contract import PrefixClassifier, StatefulClassifier
from wfalens.models.inference import asks_every_prefix

BLACK_BOX_QUERIES = 4_000_000  # at most, unless another limit is given
CALLS_PER_TEXT = 10  # of a model that pays for every call, and one per word, unless another limit is given
LOOK_AHEAD_SHARE = 0.25  # of the budget at most, where looking ahead is a choice
SEARCH_SHARE = 0.25  # of the budget at most, for all trials of an automatic choice together
FITTING_SHARE = 0.5  # of what the search left, where rows are fitted; probing has the rest
HELD_OUT, LOOK_AHEAD, AUGMENTATION, SEARCH, PROBING, FITTING = PURPOSES = (
    "held_out",
    "look_ahead",
    "augmentation",
    "search",
    "probing",
    "fitting",
)


def query_limit(queries: int | None, model: PrefixClassifier) -> int | None:
    """How often a model may be asked: as given, else a black box so often, and others without limit."""
    return BLACK_BOX_QUERIES if queries is None and not isinstance(model, StatefulClassifier) else queries


def call_limit(queries: int | None, model: PrefixClassifier, texts: int) -> int | None:
    """The same for methods that ask for whole texts: by default a few calls a text and one per word."""
    if queries is None and asks_every_prefix(model):
        return CALLS_PER_TEXT * texts + len(model.encoder.vocabulary)
    return query_limit(queries, model)


class TooFewQueriesError(InputError):
    """The budget does not pay for what is needed at the least; `asked` is the record of what was asked before."""

    asked: Mapping[str, Any] | None = None


class QueryBudget:
    """Counts the queries of one extraction; all are entered before they are asked, so the limit is never passed."""

    def __init__(self, limit: int | None = None, model: Any = None) -> None:
        self.limit = limit
        self._model: Any = model if asks_every_prefix(model) else None  # which counts its calls itself
        self._calls_before, self._cached_before = (0, 0) if model is None else (self._calls, self._cached)
        self.texts = 0  # words of the extraction texts, as often as the model has read them
        self.asked: dict[str, int] = {}

    @property
    def _calls(self) -> int:
        return int(getattr(self._model, "queries", 0))

    @property
    def _cached(self) -> int:
        return int(getattr(self._model, "cached", 0))

    @property
    def total(self) -> int:
        """Answers of the cache count, too: an extraction that continues asks what it would have asked."""
        if self._model is not None:
            return self._calls + self._cached - self._calls_before - self._cached_before
        return sum(self.asked.values())

    def share(self, part: float) -> int | None:
        """A part of the whole budget."""
        return None if self.limit is None else int(self.limit * part)

    def left(self, part: float = 1.0) -> int | None:
        """A part of what is left of the budget."""
        return None if self.limit is None else int((self.limit - self.total) * part)

    def within(self, queries: int) -> int:
        """So many queries, or as many as are left."""
        left = self.left()
        return queries if left is None else min(left, queries)

    def unspent(self, purpose: str, part: float) -> int | None:
        """What is left of the part of the whole budget that is meant for a purpose."""
        return None if self.limit is None else int(self.limit * part) - self.asked.get(purpose, 0)

    def enter(self, purpose: str, queries: int) -> None:
        """Count queries that are about to be asked, or refuse them."""
        left = self.left()
        if left is not None and queries > left:
            with self.recording_errors():
                raise TooFewQueriesError(
                    f"{purpose.replace('_', ' ')} needs {queries:,} queries, but only {left:,} of {self.limit:,} are "
                    "left; allow more"
                )
        self.record(purpose, queries)

    def record(self, purpose: str, queries: int) -> None:
        """Count queries that were asked."""
        self.asked[purpose] = self.asked.get(purpose, 0) + queries

    @contextmanager
    def recording_errors(self) -> Iterator[None]:
        """Let an error within record what was asked before it."""
        try:
            yield
        except TooFewQueriesError as error:
            error.asked = self.to_dict()
            raise

    def add(self, record: Mapping[str, Any]) -> None:
        """Count what another budget has counted, which stands in its `to_dict()`."""
        self.texts += record["texts"]
        for purpose in PURPOSES:
            if purpose in record:
                self.record(purpose, record[purpose])

    def to_dict(self) -> dict[str, Any]:
        cached = self._cached - self._cached_before  # which were not asked
        record = {"limit": self.limit, "total": self.total - cached, **({"cached": cached} if cached else {})}
        return {**record, "texts": self.texts, **self.asked}
