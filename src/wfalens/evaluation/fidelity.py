"""The fidelity of an automaton: overall, by class, by length and by rare words, beside trivial stand-ins."""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import UNDECIDED, WFA
from wfalens.divergence import jensen_shannon
from wfalens.errors import InputError
from wfalens.evaluation.agreement import Agreement, Estimate, agreement, wilson
from wfalens.evaluation.baselines import bag_of_words, cross_fitted_bag_of_words, majority
from wfalens.evaluation.comparison import Comparison
from wfalens.evaluation.groups import GroupReport
from wfalens.evaluation.selective import SelectiveFidelity
from wfalens.html import table_html
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import last_outputs
from wfalens.ragged import Ragged
from wfalens.text.corpus import Corpus

if TYPE_CHECKING:
    import pandas as pd

BAG_OF_WORDS = "bag of words"
_RARE_SHARES = (0.0, 0.1, 0.25)
_LENGTH_QUANTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Fidelity:
    """How faithful an automaton is: what `measure_fidelity` returns. Groups stand in the order to show them in.

    Args:
        overall: CR and JSD over all texts, each with its 95 % interval.
        by_class: the same for the texts that the model puts into each class.
        by_length: the same by number of words.
        by_rare_words: the same by number of words that are rare in extraction.
        baselines: the same for trivial copies of the model.
        selective: CR by confidence, and what remains if unsure texts are left out.
        undecided: number of texts on which the automaton lost all mass.
        model_accuracy: on labels; None without labels.
        automaton_accuracy: on labels; None without labels.
        readable: agreement of the readable automaton, where there is one.
        by_group: rates by group, where groups were given.
        fitted_on: what the bag of words was fitted on.

    Examples:
        >>> from wfalens import measure_fidelity
        >>> fidelity = measure_fidelity(wfa, model, corpus, reference=corpus)
        >>> 0 <= fidelity.overall.cr.low <= fidelity.overall.cr.value <= 1
        True
        >>> list(fidelity.baselines)
        ['majority class', 'bag of words']
    """

    overall: Agreement
    by_class: dict[str, Agreement]  # by the model's prediction
    by_length: dict[str, Agreement]
    by_rare_words: dict[str, Agreement]
    baselines: dict[str, Agreement]
    selective: SelectiveFidelity
    undecided: int
    model_accuracy: Estimate | None
    automaton_accuracy: Estimate | None
    readable: Agreement | None = None  # of the readable automaton, on the texts of the stand-ins
    by_group: GroupReport | None = None  # where groups were given
    fitted_on: str | None = None  # texts that the bag of words learned from; None: the other fifths of the same texts

    def __str__(self) -> str:
        rival = self.bag_of_words
        return f"{self.overall}" if rival is None else f"{self.overall}; a bag of words: CR {rival.cr}"

    @property
    def bag_of_words(self) -> Agreement | None:
        """The stronger stand-in, if there were texts enough to fit one."""
        return next((item for name, item in self.baselines.items() if name.startswith(BAG_OF_WORDS)), None)

    @property
    def verdict(self) -> str:
        """The one sentence to take away: how often the automaton agrees with the network, and what costs nothing."""
        rate, rival = self.overall.cr, self.bag_of_words
        agrees = f"agrees with the network on {rate.value:.1%} [{rate.low:.1%}, {rate.high:.1%}] of the texts"
        if rival is None:
            return agrees
        weak = "" if self.fitted_on else " (a weak one: it learned from the other test texts)"
        return f"{agrees}; a bag of words on {rival.cr.value:.1%}{weak}"

    def to_json(self) -> dict[str, Any]:
        """All figures as plain dictionaries and lists.

        Examples:
            >>> sorted(measure_fidelity(wfa, model, corpus).to_json()["overall"])
            ['cr', 'jsd', 'texts']
        """
        groups = None if self.by_group is None else self.by_group.to_json()
        return {**asdict(self), "selective": self.selective.to_json(), "by_group": groups}

    def to_dataframe(self) -> pd.DataFrame:
        """One row per group: texts, CR, JSD and their intervals.

        Examples:
            >>> measure_fidelity(wfa, model, corpus).to_dataframe().shape[0] > 3
            True
        """
        import pandas as pd

        groups = {
            "overall": {"all texts": self.overall},
            "class": self.by_class,
            "length": self.by_length,
            "rare words": self.by_rare_words,
            "stand-in": self.baselines,
            **({} if self.readable is None else {"readable": {"readable automaton": self.readable}}),
            **(
                {}
                if self.by_group is None
                else {self.by_group.column: {group.name: group.agreement for group in self.by_group.groups}}
            ),
        }
        return pd.DataFrame(
            [
                {
                    "by": by,
                    "group": name,
                    "texts": item.texts,
                    **{f"cr{suffix}": getattr(item.cr, part) for suffix, part in _PARTS},
                    **{f"jsd{suffix}": getattr(item.jsd, part) for suffix, part in _PARTS},
                }
                for by, items in groups.items()
                for name, item in items.items()
            ]
        )

    def to_html(self) -> str:
        """The groups as one table."""
        rows = [
            [row["by"], row["group"], f"{row['texts']:,}", *(_told(row, name) for name in ("cr", "jsd"))]
            for row in self.to_dataframe().to_dict("records")
        ]
        return table_html(self.verdict, ["by", "group", "texts", "CR [95 %]", "JSD [95 %]"], rows)

    def _repr_html_(self) -> str:
        return self.to_html()


def _told(row: dict[Any, Any], name: str) -> str:
    return f"{Estimate(row[name], row[f'{name}_low'], row[f'{name}_high']):.3f}"


_PARTS = (("", "value"), ("_low", "low"), ("_high", "high"))


def reported(
    wfa: WFA,
    model: PrefixClassifier,
    judged: Comparison,
    ids: Ragged[np.int32],
    outputs: NDArray[np.float64],
    reference: Corpus | None,
    rng: np.random.Generator,
) -> Fidelity:
    """Fidelity from texts that were judged; baselines and the readable automaton on `ids`, with the given outputs."""
    agrees, divergence, truth = judged.agrees, judged.divergence, judged.truth

    def grouped(names: list[str], group: NDArray[np.integer]) -> dict[str, Agreement]:
        members = {name: group == number for number, name in enumerate(names)}
        return {
            name: agreement(agrees[chosen], divergence[chosen], rng) for name, chosen in members.items() if chosen.any()
        }

    return Fidelity(
        overall=agreement(agrees, divergence, rng),
        by_class=grouped(list(model.class_names), judged.label),
        by_length=grouped(*_length_groups(judged.length)),
        by_rare_words=grouped(*_rare_groups(judged.rare)),
        baselines=_stand_ins(model, ids, outputs, reference, rng),
        selective=SelectiveFidelity.of(judged.confidence, agrees),
        undecided=int(np.sum(judged.predicted == UNDECIDED)),
        model_accuracy=None if truth is None else wilson(int(np.sum(judged.label == truth)), len(truth)),
        automaton_accuracy=None if truth is None else wilson(int(np.sum(judged.predicted == truth)), len(truth)),
        readable=None if wfa.attached_readable is None else _agreement_of(wfa.attached_readable, ids, outputs, rng),
        fitted_on=None if reference is None else reference.name,
    )


def _agreement_of(wfa: WFA, ids: Ragged[np.int32], outputs: NDArray[np.float64], rng: np.random.Generator) -> Agreement:
    judged = Comparison.of(wfa, ids, outputs)
    return agreement(judged.agrees, judged.divergence, rng)


def _length_groups(lengths: NDArray[np.int32]) -> tuple[list[str], NDArray[np.int64]]:
    """About four groups of equal size by number of words."""
    cuts = sorted({int(cut) for cut in np.quantile(lengths, _LENGTH_QUANTILES)} - {int(lengths.max())})
    bounds = [int(lengths.min()) - 1, *[cut for cut in cuts if cut >= lengths.min()], int(lengths.max())]
    names = [
        f"{low + 1} words" if low + 1 == high else f"{low + 1}–{high} words" for low, high in itertools.pairwise(bounds)
    ]
    return names, np.searchsorted(bounds[1:], lengths)


def _rare_groups(share: NDArray[np.float64]) -> tuple[list[str], NDArray[np.int64]]:
    """By the share of words that extraction saw at most `RARE` times."""
    names = ["no rare word"]
    names += [f"over {low:.0%} to {high:.0%} rare" for low, high in itertools.pairwise(_RARE_SHARES)]
    names.append(f"over {_RARE_SHARES[-1]:.0%} rare")
    return names, np.searchsorted(_RARE_SHARES, share)


def _stand_ins(
    model: PrefixClassifier,
    ids: Ragged[np.int32],
    outputs: NDArray[np.float64],
    reference: Corpus | None,
    rng: np.random.Generator,
) -> dict[str, Agreement]:
    words = len(model.encoder.vocabulary)
    if reference is None:
        guesses = {"majority class": majority(outputs, len(ids))}
        fitted = cross_fitted_bag_of_words(ids, outputs, words)
        if fitted is not None:
            guesses[f"{BAG_OF_WORDS} (5-fold)"] = fitted
    else:
        _, fit_ids = model.encoder.encode(reference.texts).nonempty()
        if len(fit_ids) == 0:
            raise InputError(f"{reference.name}: there is no text with a word in it")
        fit_outputs = last_outputs(model, fit_ids).astype(np.float64)
        guesses = {
            "majority class": majority(fit_outputs, len(ids)),
            BAG_OF_WORDS: bag_of_words(fit_ids, fit_outputs, ids, words),
        }
    return {
        name: agreement(guess.argmax(1) == outputs.argmax(1), jensen_shannon(guess, outputs), rng)
        for name, guess in guesses.items()
    }
