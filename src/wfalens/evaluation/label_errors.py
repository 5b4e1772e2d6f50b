"""Labels that are likely wrong: the model, its automata and a bag of words fitted to other texts give another class.

The model may have learned a wrong label by heart. An automaton with few states cannot, and a bag of words that is
fitted to the other texts has not seen it: it is the second opinion without which a mistake of the model is no evidence
against a label (confident learning, Northcutt et al. 2021, rests on such out-of-sample probabilities alone).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.evaluation.baselines import cross_fitted_bag_of_words
from wfalens.evaluation.comparison import check_pair
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.results import Result
from wfalens.text.corpus import Corpus

_LEAST = 1e-6  # probability


@dataclass(frozen=True)
class LabelError:
    """A text whose label is likely wrong."""

    row: int
    text: str
    label: str
    likelier: str
    doubt: float  # mean log-odds of the likelier class against the label, by model, automata and a bag of words


@dataclass(frozen=True, eq=False, repr=False)
class LabelErrors(Result):
    """Labels that are likely wrong, the most doubtful first."""

    errors: tuple[LabelError, ...]
    texts: int  # that were read

    def __len__(self) -> int:
        return len(self.errors)

    def __iter__(self) -> Iterator[LabelError]:
        return iter(self.errors)

    @property
    def title(self) -> str:
        return f"{len(self):,} of {self.texts:,} labels are likely wrong"

    def rows(self) -> list[dict[str, Any]]:
        return [vars(each) for each in self.errors]


def find_label_errors(
    wfa: WFA, model: PrefixClassifier, corpus: Corpus, outputs: NDArray[np.float64] | None = None
) -> LabelErrors:
    """The texts whose label model, automata and a bag of words doubt in the mean, and the bag of words by itself.

    Args:
        wfa: the automaton.
        model: the classifier.
        corpus: labelled texts, such as the training set.
        outputs: the model's for all texts, where they are known.
    """
    check_pair(wfa, model)
    worded, ids = wfa.encoder.encode(corpus.texts).nonempty()
    labels = corpus.labels_in(wfa.class_names)[worded]
    own = final_outputs(model, ids) if outputs is None else outputs[worded]
    others = cross_fitted_bag_of_words(ids, np.eye(len(wfa.class_names))[labels], len(wfa.encoder.vocabulary))
    if others is None:
        return LabelErrors((), len(labels))
    readers = [own, wfa.predict_proba(ids), others]
    if wfa.attached_readable is not None:
        readers.append(wfa.attached_readable.predict_proba(ids))
    logs = np.mean([np.log(np.maximum(each, _LEAST)) for each in readers], axis=0)
    likelier, each = logs.argmax(1), np.arange(len(labels))
    doubt = logs[each, likelier] - logs[each, labels]
    supported = others[each, likelier] > others[each, labels]
    order = np.argsort(-doubt, kind="stable")
    return LabelErrors(
        tuple(
            LabelError(
                int(worded[at]),
                corpus.texts[int(worded[at])],
                wfa.class_names[labels[at]],
                wfa.class_names[likelier[at]],
                float(doubt[at]),
            )
            for at in order[(doubt > 0)[order] & supported[order]].tolist()
        ),
        len(labels),
    )
