"""DOT as AALpy writes and loads it, for a Markov decision process (`load_automaton_from_file(path, "mdp")`).

Words are inputs, named by `symbols.escape`. A state's output names the state and the class with the largest weight
(`s3__class_sport`), so that outputs tell states apart, which AALpy's algorithms ask for; class weights have no place in
this format.
"""

from __future__ import annotations

from wfalens.export.registry import exporter
from wfalens.export.subset import Subset
from wfalens.export.symbols import CLASS, chosen, escape, lines, numbers


@exporter("aalpy", stochastic=True, symbols=True)
def to_aalpy(part: Subset) -> str:
    """The subset as AALpy's DOT of an MDP; state 0 is the initial one."""
    names = [f"s{state}" for state in range(len(part.states))]
    nodes = "".join(
        f'{name} [label="{name}__{_output(part, label)}"];\n' for name, label in zip(names, part.decided, strict=True)
    )
    edges = lines(
        chosen([f"{name} -> " for name in names], part.source),
        chosen(names, part.target),
        ' [label="',
        chosen([escape(word) for word in part.words], part.word),
        ":",
        numbers(part.weight),
        '"];\n',
    )
    return f'digraph automaton {{\n{nodes}{edges}__start0 [label="", shape=none];\n__start0 -> s0 [label=""];\n}}\n'


def _output(part: Subset, label: int) -> str:
    return "lost" if label < 0 else escape(part.class_names[label], CLASS)
