"""The one door of extraction: from a model and texts to an automaton (paper §3)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.extraction.balance import BALANCES, LABEL
from wfalens.extraction.cost_estimate import is_announced
from wfalens.extraction.deadline import Deadline, seconds_of, stop_sentence
from wfalens.extraction.method import AUTO, EFFORTS, NORMAL, ExtractionTexts, Method, Request, provenance
from wfalens.extraction.selection import extract_best
from wfalens.extraction.stochastic.paper import StateMethod
from wfalens.models.checks import unknown_words
from wfalens.models.contract import PrefixClassifier
from wfalens.progress import say, shown
from wfalens.ragged import Ragged
from wfalens.scale.run_config import DEFAULT_SAMPLE, RunConfig
from wfalens.scale.sample import SampledFiles, scan_files
from wfalens.text.corpus import Corpus, as_texts
from wfalens.text.files import TextFiles
from wfalens.validation import Bounds, check_choice, whole

_FEW, _NAMED = 3, 20  # of what was left out, in a message and in the provenance
_NO_LABELS = "{} has no labels to balance by; balance by the predicted class instead"
_SEED, _QUERIES = Bounds(whole, 0, 1 << 64), Bounds(whole, 1, 1 << 60, (None,))


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
    checkpoint: str | Path | None = None,
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
        queries: prefixes that the whole extraction may ask the model for, beyond running over the texts (default: no
            limit for a model that can be stepped, else 4,000,000). What was asked is in `provenance["queries"]`. An
            automatic choice of the method gives a third at most to the readable one, and the rest to the linear one;
            stochastic methods have a quarter at most for an automatic choice of states, then, where rows are fitted,
            half of the rest for that; words that cannot be paid for, the rarest, act as <unk>. A linear automaton
            takes half of them at most to read every word, and the rest for training.
        time: the wall clock that the extraction may take, in seconds or as "30s", "2m", "1h" (default: no limit):
            training goes only as far as that, and what is best by then is delivered. How far it gets depends on the
            machine, so equal seeds no longer give equal bytes. What was used is in `provenance["time"]`.
        effort: low, normal or high: how long to train, and how large a linear automaton.
        balance: predicted or label: the texts that the automaton is fitted to are drawn so that every class has
            as many, by the model's prediction or by their label. Small classes are copied more faithfully
            (default: texts as they come).
        checkpoint: file that keeps the training of a linear automaton after every epoch; a stopped one continues.
        run: how files are read: memory, workers, checkpoints. Workers and blocks do not change the result.
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
    _SEED.checked("seed", seed), _QUERIES.checked("queries", queries)
    bounds: dict[str, Any] = {
        "model": model,
        "seed": int(seed),
        "queries": queries,
        "effort": effort,
        "balance": balance,
    }
    bounds["checkpoint"] = None if checkpoint is None else Path(checkpoint)
    bounds["deadline"] = Deadline(None if time is None else seconds_of(time))
    with shown(progress):
        if isinstance(texts, TextFiles):
            return _from_files(texts, method, run or RunConfig(), bounds)
        if run is not None:
            raise InputError("run is about files; texts in memory need none", code="run-without-files")
        return extract_requested(Request(texts=texts_in_memory(model, texts, balance), **bounds), method)


def extract_requested(request: Request, method: Method | None) -> WFA:
    """The automaton of a request by a method, or by the one that is chosen."""
    if len(request.ids) == 0:
        name = request.texts.corpus["name"]
        raise InputError(f"{name}: there is no text with a word in it to extract from", code="no-words")
    wfa = extract_best(request) if method is None else method.extract(request)
    if request.deadline.seconds is not None:
        wfa.provenance["time"] = {"limit": request.deadline.seconds, "used": round(request.deadline.used, 3)}
    ended = stop_sentence(wfa.provenance)
    if ended is not None and not is_announced():
        say(ended)
    return wfa


def texts_in_memory(model: PrefixClassifier, texts: Any, balance: str | None = None) -> ExtractionTexts:
    """Texts or word ids, encoded; those without a word are left out and counted."""
    encoder, corpus = model.encoder, texts if isinstance(texts, Corpus) else None
    if isinstance(texts, Ragged):
        ids, name, cut, empty = encoder.checked(texts), "ids", 0, np.zeros(0, np.int64)
        empty = np.flatnonzero(ids.lengths == 0)
    else:
        strings = as_texts(texts)
        name = "texts" if corpus is None else corpus.name
        ids = encoder.encode(strings)
        cut = encoder.count_cut(strings) if np.any(ids.lengths == encoder.max_length) else 0
        empty = np.array([at for at in np.flatnonzero(ids.lengths == 0).tolist() if not strings[at].strip()], np.int64)
        remark = unknown_words(encoder, strings)
        if remark is not None:
            say(remark)
    reasons = [] if corpus is None else list(corpus.skipped)
    reasons += [f"{name}: text {at + 1}: empty text" for at in empty.tolist()]
    kept = np.flatnonzero(ids.lengths)
    ids = ids if len(kept) == len(ids) else ids.take(kept)
    truth = None
    if balance == LABEL:
        if corpus is None or corpus.labels is None:
            raise InputError(_NO_LABELS.format(name), code="no-labels")
        labels = corpus.relabelled(model.class_names).labels
        truth = None if labels is None else labels[kept]
    if cut:
        say(f"{cut:,} of {len(ids):,} texts were truncated after {encoder.max_length} tokens")
    if reasons:
        more = "; …" if len(reasons) > _FEW else ""
        say(f"left out {len(reasons):,} rows, blocks or files ({'; '.join(reasons[:_FEW])}{more})")
    sample = {"texts": len(ids), "tokens": len(ids.values)}
    read = {"name": name, "files": 1, **sample, "left_out": len(reasons), "first_left_out": reasons[:_NAMED]}
    return ExtractionTexts(ids, truth, read | {"sample": sample})


def _from_files(files: TextFiles, method: Method | None, run: RunConfig, bounds: dict[str, Any]) -> WFA:
    """The automaton of files: methods work on a sample of their texts, exact counts on all of them."""
    model, balance = bounds["model"], bounds["balance"]
    if balance == LABEL and not files.has_labels:
        raise InputError(_NO_LABELS.format(files.name), code="no-labels")
    classes = {name: number for number, name in enumerate(model.class_names)} if balance == LABEL else None
    empty = ExtractionTexts(Ragged(np.zeros(0, np.int32), np.zeros(1, np.int64)), None, {})
    about = Request(texts=empty, **bounds)
    options = {"kind": AUTO, "seed": about.seed, "queries": about.queries, "balance": balance}
    parameters = options if method is None else method.resolved(about).parameters(about)
    tokens = DEFAULT_SAMPLE if method is None else method.resolved(about).sample_tokens
    with run.opened(files, provenance(model, parameters), tokens) as opened:
        scan = scan_files(opened, model.encoder, about.seed, classes)
        rows = scan.rows
        if scan.is_whole or not isinstance(method, StateMethod):  # which counts all texts, and says it then
            rows.say_cut(model.encoder.max_length)
        rows.say_left_out()
        sample = {"texts": len(scan.sample), "tokens": len(scan.sample.ids.values)}
        read = {"name": files.name, "files": len(files.file_names), **sample, "left_out": rows.left_out}
        read |= {"first_left_out": rows.reasons, "sample": sample}
        truth = None if classes is None else scan.sample.truth
        request = replace(
            about,
            texts=ExtractionTexts(scan.sample.ids, truth, read),
            files=None if scan.is_whole else SampledFiles(opened, scan),
            deadline=about.deadline,
        )
        if request.checkpoint is None and run.checkpoints is not None:
            request = replace(request, checkpoint=run.checkpoints / "training")
        wfa = extract_requested(request, method)
        read = wfa.provenance["corpus"]
        opened.record("finish", texts=read["texts"], tokens=read["tokens"], left_out=read["left_out"])
        return wfa
