"""The texts that an extraction leaves aside to measure itself on, and how automata are compared on them.

They are found again by the seed alone. Automata are compared by consistency, then by divergence; copies of language
models by divergence. The other texts may be drawn evenly over classes, so that small classes count as much as large
ones in what an automaton is fitted to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.serving import recorded
from wfalens.automaton.wfa import WFA
from wfalens.extraction.deadline import TIME, Stop
from wfalens.extraction.method import Request
from wfalens.extraction.query_budget import SEARCH, QueryBudget
from wfalens.extraction.states import cut_out
from wfalens.models.contract import Named, is_language_model
from wfalens.models.inference import asks_every_prefix, jensen_shannon, last_outputs
from wfalens.ragged import Ragged

if TYPE_CHECKING:
    from scipy.sparse import csr_array

BALANCES = PREDICTED, LABEL = ("predicted", "label")  # by the model's class of a text, or by the text's own
CONSISTENCY, DIVERGENCE = ("consistency", "divergence")  # what counts first
_SHARE, _MOST = 0.1, 2000  # of the texts, and texts at most
_MOST_COPIES = 50  # of a text
_TIE = 0.5  # standard errors of a rate
_CLEAR, _CLEARLY_LESS = 1.0, 0.9  # standard errors that a rate must gain, and what may be left of a divergence
_POOR = 0.8  # CR below which a copy does not explain its model
_BASELINES = {
    "largest_class": "always saying the most frequent class",
    "bag_of_words": "a bag of words that learned from the same answers",
}
_NOTHING = 1e-5  # a divergence below which there is nothing to gain


def divided(
    ids: Ragged[np.int32], seed: int, groups: NDArray[np.int64] | None = None
) -> tuple[Ragged[np.int32], Ragged[np.int32]]:
    """A random tenth of the texts, 2,000 at most, and the rest, balanced by its classes if these are given. (texts,)"""
    held, known = split(len(ids), seed)
    return ids.take(held), balanced(ids.take(known), None if groups is None else groups[known])


def split(
    texts: int, seed: int | np.random.Generator, most: int = _MOST
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers of the texts that are held out, and of the others."""
    order = np.random.default_rng(seed).permutation(texts)
    held = max(1, min(most, round(_SHARE * texts)))
    return np.sort(order[:held]), np.sort(order[held:])


def comparison_prefixes(model: Named, texts: Ragged[np.int32]) -> Ragged[np.int32]:
    """The texts after which automata are compared with their model: of a language model, prefixes of random length.

    A language model says something of every prefix, and the end of a text is only one of them.
    """
    return cut_out(texts, texts.offsets[:-1], comparison_lengths(model, texts))


def comparison_lengths(model: Named, texts: Ragged[np.int32]) -> NDArray[np.int64]:
    """After how many words of each text automata are compared with their model; no text may be empty. -> (texts,)"""
    if not is_language_model(model):
        return texts.lengths
    return np.random.default_rng(0).integers(1, texts.lengths + 1)


def groups_of(request: Request, budget: QueryBudget) -> NDArray[np.int64] | None:
    """The class of every text by which they are balanced; None: they are not. -> (texts,)"""
    if request.balance is None:
        return None
    if request.balance == LABEL:
        return request.texts.truth
    if asks_every_prefix(request.model):
        budget.enter(SEARCH, len(request.ids))
    else:
        budget.texts += len(request.ids.values)
    return np.asarray(last_outputs(request.model, request.texts.as_shown).argmax(1))


def balanced(ids: Ragged[np.int32], groups: NDArray[np.int64] | None) -> Ragged[np.int32]:
    """All texts, those of smaller classes several times: about as many of each class. groups: (texts,)"""
    if groups is None:
        return ids
    sizes = np.bincount(groups)
    copies = np.minimum(np.rint(sizes.max() / np.maximum(1, sizes)), _MOST_COPIES).astype(np.int64)
    return ids.take(np.repeat(np.arange(len(ids)), copies[groups]))


class Rates(NamedTuple):
    """Of an automaton on texts: the share on which it gives the model's class, and the mean divergence."""

    cr: float
    jsd: float


class Rated(Protocol):
    """Something that was measured."""

    @property
    def cr(self) -> float: ...

    @property
    def jsd(self) -> float: ...


def rates(wfa: WFA, texts: Ragged[np.int32], targets: NDArray[np.floating]) -> Rates:
    """CR and JSD of an automaton. targets: (texts, C), the model's outputs"""
    weights = wfa.weights(texts)
    if wfa.labels:  # each is decided by itself
        agrees = (wfa.label_probabilities(texts) > 1 / 2) == (targets[:, 1::2] > targets[:, ::2])
    else:
        agrees = wfa.decide(weights) == targets.argmax(1)
    cr = float(np.mean(agrees))
    return Rates(cr, float(jensen_shannon(wfa.probabilities(weights), targets).mean()))


def rates_by_class(wfa: WFA, texts: Ragged[np.int32], targets: NDArray[np.floating]) -> dict[str, dict[str, Any]]:
    """Of each of the model's classes that has any of the texts: their number, and CR on them. targets: (texts, C)"""
    label = targets.argmax(1)
    agrees = wfa.decide(wfa.weights(texts)) == label
    return {
        wfa.class_names[at]: {"texts": int(np.sum(label == at)), "cr": float(agrees[label == at].mean())}
        for at in np.unique(label)
    }


def bag_of_words(
    fit_ids: Ragged[np.int32], fit_outputs: NDArray[np.floating], ids: Ragged[np.int32], words: int
) -> NDArray[np.float64]:
    """Logistic regression on word counts, fitted to the model's predictions; -> (texts, C)"""
    return fit_predict(
        word_counts(fit_ids, words), fit_outputs.argmax(1), word_counts(ids, words), fit_outputs.shape[1]
    )


def fit_predict(fit_table: csr_array, labels: NDArray[np.int64], table: csr_array, classes: int) -> NDArray[np.float64]:
    """Logistic regression on word counts; -> (texts, C)"""
    from sklearn.linear_model import LogisticRegression

    result = np.zeros((table.shape[0], classes))
    present = np.unique(labels)
    if len(present) == 1:
        result[:, present[0]] = 1
        return result
    seen = np.unique(fit_table.indices)  # the others have no weight
    model = LogisticRegression(max_iter=1000, tol=1e-3).fit(fit_table[:, seen], labels)
    result[:, model.classes_] = model.predict_proba(table[:, seen])
    return result


def word_counts(ids: Ragged[np.int32], words: int) -> csr_array:
    """How often every word stands in each text; -> (texts, V)"""
    from scipy.sparse import csr_array

    # a copy: counting sorts the words of every text where they stand
    table = csr_array((np.ones(len(ids.values)), ids.values, ids.offsets), shape=(len(ids), words), copy=True)
    table.sum_duplicates()
    return table


def shortfall(provenance: Mapping[str, Any]) -> str | None:
    """A sentence, if an automaton is not faithful enough on held-out texts to explain its model; else None."""
    found, baselines = recorded(provenance), provenance.get("baselines", {})
    if found is None:
        return None
    is_hurried = getattr(Stop.of(provenance), "by", None) == TIME
    more = "time ended its training: more time" if is_hurried else "more queries or a higher effort"
    if found.cr < _POOR:
        return (
            f"the automaton agrees with the model on {found.cr:.0%} of {found.texts:,} held-out texts only, too little "
            f"to explain the model by it; {more} may help, but it cannot compare distant parts of a text word by word"
        )
    name, cr = max(baselines.items(), key=lambda each: each[1], default=("", 0.0))
    if not found.cr <= cr < 1:
        return None
    return (
        f"{_BASELINES[name]} agrees with the model on {cr:.1%} of {found.texts:,} held-out texts, the automaton on "
        f"{found.cr:.1%}: it copies nothing beyond that; {more} may help"
    )


def aim_for(model: Named) -> str:
    """What counts first in a copy of this model: its class or, of a language model, its probabilities."""
    return DIVERGENCE if is_language_model(model) else CONSISTENCY


def select_best(found: Sequence[Rated], texts: int, aim: str = CONSISTENCY) -> int:
    """The place of the best: CR within half a standard error of the highest is a tie, which the lower JSD wins."""
    if aim == DIVERGENCE:
        return min(range(len(found)), key=lambda at: (max(_NOTHING, found[at].jsd), at))
    top = max(each.cr for each in found)
    least = top - _TIE * _standard_error(top, texts)
    return min((at for at, each in enumerate(found) if each.cr >= least), key=lambda at: (found[at].jsd, at))


def gains(found: Rated, before: Sequence[Rated], texts: int, aim: str = CONSISTENCY) -> bool:
    """Whether it is clearly better than all before it, and not yet as good as can be."""
    if aim == DIVERGENCE:
        return _NOTHING < found.jsd <= _CLEARLY_LESS * min(each.jsd for each in before)
    top = max(each.cr for each in before)
    return found.cr - top > _CLEAR * _standard_error(top, texts)


def _standard_error(rate: float, texts: int) -> float:
    return float(np.sqrt(rate * (1 - rate) / texts))
