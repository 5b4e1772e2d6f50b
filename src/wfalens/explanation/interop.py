"""Attributions in the conventions of other packages: shap's objects, and the calls of shap, captum and LIME.

None of these packages is needed, except shap itself for a `shap.Explanation`; it is imported when one is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.attribution import PROBABILITY, Attribution, check_some, class_column, import_shap, to_shap
from wfalens.explanation.shapley.network_values import QUERIES, network_shapley
from wfalens.explanation.shapley.shapley_values import shapley_each
from wfalens.html import heat_html, page_html
from wfalens.models.contract import PrefixClassifier
from wfalens.ragged import Ragged
from wfalens.text.vocabulary import PADDING


def word_table(attributions: Sequence[Attribution], class_name: str, words: Sequence[str] | None = None) -> Any:
    """Many texts as a table of words in a `shap.Explanation`, for `shap.plots.beeswarm` and `bar`.

    A row is a text. The values of a word are added up over its occurrences in the text, and 0 where it does not occur;
    `data` has the number of occurrences. By default all words, in the order of their first occurrence.
    """
    check_some(attributions)
    names = list(dict.fromkeys(word for each in attributions for word in each.words)) if words is None else list(words)
    places = {word: at for at, word in enumerate(names)}
    column = class_column(attributions[0].class_names, class_name)
    values, counts = np.zeros((len(attributions), len(names))), np.zeros((len(attributions), len(names)))
    for row, each in enumerate(attributions):
        for word, value in zip(each.words, each.values[:, column], strict=True):
            if word in places:
                values[row, places[word]] += value
                counts[row, places[word]] += 1
    base = np.array([each.base[column] for each in attributions])
    return import_shap().Explanation(values=values, base_values=base, data=counts, feature_names=names)


class WFAExplainer:
    """Shapley values with the methods of other packages.

    explainer(texts)                    as shap: a `shap.Explanation`
    explainer.attribute(ids, target)    as captum: an array of the shape of the ids
    explainer.explain_instance(text)    as LIME: an object with `as_list` and `as_html`
    explainer.explain(texts)            our own `Attribution` of every text

    The values are those of the automaton, in probabilities, without a query of the network. With `model` they are the
    network's own, from at most `queries` queries a text.
    """

    def __init__(
        self,
        wfa: WFA,
        *,
        absence: str = "delete",
        unit: str = PROBABILITY,
        model: PrefixClassifier | None = None,
        queries: int = QUERIES,
    ) -> None:
        self.wfa, self.absence, self.unit, self.model, self.queries = wfa, absence, unit, model, queries

    def explain(self, texts: Sequence[str]) -> list[Attribution]:
        if self.model is None:
            return shapley_each(self.wfa, texts, absence=self.absence, unit=self.unit)
        return [
            network_shapley(self.model, self.wfa, text, queries=self.queries, absence=self.absence) for text in texts
        ]

    def __call__(self, texts: Sequence[str]) -> Any:
        return to_shap(self.explain(texts))

    def attribute(
        self, inputs: Any, target: int | Sequence[int] | None = None, return_convergence_delta: bool = False
    ) -> Any:
        """Values of word ids, 0 on padding; inputs: (texts, words), numpy or torch -> the same kind and shape

        target  the number of the class, or one for every text (default: the class that the automaton chooses). With
                `return_convergence_delta` also how far the values of a text are from adding up: (texts,)
        """
        table = np.asarray(inputs)
        if table.ndim != 2 or table.dtype.kind not in "iu":
            raise InputError(
                f"inputs must be word ids of shape (texts, words), not {table.dtype} {table.shape}", code="ids-shape"
            )
        real = table != PADDING
        ids = Ragged.from_lengths(table[real].astype(np.int32), real.sum(1))
        found = shapley_each(self.wfa, ids, absence=self.absence, unit=self.unit)
        columns = self._columns(found, target)
        values = np.zeros(table.shape)
        values[real] = np.concatenate([each.values[:, at] for each, at in zip(found, columns, strict=True)])
        delta = np.array([each.gap[at] for each, at in zip(found, columns, strict=True)])
        if not return_convergence_delta:
            return _like(values, inputs)
        return _like(values, inputs), _like(delta, inputs)

    def _columns(self, found: Sequence[Attribution], target: int | Sequence[int] | None) -> list[int]:
        if target is None:
            return [each.column() for each in found]
        chosen = np.broadcast_to(np.asarray(target), (len(found),)) if np.ndim(target) == 0 else np.asarray(target)
        names = self.wfa.class_names
        if chosen.shape != (len(found),):
            raise InputError(f"there are {len(chosen)} targets for {len(found)} texts", code="targets")
        if not np.all((chosen >= 0) & (chosen < len(names))):
            known = ", ".join(f"{at} ({name})" for at, name in enumerate(names))
            raise InputError(f"there is no class {int(chosen.max())}; choose one of {known}", code="option-value")
        return [int(at) for at in chosen]

    def explain_instance(
        self, text_instance: str, labels: Sequence[int] = (1,), top_labels: int | None = None, num_features: int = 10
    ) -> InstanceExplanation:
        """One text for some classes by their numbers, or for the `top_labels` likeliest."""
        (found,) = self.explain([text_instance])
        if top_labels is not None:
            labels = [int(at) for at in np.argsort(-found.output, kind="stable")[:top_labels]]
        self._columns([found] * len(labels), list(labels))
        return InstanceExplanation(found, tuple(labels), num_features)


@dataclass(frozen=True, eq=False)
class InstanceExplanation:
    """One text as LIME has it: for each label the words that matter most, with their values."""

    attribution: Attribution
    labels: tuple[int, ...]
    num_features: int

    @property
    def class_names(self) -> list[str]:
        return list(self.attribution.class_names)

    @property
    def local_exp(self) -> dict[int, list[tuple[int, float]]]:
        return self.as_map()

    def available_labels(self) -> list[int]:
        return list(self.labels)

    def as_map(self) -> dict[int, list[tuple[int, float]]]:
        """For every label the positions of the words that matter most, with their values."""
        return {label: self._strongest(label) for label in self.labels}

    def as_list(self, label: int = 1) -> list[tuple[str, float]]:
        """The words that matter most for a label, with their values, the strongest first."""
        return [(self.attribution.words[at], value) for at, value in self._strongest(label)]

    def as_html(self) -> str:
        """A page of its own."""
        parts = [
            heat_html(
                f"{self.class_names[label]} ({self.attribution.output[label]:.3f})",
                self.attribution.words,
                list(self.attribution.values[:, label]),
                self.attribution.unit,
            )
            for label in self.labels
        ]
        return page_html(" ".join(self.attribution.words), parts)

    def _strongest(self, label: int) -> list[tuple[int, float]]:
        if label not in self.labels:
            known = ", ".join(map(str, self.labels))
            message = f"label {label} was not explained; choose one of {known}, or name it in explain_instance"
            raise InputError(message, code="option-value")
        values = self.attribution.values[:, label]
        order = np.argsort(-np.abs(values), kind="stable")[: self.num_features]
        return [(int(at), float(values[at])) for at in order]


def _like(values: NDArray[np.float64], inputs: Any) -> Any:
    """As a torch tensor where the inputs are one."""
    if type(inputs).__module__.split(".")[0] != "torch":
        return values
    import torch

    return torch.from_numpy(values)
