"""How a linear automaton is trained."""

from __future__ import annotations

from dataclasses import dataclass, replace

from wfalens.extraction.perturbation import Perturbation
from wfalens.validation import Bounds, check_numbers, real, whole

_SIZES = ("inputs", "width", "factors", "hidden", "epochs", "tokens", "batch", "prefixes", "patience")
_BOUNDS = {
    "layers": Bounds(whole, 1, 32),  # each layer multiplies the bound of the state, which must stay a number
    **dict.fromkeys(_SIZES, Bounds(whole, 1, 1 << 40)),
    **dict.fromkeys(("replaced", "clean", "following", "anything", "unknown"), Bounds(real, 0, 1)),
    "temperature": Bounds(real, 1, 100),
    "decay": Bounds(real, 0, 1, excluded=(0, 1)),
    "learning_rate": Bounds(real, 0, 1, excluded=(0,)),
}


@dataclass(frozen=True, kw_only=True)
class Distillation:
    """The shape of a linear automaton and the course of its training.

    These are the defaults for words. For an alphabet of fewer than 64 symbols an extraction that names no distillation
    takes a temperature of 1, three tenths of the texts unchanged, and no words that follow the same word; for a
    language model of up to 256 symbols, layers of four times the width.

    Args:
        layers: of the state, which has n = layers · width numbers; a layer reads the earlier ones.
        width: numbers in a layer.
        inputs: principal components of what is known of the words.
        factors: R, numbers that describe a word.
        hidden: width of the network that makes them from what is known of the word.
        decay: γ < 1, the most that a word leaves of the state it finds.
        epochs: passes over the texts at most.
        tokens: words in a pass at most (a random part of longer corpora).
        batch: tokens in a step of training, times ∛(mean words of a text); fewer for a small corpus.
        learning_rate: of texts of up to nine words, in 2,000 steps or more; longer texts, whose slopes are
            steeper, divide it by √(words / 9), and shorter trainings multiply it by √(2,000 / steps), 2.4 at most.
        temperature: T, by which the class weights of automaton and model are divided where they are compared in
            training, at the beginning; it falls to 1. Above 1, classes that the model thinks unlikely have their
            say, too, so that texts of which it is sure teach something.
        replaced: share of words replaced in a perturbed text: the model answers any query.
        clean: share of texts that are not perturbed.
        following: share of words that give way, in a perturbed text, to one that follows the same word elsewhere.
        anything: share of the replacements drawn evenly from the vocabulary, not by frequency.
        unknown: share of words that become `<unk>`.
        prefixes: prefixes from which every word is read once, to learn what it does (five times as many where the
            model cannot be stepped and shows its outputs only).
        patience: epochs without a gain on held-out texts before training ends.

    Examples:
        >>> from wfalens import Distillation
        >>> quick = Extractor(kind="linear", distillation=Distillation(layers=2, width=8, epochs=3))
    """

    layers: int = 5
    width: int = 32
    inputs: int = 128
    factors: int = 128
    hidden: int = 256
    decay: float = 0.999
    epochs: int = 40
    tokens: int = 400_000
    batch: int = 512
    learning_rate: float = 2.5e-3
    temperature: float = 3.0
    replaced: float = 0.2
    clean: float = 0.1
    following: float = 0.2
    anything: float = 0.3
    unknown: float = 0.03
    prefixes: int = 3
    patience: int = 12

    def __post_init__(self) -> None:
        check_numbers(self, _BOUNDS)

    @property
    def passes(self) -> int:
        return self.epochs

    @property
    def perturbation(self) -> Perturbation:
        return Perturbation(self.replaced, self.clean, self.anything, self.unknown, following=self.following)

    def sized(self, states: int) -> Distillation:
        """The same with that many states, or a few more to fill the last layer."""
        layers = min(self.layers, states)
        return replace(self, layers=layers, width=-(-states // layers))
