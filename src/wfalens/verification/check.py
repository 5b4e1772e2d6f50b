"""Questions about words, answered by Storm on the automaton, with witnesses that are read to the network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.models.contract import StepwiseClassifier
from wfalens.ragged import Ragged
from wfalens.verification.game import MOST_BYTES, Game
from wfalens.verification.induction import stochastic_only
from wfalens.verification.questions import Question
from wfalens.verification.search import Path
from wfalens.verification.storm import StormModel, Verdict

_LONGEST = 25  # words of a witness to an unbounded question
_WORTH = 1e-3  # what a further word of it must gain
_AS_GOOD = 1e-6  # a shorter witness is preferred to one that is better by less


@dataclass(frozen=True)
class Reading:
    """What a reader makes of the text without and with the witness."""

    label_before: str
    label_after: str
    before: float  # probability of the class in question
    after: float


@dataclass(frozen=True)
class Witness:
    """Words in a fixed order, and what they do, exactly. No text knows the state, so it may stay below the answer."""

    words: tuple[str, ...]
    value: float  # of these words, in the question's terms
    optimal: bool  # no fixed words of that many do better
    automaton: Reading
    model: Reading | None

    @property
    def model_agrees(self) -> bool | None:
        """Whether the model gives the same class to the text with the words, and moved in the same direction."""
        if self.model is None:
            return None
        moved = np.sign(self.model.after - self.model.before) == np.sign(self.automaton.after - self.automaton.before)
        return self.model.label_after == self.automaton.label_after and bool(moved or not self.words)


@dataclass(frozen=True)
class Answer:
    """A question, Storm's answer, our own by backward induction, and a witness."""

    question: str
    properties: tuple[str, ...]
    value: float  # Storm's: for a player who sees the state, so a bound on what any text does
    own_value: float
    by_words: tuple[float, ...] | None  # our own for 0, 1, … words; None for any number
    witness: Witness

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "model_agrees": self.witness.model_agrees}


def check(
    wfa: WFA,
    question: Question,
    words: Sequence[str],
    text: str = "",
    *,
    model: StepwiseClassifier | None = None,
    effort: int = 200,
    memory: int = MOST_BYTES,
) -> Answer:
    """Ask what words of a list can do after a text, and read the best of them to the model.

    effort  beginnings that are followed in the search for the best fixed words, for each number of them
    memory  bytes that the game may take at most
    """
    automaton = stochastic_only(wfa, "checked")
    if model is not None and (
        tuple(model.class_names) != wfa.class_names or model.encoder.vocabulary != wfa.encoder.vocabulary
    ):
        raise InputError("the model has other classes or another vocabulary than the automaton")
    game = make_game(automaton, words, text, memory)
    column = game.column(question.class_name)
    played, final = question.goal(game)
    storm = StormModel(game)
    unbounded = question.count is None
    verdicts = [storm.ask(pctl, scheduler=unbounded) for pctl in question.properties()]
    if question.count is None:
        by_words = None
        own = question.reported(float(game.start @ played.settled(final)))
        path, optimal = _scheduled(played, final, verdicts[0]), False
    else:
        _, values = played.rounds(question.count, final)
        curve = [float(game.start @ value[0, :, 0]) for value in reversed(values)]
        by_words = tuple(map(question.reported, curve))
        own = question.reported(max(curve))
        path, optimal = _shortest(played, final, question.count, effort)
    chosen = tuple(game.words[place] for place in path)
    return Answer(
        question.sentence(len(game.words), f" after {text!r}" if text else ""),
        tuple(question.properties()),
        question.best([float(verdict.value) for verdict in verdicts]),
        own,
        by_words,
        Witness(
            chosen,
            question.reported(_fixed(played, final, path)),
            optimal,
            _read_by_automaton(automaton, text, chosen, column),
            None if model is None else _read_by_model(model, text, chosen, column),
        ),
    )


def check_property(
    wfa: WFA, pctl: str, words: Sequence[str], text: str = "", *, memory: int = MOST_BYTES
) -> float | bool:
    """A property of one's own in PCTL; the first step leads to where the text has led, so k words are k + 1 steps."""
    return StormModel(make_game(stochastic_only(wfa, "checked"), words, text, memory)).ask(pctl).value


def make_game(wfa: StochasticWFA, words: Sequence[str], text: str, memory: int = MOST_BYTES) -> Game:
    if not words:
        raise InputError("give at least one word to choose from")
    return Game.of(
        wfa, list(dict.fromkeys(words)), wfa.encoder.vocabulary.encode([wfa.encoder.tokens(text)]).values, memory
    )


def _shortest(game: Game, final: NDArray[np.float64], count: int, effort: int) -> tuple[Path, bool]:
    """The best fixed words found of 0 to `count`, and whether none are better; the fewest that are as good."""
    found: list[tuple[float, Path, bool]] = [(float(game.start @ final), (), True)]
    found += [game.best_words(number, final, effort) for number in range(1, count + 1)]
    best = max(value for value, _, _ in found)
    path = next(path for value, path, _ in found if value >= best - _AS_GOOD)
    return path, all(optimal for _, _, optimal in found)


def _scheduled(game: Game, final: NDArray[np.float64], verdict: Verdict) -> Path:
    """Words by Storm's scheduler: of those it reads in the states that are likely now, the one that promises most."""
    if verdict.scheduler is None or verdict.values is None:
        raise InputError("Storm gives no scheduler for this question; say how many words may be read (--count)")
    vector = game.start
    path: Path = ()
    while len(path) < _LONGEST:
        options = np.unique([verdict.scheduler[state] for state in np.flatnonzero((vector > 0) & (final == 0))])
        if len(options) == 0:
            break
        after = vector @ game.matrices[options]
        best = int((after @ verdict.values).argmax())
        if after[best] @ final - vector @ final < _WORTH:
            break
        vector, path = after[best], (*path, int(options[best]))
    return path


def _fixed(game: Game, final: NDArray[np.float64], path: Path) -> float:
    """What fixed words reach, exactly."""
    vector = game.start
    for place in path:
        vector = vector @ game.matrices[place]
    return float(vector @ final)


def _read_by_automaton(wfa: WFA, text: str, words: tuple[str, ...], column: int) -> Reading:
    ids = _two_texts(wfa, text, words)
    weights = wfa.read_out(wfa.state_vectors(ids, every=False))
    return _reading(wfa.class_names, wfa.probabilities(weights), column)


def _read_by_model(model: StepwiseClassifier, text: str, words: tuple[str, ...], column: int) -> Reading:
    ids = _two_texts(model, text, words)
    outputs = np.empty((2, len(model.class_names)))
    for at in range(2):
        outputs[at] = _output(model, ids[at])
    return _reading(model.class_names, outputs, column)


def _output(model: StepwiseClassifier, ids: NDArray[np.int32]) -> NDArray[np.float64]:
    if len(ids):
        return np.asarray(model.trace(Ragged(ids, np.array([0, len(ids)]))).last()[0], np.float64)
    uniform = np.full(len(model.class_names), 1 / len(model.class_names))
    return np.asarray(getattr(model, "initial_output", uniform), np.float64)


def _two_texts(reader: WFA | StepwiseClassifier, text: str, words: tuple[str, ...]) -> Ragged[np.int32]:
    """The text, and the text with the words behind it, as ids."""
    tokens = reader.encoder.tokens(text)
    return reader.encoder.vocabulary.encode([tokens, [*tokens, *words]])


def _reading(names: tuple[str, ...], outputs: NDArray[np.float64], column: int) -> Reading:
    labels = [names[at] for at in outputs.argmax(1)]
    return Reading(labels[0], labels[1], float(outputs[0, column]), float(outputs[1, column]))
