"""`wfalens certify`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wfalens.cli import options as opt
from wfalens.cli.files import check_outputs, write_html
from wfalens.cli.inputs import Reader, check_share, open_vectors
from wfalens.cli.output import note, print_json, print_table, say
from wfalens.cli.progress import TerminalProgress
from wfalens.errors import InputError
from wfalens.models.opening import open_model
from wfalens.progress import SILENT, Progress

if TYPE_CHECKING:
    from wfalens.verification import Certificate, Robustness

SUBSTITUTES = "Substitution of words"


def certify_cli(
    automaton: opt.Automaton,
    corpus: opt.SomeCorpus = None,
    text: Annotated[
        list[str] | None, typer.Option("--text", metavar="TEXT", help="Certify this text (may be repeated).")
    ] = None,
    model: opt.SomeModel = None,
    substitutes: Annotated[
        int,
        typer.Option(
            "--substitutes",
            "-s",
            metavar="N",
            min=1,
            help="Words that may stand for a word: its nearest.",
            rich_help_panel=SUBSTITUTES,
        ),
    ] = 5,
    max_semantic: Annotated[
        float | None,
        typer.Option(
            "--max-semantic",
            metavar="DISTANCE",
            help="Only words with d_S at most this (see `wfalens pairs`).",
            rich_help_panel=SUBSTITUTES,
        ),
    ] = None,
    changes: Annotated[
        int | None,
        typer.Option(
            "--changes",
            metavar="N",
            min=0,
            help="Words replaced at most.",
            show_default="all at once",
            rich_help_panel=SUBSTITUTES,
        ),
    ] = None,
    stop_words: opt.SpareStopWords = False,
    vectors: opt.Vectors = "wordllama",
    effort: Annotated[
        int,
        typer.Option("--effort", metavar="N", min=0, help="Beginnings to follow in a text that the bound leaves open."),
    ] = 1000,
    samples: Annotated[
        int, typer.Option(metavar="N", min=0, help="Variants of each text to try; all where they are fewer.")
    ] = 200,
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
    """Prove that no substitution of words changes a text's class, on the automaton, or show one that does.

    certified: no variant of the text is of another class; broken: the shown variant is; open: neither is known.

    Each certificate is then tried on variants, by the automaton and, with --model, by the classifier, for which it is
    no proof: the share of certified texts on which the classifier never changed its class is given.

    Examples:
      wfalens certify films.wfa --text "a dull but honest film"
      wfalens certify films.wfa -c rotten_tomatoes --changes 2 --limit 500
    """
    check_outputs(html, force=force)
    check_share("--min-certified", min_certified)
    if (corpus is None) == (not text):
        raise InputError("give either --corpus or --text")
    progress = TerminalProgress()
    if corpus is not None:
        reader = Reader(data, text_column, None, encoding)
        text = list(reader.corpus(corpus, "test", labels=False, progress=progress).sample(limit, seed).texts)
    found = certify(
        automaton,
        text or [],
        model=model,
        substitutes=substitutes,
        max_semantic=max_semantic,
        vectors=vectors,
        spare_stop_words=stop_words,
        progress=progress,
        changes=changes,
        effort=effort,
        samples=samples,
        seed=seed,
    )
    share = found.summary.share_certified.value
    failed = min_certified is not None and share < min_certified
    write_html(html, f"{automaton.name}: certificates", found.to_html())
    if as_json:
        print_json({"automaton": str(automaton), "substitutes": substitutes, "changes": changes, **found.to_json()})
    else:
        _print(automaton.name, found, examples)
        if failed:
            say(f"{share:.3f} are certified, below {min_certified:.3f}")
    if failed:
        raise typer.Exit(1)


def certify(
    automaton: Path,
    texts: Sequence[str],
    *,
    model: str | None = None,
    substitutes: int = 5,
    max_semantic: float | None = None,
    vectors: str = "wordllama",
    spare_stop_words: bool = False,
    progress: Progress = SILENT,
    **effort: Any,
) -> Robustness:
    """Certify texts against words that are near in meaning; `effort` holds further options of `certify_texts`."""
    from wfalens.automaton import WFA
    from wfalens.verification import Substitutes, certify_texts

    wfa = WFA.load(automaton)
    classifier = None if model is None else open_model(model, wfa.encoder)
    allowed = Substitutes.nearest(
        wfa,
        open_vectors(vectors, wfa.encoder.vocabulary.words[2:]),
        substitutes,
        of={word for each in texts for word in wfa.encoder.tokens(each)},
        max_semantic=float("inf") if max_semantic is None else max_semantic,
        spare=_stop_words() if spare_stop_words else frozenset(),
    )
    if not any(len(others) for others in allowed.of_word.values()):
        raise InputError("no word of the texts has a substitute; widen --max-semantic or give other --vectors")
    return certify_texts(wfa, list(texts), allowed, model=classifier, progress=progress, **effort)


def _stop_words() -> frozenset[str]:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS)


def _print(name: str, found: Robustness, examples: int) -> None:
    total = found.summary
    rows = []
    for status, number in (("certified", total.certified), ("broken", total.broken), ("open", total.open)):
        row = [status, f"{number:,}", f"{number / total.texts:.1%}"]
        if total.model is not None:
            kept = total.model[status]
            row += [
                f"{kept.texts:,}",
                "–" if kept.never_changed is None else f"{kept.never_changed:.3f}",
                "–" if kept.variants_kept is None else f"{kept.variants_kept:.4f}",
            ]
        rows.append(row)
    columns = ["on the automaton", "texts", "share"]
    if total.model is not None:
        columns += ["where the classifier agrees", "classifier never changed [95 %]", "variants kept"]
    print_table(f"{name}: {total.texts:,} texts under substitution", columns, rows)
    say(
        f"tried {total.tried:,} variants of the certified texts (all of them on {total.exhaustive:,}): "
        f"the automaton changed its class on {total.violations}"
    )
    if found.undecided:
        note(f"left out {found.undecided:,} texts on which the automaton is undecided")
    for status in ("certified", "broken", "open"):
        for certificate in [each for each in found.certificates if each.status == status][:examples]:
            say(_told(certificate))


def _told(certificate: Certificate) -> str:
    text = f"{certificate.status}: {' '.join(certificate.words)} ({certificate.label}"
    if certificate.status == "certified":
        return f"{text}, at least {certificate.lowest:.2f} on all {certificate.variants:,} variants)"
    marked = " ".join(
        new if new == old else f"[[{new}]]" for old, new in zip(certificate.words, certificate.witness, strict=True)
    )
    return f"{text}) --> {marked} ({certificate.witness_label or 'undecided'})"
