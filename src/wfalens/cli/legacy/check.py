"""`wfalens check`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.output import print_json, print_table, remark, say
from wfalens.cli.legacy.words import WordChoice
from wfalens.errors import InputError
from wfalens.models.opening import open_model

if TYPE_CHECKING:
    from wfalens.automaton import WFA
    from wfalens.robustness.model_checking.answers import Answer

_GB = 1e9


@dataclass(frozen=True)
class Checked:
    """Whether a property holds, or its value, for so many words to choose from."""

    value: bool | float
    words: int
    remark: str | None  # who was asked, where that is the attached readable automaton


def check_cli(
    automaton: opt.Automaton,
    ask: Annotated[
        str | None,
        typer.Option(
            "--ask",
            metavar="WHAT",
            help="push: the highest probability that the words lead to a state of --class; raise, lower: the most and "
            "the least that they can make of its probability; keep: the lowest probability that all states on the way "
            "are of it.",
        ),
    ] = None,
    class_name: Annotated[
        str | None, typer.Option("--class", metavar="CLASS", help="The class that is asked about.")
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(
            "--count", "-n", metavar="N", min=1, help="Words read at most.", show_default="push, keep: any number"
        ),
    ] = None,
    text: Annotated[
        str, typer.Option("--text", metavar="TEXT", help="The text that the words follow.", show_default="none")
    ] = "",
    came_from: Annotated[
        str | None,
        typer.Option("--from", metavar="CLASS", help="Refuse the text unless the automaton gives it this class."),
    ] = None,
    model: opt.SomeModel = None,
    pctl: Annotated[
        str | None,
        typer.Option(
            "--property",
            metavar="PCTL",
            help="A property of your own. Labels: says_class_NAME (only of classes for which some state speaks most); "
            "rewards: class_NAME. The first step leads to where "
            "the text has led, so k words are k + 1 steps.",
        ),
    ] = None,
    at_most: Annotated[
        float | None, typer.Option("--at-most", metavar="VALUE", help="Exit with code 1 if the answer is higher.")
    ] = None,
    at_least: Annotated[
        float | None, typer.Option("--at-least", metavar="VALUE", help="Exit with code 1 if the answer is lower.")
    ] = None,
    effort: Annotated[
        int, typer.Option(metavar="N", min=0, help="Beginnings to follow in the search for the best fixed words.")
    ] = 200,
    memory: Annotated[
        float, typer.Option(metavar="GB", min=0, help="What the model may take at most (estimated).")
    ] = 2.0,
    words: opt.Words = None,
    word_file: opt.WordFile = None,
    top: opt.TopWords = None,
    encoding: opt.Encoding = "utf-8",
    as_json: opt.Json = False,
) -> None:
    """Ask what words of a list can do after a text; the model checker Storm answers (needs the extra verify).

    All answers are about the automaton. Storm's is for a reader who sees its state before choosing each word: no text
    can do more on the automaton. The witness is a fixed sequence of words with its exact value there; with --model it
    is read to the classifier, and the verdict says whether that agrees, which proves nothing about other words. A
    property that is answered by no ends with exit code 1.

    Example:
      wfalens check films.wfa --ask raise --class positive -n 3 \\
        --words "fine kind warm" --text "a dull film"
    """
    if (ask is None) == (pctl is None):
        raise InputError("give either --ask or --property")
    choice = WordChoice(words or (), word_file, top, encoding)
    limit = round(memory * _GB)
    if pctl is not None:
        held = check_property(automaton, pctl, choice, text, came_from=came_from, memory=limit)
        value = held.value
        if as_json:
            asked = {"automaton": str(automaton), "property": pctl, "words": held.words}
            print_json({**asked, "value": value, "remark": held.remark})
        else:
            say(f"{pctl}: {('yes' if value else 'no') if isinstance(value, bool) else f'{value:.6g}'}")
            remark(held.remark)
    else:
        found = check(
            automaton,
            str(ask),
            class_name,
            choice,
            text,
            count=count,
            came_from=came_from,
            model=model,
            effort=effort,
            memory=limit,
        )
        value = found.value
        if as_json:
            print_json({"automaton": str(automaton), **found.to_json()})
        else:
            _print(found, str(class_name))
            remark(found.remark)
    if value is False or _outside(float(value), at_most, at_least):
        raise typer.Exit(1)


def check(
    automaton: Path,
    ask: str,
    class_name: str | None,
    words: WordChoice,
    text: str = "",
    *,
    count: int | None = None,
    came_from: str | None = None,
    model: str | None = None,
    effort: int = 200,
    memory: int = 2 * 10**9,
) -> Answer:
    """What words can do after a text, by one of the ready-made questions."""
    from wfalens.robustness.model_checking.answers import check as answered
    from wfalens.robustness.model_checking.questions import question

    if class_name is None:
        raise InputError("say which --class the question is about")
    wfa, chosen = _opened(automaton, words, text, came_from)
    classifier = None if model is None else open_model(model, wfa.encoder)
    asked = question(ask, class_name, count)
    return answered(wfa, asked, chosen, text, model=classifier, effort=effort, memory=memory)


def check_property(
    automaton: Path,
    pctl: str,
    words: WordChoice,
    text: str = "",
    *,
    came_from: str | None = None,
    memory: int = 2 * 10**9,
) -> Checked:
    """Whether a property in PCTL holds of words after a text, or its value."""
    from wfalens.robustness.certify.induction import stochastic_only
    from wfalens.robustness.model_checking.answers import check_property as answered

    wfa, chosen = _opened(automaton, words, text, came_from)
    asked = stochastic_only(wfa, "checked")
    return Checked(answered(asked.wfa, pctl, chosen, text, memory=memory), len(chosen), asked.remark)


def _opened(
    automaton: Path,
    words: WordChoice,
    text: str,
    came_from: str | None,
) -> tuple[WFA, list[str]]:
    """The automaton and the words to choose from."""
    from wfalens.automaton import WFA
    from wfalens.robustness.certify.induction import stochastic_only

    wfa = WFA.load(automaton)
    chosen = words.of(wfa)
    if chosen is None:
        raise InputError("give the words to choose from by --words, --word-file or --top")
    if came_from is not None:
        label = int(stochastic_only(wfa, "checked").wfa.predict_indices([text])[0])
        said = "undecided" if label < 0 else wfa.class_names[label]
        if said != came_from:
            raise InputError(f"the automaton reads the text as {said!r}, not as {came_from!r}")
    return wfa, chosen


def _outside(value: float, at_most: float | None, at_least: float | None) -> bool:
    return (at_most is not None and value > at_most) or (at_least is not None and value < at_least)


def _print(found: Answer, class_name: str) -> None:
    say(found.question)
    say(f"Storm: {found.value:.4f} for a reader who sees the state (backward induction: {found.own_value:.4f})")
    if found.by_words is not None:
        say("by number of words: " + ", ".join(f"{at}: {value:.4f}" for at, value in enumerate(found.by_words)))
    witness = found.witness
    best = "no fixed words do better on the automaton" if witness.optimal else "better ones may exist"
    say(f"witness: {' '.join(witness.words) or '(no word)'}: {witness.value:.4f} ({best})")
    rows = [
        [name, f"{each.label_before} → {each.label_after}", f"{each.before:.3f} → {each.after:.3f}"]
        for name, each in (("automaton", witness.automaton), ("classifier", witness.model))
        if each is not None
    ]
    print_table("Read with the witness", ["", "class", class_name], rows)
    if witness.model_agrees is not None:
        say("the classifier agrees" if witness.model_agrees else "the classifier does not agree")
