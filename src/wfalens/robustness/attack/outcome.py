"""What an attack did, text by text and in sum."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

import numpy as np

from wfalens.html import table_html

if TYPE_CHECKING:
    import pandas as pd

SUCCEEDED, FAILED, SKIPPED = "succeeded", "failed", "skipped"
NOTHING_TRIED = "nothing was tried"


@dataclass(frozen=True)
class Example:
    """One text under attack; `after` equals `before` where nothing was changed.

    `changed` are positions of words, in both texts; of characters, the position of each edit when it was made.
    """

    status: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    changed: tuple[int, ...]
    truth: str
    label_before: str
    probability_before: float
    label_after: str
    probability_after: float
    queries: int
    blank: str = " "  # between words; nothing between characters

    def __str__(self) -> str:
        """`[[label (p)]] --> [[label (p)]]` and both texts with what was changed marked."""
        head = (
            f"[[{self.label_before} ({self.probability_before:.0%})]] --> "
            f"[[{self.label_after} ({self.probability_after:.0%})]]"
        )
        return "\n".join([head, *self.marked])

    @property
    def marked(self) -> tuple[str, str]:
        """Both texts with `[[…]]` around what was changed: an inserted character is in the second one only."""
        if not self.blank:
            return _marked_apart("".join(self.before), "".join(self.after))
        before, after = (
            self.blank.join(f"[[{word}]]" if at in self.changed else word for at, word in enumerate(words))
            for words in (self.before, self.after)
        )
        return before, after


def _marked_apart(before: str, after: str) -> tuple[str, str]:
    """Two texts of characters with the runs marked in which they differ."""
    found: tuple[list[str], list[str]] = ([], [])
    for tag, *ends in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        for run, parts in zip((before[ends[0] : ends[1]], after[ends[2] : ends[3]]), found, strict=True):
            parts.append(run if tag == "equal" or not run else f"[[{run}]]")
    return "".join(found[0]), "".join(found[1])


@dataclass(frozen=True)
class Summary:
    """Success rates in both conventions, and what they cost; None where nothing was tried."""

    texts: int
    succeeded: int
    failed: int
    skipped: int  # classified wrongly before any change
    tried: int  # texts on which the model was asked about a change
    asr_all: float | None  # of all texts
    asr_correct: float | None  # of those classified correctly before
    accuracy_before: float
    accuracy_after: float | None
    words_changed: float | None  # share of the words, mean over successful texts; None without a success
    queries: float  # of the model, mean over attacked texts


@dataclass(frozen=True, eq=False)
class Outcome:
    """All examples of one recipe."""

    recipe: str
    k: int
    examples: tuple[Example, ...]

    @property
    def summary(self) -> Summary:
        count = dict.fromkeys((SUCCEEDED, FAILED, SKIPPED), 0)
        for example in self.examples:
            count[example.status] += 1
        texts, attacked = len(self.examples), count[SUCCEEDED] + count[FAILED]
        won = [example for example in self.examples if example.status == SUCCEEDED]
        shares = [len(example.changed) / len(example.before) for example in won]
        tried = sum(example.queries > 0 for example in self.examples)
        queries = [example.queries for example in self.examples if example.status != SKIPPED]
        return Summary(
            texts=texts,
            succeeded=count[SUCCEEDED],
            failed=count[FAILED],
            skipped=count[SKIPPED],
            tried=tried,
            asr_all=count[SUCCEEDED] / texts if tried else None,
            asr_correct=count[SUCCEEDED] / attacked if tried else None,
            accuracy_before=attacked / max(1, texts),
            accuracy_after=count[FAILED] / texts if tried else None,
            words_changed=float(np.mean(shares)) if shares else None,
            queries=float(np.mean(queries)) if queries else 0.0,
        )

    def to_dataframe(self) -> pd.DataFrame:
        import pandas as pd

        rows = []
        for example in self.examples:
            row = asdict(example)
            row |= {"before": example.blank.join(example.before), "after": example.blank.join(example.after)}
            row["changed"] = " ".join(map(str, example.changed))
            rows.append(row)
        return pd.DataFrame(rows)

    def to_json(self) -> dict[str, Any]:
        examples = [asdict(example) for example in self.examples]
        return {"recipe": self.recipe, "k": self.k, "summary": asdict(self.summary), "examples": examples}

    def to_html(self) -> str:
        rows = [
            [
                f"{example.label_before} ({example.probability_before:.0%})",
                f"{example.label_after} ({example.probability_after:.0%})",
                *example.marked,
            ]
            for example in self.examples
            if example.status == SUCCEEDED
        ]
        return table_html(f"{self.recipe}, k = {self.k}: successes", ["before", "after", "text", "attacked text"], rows)

    def _repr_html_(self) -> str:
        return self.to_html()


def summary_columns(changed: str) -> list[str]:
    """The heads of that table; `changed` are words or characters."""
    return ["recipe", "k", "of all", "of correct", "accuracy", changed, "tries"]


def summary_rows(outcomes: list[Outcome]) -> list[list[str]]:
    """A table of recipes: success of all texts and of the correct ones, accuracy, words changed, queries."""
    rows = []
    for outcome in outcomes:
        total = outcome.summary
        rows.append(
            [
                outcome.recipe,
                str(outcome.k),
                _shown(total.asr_all, ".3f"),
                _shown(total.asr_correct, ".3f") if total.tried else NOTHING_TRIED,
                f"{total.accuracy_before:.3f} → {_shown(total.accuracy_after, '.3f')}",
                _shown(total.words_changed, ".1%"),
                f"{total.queries:.1f}",
            ]
        )
    return rows


def _shown(value: float | None, form: str) -> str:
    return "–" if value is None else f"{value:{form}}"
