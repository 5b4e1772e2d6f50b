"""Asking a model in batches: outputs after every word (paper §2), after the last word, and states after prefixes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.errors import InputError
from wfalens.models.contract import (
    PrefixClassifier,
    State,
    StatefulClassifier,
    checked_probabilities,
    uniform,
)
from wfalens.ragged import Ragged, offsets_of, positions
from wfalens.text.vocabulary import PADDING
from wfalens.threads import passes_of_model

Answer = TypeVar("Answer")
INITIAL = MODEL, UNIFORM = ("model", "uniform")  # whose output stands before any word
TOKENS_PER_BATCH = 8192  # padded tokens that go through a model at once
_TOKENS_PER_CALL, _TEXTS_PER_CALL = 50_000, 256
_NUMBERS_PER_CALL = 5_000_000  # outputs of a call: a thousand classes fill the memory sooner than tokens do
_TEXTS_PER_BATCH = 1024  # that are stepped at once
_CALLS_IN_TIME, _LEAST_SECONDS = 8, 1e-6  # where time is limited, a call takes this part of the rest at most
_SHARED = 0.5  # prefixes, as a share of all words, below which stepping is quicker than reading whole texts
_WORD_BITS = 32
_WORD_MASK = (1 << _WORD_BITS) - 1


def tokens_per_call(model: PrefixClassifier) -> int:
    """How many words go to a model in one call, so that its outputs fit into memory."""
    return min(_TOKENS_PER_CALL, max(1, _NUMBERS_PER_CALL // len(model.class_names)))


def output_traces(model: PrefixClassifier, ids: Ragged[np.int32]) -> Ragged[np.float32]:
    """`T(w)` for every text; -> (tokens, classes)"""
    outputs, done = np.empty((len(ids.values), len(model.class_names)), np.float32), 0
    for trace in _asked(model, ids, "running the model", _trace):
        outputs[done : done + len(trace.values)] = trace.values
        done += len(trace.values)
    return Ragged(outputs, ids.offsets)


def text_outputs(
    model: PrefixClassifier, texts: Sequence[str] | Ragged[np.int32], kept: NDArray[np.int64], ids: Ragged[np.int32]
) -> NDArray[np.float32]:
    """The model's outputs for some of the texts as they stand, where it reads texts; else for their words.

    kept: the numbers of these texts, ids: their words -> (kept, classes)
    """
    if not isinstance(texts, Ragged) and asks_every_prefix(model):
        return np.asarray(model.predict_proba([texts[at] for at in kept]))  # type: ignore[attr-defined]
    return last_outputs(model, ids)


def encoded(model: PrefixClassifier, texts: Sequence[str]) -> Ragged[np.int32]:
    """Word ids of texts as the model is to read them: one that reads texts has ids for words of any spelling."""
    encode: Callable[[Sequence[str]], Ragged[np.int32]] = getattr(model, "encode", model.encoder.encode)
    return encode(texts)


def asks_every_prefix(model: object) -> bool:
    """Whether a trace costs a query for every prefix, so that only the outputs of whole texts are cheap."""
    return bool(getattr(model, "asks_every_prefix", False))


def last_outputs(model: PrefixClassifier, texts: Ragged[np.int32]) -> NDArray[np.float32]:
    """The last row of `T(w)` for every text, the initial output for a text without words; -> (texts, classes)

    A model whose trace costs a query per prefix is asked for whole texts only.
    """
    worded, ids = texts.nonempty()
    if len(worded) == 0:
        outputs = np.empty((0, len(model.class_names)), np.float32)
    elif asks_every_prefix(model):
        outputs = np.concatenate(list(_asked(model, ids, "asking the model", _whole_texts)))
    else:
        outputs = np.concatenate(list(_asked(model, ids, "running the model", lambda *part: _trace(*part).last())))
    return with_initial_output(model, outputs, worded, len(texts))


def outputs_in_time(
    model: PrefixClassifier, texts: Ragged[np.int32], time_left: Callable[[], float]
) -> NDArray[np.float32]:
    """The outputs of the first of the texts, as many as a model that pays for every call answers in time.

    No text may be empty. One text is asked in any case, then more at once as long as the pace allows it.
    -> (answered, classes)
    """
    began, answers, done, size = time_left(), list[NDArray[np.float32]](), 0, 1
    progress.start("asking the model", len(texts))
    while done < len(texts) and (done == 0 or time_left() > 0):
        part = texts.take(np.arange(done, min(done + size, len(texts))))
        answers.append(_whole_texts(model, part))
        done += len(part)
        progress.advance(len(part))
        left = time_left()
        affordable = done * left / max(began - left, _LEAST_SECONDS)
        size = max(1, min(2 * size, int(affordable / _CALLS_IN_TIME), _TEXTS_PER_BATCH))
    progress.finish()
    return np.concatenate(answers)


def with_initial_output(
    model: PrefixClassifier, outputs: NDArray[np.float32], worded: NDArray[np.int64], texts: int
) -> NDArray[np.float32]:
    """Outputs of the texts that have words, and the initial output for all others; -> (texts, classes)"""
    if len(worded) == texts:
        return outputs
    filled = np.tile(initial_output(model), (texts, 1))
    filled[worded] = outputs
    return filled


def _asked(
    model: PrefixClassifier, ids: Ragged[np.int32], task: str, ask: Callable[[Any, Ragged[np.int32]], Answer]
) -> Iterator[Answer]:
    """The model's answers to parts of the texts, as they come."""
    at_once = tokens_per_call(model)
    if asks_every_prefix(model):  # few texts, so that progress is shown soon, but no small batches of long ones
        at_once = max(TOKENS_PER_BATCH, _TEXTS_PER_CALL * len(ids.values) // max(1, len(ids)))

    def size(part: Ragged[np.int32]) -> int:
        return len(part) if ask is _whole_texts else len(part.values)

    progress.start(task, size(ids))
    for done, answer in passes_of_model(model, lambda part: (size(part), ask(model, part)), ids.chunks(at_once)):
        yield answer
        progress.advance(done)
    progress.finish()


def _trace(model: PrefixClassifier, ids: Ragged[np.int32]) -> Ragged[np.float32]:
    trace = model.trace(ids)
    checked_probabilities(trace.values, len(ids.values), len(model.class_names), "the model")
    if not np.array_equal(trace.offsets, ids.offsets):
        raise InputError("the model's trace does not have one row per token of each text", code="output-shape")
    return trace


def _whole_texts(model: Any, ids: Ragged[np.int32]) -> NDArray[np.float32]:
    return checked_probabilities(model.final(ids), len(ids), len(model.class_names), "the model")


def initial_output(model: PrefixClassifier, initial: str = MODEL) -> NDArray[np.float32]:
    """`ρ(0)`: the model's own output before any word, uniform where it has none or `initial` says so; (classes,)"""
    own = getattr(model, "initial_output", None) if initial == MODEL else None
    return uniform(len(model.class_names)) if own is None else np.asarray(own, np.float32)


def final_outputs(model: PrefixClassifier, texts: Ragged[np.int32]) -> NDArray[np.float64]:
    """The same as `last_outputs`, for texts that repeat or begin one another, such as variants of one text.

    A trace has the outputs of all prefixes, so a text that begins another one costs nothing; a model that is asked for
    every prefix is asked for each distinct text. A stateful model reads shared beginnings once where they are frequent.
    """
    tree = prefix_tree(texts)
    worded = np.flatnonzero(texts.lengths)
    end_of_text = np.full(len(texts), -1)
    end_of_text[worded] = tree.of_token[texts.offsets[worded + 1] - 1]
    ends, first = np.unique(end_of_text[worded], return_index=True)
    outputs = np.empty((len(tree) + 1, len(model.class_names)))  # the last row, -1, is the output before any word
    outputs[-1] = initial_output(model)
    if asks_every_prefix(model):
        outputs[ends] = last_outputs(model, tree.spelled(ends))
    elif len(tree):
        items = worded[first[~np.isin(ends, tree.parent)]]  # texts that begin no other one
        if isinstance(model, StatefulClassifier) and len(tree) < _SHARED * int(texts.lengths[items].sum()):
            outputs[:-1] = _stepped(model, tree)
        else:
            trace = _trace(model, texts.take(items))
            outputs[tree.of_token[positions(texts.offsets[items], trace.lengths)]] = trace.values
    return np.asarray(outputs[end_of_text])


def _stepped(model: StatefulClassifier, tree: PrefixTree) -> NDArray[np.float32]:
    """The output after every prefix, all prefixes of a length at a time; -> (prefixes, classes)"""
    outputs = np.empty((len(tree), len(model.class_names)), np.float32)
    first = np.searchsorted(tree.depth, np.arange(1, int(tree.depth[-1]) + 2))
    state, previous = model.initial_state(1), -1  # the number of the first prefix that is one word shorter
    for start, end in pairwise(first):
        state, outputs[start:end] = model.step(state[tree.parent[start:end] - previous], tree.word[start:end])
        previous = start
    return checked_probabilities(outputs, len(tree), len(model.class_names), "the model")


@dataclass(frozen=True)
class PrefixTree:
    """All distinct non-empty prefixes; a parent stands before its children."""

    parent: NDArray[np.int64]  # (prefixes,): the prefix without its last word, -1 for none
    word: NDArray[np.int32]  # (prefixes,): the last word
    depth: NDArray[np.int64]  # (prefixes,): the number of words
    of_token: NDArray[np.int64]  # (tokens,): the prefix that ends at each token

    def __len__(self) -> int:
        return len(self.word)

    def spelled(self, numbers: NDArray[np.int64]) -> Ragged[np.int32]:
        lengths = self.depth[numbers]
        words, ends, here = np.empty(int(lengths.sum()), np.int32), offsets_of(lengths)[1:], numbers
        for back in range(1, int(lengths.max(initial=0)) + 1):  # from the last word on
            ends, here = ends[here >= 0], here[here >= 0]
            words[ends - back] = self.word[here]
            here = self.parent[here]
        return Ragged.from_lengths(words, lengths)


def prefix_tree(ids: Ragged[np.int32]) -> PrefixTree:
    """One vectorised pass per position over all sequences."""
    lengths, starts = ids.lengths, ids.offsets[:-1]
    of_token = np.empty(len(ids.values), np.int64)
    here = np.full(len(ids), -1, np.int64)
    parents, words, depths, count = [], [], [], 0
    reading = np.flatnonzero(lengths > 0)
    position = 0
    while len(reading):
        # prefix and word in one number, which sorts like the pair
        pairs = (here[reading] + 1 << _WORD_BITS) | ids.values[starts[reading] + position]
        distinct, inverse = np.unique(pairs, return_inverse=True)
        here[reading] = count + inverse.ravel()
        of_token[starts[reading] + position] = here[reading]
        parents.append((distinct >> _WORD_BITS) - 1)
        words.append((distinct & _WORD_MASK).astype(np.int32))
        depths.append(np.full(len(distinct), position + 1))
        count += len(distinct)
        position += 1
        reading = reading[lengths[reading] > position]
    empty = np.zeros(0, np.int64)
    return PrefixTree(
        np.concatenate([empty, *parents]),
        np.concatenate([empty.astype(np.int32), *words]),
        np.concatenate([empty, *depths]),
        of_token,
    )


def states_after(model: StatefulClassifier, prefixes: Ragged[np.int32]) -> State:
    """The internal state after each prefix, empty ones included; one batched step per position."""
    # -> (prefixes, width)
    state = model.initial_state(len(prefixes))
    table, lengths = prefixes.padded(), prefixes.lengths
    for position in range(table.shape[1]):
        reading = np.flatnonzero(lengths > position)
        state[reading], _ = model.step(state[reading], table[reading, position])
    return state


def step_grid(model: Any, state: State, ids: NDArray[np.int32]) -> NDArray[np.float32]:
    """Outputs after reading every word from every state: (states, width), (words,) -> (states, words, classes)."""
    if getattr(model, "has_grid", False):
        return np.asarray(model.step_grid(state, ids))
    return state_grid(model, state, ids)[1]


def state_grid(model: Any, state: State, ids: NDArray[np.int32]) -> tuple[State, NDArray[np.float32]]:
    """The new states, (states, words, width), and the outputs as `step_grid` gives them."""
    states, outputs = (
        model.state_grid(state, ids)
        if getattr(model, "has_grid", False)
        else model.step(np.repeat(state, len(ids), axis=0), np.tile(ids, len(state)))
    )
    shape = len(state), len(ids), -1
    return states.reshape(shape), outputs.reshape(shape)


def state_traces(
    model: StatefulClassifier, ids: Ragged[np.int32]
) -> Iterator[tuple[NDArray[np.int64], State, NDArray[np.float32]]]:
    """Internal states and outputs after every word: for batches of tokens, their positions, states and outputs."""
    order = np.argsort(-ids.lengths, kind="stable")
    for first in range(0, len(order), _TEXTS_PER_BATCH):
        texts = order[first : first + _TEXTS_PER_BATCH]  # the longest first, so those still read are a prefix
        starts, lengths = ids.offsets[texts], ids.lengths[texts]
        state = model.initial_state(len(texts))
        for position in range(int(lengths[0])):
            reading = int(np.searchsorted(-lengths, -position))
            tokens = starts[:reading] + position
            state, outputs = model.step(state[:reading], ids.values[tokens])
            yield tokens, state, outputs


def trace_by_steps(model: StatefulClassifier, ids: Ragged[np.int32]) -> Ragged[np.float32]:
    """The trace of a model that has steps only; -> (tokens, classes)"""
    values = np.empty((len(ids.values), len(model.class_names)), np.float32)
    for tokens, _, outputs in state_traces(model, ids):
        values[tokens] = outputs
    return Ragged(values, ids.offsets)


def trace_padded(
    ids: Ragged[np.int32],
    classes: int,
    run: Callable[[NDArray[np.int32]], NDArray[np.float32]],
    tokens: int = TOKENS_PER_BATCH,
) -> Ragged[np.float32]:
    """One row per token, from `run(ids (batch, time)) -> (batch, time, classes)`; what stands on padding is dropped."""
    values = np.empty((len(ids.values), classes), np.float32)
    for batch in length_sorted_batches(ids.lengths, tokens):
        sequences = ids.take(batch)
        table = sequences.padded(PADDING)
        real = np.arange(table.shape[1]) < sequences.lengths[:, None]
        values[positions(ids.offsets[batch], sequences.lengths)] = run(table)[real]
    return Ragged(values, ids.offsets)


def length_sorted_batches(lengths: NDArray[np.int64], tokens: int) -> list[NDArray[np.int64]]:
    """Items sorted by length and cut into batches of at most `tokens` padded tokens (one item at least)."""
    order = np.argsort(lengths, kind="stable")
    ordered = lengths[order]
    batches, start = [], int(np.searchsorted(ordered, 1))  # empty items need no pass
    while start < len(order):
        # the longest item decides the width: find the largest batch that fits
        candidates = ordered[start : start + tokens]
        fits = candidates * np.arange(1, len(candidates) + 1) <= tokens
        stop = start + max(1, int(fits.sum()))
        batches.append(order[start:stop])
        start = stop
    return batches


def jensen_shannon(first: NDArray[np.floating], second: NDArray[np.floating]) -> NDArray[np.float64]:
    """Jensen–Shannon divergence of each pair of distributions, in nats; (N, C), (N, C) -> (N,)"""
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    middle = (a + b) / 2
    return (_relative_entropy(a, middle) + _relative_entropy(b, middle)) / 2


def _relative_entropy(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    positive = part > 0  # 0 · log 0 = 0
    ratio = np.divide(part, whole, out=np.ones_like(part), where=positive)
    return np.asarray((part * np.log(ratio)).sum(1))
