"""Does an attack gain from ranking positions or words by Shapley values? Success at equal queries, same constraints.

influence   positions by ‖IS‖ of their word, the replacement with the largest d_T (the recipe "strong")
positions   positions by the Shapley value of their word for the true class, the replacement with the largest d_T
both        positions by Shapley value, the replacement that lowers the automaton's output most
words       all replacements by the Shapley value of the new word (titles only: a text has thousands in comments)
output      all replacements by the automaton's output (the recipes "guided-once" and "guided")

One try a round and five; k words changed. The automaton is that of benchmarks/attack.py.
"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass

import numpy as np

from common import arguments, data_sets, finish, show, trained_model, word_vectors
from wfalens.automaton import WFA
from wfalens.automaton.sweeps import forward_backward, replacement_outputs
from wfalens.explanation import shapley_each
from wfalens.extraction import Stochastic, extract
from wfalens.ragged import Ragged
from wfalens.robustness.attack import AttackContext
from wfalens.robustness.attack.recipes import Candidates, Change, Search, Target, WordReplacements
from wfalens.robustness.attack.run_attack import Originals, run_attack

# isort: split
from benchmarks.paper.paper_attacks import (  # `common` has put the project's root on the path
    DEFAULT_STRONG,
    DEFAULT_WEAK,
    STRONG,
    WEAK,
    paper_context,
)

STATES = {"jigsaw_toxic": 20}
TEXTS = {"tagmynews": 2000, "jigsaw_toxic": 500}


@dataclass(frozen=True)
class ByShapley(Search):
    """Changes of one word in some order; every round, the first few that are still open are tried."""

    rounds: int
    candidates: Candidates
    wfa: WFA
    tries: int

    def open_positions(self, target: Target) -> list[int]:
        """By the Shapley value of their word for the true class, the highest first."""
        (found,) = shapley_each(self.wfa, Ragged(target.ids, np.array([0, len(target.ids)])))
        order = np.argsort(-found.values[:, target.label], kind="stable")
        has_any = self.candidates.has_any[target.ids]
        return [int(at) for at in order if has_any[at] and at not in target.changed]

    def choices(self, target: Target, position: int) -> np.ndarray:
        return self.candidates.word[self.candidates.of(int(target.ids[position]))]


class ByPosition(ByShapley):
    """At the best positions, the replacement with the largest d_T; `candidates` holds nothing else."""

    def proposals(self, target: Target, rng: np.random.Generator) -> list[list[Change]]:
        return [[(at, int(self.choices(target, at)[0]))] for at in self.open_positions(target)[: self.tries]]


class ByPositionAndOutput(ByShapley):
    """At the best positions, the replacement that lowers the automaton's output most."""

    def proposals(self, target: Target, rng: np.random.Generator) -> list[list[Change]]:
        forward, backward = forward_backward(self.wfa, target.ids)
        found: list[list[Change]] = []
        for at in self.open_positions(target)[: self.tries]:
            words = self.choices(target, at)
            outputs = replacement_outputs(self.wfa, forward, backward, at, words)[:, target.label]
            found.append([(at, int(words[outputs.argmin()]))])
        return found


class ByWord(ByShapley):
    """The replacements whose new words have the lowest Shapley values."""

    def proposals(self, target: Target, rng: np.random.Generator) -> list[list[Change]]:
        options = [(at, int(word)) for at in self.open_positions(target) for word in self.choices(target, at)]
        if not options:
            return []
        variants = np.concatenate([target.with_changes([change]).ids for change in options])
        found = shapley_each(self.wfa, Ragged.from_lengths(variants, np.full(len(options), len(target.ids))))
        values = [each.values[at, target.label] for each, (at, _) in zip(found, options, strict=True)]
        return [[options[at]] for at in np.argsort(values, kind="stable")[: self.tries]]


def searches(context: AttackContext, k: int, tries: int, titles: bool) -> dict[str, Search]:
    strong = context.strong
    largest = strong.only_best(-strong.transition)
    found: dict[str, Search] = {"influence": context.recipe("strong", k)} if tries == 1 else {}
    found |= {
        "positions": ByPosition(k, largest, context.wfa, tries),
        "both": ByPositionAndOutput(k, strong, context.wfa, tries),
    }
    if titles:
        found["words"] = ByWord(k, strong, context.wfa, tries)
    return {**found, "output": WordReplacements(k, context.wfa, tries, candidates=strong)}


def compared(options, name: str, train, test) -> dict[str, dict[str, float]]:
    model = trained_model(name, train, options.quick)
    wfa = extract(
        model, train, Stochastic(states=STATES.get(name, 40), completion="probe", alpha=0.0, abstraction="outputs")
    )
    bounds = WEAK.get(name, DEFAULT_WEAK), STRONG.get(name, DEFAULT_STRONG)
    context = paper_context(wfa, word_vectors(options, model), *bounds)
    number = 200 if options.quick else TEXTS.get(name, 1000)
    part = test.subset(np.sort(np.random.default_rng(0).permutation(len(test))[:number]))
    result: dict[str, dict[str, float]] = {}
    for tries in (1, 5):
        for k in (1, 2):
            for ranking, search in searches(context, k, tries, name != "jigsaw_toxic").items():
                summary = asdict(run_attack(ranking, k, search, Originals.of(model, part)).rates)
                row = {key: summary[key] for key in ("asr_all", "asr_correct", "words_changed", "queries")}
                result[f"{ranking}, k = {k}, tries = {tries}"] = row
                print(f"{name}: {ranking} k={k} tries={tries} {row['asr_correct']:.3f}", file=sys.stderr)
    columns = ["ranking", "of all", "of correct", "words changed", "queries"]
    show(f"{name}: {len(part):,} texts", columns, [[key, *row.values()] for key, row in result.items()])
    return result


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    finish(options, {name: compared(options, name, train, test) for name, train, test in data_sets(options)})


if __name__ == "__main__":
    main()
