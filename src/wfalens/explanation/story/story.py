"""The story as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from wfalens.html import text_html


@dataclass(frozen=True)
class Sentence:
    """One statement, with the numbers that it rests on, unrounded."""

    about: str
    text: str
    figures: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Story:
    """What an automaton does, in sentences; the first says how far to trust the others."""

    sentences: tuple[Sentence, ...]
    remark: str | None = None  # who tells it, where that is the attached readable automaton

    @property
    def text(self) -> str:
        """One sentence on a line."""
        return "\n".join(each.text for each in self.sentences)

    def of(self, about: str) -> list[Sentence]:
        return [each for each in self.sentences if each.about == about]

    def to_json(self) -> dict[str, Any]:
        told = [{"about": each.about, "text": each.text, "figures": each.figures} for each in self.sentences]
        return {"sentences": told, "remark": self.remark}

    def to_html(self) -> str:
        remarks = () if self.remark is None else (self.remark,)
        return "".join(text_html(each) for each in (*remarks, *(each.text for each in self.sentences)))

    def _repr_html_(self) -> str:
        return self.to_html()
