"""How models look in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wfalens.html import table_html

if TYPE_CHECKING:
    from wfalens.models.contract import StepwiseClassifier


class Shown:
    """Gives a model a short table: what it is, its classes and its words."""

    def _repr_html_(self: StepwiseClassifier) -> str:
        encoder = self.encoder
        rows = [
            ["classes", ", ".join(self.class_names)],
            ["words", f"{len(encoder.vocabulary):,}"],
            ["tokenizer", encoder.tokenizer_name],
            ["reads", encoder.reads],
            ["fingerprint", self.fingerprint],
        ]
        return table_html(type(self).__name__, ["", ""], rows)
