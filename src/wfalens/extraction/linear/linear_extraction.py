"""Training of linear automata: gradient descent until the automaton says what the model says."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.linear import LinearWFA
from wfalens.errors import InputError
from wfalens.extraction.completion.probing import choose_representatives
from wfalens.extraction.cost_estimate import ASKING, ask_held_out, most_probing, most_training, say_cost, say_time
from wfalens.extraction.deadline import INTERRUPT, TIME, Stop
from wfalens.extraction.held_out import bag_of_words, comparison_prefixes, divided, groups_of
from wfalens.extraction.linear.generator import Generator
from wfalens.extraction.linear.linear_options import Linear
from wfalens.extraction.linear.linear_training import LinearTraining
from wfalens.extraction.linear.unknown_words import read_unknown_words
from wfalens.extraction.linear.word_inputs import prefixes_read, word_inputs
from wfalens.extraction.method import Request
from wfalens.extraction.perturbed_batches import PerturbedBatches
from wfalens.extraction.query_budget import QueryBudget, call_limit
from wfalens.models.base import BlackBoxClassifier
from wfalens.models.checks import check_causal
from wfalens.models.inference import asks_every_prefix, initial_output, last_outputs
from wfalens.ragged import Ragged
from wfalens.threads import model_threads_limited

_BATCHES, _PREFIXES = 1, 1 << 32  # random streams beside those of the batches
_MOST_NUMBERS = 100_000  # outputs that a bag of words learns from: it shall take seconds
_TRAINED = 0.95  # share of the time beside that for making the automaton


@model_threads_limited()  # sums keep their order, so that equal seeds give equal bytes
def extract_linear(method: Linear, request: Request) -> LinearWFA:
    """Train an automaton against the model on texts and on perturbed copies of them.

    A tenth of the texts is held out; the epoch with the lowest divergence there is kept. Ctrl-C ends training after an
    epoch or more, and the best of them is delivered. With a checkpoint, training that was stopped continues after its
    last whole epoch, and ends as if it had never been stopped; the file is removed at the end, but not after Ctrl-C.
    """
    method = method.resolved(request)
    model, ids, seed, checkpoint = request.model, request.ids, request.seed, request.checkpoint
    pays, budget = asks_every_prefix(model), QueryBudget(call_limit(request.queries, model, len(ids)), model)
    if not pays:
        check_causal(model, ids)
    if len(ids) < 2:
        raise InputError("training needs at least two texts", code="too-few-texts")
    groups = groups_of(request, budget)
    tests, shown = divided(request.texts.as_shown, seed, groups)
    tests, answered = comparison_prefixes(model, tests), request.held_out
    if pays:
        answered = answered or ask_held_out(model, tests, budget, request.deadline, seed)
        tests = answered.texts
    fit = model.folded(shown) if isinstance(model, BlackBoxClassifier) else shown
    asking = request.deadline.part(ASKING)
    words, classes = len(model.encoder.vocabulary), len(model.class_names)
    counts = np.bincount(fit.values, minlength=words)
    rng = np.random.default_rng([seed, _PREFIXES])
    chosen = choose_representatives(
        fit, np.zeros(len(fit.values), np.int32), prefixes_read(model, method.prefixes), rng
    )
    representatives = replace(chosen, per_state=len(chosen.state))  # the empty prefix stands for the same state
    if not pays:
        budget.texts += len(tests.values)
        most = most_probing(model, len(chosen.state), words, int(fit.lengths.max()))
        most += most_training(method.passes, method.tokens, fit)
        if not request.announced:
            say_cost(model, fit, len(tests.values), budget.within(most))
    targets = last_outputs(model, tests) if answered is None else answered.outputs
    inputs = word_inputs(model, representatives, method.vectors, counts, method.inputs, budget, asking)
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(seed)
        generator = Generator(method, inputs, classes, int(fit.lengths.max()), learns_words=pays)
    batches = PerturbedBatches(model, fit, method, seed, budget, shown, asking)

    def made(about: dict[str, Any]) -> LinearWFA:
        """The automaton of the generator as it is."""
        given: dict[str, Any] = {"encoder": model.encoder, "class_names": model.class_names, "provenance": about}
        wfa = LinearWFA.of_texts(ids, factors=generator.finished(), **given)
        if isinstance(model, BlackBoxClassifier) and model.reads_texts:
            read_unknown_words(wfa, counts, tests, targets)
        return wfa

    closing = request.deadline.seconds_of(lambda: made({}))
    run = LinearTraining(generator, initial_output(model), batches, request.deadline.part(_TRAINED, closing))
    manifest = _manifest(method, request, None if pays else budget.limit, groups)
    run.resume(checkpoint, manifest)
    ended = _trained(run, tests, targets, checkpoint, manifest)
    generator.load_state_dict(run.best)
    wfa = made(
        method.provenance(request)
        | {
            "training": [asdict(each) for each in run.history],
            "held_out": len(tests),
            "queries": budget.to_dict(),
            "baselines": _baselines(run.batches, tests, targets, with_words=pays and ended is None),
            **({} if ended is None else {"stopped": Stop(ended, len(run.history), method.passes).to_dict()}),
        }
    )
    wfa.provenance["residual_variance"] = float(np.square(wfa.predict_proba(tests) - targets).mean())
    if checkpoint is not None and ended != INTERRUPT:
        checkpoint.unlink(missing_ok=True)
    return wfa


def _trained(
    run: LinearTraining,
    tests: Ragged[np.int32],
    targets: NDArray[np.float32],
    checkpoint: Path | None,
    manifest: dict[str, Any],
) -> str | None:
    """Train to the end, measuring on the held-out texts after every epoch; -> what ended it early"""
    progress.start("training the automaton", run.generator.shape.passes)
    progress.advance(len(run.history))
    ended = None
    try:
        while not run.is_over:
            epoch, began = len(run.history), run.deadline.used
            own = np.random.default_rng([run.batches.seed, epoch, _BATCHES])  # wherever training was stopped
            batch = run.batches.numbered(epoch)
            began = run.deadline.used if run.batches.asks_texts else began  # what calls take was said before
            reached = run.note(run.learn(batch, own), tests, targets)
            if epoch == 0:
                say_time(run.deadline.used - began, run.generator.shape.passes, run.deadline)
            run.save(checkpoint, manifest)
            progress.advance(1, f"CR {reached.cr:.3f}, JSD {reached.jsd:.4f}")
    except KeyboardInterrupt:
        if not run.history:
            raise
        ended = INTERRUPT
    progress.finish()
    return TIME if ended is None and run.deadline.is_over else ended


def _baselines(
    batches: PerturbedBatches, held: Ragged[np.int32], targets: NDArray[np.float32], *, with_words: bool
) -> dict[str, float]:
    """CR of always saying the most frequent class, and of a bag of words that learned from the same answers.

    targets: (texts, C)
    """
    labels = targets.argmax(1)
    found = {"largest_class": float(np.bincount(labels).max() / len(labels))}
    if with_words:
        texts, outputs = batches.answered
        if outputs.size > _MOST_NUMBERS:
            order = np.random.default_rng(batches.seed).permutation(len(texts))
            some = np.sort(order[: _MOST_NUMBERS // outputs.shape[1]])
            texts, outputs = texts.take(some), outputs[some]
        predicted = bag_of_words(texts, outputs, held, len(batches.counts))
        found["bag_of_words"] = float(np.mean(predicted.argmax(1) == labels))
    return found


def _manifest(method: Linear, request: Request, limit: int | None, groups: NDArray[np.int64] | None) -> dict[str, Any]:
    """What a stopped training must have in common with the one that continues it."""
    manifest = {
        "shape": {name: value for name, value in method.to_dict().items() if name != "vectors"},
        "seed": request.seed,
        "model": request.model.fingerprint,
        "texts": _digest(request.ids.values, request.ids.offsets),
        "queries": limit,
        "time": request.deadline.seconds is not None,
    }
    if groups is not None:
        manifest["groups"] = _digest(groups)
    if method.vectors is not None:
        manifest["vectors"] = [method.vectors.source, _digest(method.vectors.matrix)]
    return manifest


def _digest(*arrays: NDArray[Any]) -> str:
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:16]
