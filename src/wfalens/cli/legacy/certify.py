"""`wfalens certify`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wfalens import progress
from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.files import check_outputs, write_html
from wfalens.cli.legacy.inputs import Reader, check_share, open_vectors
from wfalens.cli.legacy.output import print_json, say
from wfalens.errors import InputError
from wfalens.models.opening import open_model
from wfalens.text.word_checks import is_stop_word
from wfalens.validation import check_choice

if TYPE_CHECKING:
    from wfalens.automaton import WFA
    from wfalens.robustness import EditRobustness, Edits, NetworkRobustness, Robustness, Smoothed

    Found = Robustness | NetworkRobustness | Smoothed | EditRobustness

CHANGES, EFFORT = "Allowed changes", "Effort"
OF = AUTOMATON, READABLE, NETWORK, SMOOTHED = ("automaton", "readable", "network", "smoothed")


@dataclass(frozen=True, kw_only=True)
class Allowed:
    """The changes that an adversary may make, as they are given."""

    substitutes: int | None = None  # None: 5 near words, or all of a list
    neighbours: Path | None = None
    max_semantic: str | float | None = None
    vectors: str = "wordllama"
    spare_stop_words: bool = False
    delete: bool = False
    duplicate: bool = False
    swap: bool = False
    insert: tuple[str, ...] = ()

    @property
    def most_substitutes(self) -> int | None:
        """Words that may stand for a word at most; None: all of a list."""
        return _NEAREST if self.substitutes is None and self.neighbours is None else self.substitutes

    def edits(
        self,
        wfa: WFA,
        texts: Sequence[str],
        all_words: bool = False,
    ) -> Edits:
        """For the words of the texts, or for all words; refused if nothing in the texts could change."""
        from wfalens.explanation import nearness_of
        from wfalens.robustness import Edits, Substitutes, read_lists
        from wfalens.robustness.certify.substitutes import unknown_in_lists

        words = {word for each in texts for word in wfa.encoder.tokens(each)}
        if not words:
            raise InputError("there is no text with a word in it")
        if self.neighbours is not None:
            lists = read_lists(self.neighbours)
            if self.spare_stop_words:
                lists = {word: others for word, others in lists.items() if not is_stop_word(word)}
            found = Substitutes.listed(wfa, lists, self.most_substitutes)
            if unknown := unknown_in_lists(wfa, lists, words):
                found = replace(found, left_out=unknown)
                progress.say(
                    f"left out {unknown:,} replacements of words of the texts: the word or its replacement, or both, "
                    "are not among the words of the automaton"
                )
        else:
            known = open_vectors(self.vectors, wfa.encoder.vocabulary.words[2:])
            near = nearness_of(wfa, known, spare_stop_words=self.spare_stop_words)
            within = None if self.max_semantic is None else near.bound(self.max_semantic)
            found = Substitutes.near(
                wfa, near, self.most_substitutes or _NEAREST, of=None if all_words else words, within=within
            )
        ids = [wfa.encoder.vocabulary.id_of(word) for word in words]
        others = self.delete or self.duplicate or self.swap or self.insert
        if not others and not any(found.of_id(word) for word in ids):
            raise InputError(
                "no word of the texts has a substitute; widen --max-semantic, give other --vectors or --neighbours, or "
                "allow other changes such as --delete"
            )
        return Edits(
            found, delete=self.delete, duplicate=self.duplicate, swap=self.swap, insert=_known(wfa, self.insert)
        )


_NEAREST = 5  # words that may stand for a word, unless told otherwise
NEAREST = Allowed()


def certify_cli(
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
            help="Whose class is proven: automaton, readable (the readable automaton that it carries), network (every "
            "variant is read), or smoothed (the network's mean over random substitutions); the last two need --model.",
        ),
    ] = AUTOMATON,
    model: opt.SomeModel = None,
    substitutes: Annotated[
        int | None,
        typer.Option(
            "--substitutes",
            "-s",
            metavar="N",
            min=1,
            help="Words that may stand for a word: the nearest of those that are near in meaning, or the first listed.",
            show_default="5; all of a list",
            rich_help_panel=CHANGES,
        ),
    ] = None,
    neighbours: Annotated[
        Path | None,
        typer.Option(
            "--neighbours",
            metavar="FILE",
            help="What may replace what, in place of --vectors: JSON (word to list of words, such as counter-fitted "
            "neighbours), or lines of text, each a word and its substitutes.",
            rich_help_panel=CHANGES,
        ),
    ] = None,
    max_semantic: Annotated[
        str | None,
        typer.Option(
            "--max-semantic",
            metavar="BOUND",
            help="Only words whose cosine distance is at most this: a number, or a quantile over random pairs.",
            show_default="q0.001",
            rich_help_panel=CHANGES,
        ),
    ] = None,
    delete: Annotated[bool, opt.flag("--delete", help="Any word may be left out.", panel=CHANGES)] = False,
    duplicate: Annotated[bool, opt.flag("--duplicate", help="Any word may be doubled.", panel=CHANGES)] = False,
    swap: Annotated[bool, opt.flag("--swap", help="Neighbouring words may change places.", panel=CHANGES)] = False,
    insert: Annotated[
        str | None,
        typer.Option(
            "--insert", metavar="WORDS", help="Any of these words may be put in anywhere.", rich_help_panel=CHANGES
        ),
    ] = None,
    changes: Annotated[
        int | None,
        typer.Option(
            "--changes",
            metavar="N",
            min=0,
            help="Changes at most, of whatever kind.",
            show_default="any number",
            rich_help_panel=CHANGES,
        ),
    ] = None,
    stop_words: opt.SpareStopWords = False,
    vectors: opt.Vectors = "wordllama",
    budget: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=2,
            help="Variants of a text that the network may read (--of network).",
            rich_help_panel=EFFORT,
        ),
    ] = 20_000,
    effort: Annotated[
        int,
        typer.Option(
            "--effort",
            metavar="N",
            min=0,
            help="Beginnings to follow in a text that the bound leaves open.",
            rich_help_panel=EFFORT,
        ),
    ] = 1000,
    samples: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="Variants of each text to try; all where they are fewer.",
            show_default="200; smoothed: 1000",
            rich_help_panel=EFFORT,
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Certify only so many texts, chosen at random.")
    ] = None,
    min_certified: Annotated[
        float | None,
        typer.Option("--min-certified", metavar="SHARE", help="Exit with code 1 if a smaller share is certified."),
    ] = None,
    seed: opt.Seed = 0,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    encoding: opt.Encoding = "utf-8",
    examples: Annotated[
        int, typer.Option(metavar="N", min=0, help="Texts of each status to show.", rich_help_panel=opt.OUTPUT)
    ] = 3,
    html: opt.Html = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Prove that no change of words changes a text's class, or show one that does.

    On the automaton (or its readable one) a bound covers all variants: certified, broken (the shown variant is of
    another class), or open. With --model, the classifier reads some of them too.

    On the network, all variants with few changes are read, the most dangerous first: proven on the network, broken, or,
    where --budget does not suffice for all, proven on the automaton and tried on the network.

    Where tokens are characters, --changes counts edits (default 1): characters substituted, inserted, deleted or
    transposed. Every text within them is read, by the automaton or, with --of network, by the network.

    Examples:
      wfalens certify films.wfa --text "a dull but honest film"
      wfalens certify films.wfa -c rotten_tomatoes --of network -m films.rnn \\
        --changes 2 --limit 500
    """
    check_outputs(html, force=force)
    check_share("--min-certified", min_certified)
    check_choice("--of", of, OF)
    if (corpus is None) == (not text):
        raise InputError("give either --corpus or --text")
    if of in (NETWORK, SMOOTHED) and model is None:
        raise InputError(f"--of {of} needs the network: give --model too")
    if corpus is not None:
        reader = Reader(data, text_column, None, encoding)
        text = list(reader.corpus(corpus, "test", labels=False).sample(limit, seed).texts)
    allowed = Allowed(
        substitutes=substitutes,
        neighbours=neighbours,
        max_semantic=max_semantic,
        vectors=vectors,
        spare_stop_words=stop_words,
        delete=delete,
        duplicate=duplicate,
        swap=swap,
        insert=tuple((insert or "").split()),
    )
    found = certify(
        automaton,
        text or [],
        of=of,
        model=model,
        allowed=allowed,
        changes=changes,
        budget=budget,
        effort=effort,
        samples=samples,
        seed=seed,
    )
    from wfalens.cli.legacy import certify_output

    share = certify_output.share_of(found, changes).value
    failed = min_certified is not None and share < min_certified
    write_html(html, f"{automaton.name}: certificates", found.to_html())
    if as_json:
        about = {"automaton": str(automaton), "of": of, "substitutes": allowed.most_substitutes, "changes": changes}
        print_json({**about, **found.to_json()})
    else:
        certify_output.show(automaton.name, found, changes, examples)
        if failed:
            say(f"{share:.3f} are certified, below {min_certified:.3f}")
    if failed:
        raise typer.Exit(1)


def certify(
    automaton: Path,
    texts: Sequence[str],
    *,
    of: str = AUTOMATON,
    model: str | None = None,
    allowed: Allowed = NEAREST,
    changes: int | None = None,
    budget: int = 20_000,
    effort: int = 1000,
    samples: int | None = None,
    seed: int = 0,
) -> Found:
    """Certify texts: of an automaton, of its readable one, of the network, or of the smoothed network."""
    from wfalens.automaton import WFA
    from wfalens.robustness import certify_edits, certify_network, certify_texts, smooth
    from wfalens.text.character_edits import reads_characters

    wfa = WFA.load(automaton)
    classifier: Any = None if model is None else open_model(model, wfa.encoder)
    if reads_characters(wfa.encoder):
        if of not in (AUTOMATON, NETWORK):
            raise InputError(f"texts of characters are certified of the {AUTOMATON} or the {NETWORK}, not {of}")
        asked_of = classifier if of == NETWORK else None
        edits_at_most = 1 if changes is None else changes
        return certify_edits(wfa, texts, model=asked_of, changes=edits_at_most, budget=budget)
    all_words = of == SMOOTHED  # there substitutes are drawn for substitutes, too
    changes = _possible(wfa, texts, changes)
    edits = allowed.edits(wfa, texts, all_words)
    if of == NETWORK:
        found = certify_network(wfa, classifier, texts, edits, changes=changes, budget=budget, seed=seed)
        if all(each.variants > budget for each in found.certificates):
            fewest = min(each.variants for each in found.certificates)
            progress.say(
                f"a budget of {budget:,} proves nothing on the network: the fewest variants of a text are {fewest:,}; "
                "raise --budget or lower --changes"
            )
        return found
    if of == SMOOTHED:
        return smooth(wfa, classifier, texts, edits.substitutes, samples=samples or 1000, seed=seed)
    asked: WFA | None = wfa.attached_readable if of == READABLE else wfa
    if asked is None:
        raise InputError("the automaton carries no readable automaton; give --of automaton")
    return certify_texts(
        asked,
        list(texts),
        edits,
        model=classifier,
        changes=changes,
        effort=effort,
        samples=200 if samples is None else samples,
        seed=seed,
    )


def _possible(
    wfa: WFA,
    texts: Sequence[str],
    changes: int | None,
) -> int | None:
    """Refuse more changes than any text has words; say so where some texts have fewer."""
    lengths = [len(wfa.encoder.tokens(each)) for each in texts]
    if changes is None or not any(lengths):
        return changes
    if changes > max(lengths):
        raise InputError(f"--changes {changes} is more than the longest text has words ({max(lengths)})")
    shorter = sum(0 < length < changes for length in lengths)
    if shorter:
        progress.say(f"{shorter:,} texts have fewer than {changes} words: all of them may change there")
    return changes


def _known(wfa: WFA, words: tuple[str, ...]) -> tuple[int, ...]:
    vocabulary = wfa.encoder.vocabulary
    for word in words:
        if word not in vocabulary:
            raise InputError(f"the automaton does not know {word!r}, which --insert puts in")
    return tuple(vocabulary.id_of(word) for word in words)
