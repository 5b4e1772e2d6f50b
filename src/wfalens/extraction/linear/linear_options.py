"""The method that trains a linear automaton, and its options."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.linear import LinearWFA
from wfalens.automaton.rows import MAX_STATES
from wfalens.extraction.method import AUTO, HIGH, LOW, NORMAL, Method, Request
from wfalens.extraction.perturbation import Perturbation
from wfalens.models.contract import is_language_model
from wfalens.models.inference import asks_every_prefix
from wfalens.text.word_vectors import WordVectors
from wfalens.validation import Bounds, option, real, whole

_COUNT, _COUNT_OR_AUTO = Bounds(whole, 1, 1 << 40), Bounds(whole, 1, 1 << 40, (AUTO,))
_SHARE, _SHARE_OR_AUTO = Bounds(real, 0, 1), Bounds(real, 0, 1, (AUTO,))
_STATES = Bounds(whole, 1, MAX_STATES - 1, (AUTO,))
_FEW_SYMBOLS = 64  # rather the alphabet of a formal language
_MOST_SYMBOLS = 256  # of a language model whose automaton is made wider: of more symbols it takes too long
_WIDTH, _LANGUAGE_MODEL_WIDTH = 32, 128  # what comes next takes more memory than a class
_FACTORS, _FEW_FACTORS = 128, 64  # few calls tell less of a word
_EPOCHS, _PATIENCE = {LOW: 12, NORMAL: 40, HIGH: 100}, {LOW: 12, NORMAL: 12, HIGH: 30}
_WIDER = 2  # with high effort
_RANDOM_TEXTS = 1 / 3  # share, where the texts themselves are nearly random
_NEARLY_RANDOM = 0.75  # of the largest possible entropy of a symbol given the one before; names have .69
_FEW_TEXTS = 1000  # nearly random ones: random texts would distract from them, and they take longer to learn


@dataclass(frozen=True, kw_only=True)
class Linear(Method):
    """Real weights, trained against the model by gradient descent: mostly the most faithful method.

    An alphabet of fewer than 64 symbols is rather that of a formal language than of a natural one. A changed letter
    then mostly makes another text of it, so more texts stay as they are, and what counts is the model's decision, not
    its confidence: it is learned at temperature 1.

    Args:
        states: n, their number, or a few more to fill the last layer; auto: layers · width.
        layers: of the state; a layer reads the earlier ones.
        width: numbers in a layer; auto: 32, of a language model of up to 256 symbols 128, twice as many with high
            effort.
        inputs: principal components of what is known of the words.
        factors: R, numbers that describe a word; auto: 128, of a model that pays for every call 64.
        hidden: width of the network that makes them from what is known of the word.
        decay: γ < 1, the most that a word leaves of the state it finds.
        epochs: passes over the texts at most; auto: 40, with low effort 12, with high effort 100, which fewer than
            1,000 nearly random sequences get with normal effort, too.
        tokens: words in a pass at most (a random part of longer corpora).
        batch: tokens in a step of training, times ∛(mean words of a text); fewer for a small corpus.
        learning_rate: of texts of up to nine words, in 2,000 steps or more; longer texts, whose gradients are
            steeper, divide it by √(words / 9), and shorter trainings multiply it by √(2,000 / steps), 2.4 at most.
        temperature: T, by which the logits of automaton and model are divided where they are compared in training, at
            the beginning; it falls to 1 (knowledge distillation). auto: 3, of fewer than 64 symbols 1.
        replaced: share of words replaced in a perturbed text: the model answers any query.
        clean: share of texts that are not perturbed; auto: .1, of fewer than 64 symbols .3.
        following: share of words of a perturbed text that are replaced by one that follows the same word elsewhere;
            auto: .2, of fewer than 64 symbols 0.
        uniform: share of the replacements drawn evenly from the vocabulary, not by frequency.
        random: share of the texts that are replaced by random ones of the same length; auto: a third where a
            thousand texts or more of a classifier are themselves nearly random sequences of at most 256 symbols, else
            0.
        unknown: share of words that become `<unk>`.
        prefixes: prefixes from which every word is read once, to learn what it does (five times as many where the
            model cannot be stepped and shows its outputs only).
        patience: epochs without improvement on held-out texts before training ends; auto: 12, with 100 epochs 30.
        vectors: word vectors from which it may learn beside the model's answers.

    Examples:
        >>> from wfalens import Linear, extract
        >>> wfa = extract(model, corpus, Linear(layers=2, width=8, epochs=3))
        >>> wfa.kind
        'linear'
    """

    name = LinearWFA.kind

    states: int | str = option(AUTO, allowed=Bounds(whole, 1, MAX_STATES - 1, (AUTO,)))
    layers: int = option(5, allowed=Bounds(whole, 1, 32))
    width: int | str = option(AUTO, allowed=_COUNT_OR_AUTO)
    inputs: int = option(128, allowed=_COUNT)
    factors: int | str = option(AUTO, allowed=_COUNT_OR_AUTO)
    hidden: int = option(256, allowed=_COUNT)
    decay: float = option(0.999, allowed=Bounds(real, 0, 1, excluded=(0, 1)))
    epochs: int | str = option(AUTO, allowed=_COUNT_OR_AUTO)
    tokens: int = option(400_000, allowed=_COUNT)
    batch: int = option(512, allowed=_COUNT)
    learning_rate: float = option(2.5e-3, allowed=Bounds(real, 0, 1, excluded=(0,)))
    temperature: float | str = option(AUTO, allowed=Bounds(real, 1, 100, (AUTO,)))
    replaced: float = option(0.2, allowed=_SHARE)
    clean: float | str = option(AUTO, allowed=_SHARE_OR_AUTO)
    following: float | str = option(AUTO, allowed=_SHARE_OR_AUTO)
    uniform: float = option(0.3, allowed=_SHARE)
    random: float | str = option(AUTO, allowed=_SHARE_OR_AUTO)
    unknown: float = option(0.03, allowed=_SHARE)
    prefixes: int = option(3, allowed=_COUNT)
    patience: int | str = option(AUTO, allowed=_COUNT_OR_AUTO)
    vectors: WordVectors | None = option(None)

    def extract(self, request: Request) -> Any:
        from wfalens.extraction.linear.linear_extraction import extract_linear

        return extract_linear(self, request)

    def resolved(self, request: Request) -> Self:
        symbols, effort = len(request.model.encoder.vocabulary), request.effort
        width = _LANGUAGE_MODEL_WIDTH if symbols <= _MOST_SYMBOLS and is_language_model(request.model) else _WIDTH
        temperature, clean, following = (1.0, 0.3, 0.0) if symbols < _FEW_SYMBOLS else (3.0, 0.1, 0.2)
        is_formal, few = symbols <= _MOST_SYMBOLS and _is_formal(request), len(request.ids) < _FEW_TEXTS
        trained = HIGH if is_formal and few and effort == NORMAL else effort
        filled = self._filled(
            width=_WIDER * width if effort == HIGH else width,
            factors=_FEW_FACTORS if asks_every_prefix(request.model) else _FACTORS,
            epochs=_EPOCHS[trained],
            patience=_PATIENCE[trained],
            temperature=temperature,
            clean=clean,
            following=following,
            random=_RANDOM_TEXTS if is_formal and not few else 0.0,
        )
        if filled.states == AUTO:
            return filled
        layers = min(filled.layers, int(filled.states))
        return replace(filled, layers=layers, width=-(-int(filled.states) // layers))

    @property
    def passes(self) -> int:
        return int(self.epochs)

    @property
    def perturbation(self) -> Perturbation:
        return Perturbation(
            self.replaced,
            float(self.clean),
            self.uniform,
            self.unknown,
            following=float(self.following),
            random=float(self.random),
        )


def _is_formal(request: Request) -> bool:
    """Whether the texts of a classifier are nearly random sequences: the last symbol hardly predicts the next.

    Then any sequence may be asked about, as of a formal language, and not only what looks like the texts.
    """
    if is_language_model(request.model):
        return False
    ids, symbols = request.ids, len(request.model.encoder.vocabulary)
    follows = np.ones(len(ids.values), bool)
    follows[ids.offsets[:-1]] = False
    pairs = (np.roll(ids.values, 1)[follows].astype(np.int64) * symbols) + ids.values[follows]
    table = np.bincount(pairs, minlength=symbols**2).reshape(symbols, symbols)
    entropy = _entropy(table.ravel()) - _entropy(table.sum(1))  # of a symbol, given the one before
    return entropy > _NEARLY_RANDOM * math.log(max(2, int(np.count_nonzero(table.sum(0)))))


def _entropy(counts: NDArray[np.int64]) -> float:
    shares = counts[counts > 0] / max(1, counts.sum())
    return float(-(shares * np.log(shares)).sum())
