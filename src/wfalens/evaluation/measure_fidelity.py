"""Measuring fidelity: a survey of the texts, a pass that judges every shard, and the figures of what was judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from wfalens import progress
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.compare_files import compare_files
from wfalens.evaluation.comparison import Comparison, check_pair
from wfalens.evaluation.fidelity import Fidelity, reported
from wfalens.evaluation.groups import by_group, positive_classes
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import last_outputs
from wfalens.ragged import Ragged
from wfalens.scale.run_config import DEFAULT_SAMPLE, FileRun, RunConfig
from wfalens.scale.sample import scan_files
from wfalens.text.blocks import Source, source_of
from wfalens.text.corpus import Corpus
from wfalens.text.files import TextFiles, with_labels
from wfalens.threads import model_threads_limited


def measure_fidelity(
    wfa: WFA,
    model: PrefixClassifier,
    corpus: Source | Corpus | Sequence[str] | Ragged[np.int32],
    *,
    reference: Corpus | None = None,
    groups: Sequence[str] | None = None,
    group_column: str = "group",
    positive: str | None = None,
    seed: int = 0,
    run: RunConfig | None = None,
) -> Fidelity:
    """Compare automaton and model on texts, in memory or in files of any size.

    Args:
        wfa: the automaton.
        model: the model that it was extracted from.
        corpus: texts that neither has seen: a corpus, a list of texts, word ids, or a source such as `TextFiles`.
        reference: texts that the bag of words learns from (best: the extraction texts); without it, it learns from
            the other four fifths of `corpus` for each fifth.
        groups: a name for each text in memory; `Fidelity.by_group` then compares network and automaton by group.
        group_column: what the groups are called.
        positive: the class whose selection, true- and false-positive rates are told by group (default: of two
            classes the second, else every class).
        seed: of intervals and samples.
        run: how the corpus is read; it does not change the figures, except that stand-ins are measured on a sample
            where files hold more than 300,000 words.

    Examples:
        >>> from wfalens import measure_fidelity
        >>> fidelity = measure_fidelity(wfa, model, ["not a good film", "a bad film"], reference=corpus)
        >>> fidelity.overall.cr.value
        1.0
    """
    check_pair(wfa, model)
    if groups is not None:
        check_groups(groups, corpus)
        positive_classes(wfa.class_names, positive)
    source, run = _with_labels(source_of(corpus)), run or RunConfig()
    about = {"automaton": wfa.fingerprint, "seed": seed, **_about(model)}
    sample_tokens = DEFAULT_SAMPLE if isinstance(source, TextFiles) else None
    with run.opened(source, about, sample_tokens) as opened, model_threads_limited():
        fidelity, compared = _measured(wfa, model, reference, seed, opened)
    if groups is None:
        return fidelity
    kept = _with_words(model, corpus)
    rng = np.random.default_rng([seed, 1])
    return replace(
        fidelity,
        by_group=by_group(
            compared, [groups[at] for at in kept], wfa.class_names, rng, column=group_column, positive=positive
        ),
    )


def check_groups(groups: Sequence[str], corpus: Any) -> None:
    """Refuse groups that are not one for each of texts in memory."""
    if not isinstance(corpus, Corpus | Sequence | Ragged):
        raise InputError("groups are compared on texts in memory; read the files into a corpus first (read_corpus)")
    if isinstance(groups, str) or len(groups) != len(corpus):
        raise InputError(f"there are {len(groups):,} groups for {len(corpus):,} texts; give one for each text")


def _with_words(model: PrefixClassifier, corpus: Any) -> list[int]:
    """The numbers of the texts that were judged: those with a word in them."""
    texts = corpus.texts if isinstance(corpus, Corpus) else corpus
    ids = texts if isinstance(texts, Ragged) else model.encoder.encode(texts)
    found: list[int] = np.flatnonzero(ids.lengths).tolist()
    return found


def _with_labels(
    source: Source,
) -> Source:
    """The source, with labels where its files have some."""
    if not isinstance(source, TextFiles) or source.has_labels:
        return source
    source, remark = with_labels(source)
    if remark:
        progress.say(remark)
    return source


def _about(model: PrefixClassifier) -> dict[str, Any]:
    """What outputs depend on."""
    return {"model": model.fingerprint, **model.encoder.told}


def _measured(
    wfa: WFA, model: PrefixClassifier, reference: Corpus | None, seed: int, run: FileRun
) -> tuple[Fidelity, Comparison]:
    classes = {name: number for number, name in enumerate(wfa.class_names)} if run.source.has_labels else None
    scan = scan_files(run, model.encoder, seed, classes)
    found = compare_files(wfa, model, scan, run)
    assert found.comparison is not None  # noqa: S101 - there are texts
    ids, rows = scan.sample.ids, found.rows
    knows_outputs = found.outputs is not None and rows.texts == len(ids)  # unless a block was left out
    outputs = found.outputs if knows_outputs and found.outputs is not None else last_outputs(model, ids)
    rng = np.random.default_rng(seed)
    fidelity = reported(wfa, model, found.comparison, ids, outputs.astype(np.float64), reference, rng)
    run.record("finish", texts=rows.texts, tokens=rows.tokens, left_out=rows.left_out)
    return fidelity, found.comparison
