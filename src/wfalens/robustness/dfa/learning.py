"""A deterministic machine from a model or an automaton, by asking: Angluin's L* in the form of Rivest and Schapire.

A prefix is known by the classes of its continuations. Two prefixes with different classes are different states; a word
on which machine and model differ yields, by its shortest part that explains it, one more continuation. All questions of
a step are asked in one batch. A network that is not quite regular has no small machine. Then the smallest one on the
way that errs on hardly more words than the best is delivered as a partial machine, with its error on fresh words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.extraction.refinement.guarantee import Guarantee
from wfalens.extraction.refinement.query_sampler import QuerySampler
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.ragged import Ragged
from wfalens.robustness.dfa.machines import Machine, minimal

Word = tuple[int, ...]  # word ids
_ROUNDS = 500
_FRESH = 1000  # words in a search for a difference
_LOSS = 0.002  # share of words that a smaller partial machine may err on beyond the best


@dataclass(frozen=True, eq=False)
class LearnedMachine:
    """A minimal machine, whether something is missing in it, how many words were asked, and what a sample proves."""

    machine: Machine
    is_partial: bool
    queries: int
    guarantee: Guarantee


class Oracle:
    """The classes of words, each asked once, in batches."""

    def __init__(self, model: PrefixClassifier | WFA, letters: Sequence[str]) -> None:
        vocabulary = model.encoder.vocabulary
        if not letters:
            raise InputError("a machine reads at least one letter; name some")
        for letter in letters:
            if letter not in vocabulary:
                raise InputError(f"the model does not know the letter {letter!r}")
        self.letters = tuple(letters)
        self.ids = np.array([vocabulary.id_of(letter) for letter in letters], np.int32)
        self._model = model
        self._known: dict[Word, int] = {}

    @property
    def queries(self) -> int:
        return len(self._known)

    def classes(self, words: Iterable[Word]) -> list[int]:
        """Of words of letter numbers."""
        wanted = list(words)
        fresh = [word for word in dict.fromkeys(wanted) if word not in self._known]
        if fresh:
            lengths = np.fromiter(map(len, fresh), np.int64, len(fresh))
            flat = np.fromiter((letter for word in fresh for letter in word), np.int64, int(lengths.sum()))
            asked = self._asked(Ragged.from_lengths(self.ids[flat], lengths))
            self._known.update(zip(fresh, asked.tolist(), strict=True))
        return [self._known[word] for word in wanted]

    def _asked(self, ids: Ragged[np.int32]) -> NDArray[np.int64]:
        if isinstance(self._model, WFA):
            return self._model.predict_indices(ids)
        return np.asarray(final_outputs(self._model, ids).argmax(1))


def learn_machine(
    model: PrefixClassifier | WFA,
    letters: Sequence[str],
    *,
    states: int = 200,
    partial: bool = False,
    texts: Ragged[np.int32] | None = None,
    samples: int = 2000,
    seed: int = 0,
) -> LearnedMachine:
    """The minimal machine that reads `letters` as the model does, as far as a sample shows.

    states   at most; a language that needs more is refused, unless a `partial` machine will do
    texts    words of the corpus, from which edited words are made beside random ones; none empty
    samples  fresh words by which the end result is judged
    """
    oracle = Oracle(model, letters)
    source = words_of(oracle, texts)
    rng = np.random.default_rng(seed)
    learner = _Learner(oracle, states)
    words = _words(source.drawn(_FRESH, rng))
    course: list[tuple[Machine, int]] = []  # every machine on the way, and on how many of the words it errs
    progress.start("asking for words", _ROUNDS)
    for _ in range(_ROUNDS):
        learner.build()
        if learner.is_full and not partial:
            raise InputError(
                f"the machine would have more than {states:,} states; allow more, or accept a partial machine, "
                "which is delivered with its error"
            )
        differing = _differing(learner.machine, oracle, words)
        course.append((learner.machine, len(differing)))
        progress.advance(1, f"{len(learner.machine)} states, {len(differing)} of {_FRESH} words differ")
        if not differing:
            words = _words(source.drawn(_FRESH, rng))  # others than those that taught it
            differing = _differing(learner.machine, oracle, words)
        if learner.is_full or not differing or not learner.explain(differing[0]):
            break
    progress.finish()
    machine = _smallest(course) if differing else learner.machine
    fresh = _words(source.drawn(samples, np.random.default_rng([seed, 1])))
    wrong = len(_differing(machine, oracle, fresh))
    proof = Guarantee(samples - wrong, samples, source.about)
    return LearnedMachine(minimal(machine), bool(differing) or wrong > 0, oracle.queries, proof)


def _smallest(course: Sequence[tuple[Machine, int]]) -> Machine:
    """The smallest machine that errs on hardly more words than the best: more states only learn exceptions by heart."""
    least = min(errors for _, errors in course) + round(_LOSS * _FRESH)
    return min((machine for machine, errors in course if errors <= least), key=len)


def judged_machine(
    machine: Machine,
    model: PrefixClassifier | WFA,
    *,
    texts: Ragged[np.int32] | None = None,
    samples: int = 2000,
    seed: int = 0,
) -> Guarantee:
    """How often a machine, however it came about, gives the model's class on fresh words."""
    oracle = Oracle(model, machine.letters)
    source = words_of(oracle, texts)
    fresh = _words(source.drawn(samples, np.random.default_rng([seed, 1])))
    return Guarantee(samples - len(_differing(machine, oracle, fresh)), samples, source.about)


class _Learner:
    """What is known so far: continuations that tell prefixes apart, and a word for every state."""

    def __init__(self, oracle: Oracle, most: int) -> None:
        self.oracle, self.most = oracle, most
        self.continuations: list[Word] = [()]
        self.is_full = False

    def build(self) -> None:
        """One state for every row of classes; each is followed from the first word that shows it."""
        self.is_full = False
        self.access: list[Word] = [()]
        row = self._rows([()])[0]
        number, table, transitions = {row.tobytes(): 0}, [row], []
        outputs = [int(row[0])]
        done = 0
        while done < len(self.access):
            level = self.access[done:]
            words = [(*word, letter) for word in level for letter in range(len(self.oracle.letters))]
            targets = []
            for word, shown in zip(words, self._rows(words), strict=True):
                key = shown.tobytes()
                if key not in number and len(self.access) < self.most:
                    number[key] = len(self.access)
                    self.access.append(word)
                    table.append(shown)
                    outputs.append(int(shown[0]))
                elif key not in number:
                    self.is_full = True
                    same = (np.array(table) == shown).mean(1) + (np.array(outputs) == shown[0])
                    number[key] = int(same.argmax())
                targets.append(number[key])
            width = len(self.oracle.letters)
            transitions += [tuple(targets[at : at + width]) for at in range(0, len(targets), width)]
            done += len(level)
        self.machine = Machine(self.oracle.letters, tuple(transitions), tuple(outputs))

    def explain(self, word: Word) -> bool:
        """Add the continuation that explains why the machine errs on a word; -> whether it was a new one."""
        states = _run(self.machine, word)
        classes = self.oracle.classes([(*self.access[state], *word[at:]) for at, state in enumerate(states)])
        for at in range(len(word)):
            if classes[at] != classes[at + 1] and word[at + 1 :] not in self.continuations:
                self.continuations.append(word[at + 1 :])
                return True
        return False

    def _rows(self, words: Sequence[Word]) -> NDArray[np.int64]:
        """The classes of words with all continuations; -> (words, continuations)"""
        asked = self.oracle.classes([(*word, *after) for word in words for after in self.continuations])
        return np.array(asked).reshape(len(words), -1)


def words_of(oracle: Oracle, texts: Ragged[np.int32] | None) -> QuerySampler:
    """Words of letter numbers to draw from; texts with other words than letters are left out."""
    counts = np.ones(len(oracle.letters), np.int64)
    base = None
    if texts is not None:
        number = np.full(max(int(oracle.ids.max()), int(texts.values.max(initial=0))) + 1, -1)
        number[oracle.ids] = np.arange(len(oracle.ids))
        letters = number[texts.values]
        foreign = np.unique(texts.item_of_value()[letters < 0])
        kept = np.setdiff1d(np.flatnonzero(texts.lengths), foreign)
        if len(kept):
            base = Ragged(letters.astype(np.int32), texts.offsets).take(kept)
            counts = np.bincount(base.values, minlength=len(counts))
    return QuerySampler(np.arange(len(oracle.letters), dtype=np.int32), counts / counts.sum(), base)


def differing_words(machine: Machine, oracle: Oracle, source: QuerySampler, rng: np.random.Generator) -> list[Word]:
    """Fresh words on which a machine gives another class, the shortest first."""
    return _differing(machine, oracle, _words(source.drawn(_FRESH, rng)))


def _words(ids: Ragged[np.int32]) -> list[Word]:
    return [tuple(word.tolist()) for word in ids]


def _run(machine: Machine, word: Word) -> list[int]:
    """The states along a word, the first one included."""
    states = [0]
    for letter in word:
        states.append(machine.transitions[states[-1]][letter])
    return states


def _differing(machine: Machine, oracle: Oracle, words: Sequence[Word]) -> list[Word]:
    """Words whose class is another in the machine, the shortest first."""
    classes = oracle.classes(words)
    said = [machine.outputs[_run(machine, word)[-1]] for word in words]
    found = [word for word, label, guess in zip(words, classes, said, strict=True) if label != guess]
    return sorted(found, key=len)
