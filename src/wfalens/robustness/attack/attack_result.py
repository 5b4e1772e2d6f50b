"""What attacks did: every text, the rates of each recipe, and all recipes side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from wfalens.results import Result

SUCCEEDED, FAILED, SKIPPED = "succeeded", "failed", "skipped"
CONTROLS = ("random-order", "random-word", "random-tries")


@dataclass(frozen=True)
class Example:
    """One attacked text; `after` equals `before` where nothing was changed.

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
        before = f"{self.label_before} ({self.probability_before:.0%})"
        after = f"{self.label_after} ({self.probability_after:.0%})"
        return "\n".join([f"[[{before}]] --> [[{after}]]", *self.marked])

    @property
    def marked(self) -> tuple[str, str]:
        """Both texts with `[[…]]` around what was changed: an inserted character is in the second one only."""
        if not self.blank:
            return _mark_differences("".join(self.before), "".join(self.after))
        before, after = (
            self.blank.join(f"[[{word}]]" if at in self.changed else word for at, word in enumerate(words))
            for words in (self.before, self.after)
        )
        return before, after


def _mark_differences(before: str, after: str) -> tuple[str, str]:
    """Two texts of characters with the runs marked in which they differ."""
    marked: tuple[list[str], list[str]] = ([], [])
    for tag, *ends in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        for run, parts in zip((before[ends[0] : ends[1]], after[ends[2] : ends[3]]), marked, strict=True):
            parts.append(run if tag == "equal" or not run else f"[[{run}]]")
    return "".join(marked[0]), "".join(marked[1])


@dataclass(frozen=True)
class AttackRates:
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


@dataclass(frozen=True, eq=False, repr=False)
class RecipeResult(Result):
    """All examples of one recipe."""

    recipe: str
    k: int
    examples: tuple[Example, ...]
    computed = ("rates",)

    @property
    def rates(self) -> AttackRates:
        count = Counter(example.status for example in self.examples)
        texts, attacked = len(self.examples), count[SUCCEEDED] + count[FAILED]
        shares = [len(example.changed) / len(example.before) for example in self.successes]
        tried = sum(example.queries > 0 for example in self.examples)
        queries = [example.queries for example in self.examples if example.status != SKIPPED]
        return AttackRates(
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

    @property
    def successes(self) -> list[Example]:
        """The texts on which the attack succeeded."""
        return [example for example in self.examples if example.status == SUCCEEDED]

    @property
    def title(self) -> str:
        return f"{self.recipe}, {self.k} change{'s' if self.k != 1 else ''} at most"

    def summary(self) -> str:
        rates = self.rates
        if not rates.tried:
            return f"{self.title}: no text has an allowed change"
        return (
            f"{self.title}: {rates.asr_correct:.1%} of the correctly classified texts, accuracy "
            f"{rates.accuracy_before:.3f} → {rates.accuracy_after:.3f}, {rates.queries:.1f} queries per text"
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row per text."""
        for example in self.examples:
            texts = {name: example.blank.join(getattr(example, name)) for name in ("before", "after")}
            yield asdict(example) | texts | {"changed": " ".join(map(str, example.changed)), "recipe": self.recipe}


@dataclass(frozen=True, eq=False, repr=False)
class AttackResult(Result):
    """What each recipe reached on the same texts."""

    corpus: str
    texts: int
    candidates: str  # what may be changed: words near in meaning by some vectors, or characters
    unit: str  # what texts consist of: words or characters
    recipes: tuple[RecipeResult, ...]

    def __getitem__(self, recipe: str) -> RecipeResult:
        return next(each for each in self.recipes if each.recipe == recipe)

    @property
    def best(self) -> RecipeResult:
        """The last recipe that is no random control: its examples are worth showing."""
        return next((each for each in reversed(self.recipes) if each.recipe not in CONTROLS), self.recipes[-1])

    @property
    def examples(self) -> tuple[Example, ...]:
        """The successful examples of `best`."""
        return tuple(self.best.successes)

    @property
    def title(self) -> str:
        return f"Success of attacks on {self.texts:,} texts of {self.corpus} ({self.candidates})"

    def summary(self) -> str:
        return "\n".join([self.title, *(each.summary() for each in self.recipes)])

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row per recipe: success of all texts and of the correct ones, accuracy, share changed, queries."""
        for each in self.recipes:
            rates = each.rates
            yield {
                "recipe": each.recipe,
                "changes": each.k,
                "success (all)": rates.asr_all,
                "success (correct)": rates.asr_correct if rates.tried else "nothing was tried",
                "accuracy before": rates.accuracy_before,
                "accuracy after": rates.accuracy_after,
                f"{self.unit} changed": rates.words_changed,
                "queries": rates.queries,
            }
