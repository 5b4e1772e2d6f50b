"""How much of a corpus was read, and what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from wfalens import progress
from wfalens.storage import StoredFile

_FIRST = 20  # of what was left out, that are named
LeftOutRow = tuple[int, int, int, str]  # file, block, number within the block, and the sentence that names it


@dataclass(frozen=True)
class RowCounts:
    """Counts that add up in any order; `first` names the first of what was left out."""

    texts: int = 0  # with a word in them
    tokens: int = 0
    cut: int = 0  # texts that were longer than the model reads
    left_out: int = 0  # rows, shards or files
    first: tuple[LeftOutRow, ...] = ()

    @classmethod
    def of(cls, parts: Iterable[RowCounts]) -> RowCounts:
        parts = list(parts)
        first = sorted(each for part in parts for each in part.first)[:_FIRST]
        return cls(
            sum(part.texts for part in parts),
            sum(part.tokens for part in parts),
            sum(part.cut for part in parts),
            sum(part.left_out for part in parts),
            tuple(first),
        )

    @classmethod
    def stored(cls, file: StoredFile) -> RowCounts:
        """From the header of a part that `to_json` was written to."""
        fields = file.field("tally", dict)
        return cls(**fields | {"first": tuple(map(tuple, fields["first"]))})

    @classmethod
    def without(cls, file: int, block: int, reasons: Sequence[str], number: int | None = None) -> RowCounts:
        """Of rows, shards or files that were left out, some of them by name; they are as many as `number` says."""
        first = tuple((file, block, at, reason) for at, reason in enumerate(reasons))
        return cls(left_out=len(reasons) if number is None else number, first=first[:_FIRST])

    @property
    def reasons(self) -> list[str]:
        """The first of what was left out, in the order of the corpus."""
        return [reason for *_, reason in self.first]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def say_cut(self, max_length: int | None) -> None:
        """Tell a person what the model could not read to the end."""
        if self.cut:
            progress.say(f"{self.cut:,} of {self.texts:,} texts were cut after {max_length} tokens")

    def say_left_out(
        self,
    ) -> None:
        if self.left_out:
            more = "; …" if self.left_out > 3 else ""
            progress.say(f"left out {self.left_out:,} rows, shards or files ({'; '.join(self.reasons[:3])}{more})")
