"""AALpy's active learning, KV and L*, asked through the same oracle and judged on the same fresh words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.models.contract import PrefixClassifier
from wfalens.ragged import Ragged
from wfalens.robustness.dfa.learning import (
    LearnedMachine,
    Oracle,
    Word,
    differing_words,
    judged_machine,
    words_of,
)
from wfalens.robustness.dfa.machines import Machine, minimal

WAYS = KV, LSTAR = ("kv", "lstar")
_ROUNDS = 100  # at most: a network that is not quite regular would keep them busy for ever


def learn_by_aalpy(
    model: PrefixClassifier | WFA,
    letters: Sequence[str],
    way: str,
    *,
    states: int = 200,
    texts: Ragged[np.int32] | None = None,
    samples: int = 2000,
    seed: int = 0,
) -> LearnedMachine:
    """A machine learned by AALpy; it searches for differences among the words that ours would."""
    try:
        from aalpy.base import SUL
        from aalpy.base import Oracle as Search
        from aalpy.learning_algs import run_KV, run_Lstar
    except ImportError:
        raise InputError("KV and L* need AALpy; install it with: pip install aalpy") from None
    oracle = Oracle(model, letters)
    source, rng = words_of(oracle, texts), np.random.default_rng(seed)

    class Asked(SUL):  # type: ignore[misc]
        """The model as AALpy asks it: letter by letter, or a word with all its prefixes at once."""

        def pre(self) -> None:
            self.word: Word = ()

        def post(self) -> None:
            pass

        def step(self, letter: int | None) -> int:
            if letter is not None:
                self.word = (*self.word, letter)
            return oracle.classes([self.word])[0]

        def query(self, word: Word) -> list[int]:
            self.num_queries += 1
            return oracle.classes([tuple(word[:length]) for length in range(min(1, len(word)), len(word) + 1)])

    class Fresh(Search):  # type: ignore[misc]
        """Searches for a difference among words drawn like those by which machines are judged."""

        def find_cex(self, hypothesis: Any) -> Word | None:
            return next(iter(differing_words(_machine(hypothesis, tuple(letters)), oracle, source, rng)), None)

    alphabet, asked = list(range(len(letters))), Asked()
    learn: Any = run_KV if way == KV else run_Lstar
    found = learn(
        alphabet,
        asked,
        Fresh(alphabet, asked),
        "moore",
        max_learning_rounds=_ROUNDS,
        print_level=0,
        cache_and_non_det_check=False,
    )
    machine = minimal(_machine(found, tuple(letters)))
    if len(machine) > states:
        raise InputError(f"the machine of {way} has {len(machine):,} states, more than {states:,}; allow more")
    proof = judged_machine(machine, model, texts=texts, samples=samples, seed=seed)
    return LearnedMachine(machine, proof.agreed < proof.texts, oracle.queries, proof)


def _machine(found: Any, letters: tuple[str, ...]) -> Machine:
    """From AALpy's Moore machine."""
    order = [found.initial_state, *(state for state in found.states if state is not found.initial_state)]
    number = {state.state_id: place for place, state in enumerate(order)}
    rows = tuple(tuple(number[state.transitions[at].state_id] for at in range(len(letters))) for state in order)
    return Machine(letters, rows, tuple(int(state.output) for state in order))
