"""The automata and models of the golden files, built from raw arrays by the library's constructors.

Everything here that names the library is a constructor: where one is renamed, this is the only place to change. The
arrays stand in `automata.json`, `model.json` and `grammar.json`; they were drawn once and are never drawn again.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from wfalens import Corpus, TextEncoder, Vocabulary, WordVectors, wrap
from wfalens.automaton import Empirical, Fitted, LinearWFA, Null, Probe, Shared, StochasticWFA, Uniform
from wfalens.automaton.linear import Factors
from wfalens.automaton.rows import rows_from_keys
from wfalens.ragged import Ragged

FOLDER = Path(__file__).parent


@cache
def stored(name: str) -> dict[str, Any]:
    return json.loads((FOLDER / f"{name}.json").read_text("utf-8"))


# automata ------------------------------------------------------------------------------------------------------------


@cache
def automaton(name: str):
    given = stored("automata")[name]
    return linear(given) if given["kind"] == "linear" else stochastic(given)


def stochastic(given, alpha=None):
    states, encoder = len(given["centres"]), encoder_of(given["encoder"])
    return StochasticWFA(
        encoder=encoder,
        class_names=given["class_names"],
        centres=np.array(given["centres"]),
        rows=rows_of(given["counts"], len(encoder.vocabulary), states),
        completion=completion_of(given["completion"], len(encoder.vocabulary), states),
        alpha=given["alpha"] if alpha is None else alpha,
        state_visits=np.array(given["state_visits"]),
        word_counts=np.array(given["word_counts"]),
        provenance=given.get("provenance"),
    )


def linear(given):
    names = ("words", "expansion", "offset", "links", "start", "final", "bias")
    wfa = LinearWFA(
        encoder=encoder_of(given["encoder"]),
        class_names=given["class_names"],
        factors=Factors(
            **{name: np.array(given[name], np.float32) for name in names}, decay=given["decay"], turns=given["turns"]
        ),
        mean_state=np.array(given["mean_state"]),
        word_counts=np.array(given["word_counts"]),
    )
    return wfa.with_readable(automaton(given["readable"])) if "readable" in given else wfa


def encoder_of(given):
    """Padding is id 0, the unknown word id 1, then the words."""
    options = {name: given[name] for name in ("max_length", "truncation_side") if name in given}
    return TextEncoder(Vocabulary.of_words(given["words"]), given["tokenizer"], **options)


def rows_of(entries, words, states):
    """From entries (word, from, to, weight) in rising order."""
    word, source, target, weight = np.array(entries, float).reshape(-1, 4).T
    return rows_from_keys(((word * states + source) * states + target).astype(int), weight, words, states)


def completion_of(given, words, states):
    rule = given["rule"]
    if rule == "null":
        return Null()
    if rule == "uniform":
        return Uniform()
    if rule == "empirical":
        return Empirical(given["beta"], given["distance"])
    if rule == "probe":
        return Probe(given["strength"], given["representatives"], rows_of(given["rows"], words, states))
    if rule == "fit":
        return Fitted(rows_of(given["rows"], words, states), given["drift"])
    visits = np.array(given["visits"], float)
    return Shared(
        rows_of(given["rows"], len(visits), states),
        np.array(given["word_class"]),
        visits,
        np.array(given["typicality"], np.uint8),
    )


# models: fixed formulas ----------------------------------------------------------------------------------------------


class FormulaModel:
    """An opinion x and a negation f: x ← keep·x + push·(1 − 2f). It can be stepped; a state is a row (x, f)."""

    fingerprint = "formula"

    def __init__(self, given):
        self.encoder = encoder_of({"words": given["words"], "tokenizer": "whitespace"})
        self.class_names = tuple(given["class_names"])
        self.keep, self.push, self.flips = (np.array(given[name], float) for name in ("keep", "push", "flips"))
        self.slope, self.middle = given["slope"], given["middle"]

    @property
    def initial_output(self):
        return self.outputs(np.zeros((1, 2)))[0]

    def initial_state(self, batch):
        return np.zeros((batch, 2), np.float32)

    def step(self, state, ids):
        x, f = state.astype(float).T
        after = self.keep[ids] * x + self.push[ids] * (1 - 2 * f)
        negated = np.where(self.flips[ids] > 0, 1 - f, np.where(self.push[ids] != 0, 0, f))
        state = np.stack([after, negated], 1).astype(np.float32)
        return state, self.outputs(state)

    def outputs(self, state):
        x = state[:, 0].astype(float)
        scores = np.stack([-self.slope * x, self.middle - np.abs(x), self.slope * x], 1)
        odds = np.exp(scores - scores.max(1, keepdims=True))
        return (odds / odds.sum(1, keepdims=True)).astype(np.float32)

    def trace(self, ids):
        rows = [np.zeros((0, len(self.class_names)), np.float32)]
        for text in ids:
            state = self.initial_state(1)
            for word in text:
                state, output = self.step(state, np.array([word]))
                rows.append(output)
        return Ragged(np.concatenate(rows), ids.offsets)

    def predict_tokens(self, texts):
        """The same as a function of lists of words, one row for each."""
        ids = self.encoder.vocabulary.encode(texts)
        return self.trace(ids).values[ids.offsets[1:] - 1]


class FormulaLanguage:
    """A language model: a deterministic machine with a distribution over the next letter and the end in each state."""

    fingerprint = "grammar"

    def __init__(self, given):
        self.encoder = encoder_of({"words": given["letters"], "tokenizer": "characters"})
        self.class_names = (*given["letters"], "<end>")
        self.targets, self.table = np.array(given["targets"]), np.array(given["outputs"], np.float32)

    @property
    def initial_output(self):
        return self.table[0]

    def initial_state(self, batch):
        return np.zeros((batch, 1), np.float32)

    def step(self, state, ids):
        after = self.targets[state[:, 0].astype(int), ids]
        return after[:, None].astype(np.float32), self.table[after]

    trace = FormulaModel.trace


@cache
def formula_model():
    return FormulaModel(stored("model"))


@cache
def black_box():
    """The same formula behind a plain function, as a user would wrap it."""
    model = formula_model()
    return wrap(
        model.predict_tokens,
        vocab=model.encoder,
        classes=model.class_names,
        name="formula",
        initial_output=model.initial_output,
        reads="tokens",
    )


@cache
def language_model():
    return FormulaLanguage(stored("grammar"))


def texts_of(name="held_out"):
    """The extraction texts ("corpus") or the others, with their labels."""
    given = stored("model")
    return Corpus(tuple(given[name]), np.array(given[f"{name}_labels"]), tuple(given["class_names"]), name)


@cache
def word_vectors():
    given = stored("model")
    return WordVectors(given["words"], np.array(given["vectors"], np.float32), "golden vectors")
