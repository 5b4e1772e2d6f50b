"""Findings about networks of which it is known what they have learned: planted × found.

Small networks are trained on generated texts: opinion words alone ("plain"), with negation, with a spurious word in the
training texts, with a rule that only the last opinion counts, that long texts are positive, or that order decides. A
fact is found if its claim is made; a claim that contradicts the rule is false.
"""

from __future__ import annotations

import sys

from common import arguments, finish, planted, show


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    seeds = range(1 if options.quick else 5)
    counts: dict[str, dict[str, int]] = {}
    missed, false, rows = 0, 0, []
    for sort in planted.RULES:
        found = dict.fromkeys(planted.FACTS, 0)
        accuracies = []
        for seed in seeds:
            accuracy, result = planted.findings_of(sort, seed)
            made = planted.claimed(result)
            accuracies.append(accuracy)
            missed += len(planted.TRUE[sort] - made)
            wrong = made - planted.TRUE[sort] - planted.ALLOWED.get(sort, set())
            false += len(wrong)
            for fact in made:
                found[fact] += 1
            print(sort, seed, f"{accuracy:.3f}", sorted(made), "false:", sorted(wrong), file=sys.stderr)
        counts[sort] = {" ".join(fact): number for fact, number in found.items()}
        cells = [f"{number}{'*' if fact in planted.TRUE[sort] else ''}" for fact, number in found.items()]
        rows.append([sort, min(accuracies), *cells])
    columns = ["planted", "accuracy", *(f"{code} {kind}" for code, kind in planted.FACTS)]
    show(f"claims about {len(seeds)} networks of each sort (* planted: all should have it)", columns, rows)
    print(f"{missed} planted facts were missed, {false} claims were false")
    finish(options, {"networks": len(seeds), "found": counts, "missed": missed, "false": false})


if __name__ == "__main__":
    main()
