"""The fidelity of an automaton: encode texts, read them with model and automaton, compare the outputs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import UNDECIDED, WFA
from wfalens.errors import InputError
from wfalens.evaluation.baselines import BAG_OF_WORDS, measure_baselines
from wfalens.evaluation.compare_files import compare_files
from wfalens.evaluation.comparison import (
    Agreement,
    Comparison,
    Estimate,
    SelectiveFidelity,
    agreement,
    check_pair,
    wilson,
)
from wfalens.evaluation.groups import GroupReport, check_groups, compare_groups, positive_classes
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import text_outputs
from wfalens.ragged import Ragged
from wfalens.results import Result
from wfalens.scale.run_config import RunConfig
from wfalens.text.corpus import Corpus, as_texts
from wfalens.text.encoder import require_words
from wfalens.text.files import TextFiles
from wfalens.threads import model_threads_limited

_RARE_SHARES = (0.0, 0.1, 0.25)
_LENGTH_QUANTILES = (0.25, 0.5, 0.75)
_SHOWN_CLASSES = 10  # in the printed table


@dataclass(frozen=True, repr=False)
class Fidelity(Result):
    """How faithful an automaton is: what `WFA.fidelity` returns. Groups stand in the order to show them in.

    Args:
        overall: CR and JSD over all texts, each with its 95 % interval.
        by_class: the same for the texts that the model puts into each class.
        by_length: the same by number of words.
        by_rare_words: the same by number of words that are rare in extraction.
        by_unknown_words: the same for texts with and without words that the automaton does not know, where both occur.
        baselines: the same for trivial copies of the model.
        selective: CR by confidence, and what remains if texts of low confidence are left out.
        undecided: number of texts on which the automaton lost all mass.
        model_accuracy: on labels; None without labels.
        automaton_accuracy: on labels; None without labels.
        readable: agreement of the attached readable automaton, where there is one.
        by_group: rates by group, where groups were given.
        fitted_on: what the bag of words was fitted on; None: on the other four fifths of the same texts.

    Examples:
        >>> fidelity = wfa.fidelity(model, corpus, reference=corpus)
        >>> 0 <= fidelity.cr.low <= fidelity.cr <= 1
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
    readable: Agreement | None = None  # on the texts of the baselines
    by_group: GroupReport | None = None
    fitted_on: str | None = None
    by_unknown_words: dict[str, Agreement] = field(default_factory=dict)

    @property
    def cr(self) -> Estimate:
        """Consistency rate: the share of texts on which automaton and model choose the same class."""
        return self.overall.cr

    @property
    def jsd(self) -> Estimate:
        """Mean Jensen-Shannon divergence of the outputs: 0 is equal, 0.69 opposite."""
        return self.overall.jsd

    @property
    def bag_of_words(self) -> Agreement | None:
        """The strongest baseline, if there were enough texts to fit one."""
        return next((item for name, item in self.baselines.items() if name.startswith(BAG_OF_WORDS)), None)

    @property
    def verdict(self) -> str:
        """One sentence: how often the automaton agrees with the network, and how often a bag of words does."""
        rate, baseline = self.cr, self.bag_of_words
        agrees = f"agrees with the network on {rate.value:.1%} [{rate.low:.1%}, {rate.high:.1%}] of the texts"
        if baseline is None:
            return agrees
        weak = "" if self.fitted_on else " (a weak one: it learned from the other test texts)"
        return f"{agrees}; a bag of words on {baseline.cr.value:.1%}{weak}"

    @property
    def title(self) -> str:
        return self.verdict

    def summary(self) -> str:
        """CR and JSD, then a table: the automaton, its readable automaton, the baselines and the first classes."""
        shown = {"automaton": self.overall, **({} if self.readable is None else {"readable automaton": self.readable})}
        shown |= {f"baseline: {name}": item for name, item in self.baselines.items()}
        shown |= {f"class {name}": item for name, item in list(self.by_class.items())[:_SHOWN_CLASSES]}
        lines = [str(self.overall), f"{'':<28} {'texts':>9}  {'CR [95 %]':<22} JSD [95 %]"]
        lines += [f"{name[:28]:<28} {item.texts:>9,}  {item.cr!s:<22} {item.jsd}" for name, item in shown.items()]
        return "\n".join(lines)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row per group: texts, CR, JSD and their intervals."""
        for by, name, item in self._groups():
            row: dict[str, Any] = {"by": by, "group": name, "texts": item.texts}
            for measure, estimate in (("cr", item.cr), ("jsd", item.jsd)):
                row |= {measure: estimate.value, f"{measure}_low": estimate.low, f"{measure}_high": estimate.high}
            yield row

    def tables(self) -> dict[str, Iterable[dict[str, Any]]]:
        """The groups with their intervals, CR by confidence and by coverage, and the rates by group."""
        rows = [
            {"": f"{by}: {name}", "texts": item.texts, "CR [95 %]": str(item.cr), "JSD [95 %]": str(item.jsd)}
            for by, name, item in self._groups()
        ]
        by_group = {} if self.by_group is None else {self.by_group.title: self.by_group.rows()}
        return {self.verdict: rows, self.selective.title: self.selective.rows(), **by_group}

    def _groups(self) -> Iterator[tuple[str, str, Agreement]]:
        """All groups in the order to show them in: what divides the texts, the name, the agreement."""
        parts = {
            "overall": {"all texts": self.overall},
            "class": self.by_class,
            "length": self.by_length,
            "rare words": self.by_rare_words,
            "unknown words": self.by_unknown_words,
            "baseline": self.baselines,
            "readable": {} if self.readable is None else {"readable automaton": self.readable},
        }
        if self.by_group is not None:
            parts[self.by_group.column] = {group.name: group.agreement for group in self.by_group.groups}
        return ((by, name, item) for by, items in parts.items() for name, item in items.items())


def measure_fidelity(
    wfa: WFA,
    model: PrefixClassifier,
    texts: Any,
    *,
    reference: Corpus | None = None,
    groups: Sequence[str] | None = None,
    group_column: str = "group",
    positive: str | None = None,
    seed: int = 0,
    run: RunConfig | None = None,
) -> Fidelity:
    """Compare automaton and model on texts, in memory or in files of any size; this is what `WFA.fidelity` calls.

    Baselines are fitted to a sample where files hold more than 300,000 words.

    Args:
        wfa: the automaton.
        model: the model that it was extracted from.
        texts: a list of texts, a corpus, a pandas Series, a numpy array, word ids, or `TextFiles`.
        reference: texts that the bag-of-words baseline is fitted on; without it, each fifth of `texts` is predicted
            from the other four.
        groups: a name for each text in memory.
        group_column: what the groups are called.
        positive: the class whose rates are reported by group (default: of two classes the second, else every class).
        seed: of intervals and samples.
        run: how files beyond memory are read.

    Examples:
        >>> from wfalens.evaluation import measure_fidelity
        >>> measure_fidelity(wfa, model, corpus, groups=["a", "b"] * 20).by_group.column
        'group'
    """
    check_pair(wfa, model)
    rng = np.random.default_rng(seed)
    if isinstance(texts, TextFiles):
        if groups is not None:
            raise InputError("groups are compared on texts in memory; read the files with read_corpus", code="groups")
        comparison, ids, outputs = compare_files(wfa, model, texts, seed, run)
        return _summarized(wfa, model, comparison, ids, outputs, reference, rng)
    if groups is not None:
        check_groups(groups, len(texts))
        positive_classes(wfa.class_names, positive)
    given = texts if isinstance(texts, Ragged) else as_texts(texts)
    kept, ids = require_words(given if isinstance(given, Ragged) else wfa.encoder.encode(given))
    labels = texts.relabelled(wfa.class_names).labels if isinstance(texts, Corpus) else None
    with model_threads_limited():
        outputs = text_outputs(model, given, kept, ids)
        comparison = Comparison.of(wfa, ids, outputs, None if labels is None else labels[kept])
        fidelity = _summarized(wfa, model, comparison, ids, outputs, reference, rng)
    if not isinstance(given, Ragged):
        unknown, rng_unknown = wfa.encoder.has_unknown(given)[kept], np.random.default_rng([seed, 2])
        parts = {"texts with unknown words": unknown, "texts without": ~unknown} if 0 < unknown.mean() < 1 else {}
        found = {
            name: agreement(comparison.agrees[part], comparison.divergence[part], rng_unknown)
            for name, part in parts.items()
        }
        fidelity = replace(fidelity, by_unknown_words=found)
    if groups is None:
        return fidelity
    names, rng = np.asarray(groups, object)[kept].tolist(), np.random.default_rng([seed, 1])
    by_group = compare_groups(comparison, names, wfa.class_names, rng, column=group_column, positive=positive)
    return replace(fidelity, by_group=by_group)


def _summarized(
    wfa: WFA,
    model: PrefixClassifier,
    comparison: Comparison,
    ids: Ragged[np.int32],
    outputs: NDArray[np.floating],
    reference: Corpus | None,
    rng: np.random.Generator,
) -> Fidelity:
    """The figures of a comparison; baselines and the readable automaton on `ids`, with the model's outputs on them."""
    agrees, divergence, truth = comparison.agrees, comparison.divergence, comparison.truth
    targets = outputs.astype(np.float64)

    def grouped(names: list[str], group: NDArray[np.integer]) -> dict[str, Agreement]:
        members = {name: group == number for number, name in enumerate(names)}
        return {
            name: agreement(agrees[chosen], divergence[chosen], rng) for name, chosen in members.items() if chosen.any()
        }

    return Fidelity(
        overall=agreement(agrees, divergence, rng),
        by_class=grouped(list(model.class_names), comparison.label),
        by_length=grouped(*_length_groups(comparison.length)),
        by_rare_words=grouped(*_rare_groups(comparison.rare)),
        baselines=measure_baselines(model, ids, targets, reference, rng),
        selective=SelectiveFidelity.of(comparison.confidence, agrees),
        undecided=int(np.sum(comparison.predicted == UNDECIDED)),
        model_accuracy=None if truth is None else wilson(int(np.sum(comparison.label == truth)), len(truth)),
        automaton_accuracy=None if truth is None else wilson(int(np.sum(comparison.predicted == truth)), len(truth)),
        readable=_readable_agreement(wfa, ids, targets, rng),
        fitted_on=None if reference is None else reference.name,
    )


def _readable_agreement(
    wfa: WFA, ids: Ragged[np.int32], outputs: NDArray[np.float64], rng: np.random.Generator
) -> Agreement | None:
    if wfa.attached_readable is None:
        return None
    comparison = Comparison.of(wfa.attached_readable, ids, outputs)
    return agreement(comparison.agrees, comparison.divergence, rng)


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
