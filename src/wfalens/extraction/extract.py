"""The one door of extraction: from a model and texts to an automaton (paper §3)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from wfalens.automaton.wfa import WFA
from wfalens.automaton.word_bigrams import WordBigrams
from wfalens.errors import InputError, WfalensWarning
from wfalens.extraction.deadline import Deadline, seconds_of, stop_sentence
from wfalens.extraction.held_out import BALANCES, LABEL, shortfall
from wfalens.extraction.method import AUTO, EFFORTS, NORMAL, ExtractionTexts, Method, Request, provenance
from wfalens.extraction.selection import MANY_CLASSES, extract_best
from wfalens.extraction.stochastic.paper import StateMethod
from wfalens.memory import return_large_arrays
from wfalens.models.base import BlackBoxClassifier
from wfalens.models.checks import unknown_words
from wfalens.models.contract import PrefixClassifier, is_language_model
from wfalens.progress import say, shown
from wfalens.ragged import Ragged
from wfalens.scale.block_jobs import RowCounts
from wfalens.scale.file_run import open_run
from wfalens.scale.run_config import DEFAULT_SAMPLE, RunConfig
from wfalens.scale.sample import SampledFiles, scan_files
from wfalens.text.corpus import Corpus, as_texts
from wfalens.text.files import TextFiles
from wfalens.validation import Bounds, check_choice, whole

_NO_LABELS = "{} has no labels to balance by; balance by the predicted class instead"
_SEED, _QUERIES = Bounds(whole, 0, 1 << 64), Bounds(whole, 1, 1 << 60, (None,))
_TRAINING = "training"  # the file in a folder of checkpoints that keeps the training of a linear automaton


def extract(
    model: PrefixClassifier,
    texts: Any,
    method: Method | None = None,
    *,
    seed: int = 0,
    queries: int | None = None,
    time: float | str | None = None,
    effort: str = NORMAL,
    balance: str | None = None,
    run: RunConfig | None = None,
    progress: bool = False,
) -> WFA:
    """Extract an automaton from what a model answers about texts.

    Ctrl-C (KeyboardInterrupt) in training delivers the best so far, where there is something to deliver;
    `provenance["stopped"]` records it, as it does when time ended the work.

    Args:
        model: a classifier, wrapped by `wrap`.
        texts: extraction texts: a list, a `Corpus`, word ids, or `TextFiles` (a corpus of any size).
        method: `Paper`, `Stochastic`, `Linear` or `Readable` with its options. None: the most faithful on held-out
            texts, which carries a readable automaton, `wfa.readable`; what was tried is in `provenance["choice"]`.
        seed: of everything random: equal seeds give equal bytes.
        queries: how often the whole extraction may ask the model. Of a model that is asked text by text these are all
            its calls (default: ten a text and one per word). Of a recurrent network they are the prefixes beyond the
            texts (default: no limit, or 4,000,000 if it cannot be stepped): a third at most for the readable
            automaton and the rest for the linear one; stochastic methods take a quarter at most to choose states.
            What was asked is in `provenance["queries"]`.
        time: the wall clock that the extraction may take, in seconds or as "30s", "2m", "1h" (default: no limit):
            training goes only as far as that, and what is best by then is delivered. How far it gets depends on the
            machine, so equal seeds no longer give equal bytes. What was used is in `provenance["time"]`.
        effort: low, normal or high: how long to train, and how large a linear automaton.
        balance: predicted or label: the texts that the automaton is fitted to are drawn so that every class has
            as many, by the model's prediction or by their label. Small classes are copied more faithfully
            (default: texts as they come).
        run: how files are read: memory, workers, checkpoints. Workers and blocks do not change the result. Of texts in
            memory only `checkpoints` counts: the folder keeps the training of a linear automaton after every epoch,
            and a stopped one continues.
        progress: show a bar on stderr.

    Examples:
        >>> from wfalens import Paper, extract
        >>> wfa = extract(model, corpus, Paper(states=4, alpha=0.0))
        >>> wfa.predict_proba(["not a bad film"]).round(1)  # neg, pos
        array([[0.2, 0.8]])
    """
    if not isinstance(model, PrefixClassifier):
        raise InputError(
            f"extract(model, texts): the first argument must be a model, not {type(model).__name__}", code="not-a-model"
        )
    if method is not None and not isinstance(method, Method):
        raise InputError(
            "method must be Paper, Stochastic, Linear or Readable with its options, or None", code="not-a-method"
        )
    check_choice("effort", effort, EFFORTS)
    if balance is not None:
        check_choice("balance", balance, BALANCES)
    request = Request(
        model=model,
        texts=ExtractionTexts(Ragged.from_lists([], np.int32), None, {}),
        seed=_SEED.checked("seed", seed),
        queries=_QUERIES.checked("queries", queries),
        effort=effort,
        balance=balance,
        deadline=Deadline(None if time is None else seconds_of(time)),
    )
    run = run or RunConfig()
    if len(model.class_names) > MANY_CLASSES:
        return_large_arrays()
    with shown(progress):
        if isinstance(texts, TextFiles):
            return _from_files(texts, method, run, request)
        if replace(run, checkpoints=None) != RunConfig():
            raise InputError(
                "run is about files; of texts in memory only its checkpoints count", code="run-without-files"
            )
        with _kept_training(run.checkpoints) as checkpoint:
            read = texts_in_memory(model, texts, balance)
            return extract_requested(replace(request, texts=read, checkpoint=checkpoint), method)


@contextmanager
def _kept_training(folder: Path | None) -> Iterator[Path | None]:
    """The file of a folder in which training is kept; a folder without a stopped training does not stay."""
    if folder is None:
        yield None
        return
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write {folder}: {error.strerror or error}", code="checkpoints") from None
    try:
        yield folder / _TRAINING
    finally:
        with suppress(OSError):
            folder.rmdir()


def extract_requested(request: Request, method: Method | None) -> WFA:
    """The automaton of a request by a method, or by the one that is chosen."""
    if len(request.ids) == 0:
        name = request.texts.corpus["name"]
        raise InputError(f"{name}: there is no text with a word in it to extract from", code="no-words")
    wfa = extract_best(request) if method is None else method.extract(request)
    wfa.bigrams = WordBigrams.of_texts(request.ids, len(request.model.encoder.vocabulary))
    if request.deadline.seconds is not None:
        wfa.provenance["time"] = {"limit": request.deadline.seconds, "used": round(request.deadline.used, 3)}
    weakness = None if is_language_model(request.model) else shortfall(wfa.provenance)
    if weakness is not None:
        warnings.warn(weakness, WfalensWarning, stacklevel=3)
    ended = stop_sentence(wfa.provenance)
    if ended is not None:
        say(ended)
    return wfa


def _warn_of_other_labels(model: PrefixClassifier, corpus: Corpus) -> None:
    """Labels are not needed here, but for the fidelity and the findings that follow."""
    if corpus.class_names and not {*corpus.class_names} & {*model.class_names}:
        labels, classes = (", ".join(names[:4]) for names in (corpus.class_names, model.class_names))
        warnings.warn(
            f"no label of {corpus.name} ({labels}) is a class of the model ({classes}); name its classes in their "
            "order, with wrap(…, classes=…), or give wrap the labelled corpus",
            WfalensWarning,
            stacklevel=5,
        )


def texts_in_memory(model: PrefixClassifier, texts: Any, balance: str | None = None) -> ExtractionTexts:
    """Texts or word ids, encoded; those without a word are left out and counted."""
    encoder, corpus = model.encoder, texts if isinstance(texts, Corpus) else None
    cut = 0
    if corpus is not None and corpus.labels is not None and not is_language_model(model):
        _warn_of_other_labels(model, corpus)
    if isinstance(texts, Ragged):
        ids, name = encoder.checked(texts), "ids"
        empty = np.flatnonzero(ids.lengths == 0).tolist()
    else:
        strings = as_texts(texts)
        ids, name = encoder.encode(strings), "texts" if corpus is None else corpus.name
        cut = encoder.count_cut(strings) if np.any(ids.lengths == encoder.max_length) else 0
        empty = [at for at in np.flatnonzero(ids.lengths == 0).tolist() if not strings[at].strip()]
        remark = unknown_words(encoder, strings)
        if remark is not None:
            say(remark)
    reasons = [] if corpus is None else list(corpus.skipped)
    reasons += [f"{name}: text {at + 1}: empty text" for at in empty]
    kept, ids = ids.nonempty()
    shown = None
    if isinstance(model, BlackBoxClassifier) and not isinstance(texts, Ragged):
        shown = model.encode(strings).take(kept)
    truth = None
    if balance == LABEL:
        labels = None if corpus is None else corpus.relabelled(model.class_names).labels
        if labels is None:
            raise InputError(_NO_LABELS.format(name), code="no-labels")
        truth = labels[kept]
    rows = RowCounts.of([RowCounts.without(0, 0, reasons), RowCounts(len(ids), len(ids.values), cut)])
    rows.say_cut(encoder.max_length)
    rows.say_left_out()
    return ExtractionTexts(ids, truth, _what_was_read(name, 1, ids, rows), shown)


def _what_was_read(name: str, files: int, ids: Ragged[np.int32], rows: RowCounts) -> dict[str, Any]:
    """The texts that are extracted from, for the provenance."""
    sample = {"texts": len(ids), "tokens": len(ids.values)}
    left_out = {"left_out": rows.left_out, "first_left_out": rows.reasons}
    return {"name": name, "files": files, **sample, **left_out, "sample": sample}


def _from_files(files: TextFiles, method: Method | None, run: RunConfig, request: Request) -> WFA:
    """The automaton of files: methods work on a sample of their texts, exact counts on all of them."""
    model = request.model
    classes = None
    if request.balance == LABEL:
        if not files.has_labels:
            raise InputError(_NO_LABELS.format(files.name), code="no-labels")
        classes = {name: number for number, name in enumerate(model.class_names)}
    if method is None:
        parameters: dict[str, Any] = {"kind": AUTO, "seed": request.seed, "queries": request.queries}
        parameters, tokens = parameters | {"balance": request.balance}, DEFAULT_SAMPLE
    else:
        resolved = method.resolved(request)
        parameters, tokens = resolved.parameters(request), resolved.sample_tokens
    with open_run(run, files, provenance(model, parameters), tokens) as opened:
        scan = scan_files(opened, model.encoder, request.seed, classes)
        rows, sample = scan.rows, scan.sample
        if scan.is_whole or not isinstance(method, StateMethod):  # which counts all texts, and says it then
            rows.say_cut(model.encoder.max_length)
        rows.say_left_out()
        read = _what_was_read(files.name, len(files.paths), sample.ids, rows)
        request = replace(
            request,
            texts=ExtractionTexts(sample.ids, None if classes is None else sample.truth, read),
            files=None if scan.is_whole else SampledFiles(opened, scan),
            checkpoint=None if run.checkpoints is None else run.checkpoints / _TRAINING,
        )
        wfa = extract_requested(request, method)
        read = wfa.provenance["corpus"]
        opened.record("finish", texts=read["texts"], tokens=read["tokens"], left_out=read["left_out"])
        return wfa
