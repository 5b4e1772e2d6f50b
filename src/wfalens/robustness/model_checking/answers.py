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
from wfalens.evaluation.comparison import check_pair
from wfalens.models.contract import PrefixClassifier
from wfalens.robustness.certify.induction import Path, stochastic_only
from wfalens.robustness.model_checking.questions import Question
from wfalens.robustness.model_checking.replay import Reading, read_by_automaton, read_by_model
from wfalens.robustness.model_checking.storm import StormModel, Verdict
from wfalens.robustness.model_checking.word_game import MOST_BYTES, Game

_LONGEST = 25  # words of a witness to an unbounded question
_WORTH = 1e-3  # what its last words must gain
_STILL = 0.01  # a change of the probability without a direction
_AS_GOOD = 1e-6  # a shorter witness is preferred to one that is better by less


@dataclass(frozen=True)
class Witness:
    """A fixed sequence of words and its exact effect, which may stay below the answer: no text can see the state."""

    words: tuple[str, ...]
    value: float  # of these words, in the question's terms
    optimal: bool  # no fixed words of that many do better
    automaton: Reading
    model: Reading | None

    @property
    def model_agrees(self) -> bool | None:
        """Whether the model gives the same class to the text with the words, and moved there as the automaton did."""
        if self.model is None:
            return None
        expected, moved = (each.after - each.before for each in (self.automaton, self.model))
        follows = abs(expected) < _STILL or np.sign(moved) == np.sign(expected)
        return self.model.label_after == self.automaton.label_after and bool(follows)


@dataclass(frozen=True)
class Answer:
    """A question, Storm's answer, our own by backward induction, and a witness."""

    question: str
    properties: tuple[str, ...]
    value: float  # Storm's: for a player who sees the state, so a bound on what any text does
    own_value: float
    by_words: tuple[float, ...] | None  # our own for 0, 1, … words; None for any number
    witness: Witness
    remark: str | None = None  # who was asked, where that is the attached readable automaton

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "model_agrees": self.witness.model_agrees}


def check(
    wfa: WFA,
    question: Question,
    words: Sequence[str],
    text: str = "",
    *,
    model: PrefixClassifier | None = None,
    effort: int = 200,
    memory: int = MOST_BYTES,
) -> Answer:
    """Ask what words of a list can do after a text, and read the best of them to the model.

    Args:
        wfa: the automaton.
        question: made by `question`.
        words: that may follow.
        text: that was read before them.
        model: reads what was found, if it is given.
        effort: prefixes that best-first search may expand to find the best fixed words, for each number of words.
        memory: bytes that the game may take at most.

    Examples:
        >>> from wfalens.robustness import check, question
        >>> answer = check(wfa, question("raise", "pos", 2), ["good", "film"], "a")  # needs Storm
        >>> answer.witness.words
        ('good',)
    """
    automaton, remark = stochastic_only(wfa, "checked")
    if model is not None:
        check_pair(wfa, model)
    game = make_game(automaton, words, text, memory)
    column = game.column(question.class_name)
    played, final = question.goal(game)
    storm = StormModel(game)
    unbounded = question.count is None
    verdicts = [storm.ask(pctl, scheduler=unbounded) for pctl in question.properties()]
    if question.count is None:
        by_words = None
        own = question.reported(float(game.start @ played.settled(final)))
        path, optimal = _longest(played, final, verdicts[0]), False
    else:
        _, values = played.rounds(question.count, final)
        curve = [float(game.start @ value[0, :, 0]) for value in reversed(values)]
        by_words = tuple(map(question.reported, curve))
        own = question.reported(max(curve))
        path, optimal = _shortest(played, final, question.count, effort)
    chosen = tuple(game.words[option] for option in path)
    return Answer(
        question.sentence(len(game.words), f" after {text!r}" if text else ""),
        tuple(question.properties()),
        question.best([float(verdict.value) for verdict in verdicts]),
        own,
        by_words,
        Witness(
            chosen,
            question.reported(float(_reached(played, final, path)[-1])),
            optimal,
            read_by_automaton(automaton, text, chosen, column),
            None if model is None else read_by_model(model, text, chosen, column),
        ),
        remark,
    )


def check_property(
    wfa: WFA, pctl: str, words: Sequence[str], text: str = "", *, memory: int = MOST_BYTES
) -> float | bool:
    """Check any property in PCTL. The first step leads to the state after the text, so k words are k + 1 steps."""
    return StormModel(make_game(stochastic_only(wfa, "checked").wfa, words, text, memory)).ask(pctl).value


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


def _longest(game: Game, final: NDArray[np.float64], verdict: Verdict) -> Path:
    """Words for as long as they gain: by Storm's scheduler, or by backward induction where that reaches more.

    Where any number of words reaches all, the scheduler may take its time: no word is better than another.
    """
    paths = [game.best_words(_LONGEST, final, effort=0)[1]]
    if verdict.scheduler is not None and verdict.values is not None:
        paths.append(_scheduled(game, final, verdict.scheduler, verdict.values))
    reached = [_reached(game, final, path) for path in paths]
    best = int(np.argmax([each[-1] for each in reached]))
    return paths[best][: int(np.argmax(reached[best] >= reached[best][-1] - _WORTH))]


def _scheduled(game: Game, final: NDArray[np.float64], scheduler: tuple[int, ...], values: NDArray[np.float64]) -> Path:
    """Of the words that the scheduler reads in the states that are likely now, the one that promises most."""
    vector, path = game.start, list[int]()
    while len(path) < _LONGEST:
        open_states = np.flatnonzero((vector > 0) & (final == 0))
        if len(open_states) == 0:
            break
        options = np.unique([scheduler[state] for state in open_states])
        after = vector @ game.matrices[options]
        best = int((after @ values).argmax())
        vector = after[best]
        path.append(int(options[best]))
    return tuple(path)


def _reached(game: Game, final: NDArray[np.float64], path: Path) -> NDArray[np.float64]:
    """What fixed words reach, exactly, before the first and after each; (words + 1,)"""
    vectors = [game.start]
    for option in path:
        vectors.append(vectors[-1] @ game.matrices[option])
    return np.array(vectors) @ final
