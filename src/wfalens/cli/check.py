"""`wfalens check`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from wfalens.cli.app import app
from wfalens.cli.common import (
    MODEL_HELP,
    AutomatonArgument,
    EncodingOption,
    JsonOption,
    open_model,
    print_json,
    print_table,
    say,
)
from wfalens.cli.words import TopWordsOption, WordFileOption, WordsOption, chosen_words
from wfalens.errors import InputError

if TYPE_CHECKING:
    from wfalens.automaton import WFA
    from wfalens.verification.answers import Answer


@app.command()
def check(
    automaton: AutomatonArgument,
    ask: Annotated[
        str | None,
        typer.Option(
            "--ask",
            help="push: the highest probability that the words lead to a state of --class; raise, lower: the most and "
            "the least that they can make of its probability; keep: the lowest probability that all states on the way "
            "are of it.",
        ),
    ] = None,
    class_name: Annotated[str | None, typer.Option("--class", help="The class that is asked about.")] = None,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, help="Words read at most (push, keep: default any number).")
    ] = None,
    words: WordsOption = None,
    word_file: WordFileOption = None,
    top: TopWordsOption = None,
    text: Annotated[str, typer.Option("--text", help="The text that the words follow (default: none).")] = "",
    came_from: Annotated[
        str | None, typer.Option("--from", help="Refuse the text unless the automaton gives it this class.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help=f"The classifier, to read the witness to: {MODEL_HELP}")
    ] = None,
    pctl: Annotated[
        str | None,
        typer.Option(
            "--property",
            help="A property of your own in PCTL. Labels: says_class_NAME; rewards: class_NAME. The first step leads "
            "to where the text has led, so k words are k + 1 steps.",
        ),
    ] = None,
    at_most: Annotated[
        float | None, typer.Option("--at-most", help="Leave with exit code 1 if the answer is higher.")
    ] = None,
    at_least: Annotated[
        float | None, typer.Option("--at-least", help="Leave with exit code 1 if the answer is lower.")
    ] = None,
    effort: Annotated[
        int, typer.Option(min=0, help="Beginnings to follow in the search for the best fixed words.")
    ] = 200,
    memory: Annotated[float, typer.Option(min=0, help="GB that the model may take at most (estimated).")] = 2.0,
    encoding: EncodingOption = "utf-8",
    as_json: JsonOption = False,
) -> None:
    """Ask what words of a list can do after a text; the model checker Storm answers (needs the extra verify).

    Storm's answer is for a reader who sees the automaton's state before choosing each word: no text can do more. The
    witness is a fixed sequence of words with its exact value; with --model it is read to the classifier, and the
    verdict says whether that agrees. A property that is answered by no leaves with exit code 1.

    Example: wfalens check films.wfa --ask raise --class positive -n 3 --words "fine kind warm" --text "a dull film"
    """
    from wfalens.automaton import WFA
    from wfalens.verification.answers import check as answered
    from wfalens.verification.answers import check_property
    from wfalens.verification.questions import question

    if (ask is None) == (pctl is None):
        raise InputError("give either --ask or --property")
    if ask is not None and class_name is None:
        raise InputError("say which --class the question is about")
    wfa = WFA.load(automaton)
    chosen = chosen_words(wfa, words, word_file, top, encoding)
    if chosen is None:
        raise InputError("give the words to choose from by --words, --word-file or --top")
    if came_from is not None:
        _check_class(wfa, text, came_from)
    limit = round(memory * 1e9)
    if pctl is not None:
        value = check_property(wfa, pctl, chosen, text, memory=limit)
        if as_json:
            print_json({"automaton": str(automaton), "property": pctl, "words": len(chosen), "value": value})
        else:
            say(f"{pctl}: {('yes' if value else 'no') if isinstance(value, bool) else f'{value:.6g}'}")
    else:
        classifier = None if model is None else open_model(model, wfa.encoder)
        asked = question(str(ask), str(class_name), count)
        found = answered(wfa, asked, chosen, text, model=classifier, effort=effort, memory=limit)
        value = found.value
        if as_json:
            print_json({"automaton": str(automaton), **found.to_json()})
        else:
            _print(found, str(class_name))
    if value is False or _outside(float(value), at_most, at_least):
        raise typer.Exit(1)


def _outside(value: float, at_most: float | None, at_least: float | None) -> bool:
    return (at_most is not None and value > at_most) or (at_least is not None and value < at_least)


def _check_class(wfa: WFA, text: str, class_name: str) -> None:
    label = int(wfa.predict([text])[0])
    said = "undecided" if label < 0 else wfa.class_names[label]
    if said != class_name:
        raise InputError(f"the automaton reads the text as {said!r}, not as {class_name!r}")


def _print(found: Answer, class_name: str) -> None:
    say(found.question)
    say(f"Storm: {found.value:.4f} for a reader who sees the state (backward induction: {found.own_value:.4f})")
    if found.by_words is not None:
        say("by number of words: " + ", ".join(f"{at}: {value:.4f}" for at, value in enumerate(found.by_words)))
    witness = found.witness
    best = "no fixed words do better" if witness.optimal else "better ones may exist"
    say(f"witness: {' '.join(witness.words) or '(no word)'}: {witness.value:.4f} ({best})")
    rows = [
        [name, f"{each.label_before} → {each.label_after}", f"{each.before:.3f} → {each.after:.3f}"]
        for name, each in (("automaton", witness.automaton), ("classifier", witness.model))
        if each is not None
    ]
    print_table("Read with the witness", ["", "class", class_name], rows)
    if witness.model_agrees is not None:
        say("the classifier agrees" if witness.model_agrees else "the classifier does not agree")
