"""How models look when they are printed, and in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wfalens.html import table_html
from wfalens.messages import printable

if TYPE_CHECKING:
    from wfalens.models.contract import PrefixClassifier


class Shown:
    """Gives a model a line and a short table: what it is, its classes and its words."""

    def __repr__(self: PrefixClassifier) -> str:
        words, classes = f"{len(self.encoder.vocabulary):,} words", printable(", ".join(self.class_names))
        return f"<{type(self).__name__}: {words}, tokenizer {self.encoder.tokenizer_name}, classes {classes}>"

    def _repr_html_(self: PrefixClassifier) -> str:
        encoder = self.encoder
        rows = [
            ["classes", ", ".join(self.class_names)],
            ["words", f"{len(encoder.vocabulary):,}"],
            ["tokenizer", encoder.tokenizer_name],
            ["reads", encoder.reads],
            ["fingerprint", self.fingerprint],
        ]
        return table_html(type(self).__name__, ["", ""], rows)
