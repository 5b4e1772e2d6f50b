"""`wfalens verify`: certificates against changes of words, and questions to a model checker."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from wfalens.cli import options as opt
from wfalens.cli.config import Settings, new_group, register
from wfalens.cli.inputs import chosen_words, open_corpus, open_model, open_vectors, open_wfa
from wfalens.cli.library import robustness
from wfalens.cli.output import exit_below, print_answer, print_result, write_out
from wfalens.errors import InputError
from wfalens.validation import Bounds, Options, option, real, whole

_EXAMPLES = 3  # of each status
command = new_group("Prove that no change of words changes a text's class, or ask a model checker what words can do.")


@register(
    command, "certify", ("certify.of", "certify.changes"), result=opt.RESULT_FILES, certify=robustness.CertifyOptions
)
def certify(
    settings: Settings,
    automaton: opt.Automaton,
    corpus: opt.SomeCorpus = None,
    text: Annotated[list[str] | None, opt.value("--text", "TEXT")] = None,
    model: opt.SomeModel = None,
    neighbours: Annotated[Path | None, opt.value("--neighbours", "FILE")] = None,
    limit: opt.Limit = None,
    min_certified: Annotated[float | None, opt.value("--min-certified", "SHARE", min=0, max=1)] = None,
) -> None:
    """Prove that no change of words changes a text's class, or show one that does.

    On the automaton a bound covers all variants at once: certified, broken (the shown variant is of another class), or
    open. With --model, the classifier reads some of them too.

    On the network, all variants with few changes are read, those most likely to break it first: proven on the network,
    broken, or, where certify.budget does not suffice for all, proven on the automaton and tested on the network.

    Beside substitutions by near words, the settings certify.delete, duplicate, swap and insert allow other changes.
    Where tokens are characters, --changes counts edits (default 1), and every text within them is read.

    Examples:
      wfalens verify certify films.wfa --text "a dull but honest film"
      wfalens verify certify films.wfa -c rotten_tomatoes --of network \\
        -m films.rnn --changes 2 --limit 500

    Args:
        text: Certify this text (may be repeated).
        neighbours: What may replace what, in place of word vectors: JSON (word to list of words), or lines, each a word
            and its substitutes.
        min_certified: Exit with 1 if a smaller share is certified.
    """
    if (corpus is None) == (not text):
        raise InputError("give either --corpus or --text", code="option-conflict")
    wfa, options = open_wfa(automaton, settings), settings.certify
    if corpus is not None:
        text = list(open_corpus(corpus, settings, labels=False).sample(limit, settings.seed).texts)
    found = robustness.certify_model(
        wfa,
        text or [],
        options,
        model=open_model(model, wfa, settings.texts),
        neighbours=None if neighbours is None else robustness.read_lists(neighbours),
        vectors=open_vectors(settings, wfa) if neighbours is None else None,
        seed=settings.seed,
    )
    write_out(settings.out, found, f"{automaton.name}: certificates")
    about = {"automaton": str(automaton), "of": options.of, "changes": options.changes}
    answer = "\n".join([found.summary(), *found.examples(_EXAMPLES)])
    print_answer({**about, **found.to_dict()}, answer, settings.as_json)
    exit_below("the certified share", found.certified.value, min_certified, settings.as_json)


@dataclass(frozen=True)
class CheckSettings(Options):
    """[check]: the question, the words and the text, and the work.

    Args:
        ask: push: the highest probability that the words lead to a state of --class; raise, lower: the most and
            the least that they can make of its probability.
        count: Words read at most (default: any number).
        text: The text that the words follow.
        property: A property of your own in PCTL. Labels: says_class_NAME (of classes that some state prefers);
            rewards: class_NAME. The first step leads to where the text has led, so k words are k + 1 steps.
        at_most: Exit with 1 if the answer is higher.
        at_least: Exit with 1 if the answer is lower.
        from_class: Refuse the text unless the automaton gives it this class.
        effort: Prefixes expanded in the search for the best fixed words.
        memory: Gigabytes that the model may take at most (estimated).
    """

    ask: str | None = option(None)
    count: int | None = option(None, allowed=opt.COUNT)
    text: str = option("")
    property: str | None = option(None)
    at_most: float | None = option(None)
    at_least: float | None = option(None)
    from_class: str | None = option(None)
    effort: int = option(200, allowed=Bounds(whole, 0, 1 << 40))
    memory: float = option(2.0, allowed=Bounds(real, 0, 1e6))


@register(command, "check", ("check.ask", "check.count -n", "check.text", "check.property"), check=CheckSettings)
def check(
    settings: Settings,
    automaton: opt.Automaton,
    class_name: opt.ClassName = None,
    words: opt.Words = None,
    model: opt.SomeModel = None,
) -> None:
    """Ask what words of a list can do after a text; the model checker Storm answers (needs the extra verify).

    All answers are about the automaton. Storm's is for a reader who sees its state before choosing each word: no text
    can do more. The witness is a fixed sequence of words with its exact value; with --model the classifier reads it
    too. A property that does not hold gives exit code 1.

    Example:
      wfalens verify check films.wfa --ask raise --class positive -n 3 \\
        --words "fine kind warm" --text "a dull film"
    """
    asked = settings.check
    if (asked.ask is None) == (asked.property is None):
        raise InputError("give either --ask or --property", code="option-conflict")
    wfa = open_wfa(automaton, settings)
    alphabet = chosen_words(words, wfa)
    if alphabet is None:
        raise InputError("give the words to choose from by --words", code="no-words")
    bounds: dict[str, Any] = {"from_class": asked.from_class, "memory": round(asked.memory * 1e9)}
    found: Any
    if asked.property is not None:
        found = robustness.check_property(wfa, asked.property, alphabet, asked.text, **bounds)
    else:
        if class_name is None:
            raise InputError("name the class that the question is about with --class", code="no-class")
        question = robustness.Question(asked.ask, class_name, asked.count)
        network = open_model(model, wfa, settings.texts)
        found = robustness.check(wfa, question, alphabet, asked.text, model=network, effort=asked.effort, **bounds)
    print_result(found, settings.as_json, about={"automaton": str(automaton)})
    too_high = asked.at_most is not None and found.value > asked.at_most
    if found.value is False or too_high or (asked.at_least is not None and found.value < asked.at_least):
        raise typer.Exit(1)
