"""What an attack did, text by text and in sum."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wfalens.html import table_html

if TYPE_CHECKING:
    import pandas as pd

SUCCEEDED, FAILED, SKIPPED = "succeeded", "failed", "skipped"


@dataclass(frozen=True)
class Example:
    """One text under attack. `changed` are positions; `after` equals `before` where nothing was changed."""

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

    def __str__(self) -> str:
        """`[[label (p)]] --> [[label (p)]]` and both texts with the changed words marked."""
        head = (
            f"[[{self.label_before} ({self.probability_before:.0%})]] --> "
            f"[[{self.label_after} ({self.probability_after:.0%})]]"
        )
        return "\n".join([head, self._marked(self.before), self._marked(self.after)])

    def _marked(self, words: tuple[str, ...]) -> str:
        return " ".join(f"[[{word}]]" if at in self.changed else word for at, word in enumerate(words))


@dataclass(frozen=True)
class Summary:
    """Success rates in both conventions, and what they cost."""

    texts: int
    succeeded: int
    failed: int
    skipped: int  # classified wrongly before any change
    asr_all: float  # of all texts
    asr_correct: float  # of those classified correctly before
    accuracy_before: float
    accuracy_after: float
    words_changed: float  # share of the words, mean over successful texts
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
        queries = [example.queries for example in self.examples if example.status != SKIPPED]
        return Summary(
            texts=texts,
            succeeded=count[SUCCEEDED],
            failed=count[FAILED],
            skipped=count[SKIPPED],
            asr_all=count[SUCCEEDED] / max(1, texts),
            asr_correct=count[SUCCEEDED] / max(1, attacked),
            accuracy_before=attacked / max(1, texts),
            accuracy_after=count[FAILED] / max(1, texts),
            words_changed=float(np.mean(shares)) if shares else 0.0,
            queries=float(np.mean(queries)) if queries else 0.0,
        )

    def to_dataframe(self) -> pd.DataFrame:
        import pandas as pd

        rows = []
        for example in self.examples:
            row = asdict(example)
            row |= {"before": " ".join(example.before), "after": " ".join(example.after)}
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
                example._marked(example.before),
                example._marked(example.after),
            ]
            for example in self.examples
            if example.status == SUCCEEDED
        ]
        return table_html(f"{self.recipe}, k = {self.k}: successes", ["before", "after", "text", "attacked text"], rows)

    def _repr_html_(self) -> str:
        return self.to_html()


def summary_rows(outcomes: list[Outcome]) -> list[list[str]]:
    """A table of recipes: success of all texts and of the correct ones, accuracy, words changed, queries."""
    rows = []
    for outcome in outcomes:
        total = outcome.summary
        rows.append(
            [
                outcome.recipe,
                str(outcome.k),
                f"{total.asr_all:.3f}",
                f"{total.asr_correct:.3f}",
                f"{total.accuracy_before:.3f} → {total.accuracy_after:.3f}",
                f"{total.words_changed:.1%}",
                f"{total.queries:.1f}",
            ]
        )
    return rows


SUMMARY_COLUMNS = ["recipe", "k", "of all", "of correct", "accuracy", "words", "queries"]
