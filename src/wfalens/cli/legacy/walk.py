"""`wfalens walk`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.output import print_json, print_table, remark, say
from wfalens.cli.legacy.quick import load_numba
from wfalens.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wfalens.automaton import Walk

_CLASSES_SHOWN = 3


def walk_cli(
    automaton: opt.Automaton,
    text: Annotated[str, opt.argument("TEXT", "The text to read.")],
    model: opt.SomeModel = None,
    as_json: opt.Json = False,
) -> None:
    """Read a text word by word: the likely state, the output, and the kind of row each word went through.

    observed: the word was seen in this state; completed: the rule for missing rows; unknown: the word was never
    seen and reads as <unk>. The states of a linear automaton are not shown, as they are directions and none is likely;
    those of its readable automaton are, where it carries one. With --model the network reads along, and the word at
    which the two part is named.

    Examples:
      wfalens walk films.wfa "a wonderful film"
      wfalens walk films.wfa "a wonderful film" --model films.rnn
    """
    load_numba()
    done = walk(automaton, text, model)
    if as_json:
        print_json(done.to_json())
    else:
        _print(automaton.name, done)


@dataclass(frozen=True, eq=False)
class Walked:
    """The way of a text through the automaton, and what the network says after every word, where it is given."""

    way: Walk
    network: NDArray[np.float32] | None  # (words, classes)

    @property
    def parted(self) -> int | None:
        """The position of the word after which the two never name the same class again; None if they end alike."""
        if self.network is None:
            return None
        agree = self.way.outputs[1:].argmax(1) == self.network.argmax(1)
        if agree[-1]:
            return None
        return int(agree.nonzero()[0][-1]) + 1 if agree.any() else 0

    def to_json(self) -> dict[str, Any]:
        found = self.way.to_json()
        if self.network is not None:
            for step, row in zip(found["steps"], self.network.tolist(), strict=True):
                step["network"] = dict(zip(self.way.class_names, row, strict=True))
            found["parted_at"] = self.parted
        return found


def walk(automaton: Path, text: str, model: str | None = None) -> Walked:
    """The way of a text through the automaton, beside the network's."""
    from wfalens.automaton import WFA
    from wfalens.evaluation.comparison import check_pair
    from wfalens.models.wrapping import wrap

    wfa = WFA.load(automaton)
    way = wfa.walk(text)
    if not way.words:
        raise InputError("the text has no words")
    if model is None:
        return Walked(way, None)
    classifier = wrap(model, vocab=wfa.encoder)
    check_pair(wfa, classifier)
    return Walked(way, classifier.trace(classifier.encoder.encode([text])).values)


def _print(name: str, done: Walked) -> None:
    from wfalens.models.contract import END

    way = done.way
    kinds, told = ["", *way.row_kinds], way.readable or way  # who names the states
    columns = ["word", "row", *_columns(told), "output", *([] if done.network is None else ["network"])]
    rows = []
    for at, word in enumerate(["(start)", *way.words]):
        row = [word, kinds[at], *_cells(told, at), _said(way.class_names, way.outputs[at])]
        if done.network is not None:
            row.append(_said(way.class_names, done.network[at - 1]) if at else "")
        rows.append(row)
    comes = "next comes " if END in way.class_names else ""  # of a language model
    print_table(f"{name}: {comes}{way.label or 'undecided'}", columns, rows)
    if done.network is not None:
        says = way.class_names[int(done.network[-1].argmax())]
        parted = "" if done.parted is None else f"; the two part at “{way.words[done.parted]}”"
        say(f"the network says {comes}{says}{parted}")
    if way.readable is not None:
        label = way.readable.label or "undecided"
        remark(f"kinds of words and states are those of the readable automaton, whose own answer is {label}")


def _said(names: tuple[str, ...], output: NDArray[np.floating]) -> str:
    top = output.argsort()[::-1][:_CLASSES_SHOWN]
    return ", ".join(f"{names[label]} {output[label]:.2f}" for label in top)


def _columns(way: Walk) -> list[str]:
    return ([] if way.word_classes is None else ["kind of word"]) + (["state"] if way.names_states else [])


def _cells(way: Walk, at: int) -> list[str]:
    """The kind of the word that led here, and the likely state, as far as the automaton knows such."""
    kind = [] if way.word_classes is None else [way.word_classes[at - 1] if at else ""]
    if not way.names_states:
        return kind
    return [*kind, f"{way.state_name(int(way.likely_states[at]))} ({way.states[at].max():.2f})"]
