"""The one door of extraction: from a model and texts to an automaton (paper §3)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.extraction.balance import BALANCES
from wfalens.extraction.cost_estimate import is_announced
from wfalens.extraction.deadline import Deadline, seconds_of, told_stop
from wfalens.extraction.method import EFFORTS, NORMAL, Method, Request
from wfalens.extraction.selection import extract_best
from wfalens.models.checks import unknown_words
from wfalens.models.contract import PrefixClassifier
from wfalens.progress import say, shown
from wfalens.ragged import Ragged
from wfalens.scale.run_config import Run
from wfalens.text.blocks import MemoryTexts, source_of
from wfalens.validation import Bounds, check_choice, whole

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
    run: Run | None = None,
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
        run: how files are read: memory, workers, checkpoints. It does not change the result.
        progress: show a bar on stderr.

    Examples:
        >>> from wfalens import Paper, extract
        >>> wfa = extract(model, corpus, Paper(states=4))
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
        source=source_of(texts),
        seed=_SEED.checked("seed", seed),
        queries=_QUERIES.checked("queries", queries),
        effort=effort,
        balance=balance,
        checkpoint=None if checkpoint is None else Path(checkpoint),
        run=run or Run(),
        deadline=Deadline(None if time is None else seconds_of(time)),
    )
    with shown(progress):
        return extract_requested(request, method)


def extract_requested(request: Request, method: Method | None) -> WFA:
    """The automaton of a request by a method, or by the one that is chosen."""
    request = replace(request, deadline=request.deadline.restarted())
    _say_unknown_words(request)
    wfa = extract_best(request) if method is None else method.extract(request)
    if request.deadline.seconds is not None:
        wfa.provenance["time"] = {"limit": request.deadline.seconds, "used": round(request.deadline.used, 3)}
    ended = told_stop(wfa.provenance)
    if ended is not None and not is_announced():
        say(ended)
    return wfa


def _say_unknown_words(request: Request) -> None:
    """Say if many words of texts in memory are unknown to the model."""
    source = request.source
    if isinstance(source, MemoryTexts) and not isinstance(source.texts, Ragged):
        remark = unknown_words(request.model.encoder, source.texts)
        if remark is not None:
            say(remark)
