"""Questions about words, answered by Storm on the automaton, with witnesses that are read to the network.

A question is about a Markov decision process whose actions are the words of a list, read after a text. After the text,
the automaton is in a distribution d over its states. Then it reads a number of words of the list.
There are two kinds of player. An *adaptive* one sees the state before choosing each word; what it reaches is what a
model checker computes, and an upper bound. A *fixed* sequence of words is what a text is; its value is exact, and the
network can read it.

Storm, the model checker, gets the process through stormpy as a DRN file, and properties in PCTL.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import UNDECIDED, WFA
from wfalens.errors import InputError, naming_extras
from wfalens.evaluation.comparison import check_pair
from wfalens.export.mdp import SAYS, to_drn
from wfalens.export.subset import Subset, subset
from wfalens.export.symbols import CLASS, escape
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.ragged import Ragged
from wfalens.results import Result
from wfalens.robustness.certify.induction import (
    Path,
    PathSearch,
    Position,
    Values,
    backward_induction,
    stochastic_only,
)
from wfalens.validation import check_choice

QUESTIONS = PUSH, RAISE, LOWER = ("push", "raise", "lower")
_LONGEST = 25  # words of a witness to an unbounded question
_GAIN = 1e-3  # that its last words must bring
_STILL = 0.01  # a change of the probability without a direction
_AS_GOOD = 1e-6  # a shorter witness is preferred to one that is better by less
MOST_BYTES = 2_000_000_000
_BYTES_PER_TRANSITION = 300  # the text that Storm reads, its own model and ours
_SAMPLED_WORDS = 64
_ROUNDING = 1e-9
_UNKNOWN_LABEL = "unknown label"  # as Storm says it


@dataclass(frozen=True, eq=False)
class Game:
    """The words with their matrices, and where the text has led."""

    subset: Subset
    matrices: NDArray[np.float64]  # (words, n, n)
    start: NDArray[np.float64]  # (n,)

    @classmethod
    def of(cls, wfa: StochasticWFA, words: list[str], text_ids: NDArray[np.int32], memory: int = MOST_BYTES) -> Game:
        """Refused before it is built if it would take more than `memory` bytes."""
        needed = estimated_bytes(wfa, words)
        if needed > memory:
            raise InputError(
                f"{len(words):,} words and {wfa.states} states would take about {needed / 1e9:.1f} GB, more than the "
                f"{memory / 1e9:.1f} GB allowed; choose fewer words",
                code="memory",
            )
        chosen = subset(wfa, words)
        reached = wfa.state_vectors(Ragged(text_ids, np.array([0, len(text_ids)])), every=False)[0]
        start = np.zeros(len(chosen.states))
        start[: wfa.states] = reached
        missing = 1 - reached.sum()
        if chosen.lost is not None:
            start[chosen.lost] = max(0.0, missing)
        elif missing > _ROUNDING:
            raise InputError(
                f"null completion loses {missing:.0%} of the text's mass in rows that were never observed; "
                "extract with another completion",
                code="lost-mass",
            )
        return cls(chosen, chosen.matrices(), start / start.sum())

    @property
    def words(self) -> tuple[str, ...]:
        return self.subset.words

    def column(self, class_name: str) -> int:
        check_choice("class", class_name, self.subset.class_names)
        return self.subset.class_names.index(class_name)

    def absorbing(self, states: NDArray[np.bool_]) -> Game:
        """The same, but for states that are never left once they are reached; states: (n,)"""
        matrices = np.where(states[:, None], np.eye(len(states)), self.matrices)
        return Game(self.subset, matrices, self.start)

    def rounds(self, count: int, final: NDArray[np.float64]) -> tuple[list[Position], Values]:
        """`count` words, and the values of an adaptive player who maximises `final`: (n,)"""
        steps = [Position(self.matrices, [1] * len(self.matrices))] * count
        return steps, backward_induction(steps, final[:, None])

    def best_words(self, count: int, final: NDArray[np.float64], effort: int) -> tuple[float, Path, bool]:
        """A fixed sequence of `count` words with much of `final`, its value, and whether none has more."""
        steps, values = self.rounds(count, final)
        search = PathSearch(steps, values, self.start)
        value, path = search.greedy(0)
        bound, better, _ = search.best_first(0, effort, value + _ROUNDING)
        if better is not None:
            return bound, better, True
        return value, path, bound <= value + _ROUNDING


def estimated_bytes(wfa: StochasticWFA, words: list[str]) -> int:
    """What a game will take, from the transitions of a few of its words."""
    few = words[:: max(1, len(words) // _SAMPLED_WORDS)]
    ids = np.array([wfa.encoder.vocabulary.id_of(word) for word in few], np.int32)
    share = np.count_nonzero(wfa.matrices(ids)) / max(1, len(ids))
    return int(len(words) * (share * _BYTES_PER_TRANSITION + wfa.states**2 * np.dtype(np.float64).itemsize))


class StormModel:
    """A game as Storm's own model. Its first step leads to the state after the text, so k words are k + 1 steps."""

    def __init__(self, game: Game) -> None:
        with naming_extras():
            import stormpy
        self._storm: Any = stormpy
        self._start = len(game.subset.states)  # the state before the first step comes last
        options = self._storm.io.DirectEncodingParserOptions()
        options.build_choice_labeling = False
        with tempfile.TemporaryDirectory(prefix="wfalens-") as folder:
            path = FilePath(folder) / "game.drn"
            path.write_text(to_drn(game.subset, game.start), encoding="ascii")
            self._model = self._storm.build_model_from_drn(str(path), options=options)

    def ask(self, pctl: str) -> float | bool:
        """Check a property at the start; one that is malformed or that Storm cannot check is refused in a sentence."""
        with _without_log(self._storm.developer):
            try:
                properties = self._storm.parse_properties(pctl)
                if len(properties) != 1:
                    raise InputError(f"give one property, not {len(properties)}", code="property")
                result = self._storm.model_checking(self._model, properties[0])
            except RuntimeError as error:
                raise InputError(
                    f"Storm does not take the property {pctl!r}: {self._reason(error)}", code="property"
                ) from None
        if result.is_qualitative():
            return bool(result[self._start])
        if not result.is_quantitative() or not hasattr(result, "get_value_vector"):
            raise InputError(f"the answer to the property {pctl!r} is neither a number nor yes or no", code="property")
        return float(result.get_value_vector()[self._start])

    def _reason(self, error: RuntimeError) -> str:
        """The first line of what Storm says; of a label that the model lacks also those that it has."""
        reason = " ".join(str(error).split("\n")[0].split("Note that")[0].removesuffix(", here:").split())
        while reason.partition(":")[0].endswith("Exception"):
            reason = reason.partition(":")[2]
        reason = reason.strip(" .:,") or "no reason given"
        if _UNKNOWN_LABEL not in reason:
            return reason
        known = ", ".join(sorted(self._model.labeling.get_labels()))
        return f"{reason}; the model has {known} (a class that no state decides for has no label)"


@contextmanager
def _without_log(developer: Any) -> Iterator[None]:
    """Storm prints its errors before it raises them; we raise them as one sentence instead."""
    level = developer.get_log_level()
    developer.set_log_level(developer.LogLevel.OFF)
    try:
        yield
    finally:
        developer.set_log_level(level)


@dataclass(frozen=True)
class Question:
    """What at most `count` words can do to a class.

    push   the highest probability that they lead to a state of the class; `count` may be None: any number
    raise  the largest probability of the class after them
    lower  the smallest
    """

    name: str
    class_name: str
    count: int | None = None

    def __post_init__(self) -> None:
        check_choice("question", self.name, QUESTIONS)
        if self.count is not None and self.count < 1:
            raise InputError(f"a question is about at least one word, not {self.count}", code="question-count")
        if self.count is None and self.name != PUSH:
            raise InputError(f"say how many words may be read to {self.name} a class", code="question-count")

    @property
    def sign(self) -> int:
        """+1 where the player wants most of the value, −1 where least."""
        return -1 if self.name == LOWER else 1

    def sentence(self, words: int, text: str) -> str:
        """The question as a person would ask it."""
        number = "any number of words" if self.count is None else f"at most {self.count} word{'s'[: self.count != 1]}"
        player = f"{number} from a list of {words:,}"
        if self.name == PUSH:
            return f"With what probability can {player} push to {self.class_name!r}{text}?"
        end = "largest" if self.name == RAISE else "smallest"
        return f"What is the {end} probability of {self.class_name!r} that {player} can reach{text}?"

    def properties(self) -> tuple[str, ...]:
        """PCTL for Storm, for 0, 1, … words; the answer is that of the property which suits the player best."""
        class_name = escape(self.class_name, CLASS)
        if self.count is None:
            return (f'Pmax=? [F "{SAYS}_{class_name}"]',)
        steps = range(1, self.count + 2)
        if self.name == PUSH:
            return tuple(f'Pmax=? [F<={step} "{SAYS}_{class_name}"]' for step in steps)
        direction = "max" if self.name == RAISE else "min"
        return tuple(f'R{{"{class_name}"}}{direction}=? [I={step}]' for step in steps)

    def goal(self, game: Game) -> tuple[Game, NDArray[np.float64]]:
        """The game to play, and the value that its player maximises, by state: (n,)"""
        column = game.column(self.class_name)
        if self.name != PUSH:
            return game, self.sign * game.subset.final[:, column]
        states = np.asarray(game.subset.decided == column)
        if not states.any():
            raise InputError(
                f"no state of the automaton decides for {self.class_name!r}; ask to raise it instead", code="no-state"
            )
        return game.absorbing(states), states.astype(np.float64)


@dataclass(frozen=True)
class Replay:
    """What a reader makes of the text without and with the witness."""

    label_before: str
    label_after: str
    before: float  # probability of the class in question
    after: float


@dataclass(frozen=True)
class Witness:
    """A fixed sequence of words and its exact effect, which may stay below the answer: no text can see the state."""

    words: tuple[str, ...]
    value: float  # of these words, in the question's terms
    optimal: bool  # no fixed words of that many do better
    automaton: Replay
    model: Replay | None

    @property
    def model_agrees(self) -> bool | None:
        """Whether the model gives the same class to the text with the words, and moved there as the automaton did."""
        if self.model is None:
            return None
        expected, moved = (each.after - each.before for each in (self.automaton, self.model))
        follows = abs(expected) < _STILL or np.sign(moved) == np.sign(expected)
        return self.model.label_after == self.automaton.label_after and bool(follows)


@dataclass(frozen=True, repr=False)
class Answer(Result):
    """A question, Storm's answer, and a witness."""

    question: str
    properties: tuple[str, ...]
    value: float  # for a player who sees the state, so a bound on what any text does
    by_words: tuple[float, ...] | None  # for 0, 1, … words; None for any number
    witness: Witness
    remark: str | None = None  # which automaton was asked, where that is the attached readable one
    computed = ("model_agrees",)

    @property
    def model_agrees(self) -> bool | None:
        return self.witness.model_agrees

    def rows(self) -> list[dict[str, object]]:
        """Both readers with the witness."""
        readers = (("automaton", self.witness.automaton), ("classifier", self.witness.model))
        return [
            {
                "reader": name,
                "class": f"{each.label_before} → {each.label_after}",
                "probability": f"{each.before:.3f} → {each.after:.3f}",
            }
            for name, each in readers
            if each is not None
        ]

    def summary(self) -> str:
        witness = self.witness
        best = "no fixed words do better on the automaton" if witness.optimal else "better ones may exist"
        lines = [self.question, f"Storm: {self.value:.4f} for a reader who sees the state"]
        if self.by_words is not None:
            curve = ", ".join(f"{at}: {value:.4f}" for at, value in enumerate(self.by_words))
            lines.append(f"by number of words: {curve}")
        lines.append(f"witness: {' '.join(witness.words) or '(no word)'}: {witness.value:.4f} ({best})")
        if witness.model_agrees is not None:
            lines.append("the classifier agrees" if witness.model_agrees else "the classifier does not agree")
        return "\n".join(lines + ([self.remark] if self.remark else []))


@dataclass(frozen=True, repr=False)
class PropertyAnswer(Result):
    """Whether a property in PCTL holds, or its value, for so many words to choose from."""

    pctl: str
    value: bool | float
    words: int
    remark: str | None = None

    def summary(self) -> str:
        value = ("yes" if self.value else "no") if isinstance(self.value, bool) else f"{self.value:.6g}"
        return "\n".join([f"{self.pctl}: {value}", *([self.remark] if self.remark else [])])


def check(
    wfa: WFA,
    question: Question,
    words: Sequence[str],
    text: str = "",
    *,
    model: PrefixClassifier | None = None,
    from_class: str | None = None,
    effort: int = 200,
    memory: int = MOST_BYTES,
) -> Answer:
    """Ask what words of a list can do after a text, and read the best of them to the model.

    Args:
        wfa: the automaton.
        question: what is asked.
        words: that may follow.
        text: that was read before them.
        model: reads what was found, if it is given.
        from_class: refuse the text unless the automaton gives it this class.
        effort: prefixes that best-first search may expand to find the best fixed words, for each number of words.
        memory: bytes that the game may take at most.

    Examples:
        >>> from wfalens.robustness import Question, check
        >>> answer = check(wfa, Question("raise", "pos", 2), ["good", "film"], "a")  # needs Storm
        >>> answer.witness.words
        ('good',)
    """
    automaton, remark = stochastic_only(wfa, "checked")
    check_pair(wfa, model)
    game = make_game(automaton, words, text, memory, from_class)
    column = game.column(question.class_name)
    played, final = question.goal(game)
    storm = StormModel(game)
    answers = tuple(float(storm.ask(pctl)) for pctl in question.properties())
    if question.count is None:
        path, optimal = _longest(played, final), False
    else:
        path, optimal = _shortest(played, final, question.count, effort)
    chosen = tuple(game.words[option] for option in path)
    return Answer(
        question.sentence(len(game.words), f" after {text!r}" if text else ""),
        question.properties(),
        max(answers, key=lambda value: question.sign * value),
        None if question.count is None else answers,
        Witness(
            chosen,
            question.sign * float(_reached(played, final, path)[-1]),
            optimal,
            _replay(automaton, text, chosen, column),
            None if model is None else _replay(model, text, chosen, column),
        ),
        remark,
    )


def check_property(
    wfa: WFA,
    pctl: str,
    words: Sequence[str],
    text: str = "",
    *,
    from_class: str | None = None,
    memory: int = MOST_BYTES,
) -> PropertyAnswer:
    """Check any property in PCTL. The first step leads to the state after the text, so k words are k + 1 steps."""
    automaton, remark = stochastic_only(wfa, "checked")
    game = make_game(automaton, words, text, memory, from_class)
    return PropertyAnswer(pctl, StormModel(game).ask(pctl), len(game.words), remark)


def make_game(
    wfa: StochasticWFA, words: Sequence[str], text: str, memory: int = MOST_BYTES, from_class: str | None = None
) -> Game:
    if not words:
        raise InputError("give at least one word to choose from", code="no-words")
    ids = wfa.encoder.encode_tokens([wfa.encoder.tokens(text)])
    if from_class is not None:
        label = int(wfa.decide(wfa.weights(ids))[0])
        actual = "undecided" if label == UNDECIDED else wfa.class_names[label]
        if actual != from_class:
            raise InputError(f"the automaton reads the text as {actual!r}, not as {from_class!r}", code="other-class")
    return Game.of(wfa, list(dict.fromkeys(words)), ids.values, memory)


def _shortest(game: Game, final: NDArray[np.float64], count: int, effort: int) -> tuple[Path, bool]:
    """The best fixed words found of 0 to `count`, and whether none are better; the fewest that are as good."""
    found: list[tuple[float, Path, bool]] = [(float(game.start @ final), (), True)]
    found += [game.best_words(number, final, effort) for number in range(1, count + 1)]
    best = max(value for value, _, _ in found)
    path = next(path for value, path, _ in found if value >= best - _AS_GOOD)
    return path, all(optimal for _, _, optimal in found)


def _longest(game: Game, final: NDArray[np.float64]) -> Path:
    """Words by backward induction over many steps, for as long as they gain."""
    path = game.best_words(_LONGEST, final, effort=0)[1]
    reached = _reached(game, final, path)
    return path[: int(np.argmax(reached >= reached[-1] - _GAIN))]


def _reached(game: Game, final: NDArray[np.float64], path: Path) -> NDArray[np.float64]:
    """What fixed words reach, exactly, before the first and after each; (words + 1,)"""
    vectors = [game.start]
    for option in path:
        vectors.append(vectors[-1] @ game.matrices[option])
    return np.array(vectors) @ final


def _replay(reader: WFA | PrefixClassifier, text: str, words: tuple[str, ...], column: int) -> Replay:
    """The text, and the text with the words behind it, as an automaton or a model reads them."""
    tokens = reader.encoder.tokens(text)
    ids = reader.encoder.encode_tokens([tokens, [*tokens, *words]])
    if isinstance(reader, WFA):
        outputs = reader.probabilities(reader.read_out(reader.state_vectors(ids, every=False)))
    else:
        outputs = final_outputs(reader, ids)
    labels = [reader.class_names[at] for at in outputs.argmax(1)]
    return Replay(labels[0], labels[1], float(outputs[0, column]), float(outputs[1, column]))
