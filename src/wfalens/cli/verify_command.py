"""`wfalens verify`: certificates against changes of words, and questions to a model checker."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from wfalens.cli import options as opt
from wfalens.cli.config import Reading, new_group, register
from wfalens.cli.inputs import chosen_words, open_corpus, open_model, open_vectors, open_wfa
from wfalens.cli.library import robustness
from wfalens.cli.output import check_out, print_json, print_result, say, write_out
from wfalens.errors import InputError
from wfalens.validation import Bounds, Options, option, real, whole

_EXAMPLES = 3  # of each status
command = new_group("Prove that no change of words changes a text's class, or ask a model checker what words can do.")


@register(command, "certify", lambda: {"texts": Reading, "certify": robustness.CertifyOptions})
def certify(
    automaton: opt.Automaton,
    corpus: opt.SomeCorpus = None,
    text: Annotated[
        list[str] | None, typer.Option("--text", metavar="TEXT", help="Certify this text (may be repeated).")
    ] = None,
    of: Annotated[
        str,
        typer.Option(
            "--of",
            metavar="WHAT",
            help="Whose class is proven: automaton, readable (the readable automaton that it carries), or network "
            "(every variant is read; needs --model).",
        ),
    ] = "automaton",
    model: opt.SomeModel = None,
    changes: Annotated[
        int | None,
        typer.Option("--changes", metavar="N", min=0, help="Changes at most, of any kind.", show_default="any number"),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            "--allow",
            metavar="CHANGE",
            help="Beside substitutions: delete, duplicate, swap (neighbours), or insert:WORDS (may be repeated).",
        ),
    ] = None,
    neighbours: Annotated[
        Path | None,
        typer.Option(
            "--neighbours",
            metavar="FILE",
            help="What may replace what, in place of word vectors: JSON (word to list of words), or lines, each "
            "a word and its substitutes.",
        ),
    ] = None,
    limit: opt.Limit = None,
    min_certified: Annotated[
        float | None,
        typer.Option(
            "--min-certified", metavar="SHARE", min=0, max=1, help="Exit with 1 if a smaller share is certified."
        ),
    ] = None,
    out: opt.Out = None,
    force: opt.Force = False,
    config: opt.Config = None,  # type: ignore[assignment]
    as_json: opt.Json = False,
) -> None:
    """Prove that no change of words changes a text's class, or show one that does.

    On the automaton a bound covers all variants at once: certified, broken (the shown variant is of another class), or
    open. With --model, the classifier reads some of them too.

    On the network, all variants with few changes are read, those most likely to break it first: proven on the network,
    broken, or, where certify.budget does not suffice for all, proven on the automaton and tested on the network.

    Where tokens are characters, --changes counts edits (default 1), and every text within them is read.

    Examples:
      wfalens verify certify films.wfa --text "a dull but honest film"
      wfalens verify certify films.wfa -c rotten_tomatoes --of network \\
        -m films.rnn --changes 2 --limit 500
    """
    check_out(out, force)
    if (corpus is None) == (not text):
        raise InputError("give either --corpus or --text", code="option-conflict")
    wfa = open_wfa(automaton, config.texts)
    if corpus is not None:
        text = list(open_corpus(corpus, config.texts, labels=False).sample(limit, config.common.seed).texts)
    options = robustness.CertifyOptions(**{**config.given("certify"), "of": of, "changes": changes, **_allowed(allow)})
    lists = None if neighbours is None else robustness.read_lists(neighbours)
    vectors = None
    if lists is None:
        vectors = open_vectors(config.common.vectors, wfa.encoder.vocabulary.words[2:])
    found = robustness.certify_model(
        wfa,
        text or [],
        options,
        model=open_model(model, wfa),
        neighbours=lists,
        vectors=vectors,
        seed=config.common.seed,
    )
    about = {"automaton": str(automaton), "of": of, "changes": changes}
    write_out(out, found, f"{automaton.name}: certificates")
    if as_json:
        print_json({**about, **found.to_dict()})
    else:
        say("\n".join([found.summary(), *found.examples(_EXAMPLES)]))
    share = found.certified.value
    if min_certified is not None and share < min_certified:
        if not as_json:
            say(f"{share:.3f} are certified, below {min_certified:.3f}")
        raise typer.Exit(1)


def _allowed(changes: list[str] | None) -> dict[str, Any]:
    """Fields of the options for the changes beside substitutions."""
    fields: dict[str, Any] = {}
    for each in changes or ():
        kind, _, words = each.partition(":")
        if kind == "insert" and words.strip():
            fields["insert"] = (*fields.get("insert", ()), *words.split())
        elif kind in ("delete", "duplicate", "swap") and not words:
            fields[kind] = True
        else:
            raise InputError(
                f"unknown change {each!r}; choose delete, duplicate, swap or insert:WORDS", code="option-value"
            )
    return fields


@dataclass(frozen=True)
class CheckSettings(Options):
    """[check]: the text's class and the work."""

    from_class: str | None = option(None, "Refuse the text unless the automaton gives it this class.")
    effort: int = option(200, "Prefixes expanded in the search for the best fixed words.", Bounds(whole, 0, 1 << 40))
    memory: float = option(2.0, "Gigabytes that the model may take at most (estimated).", Bounds(real, 0, 1e6))


@register(command, "check", lambda: {"texts": Reading, "check": CheckSettings})
def check(
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
    class_name: opt.ClassName = None,
    count: Annotated[
        int | None,
        typer.Option("--count", "-n", metavar="N", min=1, help="Words read at most.", show_default="any number"),
    ] = None,
    words: opt.Words = None,
    text: Annotated[str, typer.Option("--text", metavar="TEXT", help="The text that the words follow.")] = "",
    model: opt.SomeModel = None,
    pctl: Annotated[
        str | None,
        typer.Option(
            "--property",
            metavar="PCTL",
            help="A property of your own. Labels: says_class_NAME (of classes that some state prefers); rewards: "
            "class_NAME. The first step leads to where the text has led, so k words are k + 1 steps.",
        ),
    ] = None,
    at_most: Annotated[
        float | None, typer.Option("--at-most", metavar="VALUE", help="Exit with 1 if the answer is higher.")
    ] = None,
    at_least: Annotated[
        float | None, typer.Option("--at-least", metavar="VALUE", help="Exit with 1 if the answer is lower.")
    ] = None,
    config: opt.Config = None,  # type: ignore[assignment]
    as_json: opt.Json = False,
) -> None:
    """Ask what words of a list can do after a text; the model checker Storm answers (needs the extra verify).

    All answers are about the automaton. Storm's is for a reader who sees its state before choosing each word: no text
    can do more. The witness is a fixed sequence of words with its exact value; with --model the classifier reads it
    too. A property that does not hold gives exit code 1.

    Example:
      wfalens verify check films.wfa --ask raise --class positive -n 3 \\
        --words "fine kind warm" --text "a dull film"
    """
    if (ask is None) == (pctl is None):
        raise InputError("give either --ask or --property", code="option-conflict")
    settings: CheckSettings = config.check
    wfa = open_wfa(automaton, config.texts)
    alphabet = chosen_words(words, wfa, config.texts.encoding)
    if alphabet is None:
        raise InputError("give the words to choose from by --words", code="no-words")
    bounds: dict[str, Any] = {"from_class": settings.from_class, "memory": round(settings.memory * 1e9)}
    if pctl is not None:
        found: Any = robustness.check_property(wfa, pctl, alphabet, text, **bounds)
    else:
        if class_name is None:
            raise InputError("name the class that the question is about with --class", code="no-class")
        asked = robustness.Question(str(ask), class_name, count)
        network = open_model(model, wfa)
        found = robustness.check(wfa, asked, alphabet, text, model=network, effort=settings.effort, **bounds)
    print_result(found, as_json, about={"automaton": str(automaton)})
    value = found.value
    if value is False or (at_most is not None and value > at_most) or (at_least is not None and value < at_least):
        raise typer.Exit(1)
