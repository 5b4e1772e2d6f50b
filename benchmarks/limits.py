"""What limits a stochastic automaton: how agreement is lost step by step, and what each state buys.

Restart: at k words before the end of a test text the automaton is put into the state nearest to the model's output and
reads the rest; k = 0 asks what the abstraction alone loses, large k what averaging over steps adds.
Frontier: fidelity, bytes and seconds by number of states.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from common import arguments, data_sets, finish, show, trained_model
from wfalens.automaton.kernels.steps import nearest_centre
from wfalens.evaluation import jensen_shannon
from wfalens.extraction import completion_method, extract
from wfalens.ragged import Ragged

STATES = {"jigsaw_toxic": 20}
GAPS = (0, 1, 2, 3, 5, 8, 20, 40)
LADDER = (10, 20, 40, 80, 120)


def restarted(wfa, tests: Ragged, traces: Ragged, gap: int) -> tuple[float, int]:
    """CR of the texts longer than `gap` when the automaton starts in the true state there, and how many they are."""
    chosen = np.flatnonzero(tests.lengths > gap)
    texts, said = tests.take(chosen), traces.take(chosen)
    at = said.offsets[1:] - 1 - gap
    centres = np.ascontiguousarray(wfa.centres[1:], np.float32)
    vectors = np.eye(wfa.states)[nearest_centre(said.values[at], centres)]
    for step in range(gap):
        vectors = wfa.advance(vectors, texts.values[at + 1 + step])
    return float(np.mean(wfa.read_out(vectors).argmax(1) == said.last().argmax(1))), len(chosen)


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    result: dict[str, object] = {}
    for name, train, test in data_sets(options):
        model = trained_model(name, train, options.quick)
        ids, tests = (model.encoder.encode(corpus.texts) for corpus in (train, test))
        ids, tests = (part.nonempty()[1] for part in (ids, tests))
        if options.quick:
            ids = ids.take(np.arange(min(3000, len(ids))))
        traces = model.trace(tests)
        rule = {"rounds": 4} if options.quick else {}
        states = STATES.get(name, 40)
        automata = {
            completion: extract(
                model,
                ids,
                completion_method(completion, states=states, alpha=0.0, **(rule if completion == "fit" else {})),
            )
            for completion in ("empirical", "probe", "fit")
        }
        rows, table = [], {}
        for gap in GAPS:
            if not np.any(tests.lengths > gap):
                continue
            found = {completion: restarted(wfa, tests, traces, gap) for completion, wfa in automata.items()}
            table[gap] = {completion: cr for completion, (cr, _) in found.items()}
            rows.append([gap, found["fit"][1], *(f"{cr:.3f}" for cr, _ in found.values())])
        whole = {
            key: float(np.mean(wfa.predict_indices(tests) == traces.last().argmax(1))) for key, wfa in automata.items()
        }
        rows.append(["from the start", len(tests), *(f"{cr:.3f}" for cr in whole.values())])
        show(f"{name}, K = {states}: CR, restarted k words before the end", ["k", "texts", *automata], rows)
        frontier, lines = [], []
        for number in LADDER[: 2 if options.quick else None]:
            began = time.process_time()
            wfa = extract(model, ids, completion_method("fit", states=number, **rule))
            seconds = time.process_time() - began
            cr = float(np.mean(wfa.predict_indices(tests) == traces.last().argmax(1)))
            jsd = float(jensen_shannon(wfa.predict_proba(tests), traces.last()).mean())
            with tempfile.TemporaryDirectory() as folder:
                wfa.save(Path(folder) / "a.wfa")
                size = (Path(folder) / "a.wfa").stat().st_size
            frontier.append({"states": number, "cr": cr, "jsd": jsd, "bytes": size, "processor_seconds": seconds})
            lines.append([number, f"{cr:.4f}", f"{jsd:.4f}", size / 1e6, seconds])
            print(f"{name}: K = {number}", file=sys.stderr)
        show(f"{name}: fitted rows, outputs as states", ["K", "CR", "JSD", "MB", "processor s"], lines)
        result[name] = {"restart": table, "whole": whole, "frontier": frontier}
    finish(options, result)


if __name__ == "__main__":
    main()
