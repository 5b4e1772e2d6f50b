"""A deterministic machine from a model or an automaton: learned by queries with AALpy, or from the likeliest states.

L* keeps a table of classes: a prefix is known by the classes of its continuations. Two prefixes with different classes
are different states; a word on which machine and model differ yields, as Rivest and Schapire have it, one more
continuation. The table is AALpy's; all queries of a step are asked in one batch. A network that is not regular has
no small machine: then the smallest one on the way that errs on hardly more words than the best is delivered as a
partial machine, with its error on fresh words. KV is AALpy's, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError, MissingDependencyError
from wfalens.extraction.refinement.query_sampler import QuerySampler
from wfalens.extraction.refinement.refine import Guarantee
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.ragged import Ragged
from wfalens.results import Result, plain
from wfalens.robustness.certify.induction import stochastic_only
from wfalens.robustness.dfa import Machine, minimal
from wfalens.text.vocabulary import UNKNOWN
from wfalens.validation import check_choice

Word = tuple[int, ...]  # letter numbers
ALGORITHMS = LSTAR, KV, LIKELY = ("lstar", "kv", "likely")
_ROUNDS = 500
_FRESH = 1000  # words in a search for a difference
_LOSS = 0.002  # share of words that a smaller partial machine may err on beyond the best
_MOST_LETTERS = 100


@dataclass(frozen=True, eq=False, repr=False)
class LearnedMachine(Result):
    """A minimal machine, whether it errs on some words, how many words were asked, and what a sample proves."""

    machine: Machine
    is_partial: bool
    queries: int
    guarantee: Guarantee
    class_names: tuple[str, ...]

    @property
    def title(self) -> str:
        return f"Deterministic machine of {len(self.machine):,} state{'s'[: len(self.machine) != 1]}"

    def summary(self) -> str:
        partial = "partial: " if self.is_partial else ""
        sentence = self.guarantee.sentence("the original")
        return f"{self.title}\n{partial}{sentence}\nasked for {self.queries:,} words"

    def rows(self) -> list[dict[str, Any]]:
        """One row per state: its class, and where the letters lead."""
        return [
            {"state": f"s{state}", "class": self.class_names[output], "letters lead to": self._targets(state)}
            for state, output in enumerate(self.machine.outputs)
        ]

    def _targets(self, state: int) -> str:
        """The most frequent of several targets takes all other letters."""
        groups = self.machine.letters_to(state)
        usual = max(groups, key=lambda target: len(groups[target]))
        named = [f"{' '.join(some)} → s{target}" for target, some in groups.items() if target != usual]
        rest = "all" if not named else "others" if len(groups[usual]) > 1 else groups[usual][0]
        return ", ".join([*named, f"{rest} → s{usual}"])

    def to_dict(self) -> dict[str, Any]:
        return {
            "letters": list(self.machine.letters),
            "states": len(self.machine),
            "partial": self.is_partial,
            "queries": self.queries,
            "error": 1 - self.guarantee.rate,
            "guarantee": {"bound": self.guarantee.bound, **plain(self.guarantee)},
        }

    def save(self, path: str | Path, **about: Any) -> None:
        """As .json (all of it) or .dot (for drawing)."""
        self.machine.save(path, self.class_names, self.to_dict() | about)


def learn_machine(
    model: PrefixClassifier | WFA,
    letters: Sequence[str] | None = None,
    *,
    algorithm: str = LSTAR,
    states: int = 200,
    partial: bool = False,
    texts: Ragged[np.int32] | None = None,
    samples: int = 2000,
    seed: int = 0,
) -> LearnedMachine:
    """The minimal machine that reads `letters` as the model does, as far as a sample shows.

    Args:
        model: a classifier or an automaton.
        letters: the words that the machine reads; None: all, at most 100.
        algorithm: lstar or kv (learn by queries), or likely (the likeliest state of a stochastic automaton after
            every letter).
        states: at most; a language that needs more is refused, unless a partial machine will do.
        partial: deliver the best smaller machine where more states are needed (lstar).
        texts: words of a corpus as ids, none empty; half of the words asked are edits of them, else all are random.
        samples: fresh words by which the machine is tested.
        seed: of all random draws.

    Examples:
        >>> from wfalens.robustness import learn_machine
        >>> len(learn_machine(wfa, ["good", "bad"], samples=50).machine) >= 1
        True
    """
    check_choice("algorithm", algorithm, ALGORITHMS)
    queries = Queries(model, _all_letters(model) if letters is None else letters)
    source, rng = word_source(queries, texts), np.random.default_rng(seed)
    errs = False
    if algorithm == LIKELY:
        if not isinstance(model, WFA):
            raise InputError("the likeliest states are those of an automaton; give one", code="model")
        machine = minimal(likeliest_states(model, queries))
    elif algorithm == KV:
        machine = _learn_by_kv(queries, source, rng)
    else:
        machine, errs = _learn_by_lstar(queries, source, rng, states, partial)
    if len(machine) > states:
        raise InputError(f"the machine has {len(machine):,} states, more than {states:,}; allow more", code="states")
    asked, fresh = queries.count, _words(source.drawn(samples, np.random.default_rng([seed, 1])))
    guarantee = Guarantee(samples - len(_differing(machine, queries, fresh)), samples, source.about)
    is_partial = errs or guarantee.agreed < guarantee.texts
    return LearnedMachine(machine, is_partial, asked, guarantee, tuple(model.class_names))


class Queries:
    """The classes of words, each asked of the model once, in batches; AALpy takes it for its system under learning."""

    num_queries = num_steps = num_cached_queries = 0  # AALpy's own counts

    def __init__(self, model: PrefixClassifier | WFA, letters: Sequence[str]) -> None:
        vocabulary = model.encoder.vocabulary
        if not letters:
            raise InputError("a machine reads at least one letter; name some", code="no-letters")
        for letter in letters:
            if letter not in vocabulary:
                raise InputError(f"the model does not know the letter {letter!r}", code="unknown-letter")
        self.letters = tuple(letters)
        self.ids = np.array([vocabulary.id_of(letter) for letter in letters], np.int32)
        self._model = model
        self._classes: dict[Word, int] = {}

    @property
    def count(self) -> int:
        return len(self._classes)

    def classes(self, words: Iterable[Word]) -> list[int]:
        """Of words of letter numbers."""
        words = list(words)
        fresh = [word for word in dict.fromkeys(words) if word not in self._classes]
        if fresh:
            letters = Ragged.from_lists(fresh, np.int64)
            outputs = self._ask(Ragged(self.ids[letters.values], letters.offsets))
            self._classes.update(zip(fresh, outputs.tolist(), strict=True))
        return [self._classes[word] for word in words]

    def query(self, word: Word) -> list[int]:
        """What AALpy asks for; it reads the last output only, so that prefixes need not be asked."""
        return self.classes([tuple(word)])

    def _ask(self, ids: Ragged[np.int32]) -> NDArray[np.int64]:
        if isinstance(self._model, WFA):
            return self._model.decide(self._model.prediction_weights(ids))
        return np.asarray(final_outputs(self._model, ids).argmax(1))


def _table(queries: Queries) -> Any:
    """AALpy's observation table of prefixes by continuations, whose cells are filled in one batch."""
    _require_aalpy()
    from aalpy.learning_algs.deterministic.ObservationTable import ObservationTable

    class Table(ObservationTable):  # type: ignore[misc]
        def update_obs_table(self, s_set: list[Word] | None = None, e_set: list[Word] | None = None) -> None:
            prefixes = s_set or [*self.S, *self.s_dot_a()]
            queries.classes([prefix + suffix for prefix in prefixes for suffix in e_set or self.E])
            super().update_obs_table(s_set, e_set)

    table = Table(list(range(len(queries.letters))), queries, "moore")
    table.update_obs_table()
    return table


def _require_aalpy() -> None:
    if find_spec("aalpy") is None:
        raise MissingDependencyError("aalpy", "dfa")


def _learn_by_lstar(
    queries: Queries, source: QuerySampler, rng: np.random.Generator, states: int, partial: bool
) -> tuple[Machine, bool]:
    """A minimal machine, and whether it is known to err."""
    table = _table(queries)  # says what is missing where AALpy is not there
    from aalpy.learning_algs.deterministic.CounterExampleProcessing import rs_cex_processing

    words = _words(source.drawn(_FRESH, rng))
    history: list[tuple[Machine, int]] = []  # every machine on the way, and on how many of the words it errs
    progress.start("learning by queries", _ROUNDS)
    for _ in range(_ROUNDS):
        if not _close(table, states):
            if partial and history:
                break
            raise InputError(
                f"the machine would have more than {states:,} states; allow more, or accept a partial machine, "
                "which is delivered with its error",
                code="states",
            )
        hypothesis = table.gen_hypothesis()
        machine = _from_aalpy(hypothesis, queries.letters)
        differing = _differing(machine, queries, words)
        history.append((machine, len(differing)))
        progress.advance(1, f"{len(machine)} states, {len(differing)} of {_FRESH} words differ")
        if not differing:
            words = _words(source.drawn(_FRESH, rng))  # others than those that it learned from
            differing = _differing(machine, queries, words)
        if not differing:
            break
        suffixes = rs_cex_processing(queries, differing[0], hypothesis, suffix_closedness=False)
        added = [suffix for suffix in suffixes if suffix not in table.E]
        if not added:
            break
        table.E.extend(added)
        table.update_obs_table(e_set=added)
    progress.finish()
    return minimal(_smallest(history) if differing else machine), bool(differing)


def _close(table: Any, states: int) -> bool:
    """Add a state for every new row; -> whether there are no more than `states` of them."""
    while (rows := table.get_rows_to_close("shortest_first")) is not None:
        if len(table.S) + len(rows) > states:
            return False
        table.S.extend(rows)
        table.update_obs_table(s_set=[row + letter for row in rows for letter in table.A])
    return True


def _smallest(history: Sequence[tuple[Machine, int]]) -> Machine:
    """The smallest machine that errs on hardly more words than the best: more states only memorise exceptions."""
    least = min(errors for _, errors in history) + round(_LOSS * _FRESH)
    return min((machine for machine, errors in history if errors <= least), key=len)


@dataclass(frozen=True)
class _Oracle:
    """Searches for a counterexample among words drawn like those by which machines are tested."""

    queries: Queries
    source: QuerySampler
    rng: np.random.Generator
    num_queries = num_steps = 0  # AALpy's own counts

    def find_cex(self, hypothesis: Any) -> Word | None:
        machine = _from_aalpy(hypothesis, self.queries.letters)
        return next(iter(_differing(machine, self.queries, _words(self.source.drawn(_FRESH, self.rng)))), None)


def _learn_by_kv(queries: Queries, source: QuerySampler, rng: np.random.Generator) -> Machine:
    _require_aalpy()
    from aalpy.learning_algs import run_KV

    rounds = 100  # a network that is not quite regular would never end
    options = {"max_learning_rounds": rounds, "print_level": 0, "cache_and_non_det_check": False}
    letters, oracle = list(range(len(queries.letters))), _Oracle(queries, source, rng)
    return minimal(_from_aalpy(run_KV(letters, queries, oracle, "moore", **options), queries.letters))


def _from_aalpy(moore: Any, letters: tuple[str, ...]) -> Machine:
    """AALpy's Moore machine over the numbers of letters."""
    states = [moore.initial_state, *(state for state in moore.states if state is not moore.initial_state)]
    number = {state.state_id: at for at, state in enumerate(states)}
    rows = (tuple(number[state.transitions[at].state_id] for at in range(len(letters))) for state in states)
    return Machine(letters, tuple(rows), tuple(int(state.output) for state in states))


def word_source(queries: Queries, texts: Ragged[np.int32] | None) -> QuerySampler:
    """Words of letter numbers to draw from; texts with other words than letters are left out."""
    counts = np.ones(len(queries.letters), np.int64)
    base = None
    if texts is not None:
        number = np.full(max(int(queries.ids.max()), int(texts.values.max(initial=0))) + 1, -1)
        number[queries.ids] = np.arange(len(queries.ids))
        letters = number[texts.values]
        foreign = np.unique(texts.item_of_value()[letters < 0])
        kept = np.setdiff1d(np.flatnonzero(texts.lengths), foreign)
        if len(kept):
            base = Ragged(letters.astype(np.int32), texts.offsets).take(kept)
            counts = np.bincount(base.values, minlength=len(counts))
    return QuerySampler(np.arange(len(queries.letters), dtype=np.int32), counts / counts.sum(), base)


def _words(ids: Ragged[np.int32]) -> list[Word]:
    return [tuple(word.tolist()) for word in ids]


def _differing(machine: Machine, queries: Queries, words: Sequence[Word]) -> list[Word]:
    """Words whose class is another in the machine, the shortest first."""
    classes = queries.classes(words)
    different = [word for word, label in zip(words, classes, strict=True) if machine.output_of(word) != label]
    return sorted(different, key=len)


def _all_letters(model: PrefixClassifier | WFA) -> list[str]:
    words = list(model.encoder.vocabulary.words[UNKNOWN + 1 :])
    if len(words) > _MOST_LETTERS:
        raise InputError(f"{len(words):,} words are too many for a machine; name its letters", code="letters")
    return words


def likeliest_states(wfa: WFA, queries: Queries) -> Machine:
    """The states of a stochastic automaton, each followed by the likeliest one after every letter; not minimal yet."""
    automaton = stochastic_only(wfa, "determinised").wfa
    targets = automaton.matrices(queries.ids).argmax(2)  # (letters, n)
    outputs = automaton.decide(automaton.read_out(np.eye(automaton.states)))
    return Machine(queries.letters, tuple(map(tuple, targets.T.tolist())), tuple(outputs.tolist()))
