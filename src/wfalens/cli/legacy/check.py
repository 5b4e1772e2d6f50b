"""`wfalens check`."""

from __future__ import annotations

from typing import Annotated

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.output import print_json, say
from wfalens.cli.legacy.words import WordChoice
from wfalens.errors import InputError
from wfalens.models.wrapping import wrap

_GB = 1e9


def check_cli(
    automaton: opt.Automaton,
    ask: Annotated[
        str | None,
        typer.Option(
            "--ask",
            metavar="WHAT",
            help="push: the highest probability that the words lead to a state of --class; raise, lower: the most and "
            "the least that they can make of its probability.",
        ),
    ] = None,
    class_name: Annotated[
        str | None, typer.Option("--class", metavar="CLASS", help="The class that is asked about.")
    ] = None,
    count: Annotated[
        int | None,
        typer.Option("--count", "-n", metavar="N", min=1, help="Words read at most.", show_default="push: any number"),
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
    from wfalens import robustness
    from wfalens.automaton import WFA

    wfa = WFA.load(automaton)
    chosen = WordChoice(words or (), word_file, top, encoding).of(wfa)
    if chosen is None:
        raise InputError("give the words to choose from by --words, --word-file or --top")
    limit = round(memory * _GB)
    found: robustness.Answer | robustness.PropertyAnswer
    if pctl is not None:
        found = robustness.check_property(wfa, pctl, chosen, text, from_class=came_from, memory=limit)
    else:
        if class_name is None:
            raise InputError("say which --class the question is about")
        found = robustness.check(
            wfa,
            robustness.Question(str(ask), class_name, count),
            chosen,
            text,
            model=None if model is None else wrap(model, vocab=wfa.encoder),
            from_class=came_from,
            effort=effort,
            memory=limit,
        )
    if as_json:
        print_json({"automaton": str(automaton), **found.to_dict()})
    else:
        say(found.summary())
    if found.value is False or _outside(float(found.value), at_most, at_least):
        raise typer.Exit(1)


def _outside(value: float, at_most: float | None, at_least: float | None) -> bool:
    return (at_most is not None and value > at_most) or (at_least is not None and value < at_least)
