"""The fidelity of an automaton: overall, by class, by length and by rare words, beside trivial stand-ins."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import UNDECIDED, WFA
from wfalens.corpus.corpus import Corpus
from wfalens.corpus.sources.blocks import Source
from wfalens.corpus.sources.files import TextFiles, with_labels
from wfalens.corpus.sources.memory import source_of
from wfalens.divergence import jensen_shannon
from wfalens.errors import InputError
from wfalens.evaluation.agreement import Agreement, Estimate, agreement, wilson
from wfalens.evaluation.judged_parts import JudgedParts
from wfalens.evaluation.judgement import Judgement
from wfalens.evaluation.judging import JudgeTask, ShardJudgement
from wfalens.evaluation.standins import bag_of_words, cross_fitted_bag_of_words, majority
from wfalens.evaluation.trust import Trust
from wfalens.models.contract import StepwiseClassifier
from wfalens.models.traces import output_traces
from wfalens.passes.run import DEFAULT_SAMPLE, Run, Session
from wfalens.passes.running import Facts, Pass, run_pass
from wfalens.passes.shards import Shard
from wfalens.passes.survey import Survey, survey_corpus
from wfalens.passes.tally import Tally
from wfalens.progress import SILENT, Progress
from wfalens.ragged import Ragged
from wfalens.threads import model_threads_limited

if TYPE_CHECKING:
    import pandas as pd

_RARE_SHARES = (0.0, 0.1, 0.25)
_LENGTH_QUANTILES = (0.25, 0.5, 0.75)
_BYTES_PER_TEXT = 120  # of a judgement and what is sorted and grouped of it (measured: 98)


@dataclass(frozen=True)
class Fidelity:
    """CR and JSD with intervals, groups in the order in which they should be shown; CR by confidence in `trust`."""

    overall: Agreement
    by_class: dict[str, Agreement]  # by the model's prediction
    by_length: dict[str, Agreement]
    by_rare_words: dict[str, Agreement]
    stand_ins: dict[str, Agreement]
    trust: Trust
    undecided: int
    model_accuracy: Estimate | None
    automaton_accuracy: Estimate | None

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "trust": self.trust.to_json()}

    def to_dataframe(self) -> pd.DataFrame:
        """One row per group: texts, CR, JSD and their intervals."""
        import pandas as pd

        groups = {
            "overall": {"all texts": self.overall},
            "class": self.by_class,
            "length": self.by_length,
            "rare words": self.by_rare_words,
            "stand-in": self.stand_ins,
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


_PARTS = (("", "value"), ("_low", "low"), ("_high", "high"))


def measure_fidelity(
    wfa: WFA,
    model: StepwiseClassifier,
    corpus: Source | Corpus | Sequence[str] | Ragged[np.int32],
    *,
    reference: Corpus | None = None,
    seed: int = 0,
    run: Run | None = None,
    progress: Progress = SILENT,
) -> Fidelity:
    """Compare automaton and model on `corpus`: texts in memory, or a source such as `TextFiles` (of any size).

    The bag-of-words stand-in is fitted on `reference` (best: the extraction texts); without it, on the other
    four fifths of `corpus` for each fifth. `run` says how the corpus is read; the figures do not depend on it, but that
    stand-ins are measured on a sample where a corpus of files is larger than 300,000 words.
    """
    check_pair(wfa, model)
    source, run = _with_labels(source_of(corpus), progress), run or Run()
    about = {"automaton": wfa.fingerprint, "seed": seed, **_about(model)}
    sample_tokens = DEFAULT_SAMPLE if isinstance(source, TextFiles) else None
    with run.opened(source, about, sample_tokens, progress) as session, model_threads_limited():
        return _measured(wfa, model, reference, seed, session)


def _with_labels(source: Source, progress: Progress) -> Source:
    """The source, with labels where its files have some."""
    if not isinstance(source, TextFiles) or source.has_labels:
        return source
    source, remark = with_labels(source)
    if remark:
        progress.say(remark)
    return source


def _about(model: StepwiseClassifier) -> dict[str, Any]:
    """What outputs depend on."""
    encoder = model.encoder
    return {"model": model.fingerprint, "tokenizer": encoder.tokenizer_name, "max_length": encoder.max_length}


def _measured(wfa: WFA, model: StepwiseClassifier, reference: Corpus | None, seed: int, session: Session) -> Fidelity:
    source, progress = session.source, session.progress
    classes = {name: number for number, name in enumerate(wfa.class_names)} if source.has_labels else None
    survey = survey_corpus(session, model.encoder, seed, classes)
    parts = _judge(wfa, model, survey, session)
    tally = Tally.of([*parts.tallies.values(), survey.unreadable])
    tally.say_left_out(progress)
    if tally.texts == 0:
        raise InputError(f"{source.name}: there is no text with a word in it")
    session.check_room(_BYTES_PER_TEXT * tally.texts, f"the evaluation of {tally.texts:,} texts")
    ids = survey.sample.ids
    knows_outputs = survey.is_whole and tally.texts == len(ids)  # unless a shard was left out
    outputs = parts.outputs() if knows_outputs else output_traces(model, ids, progress).last()
    judged = parts.joined(source.has_labels)
    rng = np.random.default_rng(seed)
    fidelity = reported(model, judged, ids, outputs.astype(np.float64), reference, rng, progress)
    session.journal.write("finish", texts=tally.texts, tokens=tally.tokens, left_out=tally.left_out)
    return fidelity


def _judge(wfa: WFA, model: StepwiseClassifier, survey: Survey, session: Session) -> JudgedParts:
    """Judge every shard that has no part yet; outputs are kept where stand-ins are measured on all texts."""
    shards, progress = survey.shards, session.progress
    parts = JudgedParts(session.parts, len(shards))
    left = [shard for shard in shards if shard.number not in parts.tallies]
    if len(left) < len(shards):
        progress.say(f"going on: {len(shards) - len(left):,} of {len(shards):,} shards are judged already")
    texts = sum(tally.texts for tally in parts.tallies.values())

    def keep(shard: Shard, found: ShardJudgement) -> tuple[Facts, str]:
        nonlocal texts
        parts.add(shard.number, found)
        tally = found.tally
        texts += tally.texts
        facts = {"shard": shard.number, "texts": tally.texts, "tokens": tally.tokens, "left_out": tally.reasons}
        return facts, f"{texts:,} texts"

    task = JudgeTask(
        session.source,
        session.model_source(model),
        wfa,
        session.source.has_labels,
        survey.is_whole,
        session.skips_bad,
    )
    work = Pass(
        title="comparing automaton and model",
        event="shard",
        task=task,
        name=lambda shard: shard.named(session.source),
        keep=keep,
        leave_out=(lambda shard, reason: parts.skip(shard, reason)) if session.skips_bad else None,
    )
    run_pass(
        work,
        left,
        session.engine,
        progress,
        session.journal,
        lambda: session.check_room(_BYTES_PER_TEXT * texts, f"the evaluation of {texts:,} texts"),
    )
    return parts


def reported(
    model: StepwiseClassifier,
    judged: Judgement,
    ids: Ragged[np.int32],
    outputs: NDArray[np.float64],
    reference: Corpus | None,
    rng: np.random.Generator,
    progress: Progress,
) -> Fidelity:
    """Fidelity from texts that were judged; `ids` and `outputs` are those on which the stand-ins are measured."""
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
        stand_ins=_stand_ins(model, ids, outputs, reference, rng, progress),
        trust=Trust.of(judged.margin, agrees),
        undecided=int(np.sum(judged.predicted == UNDECIDED)),
        model_accuracy=None if truth is None else wilson(int(np.sum(judged.label == truth)), len(truth)),
        automaton_accuracy=None if truth is None else wilson(int(np.sum(judged.predicted == truth)), len(truth)),
    )


def check_pair(wfa: WFA, model: StepwiseClassifier) -> None:
    """Refuse a model that cannot be the one that the automaton was extracted from."""
    if wfa.class_names != tuple(model.class_names):
        raise InputError(
            f"the automaton's classes ({', '.join(wfa.class_names)}) are not the model's "
            f"({', '.join(model.class_names)})"
        )
    if wfa.encoder.vocabulary != model.encoder.vocabulary:
        raise InputError("the automaton was extracted from a model with another vocabulary")


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
    model: StepwiseClassifier,
    ids: Ragged[np.int32],
    outputs: NDArray[np.float64],
    reference: Corpus | None,
    rng: np.random.Generator,
    progress: Progress,
) -> dict[str, Agreement]:
    words = len(model.encoder.vocabulary)
    if reference is None:
        guesses = {"majority class": majority(outputs, len(ids))}
        fitted = cross_fitted_bag_of_words(ids, outputs, words)
        if fitted is not None:
            guesses["bag of words (5-fold)"] = fitted
    else:
        fit_ids = model.encoder.encode(reference.texts)
        fit_ids = fit_ids.take(np.flatnonzero(fit_ids.lengths))
        if len(fit_ids) == 0:
            raise InputError(f"{reference.name}: there is no text with a word in it")
        fit_outputs = output_traces(model, fit_ids, progress).last().astype(np.float64)
        guesses = {
            "majority class": majority(fit_outputs, len(ids)),
            "bag of words": bag_of_words(fit_ids, fit_outputs, ids, words),
        }
    return {
        name: agreement(guess.argmax(1) == outputs.argmax(1), jensen_shannon(guess, outputs), rng)
        for name, guess in guesses.items()
    }
